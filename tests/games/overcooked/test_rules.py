"""Every rule of Overcooked alone, as a picture where a kitchen is needed; see tests/soups.py."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from games.collab_overcooked.world import drawn
from games.overcooked.world import open_world, play

from collab_overcooked.games.overcooked.engine import rules
from collab_overcooked.games.overcooked.engine.constants import (
    FIRST_INGREDIENT,
    HAND_END,
    NOTHING,
    Action,
    Clock,
    Effect,
    Event,
    EventColumn,
    Item,
    Param,
    Player,
    PotCounts,
    Reason,
    Terrain,
    Thing,
)
from collab_overcooked.games.overcooked.engine.spec import number_of
from collab_overcooked.games.overcooked.engine.step import end_step
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.rng import seed_states

TIMES = np.full(16, 20, np.int32)
AS_IT_IS = np.zeros(10, np.int32)  # no ingredient needs preparation
SOUPS = [counts for counts in product(range(4), repeat=5) if sum(counts) <= 3]
ROOM = """
    XXPXX
    O 1 O
    X 2 X
    XDXSX
"""
TWO_POTS = """
    XXPPX
    O 1 O
    T 2 X
    XDXSX
"""


def thing(item="none", onions=0, tomatoes=0, tick=0):
    return np.array([Item[item.upper()], number_of((onions, tomatoes)), tick], np.int32)


def params_of(**entries):
    """Return parameters of a game whose pots start by themselves, with some entries replaced, in lower case."""
    params = np.zeros(len(Param), np.int32)
    for name, value in {"auto_start": 1, "burn": NOTHING, **entries}.items():
        params[Param[name.upper()]] = value
    return params


def hands(*items):
    players = np.zeros((len(items), len(Player)), np.int32)
    for player, item in zip(players, items, strict=True):
        player[Player.HAND] = Item[item.upper()]
    return players


def pots(*soups):
    """A row of cells that are all pots, and where they are."""
    return np.array([[x, 0] for x in range(len(soups))], np.int32), np.array([soups], np.int32)


NONE, HALF, WAITING = thing(), thing("soup", 1, 1, -1), thing("soup", 3, 0, -1)
STARTED, COOKING, READY = thing("soup", 1, 0, 0), thing("soup", 3, 0, 7), thing("soup", 2, 0, 20)
ALL_POTS = (NONE, HALF, WAITING, STARTED, COOKING, READY)


def test_put():
    cell = thing("soup", 2, 1, 20)
    rules.put(cell, Item.DISH)
    assert cell.tolist() == thing("dish").tolist()


def test_move_thing():
    source, target = thing("soup", 2, 1, 20), thing()
    rules.move_thing(source, target)
    assert (source.tolist(), target.tolist()) == ([0] * 3, thing("soup", 2, 1, 20).tolist())


def test_count_ingredients():
    assert [int(rules.count_ingredients(pot[Thing.SOUP])) for pot in ALL_POTS] == [0, 2, 3, 1, 3, 2]
    for counts in SOUPS:
        assert rules.count_ingredients(number_of(counts)) == sum(counts)


def test_count_kind():
    for counts in SOUPS:
        assert [int(rules.count_kind(number_of(counts), FIRST_INGREDIENT + kind)) for kind in range(5)] == [*counts]


def test_dispensed():
    given = {kind.name: int(rules.dispensed(kind)) for kind in Terrain}
    assert {name: Item(item).name for name, item in given.items() if item} == {
        "DISHES": "DISH",
        **{f"{item.name}{'ES' if item.name.endswith('O') else 'S'}": item.name for item in Item if item > Item.DISH},
    }


def test_is_idle():
    assert [bool(rules.is_idle(pot)) for pot in ALL_POTS] == [False, True, True, False, False, False]


def test_is_ready():
    assert [bool(rules.is_ready(pot, TIMES)) for pot in ALL_POTS] == [False] * 5 + [True]
    assert rules.is_ready(STARTED, np.zeros(16, np.int32))  # a soup that needs no time
    assert not rules.is_ready(HALF, np.zeros(16, np.int32))
    assert not rules.is_ready(thing("dish"), np.zeros(16, np.int32))


def test_is_full_with_three_or_once_started():
    assert [bool(rules.is_full(pot)) for pot in ALL_POTS] == [False, False, True, True, True, True]


def test_count_full_pots():
    assert rules.count_full_pots(*pots(*ALL_POTS)[:1], 6, pots(*ALL_POTS)[1]) == 4
    assert rules.count_full_pots(pots(READY, READY)[0], 1, pots(READY, READY)[1]) == 1


def test_count_dish_pots_leaves_out_full_ones_that_wait_for_their_start():
    assert rules.count_dish_pots(pots(*ALL_POTS)[0], 6, pots(*ALL_POTS)[1]) == 4
    assert rules.count_dish_pots(pots(WAITING)[0], 1, pots(WAITING)[1]) == 0


def test_held_by_others():
    players = hands("dish", "onion", "none")
    assert not rules.held_by_others(Item.DISH, 0, players)
    assert rules.held_by_others(Item.DISH, 1, players)
    assert rules.held_by_others(Item.DISH, 2, players)
    assert not rules.held_by_others(Item.SOUP, 0, players)


def test_lies_on_counter():
    terrain = np.array([[Terrain.COUNTER, Terrain.POT, Terrain.COUNTER]], np.int32)
    cells = np.array([[thing("dish"), thing("soup", 3, 0, 20), thing()]], np.int32)
    assert rules.lies_on_counter(Item.DISH, cells, terrain)
    assert not rules.lies_on_counter(Item.SOUP, cells, terrain)


@pytest.mark.parametrize(
    ("held", "dish_pots", "lying", "expected"),
    [
        (("none", "none"), 1, False, True),
        (("none", "none"), 0, False, False),
        (("none", "none"), 1, True, False),
        (("none", "dish"), 1, False, False),
        (("none", "dish"), 2, False, True),
        (("none", "dish", "none"), 2, False, True),
        (("none",), 1, False, True),
    ],
)
def test_is_dish_wanted(held, dish_pots, lying, expected):
    terrain = np.array([[Terrain.COUNTER]], np.int32)
    cells = np.array([[thing("dish" if lying else "none")]], np.int32)
    assert bool(rules.is_dish_wanted(dish_pots, hands(*held), cells, terrain)) is expected


@pytest.mark.parametrize(
    ("item", "other", "all_full", "useful"),
    [
        ("onion", "none", False, True),
        ("onion", "none", True, False),
        ("tomato", "none", True, False),
        ("onion", "dish", True, True),
        ("dish", "none", True, True),
        ("soup", "none", False, False),
    ],
)
def test_is_pickup_useful(item, other, all_full, useful):
    cells, terrain = np.zeros((1, 1, 3), np.int32), np.full((1, 1), Terrain.COUNTER, np.int32)
    pots = PotCounts(total=2, full=2 if all_full else 1, with_food=1)
    args = hands("none", other), cells, terrain, pots
    assert bool(rules.is_pickup_useful(Item[item.upper()], 0, *args)) is useful


@pytest.mark.parametrize(
    ("item", "other", "full", "of", "useful"),
    [
        ("onion", "none", 2, 2, True),
        ("tomato", "none", 2, 2, True),
        ("onion", "dish", 2, 2, False),
        ("onion", "none", 1, 2, False),
        ("dish", "none", 0, 2, True),
        ("dish", "onion", 0, 2, False),
        ("dish", "tomato", 0, 2, True),
        ("dish", "none", 1, 2, False),
        ("soup", "none", 2, 2, False),
        ("soup", "none", 0, 2, False),
    ],
)
def test_is_drop_useful(item, other, full, of, useful):
    players = hands(item, other)
    pots = PotCounts(total=of, full=full, with_food=full)
    assert bool(rules.is_drop_useful(Item[item.upper()], 0, players, pots)) is useful


def test_event_bits():
    assert rules.event_bits(Event.ONION_DROP, False) == 1 << Event.ONION_DROP
    both = 1 << Event.ONION_DROP | 1 << Event.USEFUL_ONION_DROP
    assert rules.event_bits(Event.ONION_DROP, True) == both


@pytest.mark.parametrize(
    ("before", "after", "outcomes"),
    [(20, 20, ["optimal", "viable"]), (20, 13, ["viable"]), (20, 0, ["catastrophic"]), (0, 0, ["optimal", "useless"])],
)
@pytest.mark.parametrize("name", ["onion", "tomato"])
def test_potting_bits(name, before, after, outcomes):
    bits = rules.potting_bits(Item[name.upper()], before, after)
    names = [event.name.lower() for event in Event if bits >> event & 1]
    assert sorted(names) == sorted([f"potting_{name}", *(f"{outcome}_{name}_potting" for outcome in outcomes)])


HANDS = ("none", "onion", "tomato", "dish", "soup")


@pytest.mark.parametrize(
    ("kind", "cell", "answering"),
    [
        ("counter", NONE, ("onion", "tomato", "dish", "soup")),
        ("counter", thing("onion"), ("none",)),
        ("counter", thing("soup", 3, 0, 20), ("none",)),
        ("onions", NONE, ("none",)),
        ("tomatoes", NONE, ("none",)),
        ("dishes", NONE, ("none",)),
        ("serving", NONE, ("soup",)),
        ("pot", NONE, ("onion", "tomato")),
        ("pot", HALF, ("onion", "tomato")),
        ("pot", WAITING, ()),
        ("pot", STARTED, ()),
        ("pot", COOKING, ()),
        ("pot", READY, ("dish",)),
        ("gate", NONE, ("none",)),
        ("gate", thing("open", tick=3), ()),
        ("floor", NONE, ()),
        ("wall", NONE, ()),
    ],
)
def test_effect_of(kind, cell, answering):
    effects = {
        held: rules.effect_of(thing(held), cell, int(Terrain[kind.upper()]), TIMES, AS_IT_IS, params_of())
        for held in HANDS
    }
    assert [held for held, effect in effects.items() if effect != Effect.NONE] == list(answering)


@pytest.mark.parametrize(("pot", "answering"), [(NONE, False), (HALF, True), (WAITING, True), (COOKING, False)])
def test_effect_at_pot_that_is_started_by_hand(pot, answering):
    effect = rules.effect_at_pot(thing(), pot, TIMES, AS_IT_IS, params_of(auto_start=0))
    assert effect == (Effect.START if answering else Effect.NONE)


def test_effect_of_gates_that_anyone_opens():
    params = params_of(gate_anyone=1)
    assert {rules.effect_of(thing(held), NONE, int(Terrain.GATE), TIMES, AS_IT_IS, params) for held in HANDS} == {
        Effect.OPEN
    }


def test_advance_moves_belts_and_cooks() -> None:
    grid = "XXPXX\nO1 2O\nX>X X\nXDXSX"
    rollout = play(grid + "\n1 north\n2 north\n(2,0) onion, onion, onion 18/20\n(1,2) dish", "1: .")
    assert rollout.facts == ["(2,0) onion, onion, onion 19/20", "(2,2) dish"]


def test_choose_primitives_refuses_other_numbers():
    game, events = open_world(ROOM).game, np.zeros((2, len(EventColumn)), np.int32)
    rules.choose_primitives(np.array([Action.INTERACT, 9], np.int32), game.compiled.tables.levels, events)
    assert events[:, EventColumn.PRIMITIVE].tolist() == [Action.INTERACT, Action.STAY]
    assert events[:, EventColumn.REASON].tolist() == [Reason.OK, Reason.NO_SUCH_ACTION]


def test_end_step_cuts_an_episode_at_its_limit_and_adds_shaped_rewards():
    rollout = play(ROOM + "2 north holds onion", ". . .", reward="shaped")
    row, out = row_at(rollout.state, 0), row_at(rollout.out, 0)
    out.sparse[:], out.shaped[:] = (20, 0), (0, 3)
    row.clock[[Clock.T, Clock.LIMIT]] = 9, 10
    assert end_step(row, out, 1) == (False, False) and out.rewards.tolist() == [20, 23]
    row.clock[Clock.T] = 10
    assert end_step(row, out, 0) == (False, True) and out.rewards.tolist() == [20, 20]


def test_one_of():
    assert [rules.one_of(item) for item in (Item.ONION, Item.TOMATO, Item.CARROT)] == [1, 4, 16]


def test_add_ingredient():
    pot = thing()
    for name in ("tomato", "onion", "tomato"):
        hand = thing(name)
        rules.add_ingredient(hand, pot)
        assert hand.tolist() == [0] * 3
    assert pot.tolist() == thing("soup", 1, 2, -1).tolist()


def test_use_pot_fills_it_until_it_is_full():
    rollout = play(
        ROOM + "1 north holds onion\n2 north holds onion\n(2,0) onion, tomato",
        "1: I E\n2: . N N I",
        dynamics="explicit",
    )
    assert rollout.last == drawn("XXPXX\nO 21O\nX   X\nXDXSX\n1 east\n2 north holds onion\n(2,0) onion, onion, tomato")
    assert rollout.events_of(1)[0] == "potting_onion"
    assert rollout.events_of(2) == []
    assert rollout.refusals[3] == [None, "NO_EFFECT"]


def test_use_pot_gives_ready_soup_to_a_dish():
    rollout = play(ROOM + "1 north holds dish\n(2,0) onion, onion, onion 19/20", "I I")
    assert rollout.refusals == [["NO_EFFECT", None], [None, None]]
    assert rollout.facts == ["1 north holds soup(onion, onion, onion)"]
    assert (rollout.events_of(1), rollout.shaped[1]) == (["soup_pickup"], [5, 0])


def test_use_pot_starts_it_with_empty_hands_where_it_does_not_start_by_itself():
    rollout = play(ROOM + "(2,0) onion", "I I", dynamics="explicit")
    assert rollout.facts == ["(2,0) onion 2/20"]
    assert rollout.refusals == [[None, None], ["NO_EFFECT", None]]
    assert play(ROOM + "(2,0) onion", "I").facts == ["(2,0) onion"]


def test_apply_effect_never_swaps():
    rollout = play("XXPXX\nO1  O\nX 2 X\nXDXSX\n1 north holds onion\n2 south\n(1,0) dish\n(2,3) dish", "1: I\n2: I I")
    assert rollout.facts == ["1 north holds onion", "2 south", "(1,0) dish", "(2,3) dish"]
    assert rollout.refusals == [["NO_EFFECT", None], [None, None]]
    assert rollout.events_of(2) == ["dish_pickup", "dish_drop"]


def test_apply_effect_takes_what_lies_there_with_all_that_is_in_it():
    rollout = play("XXPXX\nO1 2O\nX   X\nXDXSX\n1 west\n(0,2) soup(onion, tomato)", "S W I E I")
    assert rollout.facts == ["1 east holds soup(onion, tomato)"]
    assert rollout.events_of(1) == ["soup_pickup"]
    assert rollout.shaped[2] == [0, 0]  # soup off a counter pays nothing


def test_events_of_a_dispenser_that_takes_nothing_back():
    rollout = play(ROOM, "W W I I")
    assert rollout.facts == ["1 west holds onion"]
    assert rollout.refusals[3] == ["NO_EFFECT", None]
    assert rollout.events_of(1) == ["onion_pickup", "useful_onion_pickup"]


def test_events_of_taking_a_tomato_are_none():
    rollout = play(TWO_POTS, "2: W W I")
    assert rollout.facts == ["2 west holds tomato"]
    assert rollout.events_of(2) == []


def test_interact_in_turn_pays_for_soup():
    rollout = play("XXPXX\nO 2 O\nX  1X\nXDXSX\n1 south holds soup(onion, onion, onion)", "1: I")
    assert rollout.facts[0] == "1 south" and rollout.sparse == [[20, 0]]


@pytest.mark.parametrize(
    ("event", "kind", "paid"),
    [
        (Event.POTTING_ONION, "pot", 3),
        (Event.POTTING_TOMATO, "pot", 3),
        (Event.USEFUL_DISH_PICKUP, "dishes", 4),
        (Event.DISH_PICKUP, "dishes", 0),
        (Event.SOUP_PICKUP, "pot", 5),
        (Event.SOUP_PICKUP, "counter", 0),
        (Event.SOUP_DELIVERY, "serving", 0),
    ],
)
def test_shaped_pay(event, kind, paid):
    assert rules.shaped_reward(1 << event, Terrain[kind.upper()], np.array([3, 4, 5], np.float32)) == paid


@pytest.mark.parametrize(
    ("facing", "held", "after"),
    [
        ("north", "onion", ["(2,0) onion"]),
        ("north", "none", []),
        ("west", "none", ["1 west holds dish"]),
        ("east", "none", ["1 east", "(3,1) open 1"]),
        ("south", "soup(onion, onion, onion)", ["1 south"]),
        ("south", "onion", ["1 south holds onion"]),
    ],
)
def test_interact(facing, held, after):
    holds = "" if held == "none" else f" holds {held}"
    assert play(f"XXPXXX\nXD1G2O\nXXSXXX\n1 {facing}{holds}", "I").facts == after


def test_interact_with_floor_or_with_whoever_stands_there_does_nothing():
    rollout = play("XXPXX\nO1 2O\nXDSXX\n1 east\n2 west holds onion", "1: I E I")
    assert rollout.facts == ["1 east", "2 west holds onion"]
    assert [row[0] for row in rollout.refusals] == ["NO_EFFECT", None, "NO_EFFECT"]


def test_interact_serves_soup_that_pays_the_whole_team():
    rollout = play("XXPXX\nO1 2O\nXDSXX\n1 east holds soup(onion, onion, onion)", "1: E S I")
    assert (rollout.sparse[2], rollout.rewards[2], rollout.shaped[2]) == ([20, 0], [20, 20], [0, 0])
    assert rollout.events_of(1) == ["soup_delivery"]


def test_interact_in_turn_hands_over_in_one_step_from_the_earlier_seat_only():
    world = """
        XXPXX
        O1X2O
        X X X
        XDXSX
        1 east{}
        2 west{}
    """
    handed = play(world.format(" holds onion", ""), "1: I\n2: I")
    assert handed.facts == ["1 east", "2 west holds onion"]
    kept = play(world.format("", " holds onion"), "1: I\n2: I")
    assert kept.facts == ["1 east", "2 west", "(2,1) onion"]
    assert kept.refusals == [["NO_EFFECT", None]]


def test_interact_in_turn_counts_pots_before_all_interacts():
    """Player 1 takes the only soup, yet player 2 is still paid for its dish; one step later it would not be."""
    world = """
        XXPXX
        O 1 O
        X2  X
        XDXSX
        1 north holds dish
        2 south
        (2,0) onion, onion, onion ready
    """
    rollout = play(world, "1: I\n2: I")
    assert rollout.shaped == [[5, 3]]
    assert rollout.events_of(2) == ["dish_pickup", "useful_dish_pickup"]
    late = play(world, "1: I\n2: . I")
    assert late.shaped == [[5, 0], [0, 0]]


def test_can_enter():
    terrain = np.array([[Terrain.FLOOR, Terrain.COUNTER, Terrain.GATE, Terrain.GATE, Terrain.WALL]], np.int32)
    cells = np.zeros((1, 5, 4), np.int32)
    cells[0, 3, Thing.ITEM] = Item.OPEN
    assert [bool(rules.can_enter(x, 0, terrain, cells)) for x in range(5)] == [True, False, False, True, False]


@pytest.mark.parametrize(
    ("before", "script", "after"),
    [
        ("1 2 ", "1: E\n2: W", "1 2 "),  # both want the cell between them
        ("12  ", "1: E\n2: W", "12  "),  # or each other's
        ("12  ", "1: E\n2: E", " 12 "),  # following is allowed
        ("12  ", "1: E\n2: .", "12  "),  # walking into somebody is not
        (" 1 2", "1: W\n2: E", "1  2"),
    ],
)
def test_move_players(before, script, after):
    rollout = play(f"XXPXXX\nO{before}S\nXDXXXX", script)
    assert rollout.last.split("\n")[1] == f"O{after}S"


def test_move_players_turns_those_who_stay():
    rollout = play("XXPXXX\nO12  S\nXDXXXX", "1: E\n2: W")
    assert rollout.facts == ["1 east", "2 west"]


def test_move_players_stops_everybody_if_any_two_collide():
    rollout = play("XXPXXX\nO1 2 S\nX   3X\nXDXXXX", "1: E\n2: W\n3: W")
    assert rollout.last == drawn("XXPXXX\nO1 2 S\nX   3X\nXDXXXX\n1 east\n2 west\n3 west")
    assert play("XXPXXX\nO1 2 S\nX   3X\nXDXXXX", "1: E\n3: W").last.startswith("XXPXXX\nO 12 S\nX  3 X")


def test_move_players_comes_after_interacts():
    rollout = play("XXPXX\nO1  O\nX2  X\nXDXSX\n1 west\n2 north", "1: I\n2: N")
    assert rollout.facts == ["1 west holds onion"]


def test_cook_starts_full_pots_in_the_step_that_fills_them():
    world = ROOM + "1 north holds onion\n(2,0) onion, onion"
    rollout = play(world, "I" + " ." * 19)
    assert [split[-1] for split in map(str.splitlines, rollout.pictures[1:3])] == [
        "(2,0) onion, onion, onion 1/20",
        "(2,0) onion, onion, onion 2/20",
    ]
    assert rollout.facts == ["(2,0) onion, onion, onion ready"]  # 19 steps later; the next step can take it


@pytest.mark.parametrize(
    ("pot", "auto_start", "tick"),
    [(WAITING, 1, 1), (WAITING, 0, -1), (HALF, 1, -1), (STARTED, 1, 1), (COOKING, 1, 8), (READY, 1, 20), (NONE, 1, 0)],
)
def test_cook(pot, auto_start, tick):
    pot = pot.copy()
    rules.cook(pot, TIMES, auto_start)
    assert pot[Thing.TICK] == tick


def test_is_occupied():
    players = hands("none", "none")
    players[1, [Player.X, Player.Y]] = 2, 1
    assert rules.is_occupied(2, 1, players)
    assert not rules.is_occupied(1, 2, players)


GATED = """
    XXPXX
    O1 2O
    XWGWX
    D   S
    XXXXX
    1 east
    2 west
"""


@pytest.mark.parametrize(
    ("counter", "occupied", "pause", "after"),
    [(0, 0, 1, 1), (9, 0, 1, 10), (10, 0, 1, None), (10, 1, 1, 10), (4, 1, 1, 4), (4, 1, 0, 5), (10, 1, 0, 10)],
)
def test_age_gate(counter, occupied, pause, after):
    gate = thing("open", tick=counter)
    rules.age_gate(gate, occupied == 1, 10, pause)
    assert gate.tolist() == (thing() if after is None else thing("open", tick=after)).tolist()


def test_age_gate_leaves_closed_gates_alone():
    gate = thing()
    rules.age_gate(gate, False, 10, 1)
    assert gate.tolist() == [0] * 3


def test_an_open_gate_lets_the_partner_through_in_the_same_step_and_closes_after_eleven():
    rollout = play(GATED.replace("2 west", "2 south"), "1: E S I" + " ." * 11)
    assert [picture.split("\n")[-1] for picture in rollout.pictures[3:5]] == ["(2,2) open 1", "(2,2) open 2"]
    assert rollout.pictures[12].endswith("(2,2) open 10")
    assert "open" not in rollout.pictures[13]
    rollout = play("XXPXX\nO 1 O\nXWGWX\nD 2 S\nXXXXX\n1 south", "1: I\n2: N")
    assert rollout.last == drawn("XXPXX\nO 1 O\nXW2WX\nD   S\nXXXXX\n1 south\n(2,2) open 0")


def test_a_gate_counts_no_step_in_which_it_is_stood_on_and_closes_when_left_late():
    world = "XXPXX\nO 1 O\nXWGWX\nD 2 S\nXXXXX\n1 south\n(2,2) open 9"
    rollout = play(world, "2: N . . S")
    assert rollout.pictures[3].endswith("(2,2) open 9")
    assert rollout.last.endswith("(2,2) open 10")
    rollout = play(world.replace("open 9", "open 10"), "2: N . . S")
    assert rollout.pictures[3].endswith("(2,2) open 10")
    assert "open" not in rollout.last


def test_full_hands_open_no_gate_unless_anyone_may():
    world = GATED.replace("O1 2O", "O 12O").replace("1 east", "1 south holds onion")
    assert "open" not in play(world, "I").last
    assert play(world, "I", gate_opener="anyone").last.endswith("(2,2) open 1")


def test_is_free_start():
    regions = np.array([[0, 0, -1, 1]], np.int32)
    players = hands("none", "none")
    players[0, Player.X] = 1
    assert [bool(rules.is_free_start(x, 0, 1, 0, regions, players)) for x in range(4)] == [True, False, False, False]


def test_start_anywhere_keeps_players_on_their_floor_and_apart():
    game = open_world("XPXXXX\nO1 X X\nX3 X2X\nXDXXSX").game
    regions = game.compiled.tables.regions[0]
    seen = set()
    for seed in range(300):
        rng = seed_states([seed])[0]
        players = hands("none", "none", "none")
        players[:, [Player.X, Player.Y]] = game.compiled.tables.starts[0]
        for i in range(3):
            rules.start_anywhere(i, regions, players, rng)
        cells = [tuple(cell) for cell in players[:, [Player.X, Player.Y]].tolist()]
        assert len(set(cells)) == 3
        assert {regions[y, x] for x, y in cells[::2]} == {0}
        assert regions[cells[1][1], cells[1][0]] == 1
        seen |= {(i, *cell, int(facing)) for i, (cell, facing) in enumerate(zip(cells, players[:, 2], strict=True))}
    assert len(seen) == (4 + 2 + 4) * 4  # every cell of its floor and every facing, for every player


def test_hand_is_a_thing():
    names = [column.name for column in Player]
    assert names[Player.HAND + 1 : HAND_END] == [column.name for column in Thing][1:]
    assert names[HAND_END:] == ["KNOWS"]
