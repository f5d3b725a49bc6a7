"""The check of layout files."""

from __future__ import annotations

import pytest

from collab_overcooked.games.overcooked.documents import LayoutOptions, check_layouts

SEALED = "grid: |\n  XXPXXXXOX\n  O1  2XX{}X\n  XDSXXXXPX\n  XXXXXXXXX\n"


def checked(tmp_path, text, par="none"):
    path = tmp_path / "room.yaml"
    path.write_text("name: room\n" + text, encoding="utf-8")
    return check_layouts([str(path)], LayoutOptions(par=par))


@pytest.mark.parametrize("floor", ["X", " "])  # stations in the wall, and around floor on which nobody can ever be
def test_stations_that_nobody_can_use_are_named(tmp_path, floor):
    result = checked(tmp_path, SEALED.format(floor))
    assert result.values[0]["unreachable"] == ["onion dispenser at (7, 0)", "pot at (7, 2)"]
    assert "pot at (7, 2): no player can stand beside it" in result.text
    assert result.values[0]["proof"] and result.ok, "soup can be served all the same"


def test_orders_that_lack_an_ingredient_are_named(tmp_path):
    orders = "orders:\n  - [onion, onion, onion]\n  - [tomato, tomato, tomato]\n"
    result = checked(tmp_path, "grid: |\n  XXPXX\n  O1 2X\n  XDXSX\n" + orders, "greedy")
    assert "orders with tomato cannot be filled" in result.text and "onion cannot" not in result.text
    assert result.ok and result.values[0]["score"] > 0


def test_a_proof_beside_a_score_of_0_says_why(tmp_path):
    result = checked(tmp_path, "grid: |\n  XXPXX\n  O1 2X\n  XDSXX\n", "random")
    assert result.values[0]["proof"]
    assert ("does not find them" in result.text) == (result.values[0]["score"] == 0)


def test_stations_behind_gates_can_be_used(tmp_path):
    result = checked(tmp_path, "grid: |\n  XXPXXXXX\n  X1  2G O\n  XDSXXXXX\n")
    assert result.values[0]["unreachable"] == []


def test_a_check_without_a_proof_says_what_it_tried(tmp_path):
    result = checked(tmp_path, "grid: |\n  XXPXX\n  O1  X\n  XXXXX\n  XXXXX\n  D2  S\n  XXXXX\n")
    assert not result.ok
    assert "every team of 1 to 2 players" in result.text
    assert "tried the orders onion + onion + onion" in result.text
