"""Validation of names, texts and integers, with error messages that suggest known names.

Messages quote values from outside, so these are shortened, and no value can break a message.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Container, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

MAX_SHOWN = 200  # characters of a value in a message
MAX_MESSAGE = 2000  # characters of a message, which may quote several values
MAX_LISTED = 20  # known names in a message without a similar one
HINT_CUTOFF = 0.6  # minimum similarity of a suggested name; suggestions below it mislead more than they help
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 4
_SHORT.maxstring = MAX_SHOWN
_SHORT.maxother = MAX_SHOWN
_SHORT.maxlong = MAX_SHOWN
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 12


class OptionError(ValueError):
    """Invalid value of an option.

    Attributes:
        name: Name of the option.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(shorten(message))
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle name and message, so that worker processes can pass the error on."""
        return OptionError, (self.name, str(self))


def shorten(message: str) -> str:
    """Return the message of an error about input from outside; the middle of a long one is left out."""
    half = MAX_MESSAGE // 2
    return message if len(message) <= MAX_MESSAGE else f"{message[:half]} ... {message[-half:]}"


def quote_value(value: object) -> str:
    """Return the repr of any value for a message: one line of at most ``MAX_SHOWN`` characters."""
    try:
        text = " ".join(_SHORT.repr(value).split())
    except Exception:  # for example an integer of 5000 digits, or an object whose repr raises
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def parse_text(value: object, what: str = "text of an action") -> str:
    """Return a value that must be a string.

    Raises:
        TypeError: The value is not a string.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, not {quote_value(value)}")
    return value


def near_matches(kind: str, name: object, known: Iterable[object]) -> str:
    """Return the error message for an unknown name: similar known names, or the first known ones.

    Args:
        kind: Noun for the message, for example ``"task"``.
        name: The unknown value.
        known: All allowed names.
    """
    names = list(map(str, known))
    word = name if isinstance(name, str) else quote_value(name)
    close = difflib.get_close_matches(word[:MAX_SHOWN], names, n=4, cutoff=HINT_CUTOFF)
    if close:
        return f"unknown {kind} {quote_value(name)}; did you mean {', '.join(close)}?"
    listed = ", ".join(names[:MAX_LISTED]) + (", ..." if len(names) > MAX_LISTED else "")
    return f"unknown {kind} {quote_value(name)}; known: {listed}"


def check_options(kwargs: Iterable[str], known: Iterable[str], kind: str = "option") -> None:
    """Reject misspelt options before Python raises a TypeError, which suggests no alternative."""
    known = list(known)
    for name in kwargs:
        if name not in known:
            raise OptionError(name, near_matches(kind, name, known))


def differing_options(
    first: Mapping[str, Any], second: Mapping[str, Any], left_out: Container[str] = ()
) -> tuple[str, str]:
    """Return the options in which two variants of a game differ, with the values of either, for a message.

    Args:
        first: Options of one variant.
        second: Options of the other one.
        left_out: Names of options that may differ.
    """
    names = [name for name in {**first, **second} if name not in left_out and first.get(name) != second.get(name)]
    of_first, of_second = (
        ", ".join(f"{name}={quote_value(options.get(name))}" for name in names) for options in (first, second)
    )
    return of_first, of_second


def refuse_twice(option: str, name: object, given: Container[object]) -> None:
    """Raise ValueError if a name is given twice, because one of the two values would be ignored.

    Args:
        option: Name of the option, for the message.
        name: The name that is given now.
        given: The names that were given before.
    """
    if name in given:
        raise ValueError(f"{option}: {quote_value(name)} is given twice; keep one of the two")


def check_distinct(option: str, values: Iterable[object]) -> None:
    """Raise ValueError if a value of an option is given twice; see ``refuse_twice``."""
    given: list[object] = []
    for value in values:
        refuse_twice(option, value, given)
        given.append(value)


def index_of(kind: str, name: object, known: Sequence[Any]) -> int:
    """Return the index of a name.

    Raises:
        ValueError: The name is unknown.
    """
    for index, candidate in enumerate(known):
        if type(name) is type(candidate) and name == candidate:
            return index
    raise ValueError(near_matches(kind, name, known))


def parse_integer(name: str, value: Any, least: int, unit: str = "", most: int | None = None) -> int:
    """Return a Python or numpy integer as int.

    Args:
        name: Name of the option or field, for the message.
        value: Value to check.
        least: Minimum.
        unit: Unit for the message, for example ``"pixels"``.
        most: Maximum; None for no limit.

    Raises:
        ValueError: The value is not an integer, or outside the range.
    """
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or value < least or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be an integer {allowed}{f' {unit}' if unit else ''}, not {quote_value(value)}")
    return int(value)
