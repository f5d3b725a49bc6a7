"""Every rule of CraftKitchen, in yards written down; see world.py."""

from __future__ import annotations

import numpy as np
import pytest
from games.craft.world import Yard, yard

from collab_overcooked.games.craft.engine.constants import NOTHING, OrderEvent, Row, Verb
from collab_overcooked.games.craft.engine.rules import CHEST, FURNACE, kind_of
from collab_overcooked.kernels.rng import seed_states

CASES = [  # rule, before, commands, after
    ("go", "", "1 goto(chest)", "bot1 at chest"),
    ("nearest_of_a_kind", "bot1 at furnace", "1 goto(chicken)", "bot1 at chicken2"),
    ("nearest_that_is_there", "bot1 at furnace\ngone chicken2 4", "1 goto(chicken)",
     "bot1 at chicken1\ngone chicken2 3"),
    ("target_of_a_named_place", "bot1 at furnace", "1 goto(chicken1)", "bot1 at chicken1"),
    ("gather_from_a_mob", "bot1 at sheep", "1 killMob(sheep)", "bot1 at sheep: 1 mutton"),
    ("gather_from_a_block", "bot1 at oak_log: 1 oak_log", "1 mineBlock(oak_log)", "bot1 at oak_log: 2 oak_log"),
    ("load_fuel", "bot1 at chest: 2 oak_log", "1 putFuelFurnace(oak_log)",
     "bot1 at chest: 1 oak_log\nfurnace: fuel 1 oak_log"),
    ("load_input", "bot1 at chest: 1 mutton", "1 putItemFurnace(mutton)", "bot1 at chest\nfurnace: input 1 mutton"),
    ("empty_output", "bot1 at chest\nfurnace: output 3 cooked_mutton", "1 takeOutFurnace()",
     "bot1 at chest: 3 cooked_mutton"),
    ("apply_command_store", "bot1 at furnace: 2 chicken", "1 putInChest(chicken)",
     "bot1 at furnace: 1 chicken\nchest: 1 chicken"),
    ("cook_one_item", "furnace: fuel 2 oak_log, input 2 chicken", "",
     "furnace: fuel 1 oak_log, input 1 chicken, output 1 cooked_chicken"),
    ("cook_what_came_in_this_step", "bot1 at furnace: 1 chicken\nfurnace: fuel 1 oak_log", "1 putItemFurnace(chicken)",
     "bot1 at furnace\nfurnace: output 1 cooked_chicken"),
    ("can_cook_without_fuel", "furnace: input 1 chicken", "", "furnace: input 1 chicken"),
    ("can_cook_beside_another_product", "furnace: fuel 1 oak_log, input 1 chicken, output 1 cooked_mutton", "",
     "furnace: fuel 1 oak_log, input 1 chicken, output 1 cooked_mutton"),
    ("can_cook_up_to_a_stack", "furnace: fuel 1 oak_log, input 1 chicken, output 64 cooked_chicken", "",
     "furnace: fuel 1 oak_log, input 1 chicken, output 64 cooked_chicken"),
    ("come_back", "gone sheep 2", "", "gone sheep 1"),
    ("serve_orders_from_the_chest", "bot1 at chest: 1 cooked_mutton\norder cooked_mutton 3",
     "1 putInChest(cooked_mutton)", "bot1 at chest\nchest: 1 cooked_mutton"),
    ("serve_orders_of_this_dish_only", "chest: 1 cooked_mutton\norder cooked_chicken 3", "",
     "chest: 1 cooked_mutton\norder cooked_chicken 2"),
    ("serve_orders_the_oldest_first", "chest: 1 cooked_mutton\norder cooked_mutton 1\norder cooked_mutton 9", "",
     "chest: 1 cooked_mutton\norder cooked_mutton 8"),
    ("age_orders", "order cooked_mutton 1\norder cooked_chicken 5", "", "order cooked_chicken 4"),
]  # fmt: skip
REFUSED = [  # reason, before, command of the first agent
    ("F_TOO_FAR", "bot1 at chest", "killMob(chicken)"),
    ("F_TOO_FAR", "bot1 at chest", "mineBlock(oak_log)"),
    ("F_TOO_FAR", "bot1 at oak_log: 1 oak_log", "putFuelFurnace(oak_log)"),
    ("F_TOO_FAR", "bot1 at oak_log: 1 oak_log", "putInChest(oak_log)"),
    ("F_TOO_FAR", "bot1 at oak_log\nfurnace: output 1 cooked_mutton", "takeOutFurnace()"),
    ("F_GONE", "gone sheep 2", "goto(sheep)"),
    ("F_GONE", "bot1 at sheep\ngone sheep 2", "killMob(sheep)"),
    ("F_NOT_HELD", "bot1 at furnace", "putFuelFurnace(oak_log)"),
    ("F_NOT_HELD", "bot1 at furnace: 1 chicken", "putInChest(mutton)"),
    ("F_OTHER_KIND", "bot1 at furnace: 1 chicken\nfurnace: input 1 mutton", "putItemFurnace(chicken)"),
    ("F_FULL", "bot1 at furnace: 1 chicken\nfurnace: input 64 chicken", "putItemFurnace(chicken)"),
    ("F_NOTHING_COOKED", "bot1 at furnace", "takeOutFurnace()"),
]


def cases(*rules):
    return pytest.mark.parametrize(
        ("before", "commands", "after"),
        [pytest.param(*case[1:], id=case[0]) for case in CASES if case[0].startswith(rules)],
    )


def check(before, commands, after):
    world = Yard(before, respawn=5) if "gone" in before else Yard(before)
    assert world.play(commands) == yard(after)
    assert all(world.obeyed) and not world.feedback


@cases("go")
def test_go(before, commands, after):
    check(before, commands, after)


@cases("nearest", "target_of")
def test_target_of_a_command_is_nearest(before, commands, after):
    check(before, commands, after)


@pytest.mark.parametrize(
    ("verb", "place", "kind"),
    [
        (Verb.WAIT, NOTHING, NOTHING),
        (Verb.GOTO, 3, NOTHING),
        (Verb.GOTO, NOTHING, 5),
        (Verb.KILL, NOTHING, 5),
        (Verb.MINE, NOTHING, 5),
        (Verb.STORE, NOTHING, CHEST),
        (Verb.FUEL, NOTHING, FURNACE),
        (Verb.INPUT, NOTHING, FURNACE),
        (Verb.TAKE, NOTHING, FURNACE),
    ],
)
def test_kind_of_what_a_command_acts_on(verb, place, kind):
    row = np.zeros(len(Row), np.int32)
    row[[Row.VERB, Row.PLACE, Row.WHAT]] = verb, place, 5
    assert kind_of(row) == kind


@cases("gather", "load", "apply")
def test_apply_command_gather_and_load(before, commands, after):
    check(before, commands, after)


@cases("empty_output")
def test_empty_output(before, commands, after):
    check(before, commands, after)


@cases("can_cook", "cook")
def test_can_cook(before, commands, after):
    check(before, commands, after)


@cases("come_back")
def test_come_back(before, commands, after):
    check(before, commands, after)


@cases("serve_orders", "age_orders")
def test_age_orders_after_serve_orders(before, commands, after):
    check(before, commands, after)


@pytest.mark.parametrize(("reason", "before", "command"), REFUSED)
def test_why_refused_and_nothing_changes(reason, before, command):
    world = Yard(before, respawn=5) if "gone" in before else Yard(before)
    seen = world.written()
    world.play(f"1 {command}")
    assert world.reason() == reason
    assert world.obeyed == (False,) and world.feedback[0].startswith("bot1")
    assert world.written() == seen.replace("gone sheep 2", "gone sheep 1")


@pytest.mark.parametrize(("spot", "command", "message", "code"), [
    ((4, 6), "putFuelFurnace(oak_log)", "OK", "OK"),
    ((4, 7), "putFuelFurnace(oak_log)", "F_TOO_FAR", "F_TOO_FAR"),
    ((20, 6), "killMob(sheep)", "OK", "F_TOO_FAR"),
    ((20, 5), "killMob(sheep)", "OK", "OK"),
    ((0, -8), "putInChest(oak_log)", "F_TOO_FAR", "OK"),
    ((0, -9), "putInChest(oak_log)", "F_TOO_FAR", "F_TOO_FAR"),
    ((6, 7), "mineBlock(oak_log)", "OK", "OK"),
])  # fmt: skip
def test_is_in_reach_by_square_to(spot, command, message, code):
    for reach, reason in (("told", message), ("code", code)):
        world = Yard(f"bot1 at {spot[0]},{spot[1]}: 1 oak_log", reach=reach, walk=9)
        world.play(f"1 {command}")
        assert world.reason() == reason


def test_taking_out_walks_to_the_furnace_in_the_public_code():
    world = Yard("bot1 at sheep\nbot2 at chest\nfurnace: output 2 cooked_mutton", reach="code")
    assert world.play("1 takeOutFurnace()") == "bot1 at furnace: 2 cooked_mutton\nbot2 at chest"


@pytest.mark.parametrize("reach", ["told", "code"])
@pytest.mark.parametrize("walk", [0, 3])
@pytest.mark.parametrize("place", ["chest", "furnace", "4,6", "chicken1"])
def test_taking_out_moves_nobody_who_is_within_reach(place, walk, reach):
    world = Yard(f"bot1 at {place}\nfurnace: output 1 cooked_mutton", reach=reach, walk=walk)
    assert world.play("1 takeOutFurnace()") == f"bot1 at {place}: 1 cooked_mutton"


def test_taking_out_walks_all_the_way_at_once_even_where_walks_are_short():
    world = Yard("bot1 at sheep\nfurnace: output 2 cooked_mutton", reach="code", walk=3)
    assert world.play("1 takeOutFurnace()") == "bot1 at furnace: 2 cooked_mutton"


COMMANDS = ["putFuelFurnace(oak_log)", "putItemFurnace(chicken)", "takeOutFurnace()", "putInChest(chicken)",
            "mineBlock(oak_log)", "wait()"]  # fmt: skip


@pytest.mark.parametrize("reach", ["told", "code"])
@pytest.mark.parametrize("command", COMMANDS)
def test_who_acts_within_reach_stays_there(command, reach):
    world = Yard("bot1 at 3,2: 1 oak_log, 1 chicken\nfurnace: output 1 cooked_mutton", reach=reach)
    world.play(f"1 {command}")
    assert world.obeyed[0] and world.scene["agents"][0]["at"] == [3, 2]


def test_go_some_cells_a_step():
    world = Yard(walk=30)
    assert world.play("1 goto(chest)") == "bot1 at 70,0"
    assert world.play("1 goto(oak_log)") == "bot1 at 40,7"
    assert world.play("1 goto(chest)", "1 goto(chest)") == "bot1 at chest"


def test_command_agents_who_want_the_same_gives_it_to_the_first_in_turn():
    world = Yard("bot1 at sheep\nbot2 at sheep")
    assert world.play("1 killMob(sheep); 2 killMob(sheep)") == yard("bot1 at sheep: 1 mutton\nbot2 at sheep")
    assert (world.reason(0), world.reason(1), world.obeyed) == ("OK", "F_TAKEN", (True, False))
    world = Yard("bot1 at chicken1\nbot2 at chicken1")
    world.play("1 killMob(chicken); 2 killMob(chicken)")
    assert world.obeyed == (True, True)


def test_why_not_slot_judges_by_the_moment_before_and_by_what_lower_numbers_put():
    both = "bot1 at furnace: 1 chicken\nbot2 at furnace: 1 mutton"
    world = Yard(both)
    world.play("1 putItemFurnace(chicken); 2 putItemFurnace(mutton)")
    assert world.reason(1) == "F_TAKEN"
    world = Yard(both + "\nfurnace: fuel 1 oak_log, input 1 chicken")
    world.play("2 putItemFurnace(mutton)")  # what is cooked up at the end of this step is still there
    assert world.reason(1) == "F_OTHER_KIND"


def test_cook_takes_its_steps_and_a_fuel_may_last_for_more():
    world = Yard("furnace: fuel 2 oak_log, input 4 chicken", cook_steps=2, items_per_fuel=1.5)
    assert world.play("") == "furnace: fuel 2 oak_log, input 4 chicken, progress 1"
    assert world.play("") == "furnace: fuel 1 oak_log, input 3 chicken, output 1 cooked_chicken, heat 1"
    assert world.play("", "") == "furnace: input 2 chicken, output 2 cooked_chicken, heat 2"
    assert world.play("", "") == "furnace: input 1 chicken, output 3 cooked_chicken"
    assert world.play("", "") == "furnace: input 1 chicken, output 3 cooked_chicken"


def test_come_back_after_so_many_steps():
    world = Yard("bot1 at sheep", respawn=3)
    assert world.play("1 killMob(sheep)") == "bot1 at sheep: 1 mutton\ngone sheep 2"
    assert world.play("", "") == "bot1 at sheep: 1 mutton"


def test_take_order_at_the_start_and_after_each_interval():
    world = Yard(interval=4, lifetime=6)
    world.state.rng[:] = seed_states([123])
    world.game.reset(world.state, world.out, np.ones(1, np.bool_), None, 9)
    seen = [[(order["name"], order["remaining"]) for order in world.scene["orders"]]]
    for _ in range(9):
        world.play("")
        seen.append([(order["name"], order["remaining"]) for order in world.scene["orders"]])
    chicken, mutton = "cooked_chicken", "cooked_mutton"
    assert seen[:7] == [[(chicken, k)] for k in (6, 5, 4, 3)] + [
        [(chicken, 2), (mutton, 6)], [(chicken, 1), (mutton, 5)], [(mutton, 4)],
    ]  # fmt: skip
    assert seen[8] == [(mutton, 2), (chicken, 6)] and seen[9] == [(mutton, 1), (chicken, 5)]


def test_surplus_serves_later_orders_at_once():
    world = Yard("chest: 2 cooked_mutton\norder cooked_mutton 4")
    world.play("")
    assert (world.scene["completed"], world.scene["served"]) == (1, {"cooked_mutton": 1})
    world.state.orders[0, 0], world.state.clock[0, 3] = (9, 1), 1  # another order of it
    world.play("")
    assert (world.scene["completed"], world.scene["served"], world.scene["orders"]) == (2, {"cooked_mutton": 2}, [])


@pytest.mark.parametrize(("before", "command", "earned"), [
    ("bot1 at furnace: 1 oak_log", "putFuelFurnace(oak_log)", 0.1),
    ("bot1 at furnace: 1 oak_log\nfurnace: fuel 4 oak_log", "putFuelFurnace(oak_log)", 0),
    ("bot1 at furnace: 1 mutton", "putItemFurnace(mutton)", 0.1),
    ("bot1 at furnace\nfurnace: output 3 cooked_mutton", "takeOutFurnace()", 0.6),
    ("bot1 at chest: 1 cooked_mutton", "putInChest(cooked_mutton)", 0.3),
    ("bot1 at chest: 1 mutton", "putInChest(mutton)", 0),
    ("bot1 at sheep", "killMob(sheep)", 0),
])  # fmt: skip
def test_shaped_reward(before, command, earned):
    world = Yard(before)
    world.play(f"1 {command}")
    assert world.out.shaped[0].tolist() == pytest.approx([earned, 0])


def test_count_order_events_pays_for_served_orders():
    world = Yard(
        "chest: 1 cooked_mutton\norder cooked_mutton 4\norder cooked_chicken 1\nfurnace: fuel 1 oak_log, input 1 mutton"
    )
    world.play("")
    assert [world.out.order_events[0, k] for k in OrderEvent] == [1, 1, 1]
    assert world.out.rewards[0].tolist() == [1, 1]
    assert world.game.order_counts(world.out)[:, 0].tolist() == [1, 1]
