"""Scores of CraftKitchen's records: collaboration scores by level, agents and pace, published numbers, arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from collab_overcooked.games.craft.engine.bound import bound
from collab_overcooked.games.craft.engine.compile import compile_level
from collab_overcooked.games.craft.engine.config import INTERVALS, PACES, CraftConfig
from collab_overcooked.games.craft.engine.spec import levels
from collab_overcooked.io import schema
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.metrics.orders import ORDERS, Cell, cos, served_share, tally_record, total
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.runner.env_variants import axis_values, by_variant, setting_names, variant_of
from collab_overcooked.runner.record_schema import LABELLED, RecordFields
from collab_overcooked.runner.teams import team_text

CRAFT = "CraftKitchen-v0"
AXES = ("level", "agents", "pace")
RECORD_FIELDS = RecordFields(
    event=schema.optional(
        schema.object_of(
            {
                **LABELLED,
                "event": schema.text,
                "item": schema.optional(schema.text),
                "count": schema.integer(),
                "place": schema.text,
            }
        )
    ),
    step={"orders": ORDERS},
)


@cache
def published() -> Mapping[str, Any]:
    """Read the paper's figures, and the fractions that fit them."""
    return read_shipped_yaml("games/craft/suite/published.yaml")


def fitting_fractions(share: float, most: int = 90, digits: int = 3) -> list[Cell]:
    """Return all fractions with denominators up to ``most`` that round to a share."""
    return [
        Cell(done, resolved)
        for resolved in range(1, most + 1)
        for done in range(resolved + 1)
        if round(done / resolved, digits) == share
    ]


def idle_failures(interval: int, episodes: int = 3, steps: int = 60, alpha: float = 1.5) -> tuple[int, int]:
    """Return the orders that an idle team fails in a number of episodes, and the orders that come."""
    lifetime = int(alpha * interval)
    starts = range(0, steps, interval)
    return episodes * sum(t + lifetime <= steps for t in starts), episodes * len(starts)


def arithmetic() -> list[dict[str, Any]]:
    """Return, by pace, the fractions that round to the published share, and those with a plausible denominator."""
    rows = []
    for pace, share in zip(PACES, published()["shares"], strict=True):
        failed, come = idle_failures(INTERVALS[pace - 1])
        fitting = fitting_fractions(share)
        rows.append(
            {
                "pace": pace,
                "interval": INTERVALS[pace - 1],
                "share": share,
                "idle failures": failed,
                "orders": come,
                "fitting": [str(cell) for cell in fitting],
                "expected": [str(cell) for cell in fitting if failed <= cell.resolved <= come],
            }
        )
    return rows


@dataclass(frozen=True)
class CraftResult:
    """Scores of one team on one variant of the game."""

    title: str  # Game and variant
    is_default: bool  # Whether the game was played with its default options, as in the paper
    team: str  # Policies, in a notation that does not depend on the size of the team
    # (level, agents, pace) -> completed over resolved orders of each run
    runs: Mapping[tuple[str, int, int], tuple[Cell, ...]]
    options: Mapping[str, Any]  # Of the game, without level, agents and pace
    sources: Mapping[str, Any]  # Level -> its built-in name, its path, or the values of a file

    @property
    def settings(self) -> list[tuple[str, int]]:
        """Levels and numbers of agents, in the order of the records."""
        return list(dict.fromkeys((level, agents) for level, agents, _ in self.runs))

    def cell(self, level: str, agents: int, pace: int) -> Cell | None:
        """Return a cell summed over runs; None if it was not played."""
        runs = self.runs.get((level, agents, pace), ())
        return Cell(sum(run.completed for run in runs), sum(run.resolved for run in runs)) if runs else None

    def cos(self, level: str, agents: int) -> Estimate | None:
        """Return the CoS of the paces that were played."""
        return cos([runs for (name, n, _), runs in self.runs.items() if (name, n) == (level, agents)])

    def limits(self, level: str, agents: int) -> list[float]:
        """Return the shares of orders that no team can exceed, by pace."""
        return upper_bounds(self.sources[level], agents, self.options)


def upper_bounds(level: Any, agents: int, options: Mapping[str, Any]) -> list[float]:
    """Return the shares of orders that no team can exceed, by pace; see ``bound``."""
    config = {name: value for name, value in options.items() if name in CraftConfig.names() and name not in AXES}
    return [bound(compile_level(CraftConfig(level=level, agents=agents, pace=pace, **config))).ratio for pace in PACES]


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode.

    Returns:
        ``completed``, ``failed`` and ``open`` orders, ``stored`` dishes, ``stocked`` (dishes that came to the chest
        before they were served) and ``return`` (the shared reward, summed).
    """
    tally = tally_record(record)
    stored = sum(
        event["event"] == "STORE" and event["item"].startswith("cooked_")
        for step in record["steps"]
        for event in step["events"]
        if event
    )
    return {
        "completed": tally.completed,
        "failed": tally.expired,
        "open": tally.open,
        "share": tally.cell().ratio,
        "stored": stored,
        "stocked": stocked(record),
        "return": float(sum(step["rewards"][0] for step in record["steps"])),
    }


def stocked(record: Mapping[str, Any]) -> int:
    """Count the orders that were served by a dish which had been in the chest before their step."""
    stock: dict[str, int] = {}
    count = 0
    for step in record["steps"]:
        waiting = dict(stock)
        for event in filter(None, step["events"]):
            if event["event"] == "STORE":
                stock[event["item"]] = stock.get(event["item"], 0) + 1
        for dish in step["orders"]["completed"]:
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


def score_records(records: Iterable[Mapping[str, Any]]) -> list[CraftResult]:
    """Score records of this game, one result for every team and variant; those of one seed form a run."""
    return [_result(group) for group in by_variant(records)]


def _result(records: Sequence[Mapping[str, Any]]) -> CraftResult:
    settings: dict[tuple[str, int, int], dict[int, list[Any]]] = {}
    names = setting_names(records, ("level",), _level_of, levels())
    sources = {name: axis_values(record)["level"] for name, record in zip(names, records, strict=True)}
    for name, record in zip(names, records, strict=True):
        key = name, len(record["team"]), axis_values(record)["pace"]
        settings.setdefault(key, {}).setdefault(record["seed"], []).append(tally_record(record))
    runs = {key: tuple(total(tallies).cell() for tallies in by_seed.values()) for key, by_seed in settings.items()}
    variant, team = variant_of(records[0]), team_text(records[0]["team"].values())
    return CraftResult(variant.title, not variant.changed, team, runs, records[0]["env_kwargs"], sources)


def _level_of(record: Mapping[str, Any]) -> str:
    return str(record["task"]).rsplit(", ", 2)[0]
