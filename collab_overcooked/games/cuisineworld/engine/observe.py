"""Observations of CuisineWorld: action masks, features, and the original's 64 numbers.

Features begin with the observing agent; its teammates follow in seat order. All features are uint8; counts and times
are clipped at 255.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.kernels.arrays import ENDLESS, clip_u8, copy_numbers
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import Queue

from .constants import (
    AGENT_NUMBERS,
    NOTHING,
    UNLIMITED,
    Agent,
    Clock,
    Code,
    Encoding,
    Mask,
    Menu,
    Number,
    Param,
    Place,
    Role,
    Tool,
)
from .rules import belongs, check_activate, check_get, check_put, find_recipe, holds

AGENT_FEATURES = 1  # in addition to item and location: busy
TOOL_FEATURES = 3  # in addition to the contents: busy steps, ready, number of items
ORDER_FEATURES = 1  # in addition to the name: steps left
ORIGINAL_LENGTH = 64


@kernel
def observe_env(tables, env, out):
    """Write masks and observations of all agents. Mutates: out."""
    params, observations, masks = tables.params, out.observations, out.masks
    for i in range(masks.shape[0]):
        if params[Param.MASK] == Mask.EXACT:
            mask_exact(tables, env, i, masks[i])
        else:
            mask_original(tables, env, i, masks[i])
    if params[Param.ENCODING] == Encoding.FEATURES:
        encode_features(tables, env, observations)
    else:
        encode_original(tables, env, observations)


@kernel
def mask_exact(tables, env, i, mask):
    """The exact mask allows every command that the rules accept now: noop, goto, and commands at the agent's location.

    Mutates: mask.
    """
    agent, places, sizes, uses = env.agents[i], tables.places, tables.sizes, tables.uses
    mask[:] = 0
    mask[0] = 1
    if agent[Agent.BUSY] > 0:
        return
    mask[1 : 1 + places.shape[0]] = 1
    at = agent[Agent.PLACE]
    tool, place = env.tools[at], places[at]
    if place[Place.GET] != NOTHING and check_get(at, 0, agent, tool, place) == 0:
        n_gets = tables.params[Param.N_BASE] if place[Place.ROLE] == Role.STORAGE else 1
        mask[place[Place.GET] : place[Place.GET] + n_gets] = 1
    mask[place[Place.PUT]] = check_put(at, agent, tool, place, uses, tables.sold) == 0
    if place[Place.ACTIVATE] != NOTHING:
        mask[place[Place.ACTIVATE]] = check_activate(at, agent, tool, place, sizes, uses) == 0


@kernel
def mask_original(tables, env, i, mask):
    """The original's mask excludes the agent's own location and partial mixtures, and includes some refused commands.

    Mutates: mask.
    """
    agent, places, sizes, uses = env.agents[i], tables.places, tables.sizes, tables.uses
    mask[:] = 0
    mask[0] = 1
    if agent[Agent.BUSY] > 0:
        return
    at = agent[Agent.PLACE]
    mask[1 : 1 + places.shape[0]] = 1
    mask[1 + at] = 0
    tool, place = env.tools[at], places[at]
    if tool[Tool.BUSY] > 0:
        return
    if agent[Agent.ITEM] != NOTHING:
        mask[place[Place.PUT]] = place[Place.ROLE] != Role.COOK or completes(agent, tool, place, sizes, uses)
        return
    if place[Place.ROLE] == Role.STORAGE:
        mask[place[Place.GET] : place[Place.GET] + tables.params[Param.N_BASE]] = 1
    elif place[Place.ROLE] == Role.COOK:
        mask[place[Place.GET]] = tool[Tool.COUNT] > 0
        mask[place[Place.ACTIVATE]] = tool[Tool.COUNT] == 0 or find_recipe(tool, place, sizes, uses) != NOTHING


@kernel
def completes(agent, tool, place, sizes, uses):
    """The original lists a put only into an empty tool or if it completes a recipe."""
    item, count = agent[Agent.ITEM], tool[Tool.COUNT]
    if count == 0:
        return True
    if holds(tool, item):
        return find_recipe(tool, place, sizes, uses) != NOTHING
    for r in range(place[Place.FIRST_RECIPE], place[Place.LAST_RECIPE]):
        if sizes[r] == count + 1 and uses[r, item] == 1 and belongs(tool, r, uses):
            return True
    return False


@kernel
def encode_agent(agent, n_items, n_places, out, at):
    """An agent is encoded as its held item, its location and whether it is busy. Mutates: out."""
    if agent[Agent.ITEM] != NOTHING:
        out[at + agent[Agent.ITEM]] = 1
    out[at + n_items + agent[Agent.PLACE]] = 1
    out[at + n_items + n_places] = agent[Agent.BUSY] > 0
    return at + n_items + n_places + AGENT_FEATURES


@kernel
def encode_tool(tool, content, n_items, out, at):
    """A tool is encoded as its contents, its busy time, whether it is ready, and its item count. Mutates: out."""
    for k in range(tool[Tool.COUNT]):
        out[at + content[k]] += 1
    at += n_items
    out[at] = clip_u8(tool[Tool.BUSY])
    out[at + 1] = tool[Tool.READY]
    out[at + 2] = clip_u8(tool[Tool.COUNT])
    return at + TOOL_FEATURES


@kernel
def encode_features(tables, env, observations):
    """Write self, teammates, tools except storages, orders and the clock. Mutates: observations."""
    agents, tools, served, orders, clock = env.agents, env.tools, env.served, env.orders, env.clock
    params, places = tables.params, tables.places
    n_agents, n_items, n_places = agents.shape[0], params[Param.N_ITEMS], places.shape[0]
    out = observations[0]
    out[:] = 0
    at = 0
    for k in range(n_agents):
        at = encode_agent(agents[k], n_items, n_places, out, at)
    shared = at
    for p in range(n_places):
        t = places[p, Place.TABLE]
        if places[p, Place.ROLE] != Role.STORAGE:
            content = tools[p, Tool.CONTENT :] if t == NOTHING else served[t]
            at = encode_tool(tools[p], content, n_items, out, at)
    for q in range(orders.shape[0]):
        if q < clock[Clock.OPEN]:
            out[at + orders[q, Queue.ORDER]] = 1
            remaining = orders[q, Queue.REMAINING]
            out[at + params[Param.N_ORDERS]] = 255 if remaining == UNLIMITED else clip_u8(remaining)
        at += params[Param.N_ORDERS] + ORDER_FEATURES
    out[at] = clip_u8(clock[Clock.T])
    out[at + 1] = clip_u8(clock[Clock.LIMIT] - clock[Clock.T])
    out[at + 2] = clip_u8(params[Param.INTERVAL] - clock[Clock.TIMER])
    for i in range(1, n_agents):
        copy_view(i, out, observations[i], shared // n_agents, n_agents)


@kernel
def copy_view(i, first, out, length, n_agents):
    """Other agents' observations rotate the agents of the first one, so that each begins with itself. Mutates: out."""
    split, end = length * (n_agents - i), length * n_agents
    copy_numbers(first[length * i : end], out[:split])
    copy_numbers(first[: length * i], out[split:end])
    copy_numbers(first[end:], out[end:])


@kernel
def power_of_two(exponent):
    """Return an integer power of two, exact in double precision."""
    value = 1.0
    for _ in range(exponent):
        value *= 2.0
    return value


@kernel
def content_number(tool, content, objects):
    """The original encodes contents as a sum of powers of two (-1 if empty), small ones first for precision."""
    count = tool[Tool.COUNT]
    if count == 0:
        return -1.0
    total, below = 0.0, -1
    for _ in range(count):
        least = 1 << 30
        for k in range(count):
            number = objects[content[k]]
            if below < number < least:
                least = number
        if least == 1 << 30:
            break
        total += power_of_two(least)
        below = least
    return total


@kernel
def encode_original(tables, env, observations):
    """The original's state for two agents, the same for both; times start at index 5 even if there are 6 orders.

    Mutates: observations.
    """
    agents, tools, served, orders, clock = env.agents, env.tools, env.served, env.orders, env.clock
    params, places, objects, codes = tables.params, tables.places, tables.objects, tables.codes
    out, n_items = observations[0], params[Param.N_ITEMS]
    out[:] = 0
    for q in range(clock[Clock.OPEN]):
        out[Number.ORDER + q] = objects[n_items + orders[q, Queue.ORDER]]
    for q in range(clock[Clock.OPEN]):
        out[Number.REMAINING + q] = orders[q, Queue.REMAINING]
    out[Number.T] = clock[Clock.T]
    out[Number.MAX_STEPS] = params[Param.MAX_STEPS]
    for i in range(2):
        at, item = AGENT_NUMBERS * i, agents[i, Agent.ITEM]
        out[at + Number.LOCATION] = codes[agents[i, Agent.PLACE], Code.LOCATION]
        out[at + Number.ITEM] = NOTHING if item == NOTHING else objects[item]
        out[at + Number.BUSY] = agents[i, Agent.BUSY] > 0
    for p in range(places.shape[0]):
        t = places[p, Place.TABLE]
        content = tools[p, Tool.CONTENT :] if t == NOTHING else served[t]
        out[codes[p, Code.CONTENT]] = content_number(tools[p], content, objects)
        if tools[p, Tool.BUSY] > 0:
            out[codes[p, Code.BUSY]] = 1
    for k in range(out.shape[0]):
        observations[1, k] = out[k]


def bounds(tables: Any, n_agents: int, n_slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest value of each observation entry; clipped entries may have no lower bound."""
    if tables.params[Param.ENCODING] == Encoding.ORIGINAL64:
        return _original_bounds(tables, n_slots)
    params, lifetimes = tables.params, tables.menu[:, Menu.LIFETIME]
    n_items, n_places = int(params[Param.N_ITEMS]), len(tables.places)
    lifetime = ENDLESS if (lifetimes == UNLIMITED).any() else int(lifetimes.max())
    high = [1] * (n_items + n_places + AGENT_FEATURES) * n_agents
    for place in tables.places[tables.places[:, Place.ROLE] != Role.STORAGE]:
        most = place[Place.CAPACITY]
        high += (most * tables.sold).tolist() if place[Place.ROLE] == Role.TABLE else [1] * n_items
        high += [place[Place.BUSY], 1, most]
    high += ([1] * int(params[Param.N_ORDERS]) + [lifetime]) * n_slots
    high += [ENDLESS, ENDLESS, params[Param.INTERVAL]]
    return np.zeros(len(high)), np.array(high)


def _original_bounds(tables: Any, n_slots: int) -> tuple[np.ndarray, np.ndarray]:
    low, high, items = np.zeros(ORIGINAL_LENGTH), np.ones(ORIGINAL_LENGTH), tables.params[Param.N_ITEMS]
    high[: Number.REMAINING + 1] = tables.objects[items:].max()
    times = slice(Number.REMAINING, Number.REMAINING + n_slots)
    lifetimes = tables.menu[:, Menu.LIFETIME]
    low[times] = min(lifetimes.min(), 0)
    high[times] = np.maximum(high[times], lifetimes.max())
    high[Number.T], high[Number.MAX_STEPS] = MAX_OPTION, tables.params[Param.MAX_STEPS]  # a reset may set any limit
    agents, contents = AGENT_NUMBERS * np.arange(2), tables.codes[:, Code.CONTENT]
    high[agents + Number.LOCATION] = tables.codes[:, Code.LOCATION].max()
    high[agents + Number.ITEM] = tables.objects[:items].max()
    low[agents + Number.ITEM], low[contents] = NOTHING, -1
    high[contents] = (2.0 ** np.unique(tables.objects[:items])).sum()
    return low, high
