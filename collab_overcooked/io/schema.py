"""Schemas of values read from JSON, composed of small checks; errors name the field and the allowed values."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked.io.files import read_text

Check = Callable[[Any], None]
"""Function that takes a value and raises SchemaError if the value is not allowed."""

MAX_NUMBER = 10**9  # of numbers where no other limit is given; sums of many such are finite
MAX_CHARACTERS = 100_000  # characters of a text
MAX_DEPTH = 40  # lists and objects within each other


class SchemaError(ValueError):
    """A value does not match its schema.

    Attributes:
        path: Names and indices that lead to the value, from the outside in.
        problem: Description of the problem.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.path: list[str | int] = []
        self.problem = problem

    def __str__(self) -> str:
        """Write ``steps[3].rewards: got 'x', allowed is a number``."""
        place = "".join(map(_step_of_path, self.path)).removeprefix(".")
        return f"{place}: {self.problem}" if place else self.problem


def _step_of_path(part: str | int) -> str:
    return f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part!r}]"


def refuse(value: Any, allowed: str) -> SchemaError:
    """Return the error for a value that is not allowed."""
    return SchemaError(f"got {value!r:.60}, allowed is {allowed}")


def parse_json(text: str | bytes) -> Any:
    """Parse standard JSON: no NaN, no lone surrogates, no duplicate keys, limited nesting."""
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_object_of_pairs)
    except json.JSONDecodeError as error:
        raise SchemaError(f"is truncated or no JSON: {error.msg} in column {error.colno}") from None
    except SchemaError:
        raise
    except (ValueError, RecursionError) as error:  # bytes that are no text, numbers of thousands of digits
        problem = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise SchemaError(f"is truncated or no JSON: {problem}") from None
    unchecked(value)
    return value


def read_json(path: Path, check: Check, error: type[ValueError] = ValueError) -> Any:
    """Read a JSON file whose value passes a check; see ``files.open_file``."""
    text = read_text(path, error=error)
    try:
        value = parse_json(text)
        check(value)
    except SchemaError as problem:
        raise error(f"{path}: {problem}") from None
    return value


def json_line(value: Any, check: Check, indent: int | None = None) -> bytes:
    """Return a value as UTF-8 JSON that a reader with the same check accepts: one line, or a file if indented."""
    separators = (",", ": " if indent else ":")
    try:
        text = json.dumps(value, ensure_ascii=False, separators=separators, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"cannot be written as JSON: {error}") from None
    check(parse_json(text))
    return text.encode() + b"\n"


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise SchemaError(f"the key {twice!r:.60} is there twice in one object")
    return values


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


# ------------------------------------------------------------------------------------------- single values


def unchecked(value: Any, depth: int = MAX_DEPTH) -> None:
    """Accept any JSON value with finite numbers, valid texts and a nesting of at most ``depth``."""
    kind = value.__class__
    if kind is str:
        _check_characters(value)
    elif kind is float and not math.isfinite(value):
        raise refuse(value, "a finite number")
    elif kind is dict or kind is list:
        if not depth:
            raise SchemaError(f"is nested more than {MAX_DEPTH} deep")
        key: Any = None
        try:
            for key, entry in enumerate(value) if kind is list else value.items():
                if kind is dict:
                    _check_characters(key)
                if entry.__class__ in _CHECKED:
                    unchecked(entry, depth - 1)
        except SchemaError as error:
            error.path.insert(0, key)
            raise


_CHECKED = frozenset((str, float, dict, list))


def _check_characters(text: str) -> None:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise refuse(text, "a text without half characters")


def boolean(value: Any) -> None:
    """Accept true and false."""
    if not isinstance(value, bool):
        raise refuse(value, "true or false")


def text(value: Any, longest: int = MAX_CHARACTERS) -> None:
    """Accept texts."""
    if not isinstance(value, str):
        raise refuse(value, "a text")
    if len(value) > longest:
        raise refuse(value, f"a text of at most {longest} characters")


def name(value: Any) -> None:
    """Accept texts for tables and charts."""
    text(value, 1_000)


def integer(low: int | None = 0, high: int | None = MAX_NUMBER) -> Check:
    """Return a check for integers from ``low`` to ``high``; None for no limit."""
    span = (f" of at least {low}" if high is None else f" from {low} to {high}") if low is not None else ""

    def check(value: Any) -> None:
        if type(value) is not int or (low is not None and value < low) or (high is not None and value > high):
            raise refuse(value, f"an integer{span}")

    return check


def number(low: float = -MAX_NUMBER, high: float = MAX_NUMBER) -> Check:
    """Return a check for numbers from ``low`` to ``high``."""

    def check(value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise refuse(value, f"a number from {low} to {high}")

    return check


def one_of(*allowed: Any) -> Check:
    """Return a check for one of some values."""

    def check(value: Any) -> None:
        if value not in allowed:
            raise refuse(value, " or ".join(map(repr, allowed)))

    return check


# ------------------------------------------------------------------------------------------- composed


def nullable(check: Check) -> Check:
    """Return a check that also accepts null."""

    def check_or_null(value: Any) -> None:
        if value is not None:
            check(value)

    return check_or_null


def list_of(check: Check, length: int | None = None, most: int | None = None) -> Check:
    """Return a check for lists whose entries pass a check, optionally of a length or of 1 to ``most`` entries."""

    def check_list(value: Any) -> None:
        if not isinstance(value, list):
            raise refuse(value, "a list")
        if length is not None and len(value) != length:
            raise SchemaError(f"has {len(value)} entries, allowed are {length}")
        if most is not None and not 1 <= len(value) <= most:
            raise SchemaError(f"has {len(value)} entries, allowed are 1 to {most}")
        _check_entries(((i, check) for i in range(len(value))), value)

    return check_list


def tuple_of(*checks: Check) -> Check:
    """Return a check for lists whose entries pass a check each."""
    check_length = list_of(lambda entry: None, len(checks))

    def check_tuple(value: Any) -> None:
        check_length(value)
        _check_entries(enumerate(checks), value)

    return check_tuple


def mapping_of(check: Check, keys: Sequence[str] | None = None) -> Check:
    """Return a check for objects whose values pass a check; with ``keys`` they have these, in this order."""

    def check_mapping(value: Any) -> None:
        if not isinstance(value, dict):
            raise refuse(value, "an object")
        if keys is not None and list(value) != list(keys):
            raise SchemaError(f"has {', '.join(value) or 'nothing'}, allowed are {', '.join(keys)}"[:200])
        _check_entries(((key, check) for key in value), value)

    return check_mapping


def object_of(fields: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Return a check for objects with required and optional fields; unknown fields are accepted."""
    left_out = dict(optional or {})

    def check_object(value: Any) -> None:
        if not isinstance(value, dict):
            raise refuse(value, "an object")
        missing = [key for key in fields if key not in value]
        if missing:
            error = SchemaError("is missing")
            error.path.append(missing[0])
            raise error
        _check_entries(fields.items(), value)
        _check_entries(((key, check) for key, check in left_out.items() if key in value), value)

    return check_object


def _check_entries(checks: Any, value: Any) -> None:
    key: Any = None
    try:
        for key, check in checks:
            check(value[key])
    except SchemaError as error:
        error.path.insert(0, key)
        raise
