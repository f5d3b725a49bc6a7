"""Tables in words, and the forms in which they are shown: terminal, Markdown and HTML; published numbers marked."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import rich.box
import rich.table
from rich.console import Console
from rich.markup import escape

from collab_overcooked.metrics import Estimate

MISSING = "–"
INTERVAL = re.compile(r"(\S+) \((\S+–\S+)\)")  # a number and its interval
PUBLISHED = "publ. "  # beginning of a heading of published numbers


@dataclass(frozen=True)
class Row:
    """A line of a grid.

    Attributes:
        name: First column.
        cells: The others.
        kind: ``""``, ``"published"`` for a line of published numbers, ``"mean"`` for the first line of a summary; on
            pages it is the line's class, whatever it is.
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
    """All tables of one team on one variant of a game: a ``Part`` that consists of grids.

    Attributes:
        heading: Who played.
        title: Game and variant.
        grids: Tables.
        notes: Sentences that belong under them.
        rows: Lines of the CSV table.
        values: Everything as plain values.
    """

    heading: str
    title: str
    grids: tuple[Grid, ...]
    notes: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    values: Mapping[str, Any]

    def show(self, console: Console, more: bool = False, by_task: bool = False) -> None:
        """Print all tables; there is no more than these."""
        console.print(f"[bold]{escape(self.heading)}[/bold]")
        console.print(escape(self.title))
        for grid in self.grids:
            print_grid(console, grid)
        for note in self.notes:
            console.print(f"[dim]{escape(note)}[/dim]")

    def markdown(self) -> str:
        """Return all tables as Markdown."""
        parts = [f"## {self.title}\n\nTeam: `{self.heading}`\n"]
        parts += [f"### {grid.title}\n\n{grid_markdown(grid)}\n" for grid in self.grids]
        return "\n".join([*parts, *(f"{note}\n" for note in self.notes)])

    def lines(self) -> tuple[Mapping[str, Any], ...]:
        """Return the lines of the CSV table."""
        return self.rows

    def as_json(self) -> dict[str, Any]:
        """Return everything, fit for JSON."""
        return dict(self.values)

    def html_sections(self) -> Iterator[str]:
        """Yield the sections of a report page."""
        yield f"<h1>{html.escape(self.heading)}</h1>"
        yield f'<p class="soft">{html.escape(self.title)}</p>'
        for grid in self.grids:
            yield f"<h2>{html.escape(grid.title)}</h2>{grid_html(grid)}"
        yield f'<p class="soft">{html.escape(" ".join(self.notes))}</p>'


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


def print_grid(console: Console, grid: Grid, stacked: bool = False) -> None:
    """Print one table; numbers cut off are worse than lines that wrap.

    Args:
        console: Where to.
        grid: What.
        stacked: Print each interval below its number.
    """
    wide = Console(file=console.file, width=max(console.width, 130), force_terminal=console.is_terminal)
    wide.print(_rich(grid, stacked))


def _rich(grid: Grid, stacked: bool) -> rich.table.Table:
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
        broken = head.replace("_", "_\n", 1) if stacked and len(head) > 12 and " " not in head else head
        table.add_column(broken.replace(" ", "\n", 1), justify="right", no_wrap=True, style=style)
    for row in grid.rows:
        if row.kind == "mean":
            table.add_section()
        cells = [INTERVAL.sub(r"\1\n[dim]\2[/dim]", cell) for cell in row.cells] if stacked else row.cells
        table.add_row(escape(row.name), *cells, style="dim" if row.kind == "published" else None)
    return table


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


def grid_html(grid: Grid) -> str:
    """Return one table as HTML, without its title."""
    head = "".join(f'<th scope="col">{_breakable(name)}</th>' for name in [grid.first, *_marked_heads(grid)])
    lines = []
    for row in grid.rows:
        shown = "".join(f"<td>{_cell_html(cell)}</td>" for cell in row.cells)
        name = "total" if row.kind == "mean" else html.escape(row.kind)
        kind = f' class="{name}"' if name else ""
        lines.append(f'<tr{kind}><th scope="row">{_breakable(row.name.strip())}</th>{shown}</tr>')
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<div class="scroll"><table>{body}</table></div>'


def _breakable(name: str) -> str:
    """Return a name that may be broken where its words end."""
    return re.sub(r"([_:])", r"\1<wbr>", html.escape(name))


def _cell_html(cell: str) -> str:
    """Return a cell, an interval behind a number below it."""
    found = INTERVAL.fullmatch(cell)
    if found is None:
        return html.escape(cell)
    return f"{html.escape(found[1])}<small>{html.escape(found[2])}</small>"
