"""Soup that burns: when, what it costs, who is told, and that teams cope."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from games.overcooked.world import Rollout, game_of, picture_of, scene_of, split_world
from support.naive.overcooked import NaiveKitchen

import collab_overcooked
from collab_overcooked.games.overcooked.engine import rules
from collab_overcooked.games.overcooked.engine.constants import Clock, Event, EventColumn, Item, Param, Thing
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.teams import make_team

STAY, INTERACT = 4, 5
WORLD = """
XPXPX
O1 2O
X   X
XDXSX
1 north holds dish
(1,0) onion, onion, onion 18/20
"""


def rollout_of(world: str, **options: Any) -> Rollout:
    grid, facts = split_world(world)
    game = game_of({"name": "kitchen", "grid": grid, "orders": [["onion"] * 3]}, **options)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([0])
    game.reset(state, out, np.ones(1, np.bool_), {"state": scene_of(grid, facts)}, 1000)
    rollout = Rollout(game, state, out)
    rollout.pictures.append(picture_of(game, rollout.scene))
    return rollout


def test_burn() -> None:
    """Soup is ready after 2 more steps, stays for 3 and is gone in the third; all players bear the cost."""
    rollout = rollout_of(WORLD, burn=3, burn_cost=5)
    pots = []
    for _ in range(5):
        rollout.step([STAY, STAY])
        pots.append([thing["tick"] for thing in rollout.scene["objects"]])
    assert pots == [[19], [20], [21], [22], []]
    assert rollout.sparse == [[0, 0]] * 4 + [[-2, -3]]
    assert rollout.scene["score"] == -5 and rollout.scene["served"] == 0
    times = np.full(16, 2, np.int32)
    pot = np.array([Item.SOUP, 3, 1], np.int32)
    assert rules.burn(pot, times, 1) == 0 and pot.tolist() == [Item.SOUP, 3, 1], "it still cooks"
    pot[Thing.TICK] = 2
    assert rules.burn(pot, times, 1) == 1 and not pot.any()


def test_age_pot() -> None:
    """A full pot starts by itself unless it waits for an interact; without the option, ready soup stays as it is."""
    times, params = np.full(64, 2, np.int32), np.zeros(len(Param), np.int32)
    params[[Param.AUTO_START, Param.BURN]] = 1, -1
    pot = np.array([Item.SOUP, 3, -1], np.int32)
    assert [rules.age_pot(pot, times, params) for _ in range(3)] == [0, 0, 0] and pot[Thing.TICK] == 2
    params[[Param.FULL_WAITS, Param.BURN]] = 1, 1
    assert rules.age_pot(pot, times, params) == 1 and not pot.any()
    pot[:] = Item.SOUP, 3, -1
    assert rules.age_pot(pot, times, params) == 0 and pot[Thing.TICK] == -1


def test_soup_that_is_taken_in_the_last_step_does_not_burn() -> None:
    rollout = rollout_of(WORLD, burn=3)
    for _ in range(4):
        rollout.step([STAY, STAY])
    rollout.step([INTERACT, STAY])
    assert not rollout.scene["objects"] and rollout.scene["players"][0]["holding"]["tick"] == 20
    assert rollout.sparse[-1] == [0, 0]


@pytest.mark.parametrize("n_players", [1, 2, 3, 4])
def test_charge(n_players: int) -> None:
    _, out = game_of("cramped_room", agents=n_players, burn=1).alloc(1)
    clock, row = np.zeros(len(Clock), np.int32), row_at(out, 0)
    rules.charge(10, Event.SOUP_BURNT, clock, row)
    assert out.sparse[0].sum() == -10 and np.ptp(out.sparse[0]) <= 1
    assert clock[Clock.SCORE] == -10
    assert (out.events[0, :, EventColumn.CODE] >> Event.SOUP_BURNT & 1).all()


@pytest.mark.parametrize("options", [{}, {"agents": 3}, {"dynamics": "explicit"}, {"burn": 1, "burn_cost": 0}])
def test_random_play_equals_the_naive_kitchen(options: dict[str, Any]) -> None:
    burnt = 0
    for seed in range(8):
        game = game_of("cramped_room", **{"burn": 6, **options})
        state, out = game.alloc(1)
        state.rng[:] = seed_states([seed])
        game.reset(state, out, np.ones(1, np.bool_), None, 1000)
        config, starts = game.compiled.config, game.compiled.tables.starts[0].tolist()
        naive = NaiveKitchen(game.layouts[0], [(x, y) for x, y in starts], config.dynamics == "auto", 10)
        naive.burn = config.burn, config.burn_cost
        rng = random.Random(seed)
        for _ in range(300):
            masks = out.masks[0]
            wishes = [
                INTERACT if masks[i, 5] and rng.random() < 0.8 else rng.randrange(6) for i in range(game.n_agents)
            ]
            news = naive.step([game.action_texts()[action] for action in wishes])
            game.step(state, np.array([wishes], np.int32), out)
            game.observe(state, out)
            assert out.sparse[0].tolist() == news["sparse"]
            burnt += "soup_burnt" in news["events"][0]
            scene, told = game.scene(state, 0), naive.scene()
            assert {key: scene[key] for key in told} == told
    assert burnt > 3


@pytest.mark.parametrize("obs", ["lossless", "jaxmarl", "gates", "features"])
def test_observations_count_down_to_the_end_of_ready_soup(obs: str) -> None:
    rollout = rollout_of(WORLD, burn=30, obs=obs)
    plain = rollout_of(WORLD, obs=obs)
    assert rollout.game.single_observation_space.shape == plain.game.single_observation_space.shape
    counts = []
    for _ in range(4):
        for one in (rollout, plain):
            one.step([STAY, STAY])
            one.game.observe(one.state, one.out)
        shown, usual = (one.out.observations[0, 0].astype(int) for one in (rollout, plain))
        counts.append([(int(a), int(b)) for a, b in zip(shown, usual, strict=True) if a != b])
        assert rollout.game.single_observation_space.contains(
            rollout.out.observations[0, 0].reshape(rollout.game.single_observation_space.shape)
        )
    if obs == "gates":
        assert counts == [[], [], [(21, 20)], [(22, 20)]]
    else:
        times = 2 if obs == "features" else 1  # in the own block and in the teammate's
        assert counts == [[], *([(left, 0)] * times for left in (30, 29, 28))]


def test_texts_and_pictures_tell_when_soup_burns() -> None:
    rollout = rollout_of(WORLD, burn=3, action_level="medium")
    game, state = rollout.game, rollout.state
    manual = game.manual(state, 0, 0)
    assert (
        "Soup that stays in its pot for 3 steps after it is ready burns: the pot is empty, and it costs 5 points."
        in manual
    )
    assert "burns" not in game_of("cramped_room", action_level="medium").manual()
    for _ in range(3):
        rollout.step([1, 1])
    assert "c0: 3 of 3 ingredients, done, burns in 2 steps." in game.describe(state, 0, 0)
    assert "burns in 2" in game.render(state, 0, "ansi")
    scene = game.scene(state, 0)
    assert scene["objects"][0]["burns_in"] == 2
    again, out = game.alloc(1)
    game.reset(again, out, np.ones(1, np.bool_), {"state": scene}, 1000)
    assert game.scene(again, 0) == scene
    rollout.step([1, 1])
    rollout.step([1, 1])
    assert [event["label"] for event in game.events(rollout.out, 0)] == ["soup burns"] * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"burn": 0}, "burn"),
        ({"burn": 3, "burn_cost": -1}, "burn_cost"),
        ({"burn_cost": 7}, "burn_cost=7 is for soup that burns; set burn, too"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Overcooked("cramped_room", **options)


def test_scenes_with_soup_older_than_can_be_are_refused() -> None:
    with pytest.raises(ValueError, match=r"tick of a soup in a pot is -1 to 22, not 23"):
        rollout_of(WORLD.replace("18/20", "23/20"), burn=3)


def test_who_does_something_while_soup_burns_is_told_both() -> None:
    rollout = rollout_of(WORLD.replace("18/20", "22/20").replace("O1 2O", "O1  O").replace("X   X", "X  2X"), burn=3)
    rollout.step([1, STAY])
    assert rollout.game.events(rollout.out, 0)[1]["label"] == "soup burns"
    held = WORLD.replace("18/20", "22/20").replace("O1 2O", "O1  O").replace("X   X", "X  2X")
    rollout = rollout_of(held + "2 south holds soup(onion, onion, onion)\n", burn=3)
    rollout.step([STAY, INTERACT])
    event = rollout.game.events(rollout.out, 0)[1]
    assert (event["event"], event["label"], event["sparse"]) == ("soup_delivery", "deliver soup, soup burns", 17)
    said = rollout.game.seat_view(rollout.game, rollout.state, 1).consequence(SimpleNamespace(**event))
    assert said == (
        "Less the player's share of the loss, it pays 17 points. "
        "Nobody took the soup out of its pot in time, which costs the team 5 points."
    )


@pytest.mark.parametrize("policy", ["greedy", "planner:width=60"])
def test_scripted_teams_serve_their_soup_in_time(policy: str) -> None:
    env = collab_overcooked.make("Overcooked-v0", burn=15, max_cycles=200)
    record = play_episode(env, make_team([policy] * 2), 0)
    labels = [event.label for step in record.steps for event in step.events if event is not None]
    assert labels.count("deliver soup") >= 4 and "soup burns" not in labels
    assert first_difference(record) is None
