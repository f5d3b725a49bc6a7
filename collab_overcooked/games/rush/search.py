"""Exact search for the best play of one Rush episode, by depth-first search over the game's own rules.

The search decides slot by slot what the worker of a seat does; seats that are not its own do nothing. Five observations
keep it small without losing any optimum. Written as moves, *takes before spices before cooking before idling, each in
the order of the slots*, the alphabetically first of the best plans is never cut off, as each of the replacements below
would give an equally good plan that comes earlier:

- Within a turn nothing but "ingredients before cooking" ties actions together, so moves come in ascending order; that
  makes workers and agents interchangeable.
- All orders aimed at must be finished, so it does not matter which of those with ingredients is cooked, nor on which
  stove: one move stands for all. The same goes for spices as long as no spicebag can run out of any.
- Orders that ask for the same from here on, and areas that offer the same, are interchangeable.
- Nobody idles who could cook, or could take what an area has in plenty: it has to be done anyway.
- No action that would ruin an order helps any other one.

A state is given up when counting shows that work, action spaces or stock cannot suffice in the time left (the bound is
admissible, as each count ignores all other limits), or when an equivalent one was searched in vain with at least as
much time left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked._jit import kernel
from collab_overcooked.games.rush.constants import NO_ACTION, Area, Clock, Dish, EventColumn, Kind, Order, Param, Reason
from collab_overcooked.games.rush.rules import act, end_slot, is_in_stock, why_invalid
from collab_overcooked.games.rush.state import alloc
from collab_overcooked.games.rush.step import reset_env

Array = np.ndarray

BUDGET = 1_000_000  # states after which a search gives up, something like a minute
TRIAL = 50  # states that could be looked at in the time that it takes to start on another choice of orders
ROWS = 1 << 16  # states searched in vain that it remembers
FOUND, IMPOSSIBLE, GAVE_UP = 1, 0, -1
HASH_FACTOR = 0x01000193  # of the 32-bit FNV hash


class Problem(NamedTuple):
    """One episode and who plays: read-only int32 arrays."""

    dishes: Array  # (O, 2) see Dish
    needs: Array  # (O, K)
    areas: Array  # (P, 2) see Area
    params: Array  # (8,) see Param
    own: Array  # (N,) 1 for the seats that the search plays
    kinds: Array  # (O, 2) numbers from 1 on, equal where two orders ask for equal ingredients, and for equal spices


class Stack(NamedTuple):
    """Moments on the way to the present one, and what is known of others; leading axis D, the decisions so far."""

    orders: Array  # (D, O, 6)
    stock: Array  # (D, P, K)
    spaces: Array  # (D, P)
    clock: Array  # (D, 9)
    move: Array  # (D,) the next move to try
    action: Array  # (D,) the action that led on from there
    event: Array  # (9,)
    spare: Array  # (P, K) stock that no order has been promised
    placed: Array  # (O,) 1 for orders that were promised theirs
    key: Array  # (O + 2 + P K,) the moment at hand, apart from time
    known: Array  # (rows, O + 2 + P K) moments searched in vain
    slots: Array  # (rows,) with how many slots left; 0 for a free row
    room: Array  # (1,) rows that may still be filled


# ------------------------------------------------------------------------------------------- time


@kernel
def pass_to_own(problem, orders, stock, spaces, clock, event):
    """Let other seats do nothing and slots end until one of the search's own seats acts. Mutates: all but problem."""
    dishes, needs, areas, params, own = problem.dishes, problem.needs, problem.areas, problem.params, problem.own
    while clock[Clock.OVER] == 0:
        if clock[Clock.SEAT] == own.shape[0]:
            end_slot(spaces, clock, dishes, areas, params)
        elif own[clock[Clock.SEAT]] == 1:
            return
        else:
            act(NO_ACTION, orders, stock, spaces, clock, dishes, needs, areas, params, event)


@kernel
def is_fresh_turn(problem, spaces, clock):
    """Whether no own seat has acted in this turn yet, and all action spaces are free."""
    if clock[Clock.WORKER] > 0:
        return False
    for seat in range(clock[Clock.SEAT]):
        if problem.own[seat] == 1:
            return False
    for at in range(spaces.shape[0]):
        if spaces[at] != problem.areas[at, Area.SPACES]:
            return False
    return True


@kernel
def decisions_left(own, clock, slot):
    """Decisions that own seats have before a slot begins."""
    total, now = 0, 0
    for seat in range(own.shape[0]):
        total += own[seat]
        if seat >= clock[Clock.SEAT]:
            now += own[seat]
    return now + (slot - clock[Clock.T] - 1) * total


# ------------------------------------------------------------------------------------------- what remains


@kernel
def is_done(orders, wanted):
    """Whether all orders aimed at are finished."""
    for o in range(orders.shape[0]):
        if wanted[o] == 1 and orders[o, Order.FINISHED] == 0:
            return False
    return True


@kernel
def actions_left(orders, dishes, wanted, kind):
    """Actions of a kind that the orders aimed at still need."""
    count = 0
    for o in range(orders.shape[0]):
        if wanted[o] == 0:
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
    """Action spaces of all areas of a kind: left in this turn, and in a fresh one."""
    left, fresh = 0, 0
    for at in range(areas.shape[0]):
        if areas[at, Area.KIND] == kind:
            left += spaces[at]
            fresh += areas[at, Area.SPACES]
    return left, fresh


@kernel
def still_needs(orders, needs, wanted, o, good, n_ingredients):
    """How much of a good an order aimed at has not collected yet."""
    if wanted[o] == 0:
        return 0
    if good < n_ingredients:
        return needs[o, good] * (1 - orders[o, Order.INGREDIENTS])
    return needs[o, good] * (1 - orders[o, Order.SPICES])


@kernel
def total_need(orders, needs, wanted, good, n_ingredients):
    """How much of a good all orders aimed at have not collected yet."""
    total = 0
    for o in range(orders.shape[0]):
        total += still_needs(orders, needs, wanted, o, good, n_ingredients)
    return total


@kernel
def serves(areas, at, good, n_ingredients):
    """Whether a good can be had at an area, if it is in stock."""
    if areas[at, Area.SPACES] == 0:
        return False
    return areas[at, Area.KIND] == (Kind.PANTRY if good < n_ingredients else Kind.SPICEBAG)


# ------------------------------------------------------------------------------------------- the bound


@kernel
def time_suffices(problem, orders, spaces, clock, wanted, end):
    """Count work against workers, and each kind of action against its action spaces, up to a slot."""
    own, areas, workers = problem.own, problem.areas, problem.params[Param.WORKERS]
    next_turn = clock[Clock.T] + workers - clock[Clock.WORKER]
    turns_after = max((end - next_turn + workers - 1) // workers, 0)
    hands = decisions_left(own, clock, end)
    hands_now = decisions_left(own, clock, min(end, next_turn))
    work = 0
    for kind in range(Kind.PANTRY + 0, Kind.STOVE + 1):
        todo = actions_left(orders, problem.dishes, wanted, kind)
        left, fresh = spaces_of(areas, spaces, kind)
        if todo > min(left, hands_now) + turns_after * fresh:
            return False
        work += todo
    return work <= hands


@kernel
def stock_suffices(problem, orders, stock, wanted, spare, placed):
    """Count stock against needs, of each good over all areas, and as far as orders have no choice, in each area.

    Mutates: spare, placed.
    """
    areas, needs, n_ingredients = problem.areas, problem.needs, problem.params[Param.N_INGREDIENTS]
    for good in range(needs.shape[1]):
        total = total_need(orders, needs, wanted, good, n_ingredients)
        for at in range(areas.shape[0]):
            spare[at, good] = stock[at, good]
            if total > 0 and serves(areas, at, good, n_ingredients):
                total -= stock[at, good]
        if total > 0:
            return False
    for kind in range(Kind.PANTRY + 0, Kind.STOVE + 0):
        column = Order.INGREDIENTS if kind == Kind.PANTRY else Order.SPICES
        for o in range(orders.shape[0]):
            placed[o] = 1 if wanted[o] == 0 else orders[o, column]
        if not can_be_placed(problem, kind, spare, placed):
            return False
    return True


@kernel
def can_be_placed(problem, kind, spare, placed):
    """Give every order that only one area of a kind can serve its goods there, again and again; some may get none.

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
    """Return an area of a kind that has all of some goods an order needs, and how many such areas there are."""
    place, count = -1, 0
    for at in range(areas.shape[0]):
        if areas[at, Area.KIND] == kind and areas[at, Area.SPACES] > 0 and is_in_stock(spare[at], need, first, end):
            place = at
            count += 1
    return place, count


@kernel
def spices_are_plenty(problem, orders, stock, wanted):
    """Whether every spicebag has all that orders still need, so that it does not matter which of them is served."""
    areas, needs, n_ingredients = problem.areas, problem.needs, problem.params[Param.N_INGREDIENTS]
    for good in range(n_ingredients, needs.shape[1]):
        total = total_need(orders, needs, wanted, good, n_ingredients)
        for at in range(areas.shape[0]):
            if serves(areas, at, good, n_ingredients) and stock[at, good] < total:
                return False
    return True


# ------------------------------------------------------------------------------------------- moves


@kernel
def are_alike(problem, orders, wanted, a, b):
    """Whether two orders ask for the same from here on."""
    if wanted[a] != wanted[b]:
        return False
    for column in range(Order.FINISHED + 1):
        if orders[a, column] != orders[b, column]:
            return False
    same_time = problem.dishes[a, Dish.COOK_TIME] == problem.dishes[b, Dish.COOK_TIME]
    same_ingredients = orders[a, Order.INGREDIENTS] == 1 or problem.kinds[a, 0] == problem.kinds[b, 0]
    same_spices = orders[a, Order.SPICES] == 1 or problem.kinds[a, 1] == problem.kinds[b, 1]
    return same_time and same_ingredients and same_spices


@kernel
def offer_the_same(areas, stock, spaces, a, b):
    """Whether two areas are equal in all that matters."""
    if areas[a, Area.KIND] != areas[b, Area.KIND] or areas[a, Area.SPACES] != areas[b, Area.SPACES]:
        return False
    if spaces[a] != spaces[b]:
        return False
    for good in range(stock.shape[1]):
        if stock[a, good] != stock[b, good]:
            return False
    return True


@kernel
def has_an_earlier_twin(problem, orders, stock, spaces, wanted, o, at):
    """Whether another order or area, which comes earlier, would do as well."""
    any_order = problem.areas[at, Area.KIND] == Kind.SPICEBAG and spices_are_plenty(problem, orders, stock, wanted)
    for a in range(o):
        if are_alike(problem, orders, wanted, a, o):
            return True
        if any_order and wanted[a] == 1 and orders[a, Order.SPICES] == 0:
            return True
    for b in range(at):
        if offer_the_same(problem.areas, stock, spaces, b, at):
            return True
    return False


@kernel
def can_take(problem, orders, stock, spaces, wanted, o, at):
    """Whether goods of an order aimed at can be taken at an area."""
    if wanted[o] == 0 or problem.areas[at, Area.KIND] == Kind.STOVE:
        return False
    n_ingredients = problem.params[Param.N_INGREDIENTS]
    reason = why_invalid(
        orders[o], stock[at], spaces[at], problem.dishes[o], problem.needs[o], problem.areas[at], n_ingredients
    )
    return reason == Reason.OK


@kernel
def cook_action(problem, orders, spaces, wanted):
    """Return the action of cooking the first order that can be on the first free stove, NO_ACTION if none can."""
    dishes, areas = problem.dishes, problem.areas
    for at in range(areas.shape[0]):
        if areas[at, Area.KIND] == Kind.STOVE and spaces[at] > 0:
            for o in range(orders.shape[0]):
                ready = wanted[o] == 1 and orders[o, Order.INGREDIENTS] == 1
                if ready and orders[o, Order.COOKED] < dishes[o, Dish.COOK_TIME]:
                    return 1 + at * orders.shape[0] + o
            return NO_ACTION
    return NO_ACTION


@kernel
def take_in_plenty(problem, orders, stock, spaces, wanted):
    """Whether something can be taken at an area that has enough of it for all orders."""
    needs, n_ingredients = problem.needs, problem.params[Param.N_INGREDIENTS]
    for at in range(spaces.shape[0]):
        if spaces[at] <= 0:
            continue
        for o in range(orders.shape[0]):
            if not can_take(problem, orders, stock, spaces, wanted, o, at):
                continue
            plenty = True
            for good in range(needs.shape[1]):
                if needs[o, good] > 0 and serves(problem.areas, at, good, n_ingredients):
                    total = total_need(orders, needs, wanted, good, n_ingredients)
                    plenty = plenty and stock[at, good] >= total
            if plenty:
                return True
    return False


@kernel
def next_move(problem, orders, stock, spaces, wanted, move):
    """Return the first possible move from a number on, and its action; a negative move if there is none.

    Moves count through orders and areas, for ingredients and then again for spices; then come cooking and idling.
    """
    n_orders, n_areas = orders.shape[0], spaces.shape[0]
    takes = n_orders * n_areas
    while move < 2 * takes:
        kind = Kind.PANTRY + move // takes
        o, at = (move % takes) // n_areas, move % n_areas
        if problem.areas[at, Area.KIND] == kind and can_take(problem, orders, stock, spaces, wanted, o, at):
            if not has_an_earlier_twin(problem, orders, stock, spaces, wanted, o, at):
                return move, 1 + at * n_orders + o
        move += 1
    cooking = cook_action(problem, orders, spaces, wanted)
    if move == 2 * takes and cooking != NO_ACTION:
        return move, cooking
    if move > 2 * takes + 1 or cooking != NO_ACTION or take_in_plenty(problem, orders, stock, spaces, wanted):
        return -1, NO_ACTION
    return 2 * takes + 1, NO_ACTION


# ------------------------------------------------------------------------------------------- moments known


@kernel
def write_key(problem, orders, stock, wanted, key):
    """Write what matters of a moment for the time to come. Mutates: key.

    Orders are codes in ascending order, so that interchangeable ones give one key; the cooking that orders with their
    ingredients still need is one sum, and so are the spices while there are plenty; stock counts up to what is needed.
    """
    dishes, needs, areas = problem.dishes, problem.needs, problem.areas
    n_orders, n_goods, n_ingredients = orders.shape[0], needs.shape[1], problem.params[Param.N_INGREDIENTS]
    plenty = spices_are_plenty(problem, orders, stock, wanted)
    cooking, spicing = 0, 0
    for o in range(n_orders):
        left = (dishes[o, Dish.COOK_TIME] - orders[o, Order.COOKED]) * wanted[o]
        spicing += (1 - orders[o, Order.SPICES]) * wanted[o]
        cooking += left * orders[o, Order.INGREDIENTS]
        put_in_place(key, o, code_of(problem, orders[o], o, left, plenty) * wanted[o])
    key[n_orders] = cooking
    key[n_orders + 1] = spicing
    for good in range(n_goods):
        total = total_need(orders, needs, wanted, good, n_ingredients)
        if plenty and good >= n_ingredients:
            total = 0
        for at in range(areas.shape[0]):
            here = serves(areas, at, good, n_ingredients)
            key[n_orders + 2 + at * n_goods + good] = min(stock[at, good], total) if here else 0


@kernel
def code_of(problem, order, o, left, plenty):
    """Return a number that is equal for orders that ask for the same, apart from what a key has as sums."""
    longest, n_orders = 0, problem.dishes.shape[0]
    for other in range(n_orders):
        longest = max(longest, problem.dishes[other, Dish.COOK_TIME])
    code = 0 if plenty or order[Order.SPICES] == 1 else problem.kinds[o, 1]
    code *= n_orders + 1
    if order[Order.INGREDIENTS] == 1:
        return code * (longest + 1)
    return (code + problem.kinds[o, 0]) * (longest + 1) + left


@kernel
def put_in_place(key, count, code):
    """Insert a number into the first ones of a row, which are in ascending order. Mutates: key."""
    at = count
    while at > 0 and key[at - 1] > code:
        key[at] = key[at - 1]
        at -= 1
    key[at] = code


@kernel
def find_row(known, slots, key):
    """Return the row of a key, or the free one where it belongs; rows are never all taken."""
    row = 0
    for column in range(key.shape[0]):
        row = ((row ^ int(key[column])) * HASH_FACTOR) & 0xFFFFFFFF
        row ^= row >> 15
    row %= slots.shape[0]
    while slots[row] > 0:
        equal = True
        for column in range(key.shape[0]):
            if known[row, column] != key[column]:
                equal = False
                break
        if equal:
            return row
        row = (row + 1) % slots.shape[0]
    return row


@kernel
def remember(stack, row, slots_left):
    """Note that a moment, whose key is at hand, was searched in vain. Mutates: stack."""
    if stack.slots[row] == 0:
        if stack.room[0] == 0:
            return
        stack.room[0] -= 1
        for column in range(stack.key.shape[0]):
            stack.known[row, column] = stack.key[column]
    stack.slots[row] = max(stack.slots[row], slots_left)


# ------------------------------------------------------------------------------------------- the search


@kernel
def copy_moment(stack, depth):
    """Copy the moment at a depth to the next one. Mutates: stack."""
    orders, stock, spaces, clock = stack.orders, stack.stock, stack.spaces, stack.clock
    for o in range(orders.shape[1]):
        for column in range(orders.shape[2]):
            orders[depth + 1, o, column] = orders[depth, o, column]
    for at in range(stock.shape[1]):
        spaces[depth + 1, at] = spaces[depth, at]
        for good in range(stock.shape[2]):
            stock[depth + 1, at, good] = stock[depth, at, good]
    for column in range(clock.shape[1]):
        clock[depth + 1, column] = clock[depth, column]


@kernel
def has_hope(problem, stack, depth, wanted, end):
    """Whether the orders aimed at might be finished before a slot begins."""
    orders, stock = stack.orders[depth], stack.stock[depth]
    spaces, clock = stack.spaces[depth], stack.clock[depth]
    if clock[Clock.OVER] == 1 or clock[Clock.T] >= end:
        return False
    if not time_suffices(problem, orders, spaces, clock, wanted, end):
        return False
    if not stock_suffices(problem, orders, stock, wanted, stack.spare, stack.placed):
        return False
    if not is_fresh_turn(problem, spaces, clock):
        return True
    write_key(problem, orders, stock, wanted, stack.key)
    return stack.slots[find_row(stack.known, stack.slots, stack.key)] < end - clock[Clock.T]


@kernel
def go_on(problem, stack, depth, action, move, takes):
    """Let the seat whose turn it is act, and go to the next decision. Mutates: stack."""
    copy_moment(stack, depth)
    orders, stock, spaces = stack.orders[depth + 1], stack.stock[depth + 1], stack.spaces[depth + 1]
    clock, turn = stack.clock[depth + 1], stack.clock[depth, Clock.TURN]
    act(
        action,
        orders,
        stock,
        spaces,
        clock,
        problem.dishes,
        problem.needs,
        problem.areas,
        problem.params,
        stack.event,
    )
    pass_to_own(problem, orders, stock, spaces, clock, stack.event)
    stack.action[depth] = action
    if clock[Clock.TURN] > turn:
        stack.move[depth + 1] = 0
    else:
        stack.move[depth + 1] = move + 1 if move < takes else move  # cooking and idling can be repeated


@kernel
def search(problem, stack, wanted, end, budget, spent):
    """Finish all orders aimed at before a slot begins, from the moment at depth 0 of the stack. Mutates: stack, spent.

    Args:
        problem: Episode and seats.
        stack: Its first moment is the start, and an own seat is to act.
        wanted: (O,) 1 for the orders to finish.
        end: Slot that must not begin before they are; no larger than the limit of the clock.
        budget: States to look at, at most.
        spent: (1,) states looked at so far; counts on.

    Returns:
        FOUND, IMPOSSIBLE or GAVE_UP, and the number of decisions in the plan, which is in ``stack.action``.
    """
    takes = 2 * wanted.shape[0] * problem.areas.shape[0]
    if is_done(stack.orders[0], wanted):
        return FOUND, 0
    if not has_hope(problem, stack, 0, wanted, end):
        return IMPOSSIBLE, 0
    depth = 0
    stack.move[0] = 0
    while depth >= 0:
        orders, stock, clock = stack.orders[depth], stack.stock[depth], stack.clock[depth]
        move, action = next_move(problem, orders, stock, stack.spaces[depth], wanted, stack.move[depth])
        if move < 0:
            if is_fresh_turn(problem, stack.spaces[depth], clock):
                write_key(problem, orders, stock, wanted, stack.key)
                remember(stack, find_row(stack.known, stack.slots, stack.key), end - clock[Clock.T])
            depth -= 1
            continue
        if spent[0] >= budget:
            return GAVE_UP, 0
        spent[0] += 1
        stack.move[depth] = move + 1
        go_on(problem, stack, depth, action, move, takes)
        if is_done(stack.orders[depth + 1], wanted):
            return FOUND, depth + 1
        if has_hope(problem, stack, depth + 1, wanted, end):
            depth += 1
    return IMPOSSIBLE, 0


# ------------------------------------------------------------------------------------------- questions and answers


@dataclass(frozen=True)
class Solution:
    """What a search found, and what it proved.

    Attributes:
        finished: Orders that are finished once ``plan`` is played, those finished before included.
        at_most: Orders of which it is proved that no more can be finished.
        turns: Turns of the episode that have begun by the end of the plan.
        at_least: Turns of which it is proved that all orders that are not ruined cannot be finished in fewer; 0 where
            not all of them can be finished, or where that is not known.
        plan: A row for each slot from the start on: the action of each seat.
        states: How many the search looked at.
    """

    finished: int
    at_most: int
    turns: int
    at_least: int
    plan: tuple[tuple[int, ...], ...]
    states: int

    @property
    def is_proved(self) -> bool:
        """Whether nothing better exists: more orders, or all of them in fewer turns."""
        return self.finished == self.at_most and self.at_least in (0, self.turns)


class Solver:
    """Tells what some seats can reach in an episode while the others do nothing.

    Args:
        tables: Compiled tables of the scenario.
        episode: Which one.
        own: (N,) whether a seat is played; at least one is.
        budget: States to look at for one answer, at most.
    """

    def __init__(self, tables: Any, episode: int, own: Sequence[bool], budget: int = BUDGET) -> None:
        needs, n_ingredients = tables.needs[episode], int(tables.params[Param.N_INGREDIENTS])
        self.problem = Problem(
            dishes=tables.dishes[episode],
            needs=needs,
            areas=tables.areas[episode],
            params=tables.params,
            own=np.array(own, np.int32),
            kinds=np.stack([_kinds(needs[:, :n_ingredients]), _kinds(needs[:, n_ingredients:])], axis=1),
        )
        self.budget = budget
        width = len(needs) + 2 + tables.stock[episode].size
        self._known, self._slots = np.zeros((ROWS, width), np.int32), np.zeros(ROWS, np.int32)
        self._room = np.full(1, ROWS * 3 // 4, np.int32)
        self._spent = np.zeros(1, np.int64)

    def solve(self, orders: Array, stock: Array, spaces: Array, clock: Array) -> Solution:
        """Find a plan that finishes as many orders as can be, and if all of them, in as few turns as can be.

        Args:
            orders: (O, 6) the moment to start from, see ``state.State``; nothing of it is changed.
            stock: (P, K).
            spaces: (P,).
            clock: (9,).
        """
        self._spent[0] = 0
        self._stack = self._start(orders, stock, spaces, clock)
        here = self._stack.orders[0]
        exists, done = self.problem.dishes[:, Dish.EXISTS] == 1, here[:, Order.FINISHED] == 1
        aims = np.flatnonzero(exists & ~done & (here[:, Order.RUINED] == 0)).tolist()
        finished = int(np.sum(exists & done))
        verdict, plan = self._search(aims, int(clock[Clock.LIMIT]), self.budget // 2)
        if verdict == FOUND:
            at_least, plan = self._hasten(aims, plan)
            return self._solution(finished + len(aims), finished + len(aims), at_least, plan)
        at_most = finished + len(aims) if verdict == GAVE_UP else 0
        for count in range(len(aims) - 1, 0, -1):
            verdict, plan = self._some(aims, count)
            if verdict == GAVE_UP:
                at_most = at_most or finished + count
            if verdict == FOUND:
                return self._solution(finished + count, at_most or finished + count, 0, plan)
        return self._solution(finished, at_most or finished, 0, [])

    def _start(self, orders: Array, stock: Array, spaces: Array, clock: Array) -> Stack:
        """Return a stack whose first moment is the first one from a start on in which an own seat acts."""
        depth = max(int(clock[Clock.LIMIT] - clock[Clock.T]), 0) * int(self.problem.own.sum()) + 2
        stack = Stack(
            orders=np.zeros((depth, *orders.shape), np.int32),
            stock=np.zeros((depth, *stock.shape), np.int32),
            spaces=np.zeros((depth, *spaces.shape), np.int32),
            clock=np.zeros((depth, *clock.shape), np.int32),
            move=np.zeros(depth, np.int32),
            action=np.zeros(depth, np.int32),
            event=np.zeros(len(EventColumn), np.int32),
            spare=np.zeros(stock.shape, np.int32),
            placed=np.zeros(len(orders), np.int32),
            key=np.zeros(self._known.shape[1], np.int32),
            known=self._known,
            slots=self._slots,
            room=self._room,
        )
        first = stack.orders[0], stack.stock[0], stack.spaces[0], stack.clock[0]
        for row, given in zip(first, (orders, stock, spaces, clock), strict=True):
            row[:] = given
        pass_to_own(self.problem, *first, stack.event)
        return stack

    def _search(self, aims: Sequence[int], end: int, budget: int) -> tuple[int, list[int]]:
        """Return a verdict on finishing some orders before a slot begins, and the decisions of own seats."""
        wanted = np.zeros(len(self.problem.dishes), np.int32)
        wanted[list(aims)] = 1
        verdict, length = search(self.problem, self._stack, wanted, end, self._spent[0] + budget, self._spent)
        return verdict, self._stack.action[:length].tolist()

    def _hasten(self, aims: Sequence[int], plan: list[int]) -> tuple[int, list[int]]:
        """Return the least number of turns that is proved for finishing some orders, and the fastest plan known."""
        clock, workers = self._stack.clock[0].tolist(), int(self.problem.params[Param.WORKERS])
        at_least = 0
        for turns in range(clock[Clock.TURN] + 1, self._turns(plan)):
            end = clock[Clock.T] - clock[Clock.WORKER] + (turns - clock[Clock.TURN]) * workers
            verdict, faster = self._search(aims, end, max(self.budget - int(self._spent[0]), 0))
            if verdict == FOUND:
                return at_least or turns, faster
            if verdict == GAVE_UP:
                at_least = at_least or turns
        return at_least or self._turns(plan), plan

    def _some(self, aims: Sequence[int], count: int) -> tuple[int, list[int]]:
        """Return a verdict on finishing as many of some orders in time, and the decisions of own seats."""
        limit, hands, work = int(self._stack.clock[0, Clock.LIMIT]), len(list(self._moments())), self._work()
        verdict, known, effort = IMPOSSIBLE, set(), 0
        lightest_first = sorted(aims, key=lambda o: work[o])
        if sum(work[o] for o in lightest_first[:count]) > hands:
            return IMPOSSIBLE, []
        for chosen in combinations(lightest_first, count):
            effort += 1
            if self._spent[0] + effort > self.budget:
                return GAVE_UP, []
            if sum(work[o] for o in chosen) > hands:
                continue
            kinds = tuple(sorted(self._kind(o) for o in chosen))
            if kinds in known:
                continue
            known.add(kinds)
            effort += TRIAL
            found, plan = self._search(chosen, limit, (self.budget - int(self._spent[0])) // 2)
            if found == FOUND:
                return FOUND, plan
            verdict = min(verdict, found)
        return verdict, []

    def _work(self) -> list[int]:
        """Return the actions that each order still needs at the start."""
        orders, dishes = self._stack.orders[0], self.problem.dishes
        done = orders[:, [Order.INGREDIENTS, Order.SPICES, Order.COOKED]].sum(axis=1)
        return [int(work) for work in dishes[:, Dish.COOK_TIME] + 2 - done]

    def _kind(self, o: int) -> tuple[int, ...]:
        """Return numbers that are equal for orders that ask for the same from the start on."""
        row = self._stack.orders[0, o]
        needs = self.problem.kinds[o] * (1 - row[[Order.INGREDIENTS, Order.SPICES]])
        return (*row[: Order.FINISHED].tolist(), *needs.tolist(), int(self.problem.dishes[o, Dish.COOK_TIME]))

    # -------------------------------------------------------------------------------------- plans

    def _moments(self) -> Iterator[tuple[int, int]]:
        """Yield slot, counted from the start, and seat of every decision up to the end of the episode."""
        clock, seats = self._stack.clock[0].tolist(), np.flatnonzero(self.problem.own).tolist()
        for slot in range(clock[Clock.LIMIT] - clock[Clock.T]):
            yield from ((slot, seat) for seat in seats if slot > 0 or seat >= clock[Clock.SEAT])

    def _turn(self, slot: int) -> int:
        """Return the turn of a slot counted from the start."""
        clock = self._stack.clock[0].tolist()
        return int(clock[Clock.TURN] + (clock[Clock.WORKER] + slot) // self.problem.params[Param.WORKERS])

    def _turns(self, plan: Sequence[int]) -> int:
        """Return how many turns of the episode have begun at the end of a plan."""
        last = 0
        for (slot, _), _ in zip(self._moments(), plan, strict=False):
            last = slot
        return self._turn(last) + 1 if plan else int(self._stack.clock[0, Clock.TURN])

    def _solution(self, finished: int, at_most: int, at_least: int, plan: list[int]) -> Solution:
        return Solution(finished, at_most, self._turns(plan), at_least, self._share_out(plan), int(self._spent[0]))

    def _share_out(self, plan: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return a plan as rows of slots, each turn's actions in their order but shared evenly among the seats.

        The search lets the first hands of a turn work and the last ones idle; here the seat that has done least so far
        works, which changes nothing in the outcome.
        """
        length = self._turns(plan)
        turns: dict[int, list[tuple[int, int]]] = {}
        for slot, seat in self._moments():
            turn = self._turn(slot)
            if turn >= length:
                break
            turns.setdefault(turn, []).append((slot, seat))
        done, rest, rows = np.zeros(len(self.problem.own), int), list(plan), np.zeros((0, len(self.problem.own)), int)
        for moments in turns.values():
            actions = [action for action in rest[: len(moments)] if action != NO_ACTION]
            rest = rest[len(moments) :]
            rows = np.concatenate([rows, np.zeros((moments[-1][0] + 1 - len(rows), rows.shape[1]), int)])
            for (slot, seat), action in zip(_fair(moments, len(actions), done), actions, strict=True):
                rows[slot, seat] = action
        return tuple(tuple(row) for row in rows.tolist())


def _kinds(rows: Array) -> Array:
    """Return a number from 1 on for each row, the same for equal rows."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32) + 1


def _fair(moments: Sequence[tuple[int, int]], count: int, done: Array) -> list[tuple[int, int]]:
    """Choose the moments in which seats work, one after the other for who has done least. Mutates: done."""
    chosen: list[tuple[int, int]] = []
    for _ in range(count):
        free = [moment for moment in moments if moment not in chosen]
        chosen.append(min(free, key=lambda moment: (done[moment[1]], moment)))
        done[chosen[-1][1]] += 1
    return sorted(chosen)


def start_of(tables: Any, episode: int) -> tuple[Array, Array, Array, Array]:
    """Return orders, stock, spaces and clock at the start of an episode."""
    state, _ = alloc(tables, 1, 0)
    reset_env(tables, state.orders[0], state.stock[0], state.spaces[0], state.clock[0], state.rng[0], episode, 0)
    return state.orders[0], state.stock[0], state.spaces[0], state.clock[0]
