"""Options of a game, written once: a frozen dataclass whose fields say what is allowed and what it means.

    @dataclass(frozen=True)
    class SoupConfig(Config):
        cooks: int = whole(2, "How many cooks there are.", least=1, most=4)
        hurry: bool = flag(False, "Whether soups burn.")

Constructing one checks all values. ``make``, the tables of the documentation and records read the same fields.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from collab_overcooked.io.checks import check_options, near_matches, parse_integer, quote_value

MAX_DEPTH = 20  # lists within each other
OBS_REASON = "Encodes what a seat may know as an array; what it may know, and what it can do, stay the same."
MAX_OPTION = 1_000_000  # of any integer: kernels count in 32 bits, and memory grows with some of them


def choice(default: str | None, meaning: str, allowed: Sequence[str]) -> Any:
    """Return a field that is one of some words; None is allowed if it is the default."""
    return field(default=default, metadata={"meaning": meaning, "check": _choose, "allowed": tuple(allowed)})


def boolean(default: bool, meaning: str) -> Any:
    """Return a field that is True or False."""
    return field(default=default, metadata={"meaning": meaning, "check": _flag})


def integer(default: int | None, meaning: str, least: int, most: int | None = None) -> Any:
    """Return a field for an integer, by default of at most ``MAX_OPTION``; None is allowed if it is the default."""
    return field(default=default, metadata={"meaning": meaning, "check": _whole, "least": least, "most": most})


def number(default: float | None, meaning: str, below: float = math.inf, optional: bool = False) -> Any:
    """Return a field that is a number above 0; None is allowed if it is the default, or if told so."""
    return field(default=default, metadata={"meaning": meaning, "check": _number, "below": below, "optional": optional})


def unchecked(default: Any, meaning: str) -> Any:
    """Return a field that the game checks itself, with what the value names at hand."""
    return field(default=default, metadata={"meaning": meaning, "check": lambda name, value, about: value})


@dataclass(frozen=True)
class Config:
    """Options of a game.

    Attributes:
        presentation: Options that change how a policy is shown the game and nothing else, each with the reason. All
            others are part of the identity of a result, see ``runner.env_variants``.

    Raises:
        ValueError: For a value that is not allowed; the message names field, value and what is allowed.
    """

    presentation: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None or not (each.default is None or each.metadata.get("optional")):
                checked = each.metadata["check"](each.name, value, each.metadata)
                object.__setattr__(self, each.name, checked)

    @classmethod
    def read(cls, values: Sequence[Any], options: Mapping[str, Any]) -> Self:
        """Return the options of a call: values by position, then by name.

        Raises:
            ValueError: For an unknown name, two values of one option, or a value that is not allowed.
        """
        names = cls.names()
        check_options(options, names)
        placed = dict(zip(names, values, strict=False))
        if len(values) > len(names) or placed.keys() & options.keys():
            raise ValueError(f"{len(values)} options by position are too many beside {', '.join(options) or 'none'}")
        return cls(**placed, **options)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all options."""
        return [each.name for each in fields(cls)]

    def to_dict(self) -> dict[str, Any]:
        """Return all options as values fit for JSON: paths as texts, tuples as lists."""
        return {name: _plain(name, getattr(self, name)) for name in self.names()}


def _choose(name: str, value: Any, about: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or value not in about["allowed"]:
        raise ValueError(near_matches(name, value, about["allowed"]))
    return value


def _flag(name: str, value: Any, about: Mapping[str, Any]) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):
        raise ValueError(f"{name} must be True or False, not {quote_value(value)}")
    return bool(value)


def _whole(name: str, value: Any, about: Mapping[str, Any]) -> int:
    if about["most"] is not None:
        return parse_integer(name, value, about["least"], most=about["most"])
    if parse_integer(name, value, about["least"]) > MAX_OPTION:
        raise ValueError(f"{name} must be an integer of at most {MAX_OPTION}, not {quote_value(value)}")
    return int(value)


def _number(name: str, value: Any, about: Mapping[str, Any]) -> Any:
    below = about["below"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < below:
        also = f" and below {below}" if below < math.inf else ""
        raise ValueError(f"{name} must be a number above 0{also}, not {quote_value(value)}")
    return value


def _plain(name: str, value: Any, depth: int = MAX_DEPTH) -> Any:
    if isinstance(value, Path):
        return str(value)
    if not isinstance(value, (list, tuple)):
        return value
    if not depth:
        raise ValueError(f"{name} must be nested at most {MAX_DEPTH} deep, not {quote_value(value)}")
    return [_plain(name, entry, depth - 1) for entry in value]
