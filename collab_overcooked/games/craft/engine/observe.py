"""Observations of CraftKitchen: action masks and uint8 features that begin with the observing agent."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.kernels.arrays import ENDLESS, clip_u8, copy_numbers
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import Queue

from .constants import FARTHEST_OUT, NOTHING, STACK, Clock, Furnace, Item, Param, Place, Reason, Row
from .rules import kind_of, nearest, square_to, why_refused

ORDER_FEATURES = 1  # in addition to the dish: steps left


@kernel
def steps_away(agent, place):
    """Distances in observations are in cells, rounded up."""
    return int(np.ceil(np.sqrt(square_to(agent, place))))


@kernel
def encode_agent(places, agent, bag, out):
    """An agent is encoded as its bag and its distances to all places. Mutates: out."""
    for k in range(bag.shape[0]):
        out[k] = clip_u8(bag[k])
    far = out[bag.shape[0] :]
    for p in range(places.shape[0]):
        far[p] = clip_u8(steps_away(agent, places[p]))


@kernel
def encode_slot(item, count, out, at):
    """A furnace slot is encoded as the count of its item. Mutates: out."""
    if count > 0:
        out[at + item] = clip_u8(count)


@kernel
def encode_shared(tables, env, out, at):
    """All agents see mobs, blocks, furnaces, chest, orders and time. Mutates: out."""
    gone, furnaces, chest, served = env.gone, env.furnaces, env.chest, env.served
    orders, clock = env.orders, env.clock
    n_items, n_dishes = tables.items.shape[0], tables.params[Param.N_DISHES]
    for p in range(gone.shape[0]):
        out[at + p] = clip_u8(gone[p])
    at += gone.shape[0]
    for f in range(furnaces.shape[0]):
        furnace = furnaces[f]
        encode_slot(furnace[Furnace.FUEL], furnace[Furnace.FUELS], out, at)
        encode_slot(furnace[Furnace.INPUT], furnace[Furnace.INPUTS], out, at + n_items)
        encode_slot(furnace[Furnace.OUTPUT], furnace[Furnace.OUTPUTS], out, at + 2 * n_items)
        out[at + 3 * n_items] = clip_u8(furnace[Furnace.HEAT])
        out[at + 3 * n_items + 1] = clip_u8(furnace[Furnace.PROGRESS])
        at += 3 * n_items + 2
    for k in range(n_items):
        out[at + k] = clip_u8(chest[k])
    at += n_items
    for d in range(n_dishes):
        out[at + d] = clip_u8(chest[tables.dishes[d]] - served[d])
    at += n_dishes
    for q in range(orders.shape[0]):
        if q < clock[Clock.OPEN]:
            out[at + orders[q, Queue.ORDER]] = 1
            out[at + n_dishes] = clip_u8(orders[q, Queue.REMAINING])
        at += n_dishes + ORDER_FEATURES
    interval = tables.params[Param.INTERVAL]
    out[at] = clip_u8(clock[Clock.T])
    out[at + 1] = clip_u8(clock[Clock.LIMIT] - clock[Clock.T])
    out[at + 2] = clip_u8(interval - clock[Clock.T] % interval)


@kernel
def observe_env(tables, env, out):
    """Agents get a mask, and features of themselves, their teammates and the shared state. Mutates: out."""
    agents, bags, gone, furnaces, targets = env.agents, env.bags, env.gone, env.furnaces, out.targets
    n_agents, width, first = agents.shape[0], bags.shape[1] + gone.shape[0], out.observations[0]
    first[:] = 0
    for i in range(n_agents):
        encode_agent(tables.places, agents[i], bags[i], first[width * i : width * (i + 1)])
        for kind in range(targets.shape[0]):
            targets[kind] = nearest(agents[i], kind, tables.places, gone)
        for action in range(tables.catalogue.shape[0]):
            row = tables.catalogue[action]
            kind = kind_of(row)
            p = row[Row.PLACE] if kind == NOTHING else targets[kind]
            out.masks[i, action] = why_refused(tables, row, p, agents[i], bags[i], furnaces) == Reason.OK
    end = width * n_agents
    encode_shared(tables, env, first, end)
    for i in range(1, n_agents):
        seen, before = out.observations[i], width * i
        copy_numbers(first[before:end], seen[: end - before])
        copy_numbers(first[:before], seen[end - before : end])
        copy_numbers(first[end:], seen[end:])


def highest_numbers(tables: Any, furnaces: int, slots: int) -> list[int]:
    """Return the highest value of each number of an observation; counts without a bound are left to be clipped."""
    params, items, n_dishes = tables.params, tables.items, len(tables.dishes)
    places = tables.places[:, [Place.X, Place.Z]]
    spots, margin = np.concatenate([places, tables.starts]), FARTHEST_OUT if params[Param.WALK] else 0
    low, high = spots.min(0) - margin, spots.max(0) + margin
    far = np.ceil(np.sqrt((np.maximum(places - low, high - places) ** 2).sum(1)))
    slot_of = items[:, Item.FUEL] == 1, items[:, Item.COOKED] != NOTHING, items[:, Item.DISH] != NOTHING
    furnace = [*(STACK * np.concatenate(slot_of)), params[Param.HEAT] - 1, params[Param.COOK_STEPS] - 1]
    numbers = [*([ENDLESS] * len(items) + far.tolist()) * len(tables.starts)]
    numbers += [params[Param.RESPAWN] - 1] * len(places) + furnace * furnaces + [ENDLESS] * (len(items) + n_dishes)
    numbers += ([1] * n_dishes + [params[Param.LIFETIME]]) * slots
    return [*numbers, ENDLESS, ENDLESS, params[Param.INTERVAL]]
