"""Result tables with typed columns, and their five forms: terminal, Markdown, CSV, JSON and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import rich.box
import rich.table
from markupsafe import Markup
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.text import Text

from collab_overcooked.io.text import one_line
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.escaping import file_cell, markdown_text, terminal_text

if TYPE_CHECKING:
    import pandas

MISSING = "–"
Cell = Estimate | float | str | None
"""An estimate with its interval, a number, text, or None."""
_LONG = 40  # characters above which a list is broken after its commas
_MIN_WIDTH = 130  # characters
_ANY_WIDTH = 10_000  # characters; wrapped lines are better than truncated numbers


@dataclass(frozen=True)
class Column:
    """Column of a table.

    Attributes:
        name: Heading.
        kind: Type of the cells; an ``"estimate"`` has three columns in CSV files.
        digits: Decimal places; None for two significant digits.
        ends: Decimal places of interval ends, ``digits`` if None.
        scale: Factor for displayed numbers, 100 for per cent; files contain unscaled numbers.
        published: Whether the numbers are published and not re-measured here.
        key: Name in CSV and JSON files, unique in its table; ``name`` if empty.
        value: Returns the cell of a row, for tables that ``table_of`` makes.
    """

    name: str
    kind: Literal["text", "number", "estimate"] = "text"
    digits: int | None = 3
    ends: int | None = None
    scale: float = 1.0
    published: bool = False
    key: str = ""
    value: Callable[[Any], Cell] | None = field(default=None, compare=False, repr=False)

    @property
    def file_key(self) -> str:
        """Name in CSV and JSON files."""
        return self.key or self.name

    def text(self, cell: Cell) -> tuple[str, str]:
        """Format a cell for display.

        Returns:
            The value, a dash if missing, and its interval, empty if there is none or its ends are equal.
        """
        if cell is None:
            return MISSING, ""
        if isinstance(cell, str):
            return one_line(cell), ""
        if not isinstance(cell, Estimate):
            return self._number(cell, self.digits), ""
        interval = ""
        if cell.low is not None and cell.high is not None and cell.low != cell.high:
            digits = self.digits if self.ends is None else self.ends
            low, high = self._number(cell.low, digits), self._number(cell.high, digits)
            interval = f"{low} to {high}" if low.startswith("-") else f"{low}–{high}"
        return self._number(cell.value, self.digits), interval

    def with_interval(self, cell: Cell) -> str:
        """Format a cell as text, its interval in brackets."""
        text, interval = self.text(cell)
        return f"{text} ({interval})" if interval else text

    def _number(self, value: float, digits: int | None) -> str:
        if isinstance(value, int):
            return str(value) if self.scale == 1.0 else f"{value * self.scale:g}"
        value = value * self.scale
        if digits is None:
            return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"
        return f"{value:z,.{digits}f}"


@dataclass(frozen=True)
class ResultTable:
    """Results by row and column; the first column names the rows.

    Attributes:
        columns: Columns.
        rows: Cells by row, as many as there are columns.
        title: Heading; empty if it needs none.
        marks: Row number -> ``"published"`` for numbers of others, ``"summary"`` for the first row of a summary; on
            pages it is the row's class, whatever it is.
        detail: Whether the table is shown only to those who ask for more.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    marks: Mapping[int, str] = field(default_factory=dict)
    detail: bool = False

    def __post_init__(self) -> None:
        keys = [column.file_key for column in self.columns]
        if len(set(keys)) < len(keys):
            raise ValueError(f"columns: keys must differ, got {keys}")
        for i, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(f"rows[{i}]: has {len(row)} cells, the table {len(self.columns)} columns")

    def show(self, console: Console) -> None:
        """Print the table, each interval below its number."""
        table = rich.table.Table(
            title=terminal_text(self.title) if self.title else None,
            title_justify="left",
            title_style="",
            box=rich.box.SIMPLE_HEAD,
            pad_edge=False,
            collapse_padding=True,
        )
        rows = [
            (mark, [terminal_text(texts[0][0]), *(_terminal_cell(*cell) for cell in texts[1:])])
            for mark, texts in self._marked_texts()
        ]
        for k, column in enumerate(self.columns):
            named = one_line(f"publ. {column.name}" if column.published else column.name)
            head = Text(_broken(named)) if k else terminal_text(column.name)
            whole = not k or column.kind != "text"
            style: dict[str, Any] = {"justify": "right", "style": "dim" if column.published else None} if k else {}
            lines = [line for text in (head, *(cells[k] for _, cells in rows)) for line in text.plain.split("\n")]
            least = max(map(cell_len, lines)) if whole else None
            table.add_column(head, no_wrap=whole, min_width=least, **style)
        for mark, cells in rows:
            if mark == "summary":
                table.add_section()
            table.add_row(*cells, style="dim" if mark == "published" else None)
        unbounded = Console(file=console.file, width=_ANY_WIDTH)
        needed = Measurement.get(unbounded, unbounded.options, table).minimum
        width = max(console.width, _MIN_WIDTH, needed)
        Console(file=console.file, width=width, force_terminal=console.is_terminal).print(table)

    def _marked_texts(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        for i, row in enumerate(self.rows):
            yield self.marks.get(i, ""), [column.text(cell) for column, cell in zip(self.columns, row, strict=True)]

    def markdown(self) -> str:
        """Return the table as Markdown without its title, intervals in brackets."""
        heads = (file_cell(column.name) + (" (published)" if column.published else "") for column in self.columns)
        rule = "|---|" + "---:|" * (len(self.columns) - 1)
        rows = (map(_markdown_cell, self.columns, row) for row in self.rows)
        return "\n".join([_markdown_line(heads), rule, *map(_markdown_line, rows)])

    def html(self) -> Markup:
        """Return the table as HTML without its title, with intervals below the numbers."""
        from collab_overcooked.reporting.templates import render

        heads = [column.name + (" (published)" if column.published else "") for column in self.columns]
        rows = [
            ("total" if mark == "summary" else mark, name.strip(), cells)
            for mark, ((name, _), *cells) in self._marked_texts()
        ]
        return render("table.html", title=self.title, heads=heads, rows=rows)

    def csv(self) -> str:
        """Return the table as CSV with full precision and empty cells for missing values; see ``file_cell``."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([file_cell(name) for column in self.columns for name in _file_keys(column)])
        for row in self.rows:
            cells = (cell for pair in zip(self.columns, row, strict=True) for cell in _file_cells(*pair))
            writer.writerow([file_cell(cell) if isinstance(cell, str) else cell for cell in cells])
        return out.getvalue()

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas DataFrame with the columns of the CSV file.

        Raises:
            ImportError: If pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        columns = [name for column in self.columns for name in _file_keys(column)]
        rows = [
            [cell for pair in zip(self.columns, row, strict=True) for cell in _file_cells(*pair)] for row in self.rows
        ]
        return pandas.DataFrame(rows, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return title, columns and rows, fit for JSON; an estimate is an object with value, low and high."""
        published = [column.file_key for column in self.columns if column.published]
        rows = [
            {column.file_key: _json_cell(column, cell) for column, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]
        return {"title": self.title, "published": published, "rows": rows}


def table_of(
    columns: Sequence[Column], items: Iterable[Any], title: str = "", marks: Mapping[int, str] | None = None
) -> ResultTable:
    """Return a table with one row per item; cells are computed by the columns' ``value``.

    Args:
        columns: Columns with ``value``.
        items: Arguments of ``value``, one per row.
        title: Heading.
        marks: Marks of rows by index; see ``ResultTable``.
    """
    rows = (tuple(column.value(item) if column.value else None for column in columns) for item in items)
    return ResultTable(tuple(columns), tuple(rows), title, marks or {})


def table_of_mappings(rows: Iterable[Mapping[str, Cell]], estimates: Container[str] = ()) -> ResultTable:
    """Return a table of unformatted values for files.

    Args:
        rows: Column -> cell. Columns are in order of first appearance; missing cells are empty.
        estimates: Columns that are estimates even if all their cells are missing.
    """
    rows = list(rows)
    texts: dict[str, bool] = {}
    for row in rows:
        for key, cell in row.items():
            texts[key] = texts.get(key, False) or isinstance(cell, str)
    columns = (
        Column(key, "estimate" if key in estimates else "text" if text else "number") for key, text in texts.items()
    )
    return ResultTable(tuple(columns), tuple(tuple(row.get(key) for key in texts) for row in rows))


def join_tables(tables: Sequence[ResultTable]) -> ResultTable:
    """Concatenate tables, with the union of their columns."""
    columns = {column.file_key: column for table in tables for column in table.columns}
    order = dict.fromkeys(column.file_key for table in tables for column in table.columns)
    rows = []
    for table in tables:
        keys = [column.file_key for column in table.columns]
        for row in table.rows:
            cells = dict(zip(keys, row, strict=True))
            rows.append(tuple(cells.get(key) for key in order))
    return ResultTable(tuple(columns[key] for key in order), tuple(rows))


def estimate_json(cell: Estimate | float | None) -> dict[str, float | None]:
    """Return a number with its interval as a JSON-compatible dict."""
    if isinstance(cell, Estimate):
        return {"value": cell.value, "low": cell.low, "high": cell.high}
    return {"value": cell, "low": None, "high": None}


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(markdown_text(cell.strip()) for cell in cells)} |"


def _markdown_cell(column: Column, cell: Cell) -> str:
    return column.with_interval(file_cell(cell) if isinstance(cell, str) else cell)


def _terminal_cell(text: str, span: str) -> Text:
    parts = text.split(", ") if len(text) > _LONG else [text]
    cell = Text(",\n").join(map(terminal_text, parts))
    return cell.append(f"\n{span}", "dim") if span else cell


def _file_keys(column: Column) -> Sequence[str]:
    key = column.file_key
    return (key, f"{key}_low", f"{key}_high") if column.kind == "estimate" else (key,)


def _file_cells(column: Column, cell: Cell) -> Sequence[float | str | None]:
    if column.kind != "estimate":
        return (cell.value if isinstance(cell, Estimate) else cell,)
    return (cell.value, cell.low, cell.high) if isinstance(cell, Estimate) else (cell, None, None)


def _json_cell(column: Column, cell: Cell) -> Any:
    if column.kind != "estimate" or isinstance(cell, str):
        return _file_cells(column, cell)[0]
    return estimate_json(cell)


def _broken(head: str) -> str:
    if " " not in head and len(head) > 12:
        return head.replace("_", "_\n", 1)
    return head.replace(" ", "\n", 1)
