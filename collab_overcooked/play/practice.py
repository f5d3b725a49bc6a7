"""Practice before a game: three short episodes, each of which ends when everybody has done what it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_STEPS = 100  # after which a goal counts as reached


@dataclass(frozen=True)
class Goal:
    """What everybody is to do.

    Attributes:
        name: Under which pages have words for it.
        times: In how many steps.
        done: Tells from a step's part of the record whether a seat has done it; the last argument is the text of
            doing nothing.
    """

    name: str
    times: int
    done: Callable[[Mapping[str, Any], int, str], bool]


GOALS = (
    Goal("act", 3, lambda step, seat, idle: step["action_texts"][seat] != idle),
    Goal("effect", 1, lambda step, seat, idle: step["events"][seat] is not None),
    Goal("speak", 1, lambda step, seat, idle: any(m["agent"] == seat and m["say"] for m in step["messages"])),
)


class Practice:
    """How far everybody is with a goal.

    Args:
        goal: What is to be done.
        idle: By seat of a person: the text of doing nothing.
    """

    def __init__(self, goal: Goal, idle: Mapping[int, str]) -> None:
        self.goal, self._idle = goal, idle
        self._count: Counter[int] = Counter()
        self._steps = 0

    def reached(self, step: Mapping[str, Any]) -> bool:
        """Take a step; returns whether the episode may end."""
        self._steps += 1
        self._count.update(seat for seat, idle in self._idle.items() if self.goal.done(step, seat, idle))
        return self._steps >= MOST_STEPS or self._all(self._idle)

    def _all(self, seats: Iterable[int]) -> bool:
        return all(self._count[seat] >= self.goal.times for seat in seats)
