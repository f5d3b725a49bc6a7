"""What all forms of an environment share: how they introduce themselves, and which calls come first."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import collab_overcooked
from collab_overcooked import registry

ID, ROOM = "Overcooked-v0", {"layout": "coordination_ring"}
TURNS = "KitchenRush-v0"  # its agents act one after the other
SEATS = "agent_0, agent_1"


def test_a_repr_says_what_is_played():
    module, turns = registry.pettingzoo_module(ID), registry.pettingzoo_module(TURNS)
    alone = "<ParallelEnv: Overcooked-v0, layout='coordination_ring'; agent_0, agent_1>"
    assert repr(collab_overcooked.make(ID)) == f"<ParallelEnv: {ID}; {SEATS}>", "defaults are left out"
    assert repr(module.parallel_env(**ROOM)) == alone
    assert repr(module.raw_env(**ROOM)) == f"<SimultaneousEnv: {alone}>"
    assert repr(module.env(**ROOM)) == f"<OrderedEnv: <SimultaneousEnv: {alone}>>"
    assert repr(turns.raw_env()).startswith(f"<SequentialEnv: <ParallelEnv: {TURNS}; agent_0, ")
    chosen = collab_overcooked.make(ID, **ROOM, max_cycles=7, mask_in="obs", text_info=True, render_mode="ansi")
    assert "max_cycles=7, mask_in='obs', text_info=True, render_mode='ansi'; agent_0" in repr(chosen)
    assert "lexicon" not in repr(collab_overcooked.make(ID, lexicon="kitchen"))
    assert "lexicon" not in repr(collab_overcooked.make("AlienRush-v0"))
    assert ", lexicon='kitchen'; " in repr(collab_overcooked.make("AlienRush-v0", lexicon="kitchen"))


def test_a_repr_of_a_batch_says_how_many_there_are():
    batch = collab_overcooked.make_vec(ID, 3, **ROOM, max_cycles=9)
    assert repr(batch) == f"<BatchEnv: {ID}, layout='coordination_ring', max_cycles=9; 3 environments of {SEATS}>"
    vec = collab_overcooked.make_vec(ID, 3, "gymnasium", **ROOM, autoreset_mode="SAME_STEP")
    extent = f"6 rows, 3 environments of {SEATS}>"
    assert repr(vec) == f"<VectorEnv: {ID}, layout='coordination_ring', autoreset_mode='SAME_STEP'; {extent}"
    central = gymnasium.make(f"collab_overcooked/{ID}", **ROOM)
    assert f"<CentralControlEnv: {ID}, layout='coordination_ring'; {SEATS}>" in str(central)
    beside = collab_overcooked.make_vec(ID, 3, **ROOM, partners=["random"])
    assert repr(beside).startswith(f"<PartnerBatch: {ID}, ") and "; 3 environments of " in repr(beside)


def test_a_repr_of_a_vec_env_of_sb3():
    pytest.importorskip("stable_baselines3", reason="needs Stable-Baselines3, of the rl extra")
    vec = collab_overcooked.make_vec(ID, 3, "sb3", **ROOM)
    assert repr(vec) == f"<SB3VecEnv: {ID}, layout='coordination_ring'; 6 rows, 3 environments of {SEATS}>"
    with pytest.raises(ValueError, match="call reset before step"):
        vec.step(np.zeros(6, np.int64))


@pytest.mark.parametrize("env_id", [ID, TURNS])
def test_a_step_before_the_first_reset_says_so(env_id):
    module = registry.pettingzoo_module(env_id)
    n_agents = len(module.parallel_env().possible_agents)
    actions = np.zeros((2, n_agents), np.int64)
    for env in (module.parallel_env(), module.parallel_env()):
        for joint in ({}, {agent: 0 for agent in env.possible_agents}):
            with pytest.raises(ValueError, match="call reset before step"):
                env.step(joint)
    with pytest.raises(ValueError, match="call reset before step"):
        module.raw_env().step(0)
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before step"):
        module.env().step(0)
    with pytest.raises(ValueError, match="call reset before step"):
        collab_overcooked.make_vec(env_id, 2).step(actions)
    with pytest.raises(ValueError, match="call reset before step"):
        collab_overcooked.make_vec(env_id, 2, "gymnasium").step(actions.reshape(-1))
    with pytest.raises(ValueError, match="call reset before step"):
        registry.make_central_control(env_id).step(actions[0])


def test_an_environment_that_is_over_waits_for_its_reset():
    """Environment 1 is over two steps before the others: nothing of it changes, whatever its actions."""
    batch = collab_overcooked.make_vec(ID, 3, **ROOM, max_cycles=4)
    batch.reset(seed=0)
    for _ in range(2):
        batch.step(np.full((3, 2), 4))
    batch.reset(which=np.array([True, False, True]))
    for _ in range(2):
        kept = batch.step(np.full((3, 2), 4), copy=True)
    assert batch.over.tolist() == [False, True, False]
    before = batch.scene(1)
    for action in (0, 1, 5):
        observations, rewards, terminated, truncated, infos = batch.step(np.full((3, 2), action), copy=True)
        assert not rewards[1].any() and batch.scene(1) == before
        for new, old in ((observations, kept[0]), (terminated, kept[2]), (truncated, kept[3])):
            np.testing.assert_array_equal(new[1], old[1])
        np.testing.assert_array_equal(infos["action_mask"][1], kept[4]["action_mask"][1])
        batch.reset(which=np.array([True, False, True]))
    with pytest.raises(ValueError, match="agent_0 in environment 1 is 99"):
        batch.step([[4, 4], [99, 4], [4, 4]])
    batch.reset(which=batch.over)
    assert not batch.over.any() and batch.scene(1) != before
