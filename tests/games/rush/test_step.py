"""Whole rounds of Rush: against a naive one state by state, in all forms of play, and what must hold in every round."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import yaml
from games.rush.world import SCENARIO, Round, plain_game
from hypothesis import given, settings
from hypothesis import strategies as st
from support.naive.rush import NaiveRush

from collab_overcooked import make_vec
from collab_overcooked.envs import kitchen_rush_v0
from collab_overcooked.games.rush.engine.spec import scenarios
from collab_overcooked.games.rush.env import KitchenRush
from collab_overcooked.kernels.rng import seed_states

TIGHT = """
name: tight
agents: 3
workers: 3
max_turns: 5
ingredients: [egg, flour]
spices: [salt]
episodes:
  - recipes:
      Omelette: {ingredients: {egg: 3}, spices: {salt: 1}, cook_time: 2}
      Bread: {ingredients: {flour: 2}, spices: {salt: 1}, cook_time: 12}
      Pancake: {ingredients: {flour: 1, egg: 1}, cook_time: 3}
      Egg: {ingredients: {egg: 1}, cook_time: 1}
      Raw Egg: {ingredients: {egg: 1}, cook_time: 0}
      Cake: {ingredients: {flour: 9}, spices: {salt: 9}, cook_time: 1}
    orders: [Bread, Omelette, Pancake, Egg, Raw Egg]
    pantries: [{id: 4, spaces: 1, stock: {egg: 4, flour: 1}}, {id: 2, spaces: 2, stock: {flour: 2, egg: 1}}]
    spicebags: [{id: 9, spaces: 0, stock: {salt: 5}}, {id: 3, spaces: 1, stock: {salt: 2}}]
    stoves: [{id: 0, spaces: 2}, {id: 1, spaces: 3}]
"""
SCENARIOS = {"test": SCENARIO, "tight": TIGHT}


def game_of(name: str, **options: Any) -> KitchenRush:
    return plain_game(SCENARIOS[name], **options) if name in SCENARIOS else KitchenRush(scenario=name, **options)


def started(game: KitchenRush, episode: int, batch_size: int = 1) -> tuple[Any, Any]:
    state, out = game.alloc(batch_size)
    state.rng[:] = seed_states(range(batch_size))
    game.reset(state, out, np.ones(batch_size, np.bool_), {"episode": episode})
    return state, out


def compare(game: KitchenRush, state: Any, naive: NaiveRush) -> None:
    actual, reference = game.scene(state, 0), naive.scene()
    for area in actual["areas"]:
        area["stock"] = {name: count for name, count in sorted(area["stock"].items()) if count}
    assert {key: actual[key] for key in reference} == reference


def named(game: KitchenRush, episode: int, action: int) -> tuple[int, str] | tuple[()]:
    at, order = game.compiled.parts(action)
    spec = game.scenario.episodes[episode]
    return (spec.area_ids[at], spec.orders[order]) if action else ()


def actions_of(game: KitchenRush, episode: int, naive: NaiveRush, rng: random.Random) -> list[int]:
    """Return an action for each agent, mostly sensible ones, sometimes any that the episode has."""
    spec, actions = game.scenario.episodes[episode], []
    for _ in range(game.n_agents):
        everything = [(at, o) for at in range(len(spec.areas)) for o in range(len(spec.orders))]
        texts = {(spec.area_ids[at], spec.orders[o]): (at, o) for at, o in everything}
        sensible = sorted(pair for pair in naive.valid() if not naive.ruins(*pair))
        luck = rng.random()
        if luck < 0.8 and sensible:
            actions.append(game.compiled.action(*texts[rng.choice(sensible)]))
        else:
            actions.append(game.compiled.action(*rng.choice(everything)) if luck < 0.95 else 0)
    return actions


@pytest.mark.parametrize("options", [{}, {"agents": 1, "workers": 3}, {"agents": 4, "workers": 1, "max_turns": 6}])
@pytest.mark.parametrize("name", [*scenarios(), *SCENARIOS])
def test_rounds_agree_with_the_naive_one(name, options):
    game = game_of(name, reward="shaped", **options)
    rng = random.Random(len(name))
    for _ in range(12):
        for episode in range(len(game.scenario.episodes)):
            _agree(game, episode, rng)


def _agree(game: KitchenRush, episode: int, rng: random.Random) -> None:
    config = game.compiled.config
    state, out = started(game, episode)
    naive = NaiveRush(game.scenario.episodes[episode], game.n_agents, config.workers, config.max_turns)
    while not naive.scene()["over"]:
        compare(game, state, naive)
        mask = {named(game, episode, action) for action in np.flatnonzero(out.masks[0, 0]).tolist()}
        assert mask == naive.valid() | {()}
        actions = actions_of(game, episode, naive, rng)
        game.step(state, np.array([actions], np.int32), out)
        reasons = [naive.act(*named(game, episode, action)) for action in actions]
        assert [event["reason"] for event in game.events(out, 0)] == reasons
        sparse, tenths = naive.end_slot()
        assert out.rewards[0].tolist() == [np.float32((10 * sparse + tenths) / 10)] * game.n_agents
        assert bool(out.terminated[0]) is naive.decided
        assert bool(out.truncated[0]) is (naive.out_of_turns and not naive.decided)
    compare(game, state, naive)


@settings(max_examples=40)
@given(st.sampled_from(["easy", *SCENARIOS]), st.integers(0, 10**6), st.integers(0, 3))
def test_parallel_and_agent_by_agent_play_agree(name, seed, n_resets):
    """The same actions, drawn from the exact masks of the agent-by-agent form, give the same in both forms."""
    scenario = yaml.safe_load(SCENARIOS[name]) if name in SCENARIOS else name
    turns = kitchen_rush_v0.raw_env(scenario=scenario, reward="shaped")
    parallel = kitchen_rush_v0.parallel_env(scenario=scenario, reward="shaped")
    turns.reset(seed=0)
    parallel.reset(seed=0)
    for _ in range(n_resets):
        turns.reset()
        parallel.reset()
    rng = random.Random(seed)
    while parallel.agents:
        actions = {}
        for agent in parallel.agents:
            assert turns.agent_selection == agent
            mask = turns.infos[agent]["action_mask"]
            any_action = rng.random() < 0.1
            choice = rng.randrange(len(mask)) if any_action else rng.choice(np.flatnonzero(mask).tolist())
            actions[agent] = choice
            turns.step(choice)
            assert turns.infos[agent]["rejected"] == 0 or any_action  # masks are exact at every turn
        observations, rewards, terminated, truncated, infos = parallel.step(actions)
        assert (turns.rewards, turns.terminations, turns.truncations) == (rewards, terminated, truncated)
        assert turns.env.scene() == parallel.scene()
        assert turns.env.events() == parallel.events()
        for agent in observations:
            np.testing.assert_array_equal(turns.observe(agent), observations[agent])
            np.testing.assert_array_equal(turns.infos[agent]["action_mask"], infos[agent]["action_mask"])
            assert turns.infos[agent]["rejected"] == infos[agent]["rejected"]


def test_an_agent_sees_what_those_before_it_have_done():
    turns = kitchen_rush_v0.raw_env(scenario=yaml.safe_load(SCENARIO), text_info=True)
    turns.reset(seed=0)
    spices = Round().action("1 Soup")
    before = turns.observe("agent_1").copy()
    assert turns.infos["agent_1"]["action_mask"][spices] == 1
    turns.step(spices)
    assert turns.env.scene()["seat"] == 1
    assert turns.infos["agent_1"]["action_mask"][spices] == 0
    assert (turns.observe("agent_1") != before).any()
    turns.step(spices)
    assert turns.env.scene()["seat"] == 0
    assert [turns.infos[agent]["rejected"] for agent in turns.agents] == [0, 5]
    assert turns.infos["agent_1"]["reason"]
    assert turns.infos["agent_0"]["reason"] == ""
    with pytest.raises(ValueError, match="action of agent_0 is 99, outside Discrete"):
        turns.step(99)
    with pytest.raises(ValueError, match="it is the turn of agent_0, not of agent_1"):
        turns.env.act("agent_1", 0)


def test_a_slot_that_was_begun_agent_by_agent_can_be_ended_as_a_whole():
    game = plain_game()
    one, two = started(game, 0), started(game, 0)
    actions = np.array([[Round().action("0 Soup"), Round().action("2 Soup")]], np.int32)
    game.act_seat(one[0], actions, one[1])
    scene = game.scene(one[0], 0)
    game.step(one[0], actions, one[1])
    game.step(two[0], actions, two[1])
    for a, b in zip((*one[0], *one[1]), (*two[0], *two[1]), strict=True):
        np.testing.assert_array_equal(a, b)
    game.reset(one[0], one[1], np.ones(1, np.bool_), {"state": scene})
    game.step(one[0], actions, one[1])  # the first agent has acted and is not asked again
    assert game.scene(one[0], 0) == game.scene(two[0], 0)


def test_batches_go_round_the_episodes_each_for_itself():
    env = make_vec("KitchenRush-v0", num_envs=3, scenario=yaml.safe_load(SCENARIO))
    env.reset(seed=0)
    episodes = [[env.scene(i)["episode"] for i in range(3)]]
    for which in ([True, False, False], [True, True, False], [True, True, True]):
        env.reset(which=which)
        episodes.append([env.scene(i)["episode"] for i in range(3)])
    assert episodes == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 1]]
    env.reset(seed=0)
    assert [env.scene(i)["episode"] for i in range(3)] == [0, 0, 0]
