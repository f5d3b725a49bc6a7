"""Bounds of observations: true in random and in greedy play of every game and encoding, and reached in play."""

from __future__ import annotations

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked import registered
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.registry import load_game
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team
from collab_overcooked.testing import random_legal

REACHED = 0.02  # share of the numbers that get to their highest value
DEFAULTS = [(env_id, {}) for env_id in registered()]
OTHERS = [
    ("Overcooked-v0", {"obs": "features", "layout": "forced_coordination"}),
    ("Overcooked-v0", {"obs": "features", "agents": 3, "layout": "gated_delivery"}),
    ("CollabOvercooked-v0", {"obs": "grid", "action_level": "primitive"}),
    ("CollabOvercooked-v0", {"action_level": "primitive", "kitchen": "shared_floor"}),
    ("CuisineWorld-v0", {"obs": "original64", "mask": "original", "agents": 2}),
    ("CuisineWorld-v0", {"agents": 3, "alpha": None, "max_open_orders": 2}),
    ("CraftKitchen-v0", {"walk": 3, "respawn": 9, "cook_steps": 4, "items_per_fuel": 2.5, "agents": 3}),
    ("CollabEscape-v0", {"sight": "room", "agents": 3, "preset": "paper2023", "generators": "random"}),
    ("CollabCapture-v0", {"sight": "room", "agents": 3}),
    ("KitchenRush-v0", {"agents": 3, "workers": 2, "mask": "safe"}),
    ("Transport-v0", {"rooms": 8, "agents": 3, "stepping": "tick"}),
    ("Housework-v0", {"rooms": 8, "items": 10, "talk": "free"}),
]
CASES = [*DEFAULTS, *(pytest.param(case, marks=pytest.mark.slow) for case in OTHERS)]


def named(case):
    return "-".join([case[0], *map(str, case[1].values())])


def seen_in_random_play(game, steps, envs=8):
    """Return the lowest and highest numbers that any agent sees."""
    batch, rng = BatchEnv(game, envs), np.random.default_rng(5)
    observations, _ = batch.reset(5)
    low, high = observations.min((0, 1)), observations.max((0, 1))
    for _ in range(steps // envs):
        observations, _, terminated, truncated, _ = batch.step(random_legal(batch, rng))
        low, high = np.minimum(low, observations.min((0, 1))), np.maximum(high, observations.max((0, 1)))
        if (terminated | truncated).any():
            batch.reset(which=terminated | truncated)
    return low, high


def seen_in_greedy_play(case, steps):
    env = collab_overcooked.make(case[0], **case[1], max_cycles=steps)
    team = make_team(["greedy"] * env.game.n_agents)
    record = play_episode(env, team, 3)
    actions = [step.actions for step in record.steps]
    observations, _ = env.reset(seed=3, options=record.options)
    seen = [*observations.values()]
    for row in actions:
        seen += env.step(dict(zip(env.possible_agents, row, strict=True)))[0].values()
    seen = np.stack([one["observation"] if isinstance(one, dict) else one for one in seen])
    return seen.min(0), seen.max(0)


def check(case, steps):
    game = load_game(case[0], **case[1])
    space, played = game.single_observation_space, [seen_in_random_play(game, steps)]
    if case[1].get("action_level") != "primitive":  # which greedy does not play in this game
        played.append(seen_in_greedy_play(case, 120))
    low, high = np.min([p[0] for p in played], axis=0), np.max([p[1] for p in played], axis=0)
    assert (low >= space.low).all(), [(k.tolist(), low[*k], space.low[*k]) for k in np.argwhere(low < space.low)[:9]]
    assert (high <= space.high).all(), [
        (k.tolist(), high[*k], space.high[*k]) for k in np.argwhere(high > space.high)[:9]
    ]
    assert (space.high >= 1).all() and (space.low <= 0).all()
    assert (high == space.high).mean() >= REACHED


@pytest.mark.parametrize("case", CASES, ids=named)
def test_observations_lie_within_bounds_that_are_reached(case):
    check(case, steps=400)


@pytest.mark.nightly
@pytest.mark.parametrize("case", [*DEFAULTS, *OTHERS], ids=named)
def test_observations_lie_within_bounds_in_long_play(case):
    check(case, steps=10_000)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_scaled_observations_of_critics_lie_between_0_and_1(case):
    batch = BatchEnv(load_game(case[0], **case[1]), 4, state="concat")
    batch.reset(1)
    states = batch.states()
    assert states.dtype == np.float32 and states.min() >= 0 and states.max() <= 1
