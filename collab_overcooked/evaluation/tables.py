"""The paper's table in four forms: for the terminal, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import rich.box
import rich.table
from rich.console import Console
from rich.markup import escape

from collab_overcooked.evaluation.scoring import Estimates, Row, Table
from collab_overcooked.metrics import Estimate

MISSING = "n/a"
Cell = tuple[str, str]
"""A number and its interval, empty where there is none."""


def columns(table: Table) -> list[str]:
    """Return the headings of the paper's table, shares marked with a per cent sign."""
    seats = range(_n_agents(table))
    return ["Runs", "SR %", "PC %", *(f"TES {seat} %" for seat in seats), "IC %", "RC %", "Timesteps"]


def cells(table: Table, row: Row) -> list[Cell]:
    """Return a row's numbers in the order of ``columns``."""
    tes = _percents(row.tes, _n_agents(table))
    before, after = map(percent, (row.success_rate, row.pc)), map(percent, (row.ic, row.rc))
    return [(str(row.runs), ""), *before, *tes, *after, steps(row.timesteps)]


def more_columns(table: Table) -> list[str]:
    """Return the headings of what the paper does not show: efficiency, redundancy and ROUGE-L of each agent."""
    return [f"{name} {seat} %" for name in ("Efficiency", "Redundancy", "ROUGE-L") for seat in range(_n_agents(table))]


def more_cells(table: Table, row: Row) -> list[Cell]:
    """Return a row's numbers in the order of ``more_columns``."""
    n = _n_agents(table)
    return [cell for own in (row.efficiency, row.redundancy, row.rouge_l) for cell in _percents(own, n)]


def percent(estimate: Estimate | None) -> Cell:
    """Write a share in per cent."""
    if estimate is None:
        return MISSING, ""
    if estimate.low is None or estimate.high is None:
        return f"{100 * estimate.value:.1f}", ""
    return f"{100 * estimate.value:.1f}", f"{100 * estimate.low:.0f}–{100 * estimate.high:.0f}"


def steps(estimate: Estimate | None) -> Cell:
    """Write a number of steps; a dash where no run succeeded."""
    if estimate is None:
        return "–", ""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.1f}", ""
    return f"{estimate.value:.1f}", f"{estimate.low:.1f}–{estimate.high:.1f}"


def _percents(estimates: Estimates | None, n: int) -> list[Cell]:
    return [percent(None)] * n if estimates is None else [percent(estimate) for estimate in estimates]


def _n_agents(table: Table) -> int:
    tes = table.levels[0].tes
    return len(tes) if tes is not None else len(table.team)


def team_text(table: Table) -> str:
    """Return the team as users write it."""
    return " ".join(f"{seat}={spec}" for seat, spec in table.team.items())


def print_table(console: Console, table: Table, more: bool = False, by_task: bool = False) -> None:
    """Print a table with each interval below its number.

    Args:
        console: Where to.
        table: What.
        more: Print efficiency, redundancy and ROUGE-L too.
        by_task: A row per task instead of one per level.
    """
    if table.team:
        console.print(f"[bold]{escape(team_text(table))}[/bold]")
    console.print(escape(table.title))
    rows = table.tasks if by_task else table.levels
    first = "Task" if by_task else "Level"
    grids = [_grid(first, columns(table), [(row.name, cells(table, row)) for row in rows])]
    if more:
        grids.append(_grid(first, more_columns(table), [(row.name, more_cells(table, row)) for row in rows]))
    # Numbers cut off are worse than lines that wrap.
    wide = Console(file=console.file, width=max(console.width, 120), force_terminal=console.is_terminal)
    for grid in grids:
        wide.print(grid)
    for note in ("Below each number: its 95 % interval.", *table.notes):
        console.print(f"[dim]{escape(note)}[/dim]")


def _grid(first: str, names: Sequence[str], rows: Sequence[tuple[str, list[Cell]]]) -> rich.table.Table:
    grid = rich.table.Table(box=rich.box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    grid.add_column(first, no_wrap=True)
    for name in names:
        grid.add_column(name.replace(" ", "\n", 1), justify="right", no_wrap=True)
    for name, shown in rows:
        if name == "total":
            grid.add_section()
        grid.add_row(name, *(f"{value}\n[dim]{interval}[/dim]" if interval else value for value, interval in shown))
    return grid


def markdown(tables: Sequence[Table]) -> str:
    """Return all tables as Markdown, by level and by task, intervals in brackets."""
    parts = []
    for table in tables:
        parts.append(f"## {table.title}\n")
        if table.team:
            parts.append(f"Team: `{team_text(table)}`\n")
        parts += [_markdown_grid(table, table.levels, "Level"), _markdown_grid(table, table.tasks, "Task")]
        parts += [f"{note}\n" for note in ("In brackets: 95 % intervals.", *table.notes)]
    return "\n".join(parts)


def _markdown_grid(table: Table, rows: Sequence[Row], first: str) -> str:
    names = [first, *columns(table), *more_columns(table)]
    lines = ["| " + " | ".join(names) + " |", "|---|" + "---:|" * (len(names) - 1)]
    for row in rows:
        numbers = [*cells(table, row), *more_cells(table, row)]
        shown = [f"{value} ({interval})" if interval else value for value, interval in numbers]
        lines.append("| " + " | ".join([row.name, *shown]) + " |")
    return "\n".join(lines) + "\n"


def csv_text(tables: Sequence[Table]) -> str:
    """Return all rows as CSV: one line per level, task and total; shares as fractions, empty where missing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    width = max(map(_n_agents, tables), default=0)
    single = ("success_rate", "pc", "ic", "rc", "timesteps")
    several = ("tes", "efficiency", "redundancy", "rouge_l")
    names = [*single, *(f"{name}_{seat}" for name in several for seat in range(width))]
    ends = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    writer.writerow(["title", "team", "group", "name", "tasks", "runs", *ends])
    for table in tables:
        for group, rows in (("level", table.levels), ("task", table.tasks)):
            for row in rows:
                numbers = [getattr(row, name) for name in single]
                for name in several:
                    own = getattr(row, name) or ()
                    numbers += [own[seat] if seat < len(own) else None for seat in range(width)]
                flat = [value for number in numbers for value in _ends(number)]
                writer.writerow([table.title, team_text(table), group, row.name, row.tasks, row.runs, *flat])
    return out.getvalue()


def _ends(estimate: Estimate | None) -> list[float | str]:
    values = (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)
    return ["" if value is None else value for value in values]


def as_json(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Return all tables as plain values; shares are fractions, estimates have value, low and high."""
    return [asdict(table) | {"team": dict(table.team)} for table in tables]


def json_text(tables: Sequence[Table]) -> str:
    """Return all tables as JSON."""
    return json.dumps(as_json(tables), indent=2) + "\n"
