"""The tables of CuisineWorld, published numbers beside ours.

For each number of agents there is the paper's detailed table (6, 7 or 8), turned so that levels are rows; then its
table 1: CoS of every level, and the mean of every class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from collab_overcooked.games.cuisineworld.suite import CosResult, published, reference
from collab_overcooked.metrics import CosTable, Estimate
from collab_overcooked.reporting.grids import MISSING, PUBLISHED, Grid, Row, Sheet, ends, interval, number
from collab_overcooked.runner.teams import size_words

THEIRS = f"{PUBLISHED}GPT-4"  # heading of published numbers


# ------------------------------------------------------------------------------------------- grids


def grids(result: CosResult) -> Iterator[Grid]:
    """Yield the tables of a result."""
    for agents in result.tables:
        yield details(result, agents)
    yield levels_overview(result)
    if set(result.compared()) & set(published().levels):
        yield classes_overview(result)


def details(result: CosResult, agents: int) -> Grid:
    """Return fractions by level and alpha for one number of agents, each beside the published one."""
    ours, theirs = result.tables[agents], reference(result, agents)
    known = theirs.alphas if theirs else ()
    heads: list[str] = []
    published_columns: set[int] = set()
    for name, there in [*((_alpha_name(alpha), alpha in known) for alpha in ours.alphas), ("CoS", bool(theirs))]:
        heads.append(name)
        if there:
            published_columns.add(len(heads))
            heads.append(THEIRS)
    rows = [Row(level, tuple(_detail_cells(ours, theirs, level))) for level in ours.levels]
    rows.append(Row("average", tuple(_average_cells(result, agents)), "mean"))
    printed = published().printed[agents]["table"] if theirs else None
    title = f"{size_words(agents)}: completed/resolved orders"
    title += f"; GPT-4 as published in table {printed} of the paper" if printed else ""
    return Grid(title, "Level", tuple(heads), tuple(rows), frozenset(published_columns))


def _detail_cells(ours: CosTable, theirs: CosTable | None, level: str) -> Iterator[str]:
    for alpha in ours.alphas:
        yield _text(ours.cell(level, alpha))
        if theirs and alpha in theirs.alphas:
            yield _text(theirs.cell(level, alpha) if level in theirs.levels else None)
    yield interval(ours.cos(level))
    if theirs:
        yield interval(theirs.cos(level) if level in theirs.levels else None)


def _average_cells(result: CosResult, agents: int) -> Iterator[str]:
    """Yield the paper's last column and corner: means of ratios, and of CoS, over the levels that compare."""
    ours, theirs = _only(result.tables[agents], result.compared()), reference(result, agents)
    for alpha in ours.alphas:
        yield number(ours.row_average(alpha))
        if theirs and alpha in theirs.alphas:
            yield number(theirs.row_average(alpha))
    yield number(ours.average())
    if theirs:
        yield number(theirs.average())


def levels_overview(result: CosResult) -> Grid:
    """Return the paper's table 1: CoS by number of agents and level."""
    levels = result.levels
    rows: list[Row] = []
    for agents, table in result.tables.items():
        theirs = reference(result, agents)
        average = _only(table, result.compared()).average()
        cells = [_value(table.cos(level)) if level in table.levels else MISSING for level in levels]
        rows.append(Row(size_words(agents), (*cells, number(average)), "mean" if rows else ""))
        if theirs:
            cells = [_value(theirs.cos(level)) if level in theirs.levels else MISSING for level in levels]
            rows.append(Row("  GPT-4, published", (*cells, number(theirs.average())), "published"))
    heads = (*(level.removeprefix("level_") for level in levels), "avg.")
    return Grid("CoS by level", "Level", heads, tuple(rows))


def classes_overview(result: CosResult) -> Grid:
    """Return the mean CoS of each of the paper's classes."""
    played = set(result.compared())
    classes = {name: [level for level in group if level in played] for name, group in published().classes.items()}
    classes = {name: group for name, group in classes.items() if group}
    rows: list[Row] = []
    for agents, table in result.tables.items():
        theirs = reference(result, agents)
        ours = tuple(number(_only(table, group).average()) for group in classes.values())
        rows.append(
            Row(size_words(agents), (*ours, number(_only(table, result.compared()).average())), "mean" if rows else "")
        )
        if theirs:
            cells = tuple(number(_only(theirs, group).average()) for group in classes.values())
            rows.append(Row("  GPT-4, published", (*cells, number(theirs.average())), "published"))
    whole = all(len(group) == len(published().classes[name]) for name, group in classes.items())
    title = "Mean CoS by class" + ("" if whole else " (of the levels played)")
    return Grid(title, "Class", (*classes, "average"), tuple(rows))


def _only(table: CosTable, levels: Sequence[str]) -> CosTable:
    """Return a table without other levels."""
    kept = tuple(level for level in table.levels if level in levels)
    return CosTable(table.agents, table.alphas, kept, table.runs)


def _alpha_name(alpha: float) -> str:
    return f"alpha {alpha:g}" if alpha else "file times"


def _text(cell: Any) -> str:
    return MISSING if cell is None else str(cell)


def _value(estimate: Estimate | None) -> str:
    return number(None if estimate is None else estimate.value)


# ------------------------------------------------------------------------------------------- notes


def notes(result: CosResult) -> list[str]:
    """Return sentences that belong under the tables."""
    lines = []
    if result.counting == "orders":
        lines.append("Failures: every expired order.")
        hidden = sum(tally.expired - tally.failing_steps for tally, _ in result.tallies.values())
        if hidden:
            lines.append(
                f"The published numbers count at most one failure a step, which would hide {hidden} of ours; "
                "--counting steps counts like them."
            )
    else:
        lines.append("Failures: at most one a step, as in the published numbers.")
    still_open = sum(tally.open for tally, _ in result.tallies.values())
    lines.append(f"Orders still open at the end ({still_open}) are in no ratio, as in the paper.")
    if any(reference(result, agents) for agents in result.tables):
        lines.append(f"GPT-4: published numbers ({published().source}; {published().model}), not measured here.")
        if any(not _whole(result, agents) for agents in result.tables):
            lines.append(
                "Where not everything was played, published scores are computed over the same levels and alphas."
            )
    left_out = [level for level in result.levels if level not in result.compared()]
    if left_out:
        lines.append(f"Not in averages, as the paper has no numbers of them: {', '.join(left_out)}.")
    return lines


def _whole(result: CosResult, agents: int) -> bool:
    theirs = reference(result, agents)
    whole = published().tables.get(agents)
    return theirs is None or whole is None or (theirs.levels, theirs.alphas) == (whole.levels, whole.alphas)


# ------------------------------------------------------------------------------------------- forms


def sheet(result: CosResult) -> Sheet:
    """Return everything that is shown of a result."""
    head = {"title": result.title, "team": result.team, "counting": result.counting}
    lines = tuple({**head, **setting} for setting in _settings(result))
    return Sheet(result.team, result.title, tuple(grids(result)), tuple(notes(result)), lines, _values(result))


def _values(result: CosResult) -> dict[str, Any]:
    """Return settings with counts, scores, averages, and the published numbers apart."""
    return {
        "title": result.title,
        "team": result.team,
        "counting": result.counting,
        "settings": list(_settings(result)),
        "cos": [
            {"agents": agents, "level": level, **ends(table.cos(level))}
            for agents, table in result.tables.items()
            for level in table.levels
        ],
        "average": {str(agents): _only(table, result.compared()).average() for agents, table in result.tables.items()},
        "published": {
            "source": published().source,
            "model": published().model,
            "average": {str(n): theirs.average() for n in result.tables if (theirs := reference(result, n))},
        },
    }


def _settings(result: CosResult) -> Iterator[dict[str, Any]]:
    for (agents, level, alpha), (tally, episodes) in result.tallies.items():
        theirs = reference(result, agents)
        known = theirs.cell(level, alpha) if theirs else None
        yield {
            "agents": agents,
            "level": level,
            "alpha": alpha or None,
            "episodes": episodes,
            "completed": tally.completed,
            "expired": tally.expired,
            "failing_steps": tally.failing_steps,
            "open": tally.open,
            "ratio": tally.cell(result.counting).ratio,
            "published_completed": known.completed if known else None,
            "published_resolved": known.resolved if known else None,
        }


__all__ = ["classes_overview", "details", "grids", "levels_overview", "notes", "sheet"]
