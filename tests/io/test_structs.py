"""Messages of typed values: each names the field with its index, the value and what is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest
from msgspec import Meta, Struct

from collab_overcooked.io.checks import OptionError
from collab_overcooked.io.options import option
from collab_overcooked.io.schema import SchemaError
from collab_overcooked.io.structs import Count, Name, Number, Positive, Text, check_fields, convert, decode, encode


class Part(Struct, kw_only=True, forbid_unknown_fields=True):
    size: Count
    kind: Literal["a", "b"] = "a"
    limit: Positive | None = None

    def __post_init__(self) -> None:
        if self.size == 7:
            raise ValueError("size must not be 7")


class Whole(Struct, kw_only=True):
    name: Name
    parts: list[Part]
    weights: dict[str, Number] = {}
    pair: tuple[int, bool] = (0, False)
    texts: list[Text | None] = []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "must be a mapping, not []"),
        ({"parts": []}, "name is missing"),
        ({"name": 1, "parts": []}, "name must be a text, not 1"),
        ({"name": "x" * 1001, "parts": []}, "name must be a text of at most 1000 characters"),
        ({"name": "x", "parts": {}}, "parts must be a list of entries, not {}"),
        ({"name": "x", "parts": [{"size": 1}, {"size": -1}]}, "parts[1].size must be an integer of at least 0, not -1"),
        ({"name": "x", "parts": [{"size": True}]}, "parts[0].size must be an integer of at least 0, not True"),
        ({"name": "x", "parts": [{"size": 10**10}]}, "parts[0].size must be an integer of at most 1000000000"),
        ({"name": "x", "parts": [{"size": 1, "kind": "c"}]}, "parts[0].kind must be one of a, b, not 'c'"),
        ({"name": "x", "parts": [{"size": 1, "limit": 0}]}, "parts[0].limit must be an integer of at least 1, not 0"),
        ({"name": "x", "parts": [{"size": 1, "sise": 1}]}, "parts[0]: unknown key 'sise'; did you mean size?"),
        ({"name": "x", "parts": [{"size": 7}]}, "parts[0]: size must not be 7"),
        ({"name": "x", "parts": [], "weights": {"a b": "1"}}, "weights['a b'] must be a number, not '1'"),
        ({"name": "x", "parts": [], "pair": [1]}, "pair lists 1 entries; it must list 2"),
        ({"name": "x", "parts": [], "pair": [1, 1]}, "pair[1] must be true or false, not 1"),
        ({"name": "x", "parts": [], "texts": [None, "", 3]}, "texts[2] must be a text, not 3"),
    ],
)
def test_the_first_value_that_is_not_allowed_is_named(value: object, message: str) -> None:
    for read in (lambda: convert(value, Whole), lambda: decode(encode(value), Whole)):
        with pytest.raises(SchemaError) as caught:
            read()
        assert str(caught.value).startswith(message)


def test_a_part_may_be_converted_before_the_whole() -> None:
    part = Part(size=1)
    assert convert({"name": "x", "parts": [part]}, Whole).parts[0] is part
    with pytest.raises(SchemaError, match=r"^parts\[1\]\.size must be"):
        convert({"name": "x", "parts": [part, {"size": -1}]}, Whole)


def test_numbers_keep_their_type() -> None:
    value = decode('{"name": "x", "parts": [], "weights": {"a": 1, "b": 1.0}}', Whole)
    assert [type(number) for number in value.weights.values()] == [int, float]


@pytest.mark.parametrize("text", ["", "{", '{"name": "\\ud800"}', "[" * 5000, '{"name": NaN}'])
def test_damaged_json_is_named(text: str) -> None:
    with pytest.raises(SchemaError, match=r"is truncated or no JSON|unpaired surrogates|is nested"):
        decode(text, Whole)


def test_what_json_cannot_hold_is_refused() -> None:
    for value in ("\ud800", object()):
        with pytest.raises(SchemaError, match="cannot be written as JSON"):
            encode({"value": value})


class Move(Struct, tag="move", forbid_unknown_fields=True):
    to: Annotated[int, Meta(ge=-1, le=3)]


class Wait(Struct, tag="wait", forbid_unknown_fields=True):
    pass


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"type": "move", "to": 4}, "to must be an integer from -1 to 3, not 4"),
        ({"type": "move"}, "to is missing"),
        ({"type": "wait", "to": 1}, "unknown key 'to'"),
        ({"type": "run"}, "type must be one of move, wait, not 'run'"),
        ({}, "type must be one of move, wait, not None"),
        ([], "must be a mapping, not []"),
    ],
)
def test_a_tag_chooses_the_type_whose_fields_are_checked(value: object, message: str) -> None:
    assert convert({"type": "move", "to": -1}, Move | Wait) == Move(-1)  # type: ignore[arg-type]
    with pytest.raises(SchemaError) as caught:
        convert(value, Move | Wait)  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)


@dataclass
class Options:
    share: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0
    sizes: tuple[int, ...] | None = None
    order: str = option("first", "Order of the sizes.", allowed=("first", "last"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 0.0}, "share must be a number above 0.0 and at most 1.0, not 0.0"),
        ({"share": 2}, "share must be a number of at most 1.0, not 2"),
        ({"sizes": (1, "2")}, "sizes[1] must be an integer, not '2'"),
        ({"sizes": 3}, "sizes must be a list of entries, for example [3], not 3"),
        ({"order": "lost"}, "unknown order 'lost'; did you mean last"),
    ],
)
def test_fields_of_a_dataclass_are_checked_by_their_types(options: dict[str, object], message: str) -> None:
    check_fields(Options(share=1, sizes=(1, 2)))
    with pytest.raises(OptionError) as caught:
        check_fields(Options(**options))  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)
    assert [caught.value.name] == list(options)


def test_what_msgspec_alone_refuses_is_named_with_its_place() -> None:
    with pytest.raises(SchemaError, match=r"Expected `int`, got `numpy.int64` - at `\$.parts\[0\].size`"):
        convert({"name": "x", "parts": [{"size": np.int64(1)}]}, Whole)
