"""Typed values from outside: msgspec decodes and checks them; errors name the field, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import count
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, inspect

from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.schema import (
    MAX_CHARACTERS,
    MAX_NUMBER,
    SchemaError,
    length_text,
    parse_json,
    range_text,
    refuse,
)

T = TypeVar("T")
Text = Annotated[str, Meta(max_length=MAX_CHARACTERS)]
Name = Annotated[str, Meta(max_length=1_000)]
"""Text for tables and charts."""
Count = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Positive = Annotated[int, Meta(ge=1, le=MAX_NUMBER)]
Number = Annotated[int, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)] | Annotated[float, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Seconds = Annotated[int, Meta(ge=0, le=MAX_NUMBER)] | Annotated[float, Meta(ge=0, le=MAX_NUMBER)]


@lru_cache(maxsize=256)
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def decode(text: str | bytes, kind: type[T]) -> T:
    """Decode JSON as a type.

    Raises:
        SchemaError: For text that is no JSON, and for a value that the type does not allow.
    """
    try:
        value: T = _decoder(kind).decode(text)  # type: ignore[arg-type]
        return value
    except msgspec.ValidationError as error:
        raise _explain(parse_json(text), kind, error) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        parse_json(text)  # names the column
        raise SchemaError(f"is truncated or no JSON: {error}") from None


def convert(value: object, kind: type[T]) -> T:
    """Convert mappings, lists, texts and numbers to a type.

    Raises:
        SchemaError: For a value that the type does not allow.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _explain(value, kind, error) from None


def encode(value: object) -> bytes:
    """Return a value as one line of UTF-8 JSON, without a newline.

    Raises:
        SchemaError: For what JSON cannot hold, such as lone surrogates.
    """
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise SchemaError(f"cannot be written as JSON: {error}") from None


def _explain(value: object, kind: Any, error: msgspec.ValidationError) -> SchemaError:
    """Return the error with the entry's index and the refused value, which msgspec's message lacks."""
    try:
        _check(value, inspect.type_info(kind))
    except SchemaError as refused:
        return refused
    return SchemaError(str(error).partition(" - at `")[0])


def _check(value: Any, kind: inspect.Type) -> None:
    entries: Iterator[tuple[Any, Any, inspect.Type]] = iter(())
    match kind:
        case inspect.UnionType():
            _check_union(value, kind)
        case inspect.StructType() if not isinstance(value, kind.cls):
            entries = _fields(value, kind)
        case inspect.DictType():
            if not isinstance(value, Mapping):
                raise refuse(value, "a mapping")
            entries = ((key, entry, kind.value_type) for key, entry in value.items())
        case inspect.ListType() | inspect.VarTupleType():
            _check_length(value, kind.min_length or 0, kind.max_length)
            entries = zip(count(), value, [kind.item_type] * len(value), strict=False)
        case inspect.TupleType():
            _check_length(value, len(kind.item_types), len(kind.item_types))
            entries = zip(count(), value, kind.item_types, strict=False)
        case _:
            _check_scalar(value, kind)
    for key, entry, entry_kind in entries:
        try:
            _check(entry, entry_kind)
        except SchemaError as error:
            error.path.insert(0, key)
            raise


def _fields(value: object, kind: inspect.StructType) -> Iterator[tuple[str, Any, inspect.Type]]:
    if not isinstance(value, Mapping):
        raise refuse(value, "a mapping")
    known = [field.encode_name for field in kind.fields]
    for key in value:
        if kind.forbid_unknown_fields and key not in known:
            raise SchemaError(near_matches("key", key, known))
    for field in kind.fields:
        if field.encode_name in value:
            yield field.encode_name, value[field.encode_name], field.type
        elif field.required:
            missing = SchemaError("is missing")
            missing.path.insert(0, field.encode_name)
            raise missing
    try:
        msgspec.convert(value, kind.cls)
    except msgspec.ValidationError as error:  # of ``__post_init__``, or of a field, which ``_check`` reports
        if " - at `" not in str(error):
            raise SchemaError(str(error)) from None


def _check_length(value: object, least: int, most: int | None) -> None:
    span = length_text(least, most)
    if not isinstance(value, (list, tuple)):
        raise refuse(value, "a list of entries" if most is None else f"a list of {span} entries")
    if len(value) < least or (most is not None and len(value) > most):
        raise SchemaError(f"lists {len(value)} entries; it must list {span}")


def _check_union(value: object, kind: inspect.UnionType) -> None:
    if value is None and kind.includes_none:
        return
    errors = []
    for member in kind.types:
        if not isinstance(member, inspect.NoneType):
            try:
                return _check(value, member)
            except SchemaError as error:
                errors.append(error)
    raise max(reversed(errors), key=lambda error: len(error.path))  # of numbers the last, a float


def _check_scalar(value: object, kind: inspect.Type) -> None:
    match kind:
        case inspect.IntType() | inspect.FloatType():
            _check_number(value, kind)
        case inspect.StrType():
            if not isinstance(value, str):
                raise refuse(value, "a text")
            if kind.max_length is not None and len(value) > kind.max_length:
                raise refuse(value, f"a text of at most {kind.max_length} characters")
        case inspect.BoolType() if not isinstance(value, bool):
            raise refuse(value, "true or false")
        case inspect.LiteralType() if value not in kind.values or isinstance(value, bool):
            raise refuse(value, f"one of {', '.join(map(str, kind.values))}")
        case inspect.NoneType() if value is not None:
            raise refuse(value, "null")


def _check_number(value: Any, kind: inspect.IntType | inspect.FloatType) -> None:
    is_float = isinstance(kind, inspect.FloatType)
    fits = isinstance(value, (int, float) if is_float else int) and not isinstance(value, bool)
    too_large = fits and kind.le is not None and value > kind.le
    if not fits or too_large or (kind.ge is not None and value < kind.ge):
        low = None if kind.ge == -MAX_NUMBER else kind.ge
        raise refuse(value, range_text("a number" if is_float else "an integer", low, kind.le, too_large))
