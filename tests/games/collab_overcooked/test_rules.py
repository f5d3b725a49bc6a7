"""Every rule of the kitchen as a picture; see ``world.py`` for how to read one."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from games.collab_overcooked.world import Rollout, drawn, play

from collab_overcooked.games.collab_overcooked.engine.constants import (
    DISH,
    NOTHING,
    START,
    Event,
    EventColumn,
    Group,
    Verb,
)
from collab_overcooked.games.collab_overcooked.engine.macro_actions import named_by_row
from collab_overcooked.games.collab_overcooked.engine.rules import is_filling, named_by
from collab_overcooked.games.collab_overcooked.engine.step import OWN, TEAM, add_rewards
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.kernels.macro_actions import Outcome

ROOM = """
XXPXX
X 0 D
XIXSX
"""
ALONE = ROOM.replace("XXPXX", "XXPCX")
TWO_UTENSILS = """
XPXXXOX
X0   1X
XXIXSXX
"""
SHARED_POT = """
XXXXX
X0P1X
X I X
X   X
XXSXX
0 east
"""
GALLEY = """
XPXOX
I0X1S
X X X
XDXXX
"""  # the left cook has pot, ingredients and dishes, the right one oven and serving; x = 2 is shared
PLACES = {"level": "medium"}


def check(world: str, script: str, ends: str = "", *, steps: int | None = None, **expected: Any) -> Rollout:
    """Play a script; compare how the last picture ends and rows of the last step: events, labels, refusals, rewards."""
    rows = {name: expected.pop(name) for name in ("events", "labels", "refusals", "rewards") if name in expected}
    rollout = play(world, script, steps, **expected)
    assert {name: getattr(rollout, name)[-1] for name in rows} == rows
    assert rollout.last.endswith(ends)
    return rollout


def test_status_goes_from_empty_over_filling_and_cooking_to_ready_for_ever():
    rollout = play(ROOM + "0 north holds egg", "I start . . . .")
    pots = [" ".join(picture.split("\n")[4:]) for picture in rollout.pictures]  # started in step t, ready in state t+3
    assert pots[:4] == ["", "pot0 egg", "pot0 boiled_egg 1/3", "pot0 boiled_egg 2/3"]
    assert pots[4:] == ["pot0 boiled_egg ready"] * 3


@pytest.mark.parametrize("time", [1, 2, 5])
def test_tick_utensils_takes_the_time_of_the_recipe(time):
    recipes = {"pot": {"boiled_egg": {"inputs": ["egg"], "time": time}}}
    rollout = play(ROOM + "pot0 egg", "start" + " ." * 6, recipes=recipes)
    assert [picture.endswith("ready") for picture in rollout.pictures].index(True) == time


def test_tick_utensils_advances_all_alike_even_when_another_starts():
    world = "XOPCX\nX 0 X\nXIXSX\noven0 baked_corn 1/3\npot0 egg\nchopping_board0 corn_slices 2/3"
    after = "pot0 boiled_egg 1/3\noven0 baked_corn 2/3\nchopping_board0 corn_slices ready"
    check(world, "start", "0 north\n" + after)


def test_judge_start_of_two_in_one_step_apart():
    both = "0: start\n1: start"
    started = "pot0 boiled_egg 1/3\noven0 baked_corn 1/3"
    check(TWO_UTENSILS + "pot0 egg\noven0 corn", both, started, events=["START", "START"])
    wrong = {"events": ["START_WRONG"] * 2, "labels": ["cook(pot0)", "bake(oven0)"]}
    check(TWO_UTENSILS + "pot0 corn\noven0 egg", both, "1 north", **wrong)


def test_judge_start_destroys_wrong_contents_but_keeps_the_label_and_its_neighbours():
    check(ROOM + "pot0 egg, egg", "start", "0 north", events=["START_WRONG"], labels=["cook(pot0)"])
    check("XPPXX\nX0  X\nXIXSX\npot0 corn\npot1 egg", "start", "0 north\npot1 egg")


@pytest.mark.parametrize("contents", sorted(set(permutations(["corn", "bean", "bean"]))))
def test_find_recipe_in_any_order(contents):
    check(ROOM + "pot0 " + ", ".join(contents), "start", "pot0 bean_stew 1/3")


@pytest.mark.parametrize("contents", ["corn, bean", "corn, corn, bean", "bean, bean, bean", "corn", "egg, egg", "dish"])
def test_find_recipe_counts_duplicates(contents):
    check(ROOM + f"pot0 {contents}", "start", events=["START_WRONG"])


def test_find_recipe_looks_in_the_own_utensil_only():
    check(ALONE + "pot0 corn", "start", events=["START_WRONG"])
    check(ALONE + "0 east\nchopping_board0 corn", "E N start", events=["START"])


def test_apply_effect_a_start_judges_what_the_teammate_leaves_in_the_same_step():
    emptied = {"events": ["START_WRONG", "PICKUP"]}
    check(SHARED_POT + "1 west\npot0 egg", "0: start\n1: I(egg)", "0 east\n1 west holds egg", **emptied)
    world = SHARED_POT + "1 west holds bean\npot0 bean, corn"
    check(world, "0: start\n1: I", "pot0 bean_stew 1/3", events=["START", "PUT"])


def test_place_on_counter_keeps_the_dish():
    stew, lying = "bean_stew on a dish", "0 west\n(0,1) bean_stew on a dish"
    rollout = check(ROOM + f"0 north holds {stew}", "W W I", lying, labels=["place_obj_on_counter()"])
    check(rollout.last, "I", f"0 west holds {stew}")


def test_effect_at_counter_is_nothing_for_both_or_neither():
    nothing = {"events": [None], "refusals": ["NO_EFFECT"]}
    check(ROOM + "0 west holds egg\n(0,1) corn", "W I", **nothing)
    check(ROOM, "W W I", **nothing)


def test_pick_up_from_a_counter_ignores_the_named_item():
    check(ROOM + "0 west\n(0,1) corn", "W I(egg)", labels=["pickup(corn,counter)"])


def test_clear_tile_forgets_what_lay_there():
    rollout = play(ROOM + "0 west\n(0,1) bean_stew on a dish", "W I E S I W S I(egg) W I")
    assert rollout.last.endswith("(0,1) egg")  # no dish is left behind under the next thing
    assert rollout.labels_of(0)[:1] == ["pickup(bean_stew,counter)"]


def test_hold_what_the_dispenser_was_asked_for():
    for named in ("egg", "corn", "bean"):
        check(ROOM, f"W S I({named})", labels=[f"pickup({named},ingredient_dispenser)"])
    for token in ("I", "start", "I(egg)"):
        check(ROOM, f"E E {token}", "0 east holds dish", labels=["pickup(dish,dish_dispenser)"])


def test_effect_at_dispensers_needs_a_raw_name_and_an_empty_hand():
    for token in ("I", "start", "I(dish)", "I(boiled_egg)"):
        check(ROOM, f"W S {token}", events=[None], refusals=["NO_EFFECT"])
    for script in ("W S I(egg)", "E E I"):
        check(ROOM + "0 north holds egg", script, labels=[None])


def test_put_in_utensil_until_full_and_loses_the_dish():
    check(ROOM + "0 north holds egg\npot0 egg, corn", "I", "0 north\npot0 egg, corn, egg")
    full = "0 north holds egg\npot0 egg, corn, egg"
    check(ROOM + full, "I", full, labels=[None], refusals=["NO_EFFECT"])
    check(ROOM + "0 north holds bean_stew on a dish", "I I(bean_stew)", "0 north holds bean_stew")


@pytest.mark.parametrize(
    "facts",
    [
        *("0 north holds egg\npot0 boiled_egg 1/3", "0 north holds egg\npot0 boiled_egg ready"),
        *("0 north holds dish", "0 north holds dish\npot0 egg", "0 north holds dish\npot0 boiled_egg 2/3"),
    ],
)
def test_effect_with_full_hand_is_nothing_once_started_nor_for_a_dish_before_the_food_is_ready(facts):
    rollout = check(ROOM + facts, "I", events=[None])
    assert facts.split("\n")[0] in rollout.last


@pytest.mark.parametrize("utensil, food", [("P", "bean_stew"), ("P", "boiled_egg"), ("O", "baked_corn")])
def test_fill_dish_with_any_ready_food(utensil, food):
    name, world = {"P": "pot0", "O": "oven0"}[utensil], ROOM.replace("P", utensil) + "0 north holds "
    label = f"fill_dish_with_food({name})"
    check(world + f"dish\n{name} {food} ready", "I", f"0 north holds {food} on a dish", labels=[label])


def test_effect_at_utensil_starts_with_anything_in_hand_or_falls_back_to_the_hand():
    check(ROOM + "0 north holds dish\npot0 egg", "start", "0 north holds dish\npot0 boiled_egg 1/3")
    check(ROOM + "0 north holds egg", "start", events=["PUT"])
    check(ROOM + "0 north holds dish\npot0 boiled_egg ready", "start", events=["FILL"])
    check(ROOM + "pot0 boiled_egg ready", "start", events=["PICKUP"])
    check(ROOM + "pot0 boiled_egg 1/3", "start", events=[None])
    check(ROOM, "start", events=[None])


def test_effect_with_empty_hand_lifts_ready_food_whatever_is_named():
    for token in ("I", "I(boiled_egg)", "I(corn)"):
        lifted = {"labels": ["pickup(boiled_egg,pot0)"]}
        check(ROOM + "pot0 boiled_egg ready", token, "0 north holds boiled_egg", **lifted)
    for timer in (1, 2):
        check(ROOM + f"pot0 boiled_egg {timer}/3", "I(boiled_egg)", events=[None])


def test_take_back_an_item_makes_room_for_another():
    rollout = play(ROOM + "pot0 corn, egg, bean", "I(egg) I I(corn) W S I E N")
    assert rollout.pictures[1].endswith("0 north holds egg\npot0 corn, bean")
    assert rollout.pictures[2].endswith("0 north\npot0 corn, bean, egg")
    assert rollout.pictures[3].endswith("0 north holds corn\npot0 bean, egg")


def test_find_content_takes_one_of_equals_and_nothing_that_is_not_there():
    check(ROOM + "pot0 bean, corn, bean", "I(bean)", "0 north holds bean\npot0 corn, bean")
    check(ROOM + "pot0 bean", "I(bean)", "0 north holds bean")
    for token in ("I(egg)", "I"):
        check(ROOM + "pot0 bean, corn", token, events=[None])


@pytest.mark.parametrize(
    "held, order", [("boiled_egg", "boiled_egg"), ("bean_stew on a dish", "bean_stew"), ("egg",) * 2]
)
def test_deliver_pays_the_order(held, order):
    paid = {"events": ["DELIVER"], "rewards": [20.0], "labels": ["deliver()"]}
    assert check(ROOM + f"0 north holds {held}", "E S I", orders=(order,), **paid).over


@pytest.mark.parametrize(
    "held, order",
    [
        ("bean_stew", "bean_stew"),  # needs a dish
        ("boiled_egg on a dish", "boiled_egg"),  # goes without one
        ("corn_slices", "boiled_egg"),
        ("egg", "boiled_egg"),
    ],
)
def test_effect_at_serving_removes_wrong_food_without_pay(held, order):
    wrong = {"events": ["DELIVER_WRONG"], "rewards": [0.0], "labels": ["deliver()"]}
    assert not check(ALONE + f"0 north holds {held}", "E S I", "0 south", orders=(order,), **wrong).over


def test_effect_at_serving_is_nothing_for_a_dish_or_an_empty_hand():
    check(ROOM + "0 north holds dish", "E S I", events=[None])
    check(ROOM, "E S I", events=[None])


def test_deliver_takes_the_first_order_off_the_list():
    rollout = play(ROOM + "0 north holds egg", "E S I", orders=("egg", "corn", "egg"))
    assert (rollout.scene["orders"], rollout.over) == (["corn", "egg"], False)
    wrong = play(ROOM + "0 north holds corn", "E S I", orders=("egg", "corn"))
    assert wrong.scene["orders"] == ["egg", "corn"]  # only the first order can be served


def test_add_rewards_to_the_team_and_to_who_acts():
    events = np.zeros((2, len(EventColumn)), np.int32)
    events[:, EventColumn.CODE] = Event.DELIVER, Event.PUT
    table, rewards = np.zeros((2, len(Event)), np.float32), np.full(2, 9, np.float32)
    table[TEAM, Event.DELIVER], table[OWN, Event.PUT] = 20, 3
    add_rewards(events, table, rewards)
    assert rewards.tolist() == [20.0, 23.0]


def test_deliver_rewards_every_agent():
    world = "XPXXXX\nX0  1X\nXIXXSX\n1 south holds boiled_egg"
    check(world, "1: I", recipes={"pot": {"boiled_egg": ["egg"]}}, rewards=[20.0, 20.0])


MANY = {"options": {"orders": True}}


def test_refill_orders_keeps_three_on_display_once_a_longer_list_is_down_to_three():
    rollout = play(ROOM + "0 north holds egg", "E S I", orders=("egg", "corn"), **MANY)
    assert rollout.scene["orders"][0] == "corn" and len(rollout.scene["orders"]) == 3
    assert not rollout.over
    rollout = play(ROOM + "0 north holds egg", "E S I", orders=("egg", "corn", "bean", "egg", "egg"), **MANY)
    assert rollout.scene["orders"] == ["corn", "bean", "egg", "egg"]


def test_draw_task_by_weight():
    weights = {"options": {"orders": {"egg": 3.0, "corn": 1.0}}}
    rollouts = [play(ROOM, "", steps=0, orders=("egg",), seed=seed, **weights) for seed in range(200)]
    first = [rollout.scene["orders"] for rollout in rollouts]
    assert all(orders[0] == "egg" and set(orders) <= {"egg", "corn"} for orders in first)
    assert 255 <= sum(orders[1:].count("egg") for orders in first) <= 345  # 300 expected, standard deviation 9


def test_interact_in_turn_lets_the_second_agent_see_what_the_first_did():
    world = "XXXXX\nX0X1X\nX I X\nXS  X\nXXXXX\n"
    handed = ["place_obj_on_counter()", "pickup(egg,counter)"]
    check(world + "0 east holds egg\n1 west", "0: I\n1: I(egg)", labels=handed)
    check(world + "0 east\n1 west holds egg", "0: I\n1: I", labels=[None, "place_obj_on_counter()"])


def test_interact_never_moves_or_turns_and_uses_the_old_facing():
    rollout = play(ROOM + "0 east holds egg", "I I I")
    assert rollout.last == rollout.pictures[0]
    rollout = play("XXXXX\nX0 1X\nXIXSX\n0 south", "0: I(egg) E\n1: W W")
    assert rollout.labels[0] == ["pickup(egg,ingredient_dispenser)", None]


def test_faced_station_is_nothing_on_open_floor_and_for_those_who_may_not_use_it():
    check(ROOM + "0 west", "I", refusals=["NO_EFFECT"])
    world = "XXPXX\nX 01X\nXIXSX\n0 north holds egg"
    check(world, "0: I", stations={"P": {"users": [1]}}, events=[None, None], refusals=["NO_EFFECT", None])
    check(world, "0: I", stations={"P": {"users": [0]}}, events=["PUT", None])


def test_move_agents_walks_onto_floor_and_only_turns_at_tiles():
    rollout = play(ROOM, "W W N E")
    steps = [(picture.split("\n")[1], picture.split("\n")[3]) for picture in rollout.pictures]
    assert steps[:3] == [("X 0 D", "0 north"), ("X0  D", "0 west"), ("X0  D", "0 west")]
    assert steps[3:] == [("X0  D", "0 north"), ("X 0 D", "0 east")]


CORRIDOR = """
XXXXXXX
X{}X
XXIXSXX
"""


@pytest.mark.parametrize(
    "before, moves, after",
    [
        ("0 1  ", "EW", "0 1  "),  # both want the cell between them
        (" 01  ", "EW", " 01  "),  # they want each other's cells
        (" 01  ", "EE", "  01 "),  # a chain moves as one
        (" 01  ", "E.", " 01  "),  # somebody stands there
        (" 01  ", "WW", "01   "),
        ("0  1 ", "EW", " 01  "),
        ("012  ", "EEE", " 012 "),
        ("012  ", "EE.", "012  "),  # the chain is held up by its head
        ("01 2 ", "EEW", "01 2 "),  # and by a collision further ahead
        ("01 2 ", "EE.", " 012 "),
        ("0 12 ", "EEW", " 012 "),  # a swap fails beside somebody who walks
    ],
)
def test_move_agents_collisions_swaps_and_chains(before, moves, after):
    script = "\n".join(f"{i}: {move}" for i, move in enumerate(moves))
    rollout = play(CORRIDOR.format(before), script)
    assert rollout.last.split("\n")[1] == f"X{after}X"
    facings = {"E": "east", "W": "west", ".": "north"}
    assert rollout.last.split("\n")[3:] == [f"{i} {facings[move]}" for i, move in enumerate(moves)]  # all turn


def test_move_agents_three_want_one_cell():
    world = "XXXXX\nXX0XX\nX1 2X\nXISXX\nXXXXX"
    assert play(world, "0: S\n1: E\n2: W").last.startswith(world)  # nobody is let through


@pytest.mark.parametrize(
    "facts, token, reason",
    [
        ("pot0 bean_stew 1/3", "pickup(bean_stew,pot0)", "PICK_COOKING"),
        ("pot0 bean_stew ready", "pickup(bean_stew,pot0)", "PICK_NEEDS_DISH"),
        ("", "pickup(bean_stew,pot0)", "PICK_NEEDS_DISH"),
        ("", "pickup(egg,counter)", "PICK_NOT_ON_COUNTER"),
        ("(4,2) egg", "pickup(egg,counter)", "PICK_NOT_ON_COUNTER"),  # lies where the other cook alone can reach
        ("oven0 baked_corn ready", "pickup(baked_corn,oven0)", "PICK_UNREACHABLE"),
        ("0 north holds egg", "pickup(corn,ingredient_dispenser)", "PICK_HANDS_FULL"),
        ("0 north holds egg\n(2,1) corn", "pickup(corn,counter)", "PICK_HANDS_FULL"),
        ("", "pickup(boiled_egg,pot0)", "PICK_NOT_IN_UTENSIL"),
        ("pot0 egg", "pickup(egg,pot0)", "PICK_NOT_IN_UTENSIL"),  # what was put in stays in
        ("pot0 boiled_egg ready", "pickup(boiled_egg,pot0)", None),
        ("(2,1) egg", "pickup(egg,counter)", None),
        ("", "pickup(dish,dish_dispenser)", None),
    ],
)
def test_check_pickup(facts, token, reason):
    check(GALLEY + facts, f"0: {token}", steps=1, refusals=[reason, None], **PLACES)


def test_check_pickup_from_a_dispenser_of_others():
    chefs = [None, "PICK_UNREACHABLE"]
    check(GALLEY, "1: pickup(egg,ingredient_dispenser)", steps=1, refusals=chefs, **PLACES)


@pytest.mark.parametrize(
    "facts, token, reason",
    [
        ("0 north holds egg\npot0 boiled_egg 1/3", "put_obj_in_utensil(pot0)", "PUT_COOKING"),
        ("0 north holds egg\npot0 boiled_egg ready", "put_obj_in_utensil(pot0)", "PUT_READY"),
        ("0 north holds egg", "put_obj_in_utensil(oven0)", "PUT_UNREACHABLE"),
        ("", "put_obj_in_utensil(pot0)", "PUT_EMPTY_HANDED"),
        ("0 north holds dish", "put_obj_in_utensil(pot0)", "PUT_DISH"),
        ("0 north holds egg\npot0 egg, egg, egg", "put_obj_in_utensil(pot0)", "PUT_FULL"),
        ("0 north holds egg\npot0 egg, egg", "put_obj_in_utensil(pot0)", None),
        ("0 north holds bean_stew on a dish", "put_obj_in_utensil(pot0)", None),
    ],
)
def test_check_put(facts, token, reason):
    check(GALLEY + facts, f"0: {token}", steps=1, refusals=[reason, None], **PLACES)


@pytest.mark.parametrize(
    "facts, reason",
    [
        ("", "PLACE_EMPTY_HANDED"),
        ("0 north holds egg", None),
        ("0 north holds egg\n(0,2) egg\n(2,1) egg\n(2,2) egg", "PLACE_NO_COUNTER"),  # corners do not count
        ("0 north holds egg\n(2,1) egg\n(2,2) egg", None),
    ],
)
def test_check_place(facts, reason):
    check(GALLEY + facts, "0: place_obj_on_counter()", steps=1, refusals=[reason, None], **PLACES)


@pytest.mark.parametrize(
    "order, facts, token, reason",
    [
        ("boiled_egg", "0 north holds dish\npot0 bean_stew ready", "fill_dish_with_food(pot0)", "FILL_NOT_NEEDED"),
        ("bean_stew", "pot0 bean_stew ready", "fill_dish_with_food(pot0)", "FILL_NO_DISH"),
        ("bean_stew", "0 north holds egg\npot0 bean_stew ready", "fill_dish_with_food(pot0)", "FILL_NO_DISH"),
        ("bean_stew", "0 north holds dish", "fill_dish_with_food(pot0)", "FILL_NOT_READY"),
        ("bean_stew", "0 north holds dish\npot0 bean, bean, corn", "fill_dish_with_food(pot0)", "FILL_NOT_READY"),
        ("bean_stew", "0 north holds dish\noven0 baked_corn 1/3", "fill_dish_with_food(oven0)", "FILL_UNREACHABLE"),
        ("bean_stew", "0 north holds dish\npot0 bean_stew 1/3", "fill_dish_with_food(pot0)", None),
        ("bean_stew", "0 north holds dish\npot0 boiled_egg ready", "fill_dish_with_food(pot0)", None),
    ],
)
def test_check_fill(order, facts, token, reason):
    check(GALLEY + facts, f"0: {token}", steps=1, orders=(order,), refusals=[reason, None], **PLACES)


@pytest.mark.parametrize(
    "seat, facts, reason",
    [
        (1, "", "DELIVER_EMPTY_HANDED"),
        (1, "1 north holds dish", "DELIVER_NOT_FINISHED"),
        (1, "1 north holds bean_stew", "DELIVER_NOT_FINISHED"),
        (1, "1 north holds boiled_egg on a dish", "DELIVER_NOT_FINISHED"),
        (1, "1 north holds bean_stew on a dish", None),  # may be ordered, though it is not the order now
        (1, "1 north holds boiled_egg", None),
        (0, "0 north holds boiled_egg", "DELIVER_UNREACHABLE"),
    ],
)
def test_check_deliver(seat, facts, reason):
    rollout = play(GALLEY + facts, f"{seat}: deliver()", steps=1, **PLACES)
    assert rollout.refusals[0][seat] == reason


def test_check_deliver_refuses_food_that_is_never_ordered():
    menu = {"serving": {"plain": ["boiled_egg"]}, "tasks": {"boiled_egg": {"level": 1}}}
    never = [None, "DELIVER_NOT_FINISHED"]
    check(GALLEY + "1 north holds corn", "1: deliver()", steps=1, refusals=never, **menu, **PLACES)


@pytest.mark.parametrize(
    "facts, token, reason",
    [
        ("oven0 corn", "bake(oven0)", "OP_UNREACHABLE"),
        ("", "cook(pot0)", "OP_EMPTY"),
        ("pot0 boiled_egg 1/3", "cook(pot0)", "OP_BUSY"),
        ("pot0 boiled_egg ready", "cook(pot0)", "OP_BUSY"),
        ("0 north holds egg\npot0 egg", "cook(pot0)", "OP_HANDS_FULL"),
        ("pot0 egg", "cook(pot0)", None),
        ("pot0 corn", "cook(pot0)", None),  # wrong contents are found out at the start only
    ],
)
def test_check_operate(facts, token, reason):
    check(GALLEY + facts, f"0: {token}", steps=1, refusals=[reason, None], **PLACES)


def test_check_action_busy_agents_can_only_continue():
    rollout = play(GALLEY, "0: wait(3)", steps=1, **PLACES)
    rollout.step([rollout.game.parse("wait(1)"), rollout.game.parse("continue")])
    assert rollout.refusals[1] == ["BUSY", "NOT_BUSY"]
    assert rollout.last.endswith("0 north does wait(3) 1\n1 north")  # the wait runs on


def test_judge_choice_refuses_numbers_beyond_the_catalogue():
    rollout = play(GALLEY, "", steps=0, **PLACES)
    catalogue = rollout.game.compiled.tables.catalogue
    rollout.step([len(catalogue), len(catalogue) - 1])  # the last row takes from a utensil what is not in it
    assert rollout.refusals == [["NO_SUCH_ACTION", "PICK_NOT_IN_UTENSIL"]]
    assert rollout.last == rollout.pictures[0]


@pytest.mark.parametrize("facts, usable", [("", True), ("0 north holds egg", False)])
def test_can_use_and_finds_on_counter_decide_the_mask(facts, usable):
    rollout = play(GALLEY + facts + "\n(2,1) corn\n(4,2) bean", "", steps=0, **PLACES)
    rollout.step([rollout.game.parse("wait(1)")] * 2)
    legal = {rollout.game.action_texts()[a] for a in rollout.out.masks[0, 0].nonzero()[0]}
    assert ("pickup(corn,counter)" in legal) == usable
    assert ("pickup(corn,ingredient_dispenser)" in legal) == usable
    assert "pickup(bean,counter)" not in legal


def test_start_macro_actions_judges_all_on_the_same_moment():
    late = {"refusals": [None, "PICK_NOT_ON_COUNTER"], "labels": ["place_obj_on_counter()", None]}  # not there yet
    check(GALLEY + "0 east holds egg", "0: place_obj_on_counter()\n1: pickup(egg,counter)", steps=1, **late, **PLACES)


def test_start_macro_actions_a_refused_action_costs_the_step():
    rollout = play(GALLEY, "0: deliver()", steps=1, **PLACES)
    assert rollout.last == rollout.pictures[0]
    assert rollout.scene["timestep"] == 1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_is_done_wait_takes_its_number_of_steps(n):
    rollout = play(GALLEY, f"0: wait({n}) deliver()", steps=n + 1, **PLACES)
    assert [row[0] for row in rollout.refusals] == [None] * n + ["DELIVER_EMPTY_HANDED"]
    assert [row[0] for row in rollout.ended] == [0] * (n - 1) + [1, 0]


def test_is_done_at_once_when_the_hand_shows_it():
    rollout = play(
        GALLEY + "0 west", "0: pickup(egg,ingredient_dispenser) put_obj_in_utensil(pot0) cook(pot0)", **PLACES
    )
    assert rollout.labels_of(0) == ["pickup(egg,ingredient_dispenser)", "put_obj_in_utensil(pot0)", "cook(pot0)"]
    assert len(rollout.labels) == 1 + 2 + 1  # interact; turn, interact; interact
    assert rollout.last.endswith("pot0 boiled_egg 1/3")


def test_is_done_an_operation_ends_with_its_wrong_contents():
    rollout = play(GALLEY + "pot0 corn", "0: cook(pot0) wait(1)", **PLACES)
    assert rollout.events_of(0) == ["START_WRONG"]
    assert len(rollout.labels) == 2


def test_is_done_looks_at_the_own_utensil_only():
    world = GALLEY + "0 south\npot0 egg\noven0 egg\n1 north"
    rollout = play(world, "0: cook(pot0)\n1: bake(oven0)", **PLACES)
    assert rollout.events == [[None, "START_WRONG"], ["START", None]]  # another's mistake does not end my action


def test_is_done_fill_waits_while_the_food_is_cooking():
    world = GALLEY + "0 north holds dish\npot0 bean_stew 1/3"
    rollout = play(world, "0: fill_dish_with_food(pot0)", orders=("bean_stew",), **PLACES)
    assert [row[0] for row in rollout.events] == [None, None, "FILL"]
    assert rollout.last.endswith("0 north holds bean_stew on a dish\n1 north")


def test_step_macro_actions_walk_and_interact_one_step_each():
    dish = "pickup(dish,dish_dispenser)"
    rollout = play(GALLEY + "0 south", f"0: {dish}", **PLACES)
    steps = [picture.split("\n")[4] for picture in rollout.pictures]
    assert steps == ["0 south", f"0 south does {dish} -1", "0 south holds dish"]
    assert len(play(GALLEY, "0: pickup(egg,ingredient_dispenser)", **PLACES).labels) == 2


def test_named_by_row_is_the_item_of_a_pickup_and_the_start_of_an_operation():
    rows = [
        (Verb.PICKUP, 3, Group.COUNTER),
        (Verb.OPERATE, NOTHING, Group.UTENSIL),
        (Verb.PLACE, NOTHING, Group.COUNTER),
    ]
    assert [named_by_row(np.array(row)) for row in rows] == [3, START, NOTHING]


def test_step_macro_actions_fails_where_somebody_took_the_goal():
    world = "XXPXX\nX0  X\nX I1X\nXSX X\nXXXXX\n(4,2) egg\n1 east"
    rollout = play(world, "0: pickup(egg,counter)\n1: pickup(egg,counter)", **PLACES)
    assert rollout.labels_of(1) == ["pickup(egg,counter)"] and rollout.labels_of(0) == []
    assert Outcome.FAILED in [row[0] for row in rollout.ended] and "does" not in rollout.last


def test_step_macro_actions_fails_when_every_counter_is_taken_on_the_way():
    world = GALLEY + "0 north holds egg\n1 west holds corn\n(0,2) bean\n(2,2) bean\n(4,2) bean"
    rollout = play(world, "0: place_obj_on_counter()\n1: place_obj_on_counter()", **PLACES)
    assert rollout.labels_of(1) == ["place_obj_on_counter()"]
    assert [row[0] for row in rollout.ended] == [0, Outcome.FAILED]
    assert "0 east holds egg\n" in rollout.last + "\n"


def test_end_macro_actions_gives_up_after_stuck_limit_steps_without_change():
    world = GALLEY + "0 north holds dish\npot0 bean_stew 1/9"
    rollout = play(world, "0: fill_dish_with_food(pot0)", orders=("bean_stew",), stuck_limit=3, **PLACES)
    assert [row[0] for row in rollout.ended] == [0, 0, Outcome.INTERRUPTED]
    patient = play(world, "0: fill_dish_with_food(pot0)", orders=("bean_stew",), stuck_limit=0, **PLACES)
    assert [row[0] for row in patient.ended] == [0] * 8 + [1]


def test_end_macro_actions_never_gives_a_wait_up():
    rollout = play(GALLEY, "0: wait(5)", stuck_limit=2, **PLACES)
    assert [row[0] for row in rollout.ended] == [0, 0, 0, 0, 1]


SHELF = """
XXXXXXX
X  0  X
XXIXSXX
"""


@pytest.mark.parametrize(
    "facts, script, ends",
    [
        ("(5,0) egg\n(2,0) egg", "pickup(egg,counter)", "0 north holds egg\n(5,0) egg"),
        ("(2,0) egg\n(4,0) egg", "pickup(egg,counter)", "holds egg\n(4,0) egg"),  # what was placed first
        ("(4,0) egg\n(2,0) egg", "pickup(egg,counter)", "holds egg\n(2,0) egg"),
        ("0 south holds egg\n(3,0) corn\n(3,2) corn", "place_obj_on_counter()", "(2,0) egg"),  # then in scan order
    ],
)
def test_nearest_goal_wins(facts, script, ends):
    check(SHELF + facts, script, ends, **PLACES)


def test_preferred_access_picks_up_from_own_counters_and_places_on_shared_ones_first():
    rollout = check(GALLEY + "(2,1) egg\n(0,2) egg\n0 east", "0: pickup(egg,counter)", "(2,1) egg", **PLACES)
    assert len(rollout.labels) == 3  # it faces the shared one, but walks to its own
    check(GALLEY + "0 south holds egg", "0: place_obj_on_counter()", "(2,1) egg", **PLACES)
    full = "0 west holds egg\n(2,1) corn\n(2,2) corn"
    check(GALLEY + full, "0: place_obj_on_counter()", "(0,2) egg", **PLACES)


def test_preferred_access_places_where_most_can_use_it():
    world = "XXXXPX\nI0 X2S\nX1 X X\nXXXXXX\n0 north holds egg"  # not before 0, where only 0 and 1 can use it
    check(world, "0: place_obj_on_counter()", "(3,1) egg", **PLACES)


def test_is_target_an_own_counter_without_the_object_is_none():
    check(GALLEY + "(2,2) egg\n(0,2) corn", "0: pickup(egg,counter)", "(0,2) corn", **PLACES)


@pytest.mark.parametrize("row, steps", [("X0   X", 6), ("X0 1 X", 8)])
def test_flood_around_a_teammate_who_stands_in_the_short_way(row, steps):
    """Three east, north, turn, interact; else two north, three east, south, turn, interact: never a chance move."""
    world = f"XXXXXX\nX    X\nX XX P\n{row}\nXIXSXX\n0 south holds egg"
    rollout = play(world, "0: put_obj_in_utensil(pot0)", **PLACES)
    assert (len(rollout.labels), rollout.last.split("\n")[2]) == (steps, "X XX0P")


DOORWAY = """
XXXXXXX
X0 X  X
X  1  P
XI XS X
XXXXXXX
0 south holds egg
"""


def test_choose_primitive_waits_or_pushes_on_by_chance_when_blocked():
    stayed = 0
    for seed in range(120):
        rollout = play(DOORWAY, "0: put_obj_in_utensil(pot0)", steps=1, seed=seed, **PLACES)
        row = rollout.last.split("\n")[1]
        assert row in ("X0 X  X", "X 0X  X", "X  X  X")
        stayed += row == "X0 X  X"
    assert 40 <= stayed <= 80


def test_choose_primitive_draws_only_when_blocked():
    def draws(world: str) -> int:
        return int(play(world, "0: put_obj_in_utensil(pot0)", steps=1, **PLACES).state.rng[0, 2])

    assert draws(DOORWAY) == 1
    assert draws(DOORWAY.replace("X0 X  X", "X0 X1 X").replace("X  1  P", "X     P")) == 0


def outcomes_of_seeds(world: str, script: str, **where: Any) -> set[str]:
    return {play(world, script, steps=1, seed=seed, **where).last for seed in range(16)}


def test_games_whose_seats_may_draw_are_not_deterministic():
    """An agent behind a teammate draws, and in the original one without a goal."""
    script = "0: put_obj_in_utensil(pot0)"
    assert len(outcomes_of_seeds(DOORWAY, script, **PLACES)) == 2
    assert not play(DOORWAY, script, steps=1, **PLACES).game.deterministic
    lost, script = GALLEY + "0 north holds boiled_egg", "0: deliver()"
    assert len(outcomes_of_seeds(lost, script, **BUSY_GALLEY)) == 2
    assert not play(lost, script, steps=1, **BUSY_GALLEY).game.deterministic


@pytest.mark.parametrize(
    ("options", "is_deterministic"),
    [
        ({}, True),  # agents on separate floors
        ({"kitchen": "shared_floor"}, False),
        ({"kitchen": "shared_floor", "action_level": "agent_0=low,agent_1=medium"}, False),
        ({"kitchen": "shared_floor", "action_level": "low"}, True),
        ({"preset": "original"}, False),
        ({"preset": "original", "action_level": "low"}, True),
        ({"level": 1}, False),
    ],
)
def test_deterministic_by_options(options, is_deterministic):
    assert CollabOvercooked(**options).deterministic == is_deterministic


def test_choose_primitive_gets_through_once_the_door_is_free():
    rollout = play(DOORWAY, "0: put_obj_in_utensil(pot0)\n1: wait(4) pickup(egg,ingredient_dispenser)", **PLACES)
    assert rollout.labels_of(0) == ["put_obj_in_utensil(pot0)"]
    assert rollout.labels_of(1) == ["pickup(egg,ingredient_dispenser)"]


def test_choose_primitives_names_what_an_interact_concerns():
    texts = play(ROOM, "I").game.action_texts()
    assert texts[:8] == ["north", "south", "east", "west", "stay", "interact", "start", "interact(dish)"]
    check(ROOM + "pot0 egg", "I(egg)", events=["PICKUP"])
    check(ROOM + "pot0 egg", "start", events=["START"])


def test_named_by_action_is_nothing_a_start_or_an_item():
    assert [named_by(action) for action in (5, 6, 7, 12)] == [NOTHING, START, DISH, 5]


def test_refuse_idle_interacts_but_never_moves():
    rollout = play(ROOM, "I W W . N")
    assert rollout.refusals == [["NO_EFFECT"], [None], [None], [None], [None]]


@pytest.mark.parametrize(
    "facts, token, item",
    [
        ("0 north holds egg", "I", "egg"),
        ("pot0 egg", "I(egg)", "egg"),
        ("0 north holds dish\npot0 boiled_egg ready", "I", "boiled_egg"),
        ("pot0 egg", "start", None),
        ("0 south holds egg", "I", "egg"),
    ],
)
def test_concerned_item_of_every_event(facts, token, item):
    rollout = play("XXPXX\nX 0 D\nXIXSX\n" + facts, token)
    assert rollout.game.events(rollout.out, 0)[0]["item"] == item


ORIGINAL = {"options": {"preset": "original"}}
BUSY_GALLEY = {**PLACES, **ORIGINAL}


@pytest.mark.parametrize("utensil, food", [("P", "boiled_egg"), ("O", "baked_corn")])
def test_effect_with_dish_is_logged_as_a_put_by_the_original_but_at_pots(utensil, food):
    """E2 of the deviations: plating from an oven is logged as a put, and so is coming too early."""
    world = ROOM.replace("P", utensil)
    name = {"P": "pot0", "O": "oven0"}[utensil]
    early = play(world + f"0 north holds dish\n{name} {food} 1/3", "I I I", **ORIGINAL)
    put = f"put_obj_in_utensil({name})"
    assert early.labels_of(0) == ([f"fill_dish_with_food({name})"] if utensil == "P" else [put, put, put])
    assert early.events_of(0) == (["FILL"] if utensil == "P" else ["PUT_NO_EFFECT", "PUT_NO_EFFECT", "FILL_AS_PUT"])
    assert early.last == drawn(world + f"0 north holds {food} on a dish")


@pytest.mark.parametrize("contents", ["", "\noven0 corn"])
def test_effect_with_dish_is_nothing_before_the_start_in_the_original_too(contents):
    check(ROOM.replace("P", "O") + "0 north holds dish" + contents, "I", events=[None], **ORIGINAL)


def test_is_filling_whatever_the_log_calls_it():
    assert [code for code in Event if is_filling(code)] == [Event.FILL, Event.FILL_AS_PUT]


FULL_POT = GALLEY + "0 north holds egg\npot0 egg, egg, egg"


def test_effect_with_full_hand_is_logged_at_a_full_utensil_by_the_original():
    """E3 of the deviations: nothing moves, a put is logged in every step, and the action never ends."""
    rollout = play(FULL_POT, "0: put_obj_in_utensil(pot0)", steps=4, **BUSY_GALLEY)
    assert rollout.refusals_of(0) == []
    assert rollout.labels_of(0) == ["put_obj_in_utensil(pot0)"] * 4
    assert rollout.events_of(0) == ["PUT_NO_EFFECT"] * 4
    assert rollout.last.split("\n")[4] == "0 north holds egg does put_obj_in_utensil(pot0) -4"


def test_has_changed_counts_no_put_that_moves_nothing():
    options = {"options": {**ORIGINAL["options"], "stuck_limit": 3}}
    rollout = play(FULL_POT, "0: put_obj_in_utensil(pot0)", steps=3, **PLACES, **options)
    assert [row[0] for row in rollout.ended] == [0, 0, Outcome.INTERRUPTED]
    walked = play(GALLEY + "0 south holds egg", "0: put_obj_in_utensil(pot0)", options={"stuck_limit": 1}, **PLACES)
    assert walked.labels_of(0) == ["put_obj_in_utensil(pot0)"], "turning and putting are changes"


@pytest.mark.parametrize(
    "held, reason",
    [
        ("0 north holds boiled_egg", None),
        ("0 north holds boiled_egg on a dish", None),
        ("0 north holds potato_egg", None),  # names on the original's list are parts of these
        ("0 north holds egg", "DELIVER_NOT_FINISHED"),
        ("0 north holds dish", "DELIVER_NOT_FINISHED"),
        ("0 north", "DELIVER_EMPTY_HANDED"),
    ],
)
def test_check_deliver_of_the_original_asks_for_a_part_of_the_name_only(held, reason):
    """C2 and C3 of the deviations; cook 0 cannot reach the serving station."""
    menu = {
        "recipes": {"pot": {"boiled_egg": ["egg"], "potato_egg": ["egg", "egg"]}, "oven": {"baked_corn": ["corn"]}},
        "serving": {"plain": ["boiled_egg"]},
        "tasks": {"boiled_egg": {"level": 1}},
    }
    check(GALLEY + held, "0: deliver()", steps=1, refusals=[reason, None], **menu, **BUSY_GALLEY)


def test_checks_of_the_original_do_not_ask_for_reach_or_a_counter():
    stew = {"orders": ("bean_stew",), **BUSY_GALLEY}
    fill = "0: fill_dish_with_food(oven0)"
    check(GALLEY + "0 north holds dish\noven0 baked_corn 1/3", fill, steps=1, refusals=[None, None], **stew)
    full = GALLEY + "0 north holds egg\n(0,2) egg\n(2,1) egg\n(2,2) egg"
    check(full, "0: place_obj_on_counter()", steps=1, refusals=[None, None], **BUSY_GALLEY)


@pytest.mark.parametrize("seed", range(4))
def test_drag_on_stays_or_becomes_a_wait_of_two_steps(seed):
    """An action without a goal: each step the toss of a coin decides."""
    rollout = play(GALLEY + "0 north holds boiled_egg", "0: deliver()", steps=12, seed=seed, **BUSY_GALLEY)
    doing = [picture.split("\n")[4].partition(" does ")[2] for picture in rollout.pictures]
    waiting = doing.index("wait(1) 1")
    assert all(text.startswith("deliver() ") for text in doing[1:waiting])
    assert doing[waiting + 1] == "", "free after the second step of the wait"
    assert [row[0] for row in rollout.ended][:waiting] == [0] * waiting
    assert rollout.labels_of(0) == []


def test_drag_on_takes_either_side_of_the_coin():
    waits = set()
    for seed in range(16):
        rollout = play(GALLEY + "0 north holds boiled_egg", "0: deliver()", steps=1, seed=seed, **BUSY_GALLEY)
        waits.add(rollout.last.split("\n")[4])
    held = "0 north holds boiled_egg does"
    assert waits == {f"{held} deliver() -1", f"{held} wait(1) 1"}


def test_spoils_starts_a_wrong_start_of_the_teammate_ends_mine_in_the_original():
    """C12 of the deviations; test_is_done_looks_at_the_own_utensil_only has the fixed rule."""
    world = GALLEY + "0 south\npot0 egg\noven0 egg\n1 north"
    rollout = play(world, "0: cook(pot0)\n1: bake(oven0)", **BUSY_GALLEY)
    assert rollout.events == [[None, "START_WRONG"]]
    assert rollout.ended[0] == [Outcome.DONE, Outcome.DONE]
    assert rollout.last.split("\n")[4:6] == ["0 north", "1 north"] and rollout.last.endswith("pot0 egg")


def test_is_filled_in_the_original_with_the_order_only():
    """Other food on the dish goes back into the utensil, without the dish, and the agent is stuck."""
    fill, orders = "fill_dish_with_food(pot0)", ("bean_stew",)
    world = GALLEY + "0 north holds dish\npot0 boiled_egg ready"
    rollout = play(world, f"0: {fill}", steps=5, orders=orders, **BUSY_GALLEY)
    assert [row[0] for row in rollout.events] == ["FILL", "PUT", None, None, None]
    assert rollout.last.split("\n")[4:] == [f"0 north does {fill} -5", "1 north", "pot0 boiled_egg"]
