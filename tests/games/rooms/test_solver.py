"""Exact values of the room games: published figures, and brute force over the same rules."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from collab_overcooked.games.rooms.env import CollabCapture, CollabEscape
from collab_overcooked.games.rooms.solver import solve, start_of


def test_capture_takes_three_turns_and_two_with_the_door_open():
    game = CollabCapture()
    assert solve(game.compiled).value(start_of(game.compiled)) == (1.0, 3.0)
    game = CollabCapture(doors={"1-2": True})
    assert solve(game.compiled).value(start_of(game.compiled)) == (1.0, 2.0)


def test_all_placements_of_the_capture_take_five_turns_at_most_or_for_ever():
    found = solve(CollabCapture(catch_on_exchange="always").compiled, everywhere=True)
    counts = Counter(found.turns.tolist())
    assert len(found.keys) == 2304 and counts[np.inf] == 28
    assert set(counts) - {np.inf} == {1.0, 2.0, 3.0, 4.0, 5.0}


@pytest.mark.parametrize(
    ("level", "within"), [("ten_rooms", (0, 0.75, 0.9375, 1)), ("ten_rooms_as_told", (0, 0.5208333, 0.5208333, 1))]
)
def test_escape_within_some_turns(level, within):
    game = CollabEscape(map=level)
    found = solve(game.compiled)
    start = found.index(start_of(game.compiled))
    np.testing.assert_allclose(found.success_within(8)[5:, start], within, atol=1e-6)
