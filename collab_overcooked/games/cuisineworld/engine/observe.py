"""Observations of CuisineWorld: action masks, features, and the original's 64 numbers.

Features begin with the observing agent; its teammates follow in seat order. All features are uint8; counts and times
are clipped at 255.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.kernels.arrays import ENDLESS, clip_u8, copy_numbers
from collab_overcooked.kernels.blocks import Block, Objects, Span, numbered, start_of
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
    Feature,
    Mask,
    Menu,
    Number,
    Param,
    Place,
    Reason,
    Role,
    Tool,
)
from .rules import belongs, check_activate, check_get, check_put, find_recipe, holds
from .state import Tables

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
    agent = env.agents[i]
    places = tables.places
    sizes = tables.sizes
    uses = tables.uses
    mask[:] = 0
    mask[0] = 1
    if agent[Agent.BUSY] > 0:
        return
    mask[1 : 1 + places.shape[0]] = 1
    at = agent[Agent.PLACE]
    tool, place = env.tools[at], places[at]
    if place[Place.GET] != NOTHING and check_get(at, 0, agent, tool, place) == Reason.OK:
        n_gets = tables.params[Param.N_BASE] if place[Place.ROLE] == Role.STORAGE else 1
        mask[place[Place.GET] : place[Place.GET] + n_gets] = 1
    mask[place[Place.PUT]] = check_put(at, agent, tool, place, uses, tables.sold) == Reason.OK
    if place[Place.ACTIVATE] != NOTHING:
        mask[place[Place.ACTIVATE]] = check_activate(at, agent, tool, place, sizes, uses) == Reason.OK


@kernel
def mask_original(tables, env, i, mask):
    """The original's mask excludes the agent's own location and partial mixtures, and includes some refused commands.

    Mutates: mask.
    """
    agent = env.agents[i]
    places = tables.places
    sizes = tables.sizes
    uses = tables.uses
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
    for r in range(place[Place.FIRST_RECIPE], place[Place.RECIPES_END]):
        if sizes[r] == count + 1 and uses[r, item] == 1 and belongs(tool, r, uses):
            return True
    return False


@kernel
def encode_agent(spans, agent, k, out):
    """An agent is encoded as its held item, its location and whether it is busy. Mutates: out."""
    if agent[Agent.ITEM] != NOTHING:
        out[start_of(spans, Feature.ITEM, k) + agent[Agent.ITEM]] = 1
    out[start_of(spans, Feature.LOCATION, k) + agent[Agent.PLACE]] = 1
    out[start_of(spans, Feature.AGENT_BUSY, k)] = agent[Agent.BUSY] > 0


@kernel
def encode_tool(spans, tool, content, k, out):
    """A tool is encoded as its contents, its busy time, whether it is ready, and its item count. Mutates: out."""
    at = start_of(spans, Feature.CONTENT, k)
    for c in range(tool[Tool.COUNT]):
        out[at + content[c]] += 1
    out[start_of(spans, Feature.BUSY, k)] = clip_u8(tool[Tool.BUSY])
    out[start_of(spans, Feature.READY, k)] = tool[Tool.READY]
    out[start_of(spans, Feature.COUNT, k)] = clip_u8(tool[Tool.COUNT])


@kernel
def encode_features(tables, env, observations):
    """Write the blocks of an observation, see ``features_of``. Mutates: observations."""
    agents = env.agents
    tools = env.tools
    served = env.served
    orders = env.orders
    clock = env.clock
    places = tables.places
    spans = tables.spans
    out = observations[0]
    n_agents = env.agents.shape[0]
    n_tools = 0
    out[:] = 0
    for k in range(n_agents):
        encode_agent(spans, agents[k], k, out)
    for p in range(places.shape[0]):
        t = places[p, Place.TABLE]
        if places[p, Place.ROLE] != Role.STORAGE:
            content = tools[p, Tool.CONTENT :] if t == NOTHING else served[t]
            encode_tool(spans, tools[p], content, n_tools, out)
            n_tools += 1
    for q in range(clock[Clock.OPEN]):
        remaining = orders[q, Queue.REMAINING]
        out[start_of(spans, Feature.ORDER, q) + orders[q, Queue.ORDER]] = 1
        out[start_of(spans, Feature.REMAINING, q)] = 255 if remaining == UNLIMITED else clip_u8(remaining)
    out[start_of(spans, Feature.T, 0)] = clip_u8(clock[Clock.T])
    out[start_of(spans, Feature.STEPS_LEFT, 0)] = clip_u8(clock[Clock.LIMIT] - clock[Clock.T])
    out[start_of(spans, Feature.TIMER, 0)] = clip_u8(tables.params[Param.INTERVAL] - clock[Clock.TIMER])
    for i in range(1, n_agents):
        copy_view(i, out, observations[i], spans[Span.STEP, Feature.ITEM], n_agents)


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
    agents = env.agents
    tools = env.tools
    served = env.served
    orders = env.orders
    clock = env.clock
    params = tables.params
    places = tables.places
    objects = tables.objects
    codes = tables.codes
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


def features_of(tables: Tables, locations: Sequence[str], n_slots: int) -> list[Objects]:
    """Return what an observation shows, by ``Feature``; counts without a bound are left to be clipped."""
    params, lifetimes = tables.params, tables.menu[:, Menu.LIFETIME]
    items, orders = (1,) * int(params[Param.N_ITEMS]), (1,) * int(params[Param.N_ORDERS])
    shown = np.flatnonzero(tables.places[:, Place.ROLE] != Role.STORAGE)
    tools, is_table = tables.places[shown], tables.places[shown][:, [Place.ROLE]] == Role.TABLE
    agent = (
        Block("item", items, "the held one set to 1; none for empty hands; agent 0 is oneself"),
        Block("location", (1,) * len(tables.places), "one of the locations set to 1"),
        Block("busy", (1,), "1 while only `noop` is obeyed"),
    )
    tool = (
        Block("contents", np.where(is_table, tools[:, [Place.CAPACITY]] * tables.sold, 1), "how many of each item"),
        Block("busy", tools[:, [Place.BUSY]], "steps left"),
        Block("ready", (1,), "1 if it may be emptied"),
        Block("count", tools[:, [Place.CAPACITY]], "number of items"),
    )
    lifetime = ENDLESS if (lifetimes == UNLIMITED).any() else lifetimes.max()
    order = (
        Block("name", orders, "one of the level's orders set to 1, if open"),
        Block("time", (lifetime,), "steps left, 255 for no end"),
    )
    clock = (
        Block("steps taken", (ENDLESS,), "since the start"),
        Block("steps left", (ENDLESS,), "until the end"),
        Block("timer", (params[Param.INTERVAL],), "steps until the order timer turns"),
    )
    return [
        Objects(agent, numbered("agent", len(tables.turns))),
        Objects(tool, tuple(locations[p] for p in shown.tolist())),
        Objects(order, numbered("order", n_slots)),
        Objects(clock),
    ]


def original_bounds(tables: Tables, n_slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest value of each of the original's numbers."""
    low = np.zeros(ORIGINAL_LENGTH)
    high = np.ones(ORIGINAL_LENGTH)
    items = tables.params[Param.N_ITEMS]
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
