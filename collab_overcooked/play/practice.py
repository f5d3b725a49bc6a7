"""Practice before a game: short episodes that end once everybody has reached the goal or skipped it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.core.record import Step
from collab_overcooked.envs.api import TextGame
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.records import Key

MAX_STEPS = 100  # after which a goal counts as reached


class PractiseFirst(Exception):
    """Raised before the first episode if a person chooses to practise first."""


@dataclass(frozen=True)
class Goal:
    """Goal that every person has to reach."""

    name: str  # Name of its text on pages
    times: int  # Number of steps in which it must be done
    # Returns whether a seat has done it, given a step of the record, the seat and the text of the idle action
    done: Callable[[Step, int, str], bool]


@dataclass(frozen=True)
class Round:
    """Episode of a session."""

    match: Match  # Its match
    number: int  # Index among the episodes of the match
    key: Key  # Task and number of the record
    goal: Goal | None = None  # Goal of practice; None if the episode counts


GOALS = (
    Goal("act", 3, lambda step, seat, idle: step.action_texts[seat] != idle),
    Goal("effect", 1, lambda step, seat, idle: step.events[seat] is not None),
    Goal("speak", 1, lambda step, seat, idle: any(m.agent == seat and m.say for m in step.messages)),
)


TUTORIAL = "tutorial"  # a first round in which everybody does what ``game.tutorial`` lists
MAX_TUTORIAL_STEPS = 2000
TUTORIAL_ROUNDS = 3  # a tutorial whose game ends too early begins again, but not for ever
BEGINS_AGAIN = "The game ended before all steps were done. Practice begins again."
COUNTS_NOW = "Practice is over; now it counts."


class Practice:
    """Progress of all people towards a goal.

    Args:
        goal: The goal.
        idle: By seat of a person: the text of doing nothing.
        tutorials: For the goal ``TUTORIAL``, by seat: its steps in order, see ``TextGame.tutorial``.
    """

    def __init__(
        self, goal: Goal, idle: Mapping[int, str], tutorials: Mapping[int, Sequence[tuple[str, str, str]]] | None = None
    ) -> None:
        self.goal, self._idle = goal, idle
        taught = tutorials if tutorials is not None and goal.name == TUTORIAL else {}
        self._tutorials = {seat: {name: re.compile(event) for name, event, _ in taught.get(seat, ())} for seat in idle}
        self._places = {seat: {name: places for name, _, places in steps} for seat, steps in taught.items()}
        self._count: Counter[int] = Counter()
        self._done: dict[int, list[str]] = {seat: [] for seat in idle}
        self._skipped: set[int] = set()
        self._steps = 0

    @property
    def fails(self) -> bool:
        """True for a tutorial that is not done, once its game has ended."""
        return self.goal.name == TUTORIAL and not self.over

    @property
    def over(self) -> bool:
        """True once every person is done or has skipped the rest."""
        return all(seat in self._skipped or self._finished(seat) for seat in self._idle)

    def skip(self, seat: int) -> None:
        """Skip the rest for one seat; its teammates go on."""
        self._skipped.add(seat)

    def has_skipped(self, seat: int) -> bool:
        """Return whether a seat has skipped the rest."""
        return seat in self._skipped

    def reached(self, step: Step) -> bool:
        """Update with a step; returns whether the episode may end."""
        self._steps += 1
        self._count.update(seat for seat, idle in self._idle.items() if self.goal.done(step, seat, idle))
        for seat, done in self._done.items():
            for other, event in enumerate(step.events):
                if event is not None:
                    text = event.signature if other == seat else f"team: {event.signature}"
                    steps = self._tutorials[seat].items()
                    done += [name for name, pattern in steps if name not in done and pattern.fullmatch(text)]
        return self._steps >= (MAX_TUTORIAL_STEPS if self.goal.name == TUTORIAL else MAX_STEPS) or self.over

    def progress(self, seat: int) -> dict[str, Any] | None:
        """Return the progress message of a tutorial; None for goals of other kinds."""
        if self.goal.name != TUTORIAL:
            return None
        return {"type": "progress", "steps": list(self._tutorials[seat]), "done": self._done[seat]}

    def places(self, seat: int) -> str:
        """Return the pattern of the places where a seat takes its next step; empty if there is none."""
        left = [places for name, places in self._places.get(seat, {}).items() if name not in self._done[seat]]
        return "" if seat in self._skipped else next(iter(left), "")

    def _finished(self, seat: int) -> bool:
        return len(self._done[seat]) >= len(self._tutorials[seat]) and self._count[seat] >= self.goal.times


def goals_for(game: TextGame | type[TextGame], talks: bool) -> tuple[Goal, ...]:
    """Return the goals of practice for a game: its tutorial if it has one, else the goals that fit every game.

    Args:
        game: The game or its class.
        talks: Whether another player reads messages; else the goal of speaking is left out.
    """
    *acts, speak = GOALS
    taught = (Goal(TUTORIAL, 0, lambda step, seat, idle: False),) if game.tutorial else acts
    return (*taught, *([speak] if talks else []))
