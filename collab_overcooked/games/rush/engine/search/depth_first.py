"""Depth-first search, with a table of failed states, for a plan that finishes the target orders in time."""

from __future__ import annotations

from collab_overcooked.games.rush.engine.constants import Clock, Dish, Order, Param
from collab_overcooked.games.rush.engine.rules import act
from collab_overcooked.games.rush.engine.search.bounds import (
    is_done,
    serves,
    spices_are_plenty,
    stock_suffices,
    time_suffices,
    total_need,
)
from collab_overcooked.games.rush.engine.search.moves import next_move
from collab_overcooked.games.rush.engine.search.problem import (
    FOUND,
    GAVE_UP,
    HASH_FACTOR,
    IMPOSSIBLE,
    is_fresh_turn,
    skip_to_played,
)
from collab_overcooked.kernels.jit import kernel


@kernel
def write_key(problem, orders, stock, targets, key):
    """Write the key of a state: all that matters for the rest of the episode. Mutates: key.

    Order codes are sorted, so that interchangeable orders give one key. The remaining cooking of orders with
    ingredients is one sum, and so are spices while they are plentiful; stock is capped at the total need.
    """
    dishes, needs, areas = problem.dishes, problem.needs, problem.areas
    n_orders, n_goods, n_ingredients = orders.shape[0], needs.shape[1], problem.params[Param.N_INGREDIENTS]
    plenty = spices_are_plenty(problem, orders, stock, targets)
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
    code = 0 if plenty or order[Order.SPICES] == 1 else problem.kinds[o, 1]
    code *= n_orders + 1
    if order[Order.INGREDIENTS] == 1:
        return code * (longest + 1)
    return (code + problem.kinds[o, 0]) * (longest + 1) + left


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
def copy_state(stack, depth):
    """Copy the state at a depth to the next one. Mutates: stack."""
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
def has_hope(problem, stack, depth, targets, end):
    """Return whether the target orders might be finished before a slot begins."""
    orders, stock = stack.orders[depth], stack.stock[depth]
    spaces, clock = stack.spaces[depth], stack.clock[depth]
    if clock[Clock.OVER] == 1 or clock[Clock.T] >= end:
        return False
    if not time_suffices(problem, orders, spaces, clock, targets, end):
        return False
    if not stock_suffices(problem, orders, stock, targets, stack.spare, stack.placed):
        return False
    if not is_fresh_turn(problem, spaces, clock):
        return True
    write_key(problem, orders, stock, targets, stack.key)
    return stack.slots[find_row(stack.known, stack.slots, stack.key)] < end - clock[Clock.T]


@kernel
def go_on(problem, stack, depth, action, move, takes):
    """Let the seat whose turn it is act and advance to the next decision. Mutates: stack."""
    copy_state(stack, depth)
    orders, stock, spaces = stack.orders[depth + 1], stack.stock[depth + 1], stack.spaces[depth + 1]
    clock, turn = stack.clock[depth + 1], stack.clock[depth, Clock.TURN]
    act(action, orders, stock, spaces, clock, problem.dishes, problem.needs, problem.areas, problem.params, stack.event)
    skip_to_played(problem, orders, stock, spaces, clock, stack.event)
    stack.action[depth] = action
    if clock[Clock.TURN] > turn:
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
    if is_done(stack.orders[0], targets):
        return FOUND, 0
    if not has_hope(problem, stack, 0, targets, end):
        return IMPOSSIBLE, 0
    depth = 0
    stack.move[0] = 0
    while depth >= 0:
        orders, stock, clock = stack.orders[depth], stack.stock[depth], stack.clock[depth]
        move, action = next_move(problem, orders, stock, stack.spaces[depth], targets, stack.move[depth])
        if move < 0:
            if is_fresh_turn(problem, stack.spaces[depth], clock):
                write_key(problem, orders, stock, targets, stack.key)
                remember(stack, find_row(stack.known, stack.slots, stack.key), end - clock[Clock.T])
            depth -= 1
            continue
        if spent[0] >= budget:
            return GAVE_UP, 0
        spent[0] += 1
        stack.move[depth] = move + 1
        go_on(problem, stack, depth, action, move, takes)
        if is_done(stack.orders[depth + 1], targets):
            return FOUND, depth + 1
        if has_hope(problem, stack, depth + 1, targets, end):
            depth += 1
    return IMPOSSIBLE, 0
