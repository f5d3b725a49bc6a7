"""Result tables: how cells are written, what every form holds, and texts that try to be more than text."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from collab_overcooked.io.text import one_line
from collab_overcooked.metrics.intervals import Estimate, mean_ci, mean_of_groups, mean_of_ratios
from collab_overcooked.reporting.escaping import file_cell, html_text
from collab_overcooked.reporting.result_table import Column, ResultTable, join_tables, table_of_mappings

SHARE = Column("SR %", "estimate", digits=1, ends=0, scale=100.0, key="success_rate")
TABLE = ResultTable(
    (Column("Level"), SHARE, Column("Runs", "number"), Column("GPT-4", "number", published=True, key="theirs")),
    (("1", Estimate(0.5, 0.25, 0.75), 4, 0.125), ("two", None, 1, None), ("all", Estimate(1.0, 1.0, 1.0), 5, None)),
    "Levels",
    {2: "summary"},
)
HOSTILE = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "  =1",
    "<script>alert(1)</script>",
    '" onmouseover="x',
    "a|b\nc",
    "\x1b[31mred\x1b[0m",
    "[bold]x[/bold]",
)


def printed(table: ResultTable) -> str:
    out = io.StringIO()
    table.show(Console(file=out, width=100))
    return out.getvalue()


def hostile(text: str) -> ResultTable:
    return ResultTable((Column("name"), Column("cell")), ((text, text),), text)


def test_no_number_and_no_name_is_cut_in_a_terminal_whatever_its_width() -> None:
    names = [f"a measure {k}" for k in range(30)]
    table = ResultTable((Column("Run"), *(Column(name, "number") for name in names)), (("x" * 90, *[0.123] * 30),))
    text = printed(table)
    assert "…" not in text and "..." not in text and text.count("0.123") == 30 and "x" * 90 in text


def test_markdown_has_intervals_in_brackets_unless_all_runs_were_alike() -> None:
    assert TABLE.markdown().splitlines() == [
        "| Level | SR % | Runs | GPT-4 (published) |",
        "|---|---:|---:|---:|",
        "| 1 | 50.0 (25–75) | 4 | 0.125 |",
        "| two | – | 1 | – |",
        "| all | 100.0 | 5 | – |",
    ]


def test_the_terminal_shows_intervals_below_numbers_and_marks_what_was_published() -> None:
    lines = printed(TABLE).splitlines()
    assert lines[0].strip() == "Levels"
    (first,) = [i for i, line in enumerate(lines) if line.split() == ["1", "50.0", "4", "0.125"]]
    assert lines[first + 1].split() == ["25–75"]
    assert any("publ." in line for line in lines)


def test_csv_has_exact_numbers_and_a_column_for_each_end() -> None:
    rows = list(csv.DictReader(io.StringIO(TABLE.csv())))
    assert list(rows[0]) == ["Level", "success_rate", "success_rate_low", "success_rate_high", "Runs", "theirs"]
    assert list(rows[0].values()) == ["1", "0.5", "0.25", "0.75", "4", "0.125"]
    assert list(rows[1].values()) == ["two", "", "", "", "1", ""]


def test_json_has_exact_numbers_by_key() -> None:
    values = json.loads(json.dumps(TABLE.to_dict()))
    assert values["title"] == "Levels"
    assert values["published"] == ["theirs"]
    assert values["rows"][0] == {
        "Level": "1",
        "success_rate": {"value": 0.5, "low": 0.25, "high": 0.75},
        "Runs": 4,
        "theirs": 0.125,
    }
    assert values["rows"][1]["success_rate"] == {"value": None, "low": None, "high": None}


def test_pages_mark_rows_and_put_intervals_below() -> None:
    page = TABLE.html()
    assert "<td>50.0<small>25–75</small></td>" in page
    assert '<tr class="total"><th scope="row">all</th>' in page
    assert "GPT-4 (published)" in page


def test_two_digits_that_count() -> None:
    column = Column("ms", "number", digits=None)
    assert [column.text(value)[0] for value in (0.01234, 3.456, 12.6, 12345.6)] == ["0.012", "3.5", "13", "12,346"]


def test_rows_and_keys_are_checked() -> None:
    with pytest.raises(ValueError, match=r"rows\[0\]: has 2 cells, the table 1 columns"):
        ResultTable((Column("a"),), (("x", "y"),))
    with pytest.raises(ValueError, match="keys must differ"):
        ResultTable((Column("a"), Column("a")), ())


def test_mappings_become_a_table_whose_columns_are_all_keys_in_order() -> None:
    table = table_of_mappings([{"a": 1, "b": None}, {"b": Estimate(0.5), "c": "x"}], estimates=("b",))
    assert [(column.name, column.kind) for column in table.columns] == [
        ("a", "number"),
        ("b", "estimate"),
        ("c", "text"),
    ]
    assert table.rows == ((1, None, None), (None, Estimate(0.5), "x"))


def test_joined_tables_have_the_columns_of_all() -> None:
    one, other = table_of_mappings([{"a": 1, "b": 2}]), table_of_mappings([{"a": 3, "c": "x"}])
    assert join_tables([one, other]).csv() == "a,b,c\n1,2,\n3,,x\n"


@pytest.mark.parametrize("text", HOSTILE[:6])
def test_spreadsheets_compute_no_text(text: str) -> None:
    text = one_line(text)
    assert file_cell(text) == f"'{text}"
    (row,) = csv.DictReader(io.StringIO(hostile(text).csv()))
    assert row == {"name": f"'{text}", "cell": f"'{text}"}


@pytest.mark.parametrize("number", ["-5", "+0.5", "-1e-3"])
def test_numbers_written_as_texts_stay_numbers_in_csv(number: str) -> None:
    assert file_cell(number) == number


@given(st.text())
def test_every_csv_cell_can_be_read_back_and_begins_with_no_formula(text: str) -> None:
    text = one_line(text)
    (row,) = list(csv.reader(io.StringIO(hostile(text).csv())))[1:]
    assert row[0] in (text, f"'{text}")
    assert not row[0].strip() or row[0].lstrip()[0] not in "=+-@" or float(row[0]) is not None


class AgentView(HTMLParser):
    """Collects the elements and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.words += data


@given(st.sampled_from(HOSTILE) | st.text())
def test_texts_stay_texts_on_pages(text: str) -> None:
    seen = AgentView()
    seen.feed(ResultTable((Column(text), Column("b", key="other key")), ((text, text),), marks={0: text}).html())
    assert set(seen.tags) <= {"div", "table", "thead", "tbody", "tr", "th", "td", "small", "wbr"}
    assert set(seen.attributes) <= {"class", "scope", "role", "tabindex", "aria-label"}


def test_escaped_texts_are_safe_in_attributes() -> None:
    assert html_text('"><script>') == "&quot;&gt;&lt;script&gt;"


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_stay_in_their_cells_in_markdown_and_send_nothing_to_terminals(text: str) -> None:
    *_, line = hostile(text).markdown().splitlines()
    assert line.replace("\\|", "").count("|") == 3
    assert "<" not in line
    displayed = printed(hostile(text))
    assert "\x1b" not in displayed
    assert "[bold]" not in text or "[bold]x[/bold]" in displayed


def test_means_of_runs_and_of_groups_are_the_estimator_of_all() -> None:
    values = [1.0, 2.0, 6.0]
    assert mean_ci(values) == mean_of_ratios([values], [[1.0] * 3])
    assert mean_ci([4.0]) == Estimate(4.0)
    assert mean_ci([]) is None
    result = mean_of_groups([[1.0, 3.0], [], [4.0]])
    assert result is not None and result.value == 3.0 and result.low is not None
