"""The suites of the household games, in the papers' sizes: 10 tasks of Housework, 24 episodes of Transport."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.evaluation.benchmark import Benchmark, Reference, Setting, Summary
from collab_overcooked.evaluation.suites import Record, Suite, check_env_options
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
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import by_variant, setting_names, variant_of
from collab_overcooked.runner.episode import Limits, episode_seed
from collab_overcooked.runner.jobs import EpisodeJob, Evaluation
from collab_overcooked.runner.teams import parse_seats, team_words

ELSEWHERE = "measured in other simulators"
ALONE = ", one agent"
TRAINED_ON = {"task": None}  # policies that were trained on one kind of task alone are left out of comparisons


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


@dataclass(frozen=True, kw_only=True)
class HousePlan(Evaluation):
    """Episodes of all variants.

    Attributes:
        env_id: Registered id.
        team: Policy texts in seat order.
        variants: Name and options of the game of each.
        episodes: Episodes of each.
    """

    env_id: str
    team: tuple[str, ...]
    variants: tuple[tuple[str, Mapping[str, Any]], ...]
    episodes: int

    def make_jobs(self) -> list[EpisodeJob]:
        """Return all episodes in the order of the record file."""
        return [
            EpisodeJob(
                env_id=self.env_id,
                env_kwargs={**self.options, "agents": len(self.team), **own},
                team=self.team,
                task=name,
                episode=episode,
                seed=episode_seed(self.seed, name, episode),
                limits=self.limits,
            )
            for name, own in self.variants
            for episode in range(self.episodes)
        ]


class HouseSuite(Suite):
    """Episodes in generated homes; subclasses say which, and what counts.

    Attributes:
        name: Of the suite.
        env_id: Registered id.
        measure: Metric of the leaderboard, and its heading.
        scale: What the metric is multiplied by.
        columns: Further metrics with their scale.
        columns_of_papers: Options of the suite by what the papers print a number for.
        budgets: Episodes of each task in comparisons.
        trained: Configuration of the policy that comes with the package.
    """

    has_success = True
    record_fields = RECORD_FIELDS
    name: str
    env_id: str
    measure: ClassVar[tuple[str, str]]
    scale: ClassVar[float] = 1.0
    columns: ClassVar[Mapping[str, float]]
    columns_of_papers: ClassVar[Mapping[str, Mapping[str, Any]]]
    budgets: ClassVar[Mapping[str, int]]
    trained: ClassVar[str]
    families: ClassVar[tuple[str, ...]]

    def variants(self, own: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Return name and options of what is played."""
        raise NotImplementedError

    def plan(
        self, team: Sequence[str], suite_options: Any, *, seed: int, options: Mapping[str, Any], limits: Limits
    ) -> HousePlan:
        """Plan episodes; the number of agents is that of the team."""
        fixed = {name: f"--{name}" for name, _ in self._fixed()} | {"task": "--tasks"}
        own = check_env_options(self.env_id, options, fixed)
        agents = parse_integer("agents", suite_options.agents, 1)
        for task in suite_options.tasks:
            if task not in self.families:
                raise ValueError(near_matches("task", task, self.families))
        variants = tuple(self.variants(suite_options))
        for _, variant in variants:
            registry.load_game(self.env_id, **{**own, "agents": agents, **variant})  # refuses bad option values
        return HousePlan(
            suite=self.name,
            env_id=self.env_id,
            team=parse_seats(team, agents),
            variants=variants,
            episodes=parse_integer("episodes", suite_options.episodes, 1),
            seed=parse_integer("seed", seed, 0),
            options=own,
            limits=limits,
        )

    def _fixed(self) -> tuple[tuple[str, Any], ...]:
        return (("agents", 2),)

    def score(self, records: Sequence[Record], scoring: Any) -> list[Scorecard]:
        """Return a table for each team and variant: every kind of task, and all of them."""
        return [self._card(own) for own in by_variant(records)]

    def _card(self, records: Sequence[Record]) -> Scorecard:
        variant, team = variant_of(records[0]), team_words(records[0]["team"].values())
        names = setting_names(records, self.axes, lambda record: str(record["task"]))
        by_task: dict[str, list[dict[str, Any]]] = {}
        for name, record in zip(names, records, strict=True):
            values = score_record(record) | {"success": float(record["success"])}
            by_task.setdefault(name, []).append(values)
        everything = [values for own in by_task.values() for values in own]
        rows = [(task, len(own), *self._means(own)) for task, own in by_task.items()]
        rows.append(("all", len(everything), *self._means(everything)))
        heads = [Column("Task"), Column("episodes", "number")]
        heads += [Column(name, "estimate", 1, scale=scale) for name, scale in self.columns.items()]
        table = ResultTable(tuple(heads), tuple(rows))
        theirs = self._published() if variant.changed.keys() <= {"agents"} else ()  # they print single agents, too
        return Scorecard(self.name, f"{variant.title}: {team}", (table, *theirs), data=table)

    def _means(self, values: Sequence[Mapping[str, Any]]) -> list[Estimate | None]:
        return [mean_ci([float(own[name]) for own in values]) for name in self.columns]

    def _published(self) -> Sequence[ResultTable]:
        """Return the papers' numbers."""
        heads = (Column(f"Published ({ELSEWHERE})"), Column(self.measure[1], "number", 0))
        numbers = published()[self.name]
        return [ResultTable(heads, tuple((who, _overall(value)) for who, value in numbers.items()))]

    def outcome(self, record: Record) -> str:
        """Say how much was brought in what time."""
        own = score_record(record)
        return f"{own['brought']} of {own['wanted']} in {own['ticks']}"

    def benchmark(self, budget: str) -> Benchmark:
        """Return pairs, and agents alone as papers have them beside pairs; task by task where papers do."""
        episodes = self.budgets[budget]
        settings = [
            Setting(f"{tasks}{alone}", {"episodes": episodes, **({"agents": 1} if alone else {}), **own}, TRAINED_ON)
            for alone in ("", ALONE)
            for tasks, own in self.columns_of_papers.items()
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
        """Return the means of all columns, and the improvement over one agent alone where both have played."""
        values = [score_record(record) | {"success": float(record["success"])} for record in records]
        means = dict(zip(self.columns, self._means(values), strict=True))
        process = {Column(name, "estimate", 1, scale=scale): means[name] for name, scale in self.columns.items()}
        process[Column("improvement over one agent %", "estimate", 1, scale=100.0)] = self._improvement(records, values)
        return Summary(means[self.measure[0]], process)

    def _improvement(self, records: Sequence[Record], values: Sequence[Mapping[str, Any]]) -> Estimate | None:
        """Return the papers' efficiency improvement, over the homes that one agent and a team have both played."""
        found: dict[bool, dict[tuple[str, int], float]] = {True: {}, False: {}}
        for record, own in zip(records, values, strict=True):
            found[len(record["team"]) == 1][record["task"], record["seed"]] = float(own[self.measure[0]])
        pairs = [(one, found[False][key]) for key, one in found[True].items() if key in found[False]]
        if not pairs:
            return None
        single, team = zip(*pairs, strict=True)
        return (step_improvement if self.measure[0] == "ticks" else rate_improvement)(single, team)

    def references(self, benchmark: Benchmark) -> list[Reference]:
        """Return the papers' numbers; those of agents alone stand in the settings of such."""
        kinds = {"RHP": "scripted", "MHP": "search", "MAT": "RL"}
        scores: dict[str, dict[str, Estimate | None]] = {}
        for words, value in published()[self.name].items():
            who = words.removesuffix(" alone").removesuffix(" pair")
            alone = ALONE if words.endswith(" alone") else ""
            values = value[:-1] if isinstance(value, list) else [value]
            for tasks, number in zip(self.columns_of_papers, values, strict=True):
                scores.setdefault(who, {})[f"{tasks}{alone}"] = Estimate(number / self.scale)
        return [Reference(f"{who} ({ELSEWHERE})", kinds.get(who, "language"), own) for who, own in scores.items()]

    def reference_remarks(self, benchmark: Benchmark) -> list[str]:
        """Say whose numbers stand there."""
        return [f"Published: {published()['source']}; {ELSEWHERE}, in homes that are not those of this package."]

    def training_references(self) -> dict[str, dict[str, Any]]:
        """Say what the trained policy is measured by; nobody has published any."""
        return {self.trained: {"measure": "return"}}

    def make_logger(self) -> GoalLogger:
        """Return a new logger of the goal."""
        return GoalLogger()


def _overall(value: Any) -> float:
    """Return the average that is printed behind the numbers of single tasks; it is not always their mean, rounded."""
    return float(value[-1] if isinstance(value, list) else value)


@dataclass(frozen=True, kw_only=True)
class HouseworkOptions:
    """What users can choose beyond team, seed and options of the environment."""

    tasks: tuple[str, ...] = option(TASKS, "Families of tasks.")
    episodes: int = option(2, "Episodes of each family; 2 as published.")
    agents: int = option(2, "Number of agents; 1 for one alone.")


class HouseworkSuite(HouseSuite):
    """Five families of tasks, two episodes each; steps until all is done, 250 at most."""

    suite_options = HouseworkOptions
    name, env_id, measure = "housework", "Housework-v0", ("ticks", "average steps")
    axes = ("task",)
    columns: ClassVar = {"ticks": 1.0, "success": 100.0, "rate": 100.0, "words": 1.0, "characters": 1.0}
    columns_of_papers: ClassVar = {"all tasks": {}}
    budgets: ClassVar = {"small": 2, "full": 10}
    trained = "housework_set_table"
    families = TASKS

    def variants(self, own: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Return the families."""
        for task in own.tasks:
            yield task, {"task": task}


@dataclass(frozen=True, kw_only=True)
class TransportOptions:
    """What users can choose beyond team, seed and options of the environment."""

    tasks: tuple[str, ...] = option(LOADS, "Food, stuff, or both.")
    rooms: tuple[int, ...] = option((8, 6), "Sizes of houses.")
    containers: tuple[int, ...] = option((5, 2), "Numbers of containers.")
    episodes: int = option(3, "Episodes of each; 3 as published.")
    agents: int = option(2, "Number of agents; 1 for one alone.")


class TransportSuite(HouseSuite):
    """Two sizes of houses, two numbers of containers, two tasks, three episodes each; the transport rate."""

    suite_options = TransportOptions
    name, env_id, measure, scale = "transport", "Transport-v0", ("rate", "transport rate, per cent"), 100.0
    axes = ("task", "rooms", "containers")
    columns: ClassVar = {
        "rate": 100.0,
        **{f"rate_{frame}": 100.0 for frame in (500, 1000, 2000)},
        "ticks": 1.0,
        "words": 1.0,
        "characters": 1.0,
    }
    columns_of_papers: ClassVar = {task: {"tasks": (task,)} for task in reversed(LOADS)}
    budgets: ClassVar = {"small": 1, "full": 6}
    trained = "transport_small"
    families = LOADS

    def _fixed(self) -> tuple[tuple[str, Any], ...]:
        return (("agents", 2), ("rooms", 6), ("containers", 5))

    def variants(self, own: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Return tasks in houses of all sizes with few and many containers."""
        for task in own.tasks:
            for rooms in own.rooms:
                for containers in own.containers:
                    yield (
                        f"{task}, {rooms} rooms, {containers} containers",
                        {"task": task, "rooms": rooms, "containers": containers},
                    )

    def _published(self) -> Sequence[ResultTable]:
        """Return the papers' numbers, and those by frame."""
        frames = (Column(f"{frame} frames, %", "number", 0) for frame in FRAMES)
        rows = tuple((who, *values) for who, values in published()["by_frame"].items())
        return [*super()._published(), ResultTable((Column(f"Published ({ELSEWHERE})"), *frames), rows)]
