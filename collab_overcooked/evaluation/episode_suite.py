"""Suites whose parts are data: axes, jobs, columns of tables, published numbers; games override what they need."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.envs.shells import check_max_cycles, split_options
from collab_overcooked.evaluation.benchmark import Benchmark, Setting, Summary, only
from collab_overcooked.evaluation.plans import EpisodePlan, JobGroup, SeriesPlan
from collab_overcooked.evaluation.suites import Listing, Record, Suite, check_env_options
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.options import option
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.metrics.orders import tally_record
from collab_overcooked.metrics.registry import game_metrics, measure
from collab_overcooked.reporting.result_table import Cell, Column, table_of, table_of_mappings
from collab_overcooked.reporting.results import metric_card
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import by_variant, setting_names, variant_of
from collab_overcooked.runner.episode import Limits
from collab_overcooked.runner.jobs import Evaluation
from collab_overcooked.runner.order_logger import OrderLogger
from collab_overcooked.runner.teams import SWAPPED, parse_seats, seats_by_size, specs_as_given, team_text


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions:
    """Options of a suite beyond team, seed and options of the environment."""

    episodes: int = option(10, "Episodes.")


Metric = str | Callable[[Record], float | None]
"""Name of a metric of the game, or a function of a record."""


@dataclass(frozen=True)
class SettingRow:
    """Episodes of one team in one setting with one order of seats: a row of tables."""

    title: str  # Game and variant
    setting: str  # Name of the setting
    records: Sequence[Record]  # Episodes

    @property
    def swapped(self) -> bool:
        """True if the team changed seats."""
        return str(self.records[0]["task"]).endswith(SWAPPED)

    @property
    def task(self) -> str:
        """Setting, and whether seats are swapped."""
        return self.setting + SWAPPED * self.swapped

    @property
    def team(self) -> tuple[str, ...]:
        """Policy texts in seat order."""
        return tuple(self.records[0]["team"].values())

    @property
    def seats(self) -> dict[str, str]:
        """Policy texts by seat."""
        return {f"agent_{seat}": spec for seat, spec in enumerate(self.team)}

    @cached_property
    def episodes(self) -> list[dict[str, Any]]:
        """Metrics of each episode."""
        metrics = game_metrics(self.records[0]["env_id"])
        return [{"success": float(record["success"])} | metrics.measure(record) for record in self.records]

    def values(self, metric: Metric) -> list[float]:
        """Return a metric of each episode that has it."""
        values = map(metric, self.records) if callable(metric) else (values_of[metric] for values_of in self.episodes)
        return [value for value in values if value is not None]

    def mean(self, metric: Metric) -> Estimate | None:
        """Return the mean of a metric with its 95 % interval; None if no episode has it."""
        return mean_ci(list(map(float, self.values(metric))))


def mean_of(metric: Metric) -> Callable[[SettingRow], Estimate | None]:
    """Return the value of a column that shows the mean of a metric."""
    return lambda row: row.mean(metric)


def setting_column(name: str = "Setting") -> Column:
    """Return the column that names settings and orders of seats."""
    return Column(name, value=lambda row: row.task)


def count_column() -> Column:
    """Return the column that counts episodes."""
    return Column("episodes", "number", value=lambda row: len(row.records))


class EpisodeSuite(Suite):
    """Episodes of one game.

    Attributes:
        metrics: Metrics of the default table; the first one is the score in comparisons.
        set_elsewhere: Options of the environment that are chosen in another way, and how.
        columns: Columns of the table; ``Column.value`` takes a ``SettingRow``.
        data_columns: Columns of files behind title and setting, with the same ``value``.
        table_title: Heading of the table.
        listed: What ``list`` shows: plural -> names and descriptions.
        leaderboard_notes: Sentences that belong under the leaderboard.
        row_class: Class of the table's rows.
        plan_class: Class of its plans.
    """

    suite_options: ClassVar[type] = EpisodeOptions
    metrics: ClassVar[tuple[str, ...]] = ("return", "steps")
    set_elsewhere: ClassVar[Mapping[str, str]] = {}
    columns: ClassVar[tuple[Column, ...]] = ()
    data_columns: ClassVar[tuple[Column, ...]] = ()
    table_title: ClassVar[str] = ""
    listed: ClassVar[Mapping[str, Listing]] = {}
    leaderboard_notes: ClassVar[tuple[str, ...]] = ()
    row_class: ClassVar[type[SettingRow]] = SettingRow
    plan_class: ClassVar[type[EpisodePlan]] = EpisodePlan

    @property
    def score_metric(self) -> str:
        """Metric of an episode that the leaderboard averages."""
        return self.metrics[0]

    def plan(
        self, team: Sequence[str], suite_options: Any, *, seed: int, options: Mapping[str, Any], limits: Limits
    ) -> Evaluation:
        """Plan the groups of a team."""
        options = self.env_options(suite_options, options)
        counts = {name: getattr(suite_options, name, None) for name in ("episodes", "runs")}
        counts = {name: parse_integer(name, count, 1) for name, count in counts.items() if count is not None}
        seed, groups = parse_integer("seed", seed, 0), tuple(self.groups(team, suite_options, options))
        return self.plan_class(suite=self.name, groups=groups, seed=seed, options=options, limits=limits, **counts)

    def env_options(self, suite_options: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of the environment that all groups have, checked by name.

        Args:
            suite_options: Options of the suite.
            options: Further options of the environment.
        """
        return check_env_options(self.env_id, options, self.set_elsewhere)

    def groups(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterable[JobGroup]:
        """Return what a team plays.

        Args:
            team: ``seat=policy`` words.
            suite_options: Options of the suite.
            options: Further options of the environment.

        Raises:
            ValueError: For anything that a user can get wrong in these.
        """
        game = load_checked(self.env_id, **options)
        yield JobGroup(env_id=self.env_id, env_kwargs=options, team=parse_seats(team, game.n_agents), task=self.name)

    def score(self, records: Sequence[Record], scoring: Any) -> list[Scorecard]:
        """Return a card for every team and variant; the means of metrics where the suite has no columns."""
        if not self.columns:
            return [metric_card(records, self.metrics)]
        return [self.card(group) for group in by_variant(records, specs_as_given)]

    def rows(self, records: Sequence[Record]) -> list[SettingRow]:
        """Return the settings of one team in one variant, in the order of the records."""
        names = setting_names(
            records, self.axes, lambda record: str(record["task"]).removesuffix(SWAPPED), self.shipped()
        )
        by_setting: dict[tuple[str, bool], list[Record]] = {}
        for name, record in zip(names, records, strict=True):
            by_setting.setdefault((name, record["task"].endswith(SWAPPED)), []).append(record)
        title = variant_of(records[0]).title
        return [self.row_class(title, name, group) for (name, _), group in by_setting.items()]

    def shipped(self) -> Sequence[str]:
        """Return the names of settings that come with the package."""
        return ()

    def card(self, records: Sequence[Record]) -> Scorecard:
        """Return what is shown of one team in one variant."""
        rows = self.rows(records)
        table = table_of(self.columns_of(rows), rows, self.table_title)
        data = table_of_mappings(map(self.line, rows), [column.name for column in self.data_columns])
        team, notes = self.team_text(rows), tuple(self.notes(rows))
        return Scorecard(self.name, rows[0].title, (table,), team, notes, data=data)

    def columns_of(self, rows: Sequence[Any]) -> Sequence[Column]:
        """Return the columns of a table of some rows."""
        return self.columns

    def team_text(self, rows: Sequence[Any]) -> str:
        """Return the team of a table's rows as it was written."""
        return team_text(specs_as_given(rows[0].records[0]))

    def line(self, row: Any) -> dict[str, Cell]:
        """Return the cells of a row in files."""
        cells = {column.name: column.value(row) for column in self.data_columns if column.value}
        return {"title": row.title, "setting": row.task, **row.seats, "episodes": len(row.records), **cells}

    def notes(self, rows: Sequence[Any]) -> Iterable[str]:
        """Return sentences that belong under the table."""
        return ()

    def setting_rows(self, records: Sequence[Record]) -> list[SettingRow]:
        """Return the settings of records that must be of one team in one variant.

        Raises:
            ValueError: If they are of several.
        """
        return self.rows(only(by_variant(records, specs_as_given)))

    def outcome(self, record: Record) -> str:
        """Say what the first metric came to."""
        return f"{self.metrics[0]} {measure(record, self.metrics)[self.metrics[0]]:g}"

    def benchmark(self, budget: str) -> Benchmark:
        """Return 5 or 50 episodes."""
        setting = Setting("episodes", {"episodes": 5 if budget == "small" else 50})
        return Benchmark(self.env_id, self.metrics[0], (setting,), setting, digits=2)

    def summary(self, records: Sequence[Record]) -> Summary:
        """Return the means of all metrics."""
        values = [measure(record, self.metrics) for record in records]
        means = {name: mean_ci([episode[name] for episode in values]) for name in self.metrics}
        return Summary(means[self.metrics[0]], {Column(name, "estimate", 2): mean for name, mean in means.items()})

    def remarks(self, benchmark: Benchmark) -> Sequence[str]:
        """Return the notes of the leaderboard."""
        return self.leaderboard_notes

    def listings(self) -> Mapping[str, Listing]:
        """Return what can be listed."""
        return self.listed


class OrderSuite(EpisodeSuite):
    """Series of episodes with orders and deadlines."""

    score_metric = "share"
    plan_class = SeriesPlan
    last_step: ClassVar[int] = 0  # Time that an order has left before the step in which it expires
    pace: ClassVar[str]  # Option of the environment that says how fast orders come

    def order_groups(
        self, team: Sequence[str], levels: Iterable[Any], agents: Iterable[int], paces: Sequence[Any], options: Any
    ) -> Iterator[JobGroup]:
        """Return levels at several paces for teams of several sizes."""
        names = {level: self.level_name(level) for level in levels}
        for count, specs in seats_by_size(team, agents).items():
            for level, name in names.items():
                for pace in paces:
                    yield JobGroup(
                        env_id=self.env_id,
                        env_kwargs={**options, "level": level, "agents": count, self.pace: pace},
                        team=specs,
                        task=self.task_name(name, count, pace),
                        level=self.level_number(name),
                    )

    @abstractmethod
    def level_name(self, level: str) -> str:
        """Return the name that a level's file says."""

    def level_number(self, name: str) -> int | None:
        """Return the number of a level of some name; None if it has none."""
        return None

    @abstractmethod
    def task_name(self, level: str, agents: int, pace: Any) -> str:
        """Return the task of a level's records."""

    def outcome(self, record: Record) -> str:
        tally = tally_record(record)
        return f"{tally.completed} completed, {tally.expired} failed"

    def make_logger(self) -> OrderLogger:
        return OrderLogger(self.last_step)


def load_checked(env_id: str, **options: Any) -> Any:
    """Return the game of some options."""
    shell, game_options = split_options(options)
    check_max_cycles(shell.get("max_cycles"))
    return registry.load_game(env_id, **game_options)
