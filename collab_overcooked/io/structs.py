"""Typed values from outside: msgspec decodes and checks them; errors name the field, the value and what is allowed."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache, partial
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, inspect

from collab_overcooked.io.checks import OptionError, near_matches
from collab_overcooked.io.schema import (
    MAX_CHARACTERS,
    MAX_NUMBER,
    Parser,
    SchemaError,
    anything,
    boolean,
    integer,
    list_of,
    mapping_of,
    null,
    number,
    one_of,
    parse_json,
    read,
    record,
    text,
    tuple_of,
)

T = TypeVar("T")
Text = Annotated[str, Meta(max_length=MAX_CHARACTERS)]
Name = Annotated[str, Meta(max_length=1_000)]
"""Text for tables and charts."""
Count = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Positive = Annotated[int, Meta(ge=1, le=MAX_NUMBER)]
NonNegative = Annotated[float, Meta(ge=0, le=MAX_NUMBER)]
Share = Annotated[float, Meta(ge=0, le=1)]
Bit = Literal[0, 1]
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


def parser_of(kind: Any) -> Parser:
    """Return the parser of ``io.schema`` that checks what a type declares, of a Struct also its ``__post_init__``.

    Args:
        kind: Type that msgspec knows, for example ``int | None`` or a Struct.
    """
    return _parser(_type_info(kind))


def check_fields(values: Any) -> None:
    """Check the values of a dataclass by the types of its fields, and by the values that an ``option`` allows.

    Raises:
        OptionError: Naming the field, its value and what is allowed.
    """
    kind: Any = type(values)
    declared: Any = _type_info(kind)
    for field, info in zip(fields(values), declared.fields, strict=True):
        value = getattr(values, field.name)
        try:
            read(_parser(info.type), value, field.name)
        except SchemaError as error:
            raise OptionError(field.name, str(error)) from None
        allowed = field.metadata.get("allowed")
        if allowed and value not in allowed:
            raise OptionError(field.name, near_matches(field.name, value, allowed))


@lru_cache(maxsize=256)
def _type_info(kind: Any) -> inspect.Type:
    return inspect.type_info(kind)


def _explain(value: object, kind: Any, error: msgspec.ValidationError) -> SchemaError:
    """Return the error with the entry's index and the refused value, which msgspec's message lacks."""
    try:
        parser_of(kind)(value)
    except SchemaError as refused:
        return refused
    return SchemaError(str(error))  # of what only msgspec refuses, for example a numpy integer


def _parser(kind: inspect.Type) -> Parser:
    match kind:
        case inspect.UnionType():
            return partial(_read_union, kind)
        case inspect.StructType():
            return partial(_read_struct, kind)
        case inspect.DictType():
            return mapping_of(_parser(kind.value_type))
        case inspect.ListType() | inspect.VarTupleType():
            return list_of(_parser(kind.item_type), kind.min_length or 0, kind.max_length)
        case inspect.TupleType():
            return tuple_of(list(map(_parser, kind.item_types)))
        case inspect.LiteralType():
            return one_of(kind.values)
    return _scalar(kind)


def _scalar(kind: inspect.Type) -> Parser:
    match kind:
        case inspect.IntType():
            return integer(kind.ge, kind.le)
        case inspect.FloatType():
            low = -math.inf if kind.ge is None else kind.ge
            return number(low, math.inf if kind.le is None else kind.le, above=kind.gt, below=kind.lt)
        case inspect.StrType():
            return partial(text, longest=sys.maxsize if kind.max_length is None else kind.max_length)
        case inspect.BoolType():
            return boolean
        case inspect.NoneType():
            return null
    return anything


def _read_union(kind: inspect.UnionType, value: Any) -> Any:
    tagged = {member.tag: member for member in kind.types if isinstance(member, inspect.StructType) and member.tag}
    if tagged and isinstance(value, Mapping):
        field = str(next(iter(tagged.values())).tag_field)
        return _read_struct(tagged[read(one_of(tagged), value.get(field), field)], value)
    errors: list[tuple[int, int, SchemaError]] = []
    for place, member in enumerate(kind.types):
        try:
            return _parser(member)(value)
        except SchemaError as error:
            is_text = isinstance(member, inspect.StrType) and isinstance(value, str)
            if not isinstance(member, inspect.NoneType):
                errors.append((len(error.path) + is_text, place, error))
    raise max(errors)[2]  # the member that fits best; of numbers the last, a float


def _read_struct(kind: inspect.StructType, value: Any) -> Any:
    if isinstance(value, kind.cls):
        return value
    parsers = {field.encode_name: _parser(field.type) for field in kind.fields}
    if kind.tag_field is not None:
        parsers[kind.tag_field] = one_of([kind.tag])
    required = [field.encode_name for field in kind.fields if field.required]
    values = record(parsers, required, others=not kind.forbid_unknown_fields)(value)
    try:
        return msgspec.convert(values, kind.cls)
    except msgspec.ValidationError as error:  # of ``__post_init__``
        raise SchemaError(str(error)) from None
