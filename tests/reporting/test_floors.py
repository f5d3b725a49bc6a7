"""Scores of language models above the measured floors of settings."""

from __future__ import annotations

import pytest
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.reporting import floors
from collab_overcooked.reporting.floors import Floor, FloorTable, floor_card, play_of


def test_a_language_model_is_shown_above_the_floor_of_what_it_played_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model = record_of(task="boiled_egg", level=1, accounts={"agent_0": {"model": "m", "calls": 1}})
    suite = registry.suite_of(model)
    name = suite.benchmark("small").settings[0].name
    play, other = play_of(model), ("another task", play_of(model)[1])

    def card(*plays: tuple[str, str], records: tuple = (model,)):
        table = FloorTable("1.0.0", 7, {suite.name: {name: Floor("always:longest", 0.25, 9, plays)}})
        monkeypatch.setattr(floors, "stored_floors", lambda: table)
        return floor_card(records)

    shown = card(play)
    assert shown is not None
    (row,) = shown.tables[0].rows
    score = suite.summary([model]).score.value
    scale = suite.benchmark("small").scale
    assert row[2:] == (score * scale, 0.25 * scale, (score - 0.25) * scale, "always:longest")
    assert card(play, other) is None  # part of the setting
    assert card(other) is None
    assert card(play, records=(record_of(task="boiled_egg", level=1),)) is None  # no language model
