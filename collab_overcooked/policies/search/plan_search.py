"""Joint plans that are made once for all seats, followed while the game stays on them, and remembered."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.policies.search.simulator import Fork

Array = np.ndarray


class Plan(NamedTuple):
    """Joint actions, and the moments in which they are taken.

    Attributes:
        actions: int32 (steps, N).
        moments: Names of the moments before each step, by which a seat knows whether the team is still on the plan.
        score: What it earns, as far as the search counts that.
    """

    actions: Array
    moments: tuple[bytes, ...]
    score: int

    def is_followed(self, at: int, moment: bytes) -> bool:
        """Return whether the game is where the plan has it before a step."""
        return at < len(self.moments) and self.moments[at] == moment


def name_moments(root: Fork, actions: Array, name: Callable[[Any], bytes]) -> tuple[bytes, ...]:
    """Return the names of the moments in which a plan's actions are taken.

    Args:
        root: A batch of one, the start; not changed.
        actions: int32 (steps, N).
        name: Names the first environment of a state.
    """
    ahead, names = root.repeat([0]), []
    for joint in actions:
        names.append(name(ahead.state))
        ahead.advance(joint[None])
    return tuple(names)


class PlanMemory:
    """Plans by what they depend on, so that all seats of a team find the same one and it is searched once.

    Args:
        room: Plans that are kept; the oldest are forgotten.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._plans: dict[Hashable, Any] = {}

    def recall(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the plan of a key, made by ``make`` if it is not known."""
        if key not in self._plans:
            while len(self._plans) >= self._room:
                del self._plans[next(iter(self._plans))]
            self._plans[key] = make()
        return self._plans[key]
