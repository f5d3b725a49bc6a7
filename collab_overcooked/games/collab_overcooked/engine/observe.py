"""Observations of Collab-Overcooked: action masks, flat features and grid channels.

Both encodings are centred on the agent that sees: it comes first, its teammates follow in seat order. Recipe
knowledge is written only for agents that have it. All values are uint8; counts and times stop at 255.
"""

from __future__ import annotations

from collab_overcooked.games.collab_overcooked.engine.constants import (
    DISH,
    FIRST_NAMED,
    INTERACT,
    NOTHING,
    Access,
    Agent,
    Clock,
    Encoding,
    Event,
    Group,
    Kind,
    Param,
    Reason,
    Station,
    Status,
    Tile,
    Verb,
)
from collab_overcooked.games.collab_overcooked.engine.macro_actions import (
    check_deliver,
    check_fill,
    check_operate,
    check_pickup,
    check_place,
    check_put,
)
from collab_overcooked.games.collab_overcooked.engine.rules import effect, faced_station, named_by, status
from collab_overcooked.kernels.arrays import clip_u8
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import Level, is_running

AGENT_FEATURES = 8  # beside the held item: plated, x, y, four facings, busy
UTENSIL_FEATURES = 6  # beside the contents: four states, steps done, steps left
GRID_CHANNELS = 14  # beside kinds and items: see docs of `grid`


@kernel
def observe_env(tables, agents, macros, tiles, orders, clock, observations, masks):
    """Write masks and observations of all agents. Mutates: observations, masks."""
    params, stations, groups, foods, takes = tables.params, tables.stations, tables.groups, tables.foods, tables.takes
    cells, needs, template = tables.cells, tables.needs, tables.template
    for i in range(agents.shape[0]):
        access = tables.access[i]
        if tables.levels[i] == Level.MEDIUM:
            mask_medium(agents[i], macros[i], tiles, orders, params, stations, groups, foods, takes, access, masks[i])
        else:
            mask_primitive(agents[i], tiles, orders, stations, foods, cells, access, masks[i])
        if params[Param.ENCODING] == Encoding.FEATURES:
            encode_features(
                i, agents, macros, tiles, orders, clock, params, groups, access, cells, needs, observations[i]
            )
        else:
            encode_grid(
                i, agents, tiles, orders, clock, params, stations, access, cells, needs, template, observations[i]
            )


@kernel
def mask_medium(agent, macro, tiles, orders, params, stations, groups, foods, takes, access, mask):
    """The rules judge every action that could possibly be accepted; a busy agent may only continue. Mutates: mask."""
    mask[:] = 0
    held, plated = agent[Agent.ITEM], agent[Agent.PLATED]
    if is_running(macro):
        mask[Verb.CONTINUE] = 1
        return
    first_put, n_utensils, original = params[Param.FIRST_PUT], params[Param.N_UTENSILS], params[Param.ORIGINAL] == 1
    mask[1 : first_put - 2] = 1  # waits
    mask[first_put - 2] = check_place(held, tiles, groups, access, original) == Reason.OK
    mask[first_put - 1] = check_deliver(held, plated, groups, access, foods, original) == Reason.OK
    for u in range(n_utensils):
        s = groups[Group.UTENSIL + u, 0]
        if access[s] == Access.NONE and not original:
            continue
        action = first_put + u
        mask[action] = check_put(s, held, tiles, stations, access, original) == Reason.OK
        mask[action + n_utensils] = check_operate(s, held, tiles, access) == Reason.OK
        ok = check_fill(s, held, orders[0], tiles, access, foods, original) == Reason.OK
        mask[action + 2 * n_utensils] = ok
    if held == NOTHING:
        mask_pickups(tiles, params, stations, groups, foods, takes, access, mask)


@kernel
def mask_pickups(tiles, params, stations, groups, foods, takes, access, mask):
    """An empty hand can try all ingredients alike, dishes, what lies on counters and what is ready. Mutates: mask."""
    raw, dish = params[Param.FIRST_RAW_PICKUP], params[Param.DISH_PICKUP]
    if check_pickup(DISH + 1, Group.INGREDIENTS, NOTHING, tiles, stations, groups, access, foods) == Reason.OK:
        mask[raw:dish] = 1
    mask[dish] = check_pickup(DISH, Group.DISHES, NOTHING, tiles, stations, groups, access, foods) == Reason.OK
    for k in range(groups.shape[1]):
        s = groups[Group.COUNTER, k]
        if s != NOTHING and access[s] != Access.NONE and tiles[s, Tile.ITEM] != NOTHING:
            item = tiles[s, Tile.ITEM]
            ok = check_pickup(item, Group.COUNTER, NOTHING, tiles, stations, groups, access, foods) == Reason.OK
            mask[params[Param.FIRST_COUNTER_PICKUP] + item] = ok
    for u in range(params[Param.N_UTENSILS]):
        s = groups[Group.UTENSIL + u, 0]
        if access[s] != Access.NONE and status(tiles[s]) == Status.READY:
            item = tiles[s, Tile.ITEM]
            ok = check_pickup(item, Group.UTENSIL + u, NOTHING, tiles, stations, groups, access, foods) == Reason.OK
            mask[takes[u, item]] = ok


@kernel
def mask_primitive(agent, tiles, orders, stations, foods, cells, access, mask):
    """The mask always allows moves and stay, and interact if it changes something. Mutates: mask (A,)."""
    mask[:INTERACT] = 1
    mask[INTERACT:] = 0
    s = faced_station(agent, access, cells)
    if s == NOTHING:
        return
    held, plated = agent[Agent.ITEM], agent[Agent.PLATED]
    for action in range(INTERACT, FIRST_NAMED + foods.shape[0]):
        mask[action] = effect(held, plated, named_by(action), tiles[s], stations[s], orders, foods) != Event.NONE


@kernel
def knows_recipes(i, params):
    """An agent sees recipes if it knows them, or if knowledge is full."""
    return params[Param.FULL_KNOWLEDGE] == 1 or (params[Param.KNOWERS] >> i) & 1 == 1


@kernel
def count_contents(tile, out, base):
    """A utensil shows its items before the start and its product after. Mutates: out."""
    now = status(tile)
    if now == Status.FILLING:
        for k in range(tile[Tile.COUNT]):
            out[base + tile[Tile.CONTENT + k]] += 1
    elif now != Status.EMPTY:
        out[base + tile[Tile.ITEM]] = 1


@kernel
def encode_agent(agent, is_busy, x, y, n_items, out, at):
    """An agent is encoded as held item, position, facing and whether it is busy. Mutates: out."""
    if agent[Agent.ITEM] != NOTHING:
        out[at + agent[Agent.ITEM]] = 1
    at += n_items
    out[at] = agent[Agent.PLATED]
    out[at + 1] = x
    out[at + 2] = y
    out[at + 3 + agent[Agent.FACING]] = 1
    out[at + 7] = is_busy
    return at + AGENT_FEATURES


@kernel
def encode_utensil(tile, n_items, out, at):
    """A utensil is encoded as its contents, its state, and the steps done and left. Mutates: out."""
    now = status(tile)
    count_contents(tile, out, at)
    at += n_items
    out[at + now] = 1
    if now >= Status.COOKING:
        out[at + 4] = clip_u8(tile[Tile.TIMER])
        out[at + 5] = clip_u8(tile[Tile.TIME] - tile[Tile.TIMER])
    return at + UTENSIL_FEATURES


@kernel
def encode_features(i, agents, macros, tiles, orders, clock, params, groups, access, cells, needs, out):
    """Write self, teammates, orders, known recipe, utensils, usable counters and clock. Mutates: out."""
    n_items, n_agents, lookahead = needs.shape[0], agents.shape[0], params[Param.LOOKAHEAD]
    out[:] = 0
    at = 0
    for k in range(n_agents):
        j = (i + k) % n_agents
        agent, cell = agents[j], agents[j, Agent.CELL]
        at = encode_agent(agent, is_running(macros[j]), cells[cell, 8], cells[cell, 9], n_items, out, at)
    for q in range(lookahead):
        if orders[q] != NOTHING:
            out[at + orders[q]] = 1
        at += n_items
    if orders[0] != NOTHING and knows_recipes(i, params):
        for item in range(n_items):
            out[at + item] = needs[orders[0], item]
    at += n_items
    for u in range(params[Param.N_UTENSILS]):
        at = encode_utensil(tiles[groups[Group.UTENSIL + u, 0]], n_items, out, at)
    for k in range(groups.shape[1]):
        s = groups[Group.COUNTER, k]
        if s != NOTHING and access[s] != Access.NONE and tiles[s, Tile.ITEM] != NOTHING:
            out[at + tiles[s, Tile.ITEM]] += 1
            out[at + n_items] += tiles[s, Tile.PLATED]
    at += n_items + 1
    out[at] = clip_u8(clock[Clock.T])
    out[at + 1] = time_left(clock, params)


@kernel
def time_left(clock, params):
    """Agents see the number of steps left, or 0 with show_limit=False."""
    return clip_u8((clock[Clock.LIMIT] - clock[Clock.T]) * params[Param.SHOW_LIMIT])


@kernel
def encode_grid(i, agents, tiles, orders, clock, params, stations, access, cells, needs, template, out):
    """Grid view, channels last: kinds, agents, objects where they are, the order on the serving tile. Mutates: out."""
    n_items, n_agents, width = needs.shape[0], agents.shape[0], params[Param.WIDTH]
    depth = out.shape[0] // (width * params[Param.HEIGHT])
    first_item = depth - n_items
    marks = first_item - GRID_CHANNELS
    for k in range(out.shape[0]):
        out[k] = template[k]
    for k in range(n_agents):
        agent = agents[(i + k) % n_agents]
        at = (cells[agent[Agent.CELL], 9] * width + cells[agent[Agent.CELL], 8]) * depth
        out[at + marks + (0 if k == 0 else 4) + agent[Agent.FACING]] = 1
        out[at + marks + 8] = agent[Agent.PLATED]
        if agent[Agent.ITEM] != NOTHING:
            out[at + first_item + agent[Agent.ITEM]] = 1
    for s in range(stations.shape[0]):
        at = (stations[s, Station.Y] * width + stations[s, Station.X]) * depth
        if stations[s, Station.KIND] == Kind.UTENSIL:
            encode_utensil_cell(tiles[s], first_item, marks, out, at)
        elif stations[s, Station.KIND] == Kind.COUNTER:
            if access[s] != Access.NONE and tiles[s, Tile.ITEM] != NOTHING:
                out[at + first_item + tiles[s, Tile.ITEM]] = 1
                out[at + marks + 8] = tiles[s, Tile.PLATED]
        else:
            knows = knows_recipes(i, params)
            left = time_left(clock, params)
            encode_order_cell(stations[s, Station.KIND], orders, left, knows, needs, first_item, marks, out, at)


@kernel
def encode_order_cell(kind, orders, left, knows, needs, first_item, marks, out, at):
    """The serving tile shows time left and order, the ingredient dispenser the recipe to who knows it. Mutates: out."""
    if kind == Kind.SERVING:
        out[at + marks + 13] = left
    if orders[0] == NOTHING:
        return
    if kind == Kind.SERVING:
        out[at + first_item + orders[0]] = 1
    elif kind == Kind.INGREDIENTS and knows:
        for item in range(needs.shape[0]):
            out[at + first_item + item] = needs[orders[0], item]


@kernel
def encode_utensil_cell(tile, first_item, marks, out, at):
    """A utensil's cell shows contents, steps done and left, and whether it cooks or is ready. Mutates: out."""
    now = status(tile)
    count_contents(tile, out, at + first_item)
    if now >= Status.COOKING:
        out[at + marks + 9] = clip_u8(tile[Tile.TIMER])
        out[at + marks + 10] = clip_u8(tile[Tile.TIME] - tile[Tile.TIMER])
        out[at + marks + 11] = now == Status.COOKING
        out[at + marks + 12] = now == Status.READY
