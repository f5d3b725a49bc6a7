"""Tables in words, and the forms in which they are shown: terminal, Markdown and HTML; published numbers marked."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import rich.box
import rich.table
from rich.console import Console
from rich.markup import escape

from collab_overcooked.metrics import Estimate

MISSING = "–"
PUBLISHED = "publ. "  # beginning of a heading of published numbers


@dataclass(frozen=True)
class Row:
    """A line of a grid.

    Attributes:
        name: First column.
        cells: The others.
        kind: ``""``, ``"published"`` for a line of published numbers, ``"mean"`` for the first line of a summary.
    """

    name: str
    cells: tuple[str, ...]
    kind: str = ""


@dataclass(frozen=True)
class Grid:
    """One table in words.

    Attributes:
        title: Heading.
        first: Heading of the first column.
        heads: Headings of the others.
        rows: Lines.
        theirs: Which of the others are published numbers; their headings begin with ``PUBLISHED``.
    """

    title: str
    first: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    theirs: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Sheet:
    """All tables of one team on one variant of a game.

    Attributes:
        team: Who played.
        title: Game and variant.
        grids: Tables.
        notes: Sentences that belong under them.
    """

    team: str
    title: str
    grids: tuple[Grid, ...]
    notes: tuple[str, ...]


# ------------------------------------------------------------------------------------------- numbers


def number(value: float | None, digits: int = 3) -> str:
    """Write a number, a dash for none."""
    return MISSING if value is None else f"{value:.{digits}f}"


def interval(estimate: Estimate | None, digits: int = 3, ends: int = 2) -> str:
    """Write a number with its interval, if it has one."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return number(None if estimate is None else estimate.value, digits)
    return f"{estimate.value:.{digits}f} ({estimate.low:.{ends}f}–{estimate.high:.{ends}f})"


def ends(estimate: Estimate | None) -> dict[str, float | None]:
    """Return a number with its interval, fit for JSON."""
    if estimate is None:
        return {"value": None, "low": None, "high": None}
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


# ------------------------------------------------------------------------------------------- forms


def print_sheet(console: Console, sheet: Sheet) -> None:
    """Print all tables of a sheet."""
    console.print(f"[bold]{escape(sheet.team)}[/bold]")
    console.print(escape(sheet.title))
    wide = Console(file=console.file, width=max(console.width, 130), force_terminal=console.is_terminal)
    for grid in sheet.grids:
        wide.print(_rich(grid))
    for note in sheet.notes:
        console.print(f"[dim]{escape(note)}[/dim]")


def _rich(grid: Grid) -> rich.table.Table:
    table = rich.table.Table(
        title=escape(grid.title),
        title_justify="left",
        title_style="",
        box=rich.box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column(grid.first, no_wrap=True)
    for i, head in enumerate(grid.heads):
        style = "dim" if i in grid.theirs else None
        table.add_column(head.replace(" ", "\n", 1), justify="right", no_wrap=True, style=style)
    for row in grid.rows:
        if row.kind == "mean":
            table.add_section()
        table.add_row(escape(row.name), *row.cells, style="dim" if row.kind == "published" else None)
    return table


def markdown(sheets: Sequence[Sheet]) -> str:
    """Return all tables as Markdown."""
    parts = []
    for sheet in sheets:
        parts.append(f"## {sheet.title}\n\nTeam: `{sheet.team}`\n")
        parts += [f"### {grid.title}\n\n{grid_markdown(grid)}\n" for grid in sheet.grids]
        parts += [f"{note}\n" for note in sheet.notes]
    return "\n".join(parts)


def grid_markdown(grid: Grid) -> str:
    """Return one table as Markdown, without its title."""
    lines = ["| " + " | ".join([grid.first, *_marked_heads(grid)]) + " |"]
    lines.append("|---|" + "---:|" * len(grid.heads))
    lines += ["| " + " | ".join([row.name.strip(), *row.cells]) + " |" for row in grid.rows]
    return "\n".join(lines)


def _marked_heads(grid: Grid) -> list[str]:
    return [
        f"{head.removeprefix(PUBLISHED)} (published)" if i in grid.theirs else head for i, head in enumerate(grid.heads)
    ]


def html_sections(sheet: Sheet) -> Iterator[str]:
    """Yield the parts of a report page."""
    yield f"<h1>{html.escape(sheet.team)}</h1>"
    yield f'<p class="soft">{html.escape(sheet.title)}</p>'
    for grid in sheet.grids:
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in [grid.first, *_marked_heads(grid)])
        lines = []
        for row in grid.rows:
            shown = "".join(f"<td>{html.escape(cell)}</td>" for cell in row.cells)
            total = ' class="total"' if row.kind == "mean" else ""
            lines.append(f'<tr{total}><th scope="row">{html.escape(row.name.strip())}</th>{shown}</tr>')
        body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
        yield f'<h2>{html.escape(grid.title)}</h2><div class="scroll"><table>{body}</table></div>'
    yield f'<p class="soft">{html.escape(" ".join(sheet.notes))}</p>'
