"""Words: the action grammar, plans, reasons for refusals, recipes and descriptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from games.collab_overcooked.world import ODD_KITCHENS, Rollout, odd_kitchen, open_world

from collab_overcooked.games.collab_overcooked.engine.constants import Reason
from collab_overcooked.games.collab_overcooked.engine.spec import load_kitchen
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.games.collab_overcooked.text import text

SHIPPED = ("paper", "shared_floor", "three_agents")
PAPER = load_kitchen("paper")


@pytest.fixture(scope="module")
def games() -> dict[str, CollabOvercooked]:
    shipped = {name: CollabOvercooked(kitchen=name) for name in SHIPPED}
    return shipped | {name: odd_kitchen(name) for name in ODD_KITCHENS}


@pytest.fixture(scope="module")
def paper(games) -> CollabOvercooked:
    return games["paper"]


def code_of(game: CollabOvercooked, action: str) -> str:
    with pytest.raises(text.ActionError) as error:
        game.parse(action)
    return error.value.code


@pytest.mark.parametrize("name", [*SHIPPED, *ODD_KITCHENS])
def test_every_action_prints_and_parses_to_itself(games, name):
    catalogue = games[name].compiled.names.catalogue
    assert [games[name].parse(action) for action in catalogue] == list(range(len(catalogue)))
    assert len(set(catalogue)) == len(catalogue)


@pytest.mark.parametrize("name", ["paper", "four"])
def test_every_primitive_action_prints_and_parses_to_itself(name):
    make = CollabOvercooked(kitchen=name, action_level="primitive") if name in SHIPPED else None
    game = make or odd_kitchen(name, action_level="primitive")
    assert [game.parse(action) for action in game.action_texts()] == list(range(game.n_actions))
    with pytest.raises(text.ActionError, match="did you mean north"):
        game.parse("nort")


@pytest.mark.parametrize(
    "written, read",
    [
        ("deliver_soup()", "deliver()"),
        (" deliver ( ) ", "deliver()"),
        ("3. deliver()", "deliver()"),
        ("12.pickup(egg,counter)", "pickup(egg,counter)"),
        ("pickup( egg , counter )", "pickup(egg,counter)"),
        ("pickup ('egg', \"counter\")", "pickup(egg,counter)"),
        ("Pickup(Egg, Counter)", "pickup(egg,counter)"),
        ("cook( pot0 )", "cook(pot0)"),
        ("wait(05)", "wait(5)"),
        ("put_obj_in_utensil(egg, pot0)", "put_obj_in_utensil(pot0)"),
        (" Continue ", "continue"),
    ],
)
def test_lenient_spellings(paper, written, read):
    assert paper.compiled.names.catalogue[paper.parse(written)] == read


FORMAT_CASES = [
    ("", "F_NOT_FUNCTION", "place_obj_on_counter()"),
    ("[NOTHING]", "F_NOT_FUNCTION", "[NOTHING]"),
    ("cook(pot0", "F_NOT_FUNCTION", "cook(pot0"),
    ("cook(pot0) now", "F_NOT_FUNCTION", "cook(pot0) now"),
    ("cook(pot0); wait(1)", "F_NOT_FUNCTION", "wait(1)"),
    ("cook(pot0, oven0)", "F_NOT_FUNCTION", "oven0"),
    ("place_obj_on_counter(egg)", "F_NOT_FUNCTION", "egg"),
    ("deliver(boiled_egg)", "F_NOT_FUNCTION", "boiled_egg"),
    ("request('cook(pot0)')", "F_NOT_FUNCTION", "request"),
    ("pickup(egg)", "F_PICKUP_ARITY", "pickup(food,place)"),
    ("pickup(egg,pot0,counter)", "F_PICKUP_ARITY", "two arguments"),
    ("pickup(unicorn,counter)", "F_PICKUP_OBJ_UNKNOWN", "unicorn"),
    ("pickup(,counter)", "F_PICKUP_OBJ_UNKNOWN", "''"),
    ("pickup(egg,fridge)", "F_PICKUP_PLACE_UNKNOWN", "fridge"),
    ("pickup(egg,dispenser)", "F_PICKUP_PLACE_UNKNOWN", "ingredient_dispenser"),
    ("pickup(egg,serving)", "F_PICKUP_PLACE_UNKNOWN", "serving"),
    ("pickup(boiled_egg,ingredient_dispenser)", "F_PICKUP_DISPENSER_NOT_RAW", "boiled_egg"),
    ("pickup(dish,ingredient_dispenser)", "F_PICKUP_DISH_FROM_INGREDIENT", "dish_dispenser"),
    ("pickup(egg,dish_dispenser)", "F_PICKUP_INGREDIENT_FROM_DISH", "egg"),
    ("put_obj_in_utensil()", "F_PUT_UTENSIL", "pot0"),
    ("put_obj_in_utensil(a,b,pot0)", "F_PUT_UTENSIL", "pot0"),
    ("fill_dish_with_food(dish,pot0)", "F_FILL_ARITY", "one argument"),
    ("fill_dish_with_food(pan0)", "F_FILL_UTENSIL", "pan0"),
    ("fill_dish_with_food()", "F_FILL_UTENSIL", "pot0"),
    ("cook(oven0)", "F_OP_UTENSIL", "pot0"),
    ("cut(pot0)", "F_OP_UTENSIL", "chopping_board0"),
    ("wait()", "F_WAIT_NUMBER", "1 to 5"),
    ("wait(0)", "F_WAIT_NUMBER", "1 to 5"),
    ("wait(-1)", "F_WAIT_NUMBER", "1 to 5"),
    ("wait(²)", "F_WAIT_NUMBER", "1 to 5"),
    ("wait(1,2)", "F_WAIT_NUMBER", "1 to 5"),
    ("wait(6)", "F_WAIT_TOO_LONG", "wait(6)"),
    ("wait(" + "9" * 5000 + ")", "F_WAIT_TOO_LONG", "at most 5"),
]


@pytest.mark.parametrize("action, code, hint", FORMAT_CASES, ids=[case[0][:40] or "empty" for case in FORMAT_CASES])
def test_malformed_texts(paper, action, code, hint):
    with pytest.raises(text.ActionError) as error:
        paper.parse(action)
    assert error.value.code == code
    assert hint in str(error.value)
    assert "{" not in str(error.value)


def test_every_format_code_has_a_case():
    assert {code for _, code, _ in FORMAT_CASES} == set(text.FORMAT_REASONS)


GALLEY = """
XPXOX
I0X1S
X X X
XDXXX
"""  # the left cook has pot, ingredients and dishes, the right one oven and serving; x = 2 is shared

REFUSALS: list[tuple[str, int, str, str, str, list[str]]] = [
    # order, seat, facts, action, reason, what the message must name
    ("egg", 0, "", "wait(1)", "OK", []),
    ("egg", 0, "0 north does wait(3) 3", "deliver()", "BUSY", ["Cook0", "wait(3)", "continue"]),
    ("egg", 0, "", "continue", "NOT_BUSY", ["Cook0"]),
    ("egg", 0, "pot0 bean_stew 1/3", "pickup(bean_stew,pot0)", "PICK_COOKING", ["pot0", "bean_stew"]),
    ("egg", 0, "pot0 bean_stew ready", "pickup(bean_stew,pot0)", "PICK_NEEDS_DISH",
     ["bean_stew", "fill_dish_with_food(pot0)"]),
    ("egg", 0, "", "pickup(corn,counter)", "PICK_NOT_ON_COUNTER", ["corn", "Cook0"]),
    ("egg", 1, "", "pickup(corn,ingredient_dispenser)", "PICK_UNREACHABLE",
     ["Cook1", "ingredient_dispenser", "corn"]),
    ("egg", 1, "", "pickup(dish,dish_dispenser)", "PICK_UNREACHABLE", ["Cook1", "dish_dispenser"]),
    ("egg", 0, "", "pickup(baked_corn,oven0)", "PICK_UNREACHABLE", ["Cook0", "oven0", "baked_corn"]),
    ("egg", 0, "0 north holds bean_stew on a dish", "pickup(egg,ingredient_dispenser)", "PICK_HANDS_FULL",
     ["bean_stew on a dish", "egg"]),
    ("egg", 0, "pot0 egg", "pickup(boiled_egg,pot0)", "PICK_NOT_IN_UTENSIL", ["pot0", "boiled_egg"]),
    ("egg", 0, "0 north holds egg\npot0 boiled_egg 1/3", "put_obj_in_utensil(pot0)", "PUT_COOKING", ["pot0"]),
    ("egg", 0, "0 north holds egg\npot0 boiled_egg ready", "put_obj_in_utensil(pot0)", "PUT_READY", ["pot0"]),
    ("egg", 0, "0 north holds egg", "put_obj_in_utensil(oven0)", "PUT_UNREACHABLE", ["Cook0", "oven0"]),
    ("egg", 0, "", "put_obj_in_utensil(pot0)", "PUT_EMPTY_HANDED", ["Cook0", "pot0"]),
    ("egg", 0, "0 north holds dish", "put_obj_in_utensil(pot0)", "PUT_DISH", ["dish", "pot0"]),
    ("egg", 0, "0 north holds egg\npot0 egg, egg, egg", "put_obj_in_utensil(pot0)", "PUT_FULL", ["pot0"]),
    ("egg", 0, "", "place_obj_on_counter()", "PLACE_EMPTY_HANDED", ["Cook0"]),
    ("egg", 0, "0 north holds egg\n(0,2) egg\n(2,1) egg\n(2,2) egg", "place_obj_on_counter()", "PLACE_NO_COUNTER",
     ["Cook0"]),
    ("egg", 0, "0 north holds dish", "fill_dish_with_food(pot0)", "FILL_NOT_NEEDED", ["pot0"]),
    ("bean_stew", 0, "", "fill_dish_with_food(pot0)", "FILL_NO_DISH", ["Cook0", "dish", "pot0"]),
    ("bean_stew", 0, "0 north holds dish", "fill_dish_with_food(pot0)", "FILL_NOT_READY", ["pot0"]),
    ("bean_stew", 0, "0 north holds dish\noven0 baked_corn 1/3", "fill_dish_with_food(oven0)", "FILL_UNREACHABLE",
     ["Cook0", "oven0"]),
    ("egg", 1, "1 north holds bean_stew", "deliver()", "DELIVER_NOT_FINISHED", ["bean_stew"]),
    ("egg", 1, "", "deliver()", "DELIVER_EMPTY_HANDED", ["Cook1"]),
    ("egg", 0, "0 north holds egg", "deliver()", "DELIVER_UNREACHABLE", ["Cook0", "serving"]),
    ("egg", 0, "", "bake(oven0)", "OP_UNREACHABLE", ["Cook0", "oven0"]),
    ("egg", 0, "", "cook(pot0)", "OP_EMPTY", ["pot0"]),
    ("egg", 0, "pot0 boiled_egg 2/3", "cook(pot0)", "OP_BUSY", ["pot0"]),
    ("egg", 0, "0 north holds egg\npot0 egg", "cook(pot0)", "OP_HANDS_FULL", ["Cook0", "egg", "pot0"]),
]  # fmt: skip


@pytest.mark.parametrize("order, seat, facts, action, reason, named", REFUSALS, ids=[case[4] for case in REFUSALS])
def test_refusals_say_what_is_wrong(order, seat, facts, action, reason, named):
    rollout = open_world(GALLEY + facts, level="medium", orders=(order,))
    number = rollout.game.parse(action)
    code, message = rollout.game.check(rollout.state, 0, seat, number)
    assert code == reason
    assert message and "{" not in message and all(name in message for name in named), message
    assert (
        bool(rollout.out.masks[0, seat, number]) == (code == "OK") if number < rollout.game.n_actions else code != "OK"
    )
    assert step_refusal(rollout, seat, number) == (None if reason == "OK" else reason)


def step_refusal(rollout: Rollout, seat: int, action: int) -> str | None:
    if action >= rollout.game.n_actions:
        return rollout.game.check(rollout.state, 0, seat, action)[0]
    idle = rollout.game.parse("wait(1)")
    actions = [idle] * rollout.game.n_agents
    actions[seat] = action
    rollout.step(actions)
    return rollout.refusals[-1][seat]


@pytest.mark.parametrize("interface", ["code", "paper"])
def test_the_papers_lists_have_no_fill_of_the_assistant_and_longer_waits(interface):
    """Listing 1 and figure 11."""
    game = CollabOvercooked(task="boiled_egg", interface=interface)
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, np.bool_), None)
    fills = [[text for text in game.vocabulary(seat) if text.startswith("fill")] for seat in (0, 1)]
    code, message = game.check(state, 0, 1, game.parse("fill_dish_with_food(blender0)"))
    assert len(fills[0]) == 2 and "{" not in message
    if interface == "paper":
        assert fills[1] == [] and code == "FILL_NOT_LISTED" and message.startswith("Alice does not fill dishes")
        assert game.parse("wait(20)") == game.parse("wait(1)") + 19
    else:
        assert len(fills[1]) == 2 and code == "FILL_NOT_NEEDED"
        with pytest.raises(text.ActionError, match="at most 5"):
            game.parse("wait(20)")


def test_every_reason_has_a_case():
    elsewhere = {"NO_EFFECT", "NO_SUCH_ACTION", "FILL_NOT_LISTED"}
    assert {case[4] for case in REFUSALS} | elsewhere == {reason.name for reason in Reason}


@pytest.mark.parametrize(
    "plan, actions, requests",
    [
        ("", (), ()),
        (" ; ;", (), ()),
        ("[NOTHING]", (), ()),
        ("wait(1)", ("wait(1)",), ()),
        ("cook(pot0) ;  place_obj_on_counter() ; ", ("cook(pot0)", "place_obj_on_counter()"), ()),
        ("request('cut(chopping_board0)'); wait(1)", ("wait(1)",), ("cut(chopping_board0)",)),
        ('wait(2); request("pickup(egg, counter)")', ("wait(2)",), ("pickup(egg, counter)",)),
        ("request(stir(blender0));request( 'wait(1)' )", (), ("stir(blender0)", "wait(1)")),
        ("1. request('wait(1)'); 2. cook(pot0)", ("2. cook(pot0)",), ("wait(1)",)),
        ("Request('wait(1)')", (), ("wait(1)",)),
        ("cook(pot0)\n; bake(oven0)", ("cook(pot0)", "bake(oven0)"), ()),
    ],
)
def test_parse_plan(plan, actions, requests):
    assert text.parse_plan(plan) == text.Plan(actions, requests)


def test_parse_plan_of_a_game_splits_waits(paper):
    assert paper.parse_plan("cook(pot0); wait(3); request('wait(2)')") == (
        ["cook(pot0)", "wait(1)", "wait(1)", "wait(1)"],
        ["wait(2)"],
    )
    assert paper.parse_plan("wait(9)")[0] == ["wait(9)"]  # refused when its turn comes


def test_vocabulary_is_what_a_seat_can_reach(paper):
    chef, helper = (set(paper.vocabulary(seat)) for seat in (0, 1))
    assert {"cook(pot0)", "bake(oven0)", "deliver()", "fill_dish_with_food(pot0)"} <= chef - helper
    assert {"cut(chopping_board0)", "pickup(egg,ingredient_dispenser)", "pickup(dish,dish_dispenser)"} <= helper - chef
    assert {"place_obj_on_counter()", "pickup(egg,counter)"} <= chef & helper
    assert not any(action.startswith(("wait", "continue")) for action in chef | helper)


def foods_below(food: str) -> set[str]:
    recipe = PAPER.recipe_by_product.get(food)
    return {food} if recipe is None else {food}.union(*(foods_below(part) for part in recipe.inputs))


@pytest.mark.parametrize("task", PAPER.tasks)
def test_recipe_text_tells_every_ingredient_and_step(task):
    lines = text.recipe_text(PAPER, task).split("\n")
    assert lines[0] == f"Recipe: {PAPER.tasks[task].title}"
    for food in foods_below(task):
        recipe = PAPER.recipe_by_product.get(food)
        if recipe is None:
            assert f"1 {food}" in lines[1]
        else:
            step = next(line for line in lines[2:] if f"to get {food}." in line)
            assert all(part in step for part in recipe.inputs)
            assert recipe.utensil.replace("_", " ") in step and "3 timesteps" in step
    items = [line.partition("to get ")[2].rstrip(".") for line in lines[2:] if "to get" in line]
    for k, product in enumerate(items):  # inputs come before what needs them
        known = PAPER.recipe_by_product.get(product)
        assert known is not None and all(
            part in items[:k] for part in known.inputs if PAPER.recipe_by_product.get(part)
        )
    assert lines[-1].endswith(f"Deliver the {task}.")
    assert any("Fill a dish" in line for line in lines) == PAPER.serving[task]
    assert [line.partition(".")[0] for line in lines[2:]] == [str(n + 1) for n in range(len(lines) - 2)]


def told(kitchen: str = "paper", scene: Any = None, task: str = "boiled_egg", **options: Any) -> list[str]:
    game = CollabOvercooked(kitchen=kitchen, task=task, **options)
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, np.bool_), {"state": scene} if scene else None)
    return [game.describe(state, 0, seat) for seat in range(game.n_agents)]


def test_describe_shows_the_recipe_only_to_those_who_know_it():
    chef, helper = told()
    assert "Recipe: Boiled Egg" in chef and "Recipe:" not in helper
    assert "You do not have the recipe." in helper and "You do not have the recipe." not in chef
    assert "boiled_egg for" not in helper and "to get" not in helper
    both = told(knowledge="full")
    assert all("Recipe: Boiled Egg" in one for one in both)


SCENE = {
    "agents": [
        {"position": [3, 1], "facing": "north", "holding": {"item": "baked_carrot_soup", "plated": True}},
        {"position": [1, 2], "facing": "north", "holding": None, "action": "wait(3)", "timer": 2},
    ],
    "counters": [
        {"position": [4, 1], "item": "apple", "plated": False},
        {"position": [1, 0], "item": "tofu", "plated": False},
        {"position": [2, 1], "item": "egg", "plated": False},
        {"position": [2, 2], "item": "egg", "plated": False},
        {"position": [0, 0], "item": "corn", "plated": False},
    ],
    "utensils": {
        "pot0": {"contents": [], "product": "boiled_egg", "timer": 1, "time": 3},
        "oven0": {"contents": [], "product": "baked_bell_pepper", "timer": 3, "time": 3},
        "blender0": {"contents": ["tofu", "egg"], "product": None, "timer": 0, "time": 0},
    },
}


def test_describe_shows_private_counters_only_to_their_users():
    chef, helper = told(scene=SCENE)
    assert "2 egg" in chef and "2 egg" in helper
    assert "apple" in chef.split("Counters")[1] and "apple" not in helper.split("Counters")[1]
    assert "tofu" in helper.split("Counters")[1] and "tofu" not in chef.split("Counters")[1]
    assert "corn" not in chef.split("Counters")[1] and "corn" not in helper.split("Counters")[1]
    assert (
        "; shared: 1 of 3 free; yours: 1 of 2 free." in chef and "; shared: 1 of 3 free; yours: 0 of 1 free." in helper
    )


def test_the_global_state_has_positions_and_all_counters():
    """Figure 12 of the paper; by default neither stands in the text."""
    for description, other in zip(told(scene=SCENE, global_state=True), told(scene=SCENE), strict=True):
        counters = description.split("Counters")[1]
        assert all(item in counters for item in ("apple", "tofu", "2 egg", "corn"))
        assert "counter at (1, 0) with tofu" in description and "pot0 at (3, 0)" in description
        assert "you at (" in description and "facing" in description
        assert "at (" not in other and "facing" not in other


def test_describe_hands_utensils_and_what_is_being_done():
    chef, helper = told(scene=SCENE)
    assert "You hold baked_carrot_soup on a dish, free to act." in chef
    assert "Bob holds baked_carrot_soup on a dish, free to act." in helper
    assert "Alice holds nothing, carrying out wait(3)." in chef
    assert "You hold nothing, carrying out wait(3)." in helper
    for one in (chef, helper):
        assert "pot0: making boiled_egg, 2 timesteps left." in one
        assert "oven0: baked_bell_pepper is ready." in one
        assert "blender0: holds tofu, egg, not started." in one
        assert "chopping_board0: empty." in one
        assert "Timestep 0 of 25." in one and "Order: boiled_egg." in one


def test_describe_space_and_roles_of_three():
    bob, alice, carol = told("three_agents")
    assert "Alice (assistant, you)" in alice and "Alice (assistant)" in bob
    assert "Carol (assistant, you) can use: counter, ingredient_dispenser" in carol
    assert "Bob (chef) can use: counter, serving, pot0, pot1, oven0." in carol


def test_describe_lists_the_orders_that_follow():
    game = CollabOvercooked(orders=True)
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, np.bool_), {"orders": ["boiled_egg", "baked_carrot_soup", "boiled_mushroom"]})
    lines = game.describe(state, 0, 1).split("\n")
    assert lines[1:3] == ["Order: boiled_egg.", "Next orders: baked_carrot_soup, boiled_mushroom."]
