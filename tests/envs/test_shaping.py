"""``set_shaping``: every kind of environment adds the shaped rewards of its infos, at the weight of the moment."""

from __future__ import annotations

import numpy as np
import pytest

import collab_overcooked

ROOM = {"layout": "cramped_room", "obs": "features", "max_cycles": 300}
ENVS, STEPS, WEIGHT = 6, 250, 0.5


def drawn_actions(count):
    return np.random.default_rng(4).choice(6, size=(STEPS, count), p=[0.13, 0.13, 0.13, 0.13, 0.04, 0.44])


def native(weight):
    env = collab_overcooked.make_vec("Overcooked-v0", ENVS, "native", **ROOM)
    env.reset(seed=1)
    env.set_shaping(weight)
    for actions in drawn_actions(ENVS * 2):
        _, rewards, _, _, infos = env.step(actions.reshape(ENVS, 2))
        yield rewards.reshape(-1).copy(), infos["shaped_reward"].reshape(-1).copy()


def vector(weight):
    env = collab_overcooked.make_vec("Overcooked-v0", ENVS, "gymnasium", **ROOM)
    env.reset(seed=1)
    env.set_shaping(weight)
    for actions in drawn_actions(ENVS * 2):
        _, rewards, _, _, infos = env.step(actions)
        yield rewards, infos["shaped_reward"]


def sb3(weight):
    pytest.importorskip("stable_baselines3")
    env = collab_overcooked.make_vec("Overcooked-v0", ENVS, "sb3", **ROOM)
    env.seed(1)
    env.reset()
    env.set_shaping(weight)
    for actions in drawn_actions(ENVS * 2):
        _, rewards, _, infos = env.step(actions)
        yield rewards, np.array([info["shaped_reward"] for info in infos])


def parallel(weight):
    env = collab_overcooked.make("Overcooked-v0", **ROOM)
    env.reset(seed=1)
    env.set_shaping(weight)
    for actions in drawn_actions(2):
        _, rewards, _, _, infos = env.step(dict(zip(env.agents, actions.tolist(), strict=True)))
        yield np.array(list(rewards.values())), np.array([info["shaped_reward"] for info in infos.values()])


@pytest.mark.parametrize("kind", [native, vector, sb3, parallel])
def test_rewards_are_the_game_s_plus_the_weighted_shaped_ones(kind):
    paid = 0.0
    for (plain, shaped), (rewards, same) in zip(kind(0), kind(WEIGHT), strict=True):
        assert np.array_equal(shaped, same), "the infos keep the shaped rewards themselves"
        assert np.allclose(rewards, plain + WEIGHT * shaped)
        paid += np.abs(shaped).sum()
    assert paid > 0


def test_the_weight_counts_from_the_next_step_and_only_while_it_is_set():
    batch = collab_overcooked.make_vec("Overcooked-v0", ENVS, "native", **ROOM)
    batch.reset(seed=1)
    seen = set()
    for step, actions in enumerate(drawn_actions(ENVS * 2)):
        weight = (step // 50) % 2
        batch.set_shaping(weight)
        _, rewards, _, _, infos = batch.step(actions.reshape(ENVS, 2))
        sparse = rewards - weight * infos["shaped_reward"]
        assert np.allclose(sparse, sparse[:, :1]), "deliveries pay all players the same"
        if infos["shaped_reward"].any():
            seen.add(weight)
    assert seen == {0, 1}


@pytest.mark.parametrize("weight", ["much", None, True, float("nan"), float("inf")])
def test_a_weight_is_a_number(weight):
    with pytest.raises(ValueError, match="weight must be a number, not"):
        collab_overcooked.make("Overcooked-v0", **ROOM).set_shaping(weight)


def test_shaped_rewards_are_not_paid_twice_and_not_where_there_are_none():
    with pytest.raises(ValueError, match="reward='shaped' includes shaped rewards already"):
        collab_overcooked.make("Overcooked-v0", reward="shaped", **ROOM).set_shaping(1.0)
    with pytest.raises(ValueError, match="CuisineWorld-v0 has no shaped rewards"):
        collab_overcooked.make_vec("CuisineWorld-v0", 2, "native").set_shaping(1.0)
