"""Practice before a game: short episodes, each of which ends when everybody has done what it is about, or skips it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_STEPS = 100  # after which a goal counts as reached


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


LESSON = "lesson"  # a first round in which everybody does what ``game.lesson`` lists
MAX_LESSON_STEPS = 2000


class Practice:
    """How far everybody is with a goal.

    Args:
        goal: What is to be done.
        idle: By seat of a person: the text of doing nothing.
        lessons: For the goal ``LESSON``, by seat: name of each step and regular expression of its event, in order.
    """

    def __init__(
        self, goal: Goal, idle: Mapping[int, str], lessons: Mapping[int, Sequence[tuple[str, str]]] | None = None
    ) -> None:
        self.goal, self._idle = goal, idle
        taught = lessons if lessons is not None and goal.name == LESSON else {}
        self._lessons = {seat: {name: re.compile(event) for name, event in taught.get(seat, ())} for seat in idle}
        self._count: Counter[int] = Counter()
        self._done: dict[int, list[str]] = {seat: [] for seat in idle}
        self._skipped: set[int] = set()
        self._steps = 0

    @property
    def over(self) -> bool:
        """Whether everybody is done, or has skipped the rest."""
        return all(seat in self._skipped or self._finished(seat) for seat in self._idle)

    def skip(self, seat: int) -> None:
        """Let one seat do no more; the others go on."""
        self._skipped.add(seat)

    def has_skipped(self, seat: int) -> bool:
        """Tell whether a seat does no more."""
        return seat in self._skipped

    def reached(self, step: Mapping[str, Any]) -> bool:
        """Take a step; returns whether the episode may end."""
        self._steps += 1
        self._count.update(seat for seat, idle in self._idle.items() if self.goal.done(step, seat, idle))
        for seat, done in self._done.items():
            event = step["events"][seat]
            if event is not None:
                text = f"{event['event']} {event['label']}"
                done += [
                    name for name, pattern in self._lessons[seat].items() if name not in done and pattern.fullmatch(text)
                ]
        return self._steps >= (MAX_LESSON_STEPS if self.goal.name == LESSON else MAX_STEPS) or self.over

    def progress(self, seat: int) -> dict[str, Any] | None:
        """Return what a page shows of a lesson; None for other goals."""
        if self.goal.name != LESSON:
            return None
        return {"type": "progress", "steps": list(self._lessons[seat]), "done": self._done[seat]}

    def _finished(self, seat: int) -> bool:
        return len(self._done[seat]) >= len(self._lessons[seat]) and self._count[seat] >= self.goal.times


def goals_for(game: Any) -> tuple[Goal, ...]:
    """Return what is practised before a game: its own lesson where it has one, else the goals that suit every game."""
    speak = GOALS[-1]
    return (Goal(LESSON, 0, lambda step, seat, idle: False), speak) if getattr(game, LESSON, ()) else GOALS
