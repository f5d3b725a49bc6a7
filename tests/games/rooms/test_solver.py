"""Exact values of the room games: published figures, and brute force over the same rules."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support.naive.rooms import NaiveRooms

from collab_overcooked.games.rooms.engine.constants import Clock, Generator, Param, Player
from collab_overcooked.games.rooms.engine.solver import solve, start_of, survey
from collab_overcooked.games.rooms.engine.state_key import count_keys
from collab_overcooked.games.rooms.env import CollabCapture, CollabEscape


def test_capture_takes_three_turns_and_two_with_the_door_open():
    game = CollabCapture()
    assert solve(game.compiled).value(start_of(game.compiled)) == (1.0, 3.0)
    game = CollabCapture(doors={"1-2": True})
    assert solve(game.compiled).value(start_of(game.compiled)) == (1.0, 2.0)


def test_all_placements_of_the_capture_take_five_turns_at_most_or_for_ever():
    result = solve(CollabCapture(catch_on_exchange="always").compiled, everywhere=True)
    counts = Counter(result.turns.tolist())
    assert len(result.keys) == 2304 and counts[np.inf] == 28
    assert set(counts) - {np.inf} == {1.0, 2.0, 3.0, 4.0, 5.0}


@pytest.mark.parametrize(
    ("level", "within"), [("ten_rooms", (0, 0.75, 0.9375, 1)), ("ten_rooms_as_told", (0, 0.5208333, 0.5208333, 1))]
)
def test_escape_within_some_turns(level, within):
    game = CollabEscape(map=level)
    result = solve(game.compiled)
    start = result.index(start_of(game.compiled))
    np.testing.assert_allclose(result.success_within(8)[5:, start], within, atol=1e-6)


SMALL_CAPTURE = {
    "name": "small",
    "game": "capture",
    "rooms": {1: [2, 4], 2: [1, 3], 3: [2, 4, 5], 4: [3, 1], 5: [3]},
    "doors": [{"between": [1, 2], "button": 5, "open": True}],
    "starts": {"agents": [5, 3], "adversary": 1},
}
SMALL_ESCAPE = {
    "name": "small",
    "game": "escape",
    "rooms": {1: [2, 5], 2: [1, 3], 3: [2, 4], 4: [3, 5], 5: [4, 1]},
    "generators": [2],
    "exits": [4],
    "starts": {"agents": [1, 2], "adversary": 4},
}


def brute_force(first):
    """Return success and turns of every state by key: plain rounds over all joint actions until nothing changes."""
    after, queue = {}, [first]
    for naive in queue:
        if naive.key() in after:
            continue
        results = after[naive.key()] = []
        for joint in naive.joint():
            ends = naive.after(joint)
            results.append([end.key() if end.outcome == "running" else end.outcome for end in ends])
            queue += [part for part in ends if part.outcome == "running" and part.key() not in after]

    def expected(values, ends):
        return sum(values[end] for end in ends) / len(ends)

    success = dict.fromkeys(after, 0.0) | {"success": 1.0, "lost": 0.0}
    for _ in range(400):
        new = {key: max(expected(success, ends) for ends in result) for key, result in after.items()}
        changed = max(abs(new[key] - success[key]) for key in new)
        success |= new
        if changed < 1e-12:
            break
    best = {k: [e for e in entry if expected(success, e) > success[k] - 1e-9] for k, entry in after.items()}
    turns = dict.fromkeys(success, 0.0)
    for _ in range(400):
        new = {k: min(1 + expected(turns, e) for e in item) for k, item in best.items() if success[k] > 0}
        changed = max((abs(new[key] - turns[key]) for key in new), default=0)
        turns |= new
        if changed < 1e-11:
            break
    return {key: (success[key], turns[key] if success[key] > 0 else np.inf) for key in after}


def line_of_rooms(rooms: int, agents: int, generators: int) -> dict:
    return {
        "name": "line",
        "game": "escape",
        "rooms": {r: [other for other in (r - 1, r + 1) if 1 <= other <= rooms] for r in range(1, rooms + 1)},
        "generators": list(range(2, 2 + generators)),
        "exits": [1],
        "starts": {"agents": [1 + k for k in range(agents)], "adversary": rooms},
    }


@pytest.mark.parametrize(("rooms", "agents", "fixes"), [(64, 8, 100), (64, 4, 4), (40, 2, 100)])
def test_games_with_more_states_than_keys_are_refused(rooms, agents, fixes):
    """Keys that overflow would be negative, or merge states."""
    game = CollabEscape(map=line_of_rooms(rooms, agents, 4), fixes=fixes)
    with pytest.raises(ValueError, match=rf"layout line with {agents} players, {rooms} rooms, .* fixes={fixes}"):
        solve(game.compiled)


@pytest.mark.parametrize(
    "game",
    [
        CollabCapture(catch_on_exchange="later", doors={"1-2": True}),
        CollabEscape(catch_on_exchange="later", fixes=3),
        CollabEscape(preset="paper2023", catch_on_exchange="later", generators="map"),
        CollabEscape(map=line_of_rooms(9, 3, 2), catch_on_exchange="later", fixes=100, fix_by="player"),
    ],
    ids=["capture", "escape", "by player", "line"],
)
def test_the_largest_key_is_one_below_their_count(game):
    state, _ = game.alloc(1)
    n_players, last_room, params = game.n_agents, game.compiled.n_rooms - 1, game.compiled.tables.params
    state.players[..., [Player.ROOM, Player.ACTIVE, Player.SEEN]] = last_room, 0, 1
    state.generators[..., Generator.ROOM] = last_room
    state.generators[..., [Generator.PROGRESS, Generator.FIXER]] = params[Param.FIXES], n_players - 1
    state.clock[:, [Clock.T, Clock.ADVERSARY, Clock.TARGET]] = 0, last_room, n_players - 1
    state.clock[:, Clock.DOORS] = (1 << params[Param.N_DOORS]) - 1
    assert survey(game.compiled, state).keys.tolist() == [count_keys(game.compiled.tables) - 1]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("capture", {"adversary": "coded", "exchange": "later"}),
        ("capture", {"adversary": "distance", "exchange": "always"}),
        ("capture", {"adversary": "closest", "exchange": "never"}),
        ("escape", {"adversary": "closest", "loss": "all"}),
        ("escape", {}),
        ("escape", {"adversary": "closest", "loss": "all", "fix_by": "player"}),
    ],
)
def test_values_are_those_of_brute_force(kind, message):
    values = {"capture": SMALL_CAPTURE, "escape": SMALL_ESCAPE}[kind]
    naive, options = NaiveRooms(values, max_cycles=10**9, **message), dict(message)
    if "exchange" in options:
        options["catch_on_exchange"] = options.pop("exchange")
    game = {"capture": CollabCapture, "escape": CollabEscape}[kind](map=values, **options)
    result, expected = solve(game.compiled), brute_force(naive)
    assert len(result.keys) == len(expected)
    assert result.value(start_of(game.compiled)) == pytest.approx(expected[naive.key()], abs=1e-6)
    reference = expected.values()
    np.testing.assert_allclose(np.sort(result.success), sorted(s for s, _ in reference), atol=1e-7)
    np.testing.assert_allclose(np.sort(result.turns), sorted(t for _, t in reference), atol=1e-5)
    assert len({round(s, 4) for s, _ in reference}) + len({round(t, 4) for _, t in reference}) > 3
