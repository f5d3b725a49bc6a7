"""Every rule of CuisineWorld alone, in a few words where a kitchen is needed; see world.py."""

from __future__ import annotations

import numpy as np
import pytest
from games.cuisineworld.world import Kitchen, picture, plain_game

from collab_overcooked.games.cuisineworld.engine import rules, step
from collab_overcooked.games.cuisineworld.engine.constants import (
    NOTHING,
    UNLIMITED,
    Agent,
    Clock,
    Completion,
    EventColumn,
    OrderEvent,
    Tool,
)
from collab_overcooked.games.cuisineworld.engine.constants import Reason as R
from collab_overcooked.kernels.jit import row_at

GAME = plain_game()
TABLES, SPEC = GAME.compiled.tables, GAME.level
ROWS = {name: TABLES.places[k] for k, name in enumerate(SPEC.locations)}
AT = {name: k for k, name in enumerate(SPEC.locations)}


def item(name):
    return NOTHING if name is None else SPEC.items.index(name)


def a_tool(*content, busy=0, ready=0):
    row = np.full(9, NOTHING, np.int32)
    row[: Tool.CONTENT] = busy, ready, 0, len(content)
    row[Tool.CONTENT : Tool.CONTENT + len(content)] = [item(name) for name in content]
    return row


def an_agent(place="pan0", holding=None, busy=0):
    return np.array([AT[place], item(holding), busy, 0], np.int32)


def the_clock(**columns):
    clock = np.zeros(len(Clock), np.int32)
    for name, value in columns.items():
        clock[Clock[name.upper()]] = value
    return clock


def the_queue(*orders, slots=6):
    rows = np.zeros((slots, 2), np.int32)
    rows[:, 1] = NOTHING
    for row, (remaining, name) in zip(rows, orders, strict=False):
        row[:] = remaining, SPEC.order_names.index(name)
    return rows, the_clock(open=len(orders))


def the_env(**arrays):
    """Return a row of State in which some arrays are replaced."""
    return row_at(Kitchen("").state, 0)._replace(**arrays)


def queue_text(rows, clock):
    return [(int(remaining), SPEC.order_names[order]) for remaining, order in rows[: clock[Clock.OPEN]]]


def no_order_events():
    order_events = np.zeros(len(OrderEvent), np.int32)
    order_events[OrderEvent.DRAWN] = NOTHING
    return order_events


def test_holds_what_lies_in_it():
    assert rules.holds(a_tool("bread", "cheese"), item("cheese"))
    assert not rules.holds(a_tool("bread", "cheese"), item("lettuceSlice"))
    assert not rules.holds(a_tool(), item("cheese"))


@pytest.mark.parametrize(
    ("content", "belongs"),
    [((), True), (("bread",), True), (("bread", "cheese", "sauteedBeef"), True), (("bread", "flour"), False)],
)
def test_belongs_to_a_recipe(content, belongs):
    burger = SPEC.products.index("cheeseBurger")
    assert bool(rules.belongs(a_tool(*content), burger, TABLES.uses)) is belongs


@pytest.mark.parametrize(
    ("name", "content", "fits"),
    [
        ("beef", (), True),
        ("lettuce", (), False),
        ("bread", (), False),  # goes into the mixer
        ("beef", ("beef",), True),  # merges
        ("beef", ("sauteedBeef",), False),
        ("sauteedBeef", ("sauteedBeef",), True),
    ],
)
def test_fits_into_the_pan(name, content, fits):
    assert bool(rules.fits(item(name), a_tool(*content), ROWS["pan0"], TABLES.uses)) is fits


def test_fits_into_a_mixture_of_some_recipe():
    mixer = ROWS["mixer0"]
    assert rules.fits(item("lettuceSlice"), a_tool("bread", "cheese", "sauteedBeef"), mixer, TABLES.uses)
    assert not rules.fits(item("lettuceSlice"), a_tool("MaxJr"), mixer, TABLES.uses)


@pytest.mark.parametrize(
    ("content", "product"),
    [
        (("bread", "cheese", "sauteedBeef"), "cheeseBurger"),
        (("sauteedBeef", "lettuceSlice", "cheese", "bread"), "MaxJr"),
        (("bread", "cheese"), None),
        (("MaxJr",), None),
        ((), None),
    ],
)
def test_find_recipe(content, product):
    r = rules.find_recipe(a_tool(*content), ROWS["mixer0"], TABLES.sizes, TABLES.uses)
    assert (None if r == NOTHING else SPEC.products[r]) == product


def test_check_goto_asks_for_a_free_agent():
    assert rules.check_goto(an_agent()) == 0
    assert rules.check_goto(an_agent(busy=1)) == R.TIRED


@pytest.mark.parametrize(
    ("agent", "place", "tool", "expected", "reason"),
    [
        (an_agent("pan1"), "pan0", a_tool("sauteedBeef", ready=1), None, R.NOT_THERE),
        (an_agent("pan0"), "pan0", a_tool("beef"), None, R.NOT_READY),
        (an_agent("pan0", "bread"), "pan0", a_tool(), None, R.NOT_READY),
        (an_agent("pan0"), "pan0", a_tool("sauteedBeef", ready=1), None, R.OK),
        (an_agent("pan0"), "pan0", a_tool("sauteedBeef", ready=1, busy=2), None, R.GET_OCCUPIED),
        (an_agent("pan0", "bread"), "pan0", a_tool("sauteedBeef", ready=1), None, R.GET_HOLDING),
        (an_agent("pan0", "bread", 1), "pan0", a_tool("sauteedBeef", ready=1, busy=1), None, R.AGENT_BUSY),
        (an_agent("storage0"), "storage0", a_tool(ready=1), "egg", R.OK),
        (an_agent("storage0"), "storage0", a_tool(ready=1), None, R.NOT_BASE),
        (an_agent("storage0", "egg"), "storage0", a_tool(ready=1), None, R.GET_HOLDING),
        (an_agent("chopboard0"), "chopboard0", a_tool(ready=1), None, R.GET_EMPTY),
        (an_agent("chopboard0"), "chopboard0", a_tool("lettuce", ready=1), None, R.OK),
        (an_agent("servingtable0"), "servingtable0", a_tool("MaxJr"), None, R.NOT_READY),
    ],
)
def test_check_get(agent, place, tool, expected, reason):
    assert rules.check_get(AT[place], item(expected), agent, tool, ROWS[place]) == reason


@pytest.mark.parametrize(
    ("agent", "place", "tool", "reason"),
    [
        (an_agent("pan1", "beef"), "pan0", a_tool(), R.NOT_THERE),
        (an_agent("servingtable0", "beef"), "servingtable0", a_tool(), R.NO_DISH),
        (an_agent("servingtable0", "MaxJr"), "servingtable0", a_tool("MaxJr"), R.OK),
        (an_agent("servingtable0"), "servingtable0", a_tool(), R.PUT_EMPTY_HANDED),
        (an_agent("storage0", "MaxJr"), "storage0", a_tool(), R.OK),
        (an_agent("pan0", "lettuce", 1), "pan0", a_tool(busy=1), R.PUT_WASTE),
        (an_agent("pan0", "beef"), "pan0", a_tool(), R.OK),
        (an_agent("pan0", "beef"), "pan0", a_tool("beef"), R.OK),
        (an_agent("pan0", "sauteedBeef"), "pan0", a_tool("sauteedBeef", busy=1, ready=1), R.PUT_OCCUPIED),
        (an_agent("pan0", None, 1), "pan0", a_tool(busy=1), R.AGENT_BUSY),
        (an_agent("chopboard0"), "chopboard0", a_tool("lettuce"), R.PUT_EMPTY_HANDED),
        (an_agent("chopboard0", "lettuce"), "chopboard0", a_tool("lettuce"), R.OK),
        (an_agent("chopboard0", "lettuce", 1), "chopboard0", a_tool("lettuce"), R.AGENT_BUSY),
    ],
)
def test_check_put(agent, place, tool, reason):
    assert rules.check_put(AT[place], agent, tool, ROWS[place], TABLES.uses, TABLES.sold) == reason


@pytest.mark.parametrize(
    ("agent", "place", "tool", "reason"),
    [
        (an_agent("pan1"), "pan0", a_tool("beef"), R.NOT_THERE),
        (an_agent("pan0"), "pan0", a_tool("beef"), R.OK),
        (an_agent("pan0"), "pan0", a_tool(), R.ACTIVATE_EMPTY),
        (an_agent("pan0", "beef"), "pan0", a_tool("beef"), R.ACTIVATE_HOLDING),
        (an_agent("pan0"), "pan0", a_tool("sauteedBeef", ready=1), R.ACTIVATE_WASTE),
        (an_agent("mixer0"), "mixer0", a_tool("bread", "cheese"), R.ACTIVATE_WASTE),
        (an_agent("servingtable0"), "servingtable0", a_tool("MaxJr"), R.ACTIVATE_WASTE),
        (an_agent("storage0"), "storage0", a_tool(ready=1), R.ACTIVATE_EMPTY),
        (an_agent("pan0", "beef", 1), "pan0", a_tool(busy=1), R.AGENT_BUSY),
    ],
)
def test_check_activate(agent, place, tool, reason):
    assert rules.check_activate(AT[place], agent, tool, ROWS[place], TABLES.sizes, TABLES.uses) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("noop", R.OK),
        ("goto pan1", R.TIRED),
        ("get pan0", R.NOT_READY),
        ("put pan0", R.AGENT_BUSY),
        ("activate pan0", R.AGENT_BUSY),
    ],
)
def test_check_command_by_verb(text, reason):
    row = TABLES.catalogue[GAME.catalogue.index(text)]
    agent, tool = an_agent("pan0", busy=1), a_tool("beef")
    value = rules.check_command(TABLES, row, agent, tool, ROWS["pan0"])
    assert value == reason


def test_reset_paid_lets_agent_and_tool_earn_again():
    agent, tool = an_agent(), a_tool("beef")
    agent[Agent.PAID] = tool[Tool.PAID] = 1
    rules.reset_paid(agent, tool)
    assert (agent[Agent.PAID], tool[Tool.PAID]) == (0, 0)


@pytest.mark.parametrize(
    ("start", "command", "end"),
    [
        ("0 storage0", "get_agent0_egg_storage0", "0 storage0 egg"),
        ("0 pan0\npan0: sauteedBeef ready", "get_agent0_pan0", "0 pan0 sauteedBeef"),
        ("0 chopboard0\nchopboard0: lettuce", "get_agent0_chopboard0", "0 chopboard0 lettuce"),
        ("0 pan0\npan0: sauteedBeef ready", "get_agent0_egg_pan0", "0 pan0 sauteedBeef"),
    ],
)
def test_get(start, command, end):
    assert Kitchen(start, agents=1).play(command) == picture(end)


def test_get_ends_being_ready_but_not_at_a_chopboard():
    kitchen = Kitchen("0 pan0\n1 chopboard0\npan0: sauteedBeef ready\nchopboard0: lettuce")
    kitchen.play("get_agent0_pan0 get_agent1_chopboard0")
    assert not kitchen.scene["tools"]["pan0"]["ready"]
    assert kitchen.scene["tools"]["chopboard0"]["ready"]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("0 storage0 egg", "0 storage0"),
        ("0 pan0 beef", "0 pan0\npan0: beef"),
        ("0 pan0 beef\npan0: beef", "0 pan0\npan0: beef"),
        ("0 mixer0 bread\nmixer0: cheese", "0 mixer0\nmixer0: cheese, bread"),
        ("0 servingtable1 MaxJr\nservingtable1: MaxJr", "0 servingtable1\nservingtable1: MaxJr, MaxJr"),
    ],
)
def test_put(start, end):
    place = start.split()[1]
    assert Kitchen(start, agents=1).play(f"put_agent0_{place}") == picture(end)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("0 pan0\npan0: beef", "0 pan0\npan0: sauteedBeef ready busy 1"),
        ("0 mixer0\nmixer0: bread, cheese, sauteedBeef", "0 mixer0\nmixer0: cheeseBurger ready"),
        ("0 chopboard0\nchopboard0: lettuce", "0 chopboard0\nchopboard0: lettuceSlice"),
    ],
)
def test_activate(start, end):
    place = start.split()[1]
    assert Kitchen(start, agents=1).play(f"activate_agent0_{place}") == picture(end)


def test_activate_at_a_chopboard_blocks_agent_and_board_until_the_step_ends():
    kitchen = Kitchen("0 chopboard0\n1 chopboard0\nchopboard0: lettuce")
    kitchen.play("activate_agent0_chopboard0 get_agent1_chopboard0 goto_agent-2_pan0")
    assert kitchen.obeyed == (True, False, False)
    assert kitchen.feedback == ("chopboard0 is occupied, therefore agent1 cannot get objects from the tool",)
    kitchen.play("get_agent0_chopboard0")
    assert kitchen.scene["agents"][0]["holding"] == "lettuceSlice"


def test_activate_blocks_a_pan_in_the_next_step_only():
    kitchen = Kitchen("0 pan0\npan0: beef")
    kitchen.play("activate_agent0_pan0", "get_agent0_pan0")
    assert kitchen.obeyed == (False,)
    kitchen.play("get_agent0_pan0")
    assert kitchen.obeyed == (True,)


def test_apply_command_refuses_and_changes_nothing():
    kitchen = Kitchen("0 pan0 lettuce\npan0: beef")
    assert kitchen.play("put_agent0_pan0") == picture("0 pan0 lettuce\n1 servingtable0\npan0: beef")
    assert kitchen.feedback == ("putting lettuce into pan0 will result in waste",)


def test_apply_command_works_in_the_order_of_the_list():
    start = "0 mixer0 sauteedBeef\n1 mixer0\nmixer0: bread, cheese"
    kitchen = Kitchen(start)
    kitchen.play("put_agent0_mixer0 activate_agent1_mixer0")
    assert kitchen.obeyed == (True, True)
    kitchen = Kitchen(start)
    kitchen.play("activate_agent1_mixer0 put_agent0_mixer0")
    assert kitchen.obeyed == (False, True)


def test_count_commands_counts_refusals_and_noops():
    clock, commands = the_clock(), np.zeros((4, 4), np.int32)
    commands[1] = 1, GAME.catalogue.index("put pan0"), R.NOT_THERE, NOTHING
    rules.count_commands(commands, 2, TABLES.catalogue, clock)
    assert (clock[Clock.REFUSED], clock[Clock.NOOPS]) == (1, 1)
    rules.count_commands(commands, -3, TABLES.catalogue, clock)
    assert (clock[Clock.REFUSED], clock[Clock.NOOPS]) == (4, 1)


def test_tick_busy_stops_at_zero():
    agents, tools = np.stack([an_agent(busy=1), an_agent()]), np.stack([a_tool(busy=3), a_tool()])
    rules.tick_busy(agents, tools)
    assert agents[:, Agent.BUSY].tolist() == [0, 0]
    assert tools[:, Tool.BUSY].tolist() == [2, 0]


def test_expire_orders_counts_steps_and_orders():
    rows, clock = the_queue((-1, "MaxJr"), (0, "MaxJr"), (0, "cheeseBurger"), (3, "MaxJr"))
    order_events = no_order_events()
    rules.expire_orders(rows, clock, order_events)
    assert queue_text(rows, clock) == [(-1, "MaxJr"), (3, "MaxJr")]
    assert (clock[Clock.FAILED], clock[Clock.EXPIRED], order_events[OrderEvent.EXPIRED]) == (1, 2, 2)


@pytest.mark.parametrize(
    ("content", "served"),
    [
        (("MaxJr", "cheeseBurger", "MaxJr"), True),
        (("MaxJr", "cheeseBurger"), False),
        (("MaxJr", "MaxJr", "MaxJr"), False),
        ((), False),
    ],
)
def test_is_served_counts_repetitions(content, served):
    dish = TABLES.menu[SPEC.order_names.index("mixedSashimi")]
    names = np.array([item(name) for name in content] + [NOTHING], np.int32)
    assert bool(rules.is_served(dish, len(content), names)) is served


def test_clear_away_takes_the_first_of_each():
    dish = TABLES.menu[SPEC.order_names.index("mixedSashimi")]
    tool = a_tool()
    names = ("cheeseBurger", "salmonMeatcake", "MaxJr", "cheeseBurger", "MaxJr", "MaxJr")
    content = np.array([item(name) for name in names], np.int32)
    tool[Tool.COUNT] = len(names)
    rules.clear_away(dish, tool, content)
    left = [item(name) for name in ("salmonMeatcake", "cheeseBurger", "MaxJr")]
    assert content[: tool[Tool.COUNT]].tolist() == left
    assert content[3:].tolist() == [NOTHING] * 3


def test_find_table_is_the_first_that_has_everything():
    kitchen = Kitchen("servingtable0: MaxJr, cheeseBurger\nservingtable1: MaxJr, MaxJr, cheeseBurger")
    tools, served = kitchen.state.tools[0], kitchen.state.served[0]
    menu = [TABLES.menu[SPEC.order_names.index(name)] for name in ("MaxJr", "mixedSashimi", "salmonMeatcake")]
    results = [rules.find_table(dish, tools, TABLES.places, served) for dish in menu]
    assert results == [AT["servingtable0"], AT["servingtable1"], NOTHING]


def test_serve_orders_gives_each_dish_to_one_order_the_most_urgent_first():
    kitchen = Kitchen("servingtable1: MaxJr\norder MaxJr 4\norder MaxJr 9")
    kitchen.play("noop_agent0")
    assert kitchen.written() == picture("0 servingtable0\n1 servingtable0\norder MaxJr 8")
    assert kitchen.reward == -0.05 + 54 + 0.02
    order_events = kitchen.game.order_events(kitchen.out, 0)
    assert order_events["completed"] == [{"order": "MaxJr", "location": "servingtable1", "remaining": 4}]


def test_serve_orders_comes_after_expiry():
    kitchen = Kitchen("servingtable0: MaxJr\norder MaxJr 0")
    kitchen.play("noop_agent0")
    assert kitchen.written() == picture("0 servingtable0\n1 servingtable0\nservingtable0: MaxJr")
    assert kitchen.scene["failed"] == 1


def test_serve_orders_matches_stock_in_the_step_after_an_order_appears():
    kitchen = Kitchen("servingtable0: MaxJr", scene={"timer": 29})
    kitchen.state.forced[0, 0] = SPEC.order_names.index("MaxJr")
    kitchen.play("noop_agent0")
    assert kitchen.scene["orders"] == [{"name": "MaxJr", "remaining": 20}]
    kitchen.play("noop_agent0")
    assert (kitchen.scene["orders"], kitchen.scene["completed"]) == ([], 1)


def test_take_order_gets_its_full_time_and_is_wanted():
    rows, clock = the_queue((1, "MaxJr"))
    expected = np.zeros(TABLES.demand.shape[1], np.int32)
    rules.take_order(TABLES, the_env(orders=rows, clock=clock, wanted=expected), SPEC.order_names.index("cheeseBurger"))
    assert queue_text(rows, clock) == [(1, "MaxJr"), (20, "cheeseBurger")]
    names = {SPEC.items[k] for k in np.flatnonzero(expected[: len(SPEC.items)])}
    assert names == {"cheeseBurger", "sauteedBeef", "beef", "bread", "cheese"}
    results = {SPEC.products[k] for k in np.flatnonzero(expected[len(SPEC.items) :])}
    assert results == {"cheeseBurger", "sauteedBeef"}


def test_sort_orders_by_time_then_name():
    rows, clock = the_queue((4, "cheeseBurger"), (4, "MaxJr"), (-1, "salmonMeatcake"), (2, "mixedSashimi"))
    rules.sort_orders(rows, clock, TABLES.menu)
    expected = [(-1, "salmonMeatcake"), (2, "mixedSashimi"), (4, "MaxJr"), (4, "cheeseBurger")]
    assert queue_text(rows, clock) == expected


def test_comes_before_capital_letters_first():
    rows, _ = the_queue((4, "cheeseBurger"))
    actual, other = SPEC.order_names.index("MaxJr"), SPEC.order_names.index("mixedSashimi")
    assert rules.comes_before(4, actual, rows[0], TABLES.menu)
    assert not rules.comes_before(4, other, rows[0], TABLES.menu)
    assert rules.comes_before(3, other, rows[0], TABLES.menu)


def test_tick_leaves_unlimited_orders_alone_and_draws_at_the_interval():
    kitchen = Kitchen("order MaxJr -1\norder cheeseBurger 5", scene={"timer": 28})
    kitchen.play("noop_agent0")
    assert kitchen.written().endswith("order MaxJr -1\norder cheeseBurger 4")
    kitchen.play("noop_agent0")
    assert len(kitchen.scene["orders"]) == 3
    assert kitchen.scene["timer"] == 0


def test_tick_skips_the_draw_when_the_queue_is_full_and_starts_again():
    kitchen = Kitchen("order MaxJr 9\norder MaxJr 8", scene={"timer": 29}, max_open_orders=2)
    kitchen.play("noop_agent0")
    assert kitchen.written().endswith("order MaxJr 7\norder MaxJr 8")
    assert kitchen.scene["timer"] == 0
    assert kitchen.game.order_events(kitchen.out, 0)["drawn"] is None


def some_events(*reasons):
    """Return events of as many commands, of agents 0 and 1 in turn."""
    events = np.zeros((len(reasons), len(EventColumn)), np.int32)
    events[:, EventColumn.AGENT] = np.arange(len(reasons)) % 2
    events[:, EventColumn.REASON] = reasons
    return events


@pytest.mark.parametrize(
    ("given", "reasons", "remaining", "reward"),
    [
        (2, (R.OK, R.OK), (), -0.05 + 0.02),
        (2, (R.OK, R.NOT_THERE), (), -0.05),
        (0, (), (), -0.05),
        (-2, (R.OK, R.OK), (), -0.05),  # a list that was voided
        (1, (R.OK,), (7, 0), -0.05 + 50 + 7 + 50 + 0.02),
        (1, (R.OK,), (UNLIMITED,), -0.05 + 49 + 0.02),  # as in the original
    ],
)
def test_team_reward(given, reasons, remaining, reward):
    order_events, completions = no_order_events(), np.zeros((2, len(Completion)), np.int32)
    order_events[[OrderEvent.GIVEN, OrderEvent.COMPLETED]] = given, len(remaining)
    completions[: len(remaining), Completion.REMAINING] = remaining
    shaping = 0.5
    assert step.team_reward(order_events, completions, some_events(*reasons), shaping) == pytest.approx(reward + 0.5)


def test_collect_refusals_keeps_the_first_of_each_agent():
    events = some_events(R.OK, R.NOT_THERE, R.FULL, R.TIRED, R.NO_DISH)
    refused = np.full(2, 99, np.int32)
    step.collect_refusals(events, 5, refused)
    assert refused.tolist() == [R.FULL, R.NOT_THERE]
    step.collect_refusals(events, -5, refused)
    assert refused.tolist() == [R.OK, R.OK]


def test_reward_ingredients_once_and_only_if_wanted():
    agents = np.stack([an_agent(holding="egg"), an_agent(holding="beef"), an_agent(holding="beef"), an_agent()])
    expected = np.zeros(TABLES.demand.shape[1], np.int32)
    expected[item("beef")] = 2
    env = the_env(agents=agents, wanted=expected)
    assert rules.reward_ingredients(TABLES, env) == 0.1 + 0.1
    assert agents[:, Agent.PAID].tolist() == [0, 1, 1, 0]
    assert expected[item("beef")] == 0
    expected[item("beef")] = 1
    assert rules.reward_ingredients(TABLES, env) == 0.0


def test_reward_mixtures_that_are_complete():
    n_items, r = len(SPEC.items), SPEC.products.index("sauteedBeef")
    tools = np.stack([a_tool(ready=1), a_tool("beef"), a_tool("beef"), *(a_tool() for _ in range(5))])
    expected = np.zeros(TABLES.demand.shape[1], np.int32)
    expected[n_items + r] = 1
    total = rules.reward_mixtures(TABLES, the_env(tools=tools, wanted=expected), 0.25)
    assert total == 0.75
    assert tools[:3, Tool.PAID].tolist() == [0, 1, 0]


def test_reward_products_wherever_they_lie_alone():
    kitchen = Kitchen("pan0: sauteedBeef ready\nservingtable0: MaxJr\nservingtable1: cheeseBurger, cheeseBurger")
    expected = np.zeros(TABLES.demand.shape[1], np.int32)
    expected[[item("sauteedBeef"), item("MaxJr"), item("cheeseBurger")]] = 1
    env = row_at(kitchen.state, 0)._replace(wanted=expected)
    assert rules.reward_products(TABLES, env, 0.0) == 2.0
    assert rules.reward_products(TABLES, env, 0.0) == 0.0


def test_reward_products_earn_again_after_a_put():
    expected = {"wanted": {"items": {"sauteedBeef": 2}}}
    kitchen = Kitchen("0 pan0 sauteedBeef\npan0: sauteedBeef ready\norder MaxJr 9", scene=expected)
    kitchen.play("noop_agent0")
    assert kitchen.reward == -0.05 + 0.02 + 1.0
    kitchen.play("put_agent0_pan0")
    assert kitchen.reward == -0.05 + 0.02 + 1.0


def test_reward_products_pay_nothing_when_no_order_is_open():
    kitchen = Kitchen("pan0: sauteedBeef ready", scene={"wanted": {"items": {"sauteedBeef": 2}}})
    kitchen.play("noop_agent0")
    assert kitchen.reward == -0.05 + 0.02
    assert kitchen.scene["wanted"]["items"] == {"sauteedBeef": 2}
