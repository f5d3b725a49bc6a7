"""The rules of CuisineWorld, one kernel per rule, for one environment. ``step.py`` has the order of play.

``env`` is a row of State; other arguments are arrays of it and of the tables: ``agent`` (4,), ``tool`` (4 + capacity,),
``place`` (12,).
"""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import Queue, add_order, drop_late_orders, drop_order, next_order, remember_order

from .constants import (
    NOTHING,
    UNLIMITED,
    Agent,
    Clock,
    Completion,
    EventColumn,
    Menu,
    OrderEvent,
    Param,
    Place,
    Reason,
    Role,
    Row,
    Tool,
    Verb,
)

# ------------------------------------------------------------------------------------------- mixtures


@kernel
def holds(tool, item):
    """A tool holds an item if its contents include one of that name."""
    for k in range(tool[Tool.COUNT]):
        if tool[Tool.CONTENT + k] == item:
            return True
    return False


@kernel
def belongs(tool, r, uses):
    """Contents belong to a recipe if the recipe uses all of them."""
    for k in range(tool[Tool.COUNT]):
        if uses[r, tool[Tool.CONTENT + k]] == 0:
            return False
    return True


@kernel
def fits(item, tool, place, uses):
    """An item fits into a mixture that already holds it, or that is part of a recipe that needs it."""
    if holds(tool, item):
        return True
    for r in range(place[Place.FIRST_RECIPE], place[Place.RECIPES_END]):
        if uses[r, item] == 1 and belongs(tool, r, uses):
            return True
    return False


@kernel
def find_recipe(tool, place, sizes, uses):
    """A mixture matches a recipe of this kind of tool if it has exactly the recipe's ingredients."""
    for r in range(place[Place.FIRST_RECIPE], place[Place.RECIPES_END]):
        if sizes[r] == tool[Tool.COUNT] and belongs(tool, r, uses):
            return r
    return NOTHING


# ------------------------------------------------------------------------------------------- refusals


@kernel
def check_goto(agent):
    """An agent that is not busy may go to any location, including its own."""
    return Reason.TIRED if agent[Agent.BUSY] > 0 else Reason.OK


@kernel
def check_get(at, item, agent, tool, place):
    """Taking needs an agent at the location with empty hands, and ready contents; a storage needs an item's name."""
    if agent[Agent.PLACE] != at:
        return Reason.NOT_THERE
    if tool[Tool.READY] == 0:
        return Reason.NOT_READY
    if agent[Agent.BUSY] > 0:
        return Reason.AGENT_BUSY
    if agent[Agent.ITEM] != NOTHING:
        return Reason.GET_HOLDING
    if tool[Tool.BUSY] > 0:
        return Reason.GET_OCCUPIED
    if place[Place.ROLE] == Role.STORAGE:
        return Reason.NOT_BASE if item == NOTHING else Reason.OK
    return Reason.GET_EMPTY if tool[Tool.COUNT] == 0 else Reason.OK


@kernel
def check_put(at, agent, tool, place, uses, sold):
    """Putting needs an agent at the location, a held item that is not wasted there, and space for it."""
    item, role = agent[Agent.ITEM], place[Place.ROLE]
    if agent[Agent.PLACE] != at:
        return Reason.NOT_THERE
    if item != NOTHING and role == Role.TABLE and sold[item] == 0:
        return Reason.NO_DISH
    if item != NOTHING and role == Role.COOK and not fits(item, tool, place, uses):
        return Reason.PUT_WASTE
    if agent[Agent.BUSY] > 0:
        return Reason.AGENT_BUSY
    if item == NOTHING:
        return Reason.PUT_EMPTY_HANDED
    if tool[Tool.BUSY] > 0:
        return Reason.PUT_OCCUPIED
    needs_space = role != Role.COOK or not holds(tool, item)
    return Reason.FULL if needs_space and tool[Tool.COUNT] >= place[Place.CAPACITY] else Reason.OK


@kernel
def check_activate(at, agent, tool, place, sizes, uses):
    """Activating needs an idle agent at the location with empty hands, and exactly the ingredients of one recipe."""
    if agent[Agent.PLACE] != at:
        return Reason.NOT_THERE
    if agent[Agent.BUSY] > 0:
        return Reason.AGENT_BUSY
    if agent[Agent.ITEM] != NOTHING:
        return Reason.ACTIVATE_HOLDING
    if tool[Tool.BUSY] > 0:
        return Reason.ACTIVATE_OCCUPIED
    if tool[Tool.COUNT] == 0:
        return Reason.ACTIVATE_EMPTY
    return Reason.ACTIVATE_WASTE if find_recipe(tool, place, sizes, uses) == NOTHING else Reason.OK


@kernel
def check_command(tables, row, agent, tool, place):
    """A command is refused for the first requirement of its verb that is not met; a noop is never refused."""
    verb, at = row[Row.VERB], row[Row.PLACE]
    if verb == Verb.NOOP:
        return Reason.OK
    if verb == Verb.GOTO:
        return check_goto(agent)
    if verb == Verb.GET:
        return check_get(at, row[Row.ITEM], agent, tool, place)
    if verb == Verb.PUT:
        return check_put(at, agent, tool, place, tables.uses, tables.sold)
    return check_activate(at, agent, tool, place, tables.sizes, tables.uses)


# ------------------------------------------------------------------------------------------- effects of commands


@kernel
def reset_paid(agent, tool):
    """Every item that an agent takes or puts can earn shaped reward again. Mutates: agent, tool."""
    agent[Agent.PAID] = 0
    tool[Tool.PAID] = 0


@kernel
def get(item, agent, tool, place):
    """A storage gives the named ingredient; a tool gives its content and is no longer ready. Mutates: agent, tool."""
    reset_paid(agent, tool)
    if place[Place.ROLE] == Role.STORAGE:
        agent[Agent.ITEM] = item
        return
    agent[Agent.ITEM] = tool[Tool.CONTENT]
    tool[Tool.CONTENT] = NOTHING
    tool[Tool.COUNT] = 0
    tool[Tool.READY] = place[Place.OPEN]


@kernel
def put(agent, tool, place, served):
    """A storage discards the item, a table adds it, and a tool mixes it in unless it already has one.

    Mutates: agent, tool, served.
    """
    reset_paid(agent, tool)
    item, count = agent[Agent.ITEM], tool[Tool.COUNT]
    agent[Agent.ITEM] = NOTHING
    if place[Place.ROLE] == Role.TABLE:
        served[place[Place.TABLE], count] = item
        tool[Tool.COUNT] = count + 1
    elif place[Place.ROLE] == Role.COOK and not holds(tool, item):
        tool[Tool.CONTENT + count] = item
        tool[Tool.COUNT] = count + 1


@kernel
def activate(agent, tool, place, product):
    """The mixture becomes the product at once; the tool, and for some tools the agent, is then busy.

    Mutates: agent, tool.
    """
    for k in range(tool[Tool.COUNT]):
        tool[Tool.CONTENT + k] = NOTHING
    tool[Tool.CONTENT] = product
    tool[Tool.COUNT] = 1
    tool[Tool.BUSY] = place[Place.BUSY]
    tool[Tool.READY] = 1
    tool[Tool.PAID] = 0
    if place[Place.BUSY_AGENT] == 1:
        agent[Agent.BUSY] = place[Place.BUSY]


@kernel
def apply_command(tables, env, event):
    """A command is carried out, or refused without any effect.

    Args:
        tables: Constants.
        env: Its agents, tools and served are mutated.
        event: Agent and code of the command; mutated.
    """
    row = tables.catalogue[event[EventColumn.CODE]]
    verb, at = row[Row.VERB], max(row[Row.PLACE], 0)
    agent = env.agents[event[EventColumn.AGENT]]
    tool = env.tools[at]
    place = tables.places[at]
    event[EventColumn.ITEM] = agent[Agent.ITEM]
    reason = check_command(tables, row, agent, tool, place)
    event[EventColumn.REASON] = reason
    if reason != Reason.OK:
        return
    if verb == Verb.GOTO:
        agent[Agent.PLACE] = at
    elif verb == Verb.GET:
        get(row[Row.ITEM], agent, tool, place)
    elif verb == Verb.PUT:
        put(agent, tool, place, env.served)
    elif verb == Verb.ACTIVATE:
        product = tables.params[Param.N_BASE] + find_recipe(tool, place, tables.sizes, tables.uses)
        activate(agent, tool, place, product)


@kernel
def count_commands(events, n_commands, catalogue, clock):
    """Refused commands and noops are counted; all commands of a voided list count as refused. Mutates: clock."""
    if n_commands <= 0:
        clock[Clock.REFUSED] -= n_commands
        return
    for c in range(n_commands):
        if events[c, EventColumn.REASON] != Reason.OK:
            clock[Clock.REFUSED] += 1
        if catalogue[events[c, EventColumn.CODE], Row.VERB] == Verb.NOOP:
            clock[Clock.NOOPS] += 1


@kernel
def tick_busy(agents, tools):
    """The busy times of agents and tools decrease by one step. Mutates: agents, tools."""
    for i in range(agents.shape[0]):
        if agents[i, Agent.BUSY] > 0:
            agents[i, Agent.BUSY] -= 1
    for at in range(tools.shape[0]):
        if tools[at, Tool.BUSY] > 0:
            tools[at, Tool.BUSY] -= 1


# ------------------------------------------------------------------------------------------- orders


@kernel
def expire_orders(orders, clock, order_events):
    """An order without time left expires, even if it could be served in this step.

    Mutates: orders, clock, order_events.
    """
    order_events[OrderEvent.EXPIRED] += drop_late_orders(orders, clock, Clock.OPEN)
    clock[Clock.EXPIRED] += order_events[OrderEvent.EXPIRED]
    if order_events[OrderEvent.EXPIRED] > 0:
        clock[Clock.FAILED] += 1


@kernel
def is_served(dish, count, content):
    """A table serves an order if it holds all of the order's items, in the required numbers."""
    for k in range(dish[Menu.COUNT]):
        item, wanted, there = dish[Menu.ITEM + k], 0, 0
        for other in range(dish[Menu.COUNT]):
            wanted += dish[Menu.ITEM + other] == item
        for c in range(count):
            there += content[c] == item
        if there < wanted:
            return False
    return True


@kernel
def clear_away(dish, tool, content):
    """A completed order removes the first of each of its items from the table. Mutates: tool, content."""
    for k in range(dish[Menu.COUNT]):
        at = 0
        while content[at] != dish[Menu.ITEM + k]:
            at += 1
        last = tool[Tool.COUNT] - 1
        for c in range(at, last):
            content[c] = content[c + 1]
        content[last] = NOTHING
        tool[Tool.COUNT] = last


@kernel
def find_table(dish, tools, places, served):
    """An order is served by the first table, in the order of locations, that holds its items."""
    for at in range(places.shape[0]):
        if tools[at, Tool.COUNT] == 0 or places[at, Place.ROLE] != Role.TABLE:
            continue
        if is_served(dish, tools[at, Tool.COUNT], served[places[at, Place.TABLE]]):
            return at
    return NOTHING


@kernel
def serve_orders(tables, env, completions, order_events):
    """Dishes on the tables complete open orders, the order with the least time left first.

    Mutates: env, completions, order_events.
    """
    orders = env.orders
    clock = env.clock
    tools = env.tools
    served = env.served
    places, menu = tables.places, tables.menu
    q = 0
    while q < clock[Clock.OPEN]:
        order = orders[q, Queue.ORDER]
        at = find_table(menu[order], tools, places, served)
        if at == NOTHING:
            q += 1
            continue
        clear_away(menu[order], tools[at], served[places[at, Place.TABLE]])
        entry = completions[order_events[OrderEvent.COMPLETED]]
        entry[Completion.ORDER] = order
        entry[Completion.PLACE] = at
        entry[Completion.REMAINING] = orders[q, Queue.REMAINING]
        order_events[OrderEvent.COMPLETED] += 1
        remember_order(order, env.history, clock, Clock.COMPLETED)
        drop_order(q, orders, clock, Clock.OPEN)


@kernel
def take_order(tables, env, order):
    """A new order gets its full lifetime, and each item of its recipe tree can earn shaped reward once more.

    Mutates: env.
    """
    wanted, demand = env.wanted, tables.demand
    add_order(order, tables.menu[order, Menu.LIFETIME], env.orders, env.clock, Clock.OPEN)
    for k in range(wanted.shape[0]):
        wanted[k] += demand[order, k]


@kernel
def sort_orders(orders, clock, menu):
    """Orders are sorted by remaining time, then by name. Mutates: orders."""
    for q in range(1, clock[Clock.OPEN]):
        remaining, order = orders[q, Queue.REMAINING], orders[q, Queue.ORDER]
        k = q
        while k > 0 and comes_before(remaining, order, orders[k - 1], menu):
            orders[k, Queue.REMAINING] = orders[k - 1, Queue.REMAINING]
            orders[k, Queue.ORDER] = orders[k - 1, Queue.ORDER]
            k -= 1
        orders[k, Queue.REMAINING] = remaining
        orders[k, Queue.ORDER] = order


@kernel
def comes_before(remaining, order, other, menu):
    """An order comes before another if it has less time left or, at equal times, by alphabetical order."""
    if remaining != other[Queue.REMAINING]:
        return remaining < other[Queue.REMAINING]
    return menu[order, Menu.RANK] < menu[other[Queue.ORDER], Menu.RANK]


@kernel
def tick(tables, env, order_events):
    """Orders age by a step; after each interval a new order arrives if there is space for it.

    Mutates: env, order_events.
    """
    orders, clock, params = env.orders, env.clock, tables.params
    clock[Clock.TIMER] += 1
    for q in range(clock[Clock.OPEN]):
        if orders[q, Queue.REMAINING] != UNLIMITED:
            orders[q, Queue.REMAINING] -= 1
    if clock[Clock.TIMER] == params[Param.INTERVAL]:
        clock[Clock.TIMER] = 0
        if clock[Clock.OPEN] < orders.shape[0]:
            drawn = next_order(env.forced, clock, Clock.FORCED, env.stream, env.rng, params[Param.N_ORDERS])
            order_events[OrderEvent.DRAWN] = drawn
            take_order(tables, env, drawn)
    sort_orders(orders, clock, tables.menu)


# ------------------------------------------------------------------------------------------- shaped reward

FIRST_HELD, FIRST_MIXED, FIRST_MADE = 0.1, 0.5, 1.0


@kernel
def reward_ingredients(tables, env):
    """Holding a wanted base ingredient earns 0.1 once. Mutates: env."""
    agents = env.agents
    wanted = env.wanted
    n_base = tables.params[Param.N_BASE]
    total = 0.0
    for i in range(agents.shape[0]):
        item = agents[i, Agent.ITEM]
        if item != NOTHING and item < n_base and agents[i, Agent.PAID] == 0 and wanted[item] > 0:
            agents[i, Agent.PAID] = 1
            wanted[item] -= 1
            total += FIRST_HELD
    return total


@kernel
def reward_mixtures(tables, env, total):
    """A tool with all ingredients of a wanted recipe earns 0.5 once. Mutates: env."""
    tools = env.tools
    wanted = env.wanted
    n_items = tables.params[Param.N_ITEMS]
    places, sizes, uses = tables.places, tables.sizes, tables.uses
    for at in range(tools.shape[0]):
        if tools[at, Tool.COUNT] == 0 or tools[at, Tool.PAID] == 1:
            continue
        r = find_recipe(tools[at], places[at], sizes, uses)
        if r != NOTHING and wanted[n_items + r] > 0:
            tools[at, Tool.PAID] = 1
            wanted[n_items + r] -= 1
            total += FIRST_MIXED
    return total


@kernel
def reward_products(tables, env, total):
    """A location with nothing but a wanted product earns 1 once, wherever it is. Mutates: env."""
    tools, served, wanted = env.tools, env.served, env.wanted
    places, n_base = tables.places, tables.params[Param.N_BASE]
    for at in range(tools.shape[0]):
        if tools[at, Tool.COUNT] != 1 or tools[at, Tool.PAID] == 1:
            continue
        t = places[at, Place.TABLE]
        item = tools[at, Tool.CONTENT] if t == NOTHING else served[t, 0]
        if item >= n_base and wanted[item] > 0:
            tools[at, Tool.PAID] = 1
            wanted[item] -= 1
            total += FIRST_MADE
    return total
