"""The suite of CuisineWorld: levels, numbers of agents and paces of orders; collaboration scores; published numbers.

A run is defined as in the paper: three episodes of 60 steps in one world whose order generator is seeded once and
continues from episode to episode. Seed 0 gives the order sequences of the published tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from collab_overcooked.evaluation.benchmark import Benchmark, ComparisonBudget, Reference, Setting
from collab_overcooked.evaluation.order_suite import OrderSuite
from collab_overcooked.evaluation.par_score import NO_POLICY, play_par
from collab_overcooked.evaluation.suites import Listing
from collab_overcooked.io.checks import near_matches, parse_integer, refuse_twice
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind, check_yaml_path, write_generated
from collab_overcooked.io.options import option
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.orders import OrderRecord, cos
from collab_overcooked.reporting.scorecard import Scorecard

from ..engine.constants import PAPER_ALPHAS
from ..engine.generate import GeneratorConfig, generate_level
from ..engine.solvability import level_text, prove_solvability, report_text
from ..engine.spec import COOKBOOK, FOLDER, KEYS, Level, levels, load_level
from ..options import EPISODES
from ..policies.greedy import GAME
from . import tables
from .scoring import AXES, level_number, published, score_records

NAME = "cuisineworld"
COMPARED, PAIRS = {"agents": [2], "episodes": EPISODES}, {"alphas": [2.0], "runs": 1}


@dataclass(frozen=True, kw_only=True)
class LevelOptions:
    """Paces that a level is checked at."""

    alphas: tuple[float, ...] = option(PAPER_ALPHAS, "Paces of orders to show times of.")

    def __post_init__(self) -> None:
        if not self.alphas or not all(0 < alpha < float("inf") for alpha in self.alphas):
            raise ValueError(f"alphas: {','.join(map(str, self.alphas))!r} must be numbers above 0")


def check_levels(sources: Sequence[str], options: LevelOptions) -> DocumentFinding:
    """Report intervals and lifetimes, orders that cannot be made and unused tools."""
    reports = [prove_solvability(load_level(source), options.alphas) for source in sources]
    values = [{**asdict(report), "problems": report.problems, "ok": report.ok} for report in reports]
    return DocumentFinding(report_text(reports), values, all(report.ok for report in reports))


LEVEL = DocumentKind(
    "level",
    FOLDER,
    KEYS,
    check_levels,
    "Shows intervals and lifetimes, orders that cannot be made and unused tools.",
    LevelOptions,
    bases=(COOKBOOK,),
)


@cache
def level_of_dish() -> dict[str, Level]:
    """Return the first level that orders each dish, in the order of the levels."""
    by_dish: dict[str, Level] = {}
    for level in map(load_level, levels()):
        by_dish |= {name: level for name in level.order_names if name not in by_dish}
    return by_dish


def dish_text(name: str) -> str:
    """Describe a dish as in the paper's figure 23: numbers of tools, ingredients, cooking steps and largest mixture."""
    level = level_of_dish()[name]
    items = level.tree(name)
    steps = [level.recipes[item] for item in items if item in level.recipes]
    mixture = max(len(step.ingredients) for step in steps)
    tools = plural(len({step.tool for step in steps}), "tool")
    ingredients = plural(len(items) - len(steps), "ingredient")
    return f"{tools}, {ingredients}, {plural(len(steps), 'step')}, largest mixture {mixture}"


@dataclass(frozen=True, kw_only=True)
class LevelGenerator:
    """A level of a given number of tools and depth of recipes, with a par score."""

    seed: int = option(0, "Random seed.")
    tools: int = option(GeneratorConfig.tools, "Tools that cook, besides a storage and a serving table.")
    depth: int = option(GeneratorConfig.depth, "Cooking steps one after the other in the deepest dish, 1 to 3.")
    dishes: int = option(GeneratorConfig.dishes, "Different dishes in orders, 1 to 10.")
    agents: int = option(GeneratorConfig.agents, "Number of agents.")
    par: str = option(
        "greedy", f"Policy whose orders served at the default alpha become the par score, or {NO_POLICY}."
    )

    def write(self, out: Path, command: str) -> DocumentFinding:
        check_yaml_path(out)
        config = GeneratorConfig(self.tools, self.depth, self.dishes, self.agents)
        values = generate_level(config, parse_integer("seed", self.seed, 0), out.stem)
        if self.par != NO_POLICY:
            values["par"] = len(play_par(GAME, self.par, level=values).scene()["accomplished"])
        write_generated(out, values, command, self)
        level = load_level(values)
        report = prove_solvability(level)
        return DocumentFinding(level_text(level), {**asdict(report), "par": level.par}, report.ok)


def parse_level_names(text: str | None) -> tuple[str, ...]:
    """Read levels such as ``"all"``, ``"0-4,9"``, ``"level_3,level_12_fryer"``, ``"simple"`` or ``"my.yaml"``.

    ``all`` and None stand for the paper's twelve in the order of its tables, a class for its three.

    Raises:
        ValueError: A level is unknown, or a range is empty.
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
            refuse_twice("levels", name, chosen)
            chosen[name] = None
    return tuple(chosen)


def _setting(level: str) -> Setting:
    return Setting(level, {"levels": level}, {"level": level, "agents": 2})


class CuisineWorldSuite(OrderSuite):
    """Orders with deadlines at several paces: collaboration scores beside the published ones."""

    record_class = OrderRecord
    axes = AXES

    set_elsewhere: ClassVar = {"level": "--levels", "agents": "--agents", "alpha": "--alphas", "obs": "the policies"}
    load = load_level
    parse_levels = parse_level_names
    parse_pace = float
    pace = "alpha"
    title, measure = "CuisineWorld", "CoS, the mean share of orders completed over the paces played"
    budgets: ClassVar = {
        "small": ComparisonBudget(
            [_setting(level) for level in ("level_1", "level_4")],
            {**COMPARED, "alphas": [1.0, 2.0, 3.0], "runs": 2},
            PAIRS,
            suffix=", alpha 2.0",
        ),
        "full": ComparisonBudget(
            lambda: list(map(_setting, published().levels)),
            {**COMPARED, "alphas": list(PAPER_ALPHAS), "runs": 5},
            PAIRS,
            pairs_in=1,
            suffix=", alpha 2.0",
        ),
    }
    averaged: ClassVar = {"completed": "completed", "failed": "failed", "open at the end": "open"}
    leaderboard_notes = ("Two agents. Failures are all expired orders.",)
    listed: ClassVar = {
        "levels": Listing(
            lambda _: levels(),
            lambda name, _: f"{(level := load_level(name)).paper_class}: {', '.join(level.order_names)}",
            lambda name, _: level_text(load_level(name)),
        ),
        "dishes": Listing(lambda _: tuple(level_of_dish()), lambda name, _: dish_text(name)),
    }

    def level_number(self, name: str) -> int | None:
        return level_number(name)

    def score(self, records: Sequence[Any], scoring: Any) -> list[Scorecard]:
        return [tables.scorecard(NAME, result) for result in score_records(records, scoring.counting)]

    comparison_tables = staticmethod(tables.comparison_tables)

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
