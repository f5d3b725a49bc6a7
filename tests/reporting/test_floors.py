"""Scores of language models above the measured floors of settings."""

from __future__ import annotations

import pytest
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.evaluation.benchmark import BUDGETS
from collab_overcooked.reporting import floors
from collab_overcooked.reporting.floors import RULE_SPECS, Floor, FloorTable, floor_card, play_of, stored_floors


def test_a_language_model_is_shown_above_the_floor_of_what_it_played_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model = record_of(task="boiled_egg", level=1, accounts={"agent_0": {"model": "m", "calls": 1}})
    suite = registry.suite_of(model)
    name = suite.benchmark("small").settings[0].name
    play, other = play_of(model), ("another task", play_of(model)[1])

    def card(*plays: tuple[str, str], records: tuple = (model,)):
        table = FloorTable(7, {suite.name: {name: Floor("always:longest", 0.25, 9, plays, "0.9.0")}})
        monkeypatch.setattr(floors, "stored_floors", lambda: table)
        return floor_card(records)

    shown = card(play)
    assert shown is not None
    (row,) = shown.tables[0].rows
    score = suite.summary([model]).score.value
    scale = suite.benchmark("small").scale
    assert row[2:] == (score * scale, 0.25 * scale, (score - 0.25) * scale, "always:longest")
    assert "measured with version 0.9.0 of the package" in shown.notes[0]  # of the file, whichever version scores
    assert card(play, other) is None  # part of the setting
    assert card(other) is None
    assert card(play, records=(record_of(task="boiled_egg", level=1),)) is None  # no language model


def test_stored_floors_are_of_settings_and_rules_that_exist() -> None:
    stored = stored_floors()
    assert stored.seed not in range(1000)  # comparisons and users number theirs from 0
    assert set(stored.floors) == set(registry.first_suites())
    for game, by_setting in stored.floors.items():
        compared = {setting.name for setting in registry.load_suite(game).benchmark("small").settings}
        assert compared <= set(by_setting)
        names = {setting.name for budget in BUDGETS for setting in registry.load_suite(game).benchmark(budget).settings}
        assert set(by_setting) <= names
        assert all(floor.rule in RULE_SPECS and floor.episodes > 0 for floor in by_setting.values())
