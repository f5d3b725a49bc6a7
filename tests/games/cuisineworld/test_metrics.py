"""CoS: counted from records, and recomputed from every fraction that the paper prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.records import record_of

from collab_overcooked.games.cuisineworld.suite.scoring import published
from collab_overcooked.io.structs import convert
from collab_overcooked.metrics.orders import (
    CosTable,
    OrderCell,
    StepOrders,
    Tally,
    cos,
    mean_known,
    parse_cell,
    tally_record,
    total,
)

TOLERANCE = 0.0006  # three printed digits, some of them cut off instead of rounded
AGENTS = (2, 3, 4)


def record(*steps: tuple[list[str], list[str], int]) -> dict[str, Any]:
    orders = [
        {"orders": {"completed": done, "expired": lost, "open": [["dish", 4]] * waiting}}
        for done, lost, waiting in steps
    ]
    return record_of(env_id="CuisineWorld-v0", steps=orders)


@pytest.mark.parametrize("agents", AGENTS)
def test_every_published_cos_follows_from_its_fractions(agents):
    table, printed = published().tables[agents], published().printed[agents]
    assert set(printed["cos"]) == set(table.levels) and len(table.levels) == 12
    for level in table.levels:
        score = table.cos(level)
        assert score is not None and table.complete(level)
        assert score.value == pytest.approx(printed["cos"][level], abs=TOLERANCE), level
        assert score.value == pytest.approx(published().table_1[agents][level], abs=TOLERANCE), level
        assert score.low is None  # one run has no interval


@pytest.mark.parametrize("agents", AGENTS)
def test_every_published_average_follows_from_its_fractions(agents):
    table, printed = published().tables[agents], published().printed[agents]
    assert table.alphas == (1.0, 1.5, 2.0, 2.5, 3.0)
    for alpha in table.alphas:
        assert table.row_average(alpha) == pytest.approx(printed["row_average"][alpha], abs=TOLERANCE), alpha
    assert table.average() == pytest.approx(printed["cos_average"], abs=TOLERANCE)
    assert table.average() == pytest.approx(published().table_1[agents]["average"], abs=TOLERANCE)


@pytest.mark.parametrize("agents", AGENTS)
def test_class_averages_make_up_the_average(agents):
    table = published().tables[agents]
    classes = [table.average(group) for group in published().classes.values()]
    assert [len(group) for group in published().classes.values()] == [3, 3, 3, 3]
    assert mean_known(classes) == pytest.approx(table.average())


def test_published_numbers_are_the_recorded_ones():
    path = Path(__file__).resolve().parents[4] / "shared" / "spec" / "cuisineworld" / "paper_tables.json"
    if not path.is_file():
        pytest.skip("recorded facts are not here")
    facts = json.loads(path.read_text())
    assert {name: list(group) for name, group in published().classes.items()} == facts["level_classes"]
    for agents in AGENTS:
        reference = facts[f"table{published().printed[agents]['table']}"]
        assert reference["agents"] == agents
        for i, alpha in enumerate(published().tables[agents].alphas, start=1):
            for level, cell in reference["rows"][f"tau{i}"].items():
                assert published().tables[agents].cell(level, alpha) == (cell["completed"], cell["total"])
        assert published().printed[agents]["cos"] == reference["cos"]
        assert list(published().printed[agents]["row_average"].values()) == list(reference["row_average"].values())
        assert published().table_1[agents] == facts["table1"]["rows"][str(agents)]


def test_orders_end_in_three_ways():
    tally = tally_record(record(([], [], 1), (["dish"], ["a", "b"], 1), ([], ["c"], 2), (["dish", "dish"], [], 3)))
    assert tally == Tally(completed=3, expired=3, failing_steps=2, open=3)
    assert tally.cell() == tally.cell("orders") == OrderCell(3, 6)
    assert tally.cell("steps") == OrderCell(3, 5)
    assert str(tally.cell()) == "3/6" and tally.cell().ratio == 0.5


def test_tallies_add_up():
    assert total([Tally(1, 2, 1, 4), Tally(3, 0, 0, 1)]) == Tally(4, 2, 1, 5)
    assert total([]) == Tally()


def test_only_the_orders_open_after_the_last_step_are_open():
    assert tally_record(record(([], [], 5), ([], [], 0))).open == 0
    assert tally_record(record()) == Tally()


@pytest.mark.parametrize(
    ("orders", "text"),
    [
        ([], r"must be a mapping, not \[\]"),
        ({"completed": [], "expired": 3, "open": []}, r"expired must be .* not 3"),
        ({"completed": [], "expired": []}, r"open is missing"),
        ({"completed": [], "expired": [], "open": [["dish"]]}, r"open\[0\] lists 1 entries; it must list 2"),
    ],
)
def test_a_record_without_orders_is_refused(orders, text):
    with pytest.raises(ValueError, match=text):
        convert(orders, StepOrders)


def test_an_unknown_counting_is_refused():
    with pytest.raises(ValueError, match="counting must be 'orders' or 'steps', not 'both'"):
        Tally().failed("both")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["18", "19/18", "-1/2", "a/b", "1/2/3", "", None, 0.5])
def test_a_cell_that_is_no_fraction_is_refused(text):
    with pytest.raises(ValueError, match=r"cell: got .* allowed is completed/resolved"):
        parse_cell(text)


def test_cells_are_read_and_written():
    assert parse_cell(" 18 / 19 ") == OrderCell(18, 19)
    assert parse_cell(str(OrderCell(0, 0))) == OrderCell(0, 0) and OrderCell(0, 0).ratio is None


def test_conditions_in_which_nothing_was_resolved_are_left_out():
    score = cos([[OrderCell(1, 2)], [OrderCell(0, 0)], [OrderCell(3, 4)]])
    assert score is not None and score.value == pytest.approx(0.625)
    assert cos([[OrderCell(0, 0)]]) is None and cos([]) is None


def test_runs_of_a_condition_are_summed_before_they_are_divided():
    score = cos([[OrderCell(1, 1), OrderCell(1, 9)]])
    assert score is not None and score.value == pytest.approx(0.2)
    assert score.low is not None and score.high is not None and score.low <= 0.2 <= score.high


def test_a_table_leaves_out_what_was_not_played():
    table = CosTable(
        2, (1.0, 2.0), ("a", "b"), {("a", 1.0): (OrderCell(1, 4), OrderCell(1, 4)), ("a", 2.0): (OrderCell(0, 0),)}
    )
    assert table.cell("a", 1.0) == OrderCell(2, 8) and table.cell("b", 1.0) is None
    assert table.complete("a") and not table.complete("b")
    assert table.cos("b") is None and table.row_average(2.0) is None
    assert table.average() == table.row_average(1.0) == 0.25
    assert table.average(["b"]) is None
