"""Level reports: impossible orders, tools to spare, times; against recorded facts where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collab_overcooked.games.cuisineworld.engine.solvability import level_text, prove_solvability, report_text
from collab_overcooked.games.cuisineworld.engine.spec import levels, load_level

FACTS = Path(__file__).resolve().parents[4] / "shared" / "spec" / "cuisineworld" / "levels.json"


def test_level_12_has_no_fryer():
    report = prove_solvability(load_level("level_12"))
    assert report.missing == {"frenchFries": ("fryer",)} and report.unused == ("pan0", "pan1")
    assert not report.ok
    assert report.problems == [
        "frenchFries cannot be made: there is no fryer",
        "nothing that can be made needs pan0, pan1",
    ]


def test_every_other_level_works():
    assert [name for name in levels() if not prove_solvability(load_level(name)).ok] == ["level_12"]
    assert prove_solvability(load_level("level_12_fryer")).missing == {}


def test_reports_agree_with_the_recorded_facts():
    if not FACTS.is_file():
        pytest.skip("recorded facts are not here")
    for facts in json.loads(FACTS.read_text())["levels"]:
        report = prove_solvability(load_level(facts["id"]), [1.0, 1.5, 2.0, 2.2, 2.5, 3.0])
        assert report.locations == len(facts["kitchen"])
        assert list(report.missing) == facts["impossible_orders"]
        assert sorted({name.rstrip("0123456789") for name in report.unused}) == facts["unused_tools"]
        assert report.file_times.interval == facts["json_interval"]
        for alpha, times in report.times.items():
            assert times.interval == facts["timing"][str(alpha)]["interval"], (report.name, alpha)
            assert times.lifetimes == facts["timing"][str(alpha)]["lifetime"], (report.name, alpha)


def test_an_order_of_several_dishes_needs_the_tools_of_all():
    level = load_level(
        {
            "extends": "cookbook",
            "name": "two",
            "kitchen": ["storage", "servingtable", "pan", "pot"],
            "orders": {
                "sauteedPork": {"items": ["sauteedPork", "boiledLobster"]},
                "boiledLobster": {},
                "groundBeef": {},
            },
        }
    )
    report = prove_solvability(level)
    assert report.missing == {"groundBeef": ("blender",)} and report.unused == ()
    assert "none" in report_text([report])


def test_the_table_shows_intervals_lifetimes_and_problems():
    lines = report_text([prove_solvability(load_level(name)) for name in ("level_0", "level_12")]).splitlines()
    assert lines[0].split()[-11:] == "alpha 1 alpha 1.5 alpha 2 alpha 2.5 alpha 3 file".split()
    assert lines[2].split() == "level_0 (very simple) 3 5 6 8 9 5".split()
    assert lines[3].split() == "salmonMeatcake 8 12 15 19 23 10".split()
    assert lines[-3].split() == "frenchFries (!) 8 12 15 19 23 10".split()
    assert lines[-2] == "  ! frenchFries cannot be made: there is no fryer"


def test_level_text_names_tools_recipes_and_times():
    text = level_text(load_level("level_0"))
    assert text.startswith("level_0: storage0, servingtable0, blender0; 2 agents")
    assert "salmonMeatcake = " in text and "(blender)" in text
    assert "alpha 2.5" in text
