"""The suite of CuisineWorld: levels, numbers of agents and paces of orders; collaboration scores; published numbers.

One run is what the paper's numbers come from: three episodes of 60 steps in one world whose order generator is seeded
once and goes on from episode to episode. Seed 0 gives the order sequences of the published tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import yaml

from collab_overcooked import registry
from collab_overcooked.core.options import option
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.errors import near_matches, whole_number
from collab_overcooked.evaluation.benchmark import Arena, Contest, Reference, Standing
from collab_overcooked.evaluation.env_variants import by_team, unusual_options
from collab_overcooked.evaluation.suites import (
    Listing,
    Record,
    Suite,
    check_env_options,
    check_names,
)
from collab_overcooked.games.cuisineworld import metrics as cos
from collab_overcooked.games.cuisineworld.spec import PAPER_ALPHAS, levels, load_level
from collab_overcooked.metrics import Cell, CosTable, Counting, Tally, mean_ci, parse_cell, tally_record, total
from collab_overcooked.reporting.grids import Sheet
from collab_overcooked.reporting.parts import Definitions
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.runner.episode import Limits
from collab_overcooked.runner.jobs import Evaluation, Series
from collab_overcooked.runner.teams import seats_by_size, size_words, team_words

NAME = "cuisineworld"
CUISINEWORLD = "CuisineWorld-v0"
PAPER_AGENTS = (2, 3, 4)
EPISODES = 3  # of one run
USUAL = {  # other values are a variant of the game
    "beta": 2.5,
    "max_open_orders": None,
    "turn_order": None,
    "mask": "exact",
    "obs": "features",
    "lexicon": "kitchen",
}
_SET_ELSEWHERE = {
    "level": "--levels",
    "agents": "--agents",
    "alpha": "--alphas",
    "obs": "the policies",
}

# ------------------------------------------------------------------------------------------- what records need


class OrderLogger:
    """Logs what becomes of the orders: ``orders`` of every step, and the sequence that replays the episode."""

    def __init__(self) -> None:
        self.drawn: list[str] = []
        self.open: list[list[Any]] = []
        self.counts = (0, 0)

    def begin(self, env: ParallelEnv) -> None:
        """Note the first order."""
        scene = env.scene()
        self.open = _open_orders(scene)
        self.drawn = [name for name, _ in self.open]
        self.counts = scene["completed"], scene["expired"]

    def step(self, env: ParallelEnv) -> dict[str, Any]:
        """Return names of the orders completed and expired in the last step, and those open after it."""
        scene = env.scene()
        before, self.open = self.open, _open_orders(scene)
        completed, expired = scene["completed"] - self.counts[0], scene["expired"] - self.counts[1]
        self.counts = scene["completed"], scene["expired"]
        done = scene["accomplished"][len(scene["accomplished"]) - completed :]
        lost = [name for name, remaining in before if remaining == 0][:expired]
        left = [name for name, _ in before]
        for name in (*done, *lost):
            left.remove(name)
        for name, _ in self.open:  # what was not there before has been drawn
            if name in left:
                left.remove(name)
            else:
                self.drawn.append(name)
        return {"orders": {"completed": done, "expired": lost, "open": self.open}}

    def end(self) -> dict[str, Any]:
        """Return the reset options that bring the same orders, whatever came before the episode."""
        return {"options": {"orders": self.drawn}}


def _open_orders(scene: Mapping[str, Any]) -> list[list[Any]]:
    return [[order["name"], order["remaining"]] for order in scene["orders"]]


# ------------------------------------------------------------------------------------------- playing


def task_name(level: str, agents: int, alpha: float | None) -> str:
    """Return what a record's episode is called, for example ``"level_3, 2 agents, alpha 1.5"``."""
    pace = "times of the level file" if alpha is None else f"alpha {alpha:g}"
    return f"{level}, {size_words(agents)}, {pace}"


@dataclass(frozen=True, kw_only=True)
class CuisineWorldPlan(Evaluation):
    """Levels at several paces, for teams of several sizes. The orders of an episode follow on those of the one before.

    Attributes:
        levels: Shipped names or paths of YAML files.
        specs: Policy texts in seat order, by number of agents.
        alphas: Paces of orders; a larger alpha gives more time.
        runs: Runs of each setting, with the order seeds ``seed``, ``seed + 1``, ...
        episodes: Episodes of a run.
    """

    suite = NAME
    levels: tuple[str, ...]
    specs: Mapping[int, tuple[str, ...]]
    alphas: tuple[float, ...]
    runs: int
    episodes: int

    def make_jobs(self) -> list[Series]:
        """Return all runs in the order of the record file."""
        names = {level: load_level(level).name for level in self.levels}
        return [
            Series(
                env_id=CUISINEWORLD,
                env_kwargs={**self.options, "level": level, "agents": agents, "alpha": alpha},
                team=specs,
                task=task_name(names[level], agents, alpha),
                level=level_number(names[level]),
                number=number,
                seed=self.seed + number,
                episodes=self.episodes,
                limits=self.limits,
            )
            for agents, specs in self.specs.items()
            for level in self.levels
            for alpha in self.alphas
            for number in range(self.runs)
        ]


def level_number(name: str) -> int | None:
    """Return the number at the end of a level's name; None if there is none."""
    found = re.fullmatch(r"level_(\d+)", name)
    return int(found[1]) if found else None


@dataclass(frozen=True, kw_only=True)
class OrderOptions:
    """What users can choose beyond team, seed and options of the environment."""

    levels: str | None = option(None, "Levels such as 0-4,9, easy or my.yaml; the paper's twelve if not given.")
    agents: tuple[int, ...] = option(PAPER_AGENTS, "Numbers of agents.")
    alphas: tuple[float, ...] = option(PAPER_ALPHAS, "Paces of orders; a larger one gives more time.")
    runs: int = option(1, "Runs of each setting, with order seeds from --seed on.")
    episodes: int = option(EPISODES, "Episodes of each run.")


def parse_level_names(text: str | None) -> tuple[str, ...]:
    """Read levels such as ``"all"``, ``"0-4,9"``, ``"level_3,level_12_fryer"``, ``"simple"`` or ``"my.yaml"``.

    ``all`` and None stand for the paper's twelve in the order of its tables, a class for its three.

    Raises:
        ValueError: If the text cannot be read or names an unknown level.
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


# ------------------------------------------------------------------------------------------- published numbers


@dataclass(frozen=True)
class Published:
    """What the paper prints, for comparison; measured by its authors with a language model, not by this package.

    Attributes:
        source: Where it is printed.
        model: The language model.
        classes: The paper's classes of levels, in its order.
        tables: Tables 6 to 8, by number of agents.
        printed: Number of agents -> the printed ``table`` number, ``cos``, ``row_average`` and ``cos_average``.
        table_1: Number of agents -> level, or ``"average"`` -> printed CoS.
        success_rates: Level -> trained agent -> printed success rate; not the CoS.
    """

    source: str
    model: str
    classes: Mapping[str, tuple[str, ...]]
    tables: Mapping[int, CosTable]
    printed: Mapping[int, Mapping[str, Any]]
    table_1: Mapping[int, Mapping[str, float]]
    success_rates: Mapping[str, Mapping[str, float]]

    @property
    def levels(self) -> tuple[str, ...]:
        """The twelve levels in the order of the tables."""
        return tuple(level for group in self.classes.values() for level in group)


@cache
def published() -> Published:
    """Read the published numbers."""
    file = resources.files("collab_overcooked.games.cuisineworld") / "published.yaml"
    values = yaml.safe_load(file.read_text(encoding="utf-8"))
    classes = {name: tuple(group) for name, group in values["classes"].items()}
    order = tuple(level for group in classes.values() for level in group)
    tables = {}
    for agents, details in values["details"].items():
        fractions = details["fractions"]
        runs = {(level, alpha): (parse_cell(row[level]),) for alpha, row in fractions.items() for level in order}
        tables[agents] = CosTable(agents, tuple(fractions), order, runs)
    return Published(
        values["source"],
        values["model"],
        classes,
        tables,
        values["details"],
        values["table_1"],
        values["success_rates"],
    )


# ------------------------------------------------------------------------------------------- scoring


@dataclass(frozen=True)
class CosResult:
    """Scores of one team on one variant of the game.

    Attributes:
        title: Game and variant.
        team: Policies, written so that teams of different sizes compare.
        counting: What counts as a failure.
        tables: By number of agents.
        tallies: (agents, level, alpha) -> what became of the orders, and in how many episodes.
    """

    title: str
    team: str
    counting: Counting
    tables: Mapping[int, CosTable]
    tallies: Mapping[tuple[int, str, float], tuple[Tally, int]]

    @property
    def levels(self) -> tuple[str, ...]:
        """All levels, those of the paper first and in its order."""
        played = dict.fromkeys(level for table in self.tables.values() for level in table.levels)
        return tuple(sorted(played, key=_level_order))

    def compared(self) -> tuple[str, ...]:
        """Return the levels that averages are over: those of the paper, or all if none of them was played."""
        return tuple(level for level in self.levels if level in published().levels) or self.levels


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``completed``, ``failed`` (every expired order), ``failing_steps`` (the original's count), ``open`` and
        ``return`` (the shared reward, summed).

    Raises:
        ValueError: If the record does not say what became of the orders.
    """
    tally = tally_record(record)
    return {
        "completed": tally.completed,
        "failed": tally.expired,
        "failing_steps": tally.failing_steps,
        "open": tally.open,
        "return": float(sum(step["rewards"][0] for step in record["steps"])),
    }


def score_records(records: Iterable[Mapping[str, Any]], counting: Counting = "orders") -> list[CosResult]:
    """Score records of this game, one result for every team and variant among them.

    Args:
        records: Episodes; those of one setting and order seed form a run.
        counting: What counts as a failure.

    Raises:
        ValueError: If a record does not say what became of the orders.
    """
    return [_result(group, counting) for group in by_team(records, USUAL)]


def _result(records: Sequence[Mapping[str, Any]], counting: Counting) -> CosResult:
    settings: dict[tuple[int, str, float], dict[int, list[Tally]]] = {}
    for record in records:
        runs = settings.setdefault(_setting(record), {})
        runs.setdefault(record["seed"], []).append(tally_record(record))
    tables = {}
    for agents in sorted({agents for agents, _, _ in settings}):
        own = {(level, alpha): runs for (n, level, alpha), runs in settings.items() if n == agents}
        cells: dict[tuple[str, float], tuple[Cell, ...]] = {
            key: tuple(total(episodes).cell(counting) for episodes in runs.values()) for key, runs in own.items()
        }
        names = sorted({level for level, _ in own}, key=_level_order)
        tables[agents] = CosTable(agents, tuple(sorted({alpha for _, alpha in own})), tuple(names), cells)
    tallies = {
        key: (total(tally for run in runs.values() for tally in run), sum(map(len, runs.values())))
        for key, runs in settings.items()
    }
    parts = [CUISINEWORLD, *(f"{name} {value}" for name, value in unusual_options(records[0]["env_kwargs"], USUAL))]
    return CosResult(", ".join(parts), team_words(records[0]["team"].values()), counting, tables, tallies)


def _setting(record: Mapping[str, Any]) -> tuple[int, str, float]:
    """Return agents, level and alpha; 0 stands for the times of the level file."""
    alpha = record["env_kwargs"].get("alpha")
    return len(record["team"]), record["task"].rsplit(", ", 2)[0], 0.0 if alpha is None else float(alpha)


def _level_order(level: str) -> tuple[int, int, str]:
    order = published().levels
    number = level_number(level)
    return (order.index(level), 0, "") if level in order else (len(order), -1 if number is None else number, level)


def reference(result: CosResult, agents: int) -> CosTable | None:
    """Return the published table that a result's compares with, cut down to what was played; None if there is none."""
    table, ours = published().tables.get(agents), result.tables[agents]
    if table is None:
        return None
    alphas = tuple(alpha for alpha in ours.alphas if alpha in table.alphas)
    names = tuple(level for level in ours.levels if level in table.levels)
    if not alphas or not names:
        return None
    runs = {key: cells for key, cells in table.runs.items() if key[0] in names and key[1] in alphas}
    return replace(table, alphas=alphas, levels=names, runs=runs)


# ------------------------------------------------------------------------------------------- the suite


class CuisineWorldSuite(Suite):
    """Orders with deadlines at several paces; collaboration scores, and the paper's beside them."""

    suite_options = OrderOptions
    score_options = ("counting",)

    def plan(
        self, team: Sequence[str], suite_options: Any, *, seed: int, options: Mapping[str, Any], limits: Limits
    ) -> CuisineWorldPlan:
        """Plan levels, numbers of agents and paces."""
        agents = [whole_number("agents", count, 1) for count in suite_options.agents]
        alphas = tuple(dict.fromkeys(map(float, suite_options.alphas)))
        if not agents or not alphas:
            raise ValueError("agents and alphas need at least one number each")
        levels = parse_level_names(suite_options.levels)
        plan = CuisineWorldPlan(
            levels=levels,
            specs=seats_by_size(team, dict.fromkeys(agents)),
            alphas=alphas,
            runs=whole_number("runs", suite_options.runs, 1),
            episodes=whole_number("episodes", suite_options.episodes, 1),
            seed=whole_number("seed", seed, 0),
            options=check_env_options(CUISINEWORLD, options, _SET_ELSEWHERE),
            limits=limits,
        )
        check_names("levels", levels, lambda level: load_level(level).name)
        for count in plan.specs:  # refuses bad option values
            registry.load_game(CUISINEWORLD, **plan.options, level=levels[0], agents=count, alpha=alphas[0])
        return plan

    def metrics(self, record: Record) -> dict[str, Any]:
        """Return what became of the orders."""
        return score_record(record)

    def score(self, records: Sequence[Record], definitions: Definitions) -> list[Sheet]:
        """Return the paper's tables of every team and variant."""
        from collab_overcooked.games.cuisineworld import tables as cos_tables

        return [cos_tables.sheet(result) for result in score_records(records, definitions.counting)]

    def contest(self, budget: str) -> Contest:
        """Return two levels at three paces, or the paper's twelve at all of its paces, for two agents."""
        levels, runs = (("level_1", "level_4"), 2) if budget == "small" else (published().levels, 5)
        alphas = [1.0, 2.0, 3.0] if budget == "small" else list(PAPER_ALPHAS)
        every = {"agents": [2], "alphas": alphas, "runs": runs, "episodes": EPISODES}
        arenas = (Arena(name, {"levels": name, **every}, {"level": name, "agents": 2}) for name in levels)
        pairs = Arena(
            "level_1, alpha 2.0",
            {**every, "levels": "level_1", "alphas": [2.0], "runs": 1},
            {"level": "level_1", "agents": 2},
        )
        return Contest(
            "CuisineWorld",
            "CoS, the mean share of orders completed over the paces played",
            tuple(arenas),
            pairs,
            "runs",
            digits=3,
        )

    def standing(self, records: Sequence[Record]) -> Standing:
        """Return the collaboration score, and what became of the orders."""
        (result,) = score_records(records)
        cells = [runs for table in result.tables.values() for runs in table.runs.values()]
        tallies = [tally_record(record) for record in records]
        score = cos.cos(cells)
        process = {Column("CoS", "estimate"): score}
        for heading, name in (("completed", "completed"), ("failed", "expired"), ("open at the end", "open")):
            process[Column(heading, "estimate", 2)] = mean_ci([getattr(tally, name) for tally in tallies])
        return Standing(score, process)

    def references(self, contest: Contest) -> list[Reference]:
        """Return the published scores of GPT-4 at the same paces."""
        table = published().tables[2]
        scores = {}
        for arena in contest.arenas:
            alphas = [alpha for alpha in arena.given["alphas"] if alpha in table.alphas]
            runs = [table.runs[arena.name, alpha] for alpha in alphas if (arena.name, alpha) in table.runs]
            scores[arena.name] = cos.cos(runs)
        return [Reference(published().model, "language", scores)]

    def remarks(self, contest: Contest) -> list[str]:
        """Explain the metrics, and a published number of another measure."""
        arenas = [arena.name for arena in contest.arenas]
        known = {name: own for name, own in published().success_rates.items() if name in arenas}
        lines = [
            "Two agents. Failures are all expired orders; the published scores count at most one a step "
            f"({published().source})."
        ]
        for name, agents in known.items():
            shares = ", ".join(f"{who} {100 * share:.1f} %" for who, share in agents.items())
            lines.append(
                f"Published for {name}, as a success rate whose averaging is not told, so not comparable: {shares}."
            )
        return lines

    def outcome(self, record: Record) -> str:
        """Say what became of the orders."""
        tally = tally_record(record)
        return f"{tally.completed} completed, {tally.expired} failed"

    def make_logger(self) -> OrderLogger:
        """Return a new logger of orders."""
        return OrderLogger()

    def listings(self) -> Mapping[str, Listing]:
        """Return the levels with class and orders."""
        return {"levels": _list_levels}

    def described(self, kitchen: str) -> list[str]:
        """Return the levels."""
        return list(levels())

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
        """Describe a level."""
        from collab_overcooked.games.cuisineworld.verify import level_text

        return level_text(load_level(name)) if name in levels() else None


def _list_levels(kitchen: str) -> list[tuple[str, str]]:
    read = [load_level(name) for name in levels()]
    return [(level.name, f"{level.paper_class}: {', '.join(level.order_names)}") for level in read]


__all__ = [
    "EPISODES",
    "NAME",
    "PAPER_AGENTS",
    "CosResult",
    "CuisineWorldPlan",
    "CuisineWorldSuite",
    "OrderLogger",
    "OrderOptions",
    "Published",
    "level_number",
    "parse_level_names",
    "published",
    "reference",
    "score_record",
    "score_records",
    "task_name",
]
