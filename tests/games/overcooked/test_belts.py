"""Belts: what they move, in which order, who is told, and that teams use them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from games.overcooked.world import game_of, play
from support.naive.overcooked import NaiveKitchen

import collab_overcooked
from collab_overcooked.games.overcooked.engine import rules
from collab_overcooked.games.overcooked.engine.compile import belts_ahead, compile_terrain
from collab_overcooked.games.overcooked.engine.constants import BELTS, SYMBOLS, Terrain
from collab_overcooked.games.overcooked.engine.solvability import prove
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.teams import make_team

STAY, INTERACT = 4, 5
ROOM = """
    XPXXXX
    O1  2X
    D    X
    XS>>vX
    XXXXXX
"""
LOOPS = "XXXXXXX\nO1 >>vX\nD  X XP\nX2 <<<S\nXXXXXXX"


def test_move_belts() -> None:
    """A thing moves by a cell in the step in which it is put down and in each one after it, up to the last counter."""
    rollout = play(ROOM + "1 south\n2 west\n(2,3) onion", "1: . . . . .")
    moved = [facts[-1] for facts in (picture.splitlines() for picture in rollout.pictures)]
    assert moved == ["(2,3) onion", "(3,3) onion", "(4,3) onion", "(4,4) onion", "(4,4) onion", "(4,4) onion"]


def test_things_on_a_belt_move_together_and_wait_behind_each_other() -> None:
    rollout = play(ROOM + "1 south\n2 west\n(2,3) onion\n(3,3) dish\n(4,3) onion", "1: .")
    assert rollout.facts[2:] == ["(3,3) onion", "(4,3) dish", "(4,4) onion"]
    rollout = play(ROOM + "1 south\n2 west\n(2,3) onion\n(3,3) dish\n(4,3) onion", "1: . . . .")
    assert rollout.facts[2:] == ["(3,3) onion", "(4,3) dish", "(4,4) onion"]


def test_is_counter() -> None:
    assert [kind for kind in Terrain if rules.is_counter(int(kind))] == [Terrain.COUNTER, *BELTS.values()]


def test_a_belt_is_used_like_a_counter() -> None:
    rollout = play(ROOM.replace("D    X", "D1   X").replace("O1", "O ") + "1 south holds onion\n2 west", "1: E S I")
    assert rollout.facts == ["1 south", "2 west", "(3,3) onion"]
    assert rollout.events_of(1)[0] == "onion_drop"
    rollout = play(ROOM.replace("D    X", "D 1  X").replace("O1", "O ") + "1 south\n2 west\n(2,3) onion", "1: I")
    assert rollout.facts == ["1 south holds onion", "2 west"]


@pytest.mark.parametrize("seed", range(6))
def test_random_play_equals_the_naive_kitchen(seed: int) -> None:
    game = game_of({"name": "loops", "grid": LOOPS, "orders": [["onion"] * 3]}, burn=6)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    game.reset(state, out, np.ones(1, np.bool_), None, 1000)
    starts = [(x, y) for x, y in game.compiled.tables.starts[0].tolist()]
    naive, rng = NaiveKitchen(game.layouts[0], starts, True, 10), random.Random(seed)
    naive.burn = 6, 5
    for _ in range(300):
        wishes = [INTERACT if out.masks[0, i, 5] and rng.random() < 0.8 else rng.randrange(6) for i in range(2)]
        news = naive.step([game.action_texts()[action] for action in wishes])
        game.step(state, np.array([wishes], np.int32), out)
        game.observe(state, out)
        assert out.sparse[0].tolist() == news["sparse"]
        assert out.shaped[0].tolist() == news["shaped"]
        scene, told = game.scene(state, 0), naive.scene()
        assert {key: scene[key] for key in told} == told


def test_observations_show_the_way_of_belts() -> None:
    game = game_of({"name": "loops", "grid": LOOPS, "orders": [["onion"] * 3]})
    state, out = game.alloc(1)
    state.rng[:] = seed_states([0])
    game.reset(state, out, np.ones(1, np.bool_), None, 1000)
    game.observe(state, out)
    seen = out.observations[0, 0].reshape(game.single_observation_space.shape)  # x, y, channel
    for place, symbol in enumerate(BELTS):
        cells = {(x, y) for y, row in enumerate(LOOPS.splitlines()) for x, cell in enumerate(row) if cell == symbol}
        assert set(map(tuple, np.argwhere(seen[..., place - 4]).tolist())) == cells
    hidden = OvercookedV2({"name": "v2", "grid": "WWWWW\n0A >W\nB A<P\nW R X\nWWWWW", "recipes": [[0, 0, 0]]})
    state, out = hidden.alloc(1)
    state.rng[:] = seed_states([0])
    hidden.reset(state, out, np.ones(1, np.bool_), None, 1000)
    hidden.observe(state, out)
    seen = out.observations[0, 0].reshape(hidden.single_observation_space.shape)  # y, x, channel
    assert np.argwhere(seen[..., -2:]).tolist() == [[1, 3, 0], [2, 3, 1]] and not seen[..., -4:-2].any()


def test_texts_and_pictures_name_belts() -> None:
    game = game_of("belt", action_level="medium")
    assert "s0 (3, 2) east, k12 (4, 2) east, k13 (5, 2) east" in game.manual()
    plain = game_of("belt")
    state, out = plain.alloc(1)
    state.rng[:] = seed_states([0])
    plain.reset(state, out, np.ones(1, np.bool_), None, 1000)
    assert "p 1>>>s2c" in plain.describe(state, 0, 0) and "> belts" in plain.manual()
    assert "A^ >  >  >  ##" in plain.render(state, 0, "ansi")


def test_belts_ahead_and_rest_of() -> None:
    grid = LOOPS.replace("1", " ").replace("2", " ").splitlines()
    terrain = compile_terrain([grid], SYMBOLS)[0]
    assert belts_ahead("loops", terrain, (3, 1)) == [(4, 1), (5, 1), (5, 2)]
    assert belts_ahead("loops", terrain, (0, 3)) == []


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("XXPXX\nO1>vD\nX ^<S\nXXXXX", r"layout k: belts lead to each other in a ring at \(2, 1\)"),
        ("XXPXX\nO1  D\nX  2S\nX<XvX", r"layout k: the belt at \(3, 3\) leads out of the kitchen"),
    ],
)
def test_belts_that_lead_nowhere_are_refused(grid: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Overcooked({"name": "k", "grid": grid})


@pytest.mark.parametrize("obs", ["jaxmarl", "gates", "features"])
def test_encodings_without_channels_for_belts_refuse_them(obs: str) -> None:
    with pytest.raises(ValueError, match=f"obs '{obs}' has no channel for belts"):
        Overcooked("belt", obs=obs)


def test_a_kitchen_whose_rooms_only_a_belt_joins_is_solvable() -> None:
    layout = game_of("belt").layouts[0]
    assert prove(layout.grid, layout.starts, [("onion",) * 3]) is not None
    against = [row.replace(">", "<") for row in layout.grid]
    assert prove(against, layout.starts, [("onion",) * 3]) is None


@pytest.mark.parametrize(
    ("policy", "level"), [("greedy", "primitive"), ("greedy", "medium"), ("planner:width=100", "primitive")]
)
def test_teams_of_programs_hand_over_by_a_belt(policy: str, level: str) -> None:
    env = collab_overcooked.make("Overcooked-v0", layout="belt", action_level=level, max_cycles=200)
    record = play_episode(env, make_team([policy] * 2), 0)
    labels: list[Any] = [event.label for step in record.steps for event in step.events if event is not None]
    assert labels.count("deliver soup") >= 3
    assert first_difference(record) is None
