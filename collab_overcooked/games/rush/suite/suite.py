"""The suite of Rush: scenarios in the words of a domain, with or without a teacher between the episodes.

One run is what the paper's numbers come from: all episodes of a scenario in turn, played by one team, which may learn
from each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar

from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.evaluation.benchmark import ComparisonBudget, Setting, Summary, only
from collab_overcooked.evaluation.suites import Listing, Suite, check_names, load_checked
from collab_overcooked.game_spec import NO_TEACHER, PLAIN
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind, NoOptions, check_yaml_path
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.options import option
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate, mean_of_groups
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import by_variant
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teaching import Teaching, join_specs, language_teacher, make_teaching
from collab_overcooked.runner.teams import MakePolicy, seats_by_size

from ..engine.spec import FOLDER, KEYS, load_scenario, scenarios
from ..options import DOMAINS, SCENARIOS
from ..text.episode_record import RushRecord
from ..text.text import scenario_text
from . import tables
from .scoring import AXES, Episode, rows_of, rush_variant, teacher_text

NAME = "rush"


def check_scenarios(sources: Sequence[str], options: NoOptions) -> DocumentFinding:
    """Prove the best results of the team and of a single agent, and check the claims of each file."""
    from ..engine.solvability import prove_solvability, report_text

    reports = [prove_solvability(load_scenario(source)) for source in sources]
    text = "\n\n".join(map(report_text, reports))
    return DocumentFinding(text, [report.to_dict() for report in reports], all(report.ok for report in reports))


SCENARIO = DocumentKind(
    "scenario",
    FOLDER,
    KEYS,
    check_scenarios,
    "Proves what the team and a single agent can reach, and the claims of the file.",
)


@dataclass(frozen=True, kw_only=True)
class ScenarioGenerator:
    """A scenario of a given optimum, or new episodes of a scenario, with a proof of its claims."""

    seed: int = option(0, "Random seed.")
    tightness: float | None = option(None, "From 0, plenty of everything, to 1, nothing to spare. Default: 1.")
    turns: int | None = option(
        None, "Turns for all orders: of one agent at tightness 0, else of the team. Default: 10."
    )
    episodes: int = option(3, "Episodes; later ones are the first with goods exchanged.")
    agents: int | None = option(None, "Agents. Default: 2.")
    workers: int | None = option(None, "Workers of each agent. Default: 2.")
    orders: int | None = option(None, "Orders of an episode. Default: 5.")
    max_turns: int | None = option(None, "Turns of an episode, if more than --turns; only with tightness 0.")
    like: str | None = option(None, "Scenario whose first episode to take instead of a new one.")

    def write(self, out: Path, command: str) -> DocumentFinding:
        from ..engine import generate
        from ..engine.solvability import prove_solvability, report_text

        check_yaml_path(out)
        names = ("tightness", "turns", "agents", "workers", "orders", "max_turns")
        values = {name: value for name, value in asdict(self).items() if name in names and value is not None}
        flags = {name: f"--{name.replace('_', '-')}" for name in values}
        arguments = [command, f"--seed {self.seed} --episodes {self.episodes}"]
        arguments += [f"{flags[name]} {value:g}" for name, value in values.items()]
        if self.like is not None:
            for name in values:
                raise ValueError(f"option {flags[name]} has no effect with --like: {self.like} defines it")
            arguments.append(f"--like {self.like}")
            values = generate.episodes_like(load_scenario(self.like), self.episodes, self.seed, out.stem)
        else:
            wished = generate.GeneratorConfig(episodes=self.episodes, **values)
            values = generate.generate_scenario(wished, self.seed, out.stem)
        report = prove_solvability(load_scenario(values))
        write_atomic(out, generate.scenario_text(values, " ".join(arguments)).encode())
        return DocumentFinding(report_text(report), report.to_dict(), report.ok)


class RushLogger:
    """Logs the scenario and orders of an episode, and the reset options that reproduce it."""

    def begin(self, env: ParallelEnv) -> None:
        scene = env.scene()
        self.env, self.max_turns = env, scene["turn"] + scene["turns_left"]

    def step(self, env: ParallelEnv) -> dict[str, Any]:
        return {}

    def end(self) -> dict[str, Any]:
        scene = self.env.scene()
        return {
            "scenario": scene["scenario"],
            "round": scene["episode"],
            "max_turns": self.max_turns,
            "orders": scene["orders"],
            "options": {"episode": scene["episode"]},
        }


def task_name(scenario: str, domain: str, agents: int, teacher: str) -> str:
    """Return the task name of records, for example ``"hard, alien, 2 agents, teacher_group"``."""
    taught = "" if teacher == NO_TEACHER else f", {teacher}"
    return f"{scenario}, {domain}, {plural(agents, 'agent')}{taught}"


@dataclass(frozen=True, kw_only=True)
class ScenarioMatch(Match):
    """All episodes of a scenario, in turn."""

    teacher: str  # Who speaks between the episodes, see ``make_teaching``

    def run(self, make: MakePolicy | None = None, actions: Sequence[Sequence[int]] | None = None) -> list[Any]:
        return [record.replace(teacher=self.teacher) for record in super().run(make, actions)]

    def teachers(self) -> list[str]:
        spec = language_teacher(self.teacher)
        return [] if spec is None else [spec]

    def teaching(self, make: MakePolicy) -> Teaching:
        return make_teaching(self.teacher, make)


def _sizes(scenario: str, agents: Sequence[int] | None) -> tuple[int, ...]:
    if scenario not in scenarios() and not scenario.endswith((".yaml", ".yml")):
        raise ValueError(near_matches("scenario", scenario, scenarios()))
    return tuple(dict.fromkeys(agents)) if agents else (load_scenario(scenario).agents,)


def _setting(scenario: str, domain: str) -> Setting:
    return Setting(f"{scenario}, {domain}", {"scenario": [scenario], "domain": [domain]}, {"scenario": scenario})


class RushSuite(Suite):
    """Consecutive episodes of scenarios in several languages: group and individual metrics."""

    score_metric = "completed"
    axes = AXES
    record_class = RushRecord
    delivered = "completed"
    repeats = "runs"
    set_elsewhere: ClassVar = {
        "scenario": "--scenario",
        "agents": "--agents",
        "lexicon": "--domain",
        "episode": "the suite; a run plays the episodes in turn",
    }
    logger_class = RushLogger
    decisive: ClassVar = {".* finished": "{player} completed {order}.", ".* ruined": "{player} ruined {order}."}
    endings: ClassVar = {
        "success": "All orders were done after {turns} turns: {completed} completed, {ruined} ruined.",
        "": "No turn was left; orders: {completed} completed, {ruined} ruined.",
    }
    outcome_text = "{completed} completed, {ruined} ruined"
    title, measure = "Rush", "CR, completed recipes of an episode"
    budgets: ClassVar = {
        "small": ComparisonBudget([_setting(name, PLAIN) for name in SCENARIOS], {"runs": 5}, pairs_in=1),
        "full": ComparisonBudget(
            [_setting(*names) for names in product(SCENARIOS, DOMAINS)], {"runs": 20}, pairs_in=len(DOMAINS)
        ),
    }
    benchmark_fields: ClassVar = {"digits": 2}
    leaderboard_notes = ("CR: recipes completed; RR: ruined; balance: 1 - |a - b| / (a + b) over both agents' A+.",)
    listed: ClassVar = {
        "scenarios": Listing(
            lambda _: scenarios(),
            lambda name, _: load_scenario(name).description,
            lambda name, _: scenario_text(load_scenario(name)),
        )
    }

    def derived(self, record: Any) -> Mapping[str, Any]:
        options = record.env_kwargs
        domains = {env_id: domain for domain, env_id in DOMAINS.items()}
        if "scenario" not in options or record.task.count(", ") < 2:
            return {}
        domain = options.get("lexicon", domains.get(record.env_id, PLAIN))
        scenario, team = load_scenario(options["scenario"]).name, record.team.values()
        teacher = teacher_text(record.teacher, team)
        return {"scenario": scenario, "task": task_name(scenario, domain, len(team), teacher)}

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[Match]:
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
                    task = task_name(loaded.name, domain, size, teacher_text(teacher, specs[size]))
                    yield ScenarioMatch(
                        env_id=env_id,
                        env_kwargs=kwargs,
                        team=specs[size],
                        task=task,
                        teacher=teacher,
                        episodes=suite_options.episodes or len(loaded.episodes),
                    )

    def score(self, records: Sequence[Any], scoring: Any) -> list[Scorecard]:
        groups = by_variant(records, variant=rush_variant)
        return [tables.scorecard(NAME, group, scoring.attribution, scoring.losses) for group in groups]

    comparison_tables = staticmethod(tables.comparison_tables)

    def summary(self, records: Sequence[Any]) -> Summary:
        rows = rows_of({"": only(by_variant(records, variant=rush_variant))})

        def mean(value: Callable[[Episode], float]) -> Estimate | None:
            return mean_of_groups([[float(value(episode)) for episode in row.episodes] for row in rows])

        completed = mean_of_groups([row.means("completed") for row in rows])
        process = {Column("CR", "estimate", 2): completed}
        process[Column("RR", "estimate", 2)] = mean(itemgetter("ruined"))
        process[Column("turns", "estimate", 2)] = mean(itemgetter("turns"))
        process[Column("points", "estimate", 2)] = mean(lambda episode: episode["completed"] - episode["ruined"])
        if all(row.agents > 1 for row in rows):
            process[Column("balance", "estimate")] = mean(itemgetter("balance"))
        return Summary(completed, process)
