"""Moves of the search, without those that an equal or better move replaces."""

from __future__ import annotations

from collab_overcooked.games.rush.engine.constants import NO_ACTION, Area, Dish, Kind, Order, Param, Reason
from collab_overcooked.games.rush.engine.rules import why_invalid
from collab_overcooked.games.rush.engine.search.bounds import serves, spices_are_plenty, total_need
from collab_overcooked.kernels.jit import kernel


@kernel
def are_alike(problem, orders, targets, a, b):
    """Return whether two orders have the same remaining needs."""
    if targets[a] != targets[b]:
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
    """Return whether two areas are interchangeable."""
    if areas[a, Area.KIND] != areas[b, Area.KIND] or areas[a, Area.SPACES] != areas[b, Area.SPACES]:
        return False
    if spaces[a] != spaces[b]:
        return False
    for good in range(stock.shape[1]):
        if stock[a, good] != stock[b, good]:
            return False
    return True


@kernel
def has_an_earlier_twin(problem, orders, stock, spaces, targets, o, at):
    """Return whether an earlier order or area is interchangeable with this one."""
    any_order = problem.areas[at, Area.KIND] == Kind.SPICEBAG and spices_are_plenty(problem, orders, stock, targets)
    for a in range(o):
        if are_alike(problem, orders, targets, a, o):
            return True
        if any_order and targets[a] == 1 and orders[a, Order.SPICES] == 0:
            return True
    for b in range(at):
        if offer_the_same(problem.areas, stock, spaces, b, at):
            return True
    return False


@kernel
def can_take(problem, orders, stock, spaces, targets, o, at):
    """Return whether goods of a target order can be taken at an area."""
    if targets[o] == 0 or problem.areas[at, Area.KIND] == Kind.STOVE:
        return False
    n_ingredients = problem.params[Param.N_INGREDIENTS]
    reason = why_invalid(
        orders[o], stock[at], spaces[at], problem.dishes[o], problem.needs[o], problem.areas[at], n_ingredients
    )
    return reason == Reason.OK


@kernel
def cook_action(problem, orders, spaces, targets):
    """Return the action that cooks the first ready order on the first free stove, or NO_ACTION."""
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
def take_in_plenty(problem, orders, stock, spaces, targets):
    """Return whether goods can be taken at an area that has enough of them for all orders."""
    needs, n_ingredients = problem.needs, problem.params[Param.N_INGREDIENTS]
    for at in range(spaces.shape[0]):
        if spaces[at] <= 0:
            continue
        for o in range(orders.shape[0]):
            if not can_take(problem, orders, stock, spaces, targets, o, at):
                continue
            plenty = True
            for good in range(needs.shape[1]):
                if needs[o, good] > 0 and serves(problem.areas, at, good, n_ingredients):
                    total = total_need(orders, needs, targets, good, n_ingredients)
                    plenty = plenty and stock[at, good] >= total
            if plenty:
                return True
    return False


@kernel
def next_move(problem, orders, stock, spaces, targets, move):
    """Return the first possible move from a number on, and its action, or a negative move.

    Moves enumerate orders and areas, first for ingredients, then for spices; then come cooking and idling.
    """
    n_orders, n_areas = orders.shape[0], spaces.shape[0]
    takes = n_orders * n_areas
    while move < 2 * takes:
        kind = Kind.PANTRY + move // takes
        o, at = (move % takes) // n_areas, move % n_areas
        if problem.areas[at, Area.KIND] == kind and can_take(problem, orders, stock, spaces, targets, o, at):
            if not has_an_earlier_twin(problem, orders, stock, spaces, targets, o, at):
                return move, 1 + at * n_orders + o
        move += 1
    cooking = cook_action(problem, orders, spaces, targets)
    if move == 2 * takes and cooking != NO_ACTION:
        return move, cooking
    if move > 2 * takes + 1 or cooking != NO_ACTION or take_in_plenty(problem, orders, stock, spaces, targets):
        return -1, NO_ACTION
    return 2 * takes + 1, NO_ACTION
