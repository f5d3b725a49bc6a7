from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.covers import cover

import collab_overcooked as co
from collab_overcooked.games.cuisineworld.engine.spec import levels
from collab_overcooked.games.cuisineworld.policies.greedy import PATIENCE, TeammateModel
from collab_overcooked.policies.api import AgentView, EnvInfo
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.registry import load_game

# Orders completed in an episode of two agents at alpha 2 with seed 0, less one or two.
LEAST = {
    "level_0": 6,
    "level_1": 6,
    "level_2": 6,
    "level_3": 4,
    "level_4": 4,
    "level_5": 3,
    "level_6": 3,
    "level_7": 5,
    "level_8": 4,
    "level_9": 2,
    "level_10": 3,
    "level_11": 3,
    "level_12": 3,
    "level_12_fryer": 4,
}


def test_every_level_has_a_bound() -> None:
    assert set(LEAST) == set(levels())


@pytest.mark.slow
@pytest.mark.parametrize("level", LEAST)
def test_it_completes_orders_on_every_level_without_a_refused_command(play: Any, level: str) -> None:
    record = play("greedy", level=level, agents=2, alpha=2.0)
    assert record.metrics["completed"] >= LEAST[level]
    assert record.metrics["refused"] == 0 and not any(step.errors for step in record.steps)
    assert play("greedy", level=level, agents=2, alpha=2.0).steps == record.steps


@pytest.mark.parametrize(("agents", "least"), [(1, 1), (3, 7), (5, 9)])
def test_it_plays_with_any_number_of_agents(play: Any, agents: int, least: int) -> None:
    record = play("greedy", level="level_3", agents=agents, alpha=1.0)
    assert record.metrics["completed"] >= least and record.metrics["refused"] == 0


def test_four_agents_fail_nothing_where_time_is_ample(play: Any) -> None:
    for level in ("level_0", "level_4", "level_9", "level_11"):
        assert play("greedy", level=level, agents=4, alpha=3.0).metrics["failed"] == 0


def test_turns_may_be_taken_in_another_order(play: Any) -> None:
    record = play("greedy", level="level_9", agents=3, alpha=1.5, turn_order=(2, 0, 1))
    assert record.metrics["completed"] >= 3 and record.metrics["refused"] == 0


def test_times_of_the_level_file_are_played_too(play: Any) -> None:
    assert play("greedy", level="level_7", agents=4, alpha=None).metrics["refused"] == 0


@pytest.mark.parametrize(("level", "partner"), cover(["level_0", "level_5", "level_9", "level_12"], ["random", "idle"]))
def test_it_serves_beside_a_teammate_who_does_not_help(play: Any, level: str, partner: str) -> None:
    """Random teammates may take the very tool that a seat goes to, so refusals are part of it."""
    if partner == "random":
        record = play(("greedy", "random"), level=level, agents=2, alpha=3.0)
        assert record.metrics["completed"] >= 2
        return
    env = co.make("CuisineWorld-v0", level=level, agents=2, alpha=3.0)
    env.reset(seed=0)
    policy = make_policy("greedy")
    policy.reset(1, EnvInfo(env.game.id, env.game, "", ("idle", "greedy"), Simulator(env.game, env.arrays[0], 1)), 0)
    while env.agents:
        state, out = env.arrays
        seen = AgentView.of(env.game, state, out, 1, int(state.clock[0, 0]))
        env.step({"agent_0": 0, "agent_1": policy.act(seen)})
    assert env.scene()["completed"] >= 2 and env.scene()["refused"] == 0


def test_a_strangers_item_counts_for_a_while_only() -> None:
    env = co.make("CuisineWorld-v0", agents=2)
    env.reset(seed=0)
    teammates, state = TeammateModel(0, ("greedy", "human")), env.arrays[0]
    for t in range(2):
        env.step({"agent_0": 0, "agent_1": env.parse(["goto storage0", "get salmon storage0"][t])})
    trust = [teammates.trust(state, t).tolist() for t in range(2, 4 + PATIENCE)]
    assert trust == [[2, 1]] * PATIENCE + [[2, 0]] * 2


def test_a_tool_is_activated_in_the_step_in_which_a_teammate_fills_it(play: Any) -> None:
    """The evaluation judges commands in their turn, so such pairs are not refused."""
    steps = play("greedy", level="level_0", agents=2, alpha=2.0).steps
    pairs = [step.action_texts for step in steps]
    assert ["put blender0", "activate blender0"] in pairs


def test_one_name_plays_both_games() -> None:
    policy = make_policy("greedy")
    for env_id in ("CuisineWorld-v0", "CollabOvercooked-v0", "CuisineWorld-v0"):
        game = load_game(env_id)
        state, out = game.alloc(1)
        state.rng[:] = 1
        game.reset(state, out, np.ones(1, np.bool_))
        policy.reset(0, EnvInfo(env_id, game, "", ("greedy",) * game.n_agents, Simulator(game, state, 0)), 0)
        action = policy.act(AgentView.of(game, state, out, 0, 0))
        assert out.masks[0, 0, action] and policy.name == "greedy"
