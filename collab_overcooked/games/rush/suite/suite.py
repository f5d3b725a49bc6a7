"""The suite of Rush: scenarios in the words of a domain, with or without a teacher between the episodes.

One run is what the paper's numbers come from: all episodes of a scenario in turn, played by one team, which may learn
from each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

from collab_overcooked.envs.lexicon import PLAIN
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.evaluation.benchmark import Benchmark, Setting, Summary, only
from collab_overcooked.evaluation.episode_suite import EpisodeSuite, load_checked
from collab_overcooked.evaluation.plans import JobGroup, SeriesPlan
from collab_overcooked.evaluation.suites import Record, check_names
from collab_overcooked.games.rush.engine.spec import load_scenario, scenarios
from collab_overcooked.games.rush.suite import sheet, tables
from collab_overcooked.games.rush.suite.scoring import AXES, RECORD_FIELDS, RushScoring, score_record, score_records
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.io.options import option
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate, mean_of_groups
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Chart, Scorecard
from collab_overcooked.runner.jobs import Series
from collab_overcooked.runner.teaching import NONE, Teaching, join_specs, language_teacher, make_teaching
from collab_overcooked.runner.teams import MakePolicy, seats_by_size

NAME = "rush"
DOMAINS = {PLAIN: "KitchenRush-v0", "alien": "AlienRush-v0"}
SCENARIOS = ("easy", "hard")


class RushLogger:
    """Logs what an episode was and what became of its orders, and which reset brings it back."""

    def begin(self, env: ParallelEnv) -> None:
        """Note how many turns there are."""
        scene = env.scene()
        self.env, self.max_turns = env, scene["turn"] + scene["turns_left"]

    def step(self, env: ParallelEnv) -> dict[str, Any]:
        """Return nothing: events say all that happened."""
        return {}

    def end(self) -> dict[str, Any]:
        """Return scenario, number of its episode, turns, orders with their status, and the reset options."""
        scene = self.env.scene()
        return {
            "scenario": scene["scenario"],
            "round": scene["episode"],
            "max_turns": self.max_turns,
            "orders": scene["orders"],
            "options": {"episode": scene["episode"]},
        }


def task_name(scenario: str, domain: str, agents: int, teacher: str) -> str:
    """Return what a record's episode is called, for example ``"hard, alien, 2 agents, teacher_group"``."""
    taught = "" if teacher == NONE else f", {teacher}"
    return f"{scenario}, {domain}, {plural(agents, 'agent')}{taught}"


@dataclass(frozen=True, kw_only=True)
class ScenarioRun(Series):
    """All episodes of a scenario, in turn."""

    teacher: str  # Who speaks between the episodes, see ``make_teaching``

    def run(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        return [record | {"teacher": self.teacher} for record in super().run(make)]

    def teachers(self) -> list[str]:
        spec = language_teacher(self.teacher)
        return [] if spec is None else [spec]

    def teaching(self, make: MakePolicy) -> Teaching:
        return make_teaching(self.teacher, make)


class RushPlan(SeriesPlan):
    """Runs of scenarios."""

    job = ScenarioRun


@dataclass(frozen=True, kw_only=True)
class ScenarioOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    domain: tuple[str, ...] = option(tuple(DOMAINS), "Languages: kitchen, alien, or lexicon files.")
    scenario: tuple[str, ...] = option(SCENARIOS, "Scenarios: built-in names or YAML files.")
    teacher: tuple[str, ...] = option(
        (NONE,),
        "Between episodes: none, teacher_group[:llm:MODEL[?...]], teacher_individual[...], or several with commas.",
    )
    agents: tuple[int, ...] | None = option(None, "Numbers of agents. Default: that of each scenario.")
    runs: int = option(1, "Runs of each setting, with seeds from --seed on.")
    episodes: int | None = option(None, "Episodes of each run. Default: all of the scenario.")


def _sizes(scenario: str, agents: Sequence[int] | None) -> tuple[int, ...]:
    if scenario not in scenarios() and not scenario.endswith((".yaml", ".yml")):
        raise ValueError(near_matches("scenario", scenario, scenarios()))
    return tuple(dict.fromkeys(agents)) if agents else (load_scenario(scenario).agents,)


class RushSuite(EpisodeSuite):
    """Consecutive episodes of scenarios in several languages: group and individual metrics."""

    suite_options = ScenarioOptions
    scoring_options = RushScoring
    score_metric = "completed"
    axes = AXES
    record_fields = RECORD_FIELDS
    plan_class = RushPlan
    set_elsewhere: ClassVar = {
        "scenario": "--scenario",
        "agents": "--agents",
        "lexicon": "--domain",
        "episode": "the suite; a run plays the episodes in turn",
    }
    leaderboard_notes = ("CR: recipes completed; RR: ruined; balance: 1 - |a - b| / (a + b) over both agents' A+.",)
    listed: ClassVar = {"scenarios": lambda _: [(name, load_scenario(name).description) for name in scenarios()]}

    def derived(self, record: Record) -> Mapping[str, Any]:
        options, domains = record["env_kwargs"], {env_id: domain for domain, env_id in DOMAINS.items()}
        if "scenario" not in options or record["task"].count(", ") < 2:
            return {}
        domain = options.get("lexicon", domains.get(record["env_id"], PLAIN))
        scenario, agents = load_scenario(options["scenario"]).name, len(record["team"])
        return {"scenario": scenario, "task": task_name(scenario, domain, agents, record.get("teacher", NONE))}

    def groups(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[JobGroup]:
        lists = {
            "scenario": suite_options.scenario,
            "domain": suite_options.domain,
            "teacher": join_specs(suite_options.teacher),
        }
        lists = {name: tuple(dict.fromkeys(values)) for name, values in lists.items()}
        for name, values in lists.items():
            if not values:
                raise ValueError(f"{name} must name at least one")
        for teacher in lists["teacher"]:
            make_teaching(teacher)  # rejects unknown teachers
        agents = (
            None
            if suite_options.agents is None
            else [parse_integer("agents", size, 1) for size in suite_options.agents]
        )
        sizes = {scenario: _sizes(scenario, agents) for scenario in lists["scenario"]}
        check_names("scenario", lists["scenario"], lambda scenario: load_scenario(scenario).name)
        specs = seats_by_size(team, dict.fromkeys(size for numbers in sizes.values() for size in numbers))
        for scenario, domain in product(lists["scenario"], lists["domain"]):
            loaded, env_id = load_scenario(scenario), DOMAINS.get(domain, DOMAINS[PLAIN])
            for size in sizes[scenario]:
                kwargs = {**options, "scenario": scenario, "agents": size}
                kwargs |= {} if domain in DOMAINS else {"lexicon": domain}
                load_checked(env_id, **kwargs)  # rejects bad values, and lexicons without the scenario's terms
                for teacher in lists["teacher"]:
                    task = task_name(loaded.name, domain, size, teacher)
                    fields = {"teacher": teacher, "episodes": suite_options.episodes or len(loaded.episodes)}
                    yield JobGroup(env_id=env_id, env_kwargs=kwargs, team=specs[size], task=task, fields=fields)

    def score(self, records: Sequence[Record], scoring: Any) -> list[Scorecard]:
        return [tables.scorecard(NAME, result) for result in score_records(records, scoring.attribution)]

    def sheet(self, played: Mapping[str, Sequence[Record]]) -> tuple[Sequence[ResultTable], Sequence[Chart]]:
        return sheet.sheet(played)

    def benchmark(self, budget: str) -> Benchmark:
        domains, runs = (("kitchen",), 5) if budget == "small" else (tuple(DOMAINS), 20)
        settings = tuple(
            Setting(
                f"{scenario}, {domain}",
                {"scenario": [scenario], "domain": [domain], "runs": runs},
                {"scenario": scenario},
            )
            for scenario in SCENARIOS
            for domain in domains
        )
        return Benchmark(
            "Rush", "CR, completed recipes of an episode", settings, settings[len(domains)], "runs", digits=2
        )

    def summary(self, records: Sequence[Record]) -> Summary:
        result = only(score_records(records))
        scores = [score for runs in result.runs.values() for run in runs for score in run]
        by_setting = [[score for run in runs for score in run] for runs in result.runs.values()]

        def mean(name: str) -> Estimate | None:
            return mean_of_groups([[getattr(score, name) for score in scores] for scores in by_setting])

        runs_of = [[sum(s.completed for s in run) / len(run) for run in runs] for runs in result.runs.values()]
        completed = mean_of_groups(runs_of)
        process = {Column("CR", "estimate", 2): completed}
        process |= {Column(head, "estimate", 2): mean(name) for head, name in (("RR", "ruined"), ("turns", "turns"))}
        points = [[score.completed - score.ruined for score in group] for group in by_setting]
        process[Column("points", "estimate", 2)] = mean_of_groups(points)
        if all(len(score.actions) > 1 for score in scores):
            process[Column("balance", "estimate")] = mean("balance")
        return Summary(completed, process)

    def outcome(self, record: Record) -> str:
        metrics = score_record(record)
        return f"{metrics['completed']} completed, {metrics['ruined']} ruined"

    def make_logger(self) -> RushLogger:
        return RushLogger()

    def fully_succeeded(self, record: Record) -> bool:
        return all(order["finished"] for order in record["orders"])

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
        from collab_overcooked.games.rush.text.text import scenario_text

        return scenario_text(load_scenario(name)) if name in scenarios() else None
