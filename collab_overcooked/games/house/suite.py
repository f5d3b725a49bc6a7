"""The suites of the household games, in the papers' sizes: 10 tasks of Housework, 24 episodes of Transport."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any, ClassVar

from msgspec import field

from collab_overcooked.core.record import Event, Step, refusal_text
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.evaluation.benchmark import Benchmark, ComparisonBudget, Reference, Setting, Summary
from collab_overcooked.evaluation.suites import (
    EpisodeRecord,
    SettingRow,
    Suite,
    count_column,
    load_checked,
    mean_of,
    setting_column,
)
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.io.structs import Count, Name, Positive, Text
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.reporting.plan_trees import COSTS, EPISODE_COSTS, all_updates, mean_cost, mean_episode_cost
from collab_overcooked.reporting.result_table import Column, ResultTable, table_of
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import by_variant, step_limit, variant_of
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teams import parse_seats, specs_as_given, team_text

from .engine.config import LOADS, TASKS


class HouseEvent(Event, kw_only=True):
    """Event of an agent."""

    reason: Text
    ended: Text
    ticks: Count
    saw: Count
    delivered: Count
    spoken: Count = field(name="said")

    @property
    def is_refused(self) -> bool:
        return self.reason != "OK"

    @property
    def text(self) -> str:
        return refusal_text(self.label, self.reason)

    @property
    def change(self) -> int:
        """Effect on the team's result: 1 if things were brought to their place, 0 otherwise."""
        return int(self.delivered > 0)

    @property
    def is_over(self) -> bool:
        return self.ended != "running"


class HouseStep(Step, kw_only=True):
    """Step of a record."""

    events: Sequence[HouseEvent | None]


class HouseRecord(EpisodeRecord, kw_only=True):
    """Record of an episode: the family of the goal, how many things it wants, and how many of each."""

    steps: Sequence[HouseStep]
    family: Name
    goal_size: Positive = field(name="wanted")
    goal: dict[str, Positive]


FRAMES = (500, 1000, 2000, 3000)  # at which published transport rates are known


def score_record(record: HouseRecord) -> dict[str, Any]:
    """Compute the metrics ``METRICS`` of one episode from its record."""
    steps, wanted = record.steps, record.goal_size
    by_seat = [[step.events[seat] for step in steps] for seat in range(len(record.team))]
    own = [[event for event in events if event is not None] for events in by_seat]
    messages = [message.say for step in steps for message in step.messages if message.say]
    ticks = 0
    brought = 0
    by_frame = dict.fromkeys(FRAMES, 0)
    for step in steps:
        ticks += max((event.ticks for event in step.events if event is not None), default=0)
        brought += round(step.rewards[0])
        by_frame |= {frame: brought for frame in FRAMES if ticks <= frame}
    return {
        "ticks": ticks,
        "wanted": wanted,
        "brought": brought,
        "rate": brought / wanted,
        **{f"rate_{frame}": count / wanted for frame, count in by_frame.items()},
        "words": len(messages),
        "characters": sum(map(len, messages)),
        "talk_ticks": sum(event.spoken for events in own for event in events),
        "delivered": [sum(event.delivered for event in events) for events in own],
        "failures": [sum(event.ended == "failed" for event in events) for events in own],
    }


METRICS = MetricSet(
    (
        Metric("ticks", "Steps of Housework, frames of Transport.", "ticks", "lower"),
        Metric("wanted", "Things needed for the goal.", "things"),
        Metric("brought", "Needed things brought to the goal place.", "things", "higher"),
        Metric("rate", "Transport rate: brought things divided by needed things.", better="higher"),
        *(Metric(f"rate_{frame}", f"Transport rate after {frame} ticks.", better="higher") for frame in FRAMES),
        Metric("words", "Messages with text.", "messages"),
        Metric("characters", "Characters of all messages.", "characters"),
        Metric("talk_ticks", "Actions spent on messages.", "actions", "lower"),
        Metric("delivered", "Needed things that each agent put down at the goal place.", "things", "higher"),
        Metric("failures", "Failed actions of each agent.", "actions", "lower"),
    ),
    score_record,
    outcome=lambda record: record.metrics["rate"],
)


def housework_outcome(record: HouseRecord) -> float:
    """Return half the share brought plus half the share of time left, as even random agents bring nearly everything."""
    metrics, limit = record.metrics, step_limit(record.env_id, record.env_kwargs)
    left = 1 - metrics["ticks"] / limit if limit and metrics["rate"] == 1 else 0.0
    return float(metrics["rate"] + left) / 2


HOUSEWORK_METRICS = replace(METRICS, outcome=housework_outcome)


def efficiency_improvement(single: Sequence[float], team: Sequence[float], *, lower_is_better: bool) -> Estimate | None:
    """Return the efficiency improvement of CoELA, the mean over tasks.

    Args:
        single: Scores of one agent by task: steps (C-WAH), which are better if lower, or rates (TDW-MAT).
        team: Scores of a team in the same tasks.
        lower_is_better: Whether the scores are steps.

    Returns:
        The mean of (single - team) / single for steps, and of (team - single) / team for rates.
    """
    pairs = zip(single, team, strict=True) if lower_is_better else zip(team, single, strict=True)
    return mean_ci([(larger - smaller) / larger for larger, smaller in pairs if larger > 0])


@cache
def published() -> Mapping[str, Any]:
    """Read the published numbers by suite; they were measured in the original simulators."""
    return read_shipped_yaml("games/house/published.yaml")


ELSEWHERE = "measured in other simulators"
NOT_HERE = "MAT, an agent trained by reinforcement learning, is not implemented here; its published row stands alone."
ALONE = ", one agent"
GAIN = Column("improvement over one agent %", "estimate", 1, scale=100.0)
TRAINED_ON = {"task": None}  # policies that were trained on one kind of task alone are left out of comparisons


def improvement(row: SettingRow, metric: str, *, lower_is_better: bool) -> Estimate | None:
    """Return the improvement of a metric by teams over one agent, in the tasks and seeds that both played."""
    values: dict[bool, dict[tuple[str, int], float]] = {True: {}, False: {}}
    for record, value in zip(row.records, row.values(metric), strict=True):
        values[len(record.team) == 1][record.task, record.seed] = float(value)
    alone, joint = values[True], values[False]
    shared = [key for key in alone if key in joint]
    single, team = [alone[key] for key in shared], [joint[key] for key in shared]
    return efficiency_improvement(single, team, lower_is_better=lower_is_better)


def cost_columns() -> Iterator[Column]:
    """Yield the columns of the costs of plans, which have no value without plans."""
    for cost in EPISODE_COSTS:
        yield Column(f"{cost} per episode", "estimate", 1, value=partial(_episode_cost, cost))
    for cost in COSTS:
        yield Column(f"{cost} per plan update", "estimate", 1, value=partial(_update_cost, cost))


def _episode_cost(cost: str, row: SettingRow) -> Estimate | None:
    return mean_episode_cost(row.records, cost)


def _update_cost(cost: str, row: SettingRow) -> Estimate | None:
    return mean_cost([update for record in row.records for update in all_updates(record)], cost)


class GoalLogger:
    """Logs how many things the goal asks for, and which ones."""

    def begin(self, env: ParallelEnv) -> None:
        scene = env.scene()
        self.goal_fields = {
            "family": scene["task"],
            "goal_size": sum(goal["need"] for goal in scene["goals"]),
            "goal": {goal["name"]: goal["need"] for goal in scene["goals"]},
        }

    def step(self, env: ParallelEnv) -> dict[str, Any]:
        return {}

    def end(self) -> dict[str, Any]:
        return self.goal_fields


class HouseSuite(Suite):
    """Base suite of episodes in generated homes; subclasses define homes and metrics."""

    delivered = "brought"
    has_success = True
    record_class = HouseRecord
    logger_class = GoalLogger
    decisive: ClassVar = {"delivered .*": "{player} brought something to its place."}
    endings: ClassVar = {
        "success": "Everything was delivered: {wanted} things in {ticks} units of time.",
        "": "The time was over after {ticks}; delivered: {brought} of {wanted} things.",
    }
    outcome_text = "{brought} of {wanted} in {ticks}"
    varied: ClassVar[Mapping[str, str]]  # Option of the environment -> of the suite; families first
    families: ClassVar[tuple[str, ...]]
    scales: ClassVar[Mapping[str, float]]  # Metrics of tables, and their factors
    # Options of the suite by what the papers print a number for
    columns_of_papers: ClassVar[Mapping[str, Mapping[str, Any]]]
    episodes: ClassVar[Mapping[str, int]]  # Of each task in comparisons, by budget

    def __init_subclass__(cls) -> None:
        """Make columns and budgets: as in the papers, settings of pairs and of single agents."""
        scale = cls.scales[str(cls.score_metric)]
        settings = [
            Setting(tasks + alone, {"agents": 1, **options} if alone else options, TRAINED_ON)
            for alone in ("", ALONE)
            for tasks, options in cls.columns_of_papers.items()
        ]
        means = (Column(name, "estimate", 1, scale=of, value=mean_of(name)) for name, of in cls.scales.items())
        cls.columns = (*means, *cost_columns())
        cls.budgets = {
            budget: ComparisonBudget(settings, {"episodes": count}) for budget, count in cls.episodes.items()
        }
        cls.benchmark_fields = {"digits": 1, "scale": scale, "lower_is_better": scale == 1.0}

    def variants(self, suite_options: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        for task, *sizes in product(*(getattr(suite_options, name) for name in self.varied.values())):
            options = dict(zip(self.varied, (task, *sizes), strict=True))
            yield ", ".join([task, *(f"{size} {name}" for name, size in options.items() if name != "task")]), options

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[Match]:
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
            yield Match(env_id=self.env_id, env_kwargs=kwargs, team=specs, task=name)

    def score(self, records: Sequence[Any], scoring: Any) -> list[Scorecard]:
        return [self._team_card(group) for group in by_variant(records, specs_as_given)]

    def _team_card(self, records: Sequence[Any]) -> Scorecard:
        rows = self.rows(records)
        team, overall = team_text(rows[0].team), SettingRow(rows[0].title, "all", records)
        totals = [*_family_rows(rows, records), overall]
        marks = {len(rows) + k: "summary" for k in range(len(totals) - 1)}
        table = table_of((setting_column("Task"), count_column(), *self.columns), [*rows, *totals], marks=marks)
        papers = self._published() if variant_of(records[0]).changed.keys() <= {"agents"} else ()  # also for one agent
        notes = [NOT_HERE] if papers and "MAT" in published()[self.name] else []
        return Scorecard(self.name, f"{overall.title}: {team}", (table, *papers), notes=tuple(notes), data=table)

    def _published(self) -> Sequence[ResultTable]:
        numbers = {who: _floats(value) for who, value in published()[self.name].items()}
        parts = [f"{self.measure}, {tasks}" for tasks in self.columns_of_papers]
        heads = [*parts, self.measure] if len(parts) > 1 else [self.measure]
        tables = [_printed_table(f"Published ({ELSEWHERE})", heads, numbers)]
        for name, title in (("ablations", "CoTS GPT-4"), ("plan_update", "cost of a plan update")):
            if printed := published()[name].get(self.name, {}):
                columns = dict.fromkeys(column for values in printed.values() for column in values)
                rows = {who: [*values.values()] for who, values in printed.items()}
                tables.append(_printed_table(f"Published: {title}", columns, rows, digits=1))
        return tables

    def summary(self, records: Sequence[Any]) -> Summary:
        row = SettingRow("", "all", records)
        process: dict[Column, Any] = {column: column.value(row) for column in self.columns if column.value}
        process[GAIN] = improvement(row, self.score_metric, lower_is_better=self.lower_is_better)
        return Summary(row.mean(self.score_metric), process)

    def references(self, benchmark: Benchmark) -> list[Reference]:
        kinds = {"RHP": "scripted", "MHP": "search", "MAT": "RL"}
        scores: dict[str, dict[str, Estimate | None]] = {}
        for name, value in published()[self.name].items():
            who = name.removesuffix(" alone").removesuffix(" pair")
            alone = ALONE if name.endswith(" alone") else ""
            for tasks, number in zip(self.columns_of_papers, _floats(value), strict=False):  # their mean comes last
                scores.setdefault(who, {})[f"{tasks}{alone}"] = Estimate(number / self.scales[self.score_metric])
        return [
            Reference(f"{who} ({ELSEWHERE})", kinds.get(who, "language"), by_setting)
            for who, by_setting in scores.items()
        ]

    def reference_remarks(self, benchmark: Benchmark) -> list[str]:
        return [f"Published: {published()['source']}; {ELSEWHERE}, in homes that are not those of this package."]


def _floats(value: float | Sequence[float]) -> list[float]:
    return [float(value)] if isinstance(value, (int, float)) else [*map(float, value)]


def _printed_table(
    title: str, heads: Iterable[str], rows: Mapping[str, Sequence[float]], digits: int = 0
) -> ResultTable:
    columns = (Column(title), *(Column(head, "number", digits) for head in heads))
    return ResultTable(columns, tuple((who, *values) for who, values in rows.items()))


def _family_rows(rows: Sequence[SettingRow], records: Sequence[Any]) -> list[SettingRow]:
    """Return a row per family of tasks; none if every setting is its own family or there is one family."""
    families: dict[str, list[Any]] = {}
    for record in records:
        families.setdefault(record.family, []).append(record)
    if len(families) in (1, len(rows)):
        return []
    return [SettingRow(rows[0].title, f"all {family}", members) for family, members in families.items()]


class HouseworkSuite(HouseSuite):
    """Five families of tasks, two episodes each; steps until all is done, 250 at most."""

    axes = ("task",)
    set_elsewhere: ClassVar = {"agents": "--agents", "task": "--tasks"}
    varied: ClassVar = {"task": "tasks"}
    families = TASKS
    score_metric, measure = "ticks", "average steps"
    scales: ClassVar = {"ticks": 1.0, "success": 100.0, "rate": 100.0, "words": 1.0, "talk_ticks": 1.0}
    columns_of_papers: ClassVar = {"all tasks": {}}
    episodes: ClassVar = {"small": 2, "full": 10}
    trained = ("housework_set_table",)


class TransportSuite(HouseSuite):
    """Two sizes of houses, two numbers of containers, two tasks, three episodes each; the transport rate."""

    axes = ("task", "rooms", "containers")
    set_elsewhere: ClassVar = HouseworkSuite.set_elsewhere | {"rooms": "--rooms", "containers": "--containers"}
    varied: ClassVar = {"task": "tasks", "rooms": "rooms", "containers": "containers"}
    families = LOADS
    score_metric, measure = "rate", "transport rate, per cent"
    scales: ClassVar = {
        **dict.fromkeys(("rate", "rate_500", "rate_1000", "rate_2000"), 100.0),
        **dict.fromkeys(("ticks", "words", "talk_ticks"), 1.0),
    }
    columns_of_papers: ClassVar = {task: {"tasks": (task,)} for task in reversed(LOADS)}
    episodes: ClassVar = {"small": 1, "full": 6}
    trained = ("transport_small",)

    def _published(self) -> Sequence[ResultTable]:
        frames = [f"{frame} frames, %" for frame in FRAMES]
        return [*super()._published(), _printed_table(f"Published ({ELSEWHERE})", frames, published()["by_frame"])]
