"""Upper bound of the orders that some seats can still finish, by counting.

Of each resource (actions of the seats, action spaces of each kind of area, each good) the count compares what is there
with what the lightest orders need, and ignores all other limits; so no play finishes more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.jit import kernel

from .constants import NOTHING, Area, Clock, Dish, Kind, Order, Param
from .rules import is_in_stock

Array = np.ndarray
TEAM = 0  # resource 0: actions of the seats; action spaces follow in the order of ``Kind``, then goods
GOODS = Kind.STOVE + 1  # first resource that is a good


class Needs(NamedTuple):
    """What the count writes for one state: int32 arrays; R is the number of resources."""

    demand: Array  # (O, R) what each order still needs of each resource
    supply: Array  # (R,) what there is of each resource
    rate: Array  # (R,) how much of each resource a turn brings
    work: Array  # (O,) actions that each order still needs; NOTHING for orders that cannot be finished


@kernel
def decisions_left(played, clock, slot):
    """Count the actions of played seats before a slot begins."""
    total, now = 0, 0
    for seat in range(played.shape[0]):
        total += played[seat]
        if seat >= clock[Clock.SEAT]:
            now += played[seat]
    return now + (slot - clock[Clock.T] - 1) * total


@kernel
def count_supply(tables, played, env, end, supply, rate):
    """Count what there is of each resource before a slot begins, and what a turn brings. Mutates: supply, rate."""
    clock, spaces, stock = env.clock, env.spaces, env.stock
    areas, workers = tables.areas[clock[Clock.EPISODE]], tables.params[Param.WORKERS]
    next_turn = clock[Clock.T] + workers - clock[Clock.WORKER]
    turns_after = max((end - next_turn + workers - 1) // workers, 0)
    now = decisions_left(played, clock, min(end, next_turn))
    supply[:], rate[:] = 0, 0
    supply[TEAM] = decisions_left(played, clock, end)
    for seat in range(played.shape[0]):
        rate[TEAM] += workers * played[seat]
    for at in range(areas.shape[0]):
        kind, fresh = areas[at, Area.KIND], areas[at, Area.SPACES]
        if kind == Kind.NONE or fresh == 0:
            continue
        supply[kind] += min(spaces[at], now) + turns_after * fresh
        rate[kind] += fresh
        for good in range(stock.shape[1]):
            supply[GOODS + good] += stock[at, good]


@kernel
def has_place(env, areas, need, kind, first, end):
    """Return whether an area of a kind has all goods of an order in a range."""
    for at in range(areas.shape[0]):
        if areas[at, Area.KIND] == kind and areas[at, Area.SPACES] > 0 and is_in_stock(env.stock[at], need, first, end):
            return True
    return False


@kernel
def count_demand(tables, env, demand, work):
    """Count what each order still needs of each resource. Mutates: demand, work."""
    e = env.clock[Clock.EPISODE]
    orders = env.orders
    n_ingredients = tables.params[Param.N_INGREDIENTS]
    dishes = tables.dishes[e]
    areas = tables.areas[e]
    needs = tables.needs[e]
    demand[:] = 0
    for o in range(orders.shape[0]):
        work[o] = NOTHING
        order, need, row = orders[o], needs[o], demand[o]
        if dishes[o, Dish.EXISTS] == 0 or order[Order.FINISHED] == 1 or order[Order.RUINED] == 1:
            continue
        if order[Order.INGREDIENTS] == 0:
            if not has_place(env, areas, need, Kind.PANTRY, 0, n_ingredients):
                continue
            row[Kind.PANTRY] = 1
        if order[Order.SPICES] == 0:
            if not has_place(env, areas, need, Kind.SPICEBAG, n_ingredients, need.shape[0]):
                continue
            row[Kind.SPICEBAG] = 1
        row[Kind.STOVE] = dishes[o, Dish.COOK_TIME] - order[Order.COOKED]
        work[o] = row[Kind.PANTRY] + row[Kind.SPICEBAG] + row[Kind.STOVE]
        row[TEAM] = work[o]
        for good in range(need.shape[0]):
            column = Kind.PANTRY if good < n_ingredients else Kind.SPICEBAG
            row[GOODS + good] = need[good] * row[column]


@kernel
def count_lightest(demand, work, resource, supply, most):
    """Return how many orders, the lightest first and ``most`` of them, a supply suffices for, and what these need."""
    count = 0
    used = 0
    last = -1
    last_order = -1
    while count < most:
        best = -1
        for o in range(work.shape[0]):
            if work[o] < 0:
                continue
            amount = demand[o, resource]
            if amount < last or (amount == last and o <= last_order):
                continue
            if best < 0 or amount < demand[best, resource]:
                best = o
        if best < 0 or used + demand[best, resource] > supply:
            break
        last, last_order = demand[best, resource], best
        used += last
        count += 1
    return count, used


@kernel
def count_possible(tables, played, env, end, needs):
    """Count the open orders that can be finished before a slot begins.

    Mutates: needs.

    Returns:
        Their number, the least work for as many, and the turns that they leave to spare.
    """
    demand = needs.demand
    supply = needs.supply
    work = needs.work
    rate = needs.rate
    count_demand(tables, env, demand, work)
    count_supply(tables, played, env, end, supply, rate)
    most, spare = work.shape[0], float(end)
    for resource in range(supply.shape[0]):
        most = min(most, count_lightest(demand, work, resource, supply[resource], most)[0])
    for resource in range(GOODS):
        if rate[resource] > 0:
            used = count_lightest(demand, work, resource, supply[resource], most)[1]
            spare = min(spare, (supply[resource] - used) / rate[resource])
    return most, count_lightest(demand, work, TEAM, supply[TEAM], most)[1], spare
