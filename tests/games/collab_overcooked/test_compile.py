"""From words to numbers: who can use what, the catalogue, and kitchens unlike the built-in ones, played to the end."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from games.collab_overcooked.world import ODD_KITCHENS, STATIONS, game_of, kitchen_values, odd_kitchen, play

from collab_overcooked.games.collab_overcooked.engine.compile import Compiled
from collab_overcooked.games.collab_overcooked.engine.constants import (
    Access,
    Food,
    Group,
    Param,
    Recipe,
    Row,
    Station,
    Verb,
)
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.kernels.paths import UNREACHABLE

SHIPPED = ("paper", "shared_floor", "three_agents")
MEDIUM: dict[str, Any] = {"level": "medium"}


@pytest.fixture(scope="module")
def compiled() -> dict[str, Compiled]:
    shipped = {name: CollabOvercooked(kitchen=name).compiled for name in SHIPPED}
    return shipped | {name: odd_kitchen(name).compiled for name in ODD_KITCHENS}


@pytest.fixture(scope="module")
def paper(compiled) -> Compiled:
    return compiled["paper"]


def cells_of(paper: Compiled, place: str) -> list[tuple[int, int]]:
    group = paper.tables.groups[paper.names.places.index(place)]
    stations = paper.tables.stations[group[group >= 0]]
    return [(int(x), int(y)) for x, y in stations[:, [Station.X, Station.Y]]]


def test_counters_in_scan_order(paper):
    assert cells_of(paper, "counter") == [
        *[(0, 0), (1, 0), (2, 0), (4, 0), (2, 1), (4, 1)],
        *[(2, 2), (4, 2), (2, 3), (0, 4), (2, 4), (4, 4)],
    ]


def test_stations_of_the_paper(paper):
    places = {place: cells_of(paper, place) for place in paper.names.places[1:]}
    assert places == {
        "ingredient_dispenser": [(0, 1)],
        "dish_dispenser": [(0, 3)],
        "serving": [(3, 4)],
        "pot0": [(3, 0)],
        "oven0": [(4, 3)],
        "chopping_board0": [(0, 2)],
        "blender0": [(1, 4)],
    }
    assert paper.names.operations == ("cook", "bake", "cut", "stir")


REACH = {  # tile -> seat -> where to stand, where to look
    (3, 0): {0: ((3, 1), "N")},
    (4, 3): {0: ((3, 3), "E")},
    (3, 4): {0: ((3, 3), "S")},
    (4, 1): {0: ((3, 1), "E")},
    (4, 2): {0: ((3, 2), "E")},
    (0, 1): {1: ((1, 1), "W")},
    (0, 2): {1: ((1, 2), "W")},
    (0, 3): {1: ((1, 3), "W")},
    (1, 4): {1: ((1, 3), "S")},
    (1, 0): {1: ((1, 1), "N")},
    (2, 1): {0: ((3, 1), "W"), 1: ((1, 1), "E")},
    (2, 2): {0: ((3, 2), "W"), 1: ((1, 2), "E")},
    (2, 3): {0: ((3, 3), "W"), 1: ((1, 3), "E")},
    (0, 0): {}, (2, 0): {}, (4, 0): {}, (0, 4): {}, (2, 4): {}, (4, 4): {},
}  # fmt: skip


def test_who_can_use_what_and_from_where(paper):
    tables, names = paper.tables, paper.names
    assert set(names.tiles) == set(REACH)
    for cell, seats in REACH.items():
        s = names.tiles[cell]
        kind = Access.NONE if not seats else Access.SHARED if len(seats) == 2 else Access.PRIVATE
        assert tables.access[:, s].tolist() == [kind if seat in seats else Access.NONE for seat in (0, 1)]
        poses = {int(pose) for pose in tables.stations[s, Station.GOAL : Station.GOAL + 4] if pose >= 0}
        assert poses == {4 * names.floor.index(stand) + "NSEW".index(facing) for stand, facing in seats.values()}


def test_agents_of_the_paper_never_meet(compiled):
    def meet(one: Compiled) -> bool:
        poses = [4 * cell + facing for cell, facing in one.tables.starts]
        return any(one.tables.paths[0, p, q] < UNREACHABLE for p in poses for q in poses if p // 4 != q // 4)

    assert {name for name, one in compiled.items() if meet(one)} == {"shared_floor", "three_agents", "crowd", "four"}


def test_counters_that_all_can_use_are_shared_and_those_of_some_are_not(compiled):
    three = compiled["three_agents"]
    access = {cell: three.tables.access[:, s].tolist() for cell, s in three.names.tiles.items()}
    assert [access[4, y] for y in (1, 2, 3)] == [[Access.SHARED] * 3] * 3  # between chef and helpers
    assert access[0, 2] == [Access.NONE, Access.SOME, Access.SOME]  # the helpers' own
    assert access[8, 2] == [Access.PRIVATE, Access.NONE, Access.NONE]


def test_three_agents_and_the_shared_floor(compiled):
    three, floor = compiled["three_agents"], compiled["shared_floor"]
    assert three.names.places[4:] == ("pot0", "pot1", "oven0", "chopping_board0", "chopping_board1", "blender0")
    assert three.tables.access.shape[0] == 3
    counters = floor.tables.groups[Group.COUNTER]
    usable = {int(a) for a in floor.tables.access[:, counters[counters >= 0]].reshape(-1)}
    assert usable == {Access.NONE, Access.SHARED}  # on one floor there is no private counter
    pots = [s for s in range(len(floor.tables.stations)) if floor.tables.stations[s, Station.KIND] == Group.UTENSIL]
    assert all(sorted(floor.tables.access[:, s]) == [Access.NONE, Access.PRIVATE] for s in pots)  # but owners


@pytest.mark.parametrize("name", [*SHIPPED, *ODD_KITCHENS])
def test_catalogue(compiled, name):
    one = compiled[name]
    kitchen, texts = one.kitchen, one.names.catalogue
    n_utensils, n_items = len(one.names.operations), len(one.names.items)
    kinds = Counter(place.rstrip("0123456789") for place in one.names.places[4:])
    makes = Counter(recipe.utensil for recipe in kitchen.recipes)
    products = sum(kinds[kind] * makes[kind] for kind in kinds)
    assert (
        one.n_possible
        == one.n_actions
        == (1 + kitchen.max_wait + 2 + 3 * n_utensils + n_items + len(kitchen.ingredients) + 1 + products)
    )
    assert len(texts) == one.n_possible + n_utensils * n_items - products
    assert texts[0] == "continue" and texts[1] == "wait(1)"
    for row, text in zip(one.tables.catalogue, texts, strict=True):
        verb, item, group = row
        if verb == Verb.PICKUP:
            assert text == f"pickup({one.names.items[item]},{one.names.places[group]})"
        elif verb in (Verb.PUT, Verb.FILL, Verb.OPERATE):
            assert text.endswith(f"({one.names.places[group]})")
        elif verb == Verb.WAIT:
            assert text == f"wait({item})"


def test_catalogue_of_the_paper_by_the_numbers(paper):
    assert (paper.n_actions, len(paper.names.items), len(paper.names.catalogue)) == (234, 107, 585)


@pytest.mark.parametrize("name", [*SHIPPED, *ODD_KITCHENS])
def test_takes_names_the_pickup_of_every_product(compiled, name):
    one = compiled[name]
    for u, takes in enumerate(one.tables.takes):
        kind = one.names.places[Group.UTENSIL + u].rstrip("0123456789")
        results = {one.names.items.index(r.product) for r in one.kitchen.recipes if r.utensil == kind}
        assert set(np.flatnonzero(takes >= 0)) == results
        for item in results:
            assert one.tables.catalogue[takes[item], [Row.ITEM, Row.GROUP]].tolist() == [item, Group.UTENSIL + u]


def test_foods_and_recipes(paper):
    tables, items = paper.tables, paper.names.items
    assert items[0] == "dish" and not tables.foods[0, : Food.UTENSIL].any()
    assert tables.foods[:, Food.RAW].sum() == 29 and tables.foods[:, Food.SERVED].sum() == len(paper.kitchen.serving)
    for row, recipe in zip(tables.recipes, paper.kitchen.recipes, strict=True):
        inputs = [items[item] for item in row[Recipe.INPUT :] if item >= 0]
        assert (inputs, items[row[Recipe.PRODUCT]], row[Recipe.TIME]) == (list(recipe.inputs), recipe.product, 3)
        assert row[Recipe.COUNT] == len(inputs)
        assert tables.foods[row[Recipe.PRODUCT], Food.UTENSIL] == row[Recipe.UTENSIL]
    for i, name in enumerate(items):
        assert Counter({items[j]: int(n) for j, n in enumerate(tables.needs[i]) if n}) == Counter(
            paper.kitchen.foods_below.get(name, ())
        )


def test_tables_are_frozen_also_after_pickling():
    game = pickle.loads(pickle.dumps(odd_kitchen("hermit")))
    assert not any(array.flags.writeable for array in game.compiled.tables)
    with pytest.raises(ValueError, match="read-only"):
        game.compiled.tables.params[0] = 1


def test_a_kitchen_without_utensils_serves_raw_food():
    rollout = play("XXXX\nI 0S\nXXXX", "pickup(corn,ingredient_dispenser) deliver()", orders=("corn",), **MEDIUM)
    assert rollout.over and rollout.rewards[-1] == [20.0]


EGG = "pickup(egg,ingredient_dispenser)"


def test_a_new_kind_of_utensil_with_its_own_verb_and_room_for_five():
    game = odd_kitchen("cauldron")
    assert {"brew(cauldron0)", "brew(cauldron1)", "put_obj_in_utensil(cauldron1)"} <= set(game.action_texts())
    picture, changes = ODD_KITCHENS["cauldron"]
    put = "pickup({0},ingredient_dispenser) put_obj_in_utensil(cauldron0)"
    foods = ["bean", "egg", "corn", "egg", "corn"]
    script = " ".join(put.format(food) for food in foods)
    script += " brew(cauldron0) pickup(dish,dish_dispenser) fill_dish_with_food(cauldron0) place_obj_on_counter()"
    lines = f"0: {script}\n1: ?pickup(potion,counter) deliver()"
    rollout = play(picture, lines, orders=("potion",), **MEDIUM, **changes)
    assert rollout.over and rollout.rewards[-1] == [20.0, 20.0] and not rollout.refusals_of(0)
    displayed = [
        line for picture in rollout.pictures for line in picture.split("\n") if line.startswith("cauldron0 potion")
    ]
    assert displayed[:5] == [f"cauldron0 potion {n}/5" for n in (1, 2, 3, 4)] + ["cauldron0 potion ready"]


def test_other_owners_of_utensils():
    world = "XXXXPX\nI0 X1X\nXS X X\nXXXXXX"
    owned = {"P": {"users": [1]}, "I": {"users": [0]}, "S": {"users": [0]}}
    script = (
        f"0: {EGG} place_obj_on_counter() ?pickup(boiled_egg,counter) deliver()\n"
        "1: ?pickup(egg,counter) put_obj_in_utensil(pot0) cook(pot0) ?pickup(boiled_egg,pot0) place_obj_on_counter()"
    )
    rollout = play(world, script, stations=owned, **MEDIUM)
    assert rollout.over and "deliver()" in rollout.labels_of(0) and "cook(pot0)" in rollout.labels_of(1)
    together = play("XPXXX\nI0 1S\nXXXXX", f"0: put_obj_in_utensil(pot0)\n1: {EGG}", stations=owned, steps=1, **MEDIUM)
    assert together.refusals == [["PUT_UNREACHABLE", "PICK_UNREACHABLE"]]  # though they could walk there


def test_start_cells_may_stand_in_the_list_of_agents():
    values = kitchen_values(["XPXX", "I  S", "XXXX"], {})
    values["agents"] = [{"name": "Ann", "role": "cook", "start": [2, 1], "facing": "east"}]
    game = game_of(values)
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, np.bool_))
    assert game.scene(state, 0)["agents"][0]["position"] == [2, 1]
    assert game.scene(state, 0)["agents"][0]["facing"] == "east"


def test_twelve_agents():
    grid = ["X" * 14, "I" + " " * 12 + "S", "X" * 6 + "P" + "X" * 7]
    values = kitchen_values(grid, {})
    values["agents"] = [{"name": f"A{i}", "role": "cook", "start": [i + 1, 1]} for i in range(12)]
    values["references"] = False
    game = game_of(values)
    state, out = game.alloc(2)
    game.reset(state, out, np.ones(2, np.bool_))
    for _ in range(30):
        game.step(state, np.full((2, 12), game.parse("wait(1)"), np.int32), out)
    assert game.n_agents == 12 and (state.clock[:, 0] == 30).all()


def test_delivery_reward_wait_and_stuck_limit_come_from_the_file():
    rollout = play("XXXX\nI 0S\nXXXX\n0 east holds corn", "I", orders=("corn",), delivery_reward=7.5)
    assert rollout.rewards == [[7.5]]
    game = game_of(kitchen_values(["XXXX", "I0 S", "XXXX"], {"max_wait": 12}))
    assert "wait(12)" in game.action_texts() and "wait(13)" not in game.action_texts()
    games = CollabOvercooked(kitchen="shared_floor"), CollabOvercooked(kitchen="shared_floor", stuck_limit=0)
    assert [game.compiled.tables.params[Param.STUCK] for game in games] == [12, 0]


def test_shaping_pays_the_doer_only():
    world = "XXXXXX\nI0  1S\nXXXXXX\n0 west\n1 east"
    rollout = play(world, "0: I(egg)\n1: .", options={"shaping": {"PICKUP": 0.5}})
    assert rollout.rewards == [[0.5, 0.0]]


def test_symbols_are_free():
    values = kitchen_values(["XPXX", "I0 S", "XXXX"], {})
    values["grid"] = values["grid"].replace("P", "ü").replace("S", "$")
    values["stations"]["ü"] = values["stations"].pop("P")
    values["stations"]["$"] = values["stations"].pop("S")
    assert game_of(values).compiled.names.places[4:] == ("pot0",)
    assert set(STATIONS) == set("POCBIDS")
