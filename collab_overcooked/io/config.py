"""Options of a game, declared once: a frozen dataclass whose fields hold allowed values and descriptions.

    @dataclass(frozen=True)
    class SoupConfig(Config):
        cooks: int = integer(2, "Number of cooks.", least=1, most=4)
        hurry: bool = boolean(False, "Whether soups burn.")

The constructor checks all values. ``make``, the tables of the documentation and records read the same fields.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from collab_overcooked.io.checks import check_options, near_matches, parse_integer, quote_value

MAX_DEPTH = 20  # of nested lists
OBS_REASON = "Encoding of observations as arrays; neither the information in them nor the actions change."
MAX_OPTION = 1_000_000  # of any integer option: kernels count in 32 bits, and memory grows with some options


def choice(default: str | None, meaning: str, allowed: Sequence[str]) -> Any:
    """Return a field for one of several names; None is allowed if it is the default."""
    return field(default=default, metadata={"meaning": meaning, "check": _check_choice, "allowed": tuple(allowed)})


def boolean(default: bool, meaning: str) -> Any:
    """Return a field for True or False."""
    return field(default=default, metadata={"meaning": meaning, "check": _check_boolean})


def integer(default: int | None, meaning: str, least: int, most: int | None = None) -> Any:
    """Return a field for an integer, by default of at most ``MAX_OPTION``; None is allowed if it is the default."""
    return field(default=default, metadata={"meaning": meaning, "check": _check_integer, "least": least, "most": most})


def number(default: float | None, meaning: str, below: float = math.inf, optional: bool = False) -> Any:
    """Return a field for a number above 0; None is allowed if it is the default or ``optional`` is set."""
    metadata = {"meaning": meaning, "check": _check_number, "below": below, "optional": optional}
    return field(default=default, metadata=metadata)


def unchecked(default: Any, meaning: str) -> Any:
    """Return a field that the game checks itself, for example against names in its layout."""
    return field(default=default, metadata={"meaning": meaning, "check": lambda name, value, about: value})


@dataclass(frozen=True)
class Config:
    """Options of a game.

    Attributes:
        presentation: Options that change only how the game is presented to a policy, each with the reason. All others
            are part of the identity of a result, see ``runner.env_variants``.

    Raises:
        ValueError: For a value that is not allowed; the message names field, value and allowed values.
    """

    presentation: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if value is not None or not (option.default is None or option.metadata.get("optional")):
                checked = option.metadata["check"](option.name, value, option.metadata)
                object.__setattr__(self, option.name, checked)

    @classmethod
    def read(cls, values: Sequence[Any], options: Mapping[str, Any]) -> Self:
        """Return the config of a call's positional and keyword options.

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
        return [option.name for option in fields(cls)]

    def to_dict(self) -> dict[str, Any]:
        """Return all options as JSON values: paths as strings, tuples as lists."""
        return {name: _plain(name, getattr(self, name)) for name in self.names()}


def _check_choice(name: str, value: Any, about: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or value not in about["allowed"]:
        raise ValueError(near_matches(name, value, about["allowed"]))
    return value


def _check_boolean(name: str, value: Any, about: Mapping[str, Any]) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):
        raise ValueError(f"{name} must be True or False, not {quote_value(value)}")
    return bool(value)


def _check_integer(name: str, value: Any, about: Mapping[str, Any]) -> int:
    if about["most"] is not None:
        return parse_integer(name, value, about["least"], most=about["most"])
    if parse_integer(name, value, about["least"]) > MAX_OPTION:
        raise ValueError(f"{name} must be an integer of at most {MAX_OPTION}, not {quote_value(value)}")
    return int(value)


def _check_number(name: str, value: Any, about: Mapping[str, Any]) -> Any:
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
