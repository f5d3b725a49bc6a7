"""Forms of JSON-like values, declared: each form checks a value and returns it in plain Python.

    scene = record({"timestep": whole(0, 400), "cook": record({"holds": optional(one_of(ITEMS, "item"))})})
    scene({"timestep": 5}, "state")

A form is called with a value and its place, and raises ValueError for anything that it does not allow, whatever the
value is; the message names the place, the value and what is allowed. Keys of a record may be missing unless required.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

from collab_overcooked.io.checks import near_matches, quote_value

Form = Callable[[Any, str], Any]


def integer(least: int, most: int) -> Form:
    """Allow integers of a range; booleans are none."""

    def check(value: Any, place: str) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
            raise ValueError(f"{place} must be an integer from {least} to {most}, not {quote_value(value)}")
        return int(value)

    return check


def boolean(value: Any, place: str) -> bool:
    """Allow True and False, also written as 1 and 0."""
    if type(value).__name__ not in ("bool", "bool_") and (not isinstance(value, Integral) or value not in (0, 1)):
        raise ValueError(f"{place} must be true or false, not {quote_value(value)}")
    return bool(value)


def one_of(names: Sequence[Any], what: str) -> Form:
    """Allow some words or integers; ``what`` says what they name."""

    def check(value: Any, place: str) -> Any:
        allowed = isinstance(value, (str, Integral)) and type(value) is not bool
        for name in names if allowed else ():
            if value == name:
                return name
        raise ValueError(f"{place}: {near_matches(what, value, names)}")

    return check


def optional(form: Form) -> Form:
    """Allow None beside what a form allows."""
    return lambda value, place: None if value is None else form(value, place)


def list_of(form: Form, least: int, most: int, what: str) -> Form:
    """Allow lists of ``least`` to ``most`` values of one form; ``what`` names them in the plural."""
    return _list(lambda value, place, _: form(value, place), least, most, what)


def list_by_seat(forms: Sequence[Form], what: str) -> Form:
    """Allow lists with one value for each form, in their order."""
    return _list(lambda value, place, k: forms[k](value, place), len(forms), len(forms), what)


def _list(form: Callable[[Any, str, int], Any], least: int, most: int, what: str) -> Form:
    number = f"{most}" if least == most else f"{least} to {most}"

    def check(value: Any, place: str) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            raise ValueError(f"{place} must be a list of {number} {what}, not {quote_value(value)}")
        if not least <= len(value) <= most:
            raise ValueError(f"{place} lists {len(value)} {what}; it must list {number}")
        return [form(entry, f"{place}[{k}]", k) for k, entry in enumerate(value)]

    return check


def record(fields: Mapping[str, Form], required: Sequence[str] = ()) -> Form:
    """Allow mappings with some of the keys of ``fields``, each with its form."""

    def check(value: Any, place: str) -> dict[str, Any]:
        entries = _mapping(value, place, fields)
        for key in required:
            if key not in entries:
                raise ValueError(f"{place} lacks {key}; it must have {', '.join(required)}")
        return {key: fields[key](entry, f"{place}.{key}") for key, entry in entries.items()}

    return check


def mapping_of(names: Sequence[str], form: Form, what: str) -> Form:
    """Allow mappings from some of ``names`` to values of one form; ``what`` names the kind of key in messages."""

    def check(value: Any, place: str) -> dict[str, Any]:
        entries = _mapping(value, place, names, what)
        return {key: form(entry, f"{place}.{key}") for key, entry in entries.items()}

    return check


def _mapping(value: Any, place: str, known: Any, what: str = "") -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{place} must be a mapping, not {quote_value(value)}")
    for key in value:
        if not isinstance(key, str) or key not in known:
            raise ValueError(near_matches(what or f"key of {place}", key, known))
    return value


def check_same(stated: Any, actual: Any, place: str) -> None:
    """Reject a value that differs from the actual one; it may leave out keys.

    Lists of mappings may name some of the entries, in any order.
    """
    if isinstance(stated, dict) and isinstance(actual, dict):
        for key, value in stated.items():
            if key not in actual:
                raise ValueError(f"{place}.{key} is {quote_value(value)}, but there is none")
            check_same(value, actual[key], f"{place}.{key}")
    elif isinstance(stated, list) and isinstance(actual, list) and _are_mappings(stated) and _are_mappings(actual):
        for k, entry in enumerate(stated):
            same_place = actual[k] if len(actual) == len(stated) else None
            if not any(_is_same(entry, other) for other in actual):
                check_same(entry, same_place, f"{place}[{k}]")
    elif stated != actual:
        raise ValueError(f"{place} is {quote_value(stated)}, but the other values make it {quote_value(actual)}")


def _are_mappings(entries: list[Any]) -> bool:
    return all(isinstance(entry, dict) for entry in entries)


def _is_same(stated: Any, actual: Any) -> bool:
    try:
        check_same(stated, actual, "")
    except ValueError:
        return False
    return True
