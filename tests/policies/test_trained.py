"""Policy files: what is kept, how it plays, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.policies_of_chance import a_policy

from collab_overcooked import registry
from collab_overcooked.policies.api import EnvInfo
from collab_overcooked.policies.policy_file import (
    Network,
    builtin_policies,
    choose,
    halved,
    is_stand_in,
    policy_path,
    read_policy,
)
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team, parse_seats

KITCHEN = {"task": "boiled_egg"}


def test_a_file_keeps_network_and_origin(tmp_path):
    game = registry.load_game("CollabOvercooked-v0", **KITCHEN)
    file = halved(a_policy(game, command="collab-overcooked train", steps=7))
    file.save(tmp_path / "a.npz")
    again = read_policy(tmp_path / "a.npz")
    assert (again.meta["command"], again.meta["steps"], again.mode) == ("collab-overcooked train", 7, "sample")
    observations = np.random.default_rng(1).integers(0, 2, (3, *game.single_observation_space.shape), np.uint8)
    assert np.array_equal(again.network.logits(observations), file.network.logits(observations))


def test_convolutions_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    image, weight, bias = rng.normal(size=(1, 2, 4, 5)), rng.normal(size=(3, 2, 3, 3)), rng.normal(size=3)
    layers = (("conv", weight, bias), ("dense", np.eye(60, dtype=np.float32), np.zeros(60, np.float32)))
    logits = Network(np.ones(1, np.float32), layers, "relu").logits(image).reshape(3, 4, 5)
    padded = np.pad(image[0], ((0, 0), (1, 1), (1, 1)))
    for channel, y, x in np.ndindex(3, 4, 5):
        value = (padded[:, y : y + 3, x : x + 3] * weight[channel]).sum() + bias[channel]
        assert logits[channel, y, x] == pytest.approx(max(value, 0), rel=1e-5, abs=1e-5)


def test_samples_follow_the_probabilities_and_greedy_takes_the_likeliest():
    logits = np.log(np.array([0.5, 0.3, 0.2, 1.0], np.float32))
    network = Network(np.ones(1, np.float32), (("dense", np.zeros((4, 1), np.float32), logits),), "relu")
    masks = np.tile(np.array([1, 1, 1, 0], np.int8), (20_000, 1))
    rng = np.random.default_rng(0)
    drawn = choose(network.logits(np.zeros((20_000, 1))), masks, rng, "sample")
    assert np.bincount(drawn, minlength=4) / 20_000 == pytest.approx([0.5, 0.3, 0.2, 0.0], abs=0.015)
    assert set(choose(network.logits(np.zeros((5, 1))), masks[:5], rng, "greedy").tolist()) == {0}


def test_it_sits_in_a_team_and_plays_the_same_game_again(tmp_path):
    env = registry.make("CollabOvercooked-v0", **KITCHEN)
    a_policy(env.game).save(tmp_path / "a.npz")
    team = make_team(parse_seats([f"agent_0=ppo:{tmp_path}/a.npz", "agent_1=greedy"], 2))
    one, other = (play_episode(env, team, seed=3) for _ in range(2))
    assert one == other
    assert not any(step.errors for step in one.steps)


@pytest.mark.parametrize(
    ("env_id", "entry", "other"),
    [
        ("CollabOvercooked-v0", {"obs": "grid"}, {}),
        ("CuisineWorld-v0", {}, {"obs": "original64"}),
        ("Overcooked-v0", {"obs": "lossless", "axes": "chw"}, {"obs": "features"}),
    ],
)
def test_it_plays_the_same_whatever_the_environment_shows(tmp_path, env_id, entry, other):
    """A policy for one kind of observation in an environment that shows another: it makes its own."""
    options = {"CollabOvercooked-v0": KITCHEN, "CuisineWorld-v0": {"agents": 2}}.get(env_id, {})
    envs = [registry.make(env_id, **options, **displayed, max_cycles=40) for displayed in (entry, other)]
    a_policy(envs[0].game).save(tmp_path / "a.npz")
    team = make_team(parse_seats([f"all=ppo:{tmp_path}/a.npz"], 2))
    played = [play_episode(env, team, seed=3) for env in envs]
    assert played[0].steps == played[1].steps
    assert len({action for step in played[0].steps for action in step.actions}) > 1


def test_modes_are_chosen_in_the_spec(tmp_path):
    game = registry.load_game("CollabOvercooked-v0", **KITCHEN)
    a_policy(game).save(tmp_path / "a.npz")
    assert make_policy(f"ppo:{tmp_path}/a.npz").mode == "sample"
    assert make_policy(f"ppo:{tmp_path}/a.npz,greedy").mode == "greedy"
    with pytest.raises(ValueError, match="unknown mode 'gredy'; did you mean greedy"):
        make_policy(f"ppo:{tmp_path}/a.npz,gredy")


@pytest.mark.parametrize(
    ("env_id", "kwargs", "text"),
    [
        ("CuisineWorld-v0", {}, "was trained on CollabOvercooked-v0 and cannot play CuisineWorld-v0"),
        ("CollabOvercooked-v0", {"action_level": "primitive"}, "number of actions"),
        ("CollabOvercooked-v0", {"kitchen": "three_agents"}, "observations of shape"),
    ],
)
def test_other_games_and_variants_are_refused(tmp_path, env_id, kwargs, text):
    a_policy(registry.load_game("CollabOvercooked-v0", **KITCHEN)).save(tmp_path / "a.npz")
    env = registry.make(env_id, **kwargs)
    with pytest.raises(ValueError, match=text):
        play_episode(env, make_team(parse_seats([f"all=ppo:{tmp_path}/a.npz"], env.game.n_agents)), seed=0)


def test_names_and_files_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="needs a name or a file"):
        policy_path("")
    with pytest.raises(ValueError, match=r"unknown trained policy 'cramped_rom'.*\.npz file"):
        policy_path("cramped_rom")
    with pytest.raises(ValueError, match="cannot be read"):
        read_policy(tmp_path / "none.npz")
    (tmp_path / "a.npz").write_bytes(b"no zip at all")
    with pytest.raises(ValueError, match="is not a policy file"):
        read_policy(tmp_path / "a.npz")
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match="is not a policy file"):
        read_policy(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", meta=np.array(json.dumps({"format": "other/1"})))
    with pytest.raises(ValueError, match=r"format must be .* not 'other/1'"):
        read_policy(tmp_path / "a.npz")


def test_a_file_with_a_pickle_in_it_is_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "made"), "w"))

    np.savez(tmp_path / "a.npz", meta=np.array([Evil()], dtype=object))
    with pytest.raises(ValueError, match="is not a policy file"):
        read_policy(tmp_path / "a.npz")
    assert not (tmp_path / "made").exists()


def test_shipped_policies_are_small_and_tell_their_origin():
    sizes = [policy_path(name).stat().st_size for name in builtin_policies()]
    assert sum(sizes) <= 4_000_000
    for name in builtin_policies():
        meta = read_policy(policy_path(name)).meta
        assert meta["command"].startswith("collab-overcooked train") and meta["steps"] > 0
        assert meta["score"] or is_stand_in(name)  # these are measured beside a partner
        game = registry.load_game(meta["env_id"], **meta["env_kwargs"])
        assert list(game.single_observation_space.shape) == meta["observation_shape"]


def test_a_policy_of_another_variant_names_the_options_that_differ():
    """Of the game and of a channel; those of the observation, which it brings along, are left out."""
    pool = {"layout": ["split_left", "split_right"], "changes": 100, "notice": 20}
    game = registry.load_game("Overcooked-v0", **pool, obs="lossless", channel=2)
    with pytest.raises(ValueError, match=r"observations of shape \[96\] there, \[\d+\] here \((.*)\)") as error:
        make_policy("ppo:cramped_room").reset(0, EnvInfo(game.id, game, "", ("ppo:cramped_room",) * 2), 0)
    there, here = str(error.value).rpartition("(")[2].removesuffix(" here)").split(" there, ")
    assert there == "layout='cramped_room', changes=None, notice=0, channel=0"
    assert here == "layout=['split_left', 'split_right'], changes={'every': 100}, notice=20, channel=2"
