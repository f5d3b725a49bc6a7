"""Comparison of several runs of CuisineWorld: collaboration scores by number of agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.games.cuisineworld.suite.scoring import CosResult, published, score_records
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Chart

Record = Mapping[str, Any]
Scores = Mapping[int, float | None]


def cos_by_agents(result: CosResult, levels: Sequence[str]) -> dict[int, float | None]:
    """Return the mean collaboration score of some levels by number of agents."""
    return {agents: table.average(levels) for agents, table in result.tables.items()}


def sheet(played: Mapping[str, Sequence[Record]]) -> tuple[list[ResultTable], list[Chart]]:
    """Return scores by number of agents of several runs, and the published ones of the same levels and paces."""
    results = {f"{run}: {result.team}": result for run, records in played.items() for result in score_records(records)}
    any_default = any(result.is_default for result in results.values())
    tables = [table for result in results.values() for table in result.tables.values()]
    shared = set(tables[0].levels).intersection(*(table.levels for table in tables))
    levels = [level for level in tables[0].levels if level in shared]
    if not levels:
        return [], []
    scores_by_run: dict[str, Scores] = {name: cos_by_agents(result, levels) for name, result in results.items()}
    sizes = sorted({agents for scores in scores_by_run.values() for agents in scores})
    paces = {table.alphas for table in tables}
    tables_of_paper = published().tables
    if any_default and paces == {tables_of_paper[2].alphas} and set(levels) <= set(published().levels):
        scores_by_run["GPT-4, published"] = {
            agents: tables_of_paper[agents].average(levels) for agents in sizes if agents in tables_of_paper
        }
    title = f"CoS by number of agents, mean of {', '.join(levels)}"
    columns = (Column("Run"), *(Column(plural(agents, "agent"), "number", 3) for agents in sizes))
    rows = tuple((name, *(scores.get(agents) for agents in sizes)) for name, scores in scores_by_run.items())
    series = {
        name: tuple(None if (score := scores.get(agents)) is None else Estimate(score) for agents in sizes)
        for name, scores in scores_by_run.items()
    }
    groups = tuple(map(str, sizes))
    marks = {len(rows) - 1: "published"} if "GPT-4, published" in scores_by_run else {}
    chart = Chart("CoS by number of agents", title, groups, series, axis="agents", curve=True)
    return [ResultTable(columns, rows, title, marks)], [chart]
