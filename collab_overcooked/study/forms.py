"""Questionnaires: questions and their allowed answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from collab_overcooked.io.documents import Document
from collab_overcooked.io.text import harmless, one_line
from collab_overcooked.study.texts import fill

Kind = Literal["likert", "choice", "many", "rank", "number", "text"]
MAX_ANSWER = 4_000  # characters of free text
MAX_POINTS = 11
MAX_SECONDS = 3_600  # of a page or a questionnaire


@dataclass(frozen=True)
class FormItem:
    """A question of a questionnaire."""

    name: str  # Name of its column in exports
    # ``"likert"`` (points of a scale), ``"choice"`` (one of several), ``"many"`` (any of several), ``"rank"`` (all of
    # several in an order), ``"number"`` or ``"text"``
    kind: Kind
    ask: str  # Text of the question
    points: int = 0  # Number of points of the scale
    ends: tuple[str, str] = ("", "")  # Labels of its two ends
    options: tuple[str, ...] = ()  # Options to choose from
    labels: tuple[str, ...] = ()  # Labels of the options on pages; the options themselves if empty
    span: tuple[int, int] = (0, 0)  # Smallest and largest number
    optional: bool = False  # Whether it may be left open
    # Answers that continue the study; any other screens the participant out. All if empty.
    accept: tuple[str, ...] = ()
    # Answers that an attention check expects; any other is a failed check. No check if empty.
    expect: tuple[str, ...] = ()

    def read(self, entries: Sequence[str], texts: Mapping[str, str]) -> Any:
        """Return an answer: an integer, a text, a list of texts, or None where it is left open.

        Args:
            entries: Values of the page's field.
            texts: Error messages, see ``texts.PAGE_TEXTS``.
        """
        values = [value.strip() for value in entries if value.strip()]
        if not values and not self.optional:
            raise ValueError(texts["empty"])
        if self.kind == "rank":
            return self._ranking(entries, texts) if values else None
        if self.kind in ("choice", "many"):
            most = len(set(values)) if self.kind == "many" else 1
            if any(value not in self.options for value in values) or len(values) > most:
                raise ValueError(texts["choose"])
            return values if self.kind == "many" else values[0] if values else None
        if not values:
            return None
        value = " ".join(values)
        return harmless(self._text(value, texts)) if self.kind == "text" else self._number(value, texts)

    def _ranking(self, values: Sequence[str], texts: Mapping[str, str]) -> list[str]:
        places = [str(place) for place in range(1, len(self.options) + 1)]
        if sorted(values) != sorted(places):
            raise ValueError(fill(texts["rank"], most=len(places)))
        return [self.options[values.index(place)] for place in places]

    def _text(self, value: str, texts: Mapping[str, str]) -> str:
        if len(value) > MAX_ANSWER:
            raise ValueError(fill(texts["long"], most=MAX_ANSWER))
        return value

    def _number(self, value: str, texts: Mapping[str, str]) -> int:
        low, high = self.span if self.kind == "number" else (1, self.points)
        if not re.fullmatch(r"-?[0-9]{1,9}", value) or not low <= int(value) <= high:
            raise ValueError(fill(texts["number"], low=low, high=high))
        return int(value)

    def screens(self, answer: Any) -> bool:
        """Return True if the answer excludes the participant."""
        values = answer if isinstance(answer, list) else [answer]
        return bool(self.accept) and not any(str(value) in self.accept for value in values)

    def fails(self, answer: Any) -> bool:
        """Return True if the answer fails the attention check."""
        values = answer if isinstance(answer, list) else [answer]
        return bool(self.expect) and sorted(map(str, values)) != sorted(self.expect)

    def meaning(self) -> str:
        """Describe the possible values and their codes for a codebook."""
        if self.kind == "likert":
            low, high = self.ends
            return f"1 to {self.points}; 1: {low}; {self.points}: {high}" if low else f"1 to {self.points}"
        if self.kind == "number":
            return f"integer from {self.span[0]} to {self.span[1]}"
        pairs = zip(self.options, self.labels or self.options, strict=True)
        named = [option if option == label else f"{option}: {label}" for option, label in pairs]
        if self.kind == "choice":
            return "; ".join(f"{text} (code {code})" for code, text in enumerate(named, start=1))
        options = "; ".join(named)
        return {"text": "free text", "rank": f"in order, first to last: {options}"}.get(self.kind, options)

    def code(self, answer: Any) -> int | None:
        """Return an answer as a number: itself, or the place of the chosen option, from 1; None for other answers."""
        if self.kind == "choice" and answer in self.options:
            return self.options.index(answer) + 1
        return answer if isinstance(answer, int) else None


@dataclass(frozen=True)
class Questionnaire:
    """A page of questions."""

    name: str  # Name that blocks refer to
    title: str  # Heading of its page
    text: str  # Text above the questions
    items: tuple[FormItem, ...]  # Questions
    within: int | None = None  # Seconds after which it is submitted automatically; None for no limit

    def item(self, name: str) -> FormItem:
        """Return the question of a name."""
        return next(item for item in self.items if item.name == name)

    def failed(self, answers: Mapping[str, Any]) -> int:
        """Return the number of attention checks that the answers fail."""
        return sum(item.fails(answers[item.name]) for item in self.items if item.name in answers)

    def read(
        self, fields: Mapping[str, Sequence[str]], texts: Mapping[str, str]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the valid answers and the error messages, both by item.

        Args:
            fields: Values of the page's fields.
            texts: Error messages, see ``texts.PAGE_TEXTS``.
        """
        answers: dict[str, Any] = {}
        complaints: dict[str, str] = {}
        for item in self.items:
            try:
                answers[item.name] = item.read(fields.get(item.name, ()), texts)
            except ValueError as error:
                complaints[item.name] = str(error)
        return answers, complaints


class FormReader:
    """Reader of the questionnaires of a study file."""

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
        """Return all questionnaires by name."""
        names = self.doc.mapping("forms", default={})
        return {check_name(self.doc, name, "forms", name): self._form(name) for name in names}

    def _form(self, name: str) -> Questionnaire:
        doc, path = self.doc, ("forms", name)
        doc.mapping(*path, only=("title", "text", "items", "within"))
        items = [self._item(*path, "items", i) for i in range(len(doc.listed("questions", *path, "items")))]
        names = [item.name for item in items]
        for i, item_name in enumerate(names):
            if item_name in names[:i]:
                raise doc.error(
                    f"{item_name!r} is the name of two questions; names must be unique", *path, "items", i, "name"
                )
        title = one_line(doc.text(*path, "title"))
        within = doc.integer(*path, "within", default=None, low=5, high=MAX_SECONDS)
        return Questionnaire(name, title, doc.text(*path, "text", default=""), tuple(items), within)

    def _item(self, *path: Any) -> FormItem:
        doc = self.doc
        keys = doc.mapping(*path)
        kinds = [kind for kind in self.KEYS if kind in keys]
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
            return FormItem(name, kind, ask, points=points, ends=ends, optional=optional, expect=expect)
        if kind == "number":
            span = [doc.integer(*path, kind, i, low=-1_000_000) for i in range(len(self._pair(*path, kind)))]
            if span[0] >= span[1]:
                raise doc.refuse("be the smallest and the largest number", *path, kind)
            expect = (str(doc.integer(*path, "expect", low=span[0], high=span[1])),) if "expect" in keys else ()
            return FormItem(name, kind, ask, span=(span[0], span[1]), optional=optional, expect=expect)
        if kind == "text":
            if doc.at(*path, kind) != "free":
                raise doc.refuse("be free", *path, kind)
            return FormItem(name, kind, ask, optional=optional)
        labelled = isinstance(doc.at(*path, kind), dict)
        options = tuple(doc.mapping(*path, kind)) if labelled else self._texts(*path, kind)
        labels = tuple(one_line(doc.text(*path, kind, option)) for option in options) if labelled else ()
        if kind == "rank" and not 2 <= len(options) <= MAX_POINTS:
            raise doc.refuse(f"have 2 to {MAX_POINTS} answers", *path, kind)
        accept = self._texts(*path, "accept") if "accept" in keys else ()
        for i, answer in enumerate(accept):
            if answer not in options:
                raise doc.refuse(f"be one of {', '.join(options)}", *path, "accept", i)
        expect = self._expected(options, *path)
        return FormItem(
            name, kind, ask, options=options, labels=labels, optional=optional, accept=accept, expect=expect
        )

    def _expected(self, options: Sequence[str], *path: Any) -> tuple[str, ...]:
        value = self.doc.at(*path).get("expect")
        values = value if isinstance(value, list) else [] if value is None else [value]
        for answer in values:
            if isinstance(answer, (dict, list)) or str(answer) not in options:
                raise self.doc.refuse(f"be among {', '.join(options)}", *path, "expect")
        if len(values) > 1 and "many" not in self.doc.at(*path):
            raise self.doc.refuse("be one answer, as the question takes one", *path, "expect")
        return tuple(map(str, values))

    def _pair(self, *path: Any) -> list[Any]:
        pair = self.doc.listed("two integers", *path)
        if len(pair) != 2:
            raise self.doc.refuse("be a list of two integers", *path)
        return pair

    def _texts(self, *path: Any) -> tuple[str, ...]:
        texts = [self.doc.text(*path, i) for i in range(len(self.doc.listed("answers", *path)))]
        for i, text in enumerate(texts):
            if text in texts[:i]:
                raise self.doc.error(f"{text!r} is listed twice", *path, i)
        return tuple(map(one_line, texts))


def check_name(doc: Document, name: Any, *path: Any) -> str:
    """Return a name of letters, digits and underscores, which is valid in files, columns and addresses."""
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or len(name) > 40:
        raise doc.error(f"{name!r:.60} must be a name of at most 40 letters, digits and underscores", *path)
    return name
