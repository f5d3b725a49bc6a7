"""Result tables: how cells are written, what every form holds, and texts that try to be more than text."""

from __future__ import annotations

import csv
import io
import json

import pytest
from support.cli_runner import printed

from collab_overcooked.metrics.intervals import Estimate, mean_ci, mean_of_groups, mean_of_ratios
from collab_overcooked.reporting.result_table import Column, ResultTable, join_tables, table_of_mappings

SHARE = Column("SR %", "estimate", digits=1, ends=0, scale=100.0, key="success_rate")
TABLE = ResultTable(
    (Column("Level"), SHARE, Column("Runs", "number"), Column("GPT-4", "number", published=True, key="theirs")),
    (("1", Estimate(0.5, 0.25, 0.75), 4, 0.125), ("two", None, 1, None), ("all", Estimate(1.0, 1.0, 1.0), 5, None)),
    "Levels",
    {2: "summary"},
)


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


def test_means_of_runs_and_of_groups_are_the_estimator_of_all() -> None:
    values = [1.0, 2.0, 6.0]
    assert mean_ci(values) == mean_of_ratios([values], [[1.0] * 3])
    assert mean_ci([4.0]) == Estimate(4.0)
    assert mean_ci([]) is None
    result = mean_of_groups([[1.0, 3.0], [], [4.0]])
    assert result is not None and result.value == 3.0 and result.low is not None
