"""The game behind the rules: options, resets, words for what happened, and the other language."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from games.rush.world import SCENARIO, Round, plain_game

from collab_overcooked.envs import alien_rush_v0, kitchen_rush_v0
from collab_overcooked.games.rush.engine.spec import scenarios
from collab_overcooked.games.rush.env import KitchenRush

VALUES = yaml.safe_load(SCENARIO)


def make(**options):
    env = kitchen_rush_v0.parallel_env(scenario=VALUES, **options)
    env.reset(seed=0)
    return env


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("scenario", "esy", "unknown scenario 'esy'; built-in scenarios: "),
        ("agents", 0, "agents must be an integer from 1 to 64, not 0"),
        ("workers", 1.5, "workers must be an integer from 1 to 100, not 1.5"),
        ("max_turns", -1, "max_turns must be an integer from 1 to 10000, not -1"),
        ("episode", 2, "episode must be an integer from 0 to 1, not 2"),
        ("mask", "vald", "unknown mask 'vald'; did you mean valid"),
        ("reward", "dense", "unknown reward 'dense'"),
    ],
)
def test_bad_options_are_named(option, value, message):
    with pytest.raises(ValueError, match=message):
        KitchenRush(**{"scenario": VALUES, option: value})


def test_numbers_come_from_the_scenario_unless_chosen():
    entry, chosen = plain_game(), plain_game(agents=3, workers=5, max_turns=2)
    assert (entry.n_agents, entry.compiled.config.workers, entry.max_cycles) == (2, 2, 8)
    assert (chosen.n_agents, chosen.compiled.config.workers, chosen.max_cycles) == (3, 5, 10)
    assert entry.n_actions == 1 + 5 * 3


def test_episodes_come_in_turn():
    env = make()
    episodes = [env.scene()["episode"]]
    for options in (None, None, {"episode": 1}, None, {"episode": 0}, None):
        env.reset(options=options)
        episodes.append(env.scene()["episode"])
    assert episodes == [0, 1, 0, 1, 0, 0, 1]
    env.reset(seed=7)
    assert env.scene()["episode"] == 0


def test_one_episode_can_be_chosen_for_good():
    env = make(episode=1)
    for _ in range(3):
        assert env.scene()["episode"] == 1
        env.reset()
    assert env.game.action_texts() == env.game.action_texts(env.arrays[0])
    assert "Porridge" in env.game.action_texts()[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsode": 1}, "unknown reset option 'epsode'; did you mean episode"),
        ({"episode": 2}, "episode must be an integer from 0 to 1, not 2"),
        ({"state": {"worker": 2}}, "worker must be an integer from 0 to 1, not 2"),
        ({"state": {"seat": 2}}, "seat must be an integer from 0 to 1, not 2"),
        ({"state": {"turn": 1, "slot": 3}}, "state.slot is 3, but the other values make it 2"),
        ({"state": {"turn": -1}}, "state.turn must be an integer of at least 0, not -1"),
        ({"state": {"order": []}}, "state: unknown key 'order'; did you mean orders"),
        ({"state": {"orders": [{"name": "Soap"}]}}, "unknown order 'Soap'; did you mean Soup"),
        ({"state": {"orders": [{"name": "Soup", "coked": 1}]}}, "state.orders\\[0\\]: unknown key 'coked'"),
        ({"state": {"orders": [{"name": "Soup", "finished": 1, "ruined": 1}]}}, "Soup is both finished and ruined"),
        ({"state": {"areas": [{"id": 4}]}}, "unknown area 4; known: 0, 5, 1, 2, 3"),
        ({"state": {"areas": [{"id": 1, "stock": {"egg": 1}}]}}, "unknown good 'egg'"),
        ({"state": {"areas": [{"id": 0, "stock": {"carrot": -1}}]}}, "carrot must be an integer of at least 0"),
    ],
)
def test_bad_reset_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        make().reset(seed=0, options=options)


def test_events_tell_what_each_agent_did():
    game = Round()
    game.play("0 Salad | 2 Soup")
    taken, cooked = game.events
    flags = {"advanced": False, "finished": False, "ruined": False}
    at = {"turn": 0, "worker": 0, "reason": "OK"}
    salad = {"event": "TAKE_INGREDIENTS", "order": "Salad", "area": 0, "label": "TAKE_INGREDIENTS(pantry1, Salad)"}
    assert taken == salad | at | flags | {"advanced": True, "finished": True}
    soup = {"event": "COOK_MEAL", "order": "Soup", "area": 2, "label": "COOK_MEAL(stove1, Soup)"}
    assert cooked == soup | at | flags | {"ruined": True}
    game.play("- | 1 Salad")
    idle, refused = game.events
    assert (idle["event"], idle["order"], idle["area"], idle["label"]) == ("NO_ACTION", None, None, "NO_ACTION")
    assert (refused["event"], refused["reason"], refused["worker"]) == ("TAKE_SPICES", "ORDER_FINISHED", 1)
    assert not (refused["advanced"] or refused["finished"] or refused["ruined"])


def test_actions_are_judged_after_those_of_earlier_seats():
    env = make(text_info=True)
    spices, idle = Round().action("1 Soup"), env.game.idle_action()
    state = env.arrays[0]
    assert env.game.check(state, 0, 1, spices)[0] == "OK"
    assert env.game.check(state, 0, 1, spices, [idle])[0] == "OK"
    code, message = env.game.check(state, 0, 1, spices, [spices])
    assert code == "ALREADY_COLLECTED" and message != "Accepted."
    assert env.game.check(state, 0, 0, spices, [spices])[0] == "OK"  # its own action is not an earlier one
    infos = env.step({"agent_0": spices, "agent_1": spices})[4]
    assert infos["agent_1"]["reason"] == message
    assert infos["agent_0"]["reason"] == ""


@pytest.mark.parametrize("scenario", scenarios())
def test_alien_rush_equals_kitchen_rush_step_by_step(scenario):
    kitchen = kitchen_rush_v0.parallel_env(scenario=scenario, reward="shaped")
    alien = alien_rush_v0.parallel_env(scenario=scenario, reward="shaped")
    rng = np.random.default_rng(5)
    for episode in range(6):
        seed = episode if episode % 3 == 0 else None
        for one, two in zip(kitchen.reset(seed=seed)[0].values(), alien.reset(seed=seed)[0].values(), strict=True):
            np.testing.assert_array_equal(one, two)
        while kitchen.agents:
            actions = {}
            for agent in kitchen.agents:
                legal = np.flatnonzero(kitchen.action_mask(agent))
                actions[agent] = int(rng.choice(legal))
            texts, foreign = kitchen.game.action_texts(kitchen.arrays[0]), alien.game.action_texts(alien.arrays[0])
            assert texts[1] != foreign[1]
            assert {agent: alien.parse(foreign[action], agent) for agent, action in actions.items()} == actions
            actual, reference = kitchen.step(actions), alien.step(actions)
            assert actual[1:4] == reference[1:4]
            for one, two in zip(
                (*kitchen.arrays[0], *kitchen.arrays[1]), (*alien.arrays[0], *alien.arrays[1]), strict=True
            ):
                np.testing.assert_array_equal(one, two)
            assert kitchen.scene() == alien.scene()
            assert kitchen.events() == alien.events()
    assert alien.describe("agent_0") != kitchen.describe("agent_0")
