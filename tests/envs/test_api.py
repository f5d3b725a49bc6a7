"""The ParallelEnv wrapper: what conformance does not say about it."""

from __future__ import annotations

import itertools

import gymnasium
import numpy as np
import pytest

import collab_overcooked
from collab_overcooked.envs.api import rows
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.envs.wrappers import draw
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked

ID = "CollabOvercooked-v0"


@pytest.fixture(scope="module")
def game():
    return CollabOvercooked()


@pytest.fixture
def env(game):
    env = ParallelEnv(game)
    env.reset(seed=0)
    return env


def idle(env):
    return {agent: env.game.idle_action() for agent in env.agents}


@pytest.mark.parametrize(("mask_in", "key"), [("obs", "observation"), ("rllib", "observations")])
def test_masks_can_travel_in_observations(game, mask_in, key):
    env = ParallelEnv(game, mask_in=mask_in)
    observations, infos = env.reset(seed=0)
    assert list(env.observation_space("agent_0")) == ["action_mask", key]
    assert observations["agent_0"] in env.observation_space("agent_0")
    np.testing.assert_array_equal(observations["agent_0"]["action_mask"], env.action_mask("agent_0"))
    assert "action_mask" not in infos["agent_0"], "adapters that merge both would find two"


def test_text_comes_only_when_asked_for(game, env):
    assert set(env.step(idle(env))[4]["agent_0"]) == {"action_mask", "rejected"}
    talking = ParallelEnv(game, text_info=True)
    _, infos = talking.reset(seed=0)
    assert infos["agent_1"]["text"] == talking.describe("agent_1")


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"agent_0": 1}, "no action for agent_1"),
        ({}, "no action for agent_0"),
        ({"agent_0": 1, "agent_1": 1, "chef": 1}, "unknown agents chef; agents: agent_0, agent_1"),
        ({"agent_0": 1, "agent_1": 9999}, r"action of agent_1 is 9999, outside Discrete\("),
        ({"agent_0": -1, "agent_1": 1}, "action of agent_0 is -1"),
        ({"agent_0": 1.0, "agent_1": 1}, "action of agent_0 is 1.0; it must be an integer"),
        ({"agent_0": True, "agent_1": 1}, "action of agent_0 is True"),
        ({"agent_0": None, "agent_1": 1}, "action of agent_0 is None"),
        ({"agent_0": np.array([1, 2]), "agent_1": 1}, "action of agent_0 is array"),
    ],
)
def test_bad_actions_are_named(env, actions, message):
    before = env.state()
    with pytest.raises(ValueError, match=message):
        env.step(actions)
    np.testing.assert_array_equal(env.state(), before)


@pytest.mark.parametrize("number", [np.int64(1), np.uint8(1), np.array(1), np.array([1])])
def test_whole_numbers_of_numpy_are_actions(env, number):
    assert env.step({"agent_0": number, "agent_1": number})[4]["agent_0"]["rejected"] == 0


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0"])
def test_bad_seeds_are_named(env, seed):
    with pytest.raises(ValueError, match="seed must be an integer"):
        env.reset(seed=seed)


def test_reset_options_are_checked(env):
    with pytest.raises(ValueError, match="unknown reset option 'taks'; did you mean task"):
        env.reset(options={"taks": "boiled_egg"})
    with pytest.raises(ValueError, match="'boiled_eg'; did you mean boiled_egg"):
        env.reset(options={"task": "boiled_eg"})
    for unknown in ({"foo": 2}, {"options": 2}, {3: 1}, {"foo": None}):
        with pytest.raises(
            ValueError, match=r"unknown reset option .*; known: task, orders, state|did you mean orders"
        ):
            env.reset(options=unknown)
    env.reset(options={"options": 1})  # as PettingZoo's API tests do


def test_actions_after_the_end_are_refused(env):
    env.max_cycles = 1
    env.reset(seed=0)
    env.step(idle(env))
    assert env.agents == []
    assert env.step({}) == ({}, {}, {}, {}, {})
    with pytest.raises(ValueError, match="the episode is over"):
        env.step({"agent_0": 1, "agent_1": 1})


def test_unseeded_resets_go_on_with_the_generator_and_fresh_environments_differ():
    def tasks(env, **kwargs):
        drawn = [env.scene()["orders"] for _ in range(12) if env.reset(**kwargs)]
        return drawn

    first = collab_overcooked.make(ID, level=[1, 2, 3, 4, 5, 6])
    second = collab_overcooked.make(ID, level=[1, 2, 3, 4, 5, 6])
    assert len({str(task) for task in tasks(first)}) > 1
    assert tasks(first) != tasks(second)
    first.reset(seed=5)
    second.reset(seed=5)
    assert tasks(first) == tasks(second)


def test_max_cycles_overrules_the_limits_of_all_tasks():
    longest = collab_overcooked.make(ID, level=[1, 6]).max_cycles
    for task in ("boiled_egg", None):
        env = collab_overcooked.make(ID, level=[1, 6], max_cycles=longest)
        env.reset(seed=0, options={"task": task} if task else None)
        assert env.scene()["limit"] == longest
    result = collab_overcooked.make(ID, level=[1, 6], max_cycles=-1)
    result.reset(seed=0, options={"task": "boiled_egg"})
    assert result.scene()["limit"] < longest


def test_snapshots_of_the_end_keep_the_end(env):
    env.max_cycles = 1
    env.reset(seed=0)
    start = env.clone_state()
    env.step(idle(env))
    end = env.clone_state()
    env.restore_state(start)
    assert env.agents == ["agent_0", "agent_1"]
    env.restore_state(end)
    assert env.agents == []


def test_render_without_a_mode_warns_and_human_prints(game, env, capsys):
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
    assert draw(game, env._state, 0, "human") is None
    assert capsys.readouterr().out.strip() == str(draw(game, env._state, 0, "ansi")).strip()


def test_words_of_actions(env):
    for agent in env.agents:
        legal = env.legal_actions(agent)
        assert [env.parse(text) for text in legal] == np.flatnonzero(env.action_mask(agent)).tolist()
        assert all(env.check(agent, text)[0] == "OK" for text in legal)
    with pytest.raises(ValueError, match="unknown agent 'agent_2'"):
        env.check("agent_2", 0)
    for action in (-20_000_000, 5_000, env.game.n_actions, 1.5, True, None):
        with pytest.raises(ValueError, match=r"action of agent_0 is .*Discrete\("):
            env.check("agent_0", action)
    assert env.check("agent_0", np.flatnonzero(env.action_mask("agent_0"))[0])[0] == "OK"


def test_rows_are_views(game):
    state, _ = game.alloc(5)
    part = rows(state, 1, 3)
    part.rng[:] = 7
    assert state.rng[:, 0].tolist() == [0, 7, 7, 0, 0]


def test_supersuit_accepts_the_environment(env):
    supersuit = pytest.importorskip("supersuit", reason="needs supersuit, of the dev extra")
    batch = supersuit.concat_vec_envs_v1(supersuit.pettingzoo_env_to_vec_env_v1(env), 2, num_cpus=0)
    assert batch.num_envs == 4
    observations, _ = batch.reset(seed=0)
    assert observations.shape == (4, *env.observation_space("agent_0").shape)
    batch.step(np.ones(4, int))


def test_supersuit_skips_random_numbers_of_frames_that_the_seed_repeats(env):
    supersuit = pytest.importorskip("supersuit", reason="needs supersuit, of the dev extra")
    skipping = supersuit.frame_skip_v0(env, (1, 4))

    def clocks():
        skipping.reset(seed=5)
        for _ in range(5):
            skipping.step(idle(env))
            yield int(env.arrays[0].clock[0, 0])

    once = list(clocks())
    assert once == list(clocks()) and len(set(np.diff(once))) > 1


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync"])
def test_gymnasium_limits_the_steps_of_vectors_by_its_own_name(mode):
    vector = gymnasium.make_vec(
        "collab_overcooked/Overcooked-v0", num_envs=2, vectorization_mode=mode, max_episode_steps=7
    )
    vector.reset(seed=0)
    ended = [vector.step(np.zeros_like(vector.action_space.sample()))[3].all() for _ in range(7)]
    assert ended == [False] * 6 + [True]
    vector.close()


def test_one_limit_is_not_given_by_two_names():
    with pytest.raises(ValueError, match="max_episode_steps and max_cycles"):
        gymnasium.make_vec("collab_overcooked/Overcooked-v0", num_envs=2, max_episode_steps=7, max_cycles=5)


def test_a_supersuit_vector_is_seeded_after_wrapping():
    supersuit = pytest.importorskip("supersuit", reason="needs supersuit, of the dev extra")
    env = collab_overcooked.make("Overcooked-v0", layout="procedural")
    env.reset(seed=3)
    batch = supersuit.concat_vec_envs_v1(supersuit.pettingzoo_env_to_vec_env_v1(env), 3, num_cpus=0)
    same, _ = batch.reset()
    assert (same[::2] == same[0]).all(), "copies of a generator draw the same, as docs/how_to/trainers.md says"
    for seeded in batch.reset(seed=3), batch.reset(seed=3):
        for copy, agent in itertools.product(range(3), range(2)):
            alone = env.reset(seed=3 + copy)[0][f"agent_{agent}"]
            np.testing.assert_array_equal(seeded[0][2 * copy + agent], alone)
