"""Scores of records of any game, in every form in which they are shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from collab_overcooked.evaluation import cos_tables, costs, cuisineworld, rush, rush_tables, scoring, tables
from collab_overcooked.evaluation.costs import Cost, costs_of
from collab_overcooked.evaluation.cuisineworld import CosResult
from collab_overcooked.evaluation.rush import RushResult
from collab_overcooked.evaluation.scoring import Table
from collab_overcooked.evaluation.suites import CUISINEWORLD, RUSH
from collab_overcooked.metrics import Attribution, CollaborationOptions, Counting, tally_record

Record = Mapping[str, Any]
Part = Table | CosResult | RushResult


@dataclass(frozen=True)
class Results:
    """What records come to.

    Attributes:
        tables: Process metrics of games of single orders.
        cos: Collaboration scores of games with deadlines.
        rush: Group and individual metrics of Rush.
        costs: What language models took.
    """

    tables: tuple[Table, ...] = ()
    cos: tuple[CosResult, ...] = ()
    rush: tuple[RushResult, ...] = ()
    costs: tuple[Cost, ...] = ()

    def _forms(self) -> Iterator[tuple[Any, Sequence[Part]]]:
        """Yield the module that writes each kind of scores, with the scores, if there are any."""
        for module, parts in ((tables, self.tables), (cos_tables, self.cos), (rush_tables, self.rush)):
            if parts:
                yield module, parts

    def show(self, console: Console, more: bool = False, by_task: bool = False) -> None:
        """Print everything."""
        for table in self.tables:
            tables.print_table(console, table, more, by_task)
        for result in self.cos:
            cos_tables.print_result(console, result)
        for played in self.rush:
            rush_tables.print_result(console, played)
        costs.show(console, self.costs)

    def markdown(self) -> str:
        """Return everything as Markdown."""
        texts = [module.markdown(parts) for module, parts in self._forms()]
        return "\n".join([*texts, *([costs.markdown(self.costs)] if self.costs else [])])

    def csv_text(self) -> str:
        """Return everything as CSV; several games in as many parts, as their columns differ."""
        return "\n".join(module.csv_text(parts) for module, parts in self._forms())

    def json_text(self) -> str:
        """Return everything as JSON."""
        entries = [entry for module, parts in self._forms() for entry in module.as_json(parts)]
        return json.dumps([*entries, *(cost.as_json() for cost in self.costs)], indent=2) + "\n"

    @property
    def parts(self) -> list[Part]:
        """All tables and scores in turn."""
        return [*self.tables, *self.cos, *self.rush]


def results_of(
    records: Sequence[Record],
    options: CollaborationOptions | None = None,
    counting: Counting = "orders",
    attribution: Attribution = "final",
) -> Results:
    """Score records.

    Args:
        records: Episodes of any games.
        options: How conversations are counted, where they are.
        counting: What counts as a failure, where orders expire.
        attribution: When an action is positive, in Rush.

    Raises:
        ValueError: For an unknown game or task, or a field that metrics cannot read.
    """
    cos = [record for record in records if record["env_id"] == CUISINEWORLD]
    rounds = [record for record in records if record["env_id"] in RUSH]
    others = [record for record in records if record["env_id"] not in (CUISINEWORLD, *RUSH)]
    return Results(
        tuple(scoring.score_records(others, options)),
        tuple(cuisineworld.score_records(cos, counting)),
        tuple(rush.score_records(rounds, attribution)),
        costs_of(records),
    )


def results_of_paths(
    paths: Sequence[Path],
    options: CollaborationOptions | None = None,
    counting: Counting = "orders",
    attribution: Attribution = "final",
    *,
    task: str | None = None,
    kitchen: str = "paper",
    gamma: float = 1.5,
    note: Callable[[str], None] = print,
) -> Results:
    """Score what lies at some paths: run folders, record files, or logs of the original Collab-Overcooked.

    Raises:
        ValueError: Nothing to score at a path, or a damaged file; the message names it.
    """
    records, logs = scoring.read_paths(paths)
    results = results_of(records, options, counting, attribution)
    if not logs:
        return results
    table = scoring.score_logs(logs, options, task=task, kitchen=kitchen, gamma=gamma, note=note)
    return Results((*results.tables, table), results.cos, results.rush, results.costs)


# ------------------------------------------------------------------------------------------- single episodes


def outcome_words(record: Record) -> str:
    """Say how an episode ended, for example ``"delivered"`` or ``"4 completed, 1 ruined"``."""
    if record["env_id"] == CUISINEWORLD:
        tally = tally_record(record)
        return f"{tally.completed} completed, {tally.expired} failed"
    if record["env_id"] in RUSH:
        metrics = rush.score_record(record)
        return f"{metrics['completed']} completed, {metrics['ruined']} ruined"
    return "delivered" if record["success"] else "not delivered"


def fully_succeeded(record: Record) -> bool:
    """Tell whether nothing is left to wish for."""
    if record["env_id"] in RUSH:
        return all(order["finished"] for order in record["orders"])
    return bool(record["success"])


def event_words(event: Mapping[str, Any]) -> str:
    """Return an event as words; a label alone where the game names nothing else."""
    if "event" not in event:
        return str(event["label"])
    if "reason" in event:  # games that tell of refused actions as well
        ends = [name for name in ("finished", "ruined") if event[name]]
        refused = [] if event["reason"] == "OK" else [f"refused, {event['reason'].lower().replace('_', ' ')}"]
        return ": ".join([event["label"], *ends, *refused])
    item = f" {event['item']}" if event.get("item") else ""
    place = f" ({event['place']})" if event.get("place") else ""
    return f"{event['event'].lower().replace('_', ' ')}{item}{place}"
