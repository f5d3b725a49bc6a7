"""Arrays of the search for best play in a Rush episode, with the passing of time and upper bounds."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.jit import kernel

from ..constants import NO_ACTION, Area, Clock, Dish, Kind, Order, Param
from ..rules import act, end_slot, is_in_stock
from ..state import State, Tables

Array = np.ndarray
BUDGET = 1_000_000  # states after which a search gives up, about a minute
TRIAL = 50  # cost of starting on another choice of orders, in states
ROWS = 1 << 16  # capacity of the table of failed states
FOUND, IMPOSSIBLE, GAVE_UP = 1, 0, -1
HASH_FACTOR = 0x01000193  # of the 32-bit FNV hash


class Needed(IntEnum):
    """Columns of ``Problem.kinds``: numbers from 1 on, equal for orders that need the same."""

    INGREDIENTS = 0
    SPICES = 1


class Problem(NamedTuple):
    """An episode and the seats that the search plays: read-only int32 arrays."""

    tables: Tables
    dishes: Array  # (O, 2) of the episode, see Dish
    needs: Array  # (O, K)
    areas: Array  # (P, 2) see Area
    params: Array  # (8,) see Param
    played: Array  # (N,) 1 for the seats that the search plays
    kinds: Array  # (O, 2) see Needed


class Stack(NamedTuple):
    """States on the path to the current one (leading axis D, decisions so far), and the table of failed states."""

    states: State
    move: Array  # (D,) the next move to try
    action: Array  # (D,) the action taken there
    event: Array  # (9,)
    spare: Array  # (P, K) stock not reserved for an order
    placed: Array  # (O,) 1 for orders with reserved goods
    key: Array  # (O + 2 + P K,) key of the current state, without time
    known: Array  # (rows, O + 2 + P K) keys of failed states
    slots: Array  # (rows,) slots left when the search failed; 0 for a free row
    room: Array  # (1,) rows still free to use


@kernel
def skip_to_played(problem, env, event):
    """Advance until a played seat is to act; all other seats do nothing. Mutates: env, event."""
    clock, played = env.clock, problem.played
    while clock[Clock.OVER] == 0:
        if clock[Clock.SEAT] == played.shape[0]:
            end_slot(problem.tables, env)
        elif played[clock[Clock.SEAT]] == 1:
            return
        else:
            act(problem.tables, env, NO_ACTION, event)


@kernel
def is_fresh_turn(problem, env):
    """Return whether no played seat has acted in this turn and all action spaces are free."""
    spaces, clock, areas = env.spaces, env.clock, problem.areas
    if clock[Clock.WORKER] > 0:
        return False
    for seat in range(clock[Clock.SEAT]):
        if problem.played[seat] == 1:
            return False
    for at in range(spaces.shape[0]):
        if spaces[at] != areas[at, Area.SPACES]:
            return False
    return True


@kernel
def decisions_left(played, clock, slot):
    """Count the decisions of played seats before a slot begins."""
    total, now = 0, 0
    for seat in range(played.shape[0]):
        total += played[seat]
        if seat >= clock[Clock.SEAT]:
            now += played[seat]
    return now + (slot - clock[Clock.T] - 1) * total


@kernel
def is_done(orders, targets):
    """Return whether all target orders are finished."""
    for o in range(orders.shape[0]):
        if targets[o] == 1 and orders[o, Order.FINISHED] == 0:
            return False
    return True


@kernel
def actions_left(orders, dishes, targets, kind):
    """Count the actions of a kind that the target orders still need."""
    count = 0
    for o in range(orders.shape[0]):
        if targets[o] == 0:
            continue
        if kind == Kind.PANTRY:
            count += 1 - orders[o, Order.INGREDIENTS]
        elif kind == Kind.SPICEBAG:
            count += 1 - orders[o, Order.SPICES]
        else:
            count += dishes[o, Dish.COOK_TIME] - orders[o, Order.COOKED]
    return count


@kernel
def spaces_of(areas, spaces, kind):
    """Return the action spaces of all areas of a kind: left in this turn, and in a new turn."""
    left, fresh = 0, 0
    for at in range(areas.shape[0]):
        if areas[at, Area.KIND] == kind:
            left += spaces[at]
            fresh += areas[at, Area.SPACES]
    return left, fresh


@kernel
def still_needs(orders, needs, targets, o, good, n_ingredients):
    """Return the amount of a good that a target order has not collected yet."""
    if targets[o] == 0:
        return 0
    if good < n_ingredients:
        return needs[o, good] * (1 - orders[o, Order.INGREDIENTS])
    return needs[o, good] * (1 - orders[o, Order.SPICES])


@kernel
def total_need(orders, needs, targets, good, n_ingredients):
    """Return the amount of a good that all target orders have not collected yet."""
    total = 0
    for o in range(orders.shape[0]):
        total += still_needs(orders, needs, targets, o, good, n_ingredients)
    return total


@kernel
def serves(areas, at, good, n_ingredients):
    """Return whether an area provides a good, if it is in stock."""
    if areas[at, Area.SPACES] == 0:
        return False
    return areas[at, Area.KIND] == (Kind.PANTRY if good < n_ingredients else Kind.SPICEBAG)


@kernel
def time_suffices(problem, env, targets, end):
    """Compare remaining work with workers, and each kind of action with its action spaces, up to a slot."""
    orders, spaces, clock = env.orders, env.spaces, env.clock
    played, areas, workers = problem.played, problem.areas, problem.params[Param.WORKERS]
    next_turn = clock[Clock.T] + workers - clock[Clock.WORKER]
    turns_after = max((end - next_turn + workers - 1) // workers, 0)
    hands = decisions_left(played, clock, end)
    hands_now = decisions_left(played, clock, min(end, next_turn))
    work = 0
    for kind in range(Kind.PANTRY + 0, Kind.STOVE + 1):
        todo = actions_left(orders, problem.dishes, targets, kind)
        left, fresh = spaces_of(areas, spaces, kind)
        if todo > min(left, hands_now) + turns_after * fresh:
            return False
        work += todo
    return work <= hands


@kernel
def stock_suffices(problem, env, targets, spare, placed):
    """Compare stock with needs: of each good over all areas, and in each area for orders that have no choice.

    Mutates: spare, placed.
    """
    orders, stock = env.orders, env.stock
    areas, needs, n_ingredients = problem.areas, problem.needs, problem.params[Param.N_INGREDIENTS]
    for good in range(needs.shape[1]):
        total = total_need(orders, needs, targets, good, n_ingredients)
        for at in range(areas.shape[0]):
            spare[at, good] = stock[at, good]
            if total > 0 and serves(areas, at, good, n_ingredients):
                total -= stock[at, good]
        if total > 0:
            return False
    for kind in range(Kind.PANTRY + 0, Kind.STOVE + 0):
        column = Order.INGREDIENTS if kind == Kind.PANTRY else Order.SPICES
        for o in range(orders.shape[0]):
            placed[o] = 1 if targets[o] == 0 else orders[o, column]
        if not can_be_placed(problem, kind, spare, placed):
            return False
    return True


@kernel
def can_be_placed(problem, kind, spare, placed):
    """Repeatedly reserve goods for orders that only one area of a kind can serve; False if some order gets none.

    Mutates: spare, placed.
    """
    needs, n_ingredients = problem.needs, problem.params[Param.N_INGREDIENTS]
    first = 0 if kind == Kind.PANTRY else n_ingredients
    end = n_ingredients if kind == Kind.PANTRY else needs.shape[1]
    changed = True
    while changed:
        changed = False
        for o in range(placed.shape[0]):
            if placed[o] == 1:
                continue
            at, count = the_only_place(problem.areas, kind, spare, needs[o], first, end)
            if count == 0:
                return False
            if count == 1:
                for good in range(first, end):
                    spare[at, good] -= needs[o, good]
                placed[o] = 1
                changed = True
    return True


@kernel
def the_only_place(areas, kind, spare, need, first, end):
    """Return an area of a kind that has all goods an order needs in a range, and the number of such areas."""
    place, count = -1, 0
    for at in range(areas.shape[0]):
        if areas[at, Area.KIND] == kind and areas[at, Area.SPACES] > 0 and is_in_stock(spare[at], need, first, end):
            place = at
            count += 1
    return place, count


@kernel
def spices_are_plenty(problem, env, targets):
    """Return whether every spicebag has all that orders still need, so that the order of service does not matter."""
    orders, stock = env.orders, env.stock
    areas, needs, n_ingredients = problem.areas, problem.needs, problem.params[Param.N_INGREDIENTS]
    for good in range(n_ingredients, needs.shape[1]):
        total = total_need(orders, needs, targets, good, n_ingredients)
        for at in range(areas.shape[0]):
            if serves(areas, at, good, n_ingredients) and stock[at, good] < total:
                return False
    return True
