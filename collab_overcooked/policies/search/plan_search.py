"""Joint plans that are computed once for all seats, followed while the game stays on them, and cached."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.policies.search.simulator import Fork

Array = np.ndarray


class Plan(NamedTuple):
    """Joint actions, with the states in which they are taken."""

    actions: Array  # int32 (steps, N)
    # Name of the state before each step, by which a seat detects whether the team is still on the plan
    state_names: tuple[bytes, ...]
    score: int  # Score of the plan in the search

    def is_followed(self, at: int, state_name: bytes) -> bool:
        """Return whether the game is in the plan's state before a step."""
        return at < len(self.state_names) and self.state_names[at] == state_name


def name_states(root: Fork, actions: Array, name: Callable[[Any], bytes]) -> tuple[bytes, ...]:
    """Return a digest of each state in which an action of a plan is taken.

    Args:
        root: Initial state, a batch of one; not changed.
        actions: int32 (steps, N).
        name: Function that names the first environment of a state.
    """
    ahead, names = root.repeat([0]), []
    for joint in actions:
        names.append(name(ahead.state))
        ahead.advance(joint[None])
    return tuple(names)


class PlanMemory:
    """Cache of plans, so that all seats of a team get the same plan from one search.

    Args:
        room: Maximum number of plans; the oldest are dropped.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._plans: dict[Hashable, Any] = {}

    def recall(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the cached plan of a key, computed by ``make`` if missing."""
        if key not in self._plans:
            while len(self._plans) >= self._room:
                del self._plans[next(iter(self._plans))]
            self._plans[key] = make()
        return self._plans[key]
