"""What is compared in a game, and what numbers a comparison needs of it: every suite of a game fills this in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collab_overcooked.metrics import Estimate, mean_of_ratios
from collab_overcooked.reporting.grids import MISSING, interval, number

BUDGETS = ("small", "full")


@dataclass(frozen=True)
class Figure:
    """A number, and how it is written.

    Attributes:
        estimate: The number with its interval; None if there is none.
        scale: What it is multiplied by, 100 for per cent.
        digits: Behind the point.
    """

    estimate: Estimate | None
    scale: float = 1.0
    digits: int = 1

    @property
    def words(self) -> str:
        """The number, a dash for none; its interval behind it unless all runs were alike."""
        found = self.estimate
        if found is None:
            return MISSING
        if found.low is None or found.high is None or found.low == found.high:
            return number(found.value * self.scale, self.digits)
        ends = (found.low * self.scale, found.high * self.scale)
        return interval(Estimate(found.value * self.scale, *ends), self.digits, self.digits)


@dataclass(frozen=True)
class Arena:
    """One column of a leaderboard: what all policies play alike.

    Attributes:
        name: Its heading.
        given: What the suite is told, see ``suites.SuiteRecord.takes``.
        axes: Options of the environment that a trained policy must have been trained on, where it was on some.
    """

    name: str
    given: Mapping[str, Any]
    axes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contest:
    """What is played in one game.

    Attributes:
        title: Of the game.
        measure: What the leaderboard shows, in words.
        arenas: Its columns.
        pairs: Where every policy plays with every other.
        repeats: What a number of episodes is called in the suite.
        both_orders: Whether the suite plays a team of two kinds in both orders of seats.
    """

    title: str
    measure: str
    arenas: tuple[Arena, ...]
    pairs: Arena
    repeats: str = "episodes"
    both_orders: bool = False


@dataclass(frozen=True)
class Standing:
    """What the episodes of one team come to.

    Attributes:
        score: Of the leaderboard.
        process: Further numbers by heading: how the score came about.
    """

    score: Figure
    process: Mapping[str, Figure]


@dataclass(frozen=True)
class Reference:
    """A line of published numbers, measured by others.

    Attributes:
        name: Who played.
        kind: What kind of policy it was.
        scores: By arena.
    """

    name: str
    kind: str
    scores: Mapping[str, Figure]


def mean_figure(numbers: Sequence[float], scale: float = 1.0, digits: int = 1) -> Figure:
    """Return the mean of some runs with its interval."""
    return Figure(mean_of_ratios([numbers], [[1.0] * len(numbers)]) if numbers else None, scale, digits)
