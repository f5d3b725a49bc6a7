"""Questionnaires: questions and their allowed answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Literal

from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.documents import Document, DocumentError, field_name, quotation_remedy
from collab_overcooked.io.text import harmless, one_line
from collab_overcooked.study.media import MEDIA_KEYS, Media, MediaReader
from collab_overcooked.study.texts import fill

Kind = Literal["likert", "choice", "many", "number", "slider", "text"]
ShowIf = tuple[tuple[str, tuple[str, ...]], ...]
"""Answers on which something is shown: ``FORM.QUESTION`` and the answers of which one must have been given."""
FIXED, RANDOM = "fixed", "random"  # orders of questions
MAX_RETRIES = 20
MAX_ANSWER = 4_000  # characters of free text
MAX_POINTS = 11
MAX_SECONDS = 3_600  # of a page or a questionnaire


@dataclass(frozen=True)
class FormItem:
    """A question of a questionnaire."""

    name: str  # Name of its column in exports
    # ``"likert"`` (points of a scale), ``"choice"`` (one of several), ``"many"`` (any of several), ``"number"``,
    # ``"slider"`` or ``"text"``
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
    show_if: ShowIf = ()  # Answers on which it is asked; always if empty
    media: Media | None = None  # Image or video above its field

    def read(self, entries: Sequence[str], texts: Mapping[str, str]) -> Any:
        """Parse an answer: an integer, a text, a list of texts, or None if the question is left open.

        Args:
            entries: Submitted values of the field.
            texts: Error messages, see ``texts.PAGE_TEXTS``.

        Raises:
            ValueError: The answer is missing or not among the options.
        """
        values = [value.strip() for value in entries if value.strip()]
        if not values and not self.optional:
            raise ValueError(texts["empty"])
        if self.kind in ("choice", "many"):
            most = len(set(values)) if self.kind == "many" else 1
            if any(value not in self.options for value in values) or len(values) > most:
                raise ValueError(texts["choose"])
            if self.kind == "many":
                return values
            return values[0] if values else None
        if not values:
            return None
        value = " ".join(values)
        return harmless(self._text(value, texts)) if self.kind == "text" else self._number(value, texts)

    def _text(self, value: str, texts: Mapping[str, str]) -> str:
        if len(value) > MAX_ANSWER:
            raise ValueError(fill(texts["long"], most=MAX_ANSWER))
        return value

    def _number(self, value: str, texts: Mapping[str, str]) -> int:
        low, high = (1, self.points) if self.kind == "likert" else self.span
        if not re.fullmatch(r"-?[0-9]{1,9}", value) or not low <= int(value) <= high:
            raise ValueError(fill(texts["number"], low=low, high=high))
        return int(value)

    def screens(self, answer: object) -> bool:
        """Return True if the answer excludes the participant; a question that is left open excludes nobody."""
        values = _values(answer)
        return bool(self.accept and values) and not set(self.accept).intersection(values)

    def fails(self, answer: object) -> bool:
        """Return True if the answer fails the attention check."""
        return bool(self.expect) and sorted(_values(answer)) != sorted(self.expect)

    def meaning(self) -> str:
        """Describe the possible values and their codes for a codebook."""
        if self.kind == "likert":
            low, high = self.ends
            return f"1 to {self.points}; 1: {low}; {self.points}: {high}" if low else f"1 to {self.points}"
        if self.kind in ("number", "slider"):
            span = f"integer from {self.span[0]} to {self.span[1]}"
            return f"{span}; {self.span[0]}: {self.ends[0]}; {self.span[1]}: {self.ends[1]}" if self.ends[0] else span
        pairs = zip(self.options, self.labels or self.options, strict=True)
        named = [option if option == label else f"{option}: {label}" for option, label in pairs]
        if self.kind == "choice":
            return "; ".join(f"{text} (code {code})" for code, text in enumerate(named, start=1))
        return "free text" if self.kind == "text" else "; ".join(named)

    def values(self) -> tuple[str, ...] | range:
        """Return the possible answers to a question that later questions may depend on; empty for free text."""
        if self.kind in ("number", "slider"):
            return range(self.span[0], self.span[1] + 1)
        return self.options if self.kind in ("choice", "many") else tuple(map(str, range(1, self.points + 1)))

    def code(self, answer: object) -> int | None:
        """Return an answer as a number: the number itself, or the index of the chosen option from 1; otherwise None."""
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
    retry: int = 0  # Number of further tries before an answer that is not accepted screens the participant out
    order: str = FIXED  # Order of its questions, ``FIXED`` or ``RANDOM``, which is drawn for each participant

    def arranged(self, order: Sequence[int], answers: Mapping[str, Any]) -> Questionnaire:
        """Return the questionnaire as a participant sees it.

        Args:
            order: Indices of the questions in the participant's order; empty for the order of the file.
            answers: Earlier answers of the participant, by ``FORM.QUESTION``; on those of this questionnaire nothing
                depends.
        """
        items = []
        for item in (self.items[k] for k in order) if order else self.items:
            here = tuple(entry for entry in item.show_if if entry[0].partition(".")[0] == self.name)
            if holds(tuple(entry for entry in item.show_if if entry not in here), answers):
                items.append(replace(item, show_if=here))
        return replace(self, items=tuple(items))

    def item(self, name: str) -> FormItem:
        """Return the question of a name."""
        return next(item for item in self.items if item.name == name)

    def failed(self, answers: Mapping[str, Any]) -> int:
        """Return the number of attention checks that the answers fail."""
        return sum(item.fails(answers[item.name]) for item in self.items if item.name in answers)

    def read(
        self, fields: Mapping[str, Sequence[str]], texts: Mapping[str, str]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the valid answers and the error messages, both by item; without questions that are not asked.

        Args:
            fields: Values of the page's fields.
            texts: Error messages, see ``texts.PAGE_TEXTS``.
        """
        answers: dict[str, Any] = {}
        complaints: dict[str, str] = {}
        for item in self.items:
            if not holds(item.show_if, {f"{self.name}.{name}": answer for name, answer in answers.items()}):
                continue
            try:
                answers[item.name] = item.read(fields.get(item.name, ()), texts)
            except ValueError as error:
                complaints[item.name] = str(error)
        return answers, complaints


def holds(show_if: ShowIf, answers: Mapping[str, Any]) -> bool:
    """Return whether answers, by ``FORM.QUESTION``, satisfy the condition."""
    return all(set(values).intersection(_values(answers.get(name))) for name, values in show_if)


def _values(answer: object) -> list[str]:
    """Return an answer as the texts that a study file has for it; none where the question was left open."""
    if answer is None:
        return []
    return list(map(str, answer if isinstance(answer, list) else [answer]))


class FormReader:
    """Reader of the questionnaires of a study file."""

    KEYS: ClassVar = {
        "likert": ("low", "high", "expect"),
        "choice": ("accept", "expect"),
        "many": ("accept", "expect"),
        "number": ("expect",),
        "slider": ("low", "high"),
        "text": (),
    }
    EXAMPLES: ClassVar = {
        "likert": "likert: 7",
        "choice": 'choice: ["yes", "no"]',
        "many": "many: [one, two]",
        "number": "number: [18, 120]",
        "slider": "slider: [0, 100]",
        "text": "text: free",
    }

    def __init__(self, doc: Document, media: MediaReader) -> None:
        self.doc, self.media = doc, media

    def forms(self) -> dict[str, Questionnaire]:
        """Return all questionnaires by name."""
        names = self.doc.mapping("forms", default={})
        forms = {check_name(self.doc, name, "forms", name): self._form(name) for name in names}
        for form in forms.values():
            for i in range(len(form.items)):
                self._check_item(forms, form, i)
        return forms

    def _check_item(self, forms: Mapping[str, Questionnaire], form: Questionnaire, i: int) -> None:
        path = ("forms", form.name, "items", i, "show_if")
        later = [f"{form.name}.{item.name}" for item in form.items[i:]]
        for name, _ in form.items[i].show_if:
            if name in later:
                raise self.doc.error(f"{field_name(path)} must name an earlier question, not {name!r}", *path, name)
            if form.order == RANDOM and name.partition(".")[0] == form.name:
                requirement = f"be {FIXED} where a question depends on another one of the questionnaire"
                raise self.doc.refuse(requirement, "forms", form.name, "order")
        check_show_if(self.doc, forms, *path)

    def _form(self, name: str) -> Questionnaire:
        doc, path = self.doc, ("forms", name)
        doc.mapping(*path, only=("title", "text", "items", "within", "retry", "order"))
        items = [self._item(*path, "items", i) for i in range(len(doc.listed("questions", *path, "items")))]
        names = [item.name for item in items]
        for i, item_name in enumerate(names):
            if item_name in names[:i]:
                raise doc.error(
                    f"{item_name!r} is the name of two questions; names must be unique", *path, "items", i, "name"
                )
        title = one_line(doc.text(*path, "title"))
        within = doc.integer(*path, "within", default=None, low=5, high=MAX_SECONDS)
        retry = doc.integer(*path, "retry", default=0, high=MAX_RETRIES)
        if retry and not any(item.accept for item in items):
            raise doc.error(f"{field_name(path)}.retry needs a question with `accept`; there is none", *path, "retry")
        order = doc.choice((FIXED, RANDOM), *path, "order", default=FIXED)
        return Questionnaire(name, title, doc.text(*path, "text", default=""), tuple(items), within, retry, order)

    def _item(self, *path: Any) -> FormItem:
        item, show_if = self._question(*path), read_show_if(self.doc, *path, "show_if")
        return replace(item, show_if=show_if, media=self.media.read(*path))

    def _question(self, *path: Any) -> FormItem:
        doc = self.doc
        keys = doc.mapping(*path)
        kinds = [kind for kind in self.KEYS if kind in keys]
        if len(kinds) != 1:
            raise self._kind_error(keys, kinds, *path)
        kind: Any = kinds[0]
        doc.mapping(*path, only=("name", "ask", "optional", "show_if", *MEDIA_KEYS, kind, *self.KEYS[kind]))
        name = check_name(doc, doc.text(*path, "name"), *path, "name")
        ask, optional = doc.text(*path, "ask"), doc.boolean(*path, "optional")
        if kind == "likert":
            ends = (doc.text(*path, "low", default=""), doc.text(*path, "high", default=""))
            points = doc.integer(*path, kind, low=2, high=MAX_POINTS)
            expect = self._expected([str(n) for n in range(1, points + 1)], *path)
            return FormItem(name, kind, ask, points=points, ends=ends, optional=optional, expect=expect)
        if kind in ("number", "slider"):
            span = [doc.integer(*path, kind, i, low=-1_000_000) for i in range(len(self._pair(*path, kind)))]
            if span[0] >= span[1]:
                raise doc.refuse("be the smallest and the largest number", *path, kind)
            expect = (str(doc.integer(*path, "expect", low=span[0], high=span[1])),) if "expect" in keys else ()
            ends = (doc.text(*path, "low", default=""), doc.text(*path, "high", default=""))
            return FormItem(name, kind, ask, ends=ends, span=(span[0], span[1]), optional=optional, expect=expect)
        if kind == "text":
            if doc.at(*path, kind) != "free":
                raise doc.refuse("be free", *path, kind)
            return FormItem(name, kind, ask, optional=optional)
        labelled = isinstance(doc.at(*path, kind), dict)
        options = self._labelled(*path, kind) if labelled else self._texts(*path, kind)
        labels = tuple(one_line(doc.text(*path, kind, option)) for option in options) if labelled else ()
        accept = self._texts(*path, "accept") if "accept" in keys else ()
        for i, answer in enumerate(accept):
            if answer not in options:
                raise doc.refuse(f"be one of {', '.join(options)}", *path, "accept", i)
        expect = self._expected(options, *path)
        return FormItem(
            name, kind, ask, options=options, labels=labels, optional=optional, accept=accept, expect=expect
        )

    def _kind_error(self, keys: Mapping[str, Any], kinds: Sequence[str], *path: Any) -> DocumentError:
        """Return the error for a question without a kind, or with several."""
        problem = f"must have one of {', '.join(self.KEYS)}"
        problem += f", not {' and '.join(kinds)}" if kinds else "; it has none"
        known = {"name", "ask", "optional", "show_if", *MEDIA_KEYS, *self.KEYS, *chain(*self.KEYS.values())}
        unknown = [str(key) for key in keys if key not in known]
        if unknown:
            problem += f"; unknown: {', '.join(unknown)}"
        example = self.EXAMPLES.get(str(keys.get("type")))
        if example:
            problem += f". Write `{example}` instead of `type: {keys['type']}`"
        return self.doc.error(f"{field_name(path)} {problem}", *path)

    def _expected(self, options: Sequence[str], *path: Any) -> tuple[str, ...]:
        value = self.doc.at(*path).get("expect")
        if value is None:
            return ()
        values = value if isinstance(value, list) else [value]
        for answer in values:
            if isinstance(answer, (dict, list)) or str(answer) not in options:
                raise self.doc.refuse(f"be among {', '.join(options)}", *path, "expect", of_text=True)
        if len(values) > 1 and "many" not in self.doc.at(*path):
            raise self.doc.refuse("be one answer, as the question takes one", *path, "expect")
        return tuple(map(str, values))

    def _pair(self, *path: Any) -> list[Any]:
        pair = self.doc.listed("two integers", *path)
        if len(pair) != 2:
            raise self.doc.refuse("be a list of two integers", *path)
        return pair

    def _labelled(self, *path: Any) -> tuple[str, ...]:
        options = tuple(self.doc.mapping(*path))
        for option in options:
            if not isinstance(option, str):
                problem = f"must have texts as options, not {option!r}{quotation_remedy(option)}"
                raise self.doc.error(f"{field_name(path)} {problem}", *path, option)
        return options

    def _texts(self, *path: Any) -> tuple[str, ...]:
        texts = [self.doc.text(*path, i) for i in range(len(self.doc.listed("answers", *path)))]
        for i, text in enumerate(texts):
            if text in texts[:i]:
                raise self.doc.error(f"{text!r} is listed twice", *path, i)
        return tuple(map(one_line, texts))


def read_show_if(doc: Document, *path: Any) -> ShowIf:
    """Return the answers on which something is shown; ``check_show_if`` checks them once all forms are read."""
    names = doc.mapping(*path, default={})
    entries = []
    for name, value in names.items():
        values = value if isinstance(value, list) else [value]
        if not values or any(isinstance(entry, (dict, list)) or entry is None for entry in values):
            raise doc.refuse("be an answer or a list of answers", *path, name)
        entries.append((str(name), tuple(map(str, values))))
    return tuple(entries)


def check_show_if(doc: Document, forms: Mapping[str, Questionnaire], *path: Any) -> None:
    """Check that the answers on which something is shown can be given."""
    items = {f"{form.name}.{item.name}": item for form in forms.values() for item in form.items}
    for name, values in read_show_if(doc, *path):
        if name not in items:
            raise doc.error(f"{near_matches('question', name, items)} of {field_name(path)}", *path, name)
        known = items[name].values()
        if not known:
            raise doc.error(f"{field_name(path)} cannot depend on {name}, whose answers are {items[name].kind}", *path)
        for value in values:
            if value not in (map(str, known) if isinstance(known, range) else known):
                allowed = f"from {known[0]} to {known[-1]}" if isinstance(known, range) else f"among {', '.join(known)}"
                raise doc.refuse(f"be {allowed}", *path, name, of_text=not isinstance(known, range))


def check_name(doc: Document, name: object, *path: Any) -> str:
    """Return a name of letters, digits and underscores, which is valid in files, columns and addresses.

    Raises:
        DocumentError: The name has another form.
    """
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or len(name) > 40:
        raise doc.error(f"{name!r:.60} must be a name of at most 40 letters, digits and underscores", *path)
    return name
