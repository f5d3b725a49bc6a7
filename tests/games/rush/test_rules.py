"""Every rule of Rush alone, as a picture where a round is needed; see world.py."""

from __future__ import annotations

import numpy as np
import pytest
from games.rush.world import Round, picture, plain_game

from collab_overcooked.games.rush.engine import rules
from collab_overcooked.games.rush.engine.constants import (
    NOTHING,
    Area,
    Clock,
    EventColumn,
    Order,
    Param,
    Reason,
    Reward,
)
from collab_overcooked.games.rush.engine.step import team_reward
from collab_overcooked.kernels.jit import row_at

GAME = plain_game()
TABLES, SPEC = GAME.compiled.tables, GAME.scenario
ORDERS, AREAS = SPEC.episodes[0].orders, SPEC.episodes[0].area_ids
N_INGREDIENTS = len(SPEC.ingredients)


def of_order(name):
    """Return dish and need of an order."""
    o = ORDERS.index(name)
    return TABLES.dishes[0, o], TABLES.needs[0, o]


def area_of(number):
    return TABLES.areas[0, AREAS.index(number)]


def an_order(**columns):
    row = np.zeros(len(Order), np.int32)
    for name, value in columns.items():
        row[Order[name.upper()]] = value
    return row


def a_shelf(**goods):
    row = np.zeros(len(SPEC.goods), np.int32)
    for name, count in goods.items():
        row[SPEC.goods.index(name)] = count
    return row


def goods_on(shelf):
    return {name: int(count) for name, count in zip(SPEC.goods, shelf, strict=True) if count}


def the_clock(**columns):
    row = np.zeros(len(Clock), np.int32)
    for name, value in columns.items():
        row[Clock[name.upper()]] = value
    return row


@pytest.mark.parametrize(
    ("goods", "enough"), [({"carrot": 2}, True), ({"carrot": 3, "bread": 1}, True), ({"carrot": 1}, False), ({}, False)]
)
def test_is_in_stock(goods, enough):
    _, need = of_order("Soup")
    assert bool(rules.is_in_stock(a_shelf(**goods), need, 0, N_INGREDIENTS)) is enough


def test_is_in_stock_looks_at_its_own_part_of_the_goods():
    _, need = of_order("Soup")
    assert rules.is_in_stock(a_shelf(green=1), need, N_INGREDIENTS, len(need))
    assert not rules.is_in_stock(a_shelf(carrot=2), need, N_INGREDIENTS, len(need))


@pytest.mark.parametrize(
    ("order", "pantry", "spicebag"),
    [({}, False, False), ({"ingredients": 1}, True, False), ({"spices": 1}, False, True)],
)
def test_is_collected(order, pantry, spicebag):
    kinds = [area_of(number)[0] for number in (0, 1, 2)]
    collected = [bool(rules.is_collected(an_order(**order), kind)) for kind in kinds]
    assert collected == [pantry, spicebag, False]


@pytest.mark.parametrize(
    ("where", "order", "shelf", "space", "reason"),
    [
        (0, {}, {"carrot": 2}, 1, Reason.OK),
        (0, {}, {"carrot": 2}, 0, Reason.NO_SPACE),
        (0, {}, {"carrot": 1}, 1, Reason.OUT_OF_STOCK),
        (0, {"ingredients": 1}, {"carrot": 2}, 1, Reason.ALREADY_COLLECTED),
        (0, {"ruined": 1}, {"carrot": 2}, 1, Reason.ORDER_RUINED),
        (1, {}, {"green": 1}, 1, Reason.OK),
        (1, {"cooked": 2}, {"green": 1}, 1, Reason.OK),  # spices may come last
        (1, {}, {"red": 9}, 1, Reason.OUT_OF_STOCK),
        (1, {"spices": 1}, {"green": 1}, 1, Reason.ALREADY_COLLECTED),
        (2, {"ingredients": 1}, {}, 1, Reason.OK),
        (2, {}, {}, 1, Reason.OK),  # ruins the order, and is allowed
        (2, {"ingredients": 1, "cooked": 2}, {}, 1, Reason.OK),  # likewise
        (2, {}, {}, 0, Reason.NO_SPACE),
        (2, {"ingredients": 1, "spices": 1, "cooked": 2, "finished": 1}, {}, 1, Reason.ORDER_FINISHED),
    ],
)
def test_why_invalid(where, order, shelf, space, reason):
    dish, need = of_order("Soup")
    area = area_of(where)
    assert rules.why_invalid(an_order(**order), a_shelf(**shelf), space, dish, need, area, N_INGREDIENTS) == reason


def test_why_invalid_names_what_an_episode_lacks():
    porridge, nothing = TABLES.dishes[1, 0], TABLES.dishes[1, 1]
    stove, nowhere = TABLES.areas[1, 2], TABLES.areas[1, 3]
    need = TABLES.needs[1, 0]
    arguments = (need, stove, N_INGREDIENTS)
    assert rules.why_invalid(an_order(), a_shelf(), 1, nothing, *arguments) == Reason.NO_SUCH_ORDER
    arguments = (need, nowhere, N_INGREDIENTS)
    assert rules.why_invalid(an_order(), a_shelf(), 1, porridge, *arguments) == Reason.NO_SUCH_AREA


@pytest.mark.parametrize(
    ("where", "order", "space", "reason"),
    [
        (0, {"ruined": 1}, 1, Reason.OK),
        (0, {"finished": 1, "ingredients": 1}, 1, Reason.ALREADY_COLLECTED),
        (2, {"finished": 1}, 1, Reason.OK),
        (2, {"finished": 1}, 0, Reason.NO_SPACE),
        (1, {"ruined": 1}, 1, Reason.OUT_OF_STOCK),
    ],
)
def test_why_impossible(where, order, space, reason):
    """The end of an order does not count."""
    _, need = of_order("Soup")
    kind = area_of(where)[Area.KIND]
    assert rules.why_impossible(an_order(**order), a_shelf(carrot=2), space, need, kind, N_INGREDIENTS) == reason


@pytest.mark.parametrize(
    ("name", "order", "ruins"),
    [
        ("Soup", {}, True),
        ("Soup", {"spices": 1}, True),
        ("Soup", {"ingredients": 1}, False),
        ("Soup", {"ingredients": 1, "cooked": 1}, False),
        ("Soup", {"ingredients": 1, "cooked": 2}, True),
        ("Salad", {}, True),  # is never cooked
    ],
)
def test_would_ruin(name, order, ruins):
    dish, _ = of_order(name)
    assert bool(rules.would_ruin(an_order(**order), dish, area_of(2))) is ruins
    assert not rules.would_ruin(an_order(**order), dish, area_of(0))


def test_take_ingredients():
    order, shelf = an_order(), a_shelf(bread=2, cheese=1, red=3)
    rules.take_ingredients(order, shelf, of_order("Toast")[1], N_INGREDIENTS)
    assert goods_on(shelf) == {"bread": 1, "red": 3}
    np.testing.assert_array_equal(order, an_order(ingredients=1))


def test_take_spices():
    order, shelf = an_order(), a_shelf(bread=2, cheese=1, red=3)
    rules.take_spices(order, shelf, of_order("Toast")[1], N_INGREDIENTS)
    assert goods_on(shelf) == {"bread": 2, "cheese": 1, "red": 1}
    np.testing.assert_array_equal(order, an_order(spices=1))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"ingredients": 1}, {"ingredients": 1, "cooked": 1}),
        ({"ingredients": 1, "cooked": 1}, {"ingredients": 1, "cooked": 2}),
        ({"ingredients": 1, "cooked": 2}, {"ingredients": 1, "cooked": 3, "ruined": 1}),
        ({"spices": 1}, {"spices": 1, "cooked": 1, "ruined": 1}),
    ],
)
def test_cook(before, after):
    order = an_order(**before)
    rules.cook(order, of_order("Soup")[0], area_of(2))
    np.testing.assert_array_equal(order, an_order(**after))


@pytest.mark.parametrize(
    ("order", "finished"),
    [
        ({"ingredients": 1, "spices": 1, "cooked": 2}, 1),
        ({"ingredients": 1, "spices": 1, "cooked": 1}, 0),
        ({"ingredients": 1, "cooked": 2}, 0),
        ({"spices": 1, "cooked": 2}, 0),
        ({"ingredients": 1, "spices": 1, "cooked": 2, "ruined": 1}, 0),
    ],
)
def test_finish(order, finished):
    row = an_order(**order)
    rules.finish(row, of_order("Soup")[0])
    assert row[Order.FINISHED] == finished


def test_shape_pays_nine_times():
    order = an_order()
    assert [rules.shape(order) for _ in range(12)] == [1] * 9 + [0] * 3
    assert order[Order.SHAPED] == 9


def test_begin_event():
    event = np.full(len(EventColumn), 5, np.int32)
    rules.begin_event(event, the_clock(t=7, turn=3, worker=1, episode=2))
    assert event.tolist() == [0, 0, 0, 0, 0, 0, 2, 3, 1, NOTHING, NOTHING]


@pytest.mark.parametrize(
    ("before", "what", "after"),
    [
        ({}, {"ingredients": 1}, {"advanced": 1, "tenths": 1}),
        ({"ingredients": 1, "cooked": 2}, {"spices": 1}, {"advanced": 1, "finished": 1, "tenths": 1}),
        ({}, {"cooked": 1, "ruined": 1}, {"ruined": 1}),
    ],
)
def test_apply_outcome(before, what, after):
    order, clock, event = an_order(**before, **what), the_clock(), np.zeros(len(EventColumn), np.int32)
    rules.apply_outcome(order, of_order("Soup")[0], clock, event)
    assert {column.name.lower(): int(event[column]) for column in EventColumn if event[column]} == after
    assert [clock[Clock.FINISHED], clock[Clock.RUINED]] == [after.get("finished", 0), after.get("ruined", 0)]


START = """
    turn 0 worker 0
    0 pantry 2/2: carrot 3, lettuce 1, bread 2, cheese 1
    5 pantry 1/1: carrot 1
    1 spicebag 1/1: green 1, red 2
    2 stove 2/2
    3 stove 1/1
    Soup:
    Toast:
    Salad: spices
"""


def after_start(*changes):
    """Return the first picture with one line after the other changed, each told by its first word."""
    lines = picture(START).splitlines()
    for change in changes:
        (at,) = (k for k, line in enumerate(lines) if line.split()[0] == change.split()[0])
        lines[at] = change
    return "\n".join(lines)


ONE = "turn 0 worker 1"  # the time after one slot


@pytest.mark.parametrize(
    ("slot", "changes", "reasons", "reward"),
    [
        ("- | -", (), ["OK", "OK"], 0),
        ("0 Soup | -", ("0 pantry 1/2: carrot 1, lettuce 1, bread 2, cheese 1", "Soup: ingredients"), ["OK", "OK"], 0),
        ("5 Soup | -", (), ["OUT_OF_STOCK", "OK"], 0),  # a single pantry has to have it all
        ("1 Soup | 1 Toast", ("1 spicebag 0/1: red 2", "Soup: spices"), ["OK", "NO_SPACE"], 0),
        ("1 Salad | -", (), ["ALREADY_COLLECTED", "OK"], 0),  # it asks for none
        (
            "0 Salad | 0 Salad",
            ("0 pantry 1/2: carrot 3, bread 2, cheese 1", "Salad: ingredients spices finished"),
            ["OK", "ORDER_FINISHED"],
            1,
        ),
        ("2 Soup | 2 Toast", ("2 stove 0/2", "Soup: cooked 1 ruined", "Toast: cooked 1 ruined"), ["OK", "OK"], -2),
        ("3 Soup | 3 Toast", ("3 stove 0/1", "Soup: cooked 1 ruined"), ["OK", "NO_SPACE"], -1),
        (
            "0 Soup | 2 Soup",  # the second agent sees what the first one has done
            ("0 pantry 1/2: carrot 1, lettuce 1, bread 2, cheese 1", "2 stove 1/2", "Soup: ingredients cooked 1"),
            ["OK", "OK"],
            0,
        ),
        ("2 Soup | 0 Soup", ("2 stove 1/2", "Soup: cooked 1 ruined"), ["OK", "ORDER_RUINED"], -1),
    ],
)
def test_act_in_one_slot(slot, changes, reasons, reward):
    game = Round()
    assert game.play(slot) == after_start(ONE, *changes)
    assert game.reasons == reasons
    assert game.reward == reward


def test_team_reward():
    events = np.zeros((3, len(EventColumn)), np.int32)
    events[:2, EventColumn.FINISHED], events[2, EventColumn.RUINED], events[:2, EventColumn.TENTHS] = 1, 1, (1, 3)
    assert team_reward(events, Reward.SPARSE) == 1
    assert team_reward(events, Reward.SHAPED) == pytest.approx(1.4)


def test_act_counts_the_seat_and_tells_what_it_did():
    game = Round()
    state, event = game.state, np.zeros(len(EventColumn), np.int32)
    env = row_at(state, 0)
    rules.act(TABLES, env, game.action("0 Toast"), event)
    assert state.clock[0, Clock.SEAT] == 1
    assert event.tolist() == [1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1]
    rules.act(TABLES, env, game.action("2 Salad"), event)
    assert event.tolist() == [3, 0, 0, 0, 1, 0, 0, 0, 0, 3, 2]
    rules.act(TABLES, env, game.action("-"), event)
    assert event.tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0, NOTHING, NOTHING]
    assert state.clock[0, Clock.SEAT] == 3


def test_act_refuses_what_an_episode_lacks():
    game = Round(episode=1)
    actions = np.array([[game.game.compiled.action(4, 0), game.game.compiled.action(0, 2)]], np.int32)
    before = game.written()
    game.game.step(game.state, actions, game.out)
    assert game.reasons == ["NO_SUCH_AREA", "NO_SUCH_ORDER"]
    assert [(event["area"], event["order"]) for event in game.events] == [(None, None)] * 2
    assert game.written() == before.replace("worker 0", "worker 1")


def test_an_order_is_finished_whether_spices_come_first_or_last():
    first, last = Round(), Round()
    after = first.play("0 Soup | 1 Soup", "2 Soup | 2 Soup")
    assert (first.reward, first.scene["orders"][0]["finished"]) == (1, True)
    assert last.play("0 Soup | -", "2 Soup | 2 Soup", "1 Soup | -") != after
    assert (last.reward, last.scene["orders"][0]["finished"]) == (1, True)
    again = last.play("2 Soup | -")  # a finished order cannot be spoilt any more
    assert last.reasons == ["ORDER_FINISHED", "OK"]
    assert "Soup: ingredients spices cooked 2 finished" in again


def test_count_orders():
    assert [rules.count_orders(dishes) for dishes in TABLES.dishes] == [3, 1]


def test_refill_spaces():
    spaces = np.zeros(len(AREAS), np.int32)
    rules.refill_spaces(spaces, TABLES.areas[0])
    assert spaces.tolist() == [2, 1, 1, 2, 1]


def test_end_slot_passes_the_workers_and_refills_spaces_after_the_last():
    game = Round()
    assert game.play("0 Soup | 1 Soup") == after_start(
        ONE, "0 pantry 1/2: carrot 1, lettuce 1, bread 2, cheese 1", "1 spicebag 0/1: red 2", "Soup: ingredients spices"
    )
    assert game.play("2 Soup | 1 Toast") == after_start(
        "turn 1 worker 0",
        "0 pantry 2/2: carrot 1, lettuce 1, bread 2, cheese 1",
        "1 spicebag 1/1: red 2",
        "Soup: ingredients spices cooked 1",
    )
    assert game.reasons == ["OK", "NO_SPACE"]


@pytest.mark.parametrize(
    ("text", "slot", "ended"),
    [
        ("turn 3 worker 0", "- | -", ""),
        ("turn 3 worker 1", "- | -", "truncated"),
        (
            "Soup: ruined\nToast: ingredients spices cooked 1 finished\n"
            "0 pantry 2/2: carrot 3, lettuce 1, bread 1, cheese 0\n1 spicebag 1/1: green 1, red 0",
            "0 Salad | -",
            "terminated",
        ),
        ("Soup: ruined\nToast: ruined", "2 Salad | -", "terminated"),
        ("turn 3 worker 1\nSoup: ruined\nToast: ruined", "0 Salad | -", "terminated"),
        ("Soup: ruined", "0 Salad | -", ""),
    ],
)
def test_end_slot_ends_the_episode(text, slot, ended):
    game = Round(text)
    assert not game.scene["over"]
    game.play(slot)
    flags = {"terminated": bool(game.out.terminated[0]), "truncated": bool(game.out.truncated[0])}
    assert [name for name, switch in flags.items() if switch] == [ended] * bool(ended)
    assert game.scene["over"] is bool(ended)


def test_end_slot_leaves_a_decided_turn_as_it_is():
    env = row_at(Round().state, 0)
    clock, spaces = env.clock, env.spaces
    clock[:], spaces[:] = the_clock(finished=2, ruined=1, limit=8, seat=2), [1, 0, 0, 2, 1]
    rules.end_slot(TABLES, env)
    assert spaces.tolist() == [1, 0, 0, 2, 1]
    columns = (Clock.T, Clock.TURN, Clock.WORKER, Clock.SEAT, Clock.OVER)
    assert [clock[column] for column in columns] == [1, 0, 1, 0, 1]


@pytest.mark.parametrize(("finished", "ruined", "decided"), [(3, 0, True), (1, 2, True), (2, 0, False), (0, 0, False)])
def test_is_decided(finished, ruined, decided):
    assert bool(rules.is_decided(the_clock(finished=finished, ruined=ruined), TABLES.dishes[0])) is decided


def test_next_episode():
    params = TABLES.params.copy()
    assert [rules.next_episode(count, NOTHING, params) for count in range(4)] == [0, 1, 0, 1]
    assert rules.next_episode(0, 1, params) == 1
    params[Param.EPISODE] = 1
    assert [rules.next_episode(count, NOTHING, params) for count in range(3)] == [1, 1, 1]
    assert rules.next_episode(1, 0, params) == 0


def test_open_orders():
    orders = np.full((3, len(Order)), 7, np.int32)
    rules.open_orders(orders, TABLES.needs[0], N_INGREDIENTS)
    np.testing.assert_array_equal(orders, [an_order(), an_order(), an_order(spices=1)])


def test_a_round_starts_as_the_scenario_says():
    assert Round().written() == picture(START)
