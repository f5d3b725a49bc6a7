"""Observations of Collab-Overcooked: action masks, flat features and grid channels.

Both encodings are centred on the agent that sees: it comes first, its teammates follow in seat order. Recipe
knowledge is written only for agents that have it. All values are uint8; counts and times stop at 255.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from collab_overcooked.kernels.arrays import ENDLESS, clip_u8, copy_numbers
from collab_overcooked.kernels.blocks import Block, Objects, numbered, start_of
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import Level, is_running

from .constants import (
    DISH,
    FIRST_NAMED,
    INTERACT,
    NOTHING,
    Access,
    Agent,
    Cell,
    Clock,
    Encoding,
    Event,
    Feature,
    GridChannel,
    Group,
    Kind,
    Param,
    Reason,
    Recipe,
    Station,
    Status,
    Tile,
    Verb,
)
from .macro_actions import check_deliver, check_fill, check_operate, check_pickup, check_place, check_put
from .rules import effect, faced_station, named_by, status
from .state import Tables

GRID_CHANNELS = GridChannel.TIME_LEFT + 1


@kernel
def observe_env(tables, env, out):
    """Write masks and observations of all agents. Mutates: out."""
    observations, masks = out.observations, out.masks
    for i in range(masks.shape[0]):
        if tables.levels[i] == Level.MEDIUM:
            mask_medium(tables, env, i, masks[i])
        else:
            mask_primitive(tables, env, i, masks[i])
        if tables.params[Param.ENCODING] == Encoding.FEATURES:
            encode_features(tables, env, i, observations[i])
        else:
            encode_grid(tables, env, i, observations[i])


@kernel
def mask_medium(tables, env, i, mask):
    """The rules judge every action that could possibly be accepted; a busy agent may only continue. Mutates: mask."""
    mask[:] = 0
    if is_running(env.macro_state[i]):
        mask[Verb.CONTINUE] = 1
        return
    params = tables.params
    first_put = params[Param.FIRST_PUT]
    n_utensils = params[Param.N_UTENSILS]
    original = params[Param.ORIGINAL] == 1
    mask[1 : params[Param.PLACE]] = 1  # waits
    mask[params[Param.PLACE]] = check_place(tables, env, i) == Reason.OK
    mask[params[Param.DELIVER]] = check_deliver(tables, env, i) == Reason.OK
    for u in range(n_utensils):
        s = tables.groups[Group.UTENSIL + u, 0]
        if tables.access[i, s] == Access.NONE and not original:
            continue
        action = first_put + u
        mask[action] = check_put(tables, env, i, s) == Reason.OK
        mask[action + n_utensils] = check_operate(tables, env, i, s) == Reason.OK
        mask[action + 2 * n_utensils] = check_fill(tables, env, i, s) == Reason.OK
    if env.agents[i, Agent.ITEM] == NOTHING:
        mask_pickups(tables, env, i, mask)


@kernel
def mask_pickups(tables, env, i, mask):
    """An empty hand can try all ingredients alike, dishes, what lies on counters and what is ready. Mutates: mask."""
    tiles = env.tiles
    params = tables.params
    groups = tables.groups
    access = tables.access[i]
    raw, dish = params[Param.FIRST_RAW_PICKUP], params[Param.DISH_PICKUP]
    if check_pickup(tables, env, i, DISH + 1, Group.INGREDIENTS) == Reason.OK:
        mask[raw:dish] = 1
    mask[dish] = check_pickup(tables, env, i, DISH, Group.DISHES) == Reason.OK
    for k in range(groups.shape[1]):
        s = groups[Group.COUNTER, k]
        if s != NOTHING and access[s] != Access.NONE and tiles[s, Tile.ITEM] != NOTHING:
            item = tiles[s, Tile.ITEM]
            ok = check_pickup(tables, env, i, item, Group.COUNTER) == Reason.OK
            mask[params[Param.FIRST_COUNTER_PICKUP] + item] = ok
    for u in range(params[Param.N_UTENSILS]):
        s = groups[Group.UTENSIL + u, 0]
        if access[s] != Access.NONE and status(tiles[s]) == Status.READY:
            item = tiles[s, Tile.ITEM]
            mask[tables.takes[u, item]] = check_pickup(tables, env, i, item, Group.UTENSIL + u) == Reason.OK


@kernel
def mask_primitive(tables, env, i, mask):
    """The mask always allows moves and stay, and interact if it changes something. Mutates: mask (A,)."""
    mask[:INTERACT] = 1
    mask[INTERACT:] = 0
    agent, foods = env.agents[i], tables.foods
    s = faced_station(agent, tables.access[i], tables.cells)
    if s == NOTHING:
        return
    held = agent[Agent.ITEM]
    plated = agent[Agent.PLATED]
    orders = env.orders
    tile, station = env.tiles[s], tables.stations[s]
    for action in range(INTERACT, FIRST_NAMED + foods.shape[0]):
        mask[action] = effect(held, plated, named_by(action), tile, station, orders, foods) != Event.NONE


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
def encode_agent(spans, agent, is_busy, cell, k, out):
    """An agent is encoded as held item, position, facing and whether it is busy. Mutates: out."""
    if agent[Agent.ITEM] != NOTHING:
        out[start_of(spans, Feature.HELD, k) + agent[Agent.ITEM]] = 1
    out[start_of(spans, Feature.PLATED, k)] = agent[Agent.PLATED]
    out[start_of(spans, Feature.X, k)] = cell[Cell.X]
    out[start_of(spans, Feature.Y, k)] = cell[Cell.Y]
    out[start_of(spans, Feature.FACING, k) + agent[Agent.FACING]] = 1
    out[start_of(spans, Feature.BUSY, k)] = is_busy


@kernel
def encode_utensil(spans, tile, u, out):
    """A utensil is encoded as its contents, its state, and the steps done and left. Mutates: out."""
    now = status(tile)
    count_contents(tile, out, start_of(spans, Feature.CONTENTS, u))
    out[start_of(spans, Feature.STATE, u) + now] = 1
    if now >= Status.COOKING:
        out[start_of(spans, Feature.STEPS_DONE, u)] = clip_u8(tile[Tile.TIMER])
        out[start_of(spans, Feature.STEPS_LEFT, u)] = clip_u8(tile[Tile.TIME] - tile[Tile.TIMER])


@kernel
def encode_features(tables, env, i, out):
    """Write the blocks of an observation, see ``features_of``. Mutates: out."""
    agents = env.agents
    tiles = env.tiles
    orders = env.orders
    clock = env.clock
    params = tables.params
    groups = tables.groups
    access = tables.access[i]
    needs = tables.needs
    spans = tables.spans
    out[:] = 0
    for k in range(agents.shape[0]):
        j = (i + k) % agents.shape[0]
        encode_agent(spans, agents[j], is_running(env.macro_state[j]), tables.cells[agents[j, Agent.CELL]], k, out)
    for q in range(params[Param.LOOKAHEAD]):
        if orders[q] != NOTHING:
            out[start_of(spans, Feature.ORDER, q) + orders[q]] = 1
    if orders[0] != NOTHING and knows_recipes(i, params):
        at = start_of(spans, Feature.RECIPE, 0)
        for item in range(needs.shape[0]):
            out[at + item] = needs[orders[0], item]
    for u in range(params[Param.N_UTENSILS]):
        encode_utensil(spans, tiles[groups[Group.UTENSIL + u, 0]], u, out)
    counters = start_of(spans, Feature.COUNTERS, 0)
    plated = start_of(spans, Feature.PLATED_ON_COUNTERS, 0)
    for k in range(groups.shape[1]):
        s = groups[Group.COUNTER, k]
        if s != NOTHING and access[s] != Access.NONE and tiles[s, Tile.ITEM] != NOTHING:
            out[counters + tiles[s, Tile.ITEM]] += 1
            out[plated] += tiles[s, Tile.PLATED]
    out[start_of(spans, Feature.T, 0)] = clip_u8(clock[Clock.T])
    out[start_of(spans, Feature.TIME_LEFT, 0)] = time_left(clock, params)


@kernel
def time_left(clock, params):
    """Agents see the number of steps left, or 0 with show_limit=False."""
    return clip_u8((clock[Clock.LIMIT] - clock[Clock.T]) * params[Param.SHOW_LIMIT])


@kernel
def encode_grid(tables, env, i, out):
    """Grid view, channels last: kinds, agents, objects where they are, the order on the serving tile. Mutates: out."""
    agents = env.agents
    tiles = env.tiles
    params = tables.params
    stations = tables.stations
    access = tables.access[i]
    cells = tables.cells
    template = tables.template
    n_items = tables.needs.shape[0]
    n_agents = agents.shape[0]
    width = params[Param.WIDTH]
    depth = out.shape[0] // (width * params[Param.HEIGHT])
    first_item = depth - n_items - params[Param.SPARE]
    marks = first_item - GRID_CHANNELS
    copy_numbers(template, out)
    for k in range(n_agents):
        agent = agents[(i + k) % n_agents]
        at = (cells[agent[Agent.CELL], Cell.Y] * width + cells[agent[Agent.CELL], Cell.X]) * depth
        out[at + marks + (GridChannel.OWN_FACING if k == 0 else GridChannel.MATE_FACING) + agent[Agent.FACING]] = 1
        out[at + marks + GridChannel.PLATED] = agent[Agent.PLATED]
        if agent[Agent.ITEM] != NOTHING:
            out[at + first_item + agent[Agent.ITEM]] = 1
    for s in range(stations.shape[0]):
        at = (stations[s, Station.Y] * width + stations[s, Station.X]) * depth
        if stations[s, Station.KIND] == Kind.UTENSIL:
            encode_utensil_cell(tiles[s], first_item, marks, out, at)
        elif stations[s, Station.KIND] == Kind.COUNTER:
            if access[s] != Access.NONE and tiles[s, Tile.ITEM] != NOTHING:
                out[at + first_item + tiles[s, Tile.ITEM]] = 1
                out[at + marks + GridChannel.PLATED] = tiles[s, Tile.PLATED]
        else:
            encode_order_cell(tables, env, i, stations[s, Station.KIND], first_item, out, at)


@kernel
def encode_order_cell(tables, env, i, kind, first_item, out, at):
    """The serving tile shows time left and order, the ingredient dispenser the recipe to who knows it. Mutates: out."""
    orders, needs = env.orders, tables.needs
    if kind == Kind.SERVING:
        out[at + first_item - GRID_CHANNELS + GridChannel.TIME_LEFT] = time_left(env.clock, tables.params)
    if orders[0] == NOTHING:
        return
    if kind == Kind.SERVING:
        out[at + first_item + orders[0]] = 1
    elif kind == Kind.INGREDIENTS and knows_recipes(i, tables.params):
        for item in range(needs.shape[0]):
            out[at + first_item + item] = needs[orders[0], item]


@kernel
def encode_utensil_cell(tile, first_item, marks, out, at):
    """A utensil's cell shows contents, steps done and left, and whether it cooks or is ready. Mutates: out."""
    now = status(tile)
    count_contents(tile, out, at + first_item)
    if now >= Status.COOKING:
        out[at + marks + GridChannel.STEPS_DONE] = clip_u8(tile[Tile.TIMER])
        out[at + marks + GridChannel.STEPS_LEFT] = clip_u8(tile[Tile.TIME] - tile[Tile.TIMER])
        out[at + marks + GridChannel.COOKING] = now == Status.COOKING
        out[at + marks + GridChannel.READY] = now == Status.READY


def features_of(tables: Tables, utensils: Sequence[str]) -> list[Objects]:
    """Return what an observation shows, by ``Feature``; counts without a bound are left to be clipped."""
    params, stations, needs = tables.params, tables.stations, tables.needs
    items, time = (1,) * len(needs), tables.recipes[:, Recipe.TIME].max(initial=1)
    capacities = stations[tables.groups[Group.UTENSIL :, 0], Station.CAPACITY]
    counters = (stations[:, Station.KIND] == Kind.COUNTER).sum()
    agent = (
        Block("held item", items, "one of the items set to 1; none for an empty hand; agent 0 is oneself"),
        Block("plated", (1,), "1 if what is held lies on a dish"),
        Block("x", (params[Param.WIDTH] - 1,), "column of the cell"),
        Block("y", (params[Param.HEIGHT] - 1,), "row of the cell"),
        Block("facing", (1,) * len(Direction), ", ".join(way.name.lower() for way in Direction)),
        Block("busy", (1,), "1 while an action is being carried out"),
    )
    recipe = Block("recipe", needs.max(0), "how often each item occurs below the order; 0 for agents without recipes")
    utensil = (
        Block("contents", np.tile(capacities[:, None], len(items)), "items before the start, the product afterwards"),
        Block("state", (1,) * len(Status), ", ".join(state.name.lower() for state in Status)),
        Block("steps done", (time,), "since the start, while it cooks and after"),
        Block("steps left", (time,), "until it is ready"),
    )
    rest = (
        Block("counters", (counters,) * len(items), "how many counters that the agent can use hold each item"),
        Block("plated on counters", (counters,), "how many of these are on a dish"),
        Block("steps taken", (ENDLESS,), "at most 255"),
        Block("steps left", (ENDLESS,), "until the end, at most 255"),
    )
    return [
        Objects(agent, numbered("agent", len(tables.starts))),
        Objects((Block("wanted", items, "the item set to 1"),), numbered("order", int(params[Param.LOOKAHEAD]))),
        Objects((recipe,)),
        Objects(utensil, tuple(utensils)),
        Objects(rest),
    ]
