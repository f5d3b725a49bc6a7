"""What suites of games with orders and deadlines have in common: levels at several paces, teams of several sizes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from collab_overcooked.evaluation.suites import Record, Suite
from collab_overcooked.metrics.orders import tally_record
from collab_overcooked.runner.jobs import Evaluation, Series
from collab_overcooked.runner.order_logger import OrderLogger


@dataclass(frozen=True, kw_only=True)
class OrderPlan(Evaluation):
    """Levels at several paces, for teams of several sizes. The orders of an episode follow on those of the one before.

    Attributes:
        levels: Shipped names or paths of YAML files.
        specs: Policy texts in seat order, by number of agents.
        paces: How fast orders come, in the game's own numbers.
        runs: Runs of each setting, with the order seeds ``seed``, ``seed + 1``, ...
        episodes: Episodes of a run.
    """

    levels: tuple[str, ...]
    specs: Mapping[int, tuple[str, ...]]
    paces: tuple[Any, ...]
    runs: int
    episodes: int

    @abstractmethod
    def level_name(self, level: str) -> str:
        """Return the name that a level's file says."""

    @abstractmethod
    def setting(self, level: str, name: str, agents: int, pace: Any) -> dict[str, Any]:
        """Return the fields of a job that depend on the game: ``env_id``, ``env_kwargs``, ``task``, ``level``."""

    def make_jobs(self) -> list[Series]:
        """Return all runs in the order of the record file."""
        names = {level: self.level_name(level) for level in self.levels}
        return [
            Series(
                team=specs,
                number=number,
                seed=self.seed + number,
                episodes=self.episodes,
                limits=self.limits,
                **setting,
            )
            for agents, specs in self.specs.items()
            for level in self.levels
            for pace in self.paces
            for setting in [self.setting(level, names[level], agents, pace)]
            for number in range(self.runs)
        ]


class OrderSuite(Suite):
    """Orders with deadlines.

    Attributes:
        last_step: Time that an order has left before the step in which it expires.
    """

    score_metric = "completed"
    last_step = 0

    def outcome(self, record: Record) -> str:
        """Say what became of the orders."""
        tally = tally_record(record)
        return f"{tally.completed} completed, {tally.expired} failed"

    def make_logger(self) -> OrderLogger:
        """Return a new logger of orders."""
        return OrderLogger(self.last_step)
