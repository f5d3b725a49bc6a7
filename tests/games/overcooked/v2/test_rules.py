"""Every rule of OvercookedV2 alone, as a picture where a kitchen is needed; see ``world``."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from games.overcooked.v2.world import Rollout

from collab_overcooked.games.overcooked.engine.constants import (
    NOT_COOKING,
    Effect,
    Item,
    LayoutSize,
    Param,
    Player,
    Terrain,
    Thing,
)
from collab_overcooked.games.overcooked.engine.rules import (
    age_button,
    cook,
    count_ingredients,
    effect_at_pot,
    effect_of,
)
from collab_overcooked.games.overcooked.engine.spec import counts_of
from collab_overcooked.games.overcooked.v2.engine import rules
from collab_overcooked.games.overcooked.v2.engine.constants import Event
from collab_overcooked.games.overcooked.v2.engine.spec import number_of_recipe
from collab_overcooked.kernels.rng import seed_states

ROOM = """
    WWPWX
    0a  W
    1b  B
    WWLWR
"""
WAITING = " . . . . . . . . . . . . . . . . . . . ."  # 20 steps
TIMES = np.full(64, 20, np.int32)
AS_IT_IS = np.zeros(10, np.int32)  # no ingredient needs preparation


def thing(item=Item.NONE, kinds=(), tick=0):
    return np.array([item, number_of_recipe(kinds), tick], np.int32)


def pot(*kinds, tick=NOT_COOKING):
    return thing(Item.SOUP, kinds, tick)


def params_of(auto_start):
    params = np.zeros(len(Param), np.int32)
    params[[Param.AUTO_START, Param.FULL_WAITS]] = auto_start, 1
    return params


EMPTY, ONION, TOMATO, PLATE = thing(), thing(Item.ONION), thing(Item.TOMATO), thing(Item.DISH)


def world(*facts: str, rows: str = ROOM) -> str:
    return "\n".join([rows.strip(), *facts])


def test_count_held_plates_leaves_out_plated_soup():
    players = np.zeros((4, len(Player)), np.int32)
    players[:, Player.HAND] = Item.DISH, Item.SOUP, Item.ONION, Item.DISH
    assert rules.count_held_plates(players) == 2


def test_count_used_pots():
    cells = np.array([[pot(0), EMPTY, ONION]], np.int32)
    assert rules.count_used_pots(np.array([[0, 0], [1, 0]], np.int32), 2, cells) == 1


@pytest.mark.parametrize(
    ("hand", "cell", "auto", "explicit"),
    [
        (EMPTY, EMPTY, Effect.NONE, Effect.NONE),
        (ONION, EMPTY, Effect.POTTING, Effect.POTTING),
        (TOMATO, pot(0, 0), Effect.POTTING, Effect.POTTING),
        (PLATE, pot(0), Effect.NONE, Effect.NONE),
        (EMPTY, pot(0, 0), Effect.NONE, Effect.START),
        (EMPTY, pot(0, 0, 0), Effect.START, Effect.START),
        (ONION, pot(0, 0, 0), Effect.START, Effect.NONE),  # an original's quirk
        (PLATE, pot(0, 0, 0, tick=15), Effect.NONE, Effect.NONE),
        (ONION, pot(0, tick=15), Effect.NONE, Effect.NONE),
        (PLATE, pot(0, 0, 1, tick=20), Effect.SOUP_PICKUP, Effect.SOUP_PICKUP),
        (EMPTY, pot(0, 0, 1, tick=20), Effect.NONE, Effect.NONE),
        (thing(Item.SOUP, (0,), 20), EMPTY, Effect.NONE, Effect.NONE),
    ],
)
def test_effect_at_pot(hand, cell, auto, explicit):
    effects = [effect_at_pot(hand, cell, TIMES, AS_IT_IS, params_of(starts)) for starts in (1, 0)]
    assert effects == [auto, explicit]


@pytest.mark.parametrize(
    ("kind", "hand", "cell", "event"),
    [
        (Terrain.FLOOR, EMPTY, EMPTY, None),
        (Terrain.WALL, EMPTY, EMPTY, None),
        (Terrain.COUNTER, ONION, EMPTY, Event.DROP),
        (Terrain.COUNTER, ONION, PLATE, None),
        (Terrain.COUNTER, EMPTY, PLATE, Event.PICKUP),
        (Terrain.COUNTER, EMPTY, EMPTY, None),
        (Terrain.SERVING, PLATE, EMPTY, None),
        (Terrain.SERVING, thing(Item.SOUP, (0, 0, 0), 20), EMPTY, Event.SOUP_DELIVERY),
        (Terrain.SERVING, thing(Item.SOUP, (0, 0, 1), 20), EMPTY, Event.WRONG_DELIVERY),
        (Terrain.INDICATOR, ONION, EMPTY, None),
        (Terrain.INDICATOR, EMPTY, EMPTY, None),
        (Terrain.BUTTON, EMPTY, EMPTY, Event.PRESS),
        (Terrain.BUTTON, ONION, EMPTY, None),
        (Terrain.DISHES, EMPTY, EMPTY, Event.PLATE_PICKUP),
        (Terrain.DISHES, PLATE, EMPTY, None),
        (Terrain.MUSHROOMS, EMPTY, EMPTY, Event.INGREDIENT_PICKUP),
        (Terrain.ONIONS, ONION, EMPTY, None),
    ],
)
def test_event_of(kind, hand, cell, event):
    effect = effect_of(hand, cell, kind, TIMES, AS_IT_IS, params_of(1))
    if event is None:
        assert effect == Effect.NONE
    else:
        assert rules.event_of(int(effect), hand, kind, number_of_recipe((0, 0, 0))) == event


def test_use_pot_carries_ingredients_into_a_pot():
    rollout = Rollout(world()).play("W I E N I W I E N I", ". . . . . . . . . W I E")
    assert rollout.facts == ["b east holds tomato", "(2,0) soup onion onion"]


def test_use_pot_starts_a_full_pot_that_is_ready_after_20_steps_with_its_own():
    rollout = Rollout(world("a north holds onion", "(2,0) soup onion onion", rows=ROOM.replace("0a ", "0 a")))
    assert rollout.play("I").facts == ["(2,0) soup onion onion onion 19 left"]
    assert rollout.play(WAITING[: 2 * 18]).facts == ["(2,0) soup onion onion onion 1 left"]
    assert rollout.play(".").facts == ["(2,0) soup onion onion onion ready"]


def test_apply_effect_takes_soup_and_puts_things_down():
    rollout = Rollout(world("a north holds plate", "(2,0) soup onion ready", rows=ROOM.replace("0a ", "0 a")))
    assert rollout.play("I").facts == ["a north holds dish onion"]
    assert rollout.play("W N I").facts == ["(1,0) dish onion"]
    assert rollout.play("I").facts == ["a north holds dish onion"]


def test_points_for():
    dish = "a east holds dish onion onion {}"
    rows = ROOM.replace("0a  W", "0  aX")
    for name, options, points in (("onion", {}, 20), ("tomato", {}, 0), ("tomato", {"negative_rewards": True}, -20)):
        rollout = Rollout(world(dish.format(name), rows=rows), **options).play("I")
        assert rollout.paid == [[points, points]] and rollout.facts == ["a east"]
        assert rollout.scene["delivered"] == (name == "onion") and rollout.scene["score"] == points
    assert [rules.reward_for(event, -20) for event in Event] == [0] * 7 + [20, -20, -5, 0, 0, 0]


def test_points_for_a_button_are_paid_each_time_it_is_pressed():
    rollout = Rollout(world("b south", rows=ROOM.replace("1b ", "1 b")))
    assert rollout.play("", "I").facts == ["b south", "(2,3) button 9"] and rollout.paid == [[-5, -5]]
    assert rollout.play("", ". . I").facts[1:] == ["(2,3) button 9"] and rollout.paid[-1] == [-5, -5]
    assert rollout.play(WAITING[: 2 * 8]).facts[1:] == ["(2,3) button 1"]
    assert rollout.play(".").facts == ["b south"]


RECIPE = (0, 0, 1)


@pytest.mark.parametrize(
    ("event", "held", "soup", "auto_start", "paid"),
    [
        (Event.POTTING, Item.ONION, (0,), 1, 3),
        (Event.POTTING, Item.ONION, (0, 0), 1, 0),
        (Event.POTTING, Item.CARROT, (), 1, 0),  # nor is anything taken off for it, as in the original
        (Event.SOUP_PICKUP, Item.DISH, RECIPE, 1, 5),
        (Event.SOUP_PICKUP, Item.DISH, (0, 0, 0), 1, 0),
        (Event.START, Item.NONE, RECIPE, 0, 5),
        (Event.START, Item.NONE, RECIPE, 1, 0),
        (Event.START, Item.NONE, (0, 0), 0, 0),
        (Event.DROP, Item.ONION, (), 1, 0),
    ],
)
def test_shaped_for(event, held, soup, auto_start, paid):
    assert rules.shaped_for(event, held, number_of_recipe(soup), number_of_recipe(RECIPE), auto_start) == paid


@pytest.mark.parametrize(
    ("facts", "paid"),
    [
        (["(2,0) soup onion"], 3),
        ([], 0),
        (["(2,0) soup onion", "(0,0) plate"], 0),
        (["(2,0) soup onion", "b north holds plate"], 0),
        (["(2,0) soup onion ready", "(0,0) dish onion"], 3),
    ],
)
def test_is_plate_wanted(facts, paid):
    rollout = Rollout(world("a east", *facts, rows="WWPWX\n0 b R\n1  aB\nWWWWW"), reward="shaped").play("I")
    assert rollout.shaped == [[paid, 0]] and rollout.paid == [[paid, 0]]


def test_interact_in_turn_comes_after_moves_and_in_seat_order():
    rows = "WWWWX\n0 abW\nB   P\nWWWWW"
    rollout = Rollout(world("a north holds plate", "b north", rows=rows)).play("I", "I")
    assert rollout.facts == ["(2,0) plate"]  # b faces another cell
    rollout = Rollout(world("a east holds plate", "b west", rows="WWXWW\n0aWbB\nWPWWW")).play("I", "I")
    assert rollout.facts == ["a east", "b west holds plate"]
    rollout = Rollout(world("a east", "b west holds plate", rows="WWXWW\n0aWbB\nWPWWW")).play("I", "I")
    assert rollout.facts == ["a east", "b west", "(2,1) plate"]
    assert Rollout(world("a south holds onion", rows="WWXWW\n0a  B\nWPWWW")).play("E").play("I").facts == [
        "a east holds onion"
    ]


@pytest.mark.parametrize(
    ("scripts", "picture"),
    [
        (("E", "W"), "0a bB"),  # the same cell
        (("E", "."), "0 abB"),
    ],
)
def test_move_players_goes_back_where_they_meet(scripts, picture):
    rollout = Rollout(world(rows="WPXWR\n0a bB\nWWWWW")).play(*scripts)
    assert rollout.picture.split("\n")[1] == picture


def test_move_players_does_not_swap():
    assert Rollout(world(rows="WPXWR\n0ab B\nWWWWW")).play("E", "W").picture.split("\n")[1] == "0ab B"


def test_pots_cook():
    for before, after in ((pot(0, tick=18), 19), (pot(0, tick=19), 20), (pot(0, tick=20), 20), (pot(0), NOT_COOKING)):
        cook(before, TIMES, 0)
        assert before[Thing.TICK] == after


def test_age_button():
    for before, after in ((1, 0), (0, 0)):
        button = thing(tick=before)
        age_button(button)
        assert button.tolist() == thing(tick=after).tolist()


def test_draw_recipe_is_uniform_and_only_correct_deliveries_redraw():
    recipes, rng = np.array([4, 16, 64, 0], np.int32), seed_states([1])[0]
    counts = Counter(int(rules.draw_recipe(recipes, 3, rng)) for _ in range(3000))
    assert set(counts) == {4, 16, 64} and max(counts.values()) - min(counts.values()) < 200
    rows, options = ROOM.replace("0a  W", "0  aX"), {"redraw_recipe": True, "view_radius": 1}
    wrong = Rollout(world("a east holds dish tomato tomato tomato", "known to a", rows=rows), **options).play("I")
    assert wrong.known_to == "a"
    rollouts = [
        Rollout(world("a east holds dish onion onion onion", "known to a", rows=rows), **options) for _ in range(8)
    ]
    for seed, rollout in enumerate(rollouts):
        rollout.state.rng[:] = seed_states([seed])
        assert rollout.play("I").known_to == ""
    assert len({tuple(rollout.scene["recipe"]) for rollout in rollouts}) > 1


@pytest.mark.parametrize(("radius", "expected"), [(1, [0, 0, 0]), (2, [1, 0, 0]), (3, [1, 1, 0]), (-1, [1, 1, 1])])
def test_is_in_view_is_a_square(radius, expected):
    player = np.zeros(len(Player), np.int32)
    player[[Player.X, Player.Y]] = 1
    assert [rules.is_in_view(x, y, player, radius) for x, y in ((3, 3), (4, 1), (1, 9))] == expected


def test_shows_recipe():
    idle, pressed = EMPTY, thing(tick=4)
    cases = (idle, Terrain.INDICATOR), (pressed, Terrain.BUTTON), (idle, Terrain.BUTTON), (pressed, Terrain.POT)
    assert [rules.shows_recipe(*case) for case in cases] == [1, 1, 0, 0]


HALL = """
    WWPWWWWXW
    Ra  W  bL
    W0W1WWWBW
"""


def test_learn_recipe_by_sight_and_by_a_button_and_remember_it():
    rollout = Rollout(HALL, view_radius=2)
    assert rollout.known_to == "a"
    assert rollout.play("", "E I").known_to == "ab" and rollout.paid[-1] == [-5, -5]
    assert rollout.play("E E", WAITING).known_to == "ab"  # remembered out of view, and once the button is dark
    assert Rollout(HALL).known_to == "ab"
    assert Rollout(HALL, recipes=[[0, 0, 0]], view_radius=1).play("E E").known_to == "ab"


def test_draw_ingredients():
    rng = seed_states([2])[0]
    drawn = {tuple(counts_of(int(rules.draw_ingredients(2, 3, rng)))) for _ in range(300)}
    assert drawn == {(2,), (1, 1), (1, 0, 1), (0, 2), (0, 1, 1), (0, 0, 2)}


def test_random_thing_by_shares():
    rng, tables = seed_states([3])[0], Rollout(HALL, recipes=[[0, 0, 1]]).game.compiled.tables
    assert tables.frames[0, LayoutSize.KINDS] == 2
    counts = Counter()
    for _ in range(4000):
        drawn = thing()
        rules.random_thing(drawn, 2, 5, 3, tables, 0, rng)
        counts[tuple(drawn.tolist())] += 1
    shares = {
        tuple(EMPTY.tolist()): 0.5,
        tuple(PLATE.tolist()): 0.1,
        tuple(ONION.tolist()): 0.125,
        tuple(TOMATO.tolist()): 0.125,
        tuple(thing(Item.SOUP, (0, 0, 1), 20).tolist()): 0.15,
    }
    assert counts.keys() == shares.keys()
    assert all(abs(counts[content] / 4000 - share) < 0.03 for content, share in shares.items())


def test_fill_pot():
    rng, states = seed_states([4])[0], Counter()
    for _ in range(2000):
        cell = thing()
        rules.fill_pot(cell, 2, TIMES, rng)
        item, soup, tick = cell.tolist()
        count = count_ingredients(soup)
        state = {NOT_COOKING: "idle", 20: "cooked"}.get(tick, "cooking") if item != Item.NONE else "empty"
        assert item in (Item.NONE, Item.SOUP) and NOT_COOKING <= tick <= 20
        assert (state != "idle" or 1 <= count <= 3) and (state != "cooking" or count == 3)
        states[state] += 1
    shares = {"empty": 0.4, "idle": 0.35, "cooking": 0.15, "cooked": 0.1}
    assert all(abs(states[state] / 2000 - share) < 0.04 for state, share in shares.items())


def test_permute_channels_exchanges_the_named_ones():
    rng, orders = seed_states([5])[0], Counter()
    for _ in range(600):
        channels = np.zeros((1, 4), np.int32)
        rules.permute_channels(channels, np.array([0, 1, 3], np.int32), rng)
        orders[tuple(channels[0].tolist())] += 1
    assert len(orders) == 6 and min(orders.values()) > 60
    assert all(order[2] == 2 and sorted(order) == [0, 1, 2, 3] for order in orders)


def test_observations_permute_a_player_s_channels_only():
    rollout = Rollout("WWPWX\n0ab 1\nWWBWR", permuted_ingredients=[0, 1])
    rollout.state.channels[0] = [[1, 0], [0, 1]]
    piles = 2 * 9 + 6
    seen = [rollout.observed(seat) for seat in (0, 1)]
    assert [seen[seat][1, 0, piles : piles + 2].tolist() for seat in (0, 1)] == [[0, 1], [1, 0]]
    np.testing.assert_array_equal(seen[0][..., piles], seen[1][..., piles + 1])
