"""Scores of CuisineWorld's records: collaboration scores by level, pace and number of agents, and published ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from collab_overcooked.core.record import Event
from collab_overcooked.evaluation.order_suite import OrderResult, score_orders
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.metrics.orders import (
    CosTable,
    Counting,
    OrderRecord,
    StepOrders,
    mean_known,
    parse_cell,
    served_share,
    tally_record,
)
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.policies.llm.settings import AgentSettings, settings_of

from ..engine.constants import PAPER_ALPHAS
from ..engine.spec import levels

SHARED = ("storage", "servingtable")  # tools at which agents do not get in each other's way


def failure_modes(record: OrderRecord) -> dict[str, int]:
    """Count what went wrong in one episode.

    Returns:
        ``failed``: orders whose time ran out; ``passed_over``: orders lost while one with more time left was served, so
        that the most urgent one was ignored; ``occupied``: commands refused because a tool was at work, for which the
        agent did not wait; ``crowded``: agents sent to a tool to which another agent was sent in the same step.
    """
    steps = record.steps
    errors = [error.code for step in steps for error in step.errors]
    return {
        "failed": tally_record(record).expired,
        "passed_over": _passed_over(step.orders for step in steps),
        "occupied": sum("OCCUPIED" in code for code in errors),
        "crowded": sum(_crowded(step.events) for step in steps),
    }


def _crowded(events: Sequence[Event | None]) -> int:
    goals = Counter(event.place or "" for event in events if event is not None and event.event == "GOTO")
    return sum(count - 1 for place, count in goals.items() if not place.startswith(SHARED))


def _passed_over(steps: Iterable[StepOrders]) -> int:
    lost = 0
    waiting: list[tuple[str, int, bool]] = []  # name, remaining steps, passed over
    for step in steps:
        for name in step.completed:
            served = next((order for order in waiting if order[0] == name), None)
            if served is not None:
                waiting.remove(served)
                waiting = [(n, left, passed or left < served[1]) for n, left, passed in waiting]
        for name in step.expired:
            gone = next((order for order in waiting if order[0] == name and order[1] == 0), None)
            if gone is not None:
                waiting.remove(gone)
                lost += gone[2]
        before = [(name, left - 1, passed) for name, left, passed in waiting]
        waiting = []
        for name, left in step.open:
            if left is None:
                continue
            known = next((order for order in before if order[:2] == (name, left)), (name, left, False))
            if known in before:
                before.remove(known)
            waiting.append(known)
    return lost


AXES = ("level", "agents", "alpha")


ABLATIONS = {"hints": True, "feedback": True, "demo": "full", "demo_agents": 0}
"""Switches of language agents whose effect the paper measured, with their default values."""


@dataclass(frozen=True)
class Condition:
    """Published scores of one model or one variant of its prompts on one level."""

    name: str  # Model, and what its prompts were without
    agents: int  # Number of agents
    tables: str  # Where it is printed
    switches: Mapping[str, Any]  # Values of ``ABLATIONS`` that differed from the default
    fractions: Mapping[float, str]  # Alpha -> completed/resolved as printed; ``"0"`` where nothing else is printed
    cos: float  # Printed score over all alphas

    def mean(self, alphas: Iterable[float]) -> float | None:
        """Return the mean share of completed orders at some of the alphas."""
        cells = (self.fractions[alpha] for alpha in alphas if alpha in self.fractions)
        return mean_known(0.0 if text == "0" else parse_cell(text).ratio for text in cells)


@dataclass(frozen=True)
class Published:
    """Numbers printed in the paper, measured by its authors with a language model."""

    source: str  # Citation of the paper
    model: str  # The language model
    classes: Mapping[str, tuple[str, ...]]  # The paper's classes of levels, in its order
    tables: Mapping[int, CosTable]  # Tables 6 to 8, by number of agents
    # Number of agents -> the printed ``table`` number, ``cos``, ``row_average`` and ``cos_average``
    printed: Mapping[int, Mapping[str, Any]]
    table_1: Mapping[int, Mapping[str, float]]  # Number of agents -> level, or ``"average"`` -> printed CoS
    success_alpha: float  # Pace of the success rates
    success_rates: Mapping[str, Mapping[str, float]]  # Table 12: level -> agent -> printed success rate; not the CoS
    condition_level: str  # Level of ``conditions``
    conditions: tuple[Condition, ...]  # Tables 2 to 4 and 9 to 11

    @property
    def levels(self) -> tuple[str, ...]:
        """The twelve levels in the order of the tables."""
        return tuple(level for group in self.classes.values() for level in group)


@cache
def published() -> Published:
    """Read the published numbers."""
    values = read_shipped_yaml("games/cuisineworld/published.yaml")
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
        values["success_alpha"],
        values["success_rates"],
        values["conditions"]["level"],
        tuple(_condition(row, PAPER_ALPHAS) for row in values["conditions"]["rows"]),
    )


def _condition(row: Mapping[str, Any], alphas: Sequence[float]) -> Condition:
    fractions = {alpha: str(text) for alpha, text in zip(alphas, row["fractions"], strict=True)}
    return Condition(**{**row, "fractions": fractions})


def level_order(level: str) -> tuple[int, int, str]:
    """Return the sort key of a level: the paper's levels first and in its order."""
    order, number = published().levels, level_number(level)
    return (order.index(level), 0, "") if level in order else (len(order), -1 if number is None else number, level)


def language_settings(result: OrderResult) -> AgentSettings | None:
    """Return the settings of the language model in the first seat; None if it is none."""
    record = next(iter(result.episodes.values()))[0]
    return settings_of(record.specs[0])


def played_levels(result: OrderResult) -> tuple[str, ...]:
    """Return all levels that were played, the paper's levels first and in its order."""
    played = dict.fromkeys(level for table in result.tables.values() for level in table.levels)
    return tuple(sorted(played, key=level_order))


def compared_levels(result: OrderResult) -> tuple[str, ...]:
    """Return the levels to average over: the paper's levels that were played, or all levels if there are none."""
    levels = played_levels(result)
    return tuple(level for level in levels if level in published().levels) or levels


def score_record(record: OrderRecord) -> dict[str, Any]:
    """Compute the metrics of one episode from its record: ``METRICS`` and ``return``."""
    tally = tally_record(record)
    return {
        "completed": tally.completed,
        "failed": tally.expired,
        "failing_steps": tally.failing_steps,
        "open": tally.open,
        "share": tally.cell().ratio,
        "return": float(sum(step.rewards[0] for step in record.steps)),
    }


METRICS = MetricSet(
    (
        Metric("completed", "Orders served in time.", "orders", "higher"),
        Metric("failed", "Orders whose time ran out.", "orders", "lower"),
        Metric("failing_steps", "Steps in which at least one order expired.", "steps", "lower"),
        Metric("open", "Orders still open at the end.", "orders"),
        Metric("share", "Share of the completed and failed orders that were completed.", better="higher"),
    ),
    score_record,
    outcome=served_share,
)


def score_records(records: Iterable[OrderRecord], counting: Counting = "orders") -> list[OrderResult]:
    """Score records of this game, one result for every team and variant.

    Args:
        records: Episodes; those of one setting and order seed form a run.
        counting: Definition of a failure.
    """
    return score_orders(records, levels(), "alpha", counting, level_order)


def level_number(name: str) -> int | None:
    """Return the number at the end of a level's name; None if there is none."""
    match = re.fullmatch(r"level_(\d+)", name)
    return int(match[1]) if match else None


def conditions(result: OrderResult, agents: int) -> tuple[Condition, ...]:
    """Return the published conditions that match a result's team, if it played their level at one of their paces."""
    paper, played = published(), result.tables[agents]
    matches = result.is_default and any(played.runs.get((paper.condition_level, alpha)) for alpha in PAPER_ALPHAS)
    switches = _own_switches(result, agents)
    return tuple(
        condition
        for condition in paper.conditions
        if matches and condition.agents == agents and condition.switches == switches
    )


def _own_switches(result: OrderResult, agents: int) -> dict[str, Any]:
    """Return the values of ``ABLATIONS`` in the team's prompts that differ from the default."""
    settings = language_settings(result)
    written = {} if settings is None else settings.switches
    changed = {name: written[name] for name, default in ABLATIONS.items() if written.get(name, default) != default}
    return {name: value for name, value in changed.items() if (name, value) != ("demo_agents", agents)}


def reference(result: OrderResult, agents: int) -> CosTable | None:
    """Return the published table for comparison, restricted to the settings played; None if there is none."""
    table, played = published().tables.get(agents), result.tables[agents]
    if table is None or not result.is_default or _own_switches(result, agents):
        return None
    alphas = tuple(alpha for alpha in played.alphas if alpha in table.alphas)
    names = tuple(level for level in played.levels if level in table.levels)
    if not alphas or not names:
        return None
    runs = {key: cells for key, cells in table.runs.items() if key[0] in names and key[1] in alphas}
    return replace(table, alphas=alphas, levels=names, runs=runs)
