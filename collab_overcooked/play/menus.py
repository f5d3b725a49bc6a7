"""Actions on a menu: each once, what only spoils or undoes something late, waiting last. Pages sort them by place."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

WAITING = re.compile(r"(wait|noop|stay|continue|do nothing|say)\b", re.IGNORECASE)
NUMBER = re.compile(r" ?\d+(?=\)?$)")


def late_last(actions: Sequence[str], late: Container[str] = ()) -> list[str]:
    """Return actions in the order of the game, but those of ``late`` and then those that wait or talk last."""
    return sorted(actions, key=lambda action: (WAITING.match(action) is not None, action in late))


def without_duplicates(actions: Sequence[str]) -> list[str]:
    """Return actions without numbered ones where the same without a number is possible, such as the nearest of many."""
    unnumbered = {action for action in actions if NUMBER.sub("", action) == action}
    return [action for action in actions if action in unnumbered or NUMBER.sub("", action) not in unnumbered]
