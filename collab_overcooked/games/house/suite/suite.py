"""The suites of the household games, in the papers' sizes: 10 tasks of Housework, 24 episodes of Transport."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.evaluation.benchmark import Benchmark, Reference, Setting, Summary
from collab_overcooked.evaluation.episode_suite import (
    EpisodeSuite,
    SettingRow,
    count_column,
    load_checked,
    mean_of,
    setting_column,
)
from collab_overcooked.evaluation.plans import JobGroup
from collab_overcooked.evaluation.suites import Record
from collab_overcooked.games.house.engine.config import LOADS, TASKS
from collab_overcooked.games.house.suite.scoring import (
    FRAMES,
    RECORD_FIELDS,
    published,
    rate_improvement,
    score_record,
    step_improvement,
)
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.io.options import option
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Column, ResultTable, table_of
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.teams import parse_seats, team_text

ELSEWHERE = "measured in other simulators"
ALONE = ", one agent"
TRAINED_ON = {"task": None}  # policies that were trained on one kind of task alone are left out of comparisons


def metric_columns(**scales: float) -> tuple[Column, ...]:
    """Return columns with the means of metrics by name, each with what it is multiplied by."""
    return tuple(Column(name, "estimate", 1, scale=scale, value=mean_of(name)) for name, scale in scales.items())


class GoalLogger:
    """Logs how many things the goal asks for, and which ones."""

    def begin(self, env: ParallelEnv) -> None:
        """Note the goal."""
        scene = env.scene()
        self.facts = {
            "family": scene["task"],
            "wanted": sum(goal["need"] for goal in scene["goals"]),
            "goal": {goal["name"]: goal["need"] for goal in scene["goals"]},
        }

    def step(self, env: ParallelEnv) -> dict[str, Any]:
        """Return nothing: events say all that happened."""
        return {}

    def end(self) -> dict[str, Any]:
        """Return the goal."""
        return self.facts


class HouseSuite(EpisodeSuite):
    """Episodes in generated homes; subclasses say which, and what counts.

    Attributes:
        set_elsewhere: Options of the suite that are options of the environment, too.
    """

    has_success = True
    record_fields = RECORD_FIELDS
    name: str  # Of the suite
    env_id: str  # Registered id
    measure: ClassVar[tuple[str, str]]  # Metric of the leaderboard, and its heading
    scale: ClassVar[float] = 1.0  # What the metric is multiplied by
    # Options of the suite by what the papers print a number for
    columns_of_papers: ClassVar[Mapping[str, Mapping[str, Any]]]
    budgets: ClassVar[Mapping[str, int]]  # Episodes of each task in comparisons
    trained: ClassVar[str]  # Configuration of the policy that comes with the package
    families: ClassVar[tuple[str, ...]]

    @property
    def score_metric(self) -> str:
        return self.measure[0]

    def variants(self, suite_options: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield name and environment options of each variant to play."""
        raise NotImplementedError

    def groups(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[JobGroup]:
        agents = parse_integer("agents", suite_options.agents, 1)
        for task in suite_options.tasks:
            if task not in self.families:
                raise ValueError(near_matches("task", task, self.families))
        variants = list(self.variants(suite_options))
        for _, variant in variants:
            load_checked(self.env_id, **{**options, "agents": agents, **variant})  # rejects bad option values
        specs = parse_seats(team, agents)
        for name, variant in variants:
            kwargs = {**options, "agents": agents, **variant}
            yield JobGroup(env_id=self.env_id, env_kwargs=kwargs, team=specs, task=name)

    def card(self, records: Sequence[Record]) -> Scorecard:
        rows = self.rows(records)
        team, overall = team_text(rows[0].team), SettingRow(rows[0].title, "all", records)
        table = table_of((setting_column("Task"), count_column(), *self.columns), [*rows, overall])
        papers = self._published() if variant_of(records[0]).changed.keys() <= {"agents"} else ()  # also for one agent
        return Scorecard(self.name, f"{overall.title}: {team}", (table, *papers), data=table)

    def _published(self) -> Sequence[ResultTable]:
        heads = (Column(f"Published ({ELSEWHERE})"), Column(self.measure[1], "number", 0))
        numbers = published()[self.name]
        return [ResultTable(heads, tuple((who, _overall(value)) for who, value in numbers.items()))]

    def outcome(self, record: Record) -> str:
        metrics = score_record(record)
        return f"{metrics['brought']} of {metrics['wanted']} in {metrics['ticks']}"

    def benchmark(self, budget: str) -> Benchmark:
        """Return settings of pairs and of single agents, as in the papers; by task if the paper has numbers by task."""
        episodes = self.budgets[budget]
        settings = [
            Setting(f"{tasks}{alone}", {"episodes": episodes, **({"agents": 1} if alone else {}), **kwargs}, TRAINED_ON)
            for alone in ("", ALONE)
            for tasks, kwargs in self.columns_of_papers.items()
        ]
        lower = self.scale == 1.0
        return Benchmark(
            self.env_id,
            self.measure[1],
            tuple(settings),
            settings[0],
            digits=1,
            scale=self.scale,
            lower_is_better=lower,
        )

    def summary(self, records: Sequence[Record]) -> Summary:
        row = SettingRow("", "all", records)
        process: dict[Column, Estimate | None] = {column: row.mean(column.name) for column in self.columns}
        process[Column("improvement over one agent %", "estimate", 1, scale=100.0)] = self._improvement(row)
        return Summary(row.mean(self.measure[0]), process)

    def _improvement(self, row: SettingRow) -> Estimate | None:
        values: dict[bool, dict[tuple[str, int], float]] = {True: {}, False: {}}
        for record, value in zip(row.records, row.values(self.measure[0]), strict=True):
            values[len(record["team"]) == 1][record["task"], record["seed"]] = float(value)
        pairs = [(one, values[False][key]) for key, one in values[True].items() if key in values[False]]
        if not pairs:
            return None
        single, team = zip(*pairs, strict=True)
        return (step_improvement if self.measure[0] == "ticks" else rate_improvement)(single, team)

    def references(self, benchmark: Benchmark) -> list[Reference]:
        kinds = {"RHP": "scripted", "MHP": "search", "MAT": "RL"}
        scores: dict[str, dict[str, Estimate | None]] = {}
        for name, value in published()[self.name].items():
            who = name.removesuffix(" alone").removesuffix(" pair")
            alone = ALONE if name.endswith(" alone") else ""
            values = value[:-1] if isinstance(value, list) else [value]
            for tasks, number in zip(self.columns_of_papers, values, strict=True):
                scores.setdefault(who, {})[f"{tasks}{alone}"] = Estimate(number / self.scale)
        return [
            Reference(f"{who} ({ELSEWHERE})", kinds.get(who, "language"), by_setting)
            for who, by_setting in scores.items()
        ]

    def reference_remarks(self, benchmark: Benchmark) -> list[str]:
        return [f"Published: {published()['source']}; {ELSEWHERE}, in homes that are not those of this package."]

    def training_references(self) -> dict[str, dict[str, Any]]:
        """Return the measure of the trained policy; no paper has published results of one."""
        return {self.trained: {"measure": "return"}}

    def make_logger(self) -> GoalLogger:
        return GoalLogger()


def _overall(value: Any) -> float:
    return float(value[-1] if isinstance(value, list) else value)


@dataclass(frozen=True, kw_only=True)
class HouseworkOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    tasks: tuple[str, ...] = option(TASKS, "Families of tasks.")
    episodes: int = option(2, "Episodes of each family; 2 as published.")
    agents: int = option(2, "Number of agents.")


class HouseworkSuite(HouseSuite):
    """Five families of tasks, two episodes each; steps until all is done, 250 at most."""

    suite_options = HouseworkOptions
    name, env_id, measure = "housework", "Housework-v0", ("ticks", "average steps")
    axes = ("task",)
    set_elsewhere: ClassVar = {"agents": "--agents", "task": "--tasks"}
    columns = metric_columns(ticks=1.0, success=100.0, rate=100.0, words=1.0, characters=1.0)
    columns_of_papers: ClassVar = {"all tasks": {}}
    budgets: ClassVar = {"small": 2, "full": 10}
    trained = "housework_set_table"
    families = TASKS

    def variants(self, suite_options: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        for task in suite_options.tasks:
            yield task, {"task": task}


@dataclass(frozen=True, kw_only=True)
class TransportOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    tasks: tuple[str, ...] = option(LOADS, "Food, stuff, or both.")
    rooms: tuple[int, ...] = option((8, 6), "Sizes of houses.")
    containers: tuple[int, ...] = option((5, 2), "Numbers of containers.")
    episodes: int = option(3, "Episodes of each setting; 3 as published.")
    agents: int = option(2, "Number of agents.")


class TransportSuite(HouseSuite):
    """Two sizes of houses, two numbers of containers, two tasks, three episodes each; the transport rate."""

    suite_options = TransportOptions
    name, env_id, measure, scale = "transport", "Transport-v0", ("rate", "transport rate, per cent"), 100.0
    axes = ("task", "rooms", "containers")
    set_elsewhere: ClassVar = HouseworkSuite.set_elsewhere | {"rooms": "--rooms", "containers": "--containers"}
    columns = metric_columns(
        rate=100.0, rate_500=100.0, rate_1000=100.0, rate_2000=100.0, ticks=1.0, words=1.0, characters=1.0
    )
    columns_of_papers: ClassVar = {task: {"tasks": (task,)} for task in reversed(LOADS)}
    budgets: ClassVar = {"small": 1, "full": 6}
    trained = "transport_small"
    families = LOADS

    def variants(self, suite_options: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        for task in suite_options.tasks:
            for rooms in suite_options.rooms:
                for containers in suite_options.containers:
                    yield (
                        f"{task}, {rooms} rooms, {containers} containers",
                        {"task": task, "rooms": rooms, "containers": containers},
                    )

    def _published(self) -> Sequence[ResultTable]:
        frames = (Column(f"{frame} frames, %", "number", 0) for frame in FRAMES)
        rows = tuple((who, *values) for who, values in published()["by_frame"].items())
        return [*super()._published(), ResultTable((Column(f"Published ({ELSEWHERE})"), *frames), rows)]
