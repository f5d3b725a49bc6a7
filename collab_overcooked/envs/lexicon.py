"""Any game in other words: a one-to-one exchange of domain words, and games that speak and understand only these.

A lexicon exchanges words in both directions at once, so that the same call writes foreign words for plain ones and
reads them. A plain word in an answer becomes a foreign one on its way to the game, which does not know it and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from collab_overcooked.envs.api import ActionError, rows
from collab_overcooked.io.checks import quote_value
from collab_overcooked.io.documents import Document, builtin_names, load_layout

FOLDER = "lexicons"
PLAIN = "kitchen"  # the language without a lexicon
KEYS = ("name", "description", "kept", "linking", "words", "irregular")
ENDINGS = ("", "s", "ed", "ing")
TEXTS = ("manual", "command_text", "feedback", "orderable")  # methods that only some games have
VOWELS = "aeiou"
# Words as they stand in texts and identifiers: COOK in COOK_MEAL, french and Fries in frenchFries, pan in pan0.
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Lexicon:
    """Exchanges words one for one, with their endings and in their spelling of capitals.

    Attributes:
        name: As options name it.
        description: What it is like, in a sentence.
        table: Lower-case word -> its counterpart, both ways.
        links: Lower-case words between the words of a name, such as the "and" of Mac and Cheese, likewise; everywhere
            else they stay as they are.
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
        words = "|".join(sorted(self.links, key=len, reverse=True))
        self._linked = re.compile(rf"(?<![A-Za-z])([A-Za-z]++)([ _])({words})(?=([ _])([A-Za-z]++))")
        self.table = {**table, **{foreign: plain for plain, foreign in table.items()}}
        self.kept = frozenset(kept)

    def exchange(self, text: str) -> str:
        """Return a text with plain words made foreign and foreign words made plain; doing it twice undoes it."""
        return WORD.sub(self._other, self._linked.sub(self._other_link, text) if self.links else text)

    def _other_link(self, found: re.Match[str]) -> str:
        """Exchange a linking word in an identifier, or between two capitals; both neighbours have counterparts."""
        before, gap, word, other_gap, after = found.groups()
        named = gap == "_" or (before[0].isupper() and after[0].isupper())
        known = before.lower() in self.table and after.lower() in self.table
        return f"{before}{gap}{self.links[word] if named and known and gap == other_gap else word}"

    def _other(self, found: re.Match[str]) -> str:
        word = found[0]
        other = self.table.get(word.lower())
        if other is None:
            return word
        if word.islower():
            return other
        return other.upper() if word.isupper() else other.capitalize()

    def missing(self, names: Iterable[str]) -> dict[str, str]:
        """Return the words that have no counterpart and are not kept, each with the first name that it stands in."""
        found: dict[str, str] = {}
        for name in names:
            for word in split_words(name):
                if word not in self.table and word not in self.kept and word not in self.links:
                    found.setdefault(word, name)
        return found


def split_words(text: str) -> list[str]:
    """Return the words of a text or identifier in lower case."""
    return [word.lower() for word in WORD.findall(text)]


# ------------------------------------------------------------------------------------------- reading files


def lexicons() -> list[str]:
    """Return the names of the shipped lexicons."""
    return builtin_names(FOLDER)


def load_lexicon(source: str | Path) -> Lexicon:
    """Read a lexicon.

    Args:
        source: A shipped name, or the path of a YAML file.

    Raises:
        LayoutError: If its words are not one to one, or the file cannot be read; the message names file and line.
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
                    raise doc.error(f"{new!r} stands for two things; use another word", "words", stem)
                taken.add(new)
            table[word] = foreign + ending
    kept = doc.names(_check_word, "kept", default=(), twice=True)
    links = doc.mapping("linking", default={})
    for word, foreign in links.items():
        for own in (word, foreign):
            if not isinstance(own, str) or not re.fullmatch("[a-z]+", own) or own in taken:
                raise doc.error(f"{own!r} must be a lower-case word that stands for nothing else", "linking", word)
            taken.add(own)
    return Lexicon(doc.text("name"), table, kept, doc.text("description", default=""), links)


def _check_word(doc: Document, word: Any, *path: Any) -> None:
    if not isinstance(word, str):
        raise doc.error(f"{word!r} is no word; put it in quotes", *path)


def _check_stems(doc: Document, stems: Mapping[str, Any], irregular: Mapping[str, Any]) -> None:
    """Foreign words must tell each other apart with any ending, so none begins with another one."""
    for stem in irregular:
        if stem not in stems:
            raise doc.error(f"{stem!r} has irregular endings but is no word of the lexicon", "irregular", stem)
    for stem, foreign in stems.items():
        for word in (stem, foreign):
            if not isinstance(word, str) or not re.fullmatch("[a-z]{2,}", word):
                raise doc.error(f"{word!r} is no word of at least two lower-case letters", "words", stem)
    ordered = sorted(stems, key=stems.__getitem__)
    for first, second in pairwise(ordered):
        if stems[second].startswith(stems[first]):
            raise doc.error(f"{stems[second]!r} begins with {stems[first]!r}; use another word", "words", second)


def _inflected(doc: Document, stem: str, irregular: Any) -> Iterator[tuple[str, str]]:
    """Yield the endings that a plain word takes, with the inflected word."""
    if not isinstance(irregular, dict) or not set(irregular) <= set(ENDINGS[1:]):
        raise doc.error(f"irregular endings are {', '.join(ENDINGS[1:])}, not {irregular!r}", "irregular", stem)
    for ending in ENDINGS:
        word = irregular.get(ending, inflect(stem, ending))
        if word is not None:
            _check_word(doc, word, "irregular", stem, ending)
            yield ending, word


def inflect(stem: str, ending: str) -> str:
    """Put an ending to an English word by the usual rules: dishes, potatoes, fries, baked, fried, baking."""
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


# ------------------------------------------------------------------------------------------- games


class TranslatedGame:
    """A game that speaks and understands another language; all but its words is the plain game.

    Scenes and events stay plain, so that metrics and pictures need no lexicon.

    Args:
        game: The plain game; the lexicon must have a word for everything in its ``names()``.
        lexicon: The other words.
        option: What ``make`` was given as ``lexicon``.

    Raises:
        ValueError: If the lexicon lacks a word; the message names it.
    """

    def __init__(self, game: Any, lexicon: Lexicon, option: str) -> None:
        missing = lexicon.missing(game.names())
        if missing:
            word, name = next(iter(missing.items()))
            others = f" (and for {', '.join(list(missing)[1:])})" if len(missing) > 1 else ""
            raise ValueError(
                f"lexicon {lexicon.name!r} has no word for {word!r} in {name!r}{others}; add it to its words, "
                "or to kept if it is to stay as it is"
            )
        self.plain, self.lexicon = game, lexicon
        for name in dir(game):
            if not name.startswith("_") and not hasattr(type(self), name):
                value = getattr(game, name)
                setattr(self, name, partial(self._spoken, value) if name in TEXTS else value)
        self.kwargs = {**game.kwargs, "lexicon": option}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it is made from."""
        return TranslatedGame, (self.plain, self.lexicon, self.kwargs["lexicon"])

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the game itself: nothing in it changes."""
        return self

    def say(self, text: str) -> str:
        """Return a plain text in the words of the game."""
        return self.lexicon.exchange(text)

    def _spoken(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        said = method(*args, **kwargs)
        return self.say(said) if isinstance(said, str) else tuple(map(self.say, said))

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return the text of every action of a seat, by id."""
        return [self.say(text) for text in self.plain.action_texts(state, i, seat)]

    def action_labels(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return every action as people read it, by id."""
        return [self.say(label) for label in self.plain.action_labels(state, i, seat)]

    def parse(self, text: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        """Return the id that a text of a seat names.

        Raises:
            ActionError: With the plain game's reason code, if it has one, and its message.
        """
        try:
            return int(self.plain.parse(self.lexicon.exchange(text), state, i, seat))
        except ValueError as error:
            raise ActionError(getattr(error, "code", "UNREADABLE"), self.say(str(error))) from None

    def check(self, state: Any, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        """Return reason code and message for an action."""
        code, message = self.plain.check(state, i, seat, action, earlier)
        return code, self.say(message)

    def describe(self, state: Any, i: int, seat: int) -> str:
        """Return what a seat sees, in words."""
        return self.say(self.plain.describe(state, i, seat))

    def seen(self, state: Any, i: int, seat: int) -> Any:
        """Return what a seat may know of environment ``i``, in the other words."""
        return self.plain.seat_view(self, rows(state, i, i + 1), seat)

    def order_next(self, state: Any, i: int, names: Sequence[str]) -> None:
        """Let these be the next orders to come in environment ``i``."""
        self.plain.order_next(state, i, [self.lexicon.exchange(name) for name in names])

    def command(self, state: Any, out: Any, commands: Sequence[str], i: int = 0) -> Any:
        """Advance environment ``i`` by a list of commands, where a game has this."""
        report = self.plain.command(state, out, [self.lexicon.exchange(command) for command in commands], i)
        return replace(report, feedback=tuple(map(self.say, report.feedback)))


def translate_game(game: Any, language: str | Path | None) -> Any:
    """Return a game in the words of a lexicon.

    Args:
        game: The plain game.
        language: A shipped lexicon, the path of a YAML file, or ``PLAIN``; None for the game's own language.

    Raises:
        ValueError: If the lexicon is unknown or lacks a word of the game.
    """
    own = getattr(game, "language", PLAIN)
    if not isinstance(language, (str, Path, type(None))):
        raise ValueError(f"lexicon must be a name or a path, not {quote_value(language)}")
    option = own if language is None else str(language)
    if option != PLAIN:
        return TranslatedGame(game, load_lexicon(option), option)
    if own != PLAIN:
        game.kwargs = {**game.kwargs, "lexicon": PLAIN}
    return game


def plain(game: Any) -> Any:
    """Return a game in plain words, for those who know its words and not only its numbers."""
    return game.plain if isinstance(game, TranslatedGame) else game


def translator_of(game: Any) -> Callable[[str], str]:
    """Return what turns a plain text into the words of a game."""
    return game.say if isinstance(game, TranslatedGame) else str
