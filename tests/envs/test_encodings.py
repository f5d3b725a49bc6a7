"""Encoders of a batch: the observations of a batch with other options, of the same states."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked.envs.encodings import observation_options
from collab_overcooked.registry import game_class, load_game, registered

STEPS = 12
NEEDS: dict[str, dict[str, Any]] = {"original64": {"agents": 2}}  # options of an encoding


def encodings_of(env_id: str) -> list[dict[str, Any]]:
    """Return each value that an observation option of a game allows, but its default."""
    config = game_class(env_id).config_class
    allowed = {field.name: field.metadata.get("allowed", ()) for field in fields(config)}
    default = config()
    return [
        {name: value}
        for name in observation_options(env_id)
        for value in allowed[name]
        if value != getattr(default, name)
    ]


CASES = [(env_id, options) for env_id in registered() for options in encodings_of(env_id)]


@pytest.mark.parametrize(
    ("env_id", "options"), CASES, ids=[f"{env_id}-{next(iter(o.values()))}" for env_id, o in CASES]
)
def test_an_encoder_shows_what_a_batch_with_its_options_shows(env_id: str, options: dict[str, Any]) -> None:
    needed = NEEDS.get(str(options.get("obs")), {})
    batch = collab_overcooked.make_vec(env_id, 3, **needed)
    other = collab_overcooked.make_vec(env_id, 3, **needed, **options)
    encoder = batch.encoder(**options)
    assert encoder.single_observation_space == other.single_observation_space
    rng = np.random.default_rng(0)
    _, infos = batch.reset(seed=5)
    expected, _ = other.reset(seed=5)
    for _ in range(STEPS):
        seen = encoder.observations()
        assert seen.dtype == expected.dtype and np.array_equal(seen, expected)
        masks = infos["action_mask"]
        actions = (rng.random(masks.shape) * masks).argmax(-1)
        *_, infos = batch.step(actions)
        expected, *_ = other.step(actions)


def test_own_options_are_the_own_observations() -> None:
    batch = collab_overcooked.make_vec("Overcooked-v0", 2, obs="features")
    observations, _ = batch.reset(seed=1, copy=True)
    assert np.array_equal(batch.encoder(obs="features").observations(), observations)


def test_beside_partners_the_learners_rows_are_encoded() -> None:
    batch = collab_overcooked.make_vec("Overcooked-v0", 4, partners=["random"])
    encoder = batch.encoder(obs="features")
    _, infos = batch.reset(seed=1)
    everyone = load_game("Overcooked-v0", obs="features")
    out = everyone.alloc(4)[1]
    everyone.observe(batch.state, out)
    rows = out.observations.reshape(4, 2, -1)[np.arange(4), infos["seat"][:, 0]]
    assert np.array_equal(encoder.observations(), rows[:, None])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "forced_coordination"}, "changes Overcooked-v0 itself, not its observation; allowed: obs"),
        ({"obz": "features"}, "unknown option 'obz'; did you mean obs"),
        ({"obs": "feature"}, "features"),
    ],
)
def test_other_options_are_refused(options: dict[str, Any], message: str) -> None:
    batch = collab_overcooked.make_vec("Overcooked-v0", 2)
    with pytest.raises(ValueError, match=message):
        batch.encoder(**options)
