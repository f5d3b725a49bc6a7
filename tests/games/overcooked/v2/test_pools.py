"""Pools of layouts and kitchens that change in OvercookedV2: what is lost, what is announced and to whom, who earns."""

from __future__ import annotations

import numpy as np
import pytest
from games.overcooked.v2.world import facts_of
from support.cli_runner import run

from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.overcooked.engine.constants import Clock, LayoutSize, Terrain, View
from collab_overcooked.games.overcooked.scoring import phases_of
from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from collab_overcooked.games.overcooked.v2.policies.recipe_belief import Memory, ShortestPaths
from collab_overcooked.games.overcooked.v2.suite import CHANGING
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.registry import load_game, make, make_vec

RECIPES = [[0, 0, 0], [0, 1, 1]]
LEFT = {"name": "left", "grid": "WWPWW\n0A R1\nB   W\nW A X\nWWLWW", "recipes": RECIPES}
RIGHT = {"name": "right", "grid": "WWWPW\n0A R1\nW   B\nX A W\nWWLWW", "recipes": RECIPES}
WIDE = {"name": "wide", "grid": "WWPWWW\n0A R W\nB    2\nW A XW\nWWWWWW", "recipes": [[0, 0, 2]]}
STAY = {"agent_0": 4, "agent_1": 4}


def test_a_pool_draws_its_layouts_and_a_name_chooses_one() -> None:
    env = make_vec("OvercookedV2-v0", num_envs=64, layout=[LEFT, WIDE])
    env.reset(seed=0)
    assert set(env.state.clock[:, Clock.LAYOUT].tolist()) == {0, 1}
    recipes = {(int(k), int(soup)) for k, soup in env.state.clock[:, [Clock.LAYOUT, Clock.RECIPE]]}
    assert recipes == {(0, 3), (0, 9), (1, 18)}
    single = make("OvercookedV2-v0", layout=[LEFT, WIDE])
    for name in ("wide", "left"):
        single.reset(seed=1, options={"layout": name})
        assert single.scene()["layout"] == name and f"The kitchen is {name}." in single.game.manual(single.arrays[0])
    shape = single.game.single_observation_space.shape
    assert shape == (5, 6, 2 * (1 + 4 + 5) + 6 + 3 + 5 + 5 + 1), "the size and the kinds of both together"


def test_cells_beyond_a_smaller_layout_show_nothing_and_nobody_gets_there() -> None:
    env = make_vec("OvercookedV2-v0", num_envs=16, layout=[LEFT, WIDE], random_state=True)
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(60):
        env.step(rng.integers(0, 6, (16, 2)).astype(np.int32))
        is_left = env.state.clock[:, Clock.LAYOUT] == 0
        seen = env.out.observations.reshape(16, 2, *env.game.single_observation_space.shape)
        assert not seen[is_left][:, :, :, 5].any() and not env.state.cells[is_left][:, :, 5].any()


@pytest.mark.parametrize(
    ("layouts", "options", "message"),
    [
        ([LEFT, LEFT], {}, "two layouts of the pool are called 'left'"),
        ([LEFT, LEFT | {"name": "alone", "grid": "WWPWW\n0A R1\nB   W\nWWWWX"}], {}, r"start \[1, 2\] players"),
        ([LEFT, RIGHT | {"recipes": [[0, 0, 0]]}], {"changes": 9}, "their recipes must be the same"),
        ([LEFT], {"changes": 9}, "needs a pool of at least two layouts"),
        ([], {}, "layout must be a name"),
    ],
)
def test_pools_that_cannot_be_are_refused(layouts, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        OvercookedV2(layouts, **options)


def test_what_is_on_cells_that_change_is_lost_and_the_recipe_stays() -> None:
    env = make("OvercookedV2-v0", layout=[LEFT, RIGHT], changes=2)
    objects = [
        {"position": [2, 0], "item": "soup", "ingredients": ["onion"], "left": 0, "ready": False},
        {"position": [0, 0], "item": "plate"},
        {"position": [4, 2], "item": "tomato"},
    ]
    players = [
        {"position": [1, 1], "facing": "north", "holding": {"item": "dish", "ingredients": ["onion"] * 3}},
        {"position": [2, 3], "facing": "south", "holding": None},
    ]
    scene = {"layout": "left", "objects": objects, "players": players, "recipe": ["onion", "tomato", "tomato"]}
    env.reset(seed=0, options={"state": {**scene, "buttons": [{"position": [2, 4], "left": 9}]}})
    env.step(STAY)
    assert env.scene()["layout"] == "left" and len(env.scene()["objects"]) == 3
    env.step(STAY)
    after = env.scene()
    assert after["layout"] == "right" and after["recipe"] == scene["recipe"]
    assert facts_of(after) == ["a north holds dish onion onion onion", "b south", "(0,0) plate", "(2,4) button 7"]
    assert env.game.compiled.tables.terrain[1, 0, 3] == Terrain.POT


def test_an_announcement_names_the_cells_but_no_player_out_of_view() -> None:
    north = {"name": "north", "grid": "WWWPWWWWW\n0A     R1\nBW WWW WX\nW   A   W\nWWWWWWWWW", "recipes": RECIPES}
    south = {"name": "south", "grid": "WWWPWWWWW\n0A     R1\nB  WWWWWX\nW   A   W\nWWWWWWWWW", "recipes": RECIPES}
    game = OvercookedV2([north, south], changes=9, notice=4, view_radius=1)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([0])
    places = [{"position": place, "facing": "north", "holding": None} for place in ([1, 1], [6, 2])]
    game.reset(state, out, np.ones(1, np.bool_), {"state": {"layout": "north", "players": places}})
    for _ in range(7):
        game.step(state, np.full((1, 2), 4, np.int32), out)
    line = "In 2 steps{} the kitchen changes: (1, 2) becomes floor, (6, 2) becomes a counter."
    assert line.format("") in game.describe(state, 0, 0), "Alice does not see Bob"
    assert line.format(", once no player stands at (6, 2),") in game.describe(state, 0, 1)
    seen = out.observations[0, 0].reshape(game.single_observation_space.shape)
    channel = game.compiled.tables.views[View.CHANGES]
    assert (seen[..., channel] == 2).all()
    assert seen[..., channel + 1].tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert "Every 9 steps the kitchen changes" in game.manual(state)
    assert "changes" not in OvercookedV2([north, south], changes=9).manual()


def test_a_memory_forgets_what_lay_on_cells_that_changed() -> None:
    game = OvercookedV2([LEFT, RIGHT], view_radius=1)
    paths = [ShortestPaths(game.compiled, k) for k in range(2)]
    memory = Memory(game, paths[0], 0, 0)
    players = [{"position": [1, 1], "facing": "north", "holding": None, "knows_recipe": True}, None]
    plate = {"position": [0, 0], "item": "plate"}
    soup = {"position": [2, 0], "item": "soup", "ingredients": ["onion"], "left": 0, "ready": False}
    scene = {"timestep": 1, "served": 0, "recipe": ["onion"] * 3, "players": players, "objects": [plate, soup]}
    assert memory.update(scene)["objects"] == [plate, soup]
    memory.enter(paths[1])
    away = [players[0] | {"position": [3, 3]}, None]
    assert memory.update({**scene, "objects": [], "players": away})["objects"] == [plate]


def test_a_memory_knows_nothing_of_the_recipe_that_follows_a_delivery_where_recipes_end() -> None:
    """Also in the step after a renewal, in which the steps left are those of the step before."""
    game = OvercookedV2([LEFT], view_radius=1, order_time=50)
    memory = Memory(game, ShortestPaths(game.compiled, 0), 0, 0)
    recipe = ["onion"] * 3
    me = {"position": [1, 1], "facing": "north", "holding": {"item": "dish", "ingredients": recipe}}
    scene = {"timestep": 1, "served": 0, "recipe": recipe, "players": [me, None], "objects": [], "order_left": 50}
    memory.update(scene)
    assert memory.guess == tuple(recipe)
    served = {"timestep": 2, "served": 1, "recipe": None, "players": [{**me, "holding": None}, None]}
    guesses = set()
    for seed in range(20):
        memory = Memory(game, ShortestPaths(game.compiled, 0), 0, seed)
        memory.update(scene)
        memory.update({**scene, **served})
        guesses.add(memory.guess)
    assert len(guesses) > 1


def test_greedy_serves_in_every_phase_of_a_kitchen_that_changes() -> None:
    plan = plan_evaluation(
        "overcooked-v2",
        ["all=greedy"],
        seed=3,
        layouts=CHANGING["hidden_split"],
        episodes=1,
        options={"changes": 100, "notice": 20},
    )
    (record,) = plan.matches[0].run()
    assert record.env_kwargs["view_radius"] == 2
    names = [name for name, _ in phases_of(record)]
    assert len(names) == 4 and set(names[::2]) | set(names[1::2]) == set(names[:2]) and names[0] != names[1]
    assert all(sum(points) > 0 for _, points in phases_of(record))
    assert record.metrics["recovery"] > 0


def test_the_mixed_kitchen_has_all_rules_at_once() -> None:
    (match, *_) = plan_evaluation("overcooked-v2", ["all=greedy"], seed=3, layouts="mixed", episodes=1).matches
    options = {"changes": 200, "notice": 20, "order_time": 150, "burn": 80, "view_radius": 2}
    assert {name: match.env_kwargs[name] for name in options} == options
    game = load_game(
        "OvercookedV2-v0", **{name: value for name, value in match.env_kwargs.items() if name != "max_cycles"}
    )
    tables = game.compiled.tables
    assert tables.frames[:, [LayoutSize.BELTS, LayoutSize.STATIONS, LayoutSize.RECIPES]].tolist() == [[3, 1, 3]] * 2


def test_check_plays_pools_that_change_and_refuses_those_that_cannot() -> None:
    result = run("check", CHANGING["hidden_split"])
    assert result.exit_code == 0 and "in 400 steps that change every 100" in result.output
    refused = run("check", "grounded_coord_simple+cramped_room")
    assert refused.exit_code != 0 and "it keeps 0 cells" in refused.output
