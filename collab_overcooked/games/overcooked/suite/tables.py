"""The table of Overcooked: scores by layout and order of seats, published self-play scores beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collab_overcooked.games.overcooked.suite.scoring import KitchenResult, KitchenRow, published
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, table_of_mappings
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.teams import SWAPPED


def scorecard(game: str, result: KitchenResult) -> Scorecard:
    """Return the table of a result, published scores of like teams beside ours, and what has to be known of them."""
    theirs = list(dict.fromkeys(name for row in result.rows for name in row.theirs))
    columns = (
        Column("Layout"),
        Column("score", "estimate", 1),
        Column("soups", "number", 1),
        Column("episodes", "number"),
        *(Column(name, published=True) for name in theirs),
    )
    rows = tuple(
        (row.task, row.score, row.mean_soups, len(row.scores), *(_printed(row, name) for name in theirs))
        for row in result.rows
    )
    data = table_of_mappings(({"title": result.title, **line} for line in _lines(result)), ("score",))
    table = ResultTable(columns, rows, "Score by layout")
    return Scorecard(game, result.title, (table,), result.team, tuple(_notes(result, theirs)), data=data)


def _printed(row: KitchenRow, name: str) -> str | None:
    if name not in row.theirs:
        return None
    mean, error = row.theirs[name]
    return f"{mean:g}" if error is None else f"{mean:g} ± {error:g}"


def _notes(result: KitchenResult, theirs: Sequence[str]) -> list[str]:
    lines = ["Score: what the team's deliveries paid in an episode; shaped reward is not counted."]
    if any(row.task.endswith(SWAPPED) for row in result.rows):
        lines.append("Seats swapped: the same policies in reverse order.")
    if theirs:
        lines.append(
            f"Published numbers ({published().source}) were not measured here: teams of equal agents, or (+ proxy) the "
            "named agent in our policy's seat beside a stand-in for people; behind ± stands the standard error over 5 "
            "seeds, not a standard deviation; LLM-Co (GPT-4) is one game."
        )
        if any(name.endswith("+ proxy") for name in theirs):
            lines.append("Their proxy is a clone of people's games, ours (proxy:bc) one of noisy and greedy play.")
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
    names = dict.fromkeys([*published().self_play, *(name for row in result.rows for name in row.theirs)])
    for row in result.rows:
        line: dict[str, Cell] = {"layout": row.layout, "swapped": row.task.endswith(SWAPPED)}
        line |= {f"agent_{i}": spec for i, spec in enumerate(row.team)}
        line |= {"episodes": len(row.scores), "score": row.score, "soups": row.mean_soups}
        yield line | {f"published_{name}": row.theirs[name][0] if name in row.theirs else None for name in names}
