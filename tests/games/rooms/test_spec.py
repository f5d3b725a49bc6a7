"""Map files: what is refused, and where; new maps with their proofs."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml
from games.rooms.world import CAPTURE, ESCAPE

from collab_overcooked.games.rooms.engine.constants import Goal
from collab_overcooked.games.rooms.engine.generate import GeneratorConfig, generate_rooms
from collab_overcooked.games.rooms.engine.solvability import prove_solvability
from collab_overcooked.games.rooms.engine.solver import solve, start_of
from collab_overcooked.games.rooms.engine.spec import load_rooms, maps
from collab_overcooked.games.rooms.env import CollabCapture, CollabEscape
from collab_overcooked.io.documents import DocumentError

VALUES = {"capture": yaml.safe_load(CAPTURE), "escape": yaml.safe_load(ESCAPE)}


def changed(game: str, *path: Any, to: Any) -> dict[str, Any]:
    values = copy.deepcopy(VALUES[game])
    place = values
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return values


@pytest.mark.parametrize(
    ("game", "path", "value", "message"),
    [
        ("capture", ("game",), "chase", "game"),
        ("capture", ("rooms", 1), [2, 9], r"room.*9"),
        ("capture", ("rooms", 1), [2, 2], "room 2 is listed twice"),
        ("capture", ("rooms", "1"), [2, 6], "room 1 is listed twice, as a number and as a text"),
        ("capture", ("rooms", 1), 2, r"rooms.*1.*list of rooms"),
        ("capture", ("rooms",), {1: [1]}, "rooms: 1 rooms; 2 to 64"),
        ("capture", ("one_way",), False, "room 7 leads to room 8, but not back"),
        ("capture", ("starts", "adversary"), 1, "adversary starts in the room of a player"),
        ("capture", ("starts", "agents"), [1] * 9, r"starts.agents: 9 players; at most 8"),
        ("capture", ("doors", 0, "between"), [1, 3], "between"),
        ("capture", ("doors", 1, "button"), 5, "button of another door"),
        ("capture", ("doors", 1, "open"), "no", "open"),
        ("capture", ("places",), {1: [0]}, "places"),
        ("capture", ("exits",), [8], "neither generators nor exits"),
        ("escape", ("exits",), None, "needs generators and exits"),
        ("escape", ("generators",), [7], "has a button"),
        ("escape", ("claim",), {"luck": 1}, "luck"),
        ("escape", ("killer",), 3, "killer"),
    ],
)
def test_bad_maps_are_refused_with_the_field(game: str, path: tuple[Any, ...], value: Any, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        load_rooms(changed(game, *path, to=value))


def test_a_map_of_the_other_game_is_refused() -> None:
    with pytest.raises(DocumentError, match="a layout of the game escape, not of capture"):
        CollabCapture(map="ten_rooms")
    assert set(maps("capture")) | set(maps("escape")) == set(maps())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adversary": "distance"}, "adversary 'distance' exists only for thieves"),
        ({"generators": ["1", "1"]}, "names a room twice"),
        ({"generators": "anywhere"}, "generators"),
        ({"agents": 9}, "agents"),
        ({"fixes": 0}, "fixes"),
    ],
)
def test_bad_options_are_refused_with_their_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CollabEscape(**options)


@pytest.mark.parametrize(
    "wish",
    [
        GeneratorConfig(Goal.CAPTURE, rooms=5, passages=1, doors=1, turns=2),
        GeneratorConfig(Goal.ESCAPE, rooms=5, passages=2, generators=1, turns=3),
    ],
    ids=lambda wish: wish.goal.name,
)
def test_generated_maps_hold_what_they_claim(wish: GeneratorConfig) -> None:
    values, proof = generate_rooms(wish, 0, "new")
    assert proof.ok and len(values["rooms"]) == wish.rooms
    if wish.goal == Goal.CAPTURE:  # the quicker one
        assert generate_rooms(wish, 0, "new")[0] == values
    game = {Goal.CAPTURE: CollabCapture, Goal.ESCAPE: CollabEscape}[wish.goal](map=values)
    success, turns = solve(game.compiled).value(start_of(game.compiled))
    assert success == 1 and round(turns) == wish.turns
    assert turns == pytest.approx(values["claim"]["turns"], abs=1e-5)
    wrong = {**values, "claim": {"turns": turns + 1}}
    assert not prove_solvability(wrong).ok


def test_a_wish_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="rooms must be an integer from 4 to 14, not 15"):
        GeneratorConfig(Goal.CAPTURE, rooms=15)
