"""Every rule of the kitchen as a picture; see ``pictures.py`` for how to read one."""

from __future__ import annotations

from itertools import permutations

import pytest
from games.collab_overcooked.world import Film, drawn, play

from collab_overcooked.games.collab_overcooked.engine.constants import DISH, NOTHING, START, Event
from collab_overcooked.games.collab_overcooked.engine.rules import is_filling, named_by
from collab_overcooked.kernels.macro_actions import Outcome

ROOM = """
XXPXX
X 0 D
XIXSX
"""
ALONE = """
XXPCX
X 0 D
XIXSX
"""


# ------------------------------------------------------------------------------------------- utensils over time


def test_status_goes_from_empty_over_filling_and_cooking_to_ready_for_ever():
    film = play(ROOM + "0 north holds egg", "I start . . . .")
    pots = [picture.split("\n")[4:] for picture in film.pictures]
    assert pots == [
        [],
        ["pot0 egg"],
        ["pot0 boiled_egg 1/3"],  # the start of step t shows 1 in state t+1
        ["pot0 boiled_egg 2/3"],
        ["pot0 boiled_egg ready"],  # and is ready in state t+3
        ["pot0 boiled_egg ready"],
        ["pot0 boiled_egg ready"],
    ]


@pytest.mark.parametrize("time", [1, 2, 5])
def test_tick_utensils_takes_the_time_of_the_recipe(time):
    recipes = {"pot": {"boiled_egg": {"inputs": ["egg"], "time": time}}}
    film = play(ROOM + "pot0 egg", "start" + " ." * 6, recipes=recipes)
    ready = [picture.endswith("ready") for picture in film.pictures]
    assert ready.index(True) == time


def test_tick_utensils_advances_all_alike_even_when_another_starts():
    world = """
    XOPCX
    X 0 X
    XIXSX
    oven0 baked_corn 1/3
    pot0 egg
    chopping_board0 corn_slices 2/3
    """
    assert play(world, "start").last == drawn("""
    XOPCX
    X 0 X
    XIXSX
    0 north
    pot0 boiled_egg 1/3
    oven0 baked_corn 2/3
    chopping_board0 corn_slices ready
    """)


def test_tick_utensils_judges_two_starts_in_one_step_apart():
    world = """
    XPXXXOX
    X0   1X
    XXIXSXX
    pot0 egg
    oven0 corn
    """
    film = play(world, "0: start\n1: start")
    assert film.events == [["START", "START"]]
    assert film.last.endswith("pot0 boiled_egg 1/3\noven0 baked_corn 1/3")


def test_tick_utensils_destroys_both_of_two_wrong_starts():
    world = """
    XPXXXOX
    X0   1X
    XXIXSXX
    pot0 corn
    oven0 egg
    """
    film = play(world, "0: start\n1: start")
    assert film.events == [["START_WRONG", "START_WRONG"]]
    assert film.labels == [["cook(pot0)", "bake(oven0)"]]
    assert "pot0" not in film.last and "oven0" not in film.last


def test_judge_start_destroys_wrong_contents_but_keeps_the_label():
    film = play(ROOM + "pot0 egg, egg", "start")
    assert (film.events, film.labels) == ([["START_WRONG"]], [["cook(pot0)"]])
    assert film.last == drawn(ROOM + "0 north")


def test_judge_start_of_one_utensil_leaves_its_neighbours_alone():
    world = """
    XPPXX
    X0  X
    XIXSX
    pot0 corn
    pot1 egg
    """
    assert play(world, "start").last.endswith("0 north\npot1 egg")


@pytest.mark.parametrize("contents", sorted(set(permutations(["corn", "bean", "bean"]))))
def test_find_recipe_in_any_order(contents):
    film = play(ROOM + "pot0 " + ", ".join(contents), "start")
    assert film.last.endswith("pot0 bean_stew 1/3")


@pytest.mark.parametrize("contents", ["corn, bean", "corn, corn, bean", "bean, bean, bean", "corn", "egg, egg", "dish"])
def test_find_recipe_counts_duplicates(contents):
    assert play(ROOM + f"pot0 {contents}", "start").events == [["START_WRONG"]]


def test_find_recipe_looks_in_the_own_utensil_only():
    assert play(ALONE + "pot0 corn", "start").events == [["START_WRONG"]]
    assert play(ALONE + "0 east\nchopping_board0 corn", "E N start").events == [[None], [None], ["START"]]


SHARED_POT = """
XXXXX
X0P1X
X I X
X   X
XXSXX
0 east
"""


def test_apply_effect_a_start_that_a_teammate_empties_in_the_same_step():
    film = play(SHARED_POT + "1 west\npot0 egg", "0: start\n1: I(egg)")
    assert film.events == [["START_WRONG", "PICKUP"]]
    assert film.last == drawn(SHARED_POT + "1 west holds egg")


def test_apply_effect_a_start_that_a_teammate_completes_in_the_same_step():
    film = play(SHARED_POT + "1 west holds bean\npot0 bean, corn", "0: start\n1: I")
    assert film.events == [["START", "PUT"]]
    assert film.last.endswith("pot0 bean_stew 1/3")


# ------------------------------------------------------------------------------------------- counters and dispensers


def test_place_on_counter_keeps_the_dish():
    film = play(ROOM + "0 north holds bean_stew on a dish", "W W I")
    assert film.labels_of(0) == ["place_obj_on_counter()"]
    assert film.last == drawn("""
    XXPXX
    X0  D
    XIXSX
    0 west
    (0,1) bean_stew on a dish
    """)
    assert play(film.last, "I").last == drawn("""
    XXPXX
    X0  D
    XIXSX
    0 west holds bean_stew on a dish
    """)


def test_effect_at_counter_is_nothing_for_both_or_neither():
    full = play(ROOM + "0 west holds egg\n(0,1) corn", "W I")
    assert (full.events[1], full.refusals[1]) == ([None], ["NO_EFFECT"])
    empty = play(ROOM, "W W I")
    assert (empty.events[2], empty.refusals[2]) == ([None], ["NO_EFFECT"])


def test_pick_up_from_a_counter_ignores_the_named_item():
    film = play(ROOM + "0 west\n(0,1) corn", "W I(egg)")
    assert film.labels_of(0) == ["pickup(corn,counter)"]


def test_clear_tile_forgets_what_lay_there():
    film = play(ROOM + "0 west\n(0,1) bean_stew on a dish", "W I E S I W S I(egg) W I")
    assert film.last.endswith("(0,1) egg")  # no dish is left behind under the next thing
    assert film.labels_of(0)[:1] == ["pickup(bean_stew,counter)"]


@pytest.mark.parametrize("named", ["egg", "corn", "bean"])
def test_hold_the_raw_ingredient_that_the_dispenser_was_asked_for(named):
    assert play(ROOM, f"W S I({named})").labels_of(0) == [f"pickup({named},ingredient_dispenser)"]


@pytest.mark.parametrize("token", ["I", "start", "I(dish)", "I(boiled_egg)"])
def test_effect_at_the_ingredient_dispenser_is_nothing_without_a_raw_name(token):
    film = play(ROOM, f"W S {token}")
    assert (film.events[2], film.refusals[2]) == ([None], ["NO_EFFECT"])


def test_effect_at_dispensers_needs_an_empty_hand():
    assert play(ROOM + "0 north holds egg", "W S I(egg)").labels_of(0) == []
    assert play(ROOM + "0 north holds egg", "E E I").labels_of(0) == []


@pytest.mark.parametrize("token", ["I", "start", "I(egg)"])
def test_hold_a_dish_from_the_dish_dispenser_whatever_is_named(token):
    film = play(ROOM, f"E E {token}")
    assert film.labels_of(0) == ["pickup(dish,dish_dispenser)"]
    assert film.last.endswith("0 east holds dish")


# ------------------------------------------------------------------------------------------- utensils and hands


def test_put_in_utensil_until_full():
    film = play(ROOM + "0 north holds egg\npot0 egg, corn", "I")
    assert film.last.endswith("0 north\npot0 egg, corn, egg")
    refused = play(ROOM + "0 north holds egg\npot0 egg, corn, egg", "I")
    assert (refused.labels, refused.refusals) == ([[None]], [["NO_EFFECT"]])
    assert refused.last == refused.pictures[0]


def test_put_in_utensil_loses_the_dish():
    film = play(ROOM + "0 north holds bean_stew on a dish", "I I(bean_stew)")
    assert film.last.endswith("0 north holds bean_stew")


@pytest.mark.parametrize("contents", ["boiled_egg 1/3", "boiled_egg ready"])
def test_effect_with_full_hand_is_nothing_once_started(contents):
    film = play(ROOM + f"0 north holds egg\npot0 {contents}", "I")
    assert film.events == [[None]] and film.last.count("holds egg")


@pytest.mark.parametrize("contents", ["", "\npot0 egg", "\npot0 boiled_egg 2/3"])
def test_effect_with_full_hand_is_nothing_for_a_dish_before_the_food_is_ready(contents):
    assert play(ROOM + "0 north holds dish" + contents, "I").events == [[None]]


@pytest.mark.parametrize("utensil, food", [("P", "bean_stew"), ("P", "boiled_egg"), ("O", "baked_corn")])
def test_fill_dish_with_any_ready_food(utensil, food):
    name = {"P": "pot0", "O": "oven0"}[utensil]
    film = play(ROOM.replace("P", utensil) + f"0 north holds dish\n{name} {food} ready", "I")
    assert film.labels == [[f"fill_dish_with_food({name})"]]
    assert film.last == drawn(ROOM.replace("P", utensil) + f"0 north holds {food} on a dish")


def test_effect_at_utensil_starts_with_anything_in_hand():
    film = play(ROOM + "0 north holds dish\npot0 egg", "start")
    assert film.last.endswith("0 north holds dish\npot0 boiled_egg 1/3")


def test_effect_at_utensil_falls_back_to_the_hand_where_nothing_can_start():
    assert play(ROOM + "0 north holds egg", "start").events == [["PUT"]]
    assert play(ROOM + "0 north holds dish\npot0 boiled_egg ready", "start").events == [["FILL"]]
    assert play(ROOM + "pot0 boiled_egg ready", "start").events == [["PICKUP"]]
    assert play(ROOM + "pot0 boiled_egg 1/3", "start").events == [[None]]
    assert play(ROOM, "start").events == [[None]]


@pytest.mark.parametrize("token", ["I", "I(boiled_egg)", "I(corn)"])
def test_effect_with_empty_hand_lifts_ready_food_whatever_is_named(token):
    film = play(ROOM + "pot0 boiled_egg ready", token)
    assert film.labels == [["pickup(boiled_egg,pot0)"]]
    assert film.last == drawn(ROOM + "0 north holds boiled_egg")


@pytest.mark.parametrize("timer", [1, 2])
def test_effect_with_empty_hand_is_nothing_while_cooking(timer):
    film = play(ROOM + f"pot0 boiled_egg {timer}/3", "I(boiled_egg)")
    assert film.events == [[None]]


def test_take_back_an_item_makes_room_for_another():
    film = play(ROOM + "pot0 corn, egg, bean", "I(egg) I I(corn) W S I E N")
    assert film.pictures[1].endswith("0 north holds egg\npot0 corn, bean")
    assert film.pictures[2].endswith("0 north\npot0 corn, bean, egg")
    assert film.pictures[3].endswith("0 north holds corn\npot0 bean, egg")


def test_find_content_takes_one_of_equals_and_nothing_that_is_not_there():
    assert play(ROOM + "pot0 bean, corn, bean", "I(bean)").last.endswith("0 north holds bean\npot0 corn, bean")
    assert play(ROOM + "pot0 bean, corn", "I(egg)").events == [[None]]
    assert play(ROOM + "pot0 bean, corn", "I").events == [[None]]
    assert play(ROOM + "pot0 bean", "I(bean)").last == drawn(ROOM + "0 north holds bean")


# ------------------------------------------------------------------------------------------- serving


def delivery(held: str, order: str) -> Film:
    return play(ROOM + f"0 north holds {held}", "E S I", orders=(order,))


def test_deliver_pays_plain_order():
    film = delivery("boiled_egg", "boiled_egg")
    assert (film.events[2], film.rewards[2], film.over) == (["DELIVER"], [20.0], True)
    assert film.labels[2] == ["deliver()"]


def test_deliver_pays_plated_order():
    film = delivery("bean_stew on a dish", "bean_stew")
    assert (film.events[2], film.rewards[2], film.over) == (["DELIVER"], [20.0], True)


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
    film = play(ALONE + f"0 north holds {held}", "E S I", orders=(order,))
    assert (film.events[2], film.rewards[2], film.over) == (["DELIVER_WRONG"], [0.0], False)
    assert film.labels[2] == ["deliver()"]
    assert film.last.endswith("0 south")


def test_effect_at_serving_is_nothing_for_a_dish_or_an_empty_hand():
    assert delivery("dish", "boiled_egg").events[2] == [None]
    assert play(ROOM, "E S I").events[2] == [None]


def test_deliver_pays_a_raw_ingredient_that_is_the_order():
    assert delivery("egg", "egg").rewards[2] == [20.0]


def test_deliver_takes_the_first_order_off_the_list():
    film = play(ROOM + "0 north holds egg", "E S I", orders=("egg", "corn", "egg"))
    assert (film.scene["orders"], film.over) == (["corn", "egg"], False)
    wrong = play(ROOM + "0 north holds corn", "E S I", orders=("egg", "corn"))
    assert wrong.scene["orders"] == ["egg", "corn"]  # only the first order can be served


def test_deliver_rewards_every_agent():
    world = """
    XXXXXX
    X0  1X
    XIXXSX
    1 south holds boiled_egg
    """
    recipes = {"pot": {"boiled_egg": ["egg"]}}
    film = play(world.replace("XXXXXX", "XPXXXX"), "1: I", recipes=recipes)
    assert film.rewards == [[20.0, 20.0]]


MANY = {"options": {"orders": True}}


def test_refill_orders_keeps_three_on_display():
    film = play(ROOM + "0 north holds egg", "E S I", orders=("egg", "corn"), **MANY)
    assert film.scene["orders"][0] == "corn" and len(film.scene["orders"]) == 3
    assert not film.over


def test_refill_orders_waits_until_a_longer_list_is_down_to_three():
    film = play(ROOM + "0 north holds egg", "E S I", orders=("egg", "corn", "bean", "egg", "egg"), **MANY)
    assert film.scene["orders"] == ["corn", "bean", "egg", "egg"]


def test_draw_task_by_weight():
    weights = {"options": {"orders": {"egg": 3.0, "corn": 1.0}}}
    films = [play(ROOM, "", steps=0, orders=("egg",), seed=seed, **weights) for seed in range(200)]
    first = [film.scene["orders"] for film in films]
    assert all(orders[0] == "egg" and set(orders) <= {"egg", "corn"} for orders in first)
    assert 255 <= sum(orders[1:].count("egg") for orders in first) <= 345  # 300 expected, standard deviation 9


# ------------------------------------------------------------------------------------------- acting in the room


def test_interact_in_turn_lets_the_second_agent_see_what_the_first_did():
    world = """
    XXXXX
    X0X1X
    XXIXX
    XS  X
    XXXXX
    0 east holds egg
    1 west
    """.replace("XXIXX", "X I X")
    film = play(world, "0: I\n1: I(egg)")
    assert film.labels == [["place_obj_on_counter()", "pickup(egg,counter)"]]
    back = play(world.replace("0 east holds egg", "0 east").replace("1 west", "1 west holds egg"), "0: I\n1: I")
    assert back.labels == [[None, "place_obj_on_counter()"]]


def test_interact_never_moves_or_turns():
    film = play(ROOM + "0 east holds egg", "I I I")
    assert film.last == film.pictures[0]


def test_faced_station_is_nothing_for_those_who_may_not_use_it():
    world = """
    XXPXX
    X 01X
    XIXSX
    0 north holds egg
    """
    film = play(world, "0: I", stations={"P": {"users": [1]}})
    assert (film.events, film.refusals) == ([[None, None]], [["NO_EFFECT", None]])
    assert play(world, "0: I", stations={"P": {"users": [0]}}).events == [["PUT", None]]


def test_faced_station_is_nothing_on_open_floor():
    assert play(ROOM + "0 west", "I").refusals == [["NO_EFFECT"]]


def test_interact_before_movement_uses_the_old_facing():
    world = """
    XXXXX
    X0 1X
    XIXSX
    0 south
    """
    film = play(world, "0: I(egg) E\n1: W W")
    assert film.labels[0] == ["pickup(egg,ingredient_dispenser)", None]


# ------------------------------------------------------------------------------------------- moving


def test_move_agents_walks_onto_floor_and_only_turns_at_tiles():
    film = play(ROOM, "W W N E")
    assert [picture.split("\n")[1:2] + picture.split("\n")[3:] for picture in film.pictures] == [
        ["X 0 D", "0 north"],
        ["X0  D", "0 west"],
        ["X0  D", "0 west"],
        ["X0  D", "0 north"],
        ["X 0 D", "0 east"],
    ]


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
    film = play(CORRIDOR.format(before), script)
    assert film.last.split("\n")[1] == f"X{after}X"
    facings = {"E": "east", "W": "west", ".": "north"}
    assert film.last.split("\n")[3:] == [f"{i} {facings[move]}" for i, move in enumerate(moves)]  # all turn


def test_move_agents_three_want_one_cell():
    world = """
    XXXXX
    XX0XX
    X1 2X
    XISXX
    XXXXX
    """
    film = play(world, "0: S\n1: E\n2: W")
    assert film.last.startswith(drawn(world))  # nobody is let through


# ------------------------------------------------------------------------------------------- what may be chosen

GALLEY = """
XPXOX
I0X1S
X X X
XDXXX
"""  # the left cook has pot, ingredients and dishes, the right one oven and serving; x = 2 is shared
PLACES = {"level": "medium"}


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
    film = play(GALLEY + facts, f"0: {token}", steps=1, **PLACES)
    assert film.refusals == [[reason, None]]


def test_check_pickup_from_a_dispenser_of_others():
    film = play(GALLEY, "1: pickup(egg,ingredient_dispenser)", steps=1, **PLACES)
    assert film.refusals == [[None, "PICK_CHEF_DISPENSER"]]


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
    assert play(GALLEY + facts, f"0: {token}", steps=1, **PLACES).refusals == [[reason, None]]


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
    film = play(GALLEY + facts, "0: place_obj_on_counter()", steps=1, **PLACES)
    assert film.refusals == [[reason, None]]


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
    film = play(GALLEY + facts, f"0: {token}", steps=1, orders=(order,), **PLACES)
    assert film.refusals == [[reason, None]]


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
    film = play(GALLEY + facts, f"{seat}: deliver()", steps=1, **PLACES)
    assert film.refusals[0][seat] == reason


def test_check_deliver_refuses_food_that_is_never_ordered():
    film = play(
        GALLEY + "1 north holds corn",
        "1: deliver()",
        steps=1,
        serving={"plain": ["boiled_egg"]},
        tasks={"boiled_egg": {"level": 1}},
        **PLACES,
    )
    assert film.refusals == [[None, "DELIVER_NOT_FINISHED"]]


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
    assert play(GALLEY + facts, f"0: {token}", steps=1, **PLACES).refusals == [[reason, None]]


def test_check_action_busy_agents_can_only_continue():
    film = play(GALLEY, "0: wait(3)", steps=1, **PLACES)
    film.step([film.game.parse("wait(1)"), film.game.parse("continue")])
    assert film.refusals[1] == ["BUSY", "NOT_BUSY"]
    assert film.last.endswith("0 north does wait(3) 1\n1 north")  # the wait runs on


@pytest.mark.parametrize("facts, usable", [("", True), ("0 north holds egg", False)])
def test_can_use_and_finds_on_counter_decide_the_mask(facts, usable):
    film = play(GALLEY + facts + "\n(2,1) corn\n(4,2) bean", "", steps=0, **PLACES)
    film.step([film.game.parse("wait(1)")] * 2)
    legal = {film.game.action_texts()[a] for a in film.out.masks[0, 0].nonzero()[0]}
    assert ("pickup(corn,counter)" in legal) == usable
    assert ("pickup(corn,ingredient_dispenser)" in legal) == usable
    assert "pickup(bean,counter)" not in legal


# ------------------------------------------------------------------------------------------- carrying an action out


def test_start_macro_actions_judges_all_on_the_same_moment():
    world = GALLEY + "0 east holds egg"
    film = play(world, "0: place_obj_on_counter()\n1: pickup(egg,counter)", steps=1, **PLACES)
    assert film.refusals == [[None, "PICK_NOT_ON_COUNTER"]]  # the egg lies there only after this step
    assert film.labels == [["place_obj_on_counter()", None]]


def test_start_macro_actions_a_refused_action_costs_the_step():
    film = play(GALLEY, "0: deliver()", steps=1, **PLACES)
    assert film.last == film.pictures[0]
    assert film.scene["timestep"] == 1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_is_done_wait_takes_its_number_of_steps(n):
    film = play(GALLEY, f"0: wait({n}) deliver()", steps=n + 1, **PLACES)
    assert [row[0] for row in film.refusals] == [None] * n + ["DELIVER_EMPTY_HANDED"]
    assert [row[0] for row in film.ended] == [0] * (n - 1) + [1, 0]


def test_is_done_at_once_when_the_hand_shows_it():
    film = play(GALLEY + "0 west", "0: pickup(egg,ingredient_dispenser) put_obj_in_utensil(pot0) cook(pot0)", **PLACES)
    assert film.labels_of(0) == ["pickup(egg,ingredient_dispenser)", "put_obj_in_utensil(pot0)", "cook(pot0)"]
    assert len(film.labels) == 1 + 2 + 1  # interact; turn, interact; interact
    assert film.last.endswith("pot0 boiled_egg 1/3")


def test_is_done_an_operation_ends_with_its_wrong_contents():
    film = play(GALLEY + "pot0 corn", "0: cook(pot0) wait(1)", **PLACES)
    assert film.events_of(0) == ["START_WRONG"]
    assert len(film.labels) == 2


def test_is_done_looks_at_the_own_utensil_only():
    world = GALLEY + "0 south\npot0 egg\noven0 egg\n1 north"
    film = play(world, "0: cook(pot0)\n1: bake(oven0)", **PLACES)
    assert film.events == [[None, "START_WRONG"], ["START", None]]  # another's mistake does not end my action


def test_is_done_fill_waits_while_the_food_is_cooking():
    film = play(
        GALLEY + "0 north holds dish\npot0 bean_stew 1/3",
        "0: fill_dish_with_food(pot0)",
        orders=("bean_stew",),
        **PLACES,
    )
    assert [row[0] for row in film.events] == [None, None, "FILL"]
    assert film.last.endswith("0 north holds bean_stew on a dish\n1 north")


def test_step_macro_actions_walks_turns_and_interacts_one_step_each():
    film = play(GALLEY + "0 south", "0: pickup(dish,dish_dispenser)", **PLACES)
    assert [picture.split("\n")[4] for picture in film.pictures] == [
        "0 south",
        "0 south does pickup(dish,dish_dispenser) -1",
        "0 south holds dish",
    ]
    turned = play(GALLEY, "0: pickup(egg,ingredient_dispenser)", **PLACES)
    assert len(turned.labels) == 2


def test_step_macro_actions_fails_where_somebody_took_the_goal():
    world = """
    XXPXX
    X0  X
    X I1X
    XSX X
    XXXXX
    (4,2) egg
    1 east
    """.replace("X I1X", "X I1X").replace("XSX X", "XSX X")
    film = play(world, "0: pickup(egg,counter)\n1: pickup(egg,counter)", **PLACES)
    assert film.labels_of(1) == ["pickup(egg,counter)"] and film.labels_of(0) == []
    assert Outcome.FAILED in [row[0] for row in film.ended]
    assert film.last.split("\n")[5] == "0 east" or "does" not in film.last


def test_step_macro_actions_fails_when_every_counter_is_taken_on_the_way():
    world = GALLEY + "0 north holds egg\n1 west holds corn\n(0,2) bean\n(2,2) bean\n(4,2) bean"
    film = play(world, "0: place_obj_on_counter()\n1: place_obj_on_counter()", **PLACES)
    assert film.labels_of(1) == ["place_obj_on_counter()"]
    assert [row[0] for row in film.ended] == [0, Outcome.FAILED]
    assert "0 east holds egg\n" in film.last + "\n"


def test_end_macro_actions_gives_up_after_stuck_limit_steps_without_change():
    world = GALLEY + "0 north holds dish\npot0 bean_stew 1/9"
    film = play(world, "0: fill_dish_with_food(pot0)", orders=("bean_stew",), stuck_limit=3, **PLACES)
    assert [row[0] for row in film.ended] == [0, 0, Outcome.INTERRUPTED]
    patient = play(world, "0: fill_dish_with_food(pot0)", orders=("bean_stew",), stuck_limit=0, **PLACES)
    assert [row[0] for row in patient.ended] == [0] * 8 + [1]


def test_end_macro_actions_never_gives_a_wait_up():
    film = play(GALLEY, "0: wait(5)", stuck_limit=2, **PLACES)
    assert [row[0] for row in film.ended] == [0, 0, 0, 0, 1]


# ------------------------------------------------------------------------------------------- where to go

SHELF = """
XXXXXXX
X  0  X
XXIXSXX
"""


def test_nearest_goal_wins():
    film = play(SHELF + "(5,0) egg\n(2,0) egg", "pickup(egg,counter)", **PLACES)
    assert film.last.endswith("0 north holds egg\n(5,0) egg")


@pytest.mark.parametrize("first, second", [("(2,0)", "(4,0)"), ("(4,0)", "(2,0)")])
def test_nearest_goal_prefers_what_was_placed_first(first, second):
    film = play(SHELF + f"{first} egg\n{second} egg", "pickup(egg,counter)", **PLACES)
    assert film.last.endswith(f"holds egg\n{second} egg")


def test_nearest_goal_falls_back_to_scan_order():
    film = play(SHELF + "0 south holds egg\n(3,0) corn\n(3,2) corn", "place_obj_on_counter()", **PLACES)
    assert film.last.endswith("(2,0) egg")


PANTRY = """
XXXXX
X0X1X
X I X
XSX X
XXXXX
"""


def test_preferred_access_picks_up_from_own_counters_first():
    world = GALLEY + "(2,1) egg\n(0,2) egg\n0 east"
    film = play(world, "0: pickup(egg,counter)", **PLACES)
    assert film.last.endswith("(2,1) egg")  # faces the shared one, but walks to its own
    assert len(film.labels) == 3


def test_preferred_access_places_on_shared_counters_first():
    world = GALLEY + "0 west holds egg"
    film = play(world.replace("0 west", "0 south"), "0: place_obj_on_counter()", **PLACES)
    assert film.last.endswith("(2,1) egg")
    full = play(world + "\n(2,1) corn\n(2,2) corn", "0: place_obj_on_counter()", **PLACES)
    assert full.last.endswith("(0,2) egg")


def test_preferred_access_places_where_most_can_use_it():
    world = """
    XXXXPX
    I0 X2S
    X1 X X
    XXXXXX
    0 north holds egg
    """
    film = play(world, "0: place_obj_on_counter()", **PLACES)
    assert film.last.endswith("(3,1) egg")  # not on the counter before 0, which only 0 and 1 can use


def test_is_target_an_own_counter_without_the_object_is_none():
    film = play(GALLEY + "(2,2) egg\n(0,2) corn", "0: pickup(egg,counter)", **PLACES)
    assert film.last.endswith("(0,2) corn")


def test_walk_the_short_way_round():
    world = """
    XXXXXX
    X    X
    X XX P
    X0   X
    XIXSXX
    0 south
    """
    film = play(world.replace("0 south", "0 south holds egg"), "put_obj_in_utensil(pot0)", **PLACES)
    assert len(film.labels) == 6  # three east, north, turn east, interact
    assert film.last.split("\n")[2] == "X XX0P"


def test_flood_around_a_teammate_who_stands_in_the_way():
    world = """
    XXXXXX
    X    X
    X XX P
    X0 1 X
    XIXSXX
    0 south holds egg
    """
    film = play(world, "0: put_obj_in_utensil(pot0)", **PLACES)
    assert film.last.split("\n")[2] == "X XX0P"
    assert len(film.labels) == 8  # two north, three east, south, turn, interact: never a chance move


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
        film = play(DOORWAY, "0: put_obj_in_utensil(pot0)", steps=1, seed=seed, **PLACES)
        row = film.last.split("\n")[1]
        assert row in ("X0 X  X", "X 0X  X", "X  X  X")
        stayed += row == "X0 X  X"
    assert 40 <= stayed <= 80


def test_choose_primitive_draws_only_when_blocked():
    def draws(world: str) -> int:
        return int(play(world, "0: put_obj_in_utensil(pot0)", steps=1, **PLACES).state.rng[0, 2])

    assert draws(DOORWAY) == 1
    assert draws(DOORWAY.replace("X0 X  X", "X0 X1 X").replace("X  1  P", "X     P")) == 0


def test_choose_primitive_gets_through_once_the_door_is_free():
    film = play(DOORWAY, "0: put_obj_in_utensil(pot0)\n1: wait(4) pickup(egg,ingredient_dispenser)", **PLACES)
    assert film.labels_of(0) == ["put_obj_in_utensil(pot0)"]
    assert film.labels_of(1) == ["pickup(egg,ingredient_dispenser)"]


# ------------------------------------------------------------------------------------------- primitive actions


def test_choose_primitives_names_what_an_interact_concerns():
    film = play(ROOM, "I")
    texts = film.game.action_texts()
    assert texts[:8] == ["north", "south", "east", "west", "stay", "interact", "start", "interact(dish)"]
    assert play(ROOM + "pot0 egg", "I(egg)").events == [["PICKUP"]]
    assert play(ROOM + "pot0 egg", "start").events == [["START"]]


def test_named_by_action_is_nothing_a_start_or_an_item():
    assert [named_by(action) for action in (5, 6, 7, 12)] == [NOTHING, START, DISH, 5]


def test_refuse_idle_interacts_but_never_moves():
    film = play(ROOM, "I W W . N")
    assert film.refusals == [["NO_EFFECT"], [None], [None], [None], [None]]


def test_concerned_item_of_every_event():
    world = """
    XXPXX
    X 0 D
    XIXSX
    """
    scripts = {
        ("0 north holds egg", "I"): "egg",
        ("pot0 egg", "I(egg)"): "egg",
        ("0 north holds dish\npot0 boiled_egg ready", "I"): "boiled_egg",
        ("pot0 egg", "start"): None,
        ("0 south holds egg", "I"): "egg",
    }
    for (facts, token), item in scripts.items():
        film = play(world + facts, token)
        event = film.game.events(film.out, 0)[0]
        assert event is not None and event["item"] == item


# ------------------------------------------------------------------------------------------- as the released code does

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
    film = play(ROOM.replace("P", "O") + "0 north holds dish" + contents, "I", **ORIGINAL)
    assert film.events == [[None]]


def test_is_filling_whatever_the_log_calls_it():
    codes = [code for code in Event if is_filling(code)]
    assert codes == [Event.FILL, Event.FILL_AS_PUT]


def test_effect_with_full_hand_is_logged_at_a_full_utensil_by_the_original():
    """E3 of the deviations: nothing moves, a put is logged in every step, and the action never ends."""
    world = GALLEY + "0 north holds egg\npot0 egg, egg, egg"
    film = play(world, "0: put_obj_in_utensil(pot0)", steps=4, **BUSY_GALLEY)
    assert film.refusals_of(0) == []
    assert film.labels_of(0) == ["put_obj_in_utensil(pot0)"] * 4
    assert film.events_of(0) == ["PUT_NO_EFFECT"] * 4
    assert film.last.split("\n")[4] == "0 north holds egg does put_obj_in_utensil(pot0) -4"


def test_has_changed_counts_no_put_that_moves_nothing():
    world = GALLEY + "0 north holds egg\npot0 egg, egg, egg"
    film = play(
        world, "0: put_obj_in_utensil(pot0)", steps=3, **PLACES, options={**ORIGINAL["options"], "stuck_limit": 3}
    )
    assert [row[0] for row in film.ended] == [0, 0, Outcome.INTERRUPTED]
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
    film = play(
        GALLEY + held,
        "0: deliver()",
        steps=1,
        recipes={"pot": {"boiled_egg": ["egg"], "potato_egg": ["egg", "egg"]}, "oven": {"baked_corn": ["corn"]}},
        serving={"plain": ["boiled_egg"]},
        tasks={"boiled_egg": {"level": 1}},
        **BUSY_GALLEY,
    )
    assert film.refusals == [[reason, None]]


def test_check_fill_of_the_original_does_not_ask_for_reach():
    film = play(
        GALLEY + "0 north holds dish\noven0 baked_corn 1/3",
        "0: fill_dish_with_food(oven0)",
        steps=1,
        orders=("bean_stew",),
        **BUSY_GALLEY,
    )
    assert film.refusals == [[None, None]]


@pytest.mark.parametrize("seed", range(4))
def test_drag_on_stays_or_becomes_a_wait_of_two_steps(seed):
    """An action without a goal: each step the toss of a coin decides."""
    film = play(GALLEY + "0 north holds boiled_egg", "0: deliver()", steps=12, seed=seed, **BUSY_GALLEY)
    doing = [picture.split("\n")[4].partition(" does ")[2] for picture in film.pictures]
    waiting = doing.index("wait(1) 1")
    assert all(text.startswith("deliver() ") for text in doing[1:waiting])
    assert doing[waiting + 1] == "", "free after the second step of the wait"
    assert [row[0] for row in film.ended][:waiting] == [0] * waiting
    assert film.labels_of(0) == []


def test_drag_on_takes_either_side_of_the_coin():
    waits = set()
    for seed in range(16):
        film = play(GALLEY + "0 north holds boiled_egg", "0: deliver()", steps=1, seed=seed, **BUSY_GALLEY)
        waits.add(film.last.split("\n")[4])
    held = "0 north holds boiled_egg does"
    assert waits == {f"{held} deliver() -1", f"{held} wait(1) 1"}


def test_check_place_of_the_original_looks_for_no_counter():
    world = GALLEY + "0 north holds egg\n(0,2) egg\n(2,1) egg\n(2,2) egg"
    assert play(world, "0: place_obj_on_counter()", steps=1, **BUSY_GALLEY).refusals == [[None, None]]


def test_spoils_starts_a_wrong_start_of_the_teammate_ends_mine_in_the_original():
    """C12 of the deviations; test_is_done_looks_at_the_own_utensil_only has the fixed rule."""
    world = GALLEY + "0 south\npot0 egg\noven0 egg\n1 north"
    film = play(world, "0: cook(pot0)\n1: bake(oven0)", **BUSY_GALLEY)
    assert film.events == [[None, "START_WRONG"]]
    assert film.ended[0] == [Outcome.DONE, Outcome.DONE]
    assert film.last.split("\n")[4:6] == ["0 north", "1 north"] and film.last.endswith("pot0 egg")


def test_is_filled_in_the_original_with_the_order_only():
    """Other food on the dish goes back into the utensil, without the dish, and the agent is stuck."""
    film = play(
        GALLEY + "0 north holds dish\npot0 boiled_egg ready",
        "0: fill_dish_with_food(pot0)",
        steps=5,
        orders=("bean_stew",),
        **BUSY_GALLEY,
    )
    assert [row[0] for row in film.events] == ["FILL", "PUT", None, None, None]
    assert film.last.split("\n")[4:] == ["0 north does fill_dish_with_food(pot0) -5", "1 north", "pot0 boiled_egg"]
