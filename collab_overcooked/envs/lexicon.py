"""Lexicons: one-to-one replacement of domain words in all texts of a game.

A lexicon swaps words in both directions at once, so that the same call translates the game's texts and the agents'
answers. A plain word in an answer becomes a foreign one on its way to the game, which rejects it as unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Self
from zlib import crc32

from collab_overcooked.envs.api import ActionError, Out, State, refusal_code, rows
from collab_overcooked.game_spec import PLAIN
from collab_overcooked.io.checks import parse_text, quote_value
from collab_overcooked.io.documents import Document, builtin_names, load_layout

FOLDER = "lexicons"
KEYS = ("name", "description", "kept", "linking", "words", "irregular")
ENDINGS = ("", "s", "ed", "ing")
TEXTS = ("manual", "command_text", "feedback", "orderable")  # methods that only some games have
VOWELS = "aeiou"
# Words in texts and identifiers: COOK in COOK_MEAL, french and Fries in frenchFries, pan in pan0.
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Lexicon:
    """Bijective mapping of words that preserves endings and capitalisation.

    Attributes:
        name: Name for the option ``lexicon``.
        description: Description in one sentence.
        table: Lower-case word -> counterpart, in both directions.
        links: The same for words that are swapped only between the words of a name, such as "and" in Mac and Cheese.
        kept: Words of names that are the same in both languages.
    """

    def __init__(
        self,
        name: str,
        table: Mapping[str, str],
        kept: Iterable[str] = (),
        description: str = "",
        links: Mapping[str, str] | None = None,
    ) -> None:
        self.name, self.description = name, description
        links = links or {}
        self.links = {**links, **{foreign: plain for plain, foreign in links.items()}}
        alternatives = "|".join(sorted(self.links, key=len, reverse=True))
        self._linked = re.compile(rf"(?<![A-Za-z])([A-Za-z]++)([ _])({alternatives})(?=([ _])([A-Za-z]++))")
        self.table = {**table, **{foreign: plain for plain, foreign in table.items()}}
        self.kept = frozenset(kept)

    def exchange(self, text: str) -> str:
        """Return a text with plain and foreign words swapped; applying it twice restores the text."""
        return WORD.sub(self._other, self._linked.sub(self._other_link, text) if self.links else text)

    def _other_link(self, match: re.Match[str]) -> str:
        before, gap, word, other_gap, after = match.groups()
        # Words in capitals, such as COOK_MEAL in "COOK_MEAL of Minestrone", are no part of a name.
        named = gap == "_" or all(part[0].isupper() and not part.isupper() for part in (before, after))
        known = before.lower() in self.table and after.lower() in self.table
        return f"{before}{gap}{self.links[word] if named and known and gap == other_gap else word}"

    def _other(self, match: re.Match[str]) -> str:
        word = match[0]
        other = self.table.get(word.lower())
        if other is None:
            return word
        if word.islower():
            return other
        return other.upper() if word.isupper() else other.capitalize()

    def missing(self, names: Iterable[str]) -> dict[str, str]:
        """Return the words without counterpart that are not kept, each with the first name that contains it."""
        missing: dict[str, str] = {}
        for name in names:
            for word in split_text(name):
                if word not in self.table and word not in self.kept and word not in self.links:
                    missing.setdefault(word, name)
        return missing


def split_text(text: str) -> list[str]:
    """Return the words of a text or identifier in lower case."""
    return [word.lower() for word in WORD.findall(text)]


def lexicons() -> list[str]:
    """Return the names of the built-in lexicons."""
    return builtin_names(FOLDER)


def load_lexicon(source: str | Path) -> Lexicon:
    """Read a lexicon.

    Args:
        source: Built-in name or path of a YAML file.

    Raises:
        DocumentError: If the words are not one-to-one, or the file cannot be read; the message names file and line.
    """
    doc = load_layout(source, FOLDER, "lexicon")
    doc.mapping(only=KEYS)
    stems, irregular = doc.mapping("words"), doc.mapping("irregular", default={})
    _check_stems(doc, stems, irregular)
    table: dict[str, str] = {}
    taken: set[str] = set()
    for stem, foreign in stems.items():
        for ending, word in _inflected(doc, stem, irregular.get(stem) or {}):
            for new in (word, foreign + ending):
                if new in taken:
                    raise doc.error(f"{new!r} is ambiguous; use another word", "words", stem)
                taken.add(new)
            table[word] = foreign + ending
    kept = doc.names(_check_word, "kept", default=(), twice=True)
    links = doc.mapping("linking", default={})
    for word, foreign in links.items():
        for side in (word, foreign):
            if not isinstance(side, str) or not re.fullmatch("[a-z]+", side) or side in taken:
                raise doc.error(f"{side!r} must be a lower-case word without another meaning", "linking", word)
            taken.add(side)
    return Lexicon(doc.text("name"), table, kept, doc.text("description", default=""), links)


def _check_word(doc: Document, word: Any, *path: Any) -> None:
    if not isinstance(word, str):
        raise doc.error(f"{word!r} is not a word; put it in quotes", *path)


def _check_stems(doc: Document, stems: Mapping[str, Any], irregular: Mapping[str, Any]) -> None:
    for stem in irregular:
        if stem not in stems:
            raise doc.error(f"{stem!r} has irregular endings but is not a word of the lexicon", "irregular", stem)
    for stem, foreign in stems.items():
        for word in (stem, foreign):
            if not isinstance(word, str) or not re.fullmatch("[a-z]{2,}", word):
                raise doc.error(f"{word!r} is not a word of at least two lower-case letters", "words", stem)
    ordered = sorted(stems, key=stems.__getitem__)
    for first, second in pairwise(ordered):
        if stems[second].startswith(stems[first]):
            raise doc.error(f"{stems[second]!r} begins with {stems[first]!r}; use another word", "words", second)


def _inflected(doc: Document, stem: str, irregular: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(irregular, dict) or not set(irregular) <= set(ENDINGS[1:]):
        raise doc.error(f"irregular endings are {', '.join(ENDINGS[1:])}, not {irregular!r}", "irregular", stem)
    for ending in ENDINGS:
        word = irregular.get(ending, inflect(stem, ending))
        if word is not None:
            _check_word(doc, word, "irregular", stem, ending)
            yield ending, word


def inflect(stem: str, ending: str) -> str:
    """Append an ending to an English word by the regular rules: dishes, potatoes, fries, baked, fried, baking."""
    if not ending:
        return stem
    after_consonant = stem[-2] not in VOWELS
    if stem.endswith("y") and after_consonant and ending in ("s", "ed"):
        return stem[:-1] + ("ies" if ending == "s" else "ied")
    if ending == "s" and (stem.endswith(("s", "x", "z", "ch", "sh")) or (stem.endswith("o") and after_consonant)):
        return stem + "es"
    if ending != "s" and stem.endswith("e"):
        return stem[:-1] + ending
    return stem + ending


class TranslatedGame:
    """A game with all texts translated by a lexicon; everything else is delegated to the plain game.

    Scenes and events stay plain, so that metrics need no lexicon.

    Args:
        game: Plain game; the lexicon must translate all of its ``names()``.
        lexicon: Lexicon for the texts.
        option: Value of ``make``'s option ``lexicon``.
    """

    def __init__(self, game: Any, lexicon: Lexicon, option: str) -> None:
        missing = lexicon.missing(game.names())
        if missing:
            word, name = next(iter(missing.items()))
            others = f" (and for {', '.join(list(missing)[1:])})" if len(missing) > 1 else ""
            raise ValueError(
                f"lexicon {lexicon.name!r} has no word for {word!r} in {name!r}{others}; add it to its words, "
                "or to kept to leave it unchanged"
            )
        self.plain, self.lexicon = game, lexicon
        self._nouns = sorted({word for name in game.names() for word in split_text(name)})
        for name in dir(game):
            if not name.startswith("_") and not hasattr(type(self), name):
                value = getattr(game, name)
                setattr(self, name, partial(self._translated, value) if name in TEXTS else value)
        self.kwargs = {**game.kwargs, "lexicon": option}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments of the constructor."""
        return TranslatedGame, (self.plain, self.lexicon, self.kwargs["lexicon"])

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the game itself, which is immutable."""
        return self

    @cached_property
    def quiet(self) -> Any:
        """The game without its channel, in the same language; see ``envs.channel``."""
        quiet = self.plain.quiet
        return self if quiet is self.plain else TranslatedGame(quiet, self.lexicon, self.kwargs["lexicon"])

    def translate(self, text: str) -> str:
        """Translate a plain text."""
        return self.lexicon.exchange(text)

    def _translated(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        value = method(*args, **kwargs)
        return self.translate(value) if isinstance(value, str) else tuple(map(self.translate, value))

    def action_texts(self, state: State | None = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return the text of every action of a seat, by id."""
        return [self.translate(text) for text in self.plain.action_texts(state, i, seat)]

    def action_labels(self, state: State | None = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return the label of every action for people, by id."""
        return [self.translate(label) for label in self.plain.action_labels(state, i, seat)]

    def parse(self, text: str, state: State | None = None, i: int = 0, seat: int = 0) -> int:
        """Return the id of a seat's action text.

        Raises:
            ActionError: The text names no action.
        """
        known = [action_text.lower() for action_text in self.action_texts(state, i, seat)]
        if (
            normalized := parse_text(text).strip().lower()
        ) in known:  # words run together can be told apart by case only
            return known.index(normalized)
        try:
            return int(self.plain.parse(self.lexicon.exchange(text), state, i, seat))
        except ValueError as error:
            raise ActionError(refusal_code(error), self.translate(str(error))) from None

    def check(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        """Return reason code and message for an action."""
        code, message = self.plain.check(state, i, seat, action, earlier)
        return code, self.translate(message)

    def describe(self, state: State, i: int, seat: int) -> str:
        """Describe a seat's observation as text."""
        return self.translate(self.plain.describe(state, i, seat))

    def seen(self, state: State, i: int, seat: int) -> Any:
        """Return a seat's knowledge of environment ``i`` with translated texts."""
        return self.plain.seat_view(self, rows(state, i, i + 1), seat)

    def drawing(self, scene: Mapping[str, Any], seat: int | None = None) -> Any:
        """Return the drawing of a scene with translated texts, and sprites that do not reveal the original words."""
        from collab_overcooked.envs.translated_drawing import translate_drawing  # takes Pillow along

        return translate_drawing(self.plain.drawing(scene, seat), self.translate, self._number_noun)

    def _number_noun(self, name: str) -> int | None:
        noun, nouns = next(iter(split_text(name)), ""), self._nouns
        if self.translate(noun) == noun:
            return None
        return nouns.index(noun) if noun in nouns else len(nouns) + crc32(noun.encode())

    def render(self, state: State, i: int, mode: str, seat: int | None = None) -> Any:
        """Draw environment ``i`` from translated drawings; see ``CompiledGame.render``."""
        return type(self.plain).render(self, state, i, mode, seat)

    def order_next(self, state: State, i: int, names: Sequence[str]) -> None:
        """Set the next orders of environment ``i``."""
        self.plain.order_next(state, i, [self.lexicon.exchange(name) for name in names])

    def turn_order(self, state: State, i: int) -> Sequence[int]:
        """Return the order of the seats' commands in the next step of environment ``i``."""
        turns: Sequence[int] = self.plain.turn_order(state, i)
        return turns

    def set_turn_order(self, state: State, i: int, seats: Sequence[int]) -> None:
        """Set the order of the seats' commands in the next step of environment ``i``."""
        self.plain.set_turn_order(state, i, seats)

    def command(self, state: State, out: Out, commands: Sequence[str], i: int = 0) -> Any:
        """Advance environment ``i`` by a list of commands, in games that support it."""
        report = self.plain.command(state, out, [self.lexicon.exchange(command) for command in commands], i)
        return replace(report, feedback=tuple(map(self.translate, report.feedback)))


def translate_game(game: Any, language: str | Path | None) -> Any:
    """Return a game with its texts translated by a lexicon.

    Args:
        game: Plain game.
        language: Name of a built-in lexicon, path of a YAML file, or ``PLAIN``; None for the game's default language.

    Raises:
        ValueError: The lexicon is neither a name nor a path.
        DocumentError: The file is invalid.
    """
    current = game.language
    if not isinstance(language, (str, Path, type(None))):
        raise ValueError(f"lexicon must be a name or a path, not {quote_value(language)}")
    option = current if language is None else str(language)
    if option != PLAIN:
        return TranslatedGame(game, load_lexicon(option), option)
    if current != PLAIN:
        for one in {game, game.quiet}:
            one.kwargs = {**one.kwargs, "lexicon": PLAIN}
    return game


def plain(game: Any) -> Any:
    """Return a game without its lexicon, for code that depends on plain texts."""
    return game.plain if isinstance(game, TranslatedGame) else game


def translator_of(game: Any) -> Callable[[str], str]:
    """Return a function that translates plain texts into the language of a game."""
    return game.translate if isinstance(game, TranslatedGame) else str
