"""Where help is truly necessary: an exact search over all that one player alone can do, and two who manage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from games.overcooked.world import game_of, open_world

from collab_overcooked.games.overcooked.engine.constants import Action, Clock, Item, Player
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.kernels.rng import seed_states

READY = {"item": "soup", "ingredients": ["onion"] * 3}
COOKED = {"gated_delivery": [2, 0], "locked": [6, 2]}  # pot with ready soup; behind Locked's gate, the right one
LONE = {"gated_delivery": 0, "locked": 1}  # who acts alone; the other one stays


def can_deliver_alone(
    game: Overcooked, seat: int, scene: dict, allowed: Callable[[np.ndarray], np.ndarray] | None = None
) -> bool:
    """Follow every sequence of one player's actions from a moment on, until no new moment comes up.

    Args:
        game: Compiled game.
        seat: Who acts; the others stay.
        scene: Where to begin.
        allowed: Tells of moments (players, (M, N, 7)) which are followed; all if None.
    """
    first, out = game.alloc(1)
    first.rng[:] = seed_states([0])
    game.reset(first, out, np.ones(1, np.bool_), {"state": scene}, 10**6)
    players, cells, seen = first.players, first.cells, set()
    while len(players):
        count = len(players)
        state, out = game.alloc(6 * count)
        state.players[:], state.cells[:] = players.repeat(6, 0), cells.repeat(6, 0)
        state.clock[:, Clock.LIMIT] = 10**6
        actions = np.full((6 * count, game.n_agents), Action.STAY, np.int32)
        actions[:, seat] = np.tile(np.arange(6), count)
        game.step(state, actions, out)
        if out.sparse.any():
            return True
        keys = np.concatenate([state.players.reshape(6 * count, -1), state.cells.reshape(6 * count, -1)], 1)
        follow = np.ones(6 * count, np.bool_) if allowed is None else allowed(state.players)
        fresh = []
        for row in np.flatnonzero(follow):
            key = keys[row].astype(np.int8).tobytes()
            if key not in seen:
                seen.add(key)
                fresh.append(row)
        players, cells = state.players[fresh], state.cells[fresh]
    return False


def takes_no_onion(players: np.ndarray) -> np.ndarray:
    """Without onions there is no soup but the one that is cooked."""
    return (players[:, :, Player.HAND] != Item.ONION).all(1)


def with_soup(name: str) -> dict:
    return {"objects": [{"position": COOKED[name], **READY}]}


@pytest.mark.parametrize(("limit", "alone"), [(10, True), (8, True), (7, False)])
def test_gated_delivery_needs_help_from_limit_seven_down(limit: int, alone: bool) -> None:
    game = game_of("gated_delivery", gate_limit=limit, view_radius=1)
    assert can_deliver_alone(game, 0, with_soup("gated_delivery"), takes_no_onion) is alone


@pytest.mark.parametrize(("limit", "alone"), [(10, True), (9, True), (8, False), (7, False)])
def test_locked_needs_help_with_the_soup_of_the_right_pot(limit: int, alone: bool) -> None:
    game = game_of("locked", gate_limit=limit, view_radius=1)
    assert can_deliver_alone(game, 1, with_soup("locked"), takes_no_onion) is alone


@pytest.mark.parametrize("name", list(COOKED))
def test_the_forced_presets_need_help(name: str) -> None:
    game = game_of(f"{name}_forced", view_radius=1)
    assert game.layouts[0].gate_limit == 7
    assert game.layouts[0].grid == game_of(name).layouts[0].grid
    assert not can_deliver_alone(game, LONE[name], with_soup(name), takes_no_onion)


def test_in_forced_gated_delivery_nobody_ever_serves_alone_whatever_is_cooked() -> None:
    game = game_of("gated_delivery_forced", agents=1, view_radius=1)
    assert not can_deliver_alone(game, 0, with_soup("gated_delivery"))


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("gated_delivery_forced", "W I N E N I E S S S I", "S I W . . . . . . . ."),
        ("locked_forced", "S S E . . . I N . . . .", "N I E S E I S W W W S I"),
    ],
)
def test_two_can_serve_in_the_forced_presets(name: str, first: str, second: str) -> None:
    game = game_of(name)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([0])
    game.reset(state, out, np.ones(1, np.bool_), {"state": with_soup(name.removesuffix("_forced"))})
    paid = 0.0
    for pair in zip(first.split(), second.split(), strict=True):
        game.step(state, np.array([["NSEW.I".index(token) for token in pair]], np.int32), out)
        paid += out.sparse.sum()
    assert paid == 20, game.render(state, 0, "ansi")


def test_gates_stay_as_they_are_over_a_reset_where_they_shall() -> None:
    for options, still in (({}, False), ({"gate_reset": False}, True)):
        game = game_of("locked", **options)
        state, out = game.alloc(1)
        state.rng[:] = seed_states([0])
        everything = np.ones(1, np.bool_)
        game.reset(state, out, everything, {"state": {"gates": [{"position": [3, 3], "open": True, "counter": 4}]}})
        game.reset(state, out, everything)
        (gate,) = game.scene(state, 0)["gates"]
        assert (gate["open"], gate["counter"]) == (still, 4 if still else 0)


def test_a_layout_and_the_option_set_the_limit() -> None:
    world = "XXPXX\nO 1 O\nXWGWX\nD 2 S\nXXXXX\n1 south\n(2,2) open 2"
    assert "open" not in _after_one_step(world, gate_limit=2)
    assert _after_one_step(world, gate_limit=3).endswith("(2,2) open 3")
    assert _after_one_step(world, option_gate_limit=3, gate_limit=2).endswith("(2,2) open 3")


def _after_one_step(world: str, **options) -> str:
    rollout = open_world(world, **options)
    rollout.step([Action.STAY, Action.STAY])
    return rollout.last
