"""Questionnaires: what is asked, and which answers are allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from collab_overcooked.io.documents import Document
from collab_overcooked.io.text import harmless, one_line
from collab_overcooked.study.words import fill

Kind = Literal["likert", "choice", "many", "rank", "number", "text"]
MAX_ANSWER = 4_000  # characters of free text
MAX_POINTS = 11
MAX_SECONDS = 3_600  # of a page or a questionnaire


@dataclass(frozen=True)
class Item:
    """One question.

    Attributes:
        name: Column of exports.
        kind: ``"likert"`` (points of a scale), ``"choice"`` (one of several), ``"many"`` (any of several), ``"rank"``
            (all of several in an order), ``"number"`` or ``"text"``.
        ask: The question in words.
        points: Of the scale.
        ends: Words at its two ends.
        options: To choose from.
        span: Least and largest number.
        optional: Whether it may be left open.
        accept: Answers with which the study goes on; with another one a person is screened out. All if empty.
        expect: Answers of somebody who pays attention; another one is a failed check. No check if empty.
    """

    name: str
    kind: Kind
    ask: str
    points: int = 0
    ends: tuple[str, str] = ("", "")
    options: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)
    optional: bool = False
    accept: tuple[str, ...] = ()
    expect: tuple[str, ...] = ()

    def read(self, given: Sequence[str], words: Mapping[str, str]) -> Any:
        """Return an answer: an integer, a text, a list of texts, or None where it is left open.

        Args:
            given: Values of the page's field.
            words: Complaints, see ``words.WORDS``.

        Raises:
            ValueError: Saying what is missing or allowed.
        """
        values = [value.strip() for value in given if value.strip()]
        if not values and not self.optional:
            raise ValueError(words["empty"])
        if self.kind == "rank":
            return self._ranking(given, words) if values else None
        if self.kind in ("choice", "many"):
            if any(value not in self.options for value in values) or len(set(values)) < len(values):
                raise ValueError(words["choose"])
            return values if self.kind == "many" else values[0] if values else None
        if not values:
            return None
        return harmless(self._text(values[0], words)) if self.kind == "text" else self._number(values[0], words)

    def _ranking(self, given: Sequence[str], words: Mapping[str, str]) -> list[str]:
        """Return the options in the order of the places given to them."""
        places = [str(place) for place in range(1, len(self.options) + 1)]
        if sorted(given) != sorted(places):
            raise ValueError(fill(words["rank"], most=len(places)))
        return [self.options[given.index(place)] for place in places]

    def _text(self, value: str, words: Mapping[str, str]) -> str:
        if len(value) > MAX_ANSWER:
            raise ValueError(fill(words["long"], most=MAX_ANSWER))
        return value

    def _number(self, value: str, words: Mapping[str, str]) -> int:
        low, high = self.span if self.kind == "number" else (1, self.points)
        if not re.fullmatch(r"-?[0-9]{1,9}", value) or not low <= int(value) <= high:
            raise ValueError(fill(words["number"], low=low, high=high))
        return int(value)

    def screens(self, answer: Any) -> bool:
        """Tell whether somebody with this answer cannot take part."""
        given = answer if isinstance(answer, list) else [answer]
        return bool(self.accept) and not any(str(own) in self.accept for own in given)

    def fails(self, answer: Any) -> bool:
        """Tell whether an answer shows that the question was not read."""
        given = answer if isinstance(answer, list) else [answer]
        return bool(self.expect) and sorted(map(str, given)) != sorted(self.expect)

    def meaning(self) -> str:
        """Say for a codebook what values there are."""
        if self.kind == "likert":
            low, high = self.ends
            return f"1 to {self.points}; 1: {low}; {self.points}: {high}" if low else f"1 to {self.points}"
        if self.kind == "number":
            return f"integer from {self.span[0]} to {self.span[1]}"
        options = "; ".join(self.options)
        return (
            "free text"
            if self.kind == "text"
            else f"in order, first to last: {options}"
            if self.kind == "rank"
            else options
        )


@dataclass(frozen=True)
class Questionnaire:
    """A questionnaire.

    Attributes:
        name: Under which blocks name it.
        title: Heading of its page.
        text: What stands above the questions.
        items: The questions.
        within: Seconds after which it is sent as it is; None for no limit.
    """

    name: str
    title: str
    text: str
    items: tuple[Item, ...]
    within: int | None = None

    def failed(self, answers: Mapping[str, Any]) -> int:
        """Return the number of attention checks that answers fail."""
        return sum(item.fails(answers[item.name]) for item in self.items if item.name in answers)

    def read(
        self, given: Mapping[str, Sequence[str]], words: Mapping[str, str]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return answers by item, and complaints by item where there is something to complain about.

        Args:
            given: Values of the page's fields.
            words: See ``words.WORDS``.
        """
        answers: dict[str, Any] = {}
        complaints: dict[str, str] = {}
        for item in self.items:
            try:
                answers[item.name] = item.read(given.get(item.name, ()), words)
            except ValueError as error:
                complaints[item.name] = str(error)
        return answers, complaints


class FormReader:
    """Reads the questionnaires of a document."""

    KEYS: ClassVar = {
        "likert": ("low", "high", "expect"),
        "choice": ("accept", "expect"),
        "many": ("accept", "expect"),
        "rank": (),
        "number": ("expect",),
        "text": (),
    }

    def __init__(self, doc: Document) -> None:
        self.doc = doc

    def forms(self) -> dict[str, Questionnaire]:
        """Return all questionnaires by name.

        Raises:
            LayoutError: Saying where and what is allowed.
        """
        names = self.doc.mapping("forms", default={})
        return {check_name(self.doc, name, "forms", name): self._form(name) for name in names}

    def _form(self, name: str) -> Questionnaire:
        doc, path = self.doc, ("forms", name)
        doc.mapping(*path, only=("title", "text", "items", "within"))
        items = [self._item(*path, "items", i) for i in range(len(doc.listed("questions", *path, "items")))]
        names = [item.name for item in items]
        for i, own in enumerate(names):
            if own in names[:i]:
                raise doc.error(f"{own!r} is the name of two questions; each needs its own", *path, "items", i, "name")
        title = one_line(doc.text(*path, "title"))
        within = doc.integer(*path, "within", default=None, low=5, high=MAX_SECONDS)
        return Questionnaire(name, title, doc.text(*path, "text", default=""), tuple(items), within)

    def _item(self, *path: Any) -> Item:
        doc = self.doc
        given = doc.mapping(*path)
        kinds = [kind for kind in self.KEYS if kind in given]
        if len(kinds) != 1:
            raise doc.refuse(f"have one of {', '.join(self.KEYS)}", *path)
        kind: Any = kinds[0]
        doc.mapping(*path, only=("name", "ask", "optional", kind, *self.KEYS[kind]))
        name = check_name(doc, doc.text(*path, "name"), *path, "name")
        ask, optional = doc.text(*path, "ask"), doc.boolean(*path, "optional")
        if kind == "likert":
            ends = (doc.text(*path, "low", default=""), doc.text(*path, "high", default=""))
            points = doc.integer(*path, kind, low=2, high=MAX_POINTS)
            expect = self._expected([str(n) for n in range(1, points + 1)], *path)
            return Item(name, kind, ask, points=points, ends=ends, optional=optional, expect=expect)
        if kind == "number":
            span = [doc.integer(*path, kind, i, low=-1_000_000) for i in range(len(self._pair(*path, kind)))]
            if span[0] >= span[1]:
                raise doc.refuse("be the least and the largest number", *path, kind)
            expect = (str(doc.integer(*path, "expect", low=span[0], high=span[1])),) if "expect" in given else ()
            return Item(name, kind, ask, span=(span[0], span[1]), optional=optional, expect=expect)
        if kind == "text":
            if doc.at(*path, kind) != "free":
                raise doc.refuse("be free", *path, kind)
            return Item(name, kind, ask, optional=optional)
        options = self._texts(*path, kind)
        if kind == "rank" and not 2 <= len(options) <= MAX_POINTS:
            raise doc.refuse(f"have 2 to {MAX_POINTS} answers", *path, kind)
        accept = self._texts(*path, "accept") if "accept" in given else ()
        for i, own in enumerate(accept):
            if own not in options:
                raise doc.refuse(f"be one of {', '.join(options)}", *path, "accept", i)
        expect = self._expected(options, *path)
        return Item(name, kind, ask, options=options, optional=optional, accept=accept, expect=expect)

    def _expected(self, options: Sequence[str], *path: Any) -> tuple[str, ...]:
        """Return the answer that an attention check expects: one option, or a list of those to tick."""
        value = self.doc.at(*path).get("expect")
        values = value if isinstance(value, list) else [] if value is None else [value]
        for own in values:
            if isinstance(own, (dict, list)) or str(own) not in options:
                raise self.doc.refuse(f"be among {', '.join(options)}", *path, "expect")
        return tuple(map(str, values))

    def _pair(self, *path: Any) -> list[Any]:
        found = self.doc.listed("two integers", *path)
        if len(found) != 2:
            raise self.doc.refuse("be a list of two integers", *path)
        return found

    def _texts(self, *path: Any) -> tuple[str, ...]:
        found = [self.doc.text(*path, i) for i in range(len(self.doc.listed("answers", *path)))]
        for i, own in enumerate(found):
            if own in found[:i]:
                raise self.doc.error(f"{own!r} is listed twice", *path, i)
        return tuple(map(one_line, found))


def check_name(doc: Document, name: Any, *path: Any) -> str:
    """Return a name of letters, digits and underscores, which files, columns and addresses can hold.

    Raises:
        LayoutError: If it is none.
    """
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or len(name) > 40:
        raise doc.error(f"{name!r:.60} must be a name of at most 40 letters, digits and underscores", *path)
    return name
