"""Words for error messages: unknown names and the known ones near them, and numbers that cannot be.

Values in messages come from outside: they are cut short, and no value breaks the message.
"""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

MAX_SHOWN = 200  # characters of a value in a message
HINT_CUTOFF = 0.6  # similarity from which a known name is suggested; below, suggestions mislead more than they help
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother, _SHORT.maxlong = 4, MAX_SHOWN, MAX_SHOWN, MAX_SHOWN
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = 12


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


def quote_value(value: object) -> str:
    """Return a value as a message shows it: on one line, at most ``MAX_SHOWN`` characters, whatever it is."""
    try:
        text = " ".join(_SHORT.repr(value).split())
    except Exception:  # an integer of 5000 digits, an object whose repr fails
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def parse_text(value: Any, what: str = "text of an action") -> str:
    """Return a text.

    Raises:
        TypeError: If it is none; texts of actions come from models and people, so a ValueError means a wrong text.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, not {quote_value(value)}")
    return value


def near_matches(kind: str, name: object, known: Iterable[object]) -> str:
    """Say that a name is unknown, and which known names come near it.

    Args:
        kind: What the name stands for, for example ``"task"``.
        name: The unknown value.
        known: All allowed names.
    """
    names = [str(each) for each in known]
    word = name if isinstance(name, str) else quote_value(name)
    close = difflib.get_close_matches(word[:MAX_SHOWN], names, n=4, cutoff=HINT_CUTOFF)
    if close:
        return f"unknown {kind} {quote_value(name)}; did you mean {', '.join(close)}?"
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"unknown {kind} {quote_value(name)}; known: {listed}"


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
    for place, each in enumerate(known):
        if type(name) is type(each) and name == each:
            return place
    raise ValueError(near_matches(kind, name, known))


def parse_integer(name: str, value: Any, least: int, unit: str = "", most: int | None = None) -> int:
    """Return an integer as int.

    Args:
        name: What it is the value of.
        value: As given; numpy's integers will do.
        least: The smallest that is allowed.
        unit: Its unit in words, for the message.
        most: The largest that is allowed, if there is one.

    Raises:
        ValueError: If it is not an integer, too small or too large.
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be an integer {allowed}{f' {unit}' if unit else ''}, not {quote_value(value)}")
    return int(value)
