"""Orders that end: when the next one comes, what pays, what it costs, who is told, and that teams cope."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from games.overcooked.test_burning import rollout_of
from games.overcooked.world import game_of
from support.naive.overcooked import NaiveKitchen

import collab_overcooked
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.games.overcooked.engine import rules
from collab_overcooked.games.overcooked.engine.constants import Clock, Event, EventColumn, Order, Player
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.teams import make_team

STAY, INTERACT = 4, 5
WORLD = """
XPXPX
O1 2T
X   X
XDXSX
"""
ORDERS = [["onion", "onion", "onion"], ["onion", "onion", "tomato"], ["tomato", "tomato", "tomato"]]
LAYOUT = {"name": "soups", "grid": WORLD.strip(), "orders": ORDERS}


def started(layout: Any = LAYOUT, seed: int = 0, **options: Any) -> tuple[Overcooked, Any, Any]:
    game = game_of(layout, **options)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    game.reset(state, out, np.ones(1, np.bool_), None, 1000)
    return game, state, out


def test_renew_order() -> None:
    game, state, out = started(order_time=3, order_cost=4)
    tables, env, row = game.compiled.tables, row_at(state, 0), row_at(out, 0)
    assert env.order.tolist() == [3] and env.clock[Clock.RECIPE] in tables.recipes[0]
    scores = []
    for delivered in (False, False, False, False, True):
        rules.renew_order(tables, env, delivered, row)
        scores.append(int(env.clock[Clock.SCORE]))
    assert scores == [0, 0, -4, -4, -4], "the third step is the last one of the first order"
    assert env.order.tolist() == [3], "the next one has all its time"


def test_draw_order() -> None:
    game, state, _ = started(order_time=5)
    env, drawn = row_at(state, 0), []
    for _ in range(300):
        env.players[:, Player.KNOWS] = 1
        rules.draw_order(game.compiled.tables, env)
        assert not env.players[:, Player.KNOWS].any() and env.order[Order.LEFT] == 5
        drawn.append(int(env.clock[Clock.RECIPE]))
    assert {soup: drawn.count(soup) > 70 for soup in set(drawn)} == dict.fromkeys([3, 6, 12], True)


def test_only_the_order_that_stands_pays() -> None:
    held = "1 south holds soup(onion, onion, onion)"
    for order, paid in ((["onion"] * 3, 20), (["onion", "onion", "tomato"], 0)):
        game = game_of({**LAYOUT, "grid": "XPXPX\nO 2 T\nX  1X\nXDXSX"}, order_time=9)
        state, out = game.alloc(1)
        player = {"position": [3, 2], "facing": "south", "holding": {"item": "soup", "ingredients": ["onion"] * 3}}
        scene = {"players": [player, {"position": [2, 1], "facing": "north"}], "order": order, "order_left": 4}
        game.reset(state, out, np.ones(1, np.bool_), {"state": scene}, 1000)
        game.step(state, np.array([[INTERACT, STAY]], np.int32), out)
        assert out.sparse[0].tolist() == [paid, 0], held
        assert state.order[0].tolist() == [9 if paid else 3]
        assert bool(out.events[0, 0, EventColumn.CODE] >> Event.SOUP_DELIVERY & 1)


def test_an_order_that_ends_costs_the_team() -> None:
    rollout = rollout_of(WORLD, order_time=2, order_cost=5)
    for _ in range(4):
        rollout.step([STAY, STAY])
    assert rollout.sparse == [[0, 0], [-2, -3]] * 2 and rollout.scene["score"] == -10
    assert [event["label"] for event in rollout.game.events(rollout.out, 0)] == ["order expires"] * 2


@pytest.mark.parametrize("options", [{}, {"agents": 3, "order_cost": 4}, {"dynamics": "explicit", "burn": 3}])
def test_random_play_equals_the_naive_kitchen(options: dict[str, Any]) -> None:
    happened = set()
    for seed in range(8):
        game, state, out = started(seed=seed, order_time=15, **options)
        config, starts = game.compiled.config, game.compiled.tables.starts[0].tolist()
        naive = NaiveKitchen(game.layouts[0], [(x, y) for x, y in starts], config.dynamics == "auto", 10)
        if config.burn:
            naive.burn = config.burn, config.burn_cost
        scene, rng = game.scene(state, 0), random.Random(seed)
        naive.order = scene["order"], scene["order_left"], config.order_cost
        for _ in range(300):
            masks = out.masks[0]
            wishes = [
                INTERACT if masks[i, 5] and rng.random() < 0.8 else rng.randrange(6) for i in range(game.n_agents)
            ]
            game.step(state, np.array([wishes], np.int32), out)
            game.observe(state, out)
            scene = game.scene(state, 0)
            following = scene["order"], scene["order_left"], config.order_cost
            news = naive.step([game.action_texts()[action] for action in wishes], following)
            assert out.sparse[0].tolist() == news["sparse"]
            happened |= {event for events in news["events"] for event in events}
            told = naive.scene()
            assert {key: scene[key] for key in told} == told and following == naive.order
    assert {"order_expired", "soup_delivery"} <= happened


@pytest.mark.parametrize("obs", ["lossless", "jaxmarl", "features"])
def test_observations_end_with_the_order(obs: str) -> None:
    layout = LAYOUT if obs != "jaxmarl" else {**LAYOUT, "grid": WORLD.strip().replace("T", "O"), "orders": ORDERS[:1]}
    game, state, out = started(layout, order_time=30, obs=obs)
    game.step(state, np.full((1, 2), STAY, np.int32), out)
    game.observe(state, out)
    seen = out.observations[0, 0].reshape(game.single_observation_space.shape)
    assert game.single_observation_space.contains(seen)
    names = game.scene(state, 0)["order"]
    told = [names.count("onion"), names.count("tomato"), 29]
    if obs == "features":
        assert seen[-3:].tolist() == told
    else:
        assert (seen[..., -3:] == told).all()


@pytest.mark.parametrize("radius", [None, 2])
def test_observations_of_hidden_recipes_end_with_the_steps_left(radius: int | None) -> None:
    batch = BatchEnv(OvercookedV2(order_time=30, view_radius=radius), 2)
    batch.reset(0)
    batch.step(np.full((2, 2), STAY, np.int32))
    assert (
        np.asarray(batch.out.observations).reshape(2, 2, *batch.game.single_observation_space.shape)[..., -1] == 29
    ).all()


def test_texts_pictures_and_scenes_tell_the_order() -> None:
    game, state, out = started(order_time=30, order_cost=1, action_level="medium")
    state.clock[0, Clock.RECIPE] = 6
    assert "The order stands for 30 steps. If nobody delivers it in this time, it costs 1 point and the next one" in (
        game.manual(state, 0, 0)
    )
    assert "Order: 2 onions and 1 tomato, for 30 more steps." in game.describe(state, 0, 0)
    assert "Orders; 2 onions and 1 tomato\n" in game.render(state, 0, "ansi") + "\n"
    assert "Order 30" in game.render(state, 0, "ansi")
    scene = game.scene(state, 0)
    assert (scene["order"], scene["order_left"]) == (ORDERS[1], 30)
    again, _ = game.alloc(1)
    game.reset(again, out, np.ones(1, np.bool_), {"state": scene}, 1000)
    assert game.scene(again, 0) == scene
    with pytest.raises(ValueError, match=r"state\.order: unknown order 'onion, tomato, tomato'"):
        game.reset(again, out, np.ones(1, np.bool_), {"state": {**scene, "order": ["onion", "tomato", "tomato"]}}, 9)


def test_texts_of_hidden_recipes_tell_when_the_next_one_comes() -> None:
    env = collab_overcooked.make("OvercookedV2-v0", view_radius=2, order_time=12)
    env.reset(seed=0)
    state = env.arrays[0]
    assert "The recipe stands for 12 steps. If nobody delivers it in this time, the next one" in env.game.manual(state)
    texts = [env.game.describe(state, 0, seat) for seat in range(2)]
    assert all("It stands for 12 more steps." in text for text in texts) and "not seen it" in texts[1]


@pytest.mark.parametrize("game_id", ["Overcooked-v0", "OvercookedV2-v0"])
@pytest.mark.parametrize("policy", ["greedy", "planner:width=60"])
def test_teams_of_programs_earn_although_orders_end(game_id: str, policy: str) -> None:
    options: dict[str, Any] = {"layout": "two_soups"} if game_id == "Overcooked-v0" else {"layout": "cramped_room"}
    env = collab_overcooked.make(game_id, order_time=90, order_cost=5, burn=60, max_cycles=200, **options)
    record = play_episode(env, make_team([policy] * 2), 3)
    labels = [event.label for step in record.steps for event in step.events if event is not None]
    assert labels.count("deliver soup") >= 2
    assert first_difference(record) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order_time": 0}, "order_time"),
        ({"order_time": 3, "order_cost": -1}, "order_cost"),
        ({"order_cost": 7}, "order_cost=7 is for orders that end; set order_time, too"),
    ],
)
@pytest.mark.parametrize("game", [Overcooked, OvercookedV2])
def test_options_that_make_no_sense_are_refused(game: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        game("cramped_room", **options)


def test_layouts_without_an_order_that_can_be_cooked_are_refused() -> None:
    layout = {**LAYOUT, "grid": WORLD.strip().replace("T", "O"), "orders": ORDERS[1:]}
    with pytest.raises(ValueError, match="order_time needs orders, but layout soups has none that can be cooked"):
        Overcooked(layout, order_time=9)
