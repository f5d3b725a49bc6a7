"""Tables of words in three forms: for the terminal, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import rich.box
import rich.table
from rich.console import Console
from rich.markup import escape

from collab_overcooked.metrics import Estimate

MISSING = "–"


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
        theirs: Which of the others are published numbers.
        long_heads: Other headings for forms with room.
    """

    title: str
    first: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    theirs: frozenset[int] = frozenset()
    long_heads: Mapping[str, str] = field(default_factory=dict)

    @property
    def written_heads(self) -> list[str]:
        """Headings of all columns for forms with room."""
        return [self.first, *(self.long_heads.get(head, head) for head in self.heads)]


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


def wide(console: Console) -> Console:
    """Return a console on which broad tables keep their lines."""
    return Console(file=console.file, width=max(console.width, 130), force_terminal=console.is_terminal)


def terminal(grid: Grid) -> rich.table.Table:
    """Return a grid for ``rich``."""
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


def markdown(grid: Grid) -> str:
    """Return a grid with its heading as Markdown."""
    lines = [f"### {grid.title}\n", "| " + " | ".join(grid.written_heads) + " |"]
    lines.append("|---|" + "---:|" * len(grid.heads))
    lines += ["| " + " | ".join([row.name.strip(), *row.cells]) + " |" for row in grid.rows]
    return "\n".join(lines) + "\n"


def html(grid: Grid) -> str:
    """Return a grid with its heading as HTML."""
    head = "".join(f'<th scope="col">{escape_html(name)}</th>' for name in grid.written_heads)
    lines = []
    for row in grid.rows:
        shown = "".join(f"<td>{escape_html(cell)}</td>" for cell in row.cells)
        total = ' class="total"' if row.kind == "mean" else ""
        lines.append(f'<tr{total}><th scope="row">{escape_html(row.name.strip())}</th>{shown}</tr>')
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<h2>{escape_html(grid.title)}</h2><div class="scroll"><table>{body}</table></div>'


def escape_html(text: str) -> str:
    """Return a text that is nothing but text in HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
