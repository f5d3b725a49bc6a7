"""Validation of values from outside: small parsers, composed; errors name the field, the value and what is allowed.

    scene = record({"timestep": integer(0, 400), "cook": record({"holds": optional(one_of(ITEMS, "item"))})})
    read(scene, {"timestep": 5}, "state")

A parser takes a value and returns it in plain Python, or raises SchemaError, whatever the value is. Options, scenes,
files of users, records and results are read by the same parsers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.files import read_text

Parser = Callable[[Any], Any]

MAX_NUMBER = 10**9  # of numbers where no other limit is given; sums of many such are finite
OPEN_END = 10**6  # limits from here on are not named where a value is below them
MAX_CHARACTERS = 100_000  # characters of a text
MAX_DEPTH = 40  # lists and objects within each other
EMPTY = "''"  # how messages name an empty text


class SchemaError(ValueError):
    """A value is not allowed.

    Attributes:
        path: Names and indices that lead to the value, from the outside in.
        problem: What is wrong, to be read after the path.
        allowed: What is allowed instead, for example ``"an integer from 0 to 4"``; empty where the problem says it.
    """

    def __init__(self, problem: str, allowed: str = "") -> None:
        super().__init__(problem)
        self.path: list[str | int] = []
        self.problem, self.allowed = problem, allowed

    def __str__(self) -> str:
        """Write ``steps[3].rewards must be a number from 0 to 9, not 'x'``."""
        place = "".join(map(_step_of_path, self.path)).removeprefix(".")
        joint = " " if self.problem.partition(" ")[0] in ("must", "is", "lists", "has", "cannot") else ": "
        return f"{place}{joint}{self.problem}" if place else self.problem


def _step_of_path(part: str | int) -> str:
    return f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part!r}]"


def refuse(value: object, allowed: str) -> SchemaError:
    """Return the error for a value that is not allowed."""
    return SchemaError(f"must be {allowed}, not {quote_value(value)}", allowed)


def read(parser: Parser, value: object, place: str | int) -> Any:
    """Return a value as a parser reads it.

    Raises:
        SchemaError: The parser refuses the value; the error names its place.
    """
    try:
        return parser(value)
    except SchemaError as error:
        error.path.insert(0, place)
        raise


def parse_json(text: str | bytes) -> Any:
    """Parse standard JSON: no NaN, no lone surrogates, no duplicate keys, limited nesting.

    Raises:
        SchemaError: The text is not standard JSON, or nested too deeply.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_object_of_pairs)
    except json.JSONDecodeError as error:
        raise SchemaError(f"is truncated or no JSON: {error.msg} in column {error.colno}") from None
    except SchemaError:
        raise
    except (ValueError, RecursionError) as error:  # bytes that are no text, numbers of thousands of digits
        problem = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise SchemaError(f"is truncated or no JSON: {problem}") from None
    return json_value(value)


def read_json(path: Path, parser: Parser, error: type[ValueError] = ValueError) -> Any:
    """Read a JSON file and check its value by a parser; see ``files.open_file``.

    Raises:
        ValueError: Of class ``error``, if the file cannot be read or the parser refuses its value.
    """
    text = read_text(path, error=error)
    try:
        value = parse_json(text)
        parser(value)
    except SchemaError as problem:
        raise error(f"{path}: {problem}") from None
    return value


def json_line(value: object, parser: Parser, indent: int | None = None) -> bytes:
    """Return a value as UTF-8 JSON that the parser accepts: one line, or a file if indented.

    Raises:
        SchemaError: The parser refuses the value.
    """
    separators = (",", ": " if indent else ":")
    try:
        text = json.dumps(value, ensure_ascii=False, separators=separators, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"cannot be written as JSON: {error}") from None
    parser(parse_json(text))
    return text.encode() + b"\n"


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise SchemaError(f"has the key {twice!r:.60} twice in one object")
    return values


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def json_value(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Allow any JSON value with finite numbers, valid texts and a nesting of at most ``depth``.

    Raises:
        SchemaError: The value is none of these.
    """
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
                    json_value(entry, depth - 1)
        except SchemaError as error:
            error.path.insert(0, key)
            raise
    return value


_CHECKED = frozenset((str, float, dict, list))


def _check_characters(text: str) -> None:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise refuse(text, "a text without unpaired surrogates")


def anything(value: object) -> Any:
    """Allow every value, without a look at it; see ``json_value``."""
    return value


def null(value: object) -> None:
    """Allow None.

    Raises:
        SchemaError: For all other values.
    """
    if value is not None:
        raise refuse(value, "null")


def boolean(value: object) -> bool:
    """Allow True and False."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise refuse(value, "true or false")
    return bool(value)


def boolean_or_bit(value: object) -> bool:
    """Allow True and False, also written as 1 and 0."""
    return boolean(bool(value) if isinstance(value, Integral) and value in (0, 1) else value)


def text(value: object, longest: int = MAX_CHARACTERS) -> str:
    """Allow texts."""
    if not isinstance(value, str):
        raise refuse(value, "a text")
    if len(value) > longest:
        raise refuse(value, f"a text of at most {longest} characters")
    return value


def name(value: object) -> str:
    """Allow texts for tables and charts."""
    return text(value, 1_000)


def integer(low: int | None = 0, high: int | None = MAX_NUMBER) -> Parser:
    """Allow integers from ``low`` to ``high``; None for no limit. Booleans are none."""

    def parser(value: Any) -> int:
        is_integer = type(value) is int or (isinstance(value, Integral) and type(value) is not bool)
        if not is_integer or (low is not None and value < low) or (high is not None and value > high):
            raise refuse(value, _range_text("an integer", low, high, is_integer and high is not None and value > high))
        return int(value)

    return parser


def number(
    low: float = -MAX_NUMBER, high: float = MAX_NUMBER, above: float | None = None, below: float | None = None
) -> Parser:
    """Allow numbers from ``low`` to ``high`` that are greater than ``above`` and less than ``below``."""
    bounds = {"above": above, "of at least": low if -MAX_NUMBER < low else None}
    bounds |= {"below": below, "at most": high if high < OPEN_END else None}
    strict = " and ".join(f"{word} {limit}" for word, limit in bounds.items() if limit is not None)
    is_strict = above is not None or below is not None

    def parser(value: Any) -> float:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not low <= value <= high:
            is_large = is_number and high < value < math.inf
            allowed = _range_text("a number", low, high, is_large)
            raise refuse(value, f"a number {strict}" if is_strict and not is_large else allowed)
        if (above is not None and value <= above) or (below is not None and value >= below):
            raise refuse(value, f"a number {strict}")
        return value

    return parser


def _range_text(what: str, low: float | None, high: float | None, is_large: bool) -> str:
    """Describe a range of numbers; a technical maximum is mentioned only if the value exceeds it."""
    has_low = low is not None and low > -MAX_NUMBER
    has_high = high is not None and high < OPEN_END
    if has_low and has_high:
        return f"{what} from {low} to {high}"
    if is_large or has_high:
        return f"{what} of at most {high}"
    return f"{what} of at least {low}" if has_low else what


def one_of(allowed: Iterable[Any], what: str = "") -> Parser:
    """Accept the given texts or integers; ``what`` names their kind in error messages."""
    values = tuple(allowed)

    def parser(value: object) -> Any:
        number = isinstance(value, Integral) and type(value) is not bool
        for known in values:
            if (isinstance(known, Integral) if number else type(known) is type(value)) and value == known:
                return known
        if what:
            raise SchemaError(near_matches(what, value, values))
        raise refuse(value, f"one of {', '.join(str(known) or EMPTY for known in values)}")

    return parser


def optional(parser: Parser) -> Parser:
    """Accept None in addition to the values of a parser."""
    return lambda value: None if value is None else parser(value)


def list_of(parser: Parser, least: int = 0, most: int | None = None, what: str = "entries") -> Parser:
    """Accept lists of ``least`` to ``most`` values that a parser accepts; ``what`` is their plural noun in errors."""
    return _list(lambda length: [parser] * length, least, most, what)


def tuple_of(parsers: Sequence[Parser], what: str = "entries") -> Parser:
    """Allow lists with one value for each parser, in their order."""
    return _list(lambda _: parsers, len(parsers), len(parsers), what)


def _list(parsers: Callable[[int], Sequence[Parser]], least: int, most: int | None, what: str) -> Parser:
    span = f"at least {least}" if most is None else f"{least}" if least == most else f"{least} to {most}"

    def parser(value: object) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            example = f", for example [{quote_value(value)}]" if isinstance(value, (str, int, float)) else ""
            raise refuse(value, (f"a list of {what}" if most is None else f"a list of {span} {what}") + example)
        if not least <= len(value) or (most is not None and len(value) > most):
            raise SchemaError(f"lists {len(value)} {what}; it must list {span}")
        return _read_entries(range(len(value)), parsers(len(value)), value)

    return parser


def _read_entries(keys: Iterable[Any], parsers: Iterable[Parser], entries: Iterable[Any]) -> list[Any]:
    """Read entries as ``read`` does each, without a call more for each: records have hundreds of thousands."""
    values: list[Any] = []
    key: Any = None
    try:
        for key, parser, entry in zip(keys, parsers, entries, strict=True):  # noqa: B007  the handler reads it
            values.append(parser(entry))
    except SchemaError as error:
        error.path.insert(0, key)
        raise
    return values


def mapping_of(parser: Parser, keys: Iterable[str] | None = None, what: str = "key") -> Parser:
    """Accept mappings to values of one parser, with keys among ``keys`` (any if None); ``what`` names a key."""
    known = None if keys is None else tuple(keys)

    def entries(value: object) -> dict[str, Any]:
        mapping = _mapping(value, known, what)
        return dict(zip(mapping, _read_entries(mapping, [parser] * len(mapping), mapping.values()), strict=True))

    return entries


def record(
    fields: Mapping[str, Parser], required: Iterable[str] = (), others: bool = False
) -> Callable[[Any], dict[str, Any]]:
    """Accept mappings whose keys are in ``fields``, each with its parser; ``others`` allows further keys."""
    needed = tuple(required)

    def parser(value: object) -> dict[str, Any]:
        entries = _mapping(value, None if others else fields, "key")
        for key in needed:
            if key not in entries:
                read(_missing, None, key)
        parsers = [fields.get(key, anything) for key in entries]
        return dict(zip(entries, _read_entries(entries, parsers, entries.values()), strict=True))

    return parser


def _missing(_: Any) -> None:
    raise SchemaError("is missing")


def object_of(fields: Mapping[str, Parser]) -> Parser:
    """Accept objects with all of some fields; others pass, for files of other versions."""
    return record(fields, fields, others=True)


def _mapping(value: object, known: Iterable[str] | None, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise refuse(value, "a mapping")
    for key in value:
        if not isinstance(key, str) or (known is not None and key not in known):
            raise SchemaError(near_matches(what, key, known or ()))
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
