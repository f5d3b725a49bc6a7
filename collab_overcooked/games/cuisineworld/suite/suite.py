"""The suite of CuisineWorld: levels, numbers of agents and paces of orders; collaboration scores; published numbers.

A run is defined as in the paper: three episodes of 60 steps in one world whose order generator is seeded once and
continues from episode to episode. Seed 0 gives the order sequences of the published tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from collab_overcooked.evaluation.benchmark import Benchmark, Reference, Setting, Summary, only
from collab_overcooked.evaluation.episode_suite import OrderSuite, load_checked
from collab_overcooked.evaluation.plans import JobGroup
from collab_overcooked.evaluation.suites import Record, check_names
from collab_overcooked.games.cuisineworld.engine.spec import PAPER_ALPHAS, Level, levels, load_level
from collab_overcooked.games.cuisineworld.suite import tables
from collab_overcooked.games.cuisineworld.suite.scoring import (
    AXES,
    CUISINEWORLD,
    RECORD_FIELDS,
    OrderScoring,
    level_number,
    published,
    score_records,
)
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.io.options import NAMES, option
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.metrics.orders import cos, tally_record
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Chart, Scorecard

NAME = "cuisineworld"
PAPER_AGENTS = (2, 3, 4)
EPISODES = 3  # of one run


@dataclass(frozen=True, kw_only=True)
class OrderOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    levels: str | None = option(None, "Levels such as 0-4, easy or my.yaml. Default: the paper's.", metavar=NAMES)
    agents: tuple[int, ...] = option(PAPER_AGENTS, "Numbers of agents.")
    alphas: tuple[float, ...] = option(PAPER_ALPHAS, "Paces of orders; a larger one gives more time.")
    runs: int = option(1, "Runs of each setting, with order seeds from --seed on.")
    episodes: int = option(EPISODES, "Episodes of each run.")


def parse_level_names(text: str | None) -> tuple[str, ...]:
    """Read levels such as ``"all"``, ``"0-4,9"``, ``"level_3,level_12_fryer"``, ``"simple"`` or ``"my.yaml"``.

    ``all`` and None stand for the paper's twelve in the order of its tables, a class for its three.
    """
    classes = published().classes
    chosen: dict[str, None] = {}
    for part in (text or "all").split(","):
        word = part.strip()
        span = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if word == "all":
            names = [name for group in classes.values() for name in group]
        elif word in classes:
            names = list(classes[word])
        elif span:
            names = [f"level_{number}" for number in range(int(span[1]), int(span[2] or span[1]) + 1)]
            if not names:
                raise ValueError(f"levels: {word!r} is empty; write the smaller number first")
        else:
            names = [word]
        for name in names:
            if name not in levels() and not name.endswith((".yaml", ".yml")):
                raise ValueError(f"levels: {near_matches('level', name, [*levels(), 'all', *classes])}")
            chosen[name] = None
    return tuple(chosen)


class CuisineWorldSuite(OrderSuite):
    """Orders with deadlines at several paces: collaboration scores beside the published ones."""

    suite_options = OrderOptions
    scoring_options = OrderScoring
    show_options = ("more",)
    record_fields = RECORD_FIELDS
    axes = AXES

    set_elsewhere: ClassVar = {"level": "--levels", "agents": "--agents", "alpha": "--alphas", "obs": "the policies"}
    pace = "alpha"
    leaderboard_notes = ("Two agents. Failures are all expired orders.",)
    listed: ClassVar = {"levels": lambda _: list(map(_class_and_orders, map(load_level, levels())))}

    def derived(self, record: Record) -> Mapping[str, Any]:
        options = record["env_kwargs"]
        if "level" not in options or record["task"].count(", ") < 2:
            return {}
        name = self.level_name(options["level"])
        return {"task": self.task_name(name, len(record["team"]), options.get("alpha")), "level": level_number(name)}

    def level_name(self, level: str) -> str:
        return load_level(level).name

    def level_number(self, name: str) -> int | None:
        return level_number(name)

    def task_name(self, level: str, agents: int, pace: float | None) -> str:
        return f"{level}, {plural(agents, 'agent')}, " + (
            "times of the level file" if pace is None else f"alpha {pace:g}"
        )

    def groups(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[JobGroup]:
        agents = tuple(dict.fromkeys(parse_integer("agents", count, 1) for count in suite_options.agents))
        alphas = tuple(dict.fromkeys(map(float, suite_options.alphas)))
        if not agents or not alphas:
            raise ValueError("agents and alphas need at least one number each")
        chosen = parse_level_names(suite_options.levels)
        check_names("levels", chosen, self.level_name)
        for count in agents:  # rejects bad option values
            load_checked(CUISINEWORLD, **options, level=chosen[0], agents=count, alpha=alphas[0])
        return self.order_groups(team, chosen, agents, alphas, options)

    def score(self, records: Sequence[Record], scoring: Any) -> list[Scorecard]:
        """Return the paper's tables of every team and variant."""
        return [tables.scorecard(NAME, result) for result in score_records(records, scoring.counting)]

    def sheet(self, played: Mapping[str, Sequence[Record]]) -> tuple[Sequence[ResultTable], Sequence[Chart]]:
        return tables.sheet(played)

    def benchmark(self, budget: str) -> Benchmark:
        """Return two levels at three paces, or the paper's twelve at all of its paces, for two agents."""
        levels, runs = (("level_1", "level_4"), 2) if budget == "small" else (published().levels, 5)
        alphas = [1.0, 2.0, 3.0] if budget == "small" else list(PAPER_ALPHAS)
        every = {"agents": [2], "alphas": alphas, "runs": runs, "episodes": EPISODES}
        settings = (Setting(name, {"levels": name, **every}, {"level": name, "agents": 2}) for name in levels)
        pairs = Setting(
            "level_1, alpha 2.0",
            {**every, "levels": "level_1", "alphas": [2.0], "runs": 1},
            {"level": "level_1", "agents": 2},
        )
        return Benchmark(
            "CuisineWorld",
            "CoS, the mean share of orders completed over the paces played",
            tuple(settings),
            pairs,
            "runs",
            digits=3,
        )

    def summary(self, records: Sequence[Record]) -> Summary:
        result = only(score_records(records))
        cells = [runs for table in result.tables.values() for runs in table.runs.values()]
        tallies = [tally_record(record) for record in records]
        score = cos(cells)
        process = {Column("CoS", "estimate"): score}
        for heading, name in (("completed", "completed"), ("failed", "expired"), ("open at the end", "open")):
            process[Column(heading, "estimate", 2)] = mean_ci([getattr(tally, name) for tally in tallies])
        return Summary(score, process)

    def references(self, benchmark: Benchmark) -> list[Reference]:
        table = published().tables[2]
        scores = {}
        for setting in benchmark.settings:
            alphas = [alpha for alpha in setting.suite_options["alphas"] if alpha in table.alphas]
            runs = [table.runs[setting.name, alpha] for alpha in alphas if (setting.name, alpha) in table.runs]
            scores[setting.name] = cos(runs)
        return [Reference(published().model, "language", scores)]

    def reference_remarks(self, benchmark: Benchmark) -> list[str]:
        settings = [setting.name for setting in benchmark.settings]
        known = {name: rates for name, rates in published().success_rates.items() if name in settings}
        lines = [f"The published scores count at most one failure a step ({published().source})."]
        for name, agents in known.items():
            shares = ", ".join(f"{who} {100 * share:.1f} %" for who, share in agents.items())
            lines.append(
                f"Published for {name}, as success rates of trained agents; the averaging is not published, so they "
                f"are not comparable: {shares}."
            )
        return lines

    def training_references(self) -> dict[str, dict[str, Any]]:
        rates = published().success_rates
        return {f"{NAME}_{level}": {"measure": "success", **agents} for level, agents in rates.items()}

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
        from collab_overcooked.games.cuisineworld.engine.solvability import level_text

        return level_text(load_level(name)) if name in levels() else None


def _class_and_orders(level: Level) -> tuple[str, str]:
    return level.name, f"{level.paper_class}: {', '.join(level.order_names)}"
