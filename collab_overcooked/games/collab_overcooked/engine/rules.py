"""The rules of Collab-Overcooked, one kernel per rule, for one environment. ``step.py`` has the order of play.

Rows passed in are views of one environment's arrays: ``agent`` (4,), ``tile`` (7 + capacity,), ``event`` (9,).
"""

from __future__ import annotations

from collab_overcooked.kernels.grid import resolve_moves
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import Level
from collab_overcooked.kernels.rng import draw_below

from .constants import (
    DISH,
    FIRST_NAMED,
    INTERACT,
    NOTHING,
    START,
    Access,
    Agent,
    Cell,
    Clock,
    Event,
    EventColumn,
    Food,
    Group,
    Kind,
    Log,
    MacroState,
    Param,
    Primitive,
    Reason,
    Recipe,
    Station,
    Status,
    Task,
    Tile,
)

# ------------------------------------------------------------------------------------------- utensils and counters


@kernel
def status(tile):
    """A utensil is empty, filling until it is started, then cooking, and finally ready."""
    if tile[Tile.COUNT] == 0:
        return Status.EMPTY
    if tile[Tile.TIMER] == 0:
        return Status.FILLING
    if tile[Tile.TIMER] < tile[Tile.TIME]:
        return Status.COOKING
    return Status.READY


@kernel
def clear_tile(tile):
    """Clear an emptied counter or utensil. Mutates: tile."""
    tile[:] = NOTHING
    tile[Tile.PLATED : Tile.CONTENT] = 0


# ------------------------------------------------------------------------------------------- what an interact does


@kernel
def effect_at_counter(held, tile):
    """A counter takes one object from a full hand and gives it to an empty one."""
    if held != NOTHING and tile[Tile.ITEM] == NOTHING:
        return Event.PLACE
    if held == NOTHING and tile[Tile.ITEM] != NOTHING:
        return Event.PICKUP
    return Event.NONE


@kernel
def effect_at_serving(held, plated, orders, foods):
    """Delivering removes any food; it pays if it is the first order, on a dish exactly if the order needs one."""
    if held == NOTHING or held == DISH:
        return Event.NONE
    if held == orders[0] and plated == foods[held, Food.NEEDS_DISH]:
        return Event.DELIVER
    return Event.DELIVER_WRONG


@kernel
def effect_with_dish(tile, log):
    """A dish takes ready food out of a utensil; events follow the original's log, which calls some of these puts."""
    now = status(tile)
    if now == Status.READY:
        return Event.FILL_AS_PUT if log == Log.ALL_AS_PUTS else Event.FILL
    return Event.PUT_NO_EFFECT if now == Status.COOKING and log == Log.ALL_AS_PUTS else Event.NONE


@kernel
def effect_with_full_hand(tile, capacity, log):
    """A utensil takes any food until it is full or started; the original also logs puts into a full one."""
    if status(tile) > Status.FILLING:
        return Event.NONE
    if tile[Tile.COUNT] < capacity:
        return Event.PUT
    return Event.NONE if log == Log.EFFECTS else Event.PUT_NO_EFFECT


@kernel
def effect_with_empty_hand(parameter, tile):
    """An empty hand takes ready food or, before the start, takes back the named item."""
    now = status(tile)
    if now == Status.READY or (now == Status.FILLING and find_content(tile, parameter) != NOTHING):
        return Event.PICKUP
    return Event.NONE


@kernel
def find_content(tile, item):
    """Return the first matching item in an unstarted utensil."""
    for k in range(tile[Tile.COUNT]):
        if tile[Tile.CONTENT + k] == item:
            return k
    return NOTHING


@kernel
def effect_at_utensil(held, parameter, tile, station):
    """At a utensil, a start takes precedence; otherwise the effect depends on the held item."""
    if parameter == START and status(tile) == Status.FILLING:
        return Event.START
    if held == DISH:
        return effect_with_dish(tile, station[Station.LOG])
    if held != NOTHING:
        return effect_with_full_hand(tile, station[Station.CAPACITY], station[Station.LOG])
    return effect_with_empty_hand(parameter, tile)


@kernel
def effect(held, plated, parameter, tile, station, orders, foods):
    """The effect of an interact depends on the station, the hand and the named item; dispensers need an empty hand."""
    kind = station[Station.KIND]
    if kind == Kind.COUNTER:
        return effect_at_counter(held, tile)
    if kind == Kind.SERVING:
        return effect_at_serving(held, plated, orders, foods)
    if kind == Kind.UTENSIL:
        return effect_at_utensil(held, parameter, tile, station)
    named = kind == Kind.DISHES or (parameter >= 0 and foods[parameter, Food.RAW] == 1)
    return Event.PICKUP if held == NOTHING and named else Event.NONE


@kernel
def hold(agent, item, plated):
    """A hand holds one item, with or without a dish. Mutates: agent."""
    agent[Agent.ITEM] = item
    agent[Agent.PLATED] = plated


@kernel
def place_on_counter(agent, tile, clock):
    """A placed item keeps its dish and gets the next placing number. Mutates: agent, tile, clock."""
    clock[Clock.PLACEMENTS] += 1
    tile[Tile.ITEM] = agent[Agent.ITEM]
    tile[Tile.PLATED] = agent[Agent.PLATED]
    tile[Tile.PLACED] = clock[Clock.PLACEMENTS]
    hold(agent, NOTHING, 0)


@kernel
def put_in_utensil(agent, tile):
    """An item joins the contents of a utensil; its dish is lost. Mutates: agent, tile."""
    tile[Tile.CONTENT + tile[Tile.COUNT]] = agent[Agent.ITEM]
    tile[Tile.COUNT] += 1
    hold(agent, NOTHING, 0)


@kernel
def take_back(agent, item, tile):
    """Taking an item out of an unstarted utensil makes room for another. Mutates: agent, tile."""
    last = tile[Tile.COUNT] - 1
    for k in range(find_content(tile, item), last):
        tile[Tile.CONTENT + k] = tile[Tile.CONTENT + k + 1]
    tile[Tile.CONTENT + last] = NOTHING
    tile[Tile.COUNT] = last
    hold(agent, item, 0)


@kernel
def pick_up(agent, parameter, tile, kind):
    """A hand takes the named ingredient, a dish, an item back, or the whole contents. Mutates: agent, tile."""
    if kind == Kind.INGREDIENTS:
        hold(agent, parameter, 0)
    elif kind == Kind.DISHES:
        hold(agent, DISH, 0)
    elif kind == Kind.UTENSIL and tile[Tile.TIMER] == 0:
        take_back(agent, parameter, tile)
    else:
        hold(agent, tile[Tile.ITEM], tile[Tile.PLATED])
        clear_tile(tile)


@kernel
def is_filling(code):
    """Return whether an effect fills a dish, whatever the log calls it."""
    return code == Event.FILL or code == Event.FILL_AS_PUT


@kernel
def fill_dish(agent, tile):
    """Ready food moves onto the dish in the hand. Mutates: agent, tile."""
    hold(agent, tile[Tile.ITEM], 1)
    clear_tile(tile)


@kernel
def deliver(agent, code, orders, clock):
    """Delivered food disappears; a paid delivery removes the first order. Mutates: agent, orders, clock."""
    if code == Event.DELIVER:
        clock[Clock.DELIVERED] += 1
        for q in range(orders.shape[0] - 1):
            orders[q] = orders[q + 1]
        orders[-1] = NOTHING
    hold(agent, NOTHING, 0)


@kernel
def apply_effect(code, agent, parameter, tile, kind, orders, clock):
    """An effect changes hand and station; a start is judged only at the end of the step.

    Mutates: agent, tile, orders, clock.
    """
    if code == Event.PICKUP:
        pick_up(agent, parameter, tile, kind)
    elif code == Event.PLACE:
        place_on_counter(agent, tile, clock)
    elif code == Event.PUT:
        put_in_utensil(agent, tile)
    elif code == Event.START:
        tile[Tile.STARTED] = 1
    elif is_filling(code):
        fill_dish(agent, tile)
    elif code != Event.PUT_NO_EFFECT:
        deliver(agent, code, orders, clock)


@kernel
def concerned_item(code, before, after):
    """The item of an event is the one taken, else the one given away; a start has none."""
    if code == Event.START:
        return NOTHING
    return after if code == Event.PICKUP or is_filling(code) else before


@kernel
def interact(tables, env, i, s, event):
    """An agent uses the station it faces, and the event is noted with the item it concerns. Mutates: env, event."""
    agent = env.agents[i]
    tile = env.tiles[s]
    station = tables.stations[s]
    orders = env.orders
    parameter, held = event[EventColumn.PARAMETER], agent[Agent.ITEM]
    code = effect(held, agent[Agent.PLATED], parameter, tile, station, orders, tables.foods)
    if code != Event.NONE:
        apply_effect(code, agent, parameter, tile, station[Station.KIND], orders, env.clock)
        event[EventColumn.CODE] = code
        event[EventColumn.ITEM] = concerned_item(code, held, agent[Agent.ITEM])


@kernel
def faced_station(agent, access, cells):
    """An agent can use the station that it faces unless it is reserved for others."""
    station = cells[agent[Agent.CELL], Cell.FACED + agent[Agent.FACING]]
    if station != NOTHING and access[station] == Access.NONE:
        return NOTHING
    return station


@kernel
def interact_in_turn(tables, env, events):
    """Interacts come before movement, in agent order, each on the state left by the earlier ones.

    Mutates: env, events.
    """
    for i in range(events.shape[0]):
        if events[i, EventColumn.PRIMITIVE] != Primitive.INTERACT:
            continue
        s = faced_station(env.agents[i], tables.access[i], tables.cells)
        if s != NOTHING:
            events[i, EventColumn.STATION] = s
            interact(tables, env, i, s, events[i])


@kernel
def move_agents(tables, env, events):
    """A direction turns the agent and moves it onto free floor; agents that collide do not move.

    Mutates: env, events.
    """
    agents, cells = env.agents, tables.cells
    for i in range(agents.shape[0]):
        cell, direction = agents[i, Agent.CELL], events[i, EventColumn.PRIMITIVE]
        events[i, EventColumn.TARGET] = cell
        if direction < Primitive.STAY:
            events[i, EventColumn.MOVED] = agents[i, Agent.FACING] != direction
            agents[i, Agent.FACING] = direction
            if cells[cell, Cell.NEIGHBOUR + direction] != NOTHING:
                events[i, EventColumn.TARGET] = cells[cell, Cell.NEIGHBOUR + direction]
    resolve_moves(agents[:, Agent.CELL], events[:, EventColumn.TARGET])
    for i in range(agents.shape[0]):
        if agents[i, Agent.CELL] != events[i, EventColumn.TARGET]:
            agents[i, Agent.CELL] = events[i, EventColumn.TARGET]
            events[i, EventColumn.MOVED] = 1


@kernel
def find_recipe(tile, utensil, recipes):
    """The contents match a recipe if they equal its inputs as a multiset."""
    count = tile[Tile.COUNT]
    for r in range(recipes.shape[0]):
        if recipes[r, Recipe.UTENSIL] != utensil or recipes[r, Recipe.COUNT] != count:
            continue
        matching = True
        for k in range(count):
            item = recipes[r, Recipe.INPUT + k]
            balance = 0
            for j in range(count):
                balance += int(recipes[r, Recipe.INPUT + j] == item) - int(tile[Tile.CONTENT + j] == item)
            matching = matching and balance == 0
        if matching:
            return r
    return NOTHING


@kernel
def judge_start(tile, station, recipes):
    """A started utensil cooks its recipe; contents that match no recipe are destroyed. Mutates: tile."""
    r = find_recipe(tile, station[Station.UTENSIL], recipes)
    if r == NOTHING:
        clear_tile(tile)
        return False
    tile[Tile.STARTED] = 0
    tile[Tile.ITEM] = recipes[r, Recipe.PRODUCT]
    tile[Tile.TIME] = recipes[r, Recipe.TIME]
    tile[Tile.TIMER] = 1
    return True


@kernel
def tick_utensils(tables, env, events):
    """At the end of a step new starts are judged and every cooking utensil advances by one. Mutates: env, events."""
    tiles, groups = env.tiles, tables.groups
    for u in range(tables.params[Param.N_UTENSILS]):
        s = groups[Group.UTENSIL + u, 0]
        if tiles[s, Tile.STARTED] == 1:
            if not judge_start(tiles[s], tables.stations[s], tables.recipes):
                for i in range(events.shape[0]):
                    if events[i, EventColumn.CODE] == Event.START and events[i, EventColumn.STATION] == s:
                        events[i, EventColumn.CODE] = Event.START_WRONG
        elif status(tiles[s]) == Status.COOKING:
            tiles[s, Tile.TIMER] += 1


@kernel
def draw_task(rng, tasks):
    """Orders are drawn from the tasks by weight. Mutates: rng."""
    ticket = draw_below(rng, tasks[-1, Task.WEIGHT])
    for k in range(tasks.shape[0]):
        if ticket < tasks[k, Task.WEIGHT]:
            return k
    return tasks.shape[0] - 1


@kernel
def refill_orders(tables, env):
    """In a game of many orders, a delivered order is replaced at once. Mutates: env."""
    params, orders = tables.params, env.orders
    if params[Param.REFILL] == 0:
        return
    for q in range(params[Param.LOOKAHEAD]):
        if orders[q] == NOTHING:
            orders[q] = tables.tasks[draw_task(env.rng, tables.tasks), Task.ITEM]


# ------------------------------------------------------------------------------------------- primitive actions


@kernel
def named_by(action):
    """Interact actions are the plain one, the start, and one per named item, in this order."""
    if action >= FIRST_NAMED:
        return action - FIRST_NAMED
    return START if action > INTERACT else NOTHING


@kernel
def choose_primitives(tables, actions, events):
    """A primitive action is a move, a stay, or an interact that may name a start or an item. Mutates: events."""
    for i in range(actions.shape[0]):
        if tables.levels[i] != Level.PRIMITIVE:
            continue
        if actions[i] >= FIRST_NAMED + tables.foods.shape[0]:
            events[i, EventColumn.PRIMITIVE] = Primitive.STAY
            events[i, EventColumn.REASON] = Reason.NO_SUCH_ACTION
        else:
            events[i, EventColumn.PRIMITIVE] = min(actions[i], INTERACT)
            events[i, EventColumn.PARAMETER] = named_by(actions[i])


@kernel
def refuse_idle_interacts(tables, env, events):
    """An interact that changes nothing counts as refused. Mutates: env, events."""
    for i in range(events.shape[0]):
        if tables.levels[i] != Level.PRIMITIVE:
            continue
        if events[i, EventColumn.PRIMITIVE] == Primitive.INTERACT and events[i, EventColumn.CODE] == Event.NONE:
            events[i, EventColumn.REASON] = Reason.NO_EFFECT
        env.macro_state[i, MacroState.REASON] = events[i, EventColumn.REASON]
