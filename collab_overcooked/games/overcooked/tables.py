"""The table of Overcooked: scores by layout and order of seats, published self-play scores beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from collab_overcooked.games.overcooked.scoring import SWAPPED, KitchenResult, KitchenRow, published
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, table_of_mappings
from collab_overcooked.reporting.scorecard import Scorecard


def scorecard(game: str, result: KitchenResult) -> Scorecard:
    """Return the table of a result, published self-play scores beside ours, and what has to be known of them."""
    theirs = published().self_play
    if not any(row.comparable and any(row.layout in numbers for numbers in theirs.values()) for row in result.rows):
        theirs = {}
    columns = (
        Column("Layout"),
        Column("score", "estimate", 1),
        Column("soups", "number", 1),
        Column("episodes", "number"),
        *(Column(name, published=True) for name in theirs),
    )
    rows = tuple(
        (row.task, row.score, row.mean_soups, len(row.scores), *_published(row, theirs)) for row in result.rows
    )
    data = table_of_mappings(({"title": result.title, **line} for line in _lines(result)), ("score",))
    table = ResultTable(columns, rows, "Score by layout")
    return Scorecard(game, result.title, (table,), result.team, tuple(_notes(result, bool(theirs))), data=data)


def _published(row: KitchenRow, theirs: Mapping[str, Mapping[str, Any]]) -> Iterable[str | None]:
    for numbers in theirs.values():
        mean, error = numbers.get(row.layout, (None, None)) if row.comparable else (None, None)
        yield None if mean is None else f"{mean:g}" if error is None else f"{mean:g} ± {error:g}"


def _notes(result: KitchenResult, shown: bool) -> list[str]:
    lines = ["Score: what the team's deliveries paid in an episode; shaped reward is not counted."]
    if any(row.task.endswith(SWAPPED) for row in result.rows):
        lines.append("Seats swapped: the same policies in reverse order.")
    if shown:
        lines.append(
            f"Published numbers ({published().source}) were not measured here: self-play of each agent; behind ± "
            "stands the standard error over 5 seeds, not a standard deviation; LLM-Co (GPT-4) is one game."
        )
        names = {row.layout for row in result.rows}
        if names & {"asymmetric_advantages", "asymmetric_advantages_llmco"}:
            lines.append(
                "The paper compares learned agents on the 9x5 asymmetric_advantages with LLM-Co on an 11x5 map; they "
                "stand in the rows of their own maps here."
            )
        if "locked" in names:
            lines.append("LLM-Co with helper directive on Locked is 220 in the paper's table 4 and 240 in its table 3.")
    return lines


def _lines(result: KitchenResult) -> Iterable[dict[str, Cell]]:
    for row in result.rows:
        line: dict[str, Cell] = {"layout": row.layout, "swapped": row.task.endswith(SWAPPED)}
        line |= {f"agent_{i}": spec for i, spec in enumerate(row.team)}
        line |= {"episodes": len(row.scores), "score": row.score, "soups": row.mean_soups}
        for name, numbers in published().self_play.items():
            line[f"published_{name}"] = numbers[row.layout][0] if row.comparable and row.layout in numbers else None
        yield line
