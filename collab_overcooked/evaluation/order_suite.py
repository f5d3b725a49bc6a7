"""Suites of orders with deadlines: levels at several paces for teams of several sizes, scored by tables of CoS."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.evaluation.benchmark import Summary, only
from collab_overcooked.evaluation.suites import SettingRow, Suite, check_names, load_checked
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.metrics.orders import CosTable, Counting, OrderRecord, Tally, cos, tally_record, total
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.runner.env_variants import axis_values, by_variant, deviations, setting_names, variant_of
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.order_logger import OrderLogger
from collab_overcooked.runner.teams import seats_by_size, team_text


@dataclass(frozen=True)
class OrderResult:
    """Episodes of one team on one variant of a game, and their orders by outcome."""

    title: str  # Game and variant
    is_default: bool  # Whether the game was played with its default options, or those of the paper's preset
    team: str  # Policies, in a notation that does not depend on the size of the team
    counting: Counting  # Definition of a failure
    episodes: Mapping[tuple[int, str, float], Sequence[OrderRecord]]  # (agents, level, pace) -> records
    # Sort key of levels; paces are then in ascending order. None keeps both in the order of the records.
    level_order: Callable[[str], Any] | None = None

    @cached_property
    def tallies(self) -> dict[tuple[int, str, float], tuple[Tally, int]]:
        """Orders by outcome, and number of episodes, by agents, level and pace."""
        return {key: (total(map(tally_record, records)), len(records)) for key, records in self.episodes.items()}

    @cached_property
    def tables(self) -> dict[int, CosTable]:
        """Tables of levels and paces by number of agents; the episodes of one seed form a run."""
        tables = {}
        for agents in sorted({agents for agents, _, _ in self.episodes}):
            runs = {key[1:]: self._runs(records) for key, records in self.episodes.items() if key[0] == agents}
            levels = list(dict.fromkeys(level for level, _ in runs))
            paces = list(dict.fromkeys(pace for _, pace in runs))
            if self.level_order is not None:
                levels, paces = sorted(levels, key=self.level_order), sorted(paces)
            tables[agents] = CosTable(agents, tuple(paces), tuple(levels), runs)
        return tables

    def _runs(self, records: Sequence[OrderRecord]) -> tuple[Any, ...]:
        by_seed: dict[int, list[Tally]] = {}
        for record in records:
            by_seed.setdefault(record.seed, []).append(tally_record(record))
        return tuple(total(tallies).cell(self.counting) for tallies in by_seed.values())


def score_orders(
    records: Iterable[OrderRecord],
    levels: Collection[str],
    pace: str,
    counting: Counting = "orders",
    level_order: Callable[[str], Any] | None = None,
) -> list[OrderResult]:
    """Score records of a game, one result for every team and variant.

    Args:
        records: Episodes; those of one setting and order seed form a run.
        levels: Names of the built-in levels.
        pace: Option of the environment that says how fast orders come.
        counting: Definition of a failure.
        level_order: Sort key of levels; see ``OrderResult``.
    """
    results = []
    for group in by_variant(records):
        names = setting_names(group, ("level",), lambda record: str(record.task).rsplit(", ", 2)[0], levels)
        episodes: dict[tuple[int, str, float], list[OrderRecord]] = {}
        for name, record in zip(names, group, strict=True):
            value = axis_values(record)[pace]
            key = len(record.team), name, 0.0 if value is None else float(value)
            episodes.setdefault(key, []).append(record)
        variant, team = variant_of(group[0]), team_text(group[0].team.values())
        default = not deviations(group[0], variant)
        results.append(OrderResult(variant.title, default, team, counting, episodes, level_order))
    return results


class OrderSuite(Suite):
    """Series of episodes with orders and deadlines."""

    score_metric = "share"
    delivered = "completed"
    repeats = "runs"
    logger_class = OrderLogger
    outcome_text = "{completed} completed, {failed} failed"
    load: ClassVar[Callable[[Any], Any]]  # Reads a level, which has a ``name``
    pace: ClassVar[str]  # Option of the environment that says how fast orders come
    endings: ClassVar = {
        "": "The time was over after {steps} steps; orders: {completed} completed, {failed} failed, {open} open."
    }
    parse_levels: ClassVar[Callable[[Any], Iterable[str]]] = tuple  # Reads ``levels`` of the suite's options
    parse_pace: ClassVar[Callable[[Any], float]]  # Reads an entry of ``paces`` or ``alphas`` of the suite's options
    named: ClassVar[Collection[str]] = ("level",)  # Options that, with the team size, make up a task's name
    benchmark_fields: ClassVar[Mapping[str, Any]] = {"digits": 3}
    pooled: ClassVar[bool] = True  # Whether levels and sizes of teams have one score together
    averaged: ClassVar[Mapping[str, str]]  # Further columns of the leaderboard, and metrics whose means they are

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[Match]:
        pace, cls = self.pace, type(self)
        agents = tuple(dict.fromkeys(parse_integer("agents", count, 1) for count in suite_options.agents))
        paces = tuple(dict.fromkeys(map(cls.parse_pace, getattr(suite_options, f"{pace}s"))))
        names = {level: self.level_name(level) for level in cls.parse_levels(suite_options.levels)}
        if not agents or not paces or not names:
            raise ValueError(f"levels, agents and {pace}s need at least one entry each")
        check_names("levels", names, names.__getitem__)
        for level, count in product(names, agents):
            load_checked(self.env_id, **options, level=level, agents=count, **{pace: paces[0]})
        for count, specs in seats_by_size(team, agents).items():
            for (level, name), value in product(names.items(), paces):
                yield Match(
                    env_id=self.env_id,
                    env_kwargs={**options, "level": level, "agents": count, pace: value},
                    team=specs,
                    task=self.task_name(name, count, value),
                    level=self.level_number(name),
                    episodes=suite_options.episodes,
                )

    def level_name(self, level: str) -> str:
        """Return the name that a level's file says."""
        return str(type(self).load(level).name)

    def level_number(self, name: str) -> int | None:
        """Return the number of a level of some name; None if it has none."""
        return None

    def task_name(self, level: str, agents: int, pace: float | None) -> str:
        """Return the task of a level's records."""
        paced = "times of the level file" if pace is None else f"{self.pace} {pace:g}"
        return f"{level}, {plural(agents, 'agent')}, {paced}"

    def derived(self, record: EpisodeRecord) -> Mapping[str, Any]:
        options = record.env_kwargs
        if not options.keys() >= set(self.named) or record.task.count(", ") < 2:
            return {}
        name, pace = self.level_name(options["level"]), options.get(self.pace)
        return {"task": self.task_name(name, len(record.team), pace), "level": self.level_number(name)}

    def summary(self, records: Sequence[Any]) -> Summary:
        result = only(score_orders(records, self.shipped(), self.pace))
        row = SettingRow("", "all", records)
        cells = [runs for table in result.tables.values() for runs in table.runs.values()]
        score = cos(cells) if self.pooled or len({key[:2] for key in result.episodes}) == 1 else None
        process: dict[Column, Estimate | None] = {Column("CoS", "estimate"): score}
        return Summary(score, process | {Column(n, "estimate", 2): row.mean(m) for n, m in self.averaged.items()})
