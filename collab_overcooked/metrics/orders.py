"""Collaboration score (CoS) of games with deadlines: the share of orders completed in time, at five paces.

Everything is counted from records. An order ends in one of three ways: completed, failed (its time ran out), or still
open when the episode stops; open orders are left out of all ratios, as in the paper's printed tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from msgspec import Struct

from collab_overcooked.core.record import EpisodeRecord, Step
from collab_overcooked.io.structs import Count, Text
from collab_overcooked.metrics.intervals import Estimate, mean_of_ratios

Counting = Literal["orders", "steps"]
"""Unit of failures: expired ``orders`` or, as in the original, ``steps`` with at least one expired order."""


class StepOrders(Struct):
    """Orders in a step: names of completed and expired ones; name and remaining steps of open ones."""

    completed: list[Text]
    expired: list[Text]
    open: list[tuple[Text, Count | None]]


class OrderStep(Step, kw_only=True):
    """Step of a game with orders that expire."""

    orders: StepOrders

    @property
    def order_changes(self) -> list[tuple[int, str]]:
        """Orders that ended in this step: 1 for a completed one, -1 for one whose time ran out, and its name."""
        completed = [(1, name) for name in self.orders.completed]
        return completed + [(-1, name) for name in self.orders.expired]


class OrderRecord(EpisodeRecord, kw_only=True):
    """Record of a game with orders that expire."""

    steps: Sequence[OrderStep]


class OrderCell(NamedTuple):
    """A fraction as printed in the paper."""

    completed: int  # Orders completed
    resolved: int  # Orders completed or failed

    @property
    def ratio(self) -> float | None:
        """Share of completed orders; None if nothing was resolved."""
        return self.completed / self.resolved if self.resolved else None

    def __str__(self) -> str:
        """Return the fraction as text, for example ``"18/19"``."""
        return f"{self.completed}/{self.resolved}"


@dataclass(frozen=True, slots=True)
class Tally:
    """Outcomes of the orders of one or more episodes."""

    completed: int = 0  # Orders served in time
    expired: int = 0  # Orders whose time ran out
    failing_steps: int = 0  # Steps in which at least one order expired: the original's counter of failures
    open: int = 0  # Orders neither completed nor expired at the end of their episode

    def __add__(self, other: Tally) -> Tally:
        """Add the counts of more episodes."""
        return Tally(
            self.completed + other.completed,
            self.expired + other.expired,
            self.failing_steps + other.failing_steps,
            self.open + other.open,
        )

    def failed(self, counting: Counting = "orders") -> int:
        """Return the number of failures.

        Raises:
            ValueError: The way of counting is unknown.
        """
        if counting not in ("orders", "steps"):
            raise ValueError(f"counting must be 'orders' or 'steps', not {counting!r}")
        return self.expired if counting == "orders" else self.failing_steps

    def cell(self, counting: Counting = "orders") -> OrderCell:
        """Return the fraction completed / (completed + failed)."""
        return OrderCell(self.completed, self.completed + self.failed(counting))


def total(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies."""
    return sum(tallies, Tally())


def tally_record(record: OrderRecord) -> Tally:
    """Count the orders of one episode.

    Args:
        record: Episode record whose steps have ``orders`` of the class ``OrderStep``.

    Returns:
        The counts.
    """
    completed = expired = failing = still_open = 0
    for step in record.steps:
        orders = step.orders
        completed += len(orders.completed)
        expired += len(orders.expired)
        failing += bool(orders.expired)
        still_open = len(orders.open)
    return Tally(completed, expired, failing, still_open)


def ordered(record: OrderRecord) -> list[str]:
    """Return the names of all orders of one episode, however they ended."""
    steps = [step.orders for step in record.steps]
    ended = [name for step in steps for name in (*step.completed, *step.expired)]
    return ended + [name for name, _ in (steps[-1].open if steps else ())]


def parse_cell(text: str) -> OrderCell:
    """Parse a printed fraction such as ``"18/19"``.

    Raises:
        ValueError: The text is not a fraction.
    """
    match = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text) if isinstance(text, str) else None
    if not match or int(match[1]) > int(match[2]):
        raise ValueError(f"cell: got {text!r}, allowed is completed/resolved, for example 18/19")
    return OrderCell(int(match[1]), int(match[2]))


def cos(cells: Sequence[Sequence[OrderCell]]) -> Estimate | None:
    """Return the collaboration score: the mean over conditions of completed over resolved orders.

    Source: MindAgent (Gong et al. 2024), section 3, with completed + failed as denominator: the printed tables
    leave open orders out. Runs of one condition are summed before they are divided. A condition without
    resolved orders has no ratio and is left out.

    Args:
        cells: Condition (pace of orders) -> run -> fraction; a run is a fixed number of episodes with one order seed.

    Returns:
        The score, with a bootstrap interval over runs if there are several; None without resolved orders.
    """
    completed = [[float(cell.completed) for cell in runs] for runs in cells]
    resolved = [[float(cell.resolved) for cell in runs] for runs in cells]
    return mean_of_ratios(completed, resolved)


def mean_known(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class CosTable:
    """Table of conditions by levels for one number of agents, as the paper's tables 6 to 8."""

    agents: int  # Number of agents
    alphas: tuple[float, ...]  # Conditions in the order of the rows; a larger alpha gives more time between orders
    levels: tuple[str, ...]  # Levels in the order of the columns
    # (level, alpha) -> one fraction a run; combinations that were not played are missing
    runs: Mapping[tuple[str, float], tuple[OrderCell, ...]]

    def cell(self, level: str, alpha: float) -> OrderCell | None:
        """Return a cell summed over runs; None if it was not played."""
        runs = self.runs.get((level, alpha))
        if not runs:
            return None
        return OrderCell(sum(run.completed for run in runs), sum(run.resolved for run in runs))

    def cos(self, level: str) -> Estimate | None:
        """Return the CoS of a level."""
        return cos([self.runs[level, alpha] for alpha in self.alphas if self.runs.get((level, alpha))])

    def complete(self, level: str) -> bool:
        """Return whether a level was played at every alpha, without which its CoS is not comparable."""
        return all(self.runs.get((level, alpha)) for alpha in self.alphas)

    def row_average(self, alpha: float) -> float | None:
        """Return the mean ratio of all levels at one alpha, the last column of the paper's tables."""
        cells = (self.cell(level, alpha) for level in self.levels)
        return mean_known(cell.ratio for cell in cells if cell is not None)

    def average(self, levels: Iterable[str] | None = None) -> float | None:
        """Return the mean CoS of some levels; of all if None."""
        scores = (self.cos(level) for level in (self.levels if levels is None else levels))
        return mean_known(score.value for score in scores if score is not None)


def served_share(record: OrderRecord) -> float:
    """Return the share of the orders of an episode that were served in time; 0 before any order has ended."""
    completed, failed = record.metrics["completed"], record.metrics["failed"]
    return completed / max(1, completed + failed)
