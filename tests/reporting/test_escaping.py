"""Texts of models stay texts in spreadsheets, pages, Markdown and terminals."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cli_runner import printed

from collab_overcooked.io.text import one_line
from collab_overcooked.reporting.escaping import file_cell, html_text
from collab_overcooked.reporting.result_table import Column, ResultTable

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


def hostile(text: str) -> ResultTable:
    return ResultTable((Column("name"), Column("cell")), ((text, text),), text)


class PageContent(HTMLParser):
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


@given(st.sampled_from(HOSTILE) | st.text())
def test_texts_stay_texts_on_pages(text: str) -> None:
    seen = PageContent()
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
