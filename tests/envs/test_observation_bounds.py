"""Bounds of observations that are maps: true in play, and tight enough that no trainer takes a map for an image."""

from __future__ import annotations

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked import registered
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.registry import load_game
from collab_overcooked.testing import random_legal

KITCHEN = {"grid": "XXPXX\nO1 2O\nX G T\nXDXSX", "cook_time": 3, "name": "small", "gate_limit": 4}
MAPS = [
    ("Overcooked-v0", {"obs": "lossless"}),
    ("Overcooked-v0", {"obs": "lossless", "axes": "hwc", "layout": KITCHEN, "dynamics": "explicit"}),
    ("Overcooked-v0", {"obs": "lossless", "axes": "chw", "layout": ["cramped_room", "gated_delivery"]}),
    ("Overcooked-v0", {"obs": "lossless", "view_radius": 2, "gate_opener": "anyone", "layout": "door_rect_room"}),
    ("Overcooked-v0", {"obs": "lossless", "layout": "procedural", "generator": {"seed": 3, "count": 8}}),
    ("Overcooked-v0", {"obs": "jaxmarl"}),
    ("Overcooked-v0", {"obs": "gates", "layout": "gated_delivery"}),
    ("Overcooked-v0", {"obs": "gates", "layout": "door_rect_room", "gate_limit": 300, "gate_pause": False}),
    ("CollabOvercooked-v0", {"obs": "grid"}),
    ("CollabOvercooked-v0", {"obs": "grid", "action_level": "primitive", "kitchen": "shared_floor"}),
    ("CollabOvercooked-v0", {"obs": "grid", "preset": "original", "orders": True, "show_limit": False}),
]


def named(case):
    return "-".join([case[0], *map(str, case[1].values())])


@pytest.mark.parametrize("case", MAPS, ids=named)
def test_bounds_of_maps_are_true_in_random_play(case):
    game = load_game(case[0], **case[1])
    space = game.single_observation_space
    assert (space.low == 0).all()
    assert (space.high >= 1).all(), "a trainer that scales by the bounds would divide by zero"
    batch, rng = BatchEnv(game, 8), np.random.default_rng(11)
    observations, _ = batch.reset(11)
    highest = observations.max(axis=(0, 1))
    for _ in range(400):
        observations, _, terminated, truncated, _ = batch.step(random_legal(batch, rng))
        highest = np.maximum(highest, observations.max(axis=(0, 1)))
        if (terminated | truncated).any():
            batch.reset(which=terminated | truncated)
    assert (highest <= space.high).all(), np.argwhere(highest > space.high)[:5]


def test_counts_and_times_are_bounded_by_the_options():
    space = load_game("Overcooked-v0", layout=KITCHEN).single_observation_space
    channels = space.high.reshape(-1, space.shape[2])
    assert (channels == channels[0]).all()
    counts, seconds, gate = [3] * 4, 3, 4
    assert channels[0].tolist() == [1] * 10 + [1] * 6 + counts + [seconds] + [1] * 8 + [gate]


@pytest.mark.parametrize("env_id", registered())
def test_no_observation_is_taken_for_an_image(env_id):
    preprocessing = pytest.importorskip("stable_baselines3.common.preprocessing", reason="needs the rl extra")
    for case in [(env_id, {}), *(case for case in MAPS if case[0] == env_id)]:
        space = load_game(case[0], **case[1]).single_observation_space
        assert not preprocessing.is_image_space(space), case
        assert not preprocessing.is_image_space(space, check_channels=True), case


@pytest.mark.parametrize(
    ("env_id", "options"),
    [("Overcooked-v0", {}), pytest.param("CollabOvercooked-v0", {"obs": "grid"}, marks=pytest.mark.nightly)],
)
def test_sb3_reads_the_same_counts_with_and_without_normalize_images(env_id, options):
    sb3 = pytest.importorskip("stable_baselines3", reason="needs stable-baselines3, of the rl extra")
    import torch
    from stable_baselines3.common.preprocessing import preprocess_obs

    features, weights = [], []
    for settings in ({}, {"policy_kwargs": {"normalize_images": False}}):
        envs = collab_overcooked.make_vec(env_id, 2, "sb3", max_cycles=20, **options)
        first = torch.as_tensor(envs.reset().copy())
        model = sb3.PPO("MlpPolicy", envs, n_steps=32, batch_size=64, n_epochs=1, seed=0, device="cpu", **settings)
        with torch.no_grad():
            features.append(model.policy.extract_features(first))
        normalized = preprocess_obs(first, model.observation_space, settings == {})
        assert torch.equal(normalized, first.float())
        model.learn(128)
        weights.append([value.clone() for value in model.policy.state_dict().values()])
        envs.close()
    assert torch.equal(*features)
    assert features[0].max() >= 1
    assert all(torch.equal(*pair) for pair in zip(*weights, strict=True))
