"""Exact values of the room games: published figures, and brute force over the same rules."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support.naive.rooms import NaiveRooms

from collab_overcooked.games.rooms.engine.solver import solve, start_of
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
