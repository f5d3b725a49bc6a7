"""Macro actions and events: the layouts that games share, their kernels, and action levels by seat."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from collab_overcooked.io.action_levels import parse_action_levels
from collab_overcooked.kernels import events, macro_actions
from collab_overcooked.kernels.macro_actions import Macro

GAMES = ("collab_overcooked", "cuisineworld", "overcooked", "rush")


@pytest.mark.parametrize("game", GAMES)
def test_events_of_every_game_start_with_the_same_columns(game: str) -> None:
    columns = importlib.import_module(f"collab_overcooked.games.{game}.engine.constants").EventColumn
    assert [columns[column.name] for column in events.EventField] == list(events.EventField)
    if "ENDED" in columns.__members__:  # of a macro action
        assert (columns.PRIMITIVE, columns.ENDED) == (2, 3)


def test_clear_event_and_clear_events_know_counts_from_ids() -> None:
    rows = np.full((2, 4), 7, np.int32)
    events.clear_event(rows[0], 3)
    assert rows.tolist() == [[0, 0, 0, -1], [7, 7, 7, 7]]
    events.clear_events(rows, 4)
    assert not rows.any()


def test_a_macro_action_starts_runs_and_ends() -> None:
    macros = np.full((2, 5), 7, np.int32)
    for column, value in macro_actions.IDLE.items():
        macros[:, column:] = value
    assert macros.tolist() == [[-1, 0, 0, 0, 0]] * 2 and not macro_actions.is_running(macros[0])
    macro_actions.start_macro(macros[0], 3, 10)
    for has_changed in (True, False, False):
        macro_actions.tick_macro(macros[0], has_changed)
    assert macros[0, : len(Macro)].tolist() == [3, 7, 2] and macro_actions.is_running(macros[0])
    macro_actions.end_macro(macros[0])
    assert not macro_actions.is_running(macros[0])


@pytest.mark.parametrize(
    ("option", "levels"),
    [
        ("medium", ("medium", "medium")),
        ("low", ("primitive", "primitive")),
        ({"agent_0": "medium", "agent_1": "low"}, ("medium", "primitive")),
        ("agent_0=medium,agent_1=low", ("medium", "primitive")),
        (" agent_1 = primitive ", ("medium", "primitive")),
        ({"agent_1": "primitive"}, ("medium", "primitive")),
        ({}, ("medium", "medium")),
    ],
)
def test_read_levels(option: object, levels: tuple[str, ...]) -> None:
    assert parse_action_levels(option, 2, "medium") == levels


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("mediun", "did you mean medium"),
        ({"agent_0": "mid"}, "unknown action_level 'mid'"),
        ({"agent_2": "low"}, "unknown agent of action_level 'agent_2'"),
        ("agent_0=low,agent_0=medium", "names an agent twice"),
        ("agent_0=", "unknown action_level ''"),
        (None, "unknown action_level None"),
        (3, "unknown action_level 3"),
    ],
)
def test_read_levels_says_what_is_wrong(option: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_action_levels(option, 2, "medium")
