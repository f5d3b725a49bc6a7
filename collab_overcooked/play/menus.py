"""Order of actions on a menu: likely choices of a person first, waiting last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence

WAITING = re.compile(r"(wait|noop|stay|continue|do nothing|say)\b", re.IGNORECASE)
NUMBER = re.compile(r" ?\d+(?=\)?$)")
WORD = re.compile(r"[A-Z]?[a-z]{3,}")


def likeliest_first(
    actions: Sequence[str], earlier: Sequence[str], hints: Iterable[str], unlikely: Container[str] = ()
) -> list[str]:
    """Sort actions by how likely a person wants them.

    First actions that were not possible at the previous question, then actions that name food of the orders or the
    recipe, then actions of rare kinds. Actions that only spoil or undo something come late; waiting and talking come
    last. Ties keep the order of the game.

    Args:
        actions: Texts of possible actions.
        earlier: Actions at the previous question; empty for the first question, at which no action counts as new.
        hints: Names of orders, and the recipe where the seat knows it.
        unlikely: Actions that only spoil or undo something.
    """
    known, useful_terms = set(earlier), _terms(" ".join(hints))
    kinds = Counter(map(_kind, actions))

    def rank(action: str) -> tuple[bool, bool, bool, bool, int]:
        new = bool(known) and action not in known
        useful = bool(_terms(action) & useful_terms)
        return WAITING.match(action) is not None, action in unlikely, not new, not useful, kinds[_kind(action)]

    return sorted(actions, key=rank)


def without_duplicates(actions: Sequence[str]) -> list[str]:
    """Return actions without numbered ones where the same without a number is possible, such as the nearest of many."""
    unnumbered = {action for action in actions if NUMBER.sub("", action) == action}
    return [action for action in actions if action in unnumbered or NUMBER.sub("", action) not in unnumbered]


def _kind(action: str) -> str:
    return re.split(r"[ (]", action, maxsplit=1)[0]


def _terms(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)}
