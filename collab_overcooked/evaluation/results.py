"""Scores of records of any game, in every form in which they are shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from collab_overcooked.evaluation import cos_tables, costs, cuisineworld, scoring, tables
from collab_overcooked.evaluation.costs import Cost, costs_of
from collab_overcooked.evaluation.cuisineworld import CosResult
from collab_overcooked.evaluation.scoring import Table
from collab_overcooked.evaluation.suites import CUISINEWORLD
from collab_overcooked.metrics import CollaborationOptions, Counting

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Results:
    """What records come to.

    Attributes:
        tables: Process metrics of games of single orders.
        cos: Collaboration scores of games with deadlines.
        costs: What language models took.
    """

    tables: tuple[Table, ...]
    cos: tuple[CosResult, ...]
    costs: tuple[Cost, ...] = ()

    def show(self, console: Console, more: bool = False, by_task: bool = False) -> None:
        """Print everything."""
        for table in self.tables:
            tables.print_table(console, table, more, by_task)
        for result in self.cos:
            cos_tables.print_result(console, result)
        costs.show(console, self.costs)

    def markdown(self) -> str:
        """Return everything as Markdown."""
        return _joined(tables.markdown(self.tables), cos_tables.markdown(self.cos), costs.markdown(self.costs))

    def csv_text(self) -> str:
        """Return everything as CSV; two games in two parts, as their columns differ."""
        parts = [tables.csv_text(self.tables)] if self.tables else []
        return "\n".join([*parts, *([cos_tables.csv_text(self.cos)] if self.cos else [])])

    def json_text(self) -> str:
        """Return everything as JSON."""
        parts = [*tables.as_json(self.tables), *cos_tables.as_json(self.cos), *(cost.as_json() for cost in self.costs)]
        return json.dumps(parts, indent=2) + "\n"

    @property
    def parts(self) -> list[Table | CosResult]:
        """All tables and scores in turn."""
        return [*self.tables, *self.cos]


def _joined(*texts: str) -> str:
    return "\n".join(text for text in texts if text)


def results_of(
    records: Sequence[Record], options: CollaborationOptions | None = None, counting: Counting = "orders"
) -> Results:
    """Score records.

    Args:
        records: Episodes of any games.
        options: How conversations are counted, where they are.
        counting: What counts as a failure, where orders expire.

    Raises:
        ValueError: For an unknown game or task, or a field that metrics cannot read.
    """
    others = [record for record in records if record["env_id"] != CUISINEWORLD]
    cos = [record for record in records if record["env_id"] == CUISINEWORLD]
    scored = tuple(scoring.score_records(others, options))
    return Results(scored, tuple(cuisineworld.score_records(cos, counting)), costs_of(records))


def results_of_paths(
    paths: Sequence[Path],
    options: CollaborationOptions | None = None,
    counting: Counting = "orders",
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
    results = results_of(records, options, counting)
    if not logs:
        return results
    table = scoring.score_logs(logs, options, task=task, kitchen=kitchen, gamma=gamma, note=note)
    return Results((*results.tables, table), results.cos, results.costs)
