"""Words for error messages: unknown names and the known ones near them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def near_matches(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which known names come near it.

    Args:
        kind: What the name stands for, for example ``"task"``.
        name: The unknown value.
        known: All allowed names.

    Returns:
        One sentence fit for an error message.
    """
    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=4, cutoff=0.4)
    if close:
        return f"unknown {kind} {name!r}; did you mean {', '.join(close)}?"
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f"unknown {kind} {name!r}; known: {shown}"


def looks_like(name: object, known: Iterable[str]) -> bool:
    """Tell whether a name is probably a misspelling of a known one."""
    return bool(difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.75))


def check_whole(name: str, value: object, low: int) -> None:
    """Refuse what is no whole number of at least ``low``.

    Raises:
        ValueError: Naming the value.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, not {value!r}")


def check_options(kwargs: Iterable[str], known: Iterable[str]) -> None:
    """Refuse misspelt options before they become Python's own TypeError, which names no alternative.

    Raises:
        ValueError: Naming the first unknown option and near matches.
    """
    known = list(known)
    for name in kwargs:
        if name not in known:
            raise ValueError(near_matches("option", name, known))
