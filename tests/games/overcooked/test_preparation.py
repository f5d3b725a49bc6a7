"""Ingredients that are prepared at boards, on grills and in blenders: rules, who is told, and that teams do it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from games.overcooked.world import game_of
from support.naive.overcooked import NaiveKitchen
from support.option_sets import KITCHEN

import collab_overcooked
from collab_overcooked.games.overcooked.engine import rules
from collab_overcooked.games.overcooked.engine.constants import Effect, Item, Terrain
from collab_overcooked.games.overcooked.engine.solvability import prove
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.teams import make_team

STAY, INTERACT = 4, 5
GRID = "XXPCX\nO1  H\nT  2M\nXDXSX"
PREPARE = np.array([Terrain.BOARD, Terrain.BLENDER, Terrain.GRILL], np.int32)  # of onions, tomatoes and carrots


def layout_of(grid: str = GRID, **prepare: str) -> dict[str, Any]:
    names = {"C": "board", "H": "grill", "M": "blender"}
    grid = "".join(symbol if names.get(symbol, symbol) in (symbol, *prepare.values()) else "X" for symbol in grid)
    return {"name": "k", "grid": grid, "orders": [["onion", "onion", "tomato"]], "prepare": prepare}


def started(layout: Any, seed: int = 0, game_class: Any = Overcooked, **options: Any) -> tuple[Any, Any, Any]:
    game = game_class(layout, **options)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    game.reset(state, out, np.ones(1, np.bool_), None, 1000)
    return game, state, out


def thing(item: Item = Item.NONE, work: int = 0) -> np.ndarray:
    return np.array([item, 0, work], np.int32)


def test_needed_work_and_is_prepared() -> None:
    items = (Item.NONE, Item.DISH, Item.ONION, Item.TOMATO, Item.CARROT)
    assert [rules.needed_work(int(item), PREPARE) for item in items] == [0, 0, 3, 10, 10]
    assert [bool(rules.is_prepared(thing(Item.ONION, work), PREPARE)) for work in (0, 2, 3)] == [False, False, True]


@pytest.mark.parametrize(
    ("kind", "held", "there", "effect"),
    [
        ("BOARD", thing(Item.ONION), thing(), Effect.DROP),
        ("BOARD", thing(Item.ONION, 3), thing(), Effect.NONE),  # there is nothing to do
        ("BOARD", thing(Item.TOMATO), thing(), Effect.NONE),
        ("BOARD", thing(Item.DISH), thing(), Effect.NONE),
        ("BOARD", thing(), thing(Item.ONION), Effect.WORK),
        ("BOARD", thing(), thing(Item.ONION, 2), Effect.WORK),
        ("BOARD", thing(), thing(Item.ONION, 3), Effect.PICKUP),
        ("BOARD", thing(Item.DISH), thing(Item.ONION, 3), Effect.NONE),
        ("BLENDER", thing(), thing(Item.TOMATO), Effect.WORK),
        ("BLENDER", thing(), thing(Item.TOMATO, 1), Effect.NONE),
        ("BLENDER", thing(), thing(Item.TOMATO, 10), Effect.PICKUP),
        ("GRILL", thing(Item.CARROT), thing(), Effect.DROP),
        ("GRILL", thing(), thing(Item.CARROT), Effect.NONE),
        ("GRILL", thing(), thing(Item.CARROT, 10), Effect.PICKUP),
    ],
)
def test_effect_at_station(kind: str, held: np.ndarray, there: np.ndarray, effect: Effect) -> None:
    assert rules.effect_at_station(held, there, int(Terrain[kind]), PREPARE) == effect


def test_work_by_itself() -> None:
    for kind, before, after in (
        ("GRILL", thing(Item.CARROT), 1),
        ("GRILL", thing(Item.CARROT, 10), 10),
        ("BLENDER", thing(Item.TOMATO), 0),
        ("BLENDER", thing(Item.TOMATO, 1), 2),
        ("BOARD", thing(Item.ONION, 1), 1),
        ("GRILL", thing(), 0),
    ):
        rules.work_by_itself(before, int(Terrain[kind]), PREPARE)
        assert before[2] == after


def test_a_pot_takes_an_ingredient_only_when_it_is_prepared() -> None:
    game, state, out = started(layout_of(onion="board"))
    player = {"position": [2, 1], "facing": "north", "holding": {"item": "onion", "work": 2}}
    other = {"position": [3, 2], "facing": "north"}
    for work, accepted in ((2, 0), (3, 1)):
        player["holding"]["work"] = work  # type: ignore[index]
        game.reset(state, out, np.ones(1, np.bool_), {"state": {"players": [player, other]}}, 1000)
        assert out.masks[0, 0, INTERACT] == accepted
    game.step(state, np.array([[INTERACT, STAY]], np.int32), out)
    assert game.scene(state, 0)["objects"][0]["ingredients"] == ["onion"]


@pytest.mark.parametrize("prepare", [{"onion": "board", "tomato": "blender"}, {"onion": "grill"}])
def test_random_play_equals_the_naive_kitchen(prepare: dict[str, str]) -> None:
    events: set[str] = set()
    for seed in range(4):
        compare_with_naive(prepare, seed, events)
    assert "potting_onion" in events and ("preparation" in events) == ("board" in prepare.values())


def compare_with_naive(prepare: dict[str, str], seed: int, events: set[str]) -> None:
    game, state, out = started(layout_of(**prepare), seed)
    starts = [(x, y) for x, y in game.compiled.tables.starts[0].tolist()]
    naive, rng = NaiveKitchen(game.layouts[0], starts, True, 10), random.Random(seed)
    for _ in range(400):
        wishes = [INTERACT if out.masks[0, i, 5] and rng.random() < 0.8 else rng.randrange(6) for i in range(2)]
        news = naive.step([game.action_texts()[action] for action in wishes])
        events |= {event for happened in news["events"] for event in happened}
        game.step(state, np.array([wishes], np.int32), out)
        game.observe(state, out)
        assert out.sparse[0].tolist() == news["sparse"]
        assert out.shaped[0].tolist() == news["shaped"]
        named = [event["events"] if event else [] for event in game.events(out, 0)]
        assert [sorted(happened) for happened in named] == [sorted(set(happened)) for happened in news["events"]]
        scene, told = game.scene(state, 0), naive.scene()
        assert {key: scene[key] for key in told} == told


def test_observations_show_stations_and_work() -> None:
    scene = {
        "players": [
            {"position": [1, 1], "facing": "north", "holding": {"item": "onion", "work": 1}},
            {"position": [3, 2], "facing": "north"},
        ],
        "objects": [{"position": [4, 2], "item": "tomato", "work": 7}],
    }
    game, state, out = started(layout_of(onion="board", tomato="blender"))
    game.reset(state, out, np.ones(1, np.bool_), {"state": scene}, 1000)
    seen = out.observations[0, 0].reshape(game.single_observation_space.shape)  # x, y, channel
    assert np.argwhere(seen[..., -4:-1]).tolist() == [[3, 0, 0], [4, 2, 2]]
    assert {(x, y): int(seen[x, y, -1]) for x, y in np.argwhere(seen[..., -1]).tolist()} == {(1, 1): 1, (4, 2): 7}
    assert game.single_observation_space.contains(seen)


def test_observations_of_hidden_recipes_show_work() -> None:
    layout = {"name": "k", "grid": KITCHEN, "prepare": {"onion": "board", "tomato": "grill"}}
    game, state, out = started(layout, game_class=OvercookedV2)
    scene = game.scene(state, 0)
    scene["players"][0]["holding"] = {"item": "onion", "work": 2}
    scene["objects"] = [{"position": [2, 5], "item": "tomato", "work": 9}]
    game.reset(state, out, np.ones(1, np.bool_), {"state": scene}, 1000)
    assert game.scene(state, 0)["objects"][0]["preparation"] == "grilled"
    for _ in range(2):
        game.step(state, np.full((1, 2), STAY, np.int32), out)
    game.observe(state, out)
    seen = out.observations[0, 0].reshape(game.single_observation_space.shape)  # y, x, channel
    assert {(x, y): int(seen[y, x, -1]) for y, x in np.argwhere(seen[..., -1]).tolist()} == {(1, 1): 2, (2, 5): 10}
    assert "Grill (2, 5): a grilled tomato." in game.describe(state, 0, 0)
    assert "holding an onion, 2 of 3 chopped" in game.describe(state, 0, 0)


def test_texts_and_pictures_tell_how_far_an_ingredient_is() -> None:
    game, state, out = started(layout_of(onion="board", tomato="blender"))
    scene = game.scene(state, 0)
    scene["objects"] = [{"position": [3, 0], "item": "onion", "work": 3}, {"position": [4, 2], "item": "tomato"}]
    game.reset(state, out, np.ones(1, np.bool_), {"state": scene}, 1000)
    text = game.describe(state, 0, 0)
    assert "Board (3, 0): a chopped onion." in text and "Blender (4, 2): a tomato." in text
    assert "A pot takes an onion only if it is chopped: put it on a board, interact with it 3 times" in game.manual()
    assert "- boards: (3, 0)" in game.manual() and "C boards" in game.manual()
    assert "chopped onion" in game.render(state, 0, "ansi")
    again, _ = game.alloc(1)
    game.reset(again, out, np.ones(1, np.bool_), {"state": game.scene(state, 0)}, 1000)
    assert game.scene(again, 0) == game.scene(state, 0)


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([{"position": [3, 0], "item": "tomato"}], r"tomato cannot lie at \[3, 0\]"),
        ([{"position": [3, 0], "item": "onion", "work": 4}], r"state.objects\[0\]: work on onion is 0 to 3, not 4"),
    ],
)
def test_scenes_that_cannot_be_are_refused(objects: Any, message: str) -> None:
    game, state, out = started(layout_of(onion="board"))
    with pytest.raises(ValueError, match=message):
        game.reset(state, out, np.ones(1, np.bool_), {"state": {**game.scene(state, 0), "objects": objects}}, 1000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prepare": {"onion": "oven"}}, "unknown station 'oven'"),
        ({"prepare": {"leek": "board"}}, "unknown ingredient 'leek'"),
        ({"prepare": {"onion": "grill"}}, "the grid has no grill H"),
        ({"prepare": {}}, "the grid has a board C, at which no ingredient is prepared"),
        ({"prepare": "board"}, "prepare names a station for each ingredient"),
    ],
)
def test_layouts_that_make_no_sense_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        Overcooked({**layout_of(onion="board"), **change})


def test_pools_and_directives_that_do_not_fit_are_refused() -> None:
    with pytest.raises(
        ValueError, match="layouts k and cramped_room of the pool prepare ingredients in different ways"
    ):
        Overcooked([layout_of(onion="board"), "cramped_room"])
    with pytest.raises(ValueError, match="directives know no boards, grills and blenders"):
        Overcooked("chopping", action_level="medium")
    for obs in ("jaxmarl", "gates", "features"):
        with pytest.raises(ValueError, match=f"obs '{obs}' has no channel for boards, grills and blenders"):
            Overcooked(layout_of(GRID.replace("T", "X"), onion="board") | {"orders": [["onion"] * 3]}, obs=obs)


def test_a_proof_leads_over_the_stations() -> None:
    layout = game_of("chopping").layouts[0]
    recipes = [("onion", "onion", "tomato")]
    proof = prove(layout.grid, layout.starts, recipes, layout.prepare)
    assert proof is not None and (0, 2) in {subtask.target for subtask in proof.subtasks}
    closed = [row.replace("C", "W") for row in layout.grid]
    assert prove(closed, layout.starts, recipes, layout.prepare) is None


@pytest.mark.parametrize("policy", ["greedy", "planner:width=100"])
@pytest.mark.parametrize("game_id", ["Overcooked-v0", "OvercookedV2-v0"])
def test_teams_of_programs_prepare_and_deliver(policy: str, game_id: str) -> None:
    layout: Any = "chopping"
    if game_id != "Overcooked-v0":
        prepare = {"onion": "board", "tomato": "grill"}
        layout = {"name": "k", "grid": KITCHEN, "prepare": prepare, "recipes": [[0, 0, 1], [0, 1, 1]]}
    env = collab_overcooked.make(game_id, layout=layout, max_cycles=250)
    record = play_episode(env, make_team([policy] * 2), 0)
    labels: list[Any] = [event.label for step in record.steps for event in step.events if event is not None]
    assert labels.count("deliver soup") >= 2 and "prepare ingredient" in labels
    assert first_difference(record) is None
