"""Observations of CraftKitchen: action masks and uint8 features that begin with the observing agent."""

from __future__ import annotations

import numpy as np

from collab_overcooked.kernels.arrays import ENDLESS, Array, clip_u8, copy_numbers
from collab_overcooked.kernels.blocks import Block, Objects, Span, numbered, start_of
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import Queue

from .constants import FARTHEST_OUT, NOTHING, STACK, Clock, Feature, Furnace, Item, Param, Place, Reason, Row
from .rules import kind_of, nearest, square_to, why_refused
from .state import Tables, sizes_of


@kernel
def steps_away(agent, place):
    """Distances in observations are in cells, rounded up."""
    return int(np.ceil(np.sqrt(square_to(agent, place))))


@kernel
def encode_agent(tables, agent, bag, k, out):
    """An agent is encoded as its bag and its distances to all places. Mutates: out."""
    at = start_of(tables.spans, Feature.BAG, k)
    for item in range(bag.shape[0]):
        out[at + item] = clip_u8(bag[item])
    at = start_of(tables.spans, Feature.DISTANCES, k)
    for p in range(tables.places.shape[0]):
        out[at + p] = clip_u8(steps_away(agent, tables.places[p]))


@kernel
def encode_furnace(spans, furnace, f, out):
    """A furnace is encoded as the counts of the items in its slots, its heat and its progress. Mutates: out."""
    if furnace[Furnace.FUELS] > 0:
        out[start_of(spans, Feature.FUEL, f) + furnace[Furnace.FUEL]] = clip_u8(furnace[Furnace.FUELS])
    if furnace[Furnace.INPUTS] > 0:
        out[start_of(spans, Feature.INPUT, f) + furnace[Furnace.INPUT]] = clip_u8(furnace[Furnace.INPUTS])
    if furnace[Furnace.OUTPUTS] > 0:
        out[start_of(spans, Feature.OUTPUT, f) + furnace[Furnace.OUTPUT]] = clip_u8(furnace[Furnace.OUTPUTS])
    out[start_of(spans, Feature.HEAT, f)] = clip_u8(furnace[Furnace.HEAT])
    out[start_of(spans, Feature.PROGRESS, f)] = clip_u8(furnace[Furnace.PROGRESS])


@kernel
def encode_shared(tables, env, out):
    """All agents see mobs, blocks, furnaces, chest, orders and time. Mutates: out."""
    gone = env.gone
    furnaces = env.furnaces
    chest = env.chest
    served = env.served
    orders, clock, spans = env.orders, env.clock, tables.spans
    at = start_of(spans, Feature.GONE, 0)
    for p in range(gone.shape[0]):
        out[at + p] = clip_u8(gone[p])
    for f in range(furnaces.shape[0]):
        encode_furnace(spans, furnaces[f], f, out)
    at = start_of(spans, Feature.CHEST, 0)
    for k in range(chest.shape[0]):
        out[at + k] = clip_u8(chest[k])
    at = start_of(spans, Feature.UNSERVED, 0)
    for d in range(served.shape[0]):
        out[at + d] = clip_u8(chest[tables.dishes[d]] - served[d])
    for q in range(clock[Clock.OPEN]):
        out[start_of(spans, Feature.DISH, q) + orders[q, Queue.ORDER]] = 1
        out[start_of(spans, Feature.REMAINING, q)] = clip_u8(orders[q, Queue.REMAINING])
    at, interval = start_of(spans, Feature.TIME, 0), tables.params[Param.INTERVAL]
    out[at] = clip_u8(clock[Clock.T])
    out[at + 1] = clip_u8(clock[Clock.LIMIT] - clock[Clock.T])
    out[at + 2] = clip_u8(interval - clock[Clock.T] % interval)


@kernel
def observe_env(tables, env, out):
    """Agents get a mask, and features of themselves, their teammates and the shared state. Mutates: out."""
    agents = env.agents
    bags = env.bags
    gone = env.gone
    furnaces = env.furnaces
    targets = out.targets
    n_agents = agents.shape[0]
    width = tables.spans[Span.STEP, Feature.BAG]
    first = out.observations[0]
    first[:] = 0
    for i in range(n_agents):
        encode_agent(tables, agents[i], bags[i], i, first)
        for kind in range(targets.shape[0]):
            targets[kind] = nearest(agents[i], kind, tables.places, gone)
        for action in range(tables.catalogue.shape[0]):
            row = tables.catalogue[action]
            kind = kind_of(row)
            p = row[Row.PLACE] if kind == NOTHING else targets[kind]
            out.masks[i, action] = why_refused(tables, row, p, agents[i], bags[i], furnaces) == Reason.OK
    end = width * n_agents
    encode_shared(tables, env, first)
    for i in range(1, n_agents):
        seen, before = out.observations[i], width * i
        copy_numbers(first[before:end], seen[: end - before])
        copy_numbers(first[:before], seen[end - before : end])
        copy_numbers(first[end:], seen[end:])


def features_of(tables: Tables) -> list[Objects]:
    """Return what an observation shows, by ``Feature``; counts without a bound are left to be clipped."""
    params = tables.params
    items = tables.items
    sizes = sizes_of(tables)
    places = tables.places[:, [Place.X, Place.Z]]
    spots = np.concatenate([places, tables.starts])
    margin = FARTHEST_OUT if params[Param.WALK] else 0
    low, high = spots.min(0) - margin, spots.max(0) + margin
    far = np.ceil(np.sqrt((np.maximum(places - low, high - places) ** 2).sum(1)))
    counts, n_dishes = (ENDLESS,) * len(items), sizes["D"]
    agent = (
        Block("bag", counts, "by item; agent 0 is oneself"),
        Block("distances", tuple(far.tolist()), "to places, rounded up"),
    )
    furnace = (
        Block("fuel", _slot(items[:, Item.FUEL] == 1), "by item"),
        Block("input", _slot(items[:, Item.COOKED] != NOTHING), "by item"),
        Block("output", _slot(items[:, Item.DISH] != NOTHING), "by item"),
        Block("heat", (params[Param.HEAT] - 1,), "half items that can be cooked without more fuel"),
        Block("progress", (params[Param.COOK_STEPS] - 1,), "steps for which the current item has been cooked"),
    )
    order = (
        Block("dish", (1,) * n_dishes, "the oldest order first"),
        Block("steps left", (params[Param.LIFETIME],), "until it expires"),
    )
    places_back = Block("places", (params[Param.RESPAWN] - 1,) * len(places), "steps until a mob or block is back")
    chest = (
        Block("chest", counts, "by item"),
        Block("unserved", (ENDLESS,) * n_dishes, "dishes in the chest that have served nobody yet"),
    )
    time = Block("time", (ENDLESS, ENDLESS, params[Param.INTERVAL]), "steps taken, steps left, steps to the next order")
    return [
        Objects(agent, numbered("agent", len(tables.starts))),
        Objects((places_back,)),
        Objects(furnace, numbered("furnace", sizes["F"])),
        Objects(chest),
        Objects(order, numbered("order", sizes["Q"])),
        Objects((time,)),
    ]


def _slot(fits: Array) -> tuple[int, ...]:
    return tuple((STACK * fits).tolist())
