"""Depth-first search, with a table of failed states, for a plan that finishes the target orders in time.

It tries no move that an equal or better one replaces.
"""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel, row_at

from ..constants import NO_ACTION, Area, Clock, Dish, Kind, Order, Param, Reason
from ..rules import act, why_invalid
from .problem import (
    FOUND,
    GAVE_UP,
    HASH_FACTOR,
    IMPOSSIBLE,
    Needed,
    is_done,
    is_fresh_turn,
    serves,
    skip_to_played,
    spices_are_plenty,
    stock_suffices,
    time_suffices,
    total_need,
)


@kernel
def are_alike(problem, orders, targets, a, b):
    """Return whether two orders have the same remaining needs."""
    if targets[a] != targets[b]:
        return False
    for column in range(Order.FINISHED + 1):
        if orders[a, column] != orders[b, column]:
            return False
    kinds = problem.kinds
    same_time = problem.dishes[a, Dish.COOK_TIME] == problem.dishes[b, Dish.COOK_TIME]
    same_ingredients = orders[a, Order.INGREDIENTS] == 1 or kinds[a, Needed.INGREDIENTS] == kinds[b, Needed.INGREDIENTS]
    same_spices = orders[a, Order.SPICES] == 1 or kinds[a, Needed.SPICES] == kinds[b, Needed.SPICES]
    return same_time and same_ingredients and same_spices


@kernel
def offer_the_same(areas, env, a, b):
    """Return whether two areas are interchangeable."""
    stock, spaces = env.stock, env.spaces
    if areas[a, Area.KIND] != areas[b, Area.KIND] or areas[a, Area.SPACES] != areas[b, Area.SPACES]:
        return False
    if spaces[a] != spaces[b]:
        return False
    for good in range(stock.shape[1]):
        if stock[a, good] != stock[b, good]:
            return False
    return True


@kernel
def has_an_earlier_twin(problem, env, targets, o, at):
    """Return whether an earlier order or area is interchangeable with this one."""
    orders, areas = env.orders, problem.areas
    any_order = areas[at, Area.KIND] == Kind.SPICEBAG and spices_are_plenty(problem, env, targets)
    for a in range(o):
        if are_alike(problem, orders, targets, a, o):
            return True
        if any_order and targets[a] == 1 and orders[a, Order.SPICES] == 0:
            return True
    for b in range(at):
        if offer_the_same(areas, env, b, at):
            return True
    return False


@kernel
def can_take(problem, env, targets, o, at):
    """Return whether goods of a target order can be taken at an area."""
    area, dish, need = problem.areas[at], problem.dishes[o], problem.needs[o]
    if targets[o] == 0 or area[Area.KIND] == Kind.STOVE:
        return False
    n_ingredients = problem.params[Param.N_INGREDIENTS]
    reason = why_invalid(env.orders[o], env.stock[at], env.spaces[at], dish, need, area, n_ingredients)
    return reason == Reason.OK


@kernel
def cook_action(problem, env, targets):
    """Return the action that cooks the first ready order on the first free stove, or NO_ACTION."""
    orders, spaces = env.orders, env.spaces
    dishes, areas = problem.dishes, problem.areas
    for at in range(areas.shape[0]):
        if areas[at, Area.KIND] == Kind.STOVE and spaces[at] > 0:
            for o in range(orders.shape[0]):
                ready = targets[o] == 1 and orders[o, Order.INGREDIENTS] == 1
                if ready and orders[o, Order.COOKED] < dishes[o, Dish.COOK_TIME]:
                    return 1 + at * orders.shape[0] + o
            return NO_ACTION
    return NO_ACTION


@kernel
def take_in_plenty(problem, env, targets):
    """Return whether goods can be taken at an area that has enough of them for all orders."""
    orders, stock, spaces = env.orders, env.stock, env.spaces
    areas, needs, n_ingredients = problem.areas, problem.needs, problem.params[Param.N_INGREDIENTS]
    for at in range(spaces.shape[0]):
        if spaces[at] <= 0:
            continue
        for o in range(orders.shape[0]):
            if not can_take(problem, env, targets, o, at):
                continue
            plenty = True
            for good in range(needs.shape[1]):
                if needs[o, good] > 0 and serves(areas, at, good, n_ingredients):
                    total = total_need(orders, needs, targets, good, n_ingredients)
                    plenty = plenty and stock[at, good] >= total
            if plenty:
                return True
    return False


@kernel
def next_move(problem, env, targets, move):
    """Return the first possible move from a number on, and its action, or a negative move.

    Moves enumerate orders and areas, first for ingredients, then for spices; then come cooking and idling.
    """
    areas = problem.areas
    n_orders, n_areas = targets.shape[0], areas.shape[0]
    takes = n_orders * n_areas
    while move < 2 * takes:
        kind = Kind.PANTRY + move // takes
        o, at = (move % takes) // n_areas, move % n_areas
        if areas[at, Area.KIND] == kind and can_take(problem, env, targets, o, at):
            if not has_an_earlier_twin(problem, env, targets, o, at):
                return move, 1 + at * n_orders + o
        move += 1
    cooking = cook_action(problem, env, targets)
    if move == 2 * takes and cooking != NO_ACTION:
        return move, cooking
    if move > 2 * takes + 1 or cooking != NO_ACTION or take_in_plenty(problem, env, targets):
        return -1, NO_ACTION
    return 2 * takes + 1, NO_ACTION


@kernel
def write_key(problem, env, targets, key):
    """Write the key of a state: all that matters for the rest of the episode. Mutates: key.

    Order codes are sorted, so that interchangeable orders give one key. The remaining cooking of orders with
    ingredients is one sum, and so are spices while they are plentiful; stock is capped at the total need.
    """
    orders, stock = env.orders, env.stock
    dishes, needs, areas = problem.dishes, problem.needs, problem.areas
    n_orders, n_goods, n_ingredients = orders.shape[0], needs.shape[1], problem.params[Param.N_INGREDIENTS]
    plenty = spices_are_plenty(problem, env, targets)
    cooking, spicing = 0, 0
    for o in range(n_orders):
        left = (dishes[o, Dish.COOK_TIME] - orders[o, Order.COOKED]) * targets[o]
        spicing += (1 - orders[o, Order.SPICES]) * targets[o]
        cooking += left * orders[o, Order.INGREDIENTS]
        put_in_place(key, o, code_of(problem, orders[o], o, left, plenty) * targets[o])
    key[n_orders] = cooking
    key[n_orders + 1] = spicing
    for good in range(n_goods):
        total = total_need(orders, needs, targets, good, n_ingredients)
        if plenty and good >= n_ingredients:
            total = 0
        for at in range(areas.shape[0]):
            here = serves(areas, at, good, n_ingredients)
            key[n_orders + 2 + at * n_goods + good] = min(stock[at, good], total) if here else 0


@kernel
def code_of(problem, order, o, left, plenty):
    """Return a number that is equal for orders with the same remaining needs, apart from the sums in the key."""
    longest, n_orders = 0, problem.dishes.shape[0]
    for other in range(n_orders):
        longest = max(longest, problem.dishes[other, Dish.COOK_TIME])
    code = 0 if plenty or order[Order.SPICES] == 1 else problem.kinds[o, Needed.SPICES]
    code *= n_orders + 1
    if order[Order.INGREDIENTS] == 1:
        return code * (longest + 1)
    return (code + problem.kinds[o, Needed.INGREDIENTS]) * (longest + 1) + left


@kernel
def put_in_place(key, count, code):
    """Insert a number into the sorted first ``count`` entries of a row. Mutates: key."""
    at = count
    while at > 0 and key[at - 1] > code:
        key[at] = key[at - 1]
        at -= 1
    key[at] = code


@kernel
def find_row(known, slots, key):
    """Return the row of a key, or the free row where it belongs; the table is never full."""
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
    """Record that the search of the state with the current key failed. Mutates: stack."""
    if stack.slots[row] == 0:
        if stack.room[0] == 0:
            return
        stack.room[0] -= 1
        for column in range(stack.key.shape[0]):
            stack.known[row, column] = stack.key[column]
    stack.slots[row] = max(stack.slots[row], slots_left)


@kernel
def copy_state(states, depth):
    """Copy the state at a depth to the next one. Mutates: states."""
    orders, stock, spaces, clock = states.orders, states.stock, states.spaces, states.clock
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
def has_hope(problem, stack, depth, targets, end):
    """Return whether the target orders might be finished before a slot begins."""
    env = row_at(stack.states, depth)
    clock = env.clock
    if clock[Clock.OVER] == 1 or clock[Clock.T] >= end:
        return False
    if not time_suffices(problem, env, targets, end):
        return False
    if not stock_suffices(problem, env, targets, stack.spare, stack.placed):
        return False
    if not is_fresh_turn(problem, env):
        return True
    write_key(problem, env, targets, stack.key)
    return stack.slots[find_row(stack.known, stack.slots, stack.key)] < end - clock[Clock.T]


@kernel
def go_on(problem, stack, depth, action, move, takes):
    """Let the seat whose turn it is act and advance to the next decision. Mutates: stack."""
    copy_state(stack.states, depth)
    env = row_at(stack.states, depth + 1)
    turn = env.clock[Clock.TURN]
    act(problem.tables, env, action, stack.event)
    skip_to_played(problem, env, stack.event)
    stack.action[depth] = action
    if env.clock[Clock.TURN] > turn:
        stack.move[depth + 1] = 0
    else:
        stack.move[depth + 1] = move + 1 if move < takes else move  # cooking and idling can be repeated


@kernel
def search(problem, stack, targets, end, budget, spent):
    """Search for a plan that finishes all target orders before a slot begins. Mutates: stack, spent.

    Returns:
        FOUND, IMPOSSIBLE or GAVE_UP, and the number of decisions in the plan, which is in ``stack.action``.
    """
    takes = 2 * targets.shape[0] * problem.areas.shape[0]
    if is_done(stack.states.orders[0], targets):
        return FOUND, 0
    if not has_hope(problem, stack, 0, targets, end):
        return IMPOSSIBLE, 0
    depth = 0
    stack.move[0] = 0
    while depth >= 0:
        env = row_at(stack.states, depth)
        move, action = next_move(problem, env, targets, stack.move[depth])
        if move < 0:
            if is_fresh_turn(problem, env):
                write_key(problem, env, targets, stack.key)
                remember(stack, find_row(stack.known, stack.slots, stack.key), end - env.clock[Clock.T])
            depth -= 1
            continue
        if spent[0] >= budget:
            return GAVE_UP, 0
        spent[0] += 1
        stack.move[depth] = move + 1
        go_on(problem, stack, depth, action, move, takes)
        if is_done(stack.states.orders[depth + 1], targets):
            return FOUND, depth + 1
        if has_hope(problem, stack, depth + 1, targets, end):
            depth += 1
    return IMPOSSIBLE, 0
