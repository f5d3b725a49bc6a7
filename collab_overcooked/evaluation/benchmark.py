"""The benchmark of a game: settings, scores and published numbers that every suite names for comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Column

BUDGETS = ("small", "full")
T = TypeVar("T")


class NothingToPlay(ValueError):
    """A policy can play nothing of what was chosen; the message says why."""


@dataclass(frozen=True)
class Setting:
    """Column of a leaderboard: tasks that all policies play under the same conditions.

    Attributes:
        name: Its heading.
        suite_options: Options of the suite.
        axes: Options of the environment that a trained policy must have been trained on, where it was on some.
    """

    name: str
    suite_options: Mapping[str, Any]
    axes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Benchmark:
    """Settings that are played in one game.

    Attributes:
        title: Of the game.
        measure: Description of the numbers in the leaderboard.
        settings: Its columns.
        pairs: Where every policy plays with every other.
        repeats: What a number of episodes is called in the suite.
        mixed_teams: Whether policies of two kinds can make a team; there is no cross-play if not.
        both_orders: Whether the suite plays a team of two kinds in both orders of seats.
        digits: Of the leaderboard's numbers behind the point.
        scale: What they are multiplied by, 100 for per cent.
        lower_is_better: Whether the best score is the lowest.
    """

    title: str
    measure: str
    settings: tuple[Setting, ...]
    pairs: Setting
    repeats: str = "episodes"
    mixed_teams: bool = True
    both_orders: bool = False
    digits: int = 1
    scale: float = 1.0
    lower_is_better: bool = False

    def column(self, name: str) -> Column:
        """Return a column of the leaderboard."""
        return Column(name, "estimate", self.digits, scale=self.scale)


@dataclass(frozen=True)
class Summary:
    """The scores of one team's episodes.

    Attributes:
        score: Of the leaderboard; None if there is none.
        process: Further numbers by column: how the score came about.
    """

    score: Estimate | None
    process: Mapping[Column, Estimate | None]


def only(items: Sequence[T]) -> T:
    """Return the one result of records that should be of one team on one variant of a game.

    Raises:
        ValueError: If there are several.
    """
    if len(items) != 1:
        raise ValueError(f"records: are of {len(items)} teams or variants of the game, where one is needed")
    return items[0]


@dataclass(frozen=True)
class Reference:
    """A line of published numbers, measured by others.

    Attributes:
        name: Who played.
        kind: What kind of policy it was.
        scores: By setting.
    """

    name: str
    kind: str
    scores: Mapping[str, Estimate | None]
