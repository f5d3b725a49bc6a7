"""Words for error messages: unknown names and the known ones near them, and numbers that cannot be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any


class OptionError(ValueError):
    """A value that an option cannot have.

    Attributes:
        name: Of the option.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle both parts, so that worker processes can hand it on."""
        return OptionError, (self.name, str(self))


def near_matches(kind: str, name: object, known: Iterable[object]) -> str:
    """Say that a name is unknown, and which known names come near it.

    Args:
        kind: What the name stands for, for example ``"task"``.
        name: The unknown value.
        known: All allowed names.
    """
    names = [str(each) for each in known]
    close = difflib.get_close_matches(str(name), names, n=4, cutoff=0.4)
    if close:
        return f"unknown {kind} {name!r}; did you mean {', '.join(close)}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"unknown {kind} {name!r}; known: {shown}"


def looks_like(name: object, known: Iterable[str]) -> bool:
    """Tell whether a name is probably a misspelling of a known one."""
    return bool(difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.75))


def check_options(kwargs: Iterable[str], known: Iterable[str], kind: str = "option") -> None:
    """Refuse misspelt options before they become Python's own TypeError, which names no alternative.

    Raises:
        OptionError: Naming the first unknown option and near matches.
    """
    known = list(known)
    for name in kwargs:
        if name not in known:
            raise OptionError(name, near_matches(kind, name, known))


def index_of(kind: str, name: Any, known: Sequence[Any]) -> int:
    """Return the number of a name.

    Raises:
        ValueError: If it is unknown.
    """
    if name not in known:
        raise ValueError(near_matches(kind, name, known))
    return known.index(name)


def whole_number(name: str, value: Any, least: int, unit: str = "") -> int:
    """Return a whole number as int.

    Args:
        name: What it is the value of.
        value: As given; numpy's whole numbers will do.
        least: The smallest that is allowed.
        unit: Its unit in words, for the message.

    Raises:
        ValueError: If it is no whole number, or too small.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        allowed = f"{least} {unit}" if unit else str(least)
        raise ValueError(f"{name} must be a whole number of at least {allowed}, not {value!r}")
    return int(value)
