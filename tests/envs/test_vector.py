"""Batches and their dialects."""

from __future__ import annotations

import copy
import pickle
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.gymnasium import CentralControlEnv, VectorEnv
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.kernels.rng import derive_seeds
from collab_overcooked.testing import random_legal

E, N = 5, 2


@pytest.fixture(scope="module")
def game():
    return CollabOvercooked(level=[1, 6], gamma=0.3)  # short episodes of different lengths


@pytest.fixture
def batch(game):
    batch = BatchEnv(game, E)
    batch.reset(0)
    return batch


def played(batch, steps, seed=0):
    """Everything that a batch does in some steps of random legal actions, ended environments started again."""
    rng = np.random.default_rng(seed)
    history = []
    for _ in range(steps):
        observations, rewards, terminated, truncated, infos = batch.step(random_legal(batch, rng), copy=True)
        history.append((observations, rewards, terminated, truncated, infos["action_mask"], infos["rejected"]))
        batch.reset(which=batch.over)
    return history


def assert_same_history(first, second):
    for one, other in zip(first, second, strict=True):
        for array, twin in zip(one, other, strict=True):
            np.testing.assert_array_equal(array, twin)


def test_arrays_have_environments_and_agents_first(game):
    batch = BatchEnv(game, E)
    observations, infos = batch.reset(0)
    assert observations.shape == (E, N, *game.single_observation_space.shape)
    assert observations.dtype == np.uint8
    assert infos["action_mask"].shape == (E, N, game.n_actions)
    assert infos["action_mask"].dtype == np.int8
    observations, rewards, terminated, truncated, infos = batch.step(np.ones((E, N), np.int64))
    assert rewards.shape == (E, N)
    assert rewards.dtype == np.float32
    assert terminated.shape == truncated.shape == (E,)
    assert infos["rejected"].shape == (E, N)


def test_results_are_views_unless_copies_are_asked_for(batch):
    view, _, _, _, infos = batch.step(np.ones((E, N), int))
    kept = batch.step(np.ones((E, N), int), copy=True)
    saved = copy.deepcopy(kept)
    batch.reset(1)
    fresh, fresh_infos = batch.reset(2)
    assert np.shares_memory(view, fresh)
    assert np.shares_memory(infos["action_mask"], fresh_infos["action_mask"])
    for array, twin in zip(kept[:4], saved[:4], strict=True):
        np.testing.assert_array_equal(array, twin)
    np.testing.assert_array_equal(kept[4]["rejected"], saved[4]["rejected"])


def test_an_ended_environment_waits_for_its_reset(batch):
    while not batch.over.any():
        batch.step(np.ones((E, N), int))
    ended = batch.over.copy()
    assert not ended.all()
    before = [batch.clone(i) for i in np.flatnonzero(ended)]
    rewards = batch.step(np.ones((E, N), int))[1]
    assert (rewards[ended] == 0).all()
    for i, snapshot in zip(np.flatnonzero(ended), before, strict=True):
        np.testing.assert_array_equal(batch.state.agents[i], snapshot.state.agents[0])
        assert snapshot.agents == ()
    going = [batch.scene(i) for i in np.flatnonzero(~ended)]
    batch.reset(which=ended)
    assert not batch.over[ended].any()
    assert [batch.scene(i) for i in np.flatnonzero(~ended)] == going
    assert all(batch.scene(i)["timestep"] == 0 for i in np.flatnonzero(ended))


def test_seeds_of_environments_count_up_or_are_given(game):
    counted, value = BatchEnv(game, E), BatchEnv(game, E)
    counted.reset(40)
    value.reset(derive_seeds(40, E))
    assert_same_history(played(counted, 10), played(value, 10))
    value.reset(list(range(100, 100 + E)), which=np.arange(E) == 2)
    alone = ParallelEnv(game)
    alone.reset(seed=102)
    assert value.scene(2) == alone.scene()


def test_listed_seeds_give_runs_that_share_no_environment(game):
    def streams(seed):
        batch = BatchEnv(game, E)
        batch.reset(seed)
        return {tuple(row) for row in batch.state.rng.tolist()}

    def listed(run):
        return np.random.SeedSequence(run).generate_state(E, np.uint64).tolist()

    assert len(streams(7) & streams(8)) == E - 1  # as documented: environment i has seed s + i
    assert not streams(7) & streams(7 + E)
    assert not streams(listed(7)) & streams(listed(8))


def test_fresh_batches_differ(game):
    first, second = BatchEnv(game, 3), BatchEnv(game, 3)
    first.reset()
    second.reset()
    assert not np.array_equal(first.state.rng, second.state.rng)


def test_snapshots_move_between_batches_and_single_environments(game, batch):
    single = ParallelEnv(game)
    single.reset(seed=77)
    single.step({"agent_0": 1, "agent_1": 1})
    batch.restore(3, single.clone_state())
    assert batch.scene(3) == single.scene()
    single.reset(seed=1)
    single.restore_state(batch.clone(3))
    assert batch.scene(3) == single.scene()
    assert single.agents == ["agent_0", "agent_1"]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_copies_go_on_alone(game, duplicate):
    batch = BatchEnv(game, E, num_threads=2)
    batch.reset(0)
    played(batch, 4)  # the threads exist by now
    twin = duplicate(batch)
    twin_history = played(twin, 30)
    assert_same_history(played(batch, 30), twin_history)
    batch.close()
    twin.close()


def test_options_reach_the_game(batch):
    batch.reset(options={"task": "boiled_egg"}, which=np.arange(E) == 1)
    assert batch.scene(1)["orders"] == ["boiled_egg"]


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.ones((N, E), int), r"shape \(5, 2\) \(environments, agents\), not \(2, 5\)"),
        (np.ones(E * N, int), r"shape \(5, 2\)"),
        (np.ones((E, N)), "must be integers, not float64"),
        (np.ones((E, N), bool), "must be integers, not bool"),
        (np.full((E, N), None), "must be integers, not object"),
        ([[1, 1], [1, 1], [1, -1], [1, 1], [1, 1]], r"agent_1 in environment 2 is -1, outside Discrete\(\d+\)"),
        (np.full((E, N), 2**31 + 1), "agent_0 in environment 0 is 2147483649"),
    ],
)
def test_bad_actions_are_named(batch, actions, message):
    with pytest.raises(ValueError, match=message):
        batch.step(actions)


def test_resets_are_checked(game, batch):
    with pytest.raises(ValueError, match="call reset before step"):
        BatchEnv(game, 2).step(np.ones((2, N), int))
    with pytest.raises(ValueError, match="all environments in the first reset"):
        BatchEnv(game, 2).reset(which=[True, False])
    with pytest.raises(ValueError, match=r"which must be bool of shape \(5,\), not int64 of shape \(1,\)"):
        batch.reset(which=[3])
    with pytest.raises(ValueError, match="one integer or 5 of them, not 2"):
        batch.reset([1, 2])
    with pytest.raises(ValueError, match="seed must be an integer"):
        batch.reset([1, 2, 3, 4, -5])
    with pytest.raises(ValueError, match="seed must be an integer"):
        batch.reset(0.5)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_autoreset_is_that_of_gymnasiums_own_vector_environment(game, mode):
    """Gymnasium's SyncVectorEnv over central controllers is the reference: same episodes, same ends, same infos."""
    actual = VectorEnv(BatchEnv(game, E), autoreset_mode=mode)
    other = SyncVectorEnv([lambda: CentralControlEnv(game) for _ in range(E)], autoreset_mode=mode)
    rng = np.random.default_rng(0)
    observations, infos = actual.reset(seed=9)
    reference, reference_infos = other.reset(seed=9)
    ends = 0
    for _ in range(80):
        assert observations in actual.observation_space
        np.testing.assert_array_equal(observations.reshape(reference.shape), reference)
        np.testing.assert_array_equal(
            infos["action_mask"].reshape(reference_infos["action_mask"].shape), reference_infos["action_mask"]
        )
        assert infos["_action_mask"].all()
        masks = infos["action_mask"]
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        observations, rewards, terminated, truncated, infos = actual.step(actions)
        reference, reference_rewards, *reference_ends, reference_infos = other.step(actions.reshape(E, N))
        np.testing.assert_allclose(rewards.reshape(E, N).mean(axis=1), reference_rewards)
        for flags, reference_flags in zip((terminated, truncated), reference_ends, strict=True):
            assert flags.dtype == np.bool_
            np.testing.assert_array_equal(flags, np.repeat(reference_flags, N))
        ended = np.flatnonzero(reference_ends[0] | reference_ends[1])
        ends += len(ended)
        assert ("final_obs" in infos) == ("final_obs" in reference_infos)
        for e in ended if "final_obs" in infos else ():
            for i in range(N):
                row = e * N + i
                assert infos["_final_obs"][row]
                np.testing.assert_array_equal(infos["final_obs"][row], reference_infos["final_obs"][e][i])
                final, reference_final = infos["final_info"], reference_infos["final_info"]
                np.testing.assert_array_equal(final["action_mask"][row], reference_final["action_mask"][e][i])
                assert final["_rejected"][row]
        if "final_obs" in infos:
            going = np.repeat(~(reference_ends[0] | reference_ends[1]), N)
            assert not infos["_final_obs"][going].any()
            assert all(observation is None for observation in infos["final_obs"][going])
    assert ends > 10
    actual.close()
    other.close()


def test_disabled_autoreset_waits_for_a_mask(game):
    envs = VectorEnv(BatchEnv(game, 2, max_cycles=2), autoreset_mode="DISABLED")
    envs.reset(seed=0)
    for _ in range(3):
        observations, rewards, _, truncated, _ = envs.step(np.ones(4, int))
    assert truncated.all()
    assert not rewards.any()
    options = {"reset_mask": np.array([False, False, True, True])}
    observations, _ = envs.reset(options=options)
    assert observations in envs.observation_space
    assert "reset_mask" in options
    assert envs.batch.over.tolist() == [True, False]
    with pytest.raises(ValueError, match="all or none of an environment"):
        envs.reset(options={"reset_mask": np.array([True, False, True, True])})
    with pytest.raises(ValueError, match=r"reset_mask must be bool of shape \(4,\)"):
        envs.reset(options={"reset_mask": np.array([True, False])})


@pytest.mark.parametrize("name", ["SameStep", "SAME_STEP", "same_step", AutoresetMode.SAME_STEP])
def test_autoreset_modes_by_any_name(game, name):
    assert VectorEnv(BatchEnv(game, 1), autoreset_mode=name).metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_vector_results_are_fresh(game):
    envs = VectorEnv(BatchEnv(game, 2))
    first = envs.reset(seed=0)
    saved = copy.deepcopy(first)
    for _ in range(30):
        envs.step(np.ones(4, int))
    np.testing.assert_array_equal(first[0], saved[0])
    np.testing.assert_array_equal(first[1]["action_mask"], saved[1]["action_mask"])


@pytest.mark.skipif(
    tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 3),
    reason="before Gymnasium 1.3 its own wrappers expect infos that its vector environments do not all give",
)
@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
def test_gymnasiums_vector_wrappers_accept_it(game, mode):
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(VectorEnv(BatchEnv(game, E), autoreset_mode=mode))
    envs = gymnasium.wrappers.vector.DictInfoToList(envs)
    envs.reset(seed=0)
    lengths = []
    for _ in range(40):
        infos = envs.step(np.ones(E * N, int))[4]
        lengths += [info["episode"]["l"] for info in infos if "episode" in info]
    limits = {limit for limit in game.pool.time_limits.values()}
    assert set(lengths) <= limits
    assert len(lengths) > 10


def test_vector_actions_are_checked(game):
    envs = VectorEnv(BatchEnv(game, 2))
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"shape \(4,\), one for each agent of each environment, not \(2, 2\)"):
        envs.step(np.ones((2, 2), int))
    with pytest.raises(ValueError, match="agent_1 in environment 1 is 9999"):
        envs.step([1, 1, 1, 9999])


def test_vector_pictures_are_one_a_row(game):
    envs = VectorEnv(BatchEnv(game, 2), render_mode="rgb_array")
    envs.reset(seed=0)
    pictures = envs.render()
    assert len(pictures) == envs.num_envs
    assert pictures[0].dtype == np.uint8
    assert pictures[0].shape[2] == 3


def test_central_control_pays_the_mean_and_tells_each_ones_own():
    game = CollabOvercooked(action_level="primitive", shaping={"PICKUP": 1.0}, orders=True)
    env = CentralControlEnv(game)
    observation, infos = env.reset(seed=0)
    assert observation.shape == (N, *game.single_observation_space.shape)
    assert env.action_space == gymnasium.spaces.MultiDiscrete([game.n_actions] * N)
    rng, paid = np.random.default_rng(0), 0
    for _ in range(200):
        mask = infos["action_mask"]
        np.testing.assert_array_equal(env.action_masks(), mask.reshape(-1) == 1)
        _, reward, _, _, infos = env.step((rng.random(mask.shape) * mask).argmax(axis=1))
        assert isinstance(reward, float)
        assert reward == infos["rewards"].mean()
        paid += reward > 0
    assert paid > 0


def sb3_vec_env(game, num_envs, **wrapper):
    return registry.make_vec(game.id, num_envs, "sb3", **game.kwargs, **wrapper)


@pytest.fixture
def sb3():
    return pytest.importorskip("stable_baselines3", reason="needs stable-baselines3, of the rl extra")


def test_sb3_episodes_are_those_of_same_step_autoreset(sb3, game):
    envs, reference = sb3_vec_env(game, E), VectorEnv(BatchEnv(game, E), autoreset_mode="SameStep")
    assert envs.seed(4) == [4, 4, 5, 5, 6, 6, 7, 7, 8, 8]
    observations = envs.reset()
    expected, expected_infos = reference.reset(seed=4)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(60):
        np.testing.assert_array_equal(observations, expected)
        masks = np.stack(envs.env_method("action_masks"))
        assert masks.dtype == np.bool_
        np.testing.assert_array_equal(masks, expected_infos["action_mask"] == 1)
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        observations, rewards, dones, infos = envs.step(actions)
        expected, expected_rewards, terminated, truncated, expected_infos = reference.step(actions)
        np.testing.assert_array_equal(rewards, expected_rewards)
        np.testing.assert_array_equal(dones, terminated | truncated)
        assert len({id(info) for info in infos}) == envs.num_envs == E * N
        for row, info in enumerate(infos):
            assert ("terminal_observation" in info) == dones[row]
            if dones[row]:
                ends += 1
                np.testing.assert_array_equal(info["terminal_observation"], expected_infos["final_obs"][row])
                assert info["TimeLimit.truncated"] == (truncated[row] and not terminated[row])
    assert ends > 10
    envs.close()


def test_sb3_rows_look_like_environments(sb3, game):
    envs = sb3_vec_env(game, 2, render_mode="rgb_array")
    envs.seed(0)
    envs.reset()
    assert envs.has_attr("action_masks")
    assert not envs.has_attr("no_such_thing")
    assert envs.get_attr("render_mode", [0, 3]) == ["rgb_array", "rgb_array"]
    assert len(envs.env_method("action_masks", indices=3)) == 1
    assert envs.env_is_wrapped(gymnasium.Wrapper) == [False] * 4
    assert envs.render().shape == envs.env_method("render", indices=0)[0].shape
    with pytest.raises(AttributeError, match="action_masks and render, not 'get_action_masks'"):
        envs.env_method("get_action_masks")
    with pytest.raises(ValueError, match="only be set for all rows"):
        envs.set_attr("render_mode", "ansi", indices=[0])
    envs.set_attr("render_mode", "ansi")
    assert envs.get_attr("render_mode") == ["ansi"] * 4
    with pytest.raises(ValueError, match="call step_async"):
        envs.step_wait()


def test_sb3_options_reach_the_environments_once(sb3, game):
    envs = sb3_vec_env(game, 2)
    envs.set_options([{"task": "boiled_egg"}, {"task": "boiled_egg"}, {}, {}])
    envs.seed(0)
    envs.reset()
    assert envs.batch.scene(0)["orders"] == ["boiled_egg"]
    alone = ParallelEnv(game)
    alone.reset(seed=1)
    assert envs.batch.scene(1) == alone.scene()


def test_sb3_learns_returns_of_episodes_without_a_monitor(sb3):
    import stable_baselines3

    envs = collab_overcooked.make_vec("Overcooked-v0", 2, "sb3", layout="cramped_room", max_cycles=12)
    model = stable_baselines3.PPO("MlpPolicy", envs, n_steps=16, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(64)
    assert [info["l"] for info in model.ep_info_buffer] == [12] * 4
    envs.seed(0)
    envs.reset()
    total, rng = np.zeros(4), np.random.default_rng(0)
    for _ in range(12):
        _, rewards, dones, infos = envs.step((rng.random(envs.action_masks().shape) * envs.action_masks()).argmax(1))
        total += rewards
    assert dones.all() and [info["episode"]["r"] for info in infos] == total.round(6).tolist()


def test_sb3_maskable_ppo_trains_and_never_breaks_a_mask(sb3):
    contrib = pytest.importorskip("sb3_contrib", reason="needs sb3-contrib, of the rl extra")
    from stable_baselines3.common.vec_env import VecMonitor

    envs = VecMonitor(collab_overcooked.make_vec("CollabOvercooked-v0", 4, "sb3", max_cycles=12))
    refused = []

    def count(local, _):
        batch = envs.unwrapped.batch
        refused.append(batch.game.rejections(batch.state, batch.out).any())
        return True

    model = contrib.MaskablePPO("MlpPolicy", envs, n_steps=64, batch_size=128, n_epochs=1, seed=0, device="cpu")
    model.learn(512, callback=count)
    assert model.num_timesteps == 512
    assert len(refused) == 64
    assert not any(refused)
    envs.close()


def test_without_sb3_the_message_says_what_to_install(game, monkeypatch):
    monkeypatch.delitem(sys.modules, "collab_overcooked.envs.sb3", raising=False)
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    with pytest.raises(ImportError, match=r"pip install 'collab-overcooked\[rl\]'"):
        sb3_vec_env(game, 1)
