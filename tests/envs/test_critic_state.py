"""Inputs of centralised critics: the same on every kind of batch, in their bounds, without the generator."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.envs.critic_state import symlog
from collab_overcooked.kernels.rng import derive_seeds

SMALL = {"CuisineWorld-v0": {"agents": 2}}


def steps(batch, count, rng):
    for _ in range(count):
        masks = batch.action_masks()
        yield (rng.random(masks.shape) * masks).argmax(-1)


@pytest.mark.parametrize("env_id", ["Overcooked-v0", "CollabCapture-v0", "CuisineWorld-v0"])
@pytest.mark.parametrize("state", ["global", "concat"])
def test_states_are_in_their_space_all_along(env_id, state):
    batch = collab_overcooked.make_vec(env_id, 3, state=state, max_cycles=20, **SMALL.get(env_id, {}))
    batch.reset(seed=0)
    seen = []
    for actions in steps(batch, 15, np.random.default_rng(0)):
        batch.step(actions)
        states = batch.states()
        assert states.dtype == np.float32 and states.shape == (3, *batch.state_space.shape)
        assert all(batch.state_space.contains(row) for row in states)
        seen.append(states)
    assert any((one != other).any() for one, other in itertools.pairwise(seen))


def test_the_global_state_is_what_agents_observe_and_the_game_s_without_the_generator():
    batch = collab_overcooked.make_vec("Overcooked-v0", 2, layout="cramped_room", obs="features")
    concat = collab_overcooked.make_vec("Overcooked-v0", 2, layout="cramped_room", obs="features", state="concat")
    batch.reset(seed=1)
    concat.reset(seed=1)
    before = batch.states()
    observed, state = np.split(before[1], [concat.state_space.shape[0]])
    np.testing.assert_array_equal(observed, concat.states()[1])
    np.testing.assert_array_equal(state, symlog(batch.game.state_vector(batch.state, 1)))
    batch.state.rng[:] += 1
    np.testing.assert_array_equal(batch.states(), before)
    assert symlog(np.array([-(2**31), 2**31 - 1])).tolist() == pytest.approx([-21.4875626, 21.4875626])


def test_concatenated_observations_are_scaled_by_their_bounds_and_ordered_by_seat():
    batch = collab_overcooked.make_vec("Overcooked-v0", 2, layout="cramped_room", obs="features", state="concat")
    observations, _ = batch.reset(seed=1)
    box = batch.single_observation_space
    result = (observations.astype(np.float64) - box.low) / np.maximum(box.high.astype(np.float64) - box.low, 1)
    np.testing.assert_allclose(batch.states(), result.reshape(2, -1), rtol=1e-6)


def test_every_kind_has_the_same_states():
    options = {"layout": "cramped_room"}
    native = collab_overcooked.make_vec("Overcooked-v0", 2, **options)
    wrapped = collab_overcooked.make_vec("Overcooked-v0", 2, "gymnasium", **options)
    native.reset(seed=4)
    wrapped.reset(seed=4)
    np.testing.assert_array_equal(native.states(), wrapped.states())
    env = collab_overcooked.make("Overcooked-v0", **options)
    env.reset(seed=derive_seeds(4, 2)[1])
    np.testing.assert_array_equal(env.state(), native.states()[1])
    assert env.state_space == native.state_space == wrapped.state_space
    pytest.importorskip("stable_baselines3")
    rows = collab_overcooked.make_vec("Overcooked-v0", 2, "sb3", **options)
    rows.seed(4)
    rows.reset()
    np.testing.assert_array_equal(rows.states(), native.states())


def test_unknown_kinds_of_states_are_refused():
    with pytest.raises(ValueError, match="unknown state 'concatt'; did you mean concat"):
        collab_overcooked.make_vec("Overcooked-v0", 2, state="concatt")
    assert "state" not in registry.game_options("Overcooked-v0")
