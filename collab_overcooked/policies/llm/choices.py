r"""Which of several options an answer names. Options have labels, numbers or letters, and texts.

The grammar, outside of thinking markup; docs/how_to/agents.md states it for users:

- a JSON object with the requested key, also as the arguments of a tool call in the text forms of model families;
- a statement: ``Answer: 3`` and its like, ``I choose option 3``, ``\boxed{3}``, ``<answer>3</answer>``;
- a first or last line that is nothing but an option's label, its text, or both.

Everything that an answer names so has to be the same option. A negation or an ``if`` before a statement, a question or
a doubt after it, and a list of options name none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from collab_overcooked.policies.llm.answers import (
    LINE,
    REPAIRED,
    Answer,
    Unreadable,
    object_schema,
    outside_objects,
    plain_text,
    read_object,
)
from collab_overcooked.policies.llm.markup import visible

_WORD = (
    r"answer|action|option|choice|decision|move|rating|sub-?plan|antwort|aktion|wahl|réponse|respuesta|resposta"
    r"|risposta|ответ|答案|回答|答え"
)
_TAG = r"(?:final_?)?(?:answer|action|choice|option)>"
_STATED = re.compile(
    rf"(?:\b|(?<=[^\x00-\x7f]))(?:{_WORD})[*_\"']*(?:\s*(?:number|index|no\.|id|chosen|selected))?\s*"
    rf"(?:\]?\s*(?::|=|->|=>|\u2192)|\s(?:is|will\s+be|ist|es|est|è)\b:?)\s*(?P<value>.{{1,300}})"
    rf"|\[(?:{_WORD})\]\s+(?P<bracket>.{{1,300}})"
    r"|\bI(?:'ll|'d|'m|\s+will|\s+would|\s+am)?\s+(?:now\s+)?(?:do|(?:choos|pick|select|tak)(?:e|ing)?|go(?:ing)?\s+with"
    r"|opt(?:ing)?\s+for)\b:?\s+(?P<chosen>.{1,300})"
    r"|(?:^|[.!:,]\s+)(?P<best>(?:option|action)\s+\S+)\s+(?:is|seems|looks)\s+(?:clearly\s+|to\s+be\s+)?(?:the\s+)?"
    r"(?:best|right|correct|optimal)\b(?:\s+(?:option|action|choice|move|one))?[.!]*$"
    r"|(?P<boxed>\$*\s*\\f?boxed\s*\{.{1,300})"
    rf"|<{_TAG}(?P<inner>.{{1,300}})",
    re.IGNORECASE,
)
_TAG_LINES = re.compile(rf"(<{_TAG})\s+|\s+(</{_TAG})", re.IGNORECASE)
MAX_CLAUSE = 300  # characters before a statement in which it may be taken back
_LATEX = re.compile(r"\\(?:f?boxed|text\w*|math\w+)\s*\{([^{}]*)\}")
_MATH = re.compile(r"\\[\[\]()]|\$")
_CLAUSE = re.compile(r"[.!?;,\n]|\b(?:but|so|hence|therefore|thus)\b", re.IGNORECASE)
_NAMES_NONE = re.compile(
    r"\b(?:not|never|no|avoid\w*|if|whether|unless|previous|last|earlier|partner|teammate|opponent|wrong|bad|worse|worst"
    r"|instead|would\s+be|could\s+be|might\s+be|nicht|kein\w*|example|e\.g|format|alternative|second|fallback"
    r"|reject\w*|exclud\w*|discard\w*|ruled)\b|n't\b|(?<!\bit)(?<!\blet)(?<!\bthat)(?<!\bhere)'s\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\?|\bor\b|\b(?:not|no|never|wrong|incorrect|bad|worse|but|however|wait|actually|rather|instead|except|unless"
    r"|otherwise)\b|n't\b",
    re.IGNORECASE,
)
_MAY_FOLLOW = r"\W*|\s*(?:[.,;:!)\u2013\u2014-](?!\d)|because\b|since\b|as\b|so\b|which\b|to\b).*"
_REASON = r"\s*[,;\u2013\u2014-]?\s*(?:because|since|as)\b.*"
_HEADER = re.compile(r"(?:[\w ']*\b)?(?:answer|action|choice|option|decision|move)(?: is)?", re.IGNORECASE)
_PLURAL_OR_BAD = re.compile(
    r"\b(?:available|possible|legal|allowed|other|avoid\w*|bad|worst|wrong|not|never)\b", re.IGNORECASE
)
_ENUMERATED = re.compile(r"(?:^|\s)\(?(\d+|[A-Z])[.):]\s+\S")


def choice_schema(count: int, first: int = 1) -> dict[str, Any]:
    """Return the JSON schema of an answer that names one of ``count`` actions, numbered from ``first``."""
    return object_schema({"action": {"type": "integer", "enum": list(range(first, first + count))}})


def letter_schema(count: int, thinks: bool) -> dict[str, Any]:
    """Return the JSON schema of an answer that names one of ``count`` lettered choices, optionally after thoughts."""
    thoughts = {"analysis": {"type": "string"}} if thinks else {}
    return object_schema({**thoughts, "answer": {"type": "string", "enum": [chr(65 + i) for i in range(count)]}})


def read_choice(
    text: str, texts: Sequence[str], first: int = 1, parse: Callable[[str], int | None] | None = None
) -> Answer:
    """Parse the choice of a numbered action; the value is its index.

    Args:
        text: Answer of the model.
        texts: Actions.
        first: Number of the first one.
        parse: Parser of the answer; see ``read_option``.

    Raises:
        Unreadable: The answer names no action, or several.
    """
    last = first + len(texts) - 1
    numbers = [str(number) for number in range(first, last + 1)]
    return read_option(text, texts, numbers, "action", f"the number of one action from {first} to {last}", parse)


def read_letter(text: str, choices: Sequence[str]) -> Answer:
    """Parse the choice of a lettered option; the value is its index.

    Args:
        text: Answer of the model.
        choices: Texts of the choices; the first has the letter A.

    Raises:
        Unreadable: The answer names no choice, or several.
    """
    letters = [chr(65 + i) for i in range(len(choices))]
    return read_option(text, choices, letters, "answer", f"one letter from A to {letters[-1]}")


def read_option(
    text: str,
    texts: Sequence[str],
    labels: Sequence[str],
    key: str,
    form: str,
    parse: Callable[[str], int | None] | None = None,
) -> Answer:
    """Parse the choice of an option by its label, its text, or both; the value is its index.

    Args:
        text: Answer of the model.
        texts: Texts of the options.
        labels: Their numbers or letters; empty if they have none.
        key: Key of the choice in a JSON object.
        form: Requested form, for the message to the model.
        parse: Returns the index of the option that other words name, None if they name none.

    Raises:
        Unreadable: The answer names no option, or several.
    """
    text = unicodedata.normalize("NFKC", visible(text))
    options = _Options(texts, labels, parse)
    asked = f'Answer with JSON, {{"{key}": ...}}, or with a last line that is nothing but {form}.'
    answer = read_object(text, [key], [key])
    named = set(options.named_in(outside_objects(text)))
    how = LINE
    if answer is not None:
        value = answer.value[key]
        number = options.named_by(value)
        if number is None or (answer.how == REPAIRED and not _stands_alone(text, key, value)):
            raise Unreadable(f"Your answer names no option. {asked}")
        named.add(number)
        how = answer.how
    if len(named) != 1:
        raise Unreadable(f"Your answer names {'several options' if named else 'no option'}. {asked}")
    return Answer(named.pop(), how)


def _stands_alone(text: str, key: str, value: object) -> bool:
    """Return whether nothing but a value follows its key, wherever a broken object has it."""
    found = [text[match.end() :] for match in re.finditer(rf"\b{key}[\"']?\s*[:=]\s*[\"']?", text, re.IGNORECASE)]
    whole = re.compile(rf"{re.escape(str(value))}\s*[\"']?\s*(?:[,}}\]\n]|\Z)")
    return bool(found) and all(map(whole.match, found))


class _Options:
    """Options by label and text, and the recognition of options in a text."""

    def __init__(self, texts: Sequence[str], labels: Sequence[str], parse: Callable[[str], int | None] | None) -> None:
        self._parse = parse or (lambda text: None)
        self._texts, self._labels = [plain_text(text) for text in texts], list(labels)
        longest = sorted(map(re.escape, labels or texts), key=len, reverse=True)
        ending = r"(?:\.0+)?(?![\w.]*\d)" if labels else r"(?!\w)"
        word = r"(?:(?:option|action|choice|number|answer|letter|no\.)\s*(?:number\s*)?)?"
        self._begin = re.compile(
            rf"{word}[#(\[]*\s*({'|'.join(longest)})(?!\w){ending}\s*[)\]]*(.*)", re.IGNORECASE | re.DOTALL
        )
        self._label = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, labels)) or '(?!)'})(?!\w)(?! [a-z])")

    def named_by(self, value: object, goes_on: str = r"\W*") -> int | None:
        """Return the option that a value names; text after the name must match the pattern ``goes_on``."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            return None
        text = unicodedata.normalize("NFKC", str(value)).strip(" \t\n*_`\"'")
        whole = plain_text(text)
        by_text = [index for index, other in enumerate(self._texts) if other == whole]
        if by_text:
            return by_text[0] if len(by_text) == 1 else None
        begin = self._begin.fullmatch(text)
        if begin is None:
            return self._parse(text)
        index = self._index(begin[1])
        rest = begin[2].strip(" .:,;\u2013\u2014*_`\"'-")
        same = {plain_text(rest), plain_text(rest.removeprefix("(").removesuffix(")"))}
        if self._texts[index] in same or re.fullmatch(goes_on, begin[2], re.IGNORECASE | re.DOTALL):
            return index
        return None

    def _index(self, name: str) -> int:
        if self._labels:
            return [label.casefold() for label in self._labels].index(name.casefold())
        return self._texts.index(plain_text(name))

    def named_in(self, text: str) -> Iterator[int]:
        """Yield the options that statements and the first or last line of a text name."""
        text = _TAG_LINES.sub(r"\1\2", text)
        lines = [line for line in (self._cleaned(line) for line in text.splitlines()) if line]
        for line in lines:
            yield from self._stated(line)
        listed = [line for line in lines if _ENUMERATED.search(line)]
        whole = {at: line for at, line in enumerate(lines) if len(listed) < 2 or line not in listed}
        if len({self.named_by(line) for line in whole.values()} - {None}) > 1:
            return
        for at in {0, len(lines) - 1}.intersection(whole):
            before = lines[at - 1].strip(" *_") if at else ""
            is_header = before.endswith(":") and not (
                _HEADER.fullmatch(before[:-1].strip(" *_")) and not _PLURAL_OR_BAD.search(before)
            )
            index = self.named_by(lines[at], rf"\W*|{_REASON}")
            if index is not None and not is_header and not (at == 0 and lines[at].endswith(("?", ":"))):
                yield index

    def _cleaned(self, line: str) -> str:
        line = _MATH.sub("", line).replace("**", "").replace("__", "").replace("`", "")
        return re.sub(r"^\s*(?:[-*\u2022>#]+\s+)+", "", line).strip()

    def _stated(self, line: str) -> Iterator[int]:
        position = 0
        while match := _STATED.search(line, position):
            value = match[str(match.lastgroup)]
            position = max(match.start() + 1, match.end() - len(value))  # another one may follow within its value
            before = line[max(0, match.start() - MAX_CLAUSE) : match.start()]
            if _NAMES_NONE.search(_CLAUSE.split(before)[-1]):
                continue
            if match.lastgroup == "inner":
                value, _, tail = value.partition("</")
                value = "" if _DOUBT.search(tail) else value
            while value != (opened := _LATEX.sub(r"\1", value)):
                value = opened
            index = self.named_by(value, _MAY_FOLLOW)
            begin = self._begin.fullmatch(value.strip(" *_\"'"))
            if index is not None and not self._doubts(begin[2] if begin else "", index):
                yield index

    def _doubts(self, tail: str, index: int) -> bool:
        """Return whether the text after an option withdraws the option, asks, or names another option."""
        if plain_text(tail.strip(" .:,;-()")) == self._texts[index]:
            return False
        return bool(_DOUBT.search(tail) or self._label.search(tail))
