"""The suite of CraftKitchen: five paces, three episodes each, one to four agents; published scores; level files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.core.record import Event
from collab_overcooked.evaluation.benchmark import Benchmark, ComparisonBudget, Reference, Setting
from collab_overcooked.evaluation.order_suite import OrderResult, OrderSuite, score_orders
from collab_overcooked.evaluation.suites import Listing
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind, check_yaml_path, write_generated
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.io.options import option
from collab_overcooked.io.structs import Count
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.metrics.orders import OrderRecord, OrderStep, served_share, tally_record
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.reporting.result_table import Column, ResultTable, table_of
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import axis_values
from collab_overcooked.runner.order_logger import OrderLogger

from .engine.compile import CraftConfig
from .engine.constants import PACES
from .engine.generate import draw_level
from .engine.solvability import bounds_by_pace, upper_bounds
from .engine.spec import FOLDER, KEYS, levels, load_level
from .options import EPISODES

AXES = ("level", "agents", "pace")


class CraftEvent(Event, kw_only=True):
    """Event of an agent."""

    count: Count = 0


class CraftStep(OrderStep, kw_only=True):
    """Step of a record."""

    events: Sequence[CraftEvent | None]


class CraftRecord(OrderRecord, kw_only=True):
    """Record of an episode."""

    steps: Sequence[CraftStep]


@cache
def published() -> Mapping[str, Any]:
    """Read the paper's numbers, and the fractions that agree with them."""
    return read_shipped_yaml("games/craft/published.yaml")


def limits(result: OrderResult, level: str, agents: int) -> list[float]:
    """Return the shares of orders that no team can exceed, by pace."""
    records = next(records for key, records in result.episodes.items() if key[:2] == (agents, level))
    options = {name: value for name, value in records[0].env_kwargs.items() if name in CraftConfig.names()}
    return upper_bounds(axis_values(records[0])["level"], agents, options)


def score_record(record: CraftRecord) -> dict[str, Any]:
    """Compute the metrics of one episode from its record: ``METRICS`` and ``return``."""
    tally = tally_record(record)
    stored = sum(
        event.event == "STORE" and (event.item or "").startswith("cooked_")
        for step in record.steps
        for event in step.events
        if event
    )
    return {
        "completed": tally.completed,
        "failed": tally.expired,
        "open": tally.open,
        "share": tally.cell().ratio,
        "stored": stored,
        "stocked": stocked(record),
        "return": float(sum(step.rewards[0] for step in record.steps)),
    }


def stocked(record: CraftRecord) -> int:
    """Count the orders that were served by a dish which had been in the chest before their step."""
    stock: dict[str, int] = {}
    count = 0
    for step in record.steps:
        waiting = dict(stock)
        for event in filter(None, step.events):
            if event.event == "STORE" and event.item:
                stock[event.item] = stock.get(event.item, 0) + 1
        for dish in step.orders.completed:
            count += waiting.get(dish, 0) > 0
            waiting[dish] = waiting.get(dish, 0) - 1
            stock[dish] = stock.get(dish, 0) - 1
    return count


METRICS = MetricSet(
    (
        Metric("completed", "Orders served in time.", "orders", "higher"),
        Metric("failed", "Orders whose time ran out.", "orders", "lower"),
        Metric("open", "Orders still open at the end.", "orders"),
        Metric("share", "Share of the completed and failed orders that were completed.", better="higher"),
        Metric("stored", "Dishes that were put into the chest.", "dishes", "higher"),
        Metric("stocked", "Orders served by dishes that were in the chest before.", "orders"),
    ),
    score_record,
    outcome=served_share,
)


def score_records(records: Iterable[CraftRecord]) -> list[OrderResult]:
    """Score records of this game, one result for every team and variant; records with one seed form a run."""
    return score_orders(records, levels(), CraftSuite.pace)


@dataclass(frozen=True, kw_only=True)
class LevelOptions:
    """Numbers of agents that a level is checked for."""

    agents: tuple[int, ...] = option((1, 2, 3, 4), "Numbers of agents.")


def check_levels(sources: Sequence[str], options: LevelOptions) -> DocumentFinding:
    """Compute limits that no team can exceed: first delivery, dishes in an episode, and CoS at each pace."""
    lines, values = [], []
    for source in sources:
        level = load_level(source)
        counts = {role: sum(place.role == role for place in level.places) for role in ("furnace", "block", "mob")}
        counted = ", ".join(plural(count, role) for role, count in counts.items())
        lines.append(f"{level.name}: {', '.join(level.dishes)}; {counted}; at most {len(level.starts)} agents")
        for agents in options.agents:
            if agents > len(level.starts):
                continue
            bounds = bounds_by_pace(level.document, agents, {})
            ratios = [round(limit.ratio, 4) for limit in bounds]
            ratios_text = ", ".join(f"{ratio:.3f}" for ratio in ratios)
            lines.append(
                f"  {plural(agents, 'agent')}: first dish in step {bounds[0].first} or later, at most "
                f"{bounds[0].delivered[-1]} dishes, share of orders served at most {ratios_text} at paces 1 to 5"
            )
            values.append(
                {"level": level.name, "agents": agents, "first": bounds[0].first, "dishes": bounds[0].delivered[-1]}
                | {"ratios": ratios}
            )
    return DocumentFinding("\n".join(lines), values)


LEVEL = DocumentKind(
    "craft-level",
    FOLDER,
    KEYS,
    check_levels,
    "Proves what no team can exceed: the first delivery, dishes in an episode, and CoS at each pace.",
    LevelOptions,
)


@dataclass(frozen=True, kw_only=True)
class LevelGenerator:
    """A level with animals around a yard, with proven limits on the score."""

    seed: int = option(0, "Random seed.")
    dishes: int = option(2, "Kinds of meat in orders, 1 to 4.")
    furnaces: int = option(1, "Furnaces, 1 to 4.")
    mobs: int = option(2, "Mobs of each kind, 1 to 8.")
    size: int = option(20, "Width of the level in cells, 10 to 100.")

    def write(self, out: Path, command: str) -> DocumentFinding:
        check_yaml_path(out)
        for name, least, most in (("dishes", 1, 4), ("furnaces", 1, 4), ("mobs", 1, 8), ("size", 10, 100)):
            parse_integer(name, getattr(self, name), least, most=most)
        rng = np.random.default_rng(parse_integer("seed", self.seed, 0))
        values = draw_level(rng, out.stem, self.dishes, self.furnaces, self.mobs, self.size)
        write_generated(out, values, command, self)
        return check_levels([str(out)], LevelOptions())


NAME = "craft"
COMPARED = {"agents": [2], "paces": list(PACES), "episodes": EPISODES}
SETTINGS = [Setting(name, {"levels": [name]}, {"level": name, "agents": 2}) for name in ("field", "house")]
BOUND = "no team can exceed"
REMARK = (
    "The published row was measured in the real game; its map, recipes and settings are unpublished, and the paces are "
    "inferred from rounded numbers. Walking, timing and failures of the real game are absent here: compare policies "
    "with each other, not with that row."
)


class CraftLogger(OrderLogger):
    """Logger of orders that fail in the step that takes their last one."""

    last_step = 1


def parse_pace(pace: Any) -> int:
    """Read a pace."""
    return parse_integer("paces", pace, 1, most=len(PACES))


class CraftSuite(OrderSuite):
    """Orders with deadlines at five paces: collaboration scores beside the published ones and proven limits."""

    logger_class = CraftLogger
    easier = "pace"
    axes = AXES
    record_class = CraftRecord

    set_elsewhere: ClassVar = {"level": "--levels", "pace": "--paces", "agents": "--agents"}
    parse_pace = parse_pace
    load, pace = load_level, "pace"
    named = ("level", "pace")
    title, measure = "CraftKitchen", "CoS, the mean share of orders completed over five paces"
    budgets: ClassVar = {
        "small": ComparisonBudget(SETTINGS[:1], {**COMPARED, "runs": 1}, {"paces": [2]}, suffix=", pace 2"),
        "full": ComparisonBudget(SETTINGS, {**COMPARED, "runs": 5}, {"paces": [2], "runs": 1}, suffix=", pace 2"),
    }
    pooled = False
    averaged: ClassVar = {name: name for name in ("completed", "failed", "stored", "stocked")}
    leaderboard_notes = ("Two agents.",)
    listed: ClassVar = {
        "craft-levels": Listing(
            lambda _: levels(),
            lambda name, _: load_level(name).description,
            lambda name, _: check_levels([name], LevelOptions()).text,
        )
    }

    def score(self, records: Sequence[Any], scoring: Any) -> list[Scorecard]:
        return [_card(result) for result in score_records(records)]

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


def _card(result: OrderResult) -> Scorecard:
    columns = [Column("Level and team"), *(Column(f"pace {pace}") for pace in PACES), Column("CoS", "estimate")]
    rows: list[tuple[Any, ...]] = []
    marks: dict[int, str] = {}
    for level, agents in dict.fromkeys((level, agents) for agents, level, _ in result.episodes):
        marks |= {len(rows): "summary"} if rows else {}
        table = result.tables[agents]
        cells = [table.cell(level, pace) for pace in PACES]
        texts = (None if cell is None else f"{cell} = {cell.ratio:.3f}" if cell.resolved else "0/0" for cell in cells)
        rows.append((f"{level}, {plural(agents, 'agent')}", *texts, table.cos(level)))
        most = limits(result, level, agents)
        played = [limit for cell, limit in zip(cells, most, strict=True) if cell]
        rows.append((f"  {BOUND}", *(f"{limit:.3f}" for limit in most), Estimate(sum(played) / len(played))))
        if result.is_default and agents == published()["agents"]:
            marks[len(rows)] = "published"
            shares = [share if cell else None for cell, share in zip(cells, published()["shares"], strict=True)]
            known = [share for share in shares if share is not None]
            score = published()["cos"] if len(known) == len(PACES) else sum(known) / len(known)
            texts = (None if share is None else f"{share:.3f}" for share in shares)
            rows.append((f"  {published()['model']}, published", *texts, Estimate(score)))
    tables = (ResultTable(tuple(columns), tuple(rows), "Orders completed of those completed or failed", marks),)
    remarks: tuple[str, ...] = (REMARK,) if "published" in marks.values() else ()
    if remarks and any(len(table.alphas) < len(PACES) for table in result.tables.values()):
        remarks = (REMARK, "If only some paces were played, the published CoS is the mean of the shares at these.")
    notes = ("Orders still open at the end are in no ratio, as in the paper.", *remarks)
    data = table_of(DATA, ((result, *key, tally.cell()) for key, (tally, _) in result.tallies.items()))
    return Scorecard(NAME, result.title, tables, result.team, notes, data=data)


# Of a result, agents, level, pace, and completed of resolved orders
DATA = (
    Column("title", value=lambda row: row[0].title),
    Column("team", value=lambda row: row[0].team),
    Column("level", value=lambda row: row[2]),
    Column("agents", "number", value=lambda row: row[1]),
    Column("pace", "number", value=lambda row: int(row[3])),
    Column("completed", "number", value=lambda row: row[4].completed),
    Column("resolved", "number", value=lambda row: row[4].resolved),
    Column("ratio", "number", value=lambda row: row[4].ratio),
)
