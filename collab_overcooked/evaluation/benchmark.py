"""The benchmark of a game: settings, scores and published numbers that every suite names for comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Column

BUDGETS = ("small", "full")
T = TypeVar("T")


class NothingToPlay(ValueError):
    """A policy can play none of the chosen tasks; the message says why."""


@dataclass(frozen=True)
class Setting:
    """Column of a leaderboard: tasks that all policies play under the same conditions."""

    name: str  # Heading of the column
    suite_options: Mapping[str, Any] = field(default_factory=dict)  # Options of the suite
    # Options of the environment that must equal those of a policy's training, if the policy names any
    axes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ComparisonBudget:
    """Settings that a suite's comparisons play."""

    settings: Sequence[Setting] | Callable[[], Sequence[Setting]]  # Settings, or a function that returns them
    options: Mapping[str, Any]  # Options of the suite in all settings
    pairs: Mapping[str, Any] = field(default_factory=dict)  # Options of the suite that cross-play changes
    pairs_in: int = 0  # Index of the setting of cross-play
    suffix: str = ""  # Suffix of the name of that setting

    def played(self) -> tuple[list[Setting], Setting]:
        """Return the settings with the options of all, and the setting of pairs."""
        settings = self.settings() if callable(self.settings) else self.settings
        played = [replace(setting, suite_options={**setting.suite_options, **self.options}) for setting in settings]
        named = played[self.pairs_in]
        pairs = replace(named, name=named.name + self.suffix, suite_options={**named.suite_options, **self.pairs})
        return played, pairs


@dataclass(frozen=True)
class Benchmark:
    """Settings that are played in one game."""

    title: str  # Title of the game
    measure: str  # Description of the numbers in the leaderboard
    settings: tuple[Setting, ...]  # Columns of the leaderboard
    pairs: Setting  # Setting of cross-play
    repeats: str = "episodes"  # Name of the suite option that sets the number of episodes
    mixed_teams: bool = True  # Whether policies of two kinds can make a team; there is no cross-play if not
    both_orders: bool = False  # Whether the suite plays a team of two kinds in both orders of seats
    digits: int = 1  # Decimal places of the leaderboard's numbers
    scale: float = 1.0  # Factor for display, 100 for percent
    lower_is_better: bool = False  # Whether the best score is the lowest

    def column(self, name: str) -> Column:
        """Return a column of the leaderboard."""
        return Column(name, "estimate", self.digits, scale=self.scale)


@dataclass(frozen=True)
class Summary:
    """The scores of one team's episodes."""

    score: Estimate | None  # Leaderboard score; None if undefined
    process: Mapping[Column, Estimate | None]  # Process metrics by column


def only(items: Sequence[T]) -> T:
    """Return the one result of records that should be of one team on one variant of a game.

    Raises:
        ValueError: The records are of several teams or variants.
    """
    if len(items) != 1:
        raise ValueError(f"records: are of {len(items)} teams or variants of the game, where one is needed")
    return items[0]


@dataclass(frozen=True)
class Reference:
    """A line of published scores, not measured with this package."""

    name: str  # Name of the policy
    kind: str  # Kind of the policy
    scores: Mapping[str, Estimate | None]  # Scores by setting
