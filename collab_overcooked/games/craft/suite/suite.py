"""The suite of CraftKitchen: five paces, three episodes each, one to four agents; scores beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from collab_overcooked.evaluation.benchmark import Benchmark, Reference, Setting, Summary, only
from collab_overcooked.evaluation.episode_suite import OrderSuite, load_checked
from collab_overcooked.evaluation.plans import JobGroup
from collab_overcooked.evaluation.suites import Record, check_names
from collab_overcooked.games.craft.engine.config import PACES
from collab_overcooked.games.craft.engine.spec import levels, load_level
from collab_overcooked.games.craft.suite.documents import LevelOptions, check_levels
from collab_overcooked.games.craft.suite.scoring import (
    AXES,
    CRAFT,
    RECORD_FIELDS,
    CraftResult,
    published,
    score_record,
    score_records,
    upper_bounds,
)
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.options import option
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, table_of
from collab_overcooked.reporting.scorecard import Scorecard

NAME = "craft"
EPISODES = 3  # of one run
BOUND = "no team can exceed"
REMARK = (
    "The published row was measured in the real game; its map, recipes and settings are unpublished, and the paces are "
    "inferred from rounded numbers. Walking, timing and failures of the real game are absent here: compare policies "
    "with each other, not with that row."
)


@dataclass(frozen=True, kw_only=True)
class CraftOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    levels: tuple[str, ...] = option(("house",), "Built-in levels or YAML files.")
    agents: tuple[int, ...] = option((1, 2, 3, 4), "Numbers of agents.")
    paces: tuple[int, ...] = option(PACES, "Paces of orders, 1 (fast) to 5.")
    runs: int = option(1, "Runs of each setting, with order seeds from --seed on.")
    episodes: int = option(EPISODES, "Episodes of each run.")


class CraftSuite(OrderSuite):
    """Orders with deadlines at five paces: collaboration scores beside the published ones and proven limits."""

    suite_options = CraftOptions
    last_step = 1  # orders fail in the step that takes their last one
    axes = AXES
    record_fields = RECORD_FIELDS

    set_elsewhere: ClassVar = {"level": "--levels", "pace": "--paces", "agents": "--agents"}
    pace = "pace"
    leaderboard_notes = ("Two agents.",)
    listed: ClassVar = {"craft-levels": lambda _: [(name, load_level(name).description) for name in levels()]}

    def derived(self, record: Record) -> Mapping[str, Any]:
        options = record["env_kwargs"]
        if not {"level", "pace"} <= options.keys() or record["task"].count(", ") < 2:
            return {}
        return {"task": self.task_name(self.level_name(options["level"]), len(record["team"]), options["pace"])}

    def level_name(self, level: str) -> str:
        return load_level(level).name

    def task_name(self, level: str, agents: int, pace: int) -> str:
        return f"{level}, {plural(agents, 'agent')}, pace {pace}"

    def groups(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[JobGroup]:
        agents = tuple(dict.fromkeys(parse_integer("agents", count, 1) for count in suite_options.agents))
        paces = tuple(dict.fromkeys(parse_integer("paces", pace, 1, most=len(PACES)) for pace in suite_options.paces))
        if not agents or not paces or not suite_options.levels:
            raise ValueError("levels, agents and paces need at least one entry each")
        check_names("levels", suite_options.levels, self.level_name)
        for level in suite_options.levels:
            for count in agents:  # rejects bad option values
                load_checked(CRAFT, **options, level=level, agents=count, pace=paces[0])
        return self.order_groups(team, suite_options.levels, agents, paces, options)

    def score(self, records: Sequence[Record], scoring: Any) -> list[Scorecard]:
        return [_card(result) for result in score_records(records)]

    def benchmark(self, budget: str) -> Benchmark:
        chosen, runs = (("field",), 1) if budget == "small" else (("field", "house"), 5)
        every = {"agents": [2], "paces": list(PACES), "runs": runs, "episodes": EPISODES}
        settings = tuple(Setting(name, {"levels": [name], **every}, {"level": name, "agents": 2}) for name in chosen)
        pairs = Setting(
            "field, pace 2", {**every, "levels": ["field"], "paces": [2], "runs": 1}, {"level": "field", "agents": 2}
        )
        return Benchmark(
            "CraftKitchen", "CoS, the mean share of orders completed over five paces", settings, pairs, "runs", digits=3
        )

    def summary(self, records: Sequence[Record]) -> Summary:
        result = only(score_records(records))
        score = result.cos(*result.settings[0]) if len(result.settings) == 1 else None
        process: dict[Column, Estimate | None] = {Column("CoS", "estimate"): score}
        values = [score_record(record) for record in records]
        for name in ("completed", "failed", "stored", "stocked"):
            process[Column(name, "estimate", 2)] = mean_ci([float(scores[name]) for scores in values])
        return Summary(score, process)

    def references(self, benchmark: Benchmark) -> list[Reference]:
        score = Estimate(published()["cos"])
        limits = {
            setting.name: Estimate(sum(upper_bounds(setting.name, 2, {})) / len(PACES))
            for setting in benchmark.settings
        }
        return [
            Reference(f"{published()['model']} (in the real game)", "language", dict.fromkeys(limits, score)),
            Reference(BOUND, "search", limits),
        ]

    def reference_remarks(self, benchmark: Benchmark) -> list[str]:
        return [REMARK]

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
        return check_levels([name], LevelOptions()).text if name in levels() else None


def _card(result: CraftResult) -> Scorecard:
    columns = [Column("Level and team"), *(Column(f"pace {pace}") for pace in PACES), Column("CoS", "estimate")]
    rows: list[tuple[Cell, ...]] = []
    marks: dict[int, str] = {}
    for level, agents in result.settings:
        marks |= {len(rows): "summary"} if rows else {}
        cells = [result.cell(level, agents, pace) for pace in PACES]
        texts = (None if cell is None else f"{cell} = {cell.ratio:.3f}" if cell.resolved else "0/0" for cell in cells)
        rows.append((f"{level}, {plural(agents, 'agent')}", *texts, result.cos(level, agents)))
        limits = result.limits(level, agents)
        played = [limit for cell, limit in zip(cells, limits, strict=True) if cell]
        rows.append((f"  {BOUND}", *(f"{limit:.3f}" for limit in limits), Estimate(sum(played) / len(played))))
        if result.is_default and agents == published()["agents"]:
            marks[len(rows)] = "published"
            shares = (f"{share:.3f}" for share in published()["shares"])
            rows.append((f"  {published()['model']}, published", *shares, Estimate(published()["cos"])))
    table = ResultTable(tuple(columns), tuple(rows), "Orders completed of those completed or failed", marks)
    remarks = (REMARK,) if "published" in marks.values() else ()
    notes = ("Orders still open at the end are in no ratio, as in the paper.", *remarks)
    settings = ((result, level, agents, pace) for level, agents, pace in result.runs)
    return Scorecard(NAME, result.title, (table,), result.team, notes, data=table_of(DATA, settings))


def _counts(setting: tuple[CraftResult, str, int, int]) -> Any:
    return setting[0].cell(*setting[1:])


DATA = (
    Column("title", value=lambda setting: setting[0].title),
    Column("team", value=lambda setting: setting[0].team),
    Column("level", value=lambda setting: setting[1]),
    Column("agents", "number", value=lambda setting: setting[2]),
    Column("pace", "number", value=lambda setting: setting[3]),
    Column("completed", "number", value=lambda setting: _counts(setting).completed),
    Column("resolved", "number", value=lambda setting: _counts(setting).resolved),
    Column("ratio", "number", value=lambda setting: _counts(setting).ratio),
)
