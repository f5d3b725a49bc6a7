"""Options of a game, declared once: a frozen dataclass whose fields hold allowed values and descriptions.

    @dataclass(frozen=True)
    class SoupConfig(Config):
        cooks: int = integer(2, "Number of cooks.", least=1, most=4)
        hurry: bool = boolean(False, "Whether soups burn.")

The constructor checks all values. ``make``, the tables of the documentation and records read the same fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import EnumType, IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from collab_overcooked.io import schema
from collab_overcooked.io.checks import OptionError, check_options, quote_value
from collab_overcooked.io.schema import Parser
from collab_overcooked.io.text import plural

if TYPE_CHECKING:
    import numpy as np

MAX_DEPTH = 20  # of nested lists
OBS_REASON = "Encoding of observations as arrays; neither the information in them nor the actions change."
MAX_OPTION = 1_000_000  # of any integer option: kernels count in 32 bits, and memory grows with some options


def _option(default: object, help: str, parser: Parser, **more: Any) -> Any:
    return field(default=default, metadata={"help": help, "parser": parser, **more})


def choice(default: str | None, help: str, allowed: Sequence[str]) -> Any:
    """Return a field for one of several names; None is allowed if it is the default."""
    return _option(default, help, schema.json_value, allowed=tuple(allowed))


def boolean(default: bool, help: str) -> Any:
    """Return a field for True or False."""
    return _option(default, help, schema.boolean)


def integer(default: int | None, help: str, least: int, most: int = MAX_OPTION) -> Any:
    """Return a field for an integer, by default of at most ``MAX_OPTION``; None is allowed if it is the default."""
    return _option(default, help, schema.integer(least, most), least=least, most=most)


def number(default: float | None, help: str, below: float | None = None, optional: bool = False) -> Any:
    """Return a field for a number above 0; None is allowed if it is the default or ``optional`` is set."""
    return _option(default, help, schema.number(above=0, below=below), below=below, optional=optional)


def checked_by_game(default: object, help: str, parser: Parser = schema.anything) -> Any:
    """Return a field that the game checks itself, by a parser or later, for example against names in its layout."""
    return _option(default, help, parser)


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
                names = option.metadata.get("allowed")
                parser = schema.one_of(names, option.name) if names else option.metadata["parser"]
                object.__setattr__(self, option.name, schema.read(parser, value, option.name))

    @classmethod
    def read(cls, values: Sequence[Any], options: Mapping[str, Any]) -> Self:
        """Return the config of a call's positional and keyword options.

        Raises:
            ValueError: For an unknown name, two values of one option, or a value that is not allowed.
        """
        names = cls.names()
        check_options(options, names)
        if len(values) > len(names):
            raise ValueError(f"at most {plural(len(names), 'option')} by position, not {len(values)}")
        placed = dict(zip(names, values, strict=False))
        for name in options:
            if name in placed:
                raise OptionError(name, f"{name}: is given twice, by position and by name; keep one of the two")
        return cls(**placed, **options)

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all options, those with a fixed position first."""
        return [option.name for option in sorted(fields(cls), key=lambda option: option.kw_only is True)]

    def to_dict(self) -> dict[str, Any]:
        """Return all options as JSON values: paths as strings, tuples as lists."""
        return {name: _plain(name, getattr(self, name)) for name in self.names()}

    def pack(self, columns: type[IntEnum], **values: Any) -> np.ndarray:
        """Return the parameters of kernels, int32, by the names of their columns in lower case.

        Args:
            columns: Names the parameters; the number of one that is neither among the values nor an option is 0.
            **values: Numbers instead of options; an enum stands for its member that the option names, None for -1.

        Raises:
            ValueError: For a value without a column.
        """
        import numpy as np  # which help texts, that read options, do not need

        names = [column.name.lower() for column in columns]
        if unknown := values.keys() - set(names):
            raise ValueError(f"{columns.__name__} has no column for {', '.join(sorted(unknown))}")
        packed = {name: values.get(name, getattr(self, name, 0)) for name in names}
        for name, value in packed.items():
            member = value[getattr(self, name).upper()] if isinstance(value, EnumType) else value
            packed[name] = -1 if member is None else int(member)
        return np.array(list(packed.values()), np.int32)


def _plain(name: str, value: object, depth: int = MAX_DEPTH) -> Any:
    if isinstance(value, Path):
        return str(value)
    if not isinstance(value, (list, tuple)):
        return value
    if not depth:
        raise ValueError(f"{name} must be nested at most {MAX_DEPTH} deep, not {quote_value(value)}")
    return [_plain(name, entry, depth - 1) for entry in value]
