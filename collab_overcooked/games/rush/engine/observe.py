"""Observations of Rush: action masks and uint8 features; counts and times are clipped at 255."""

from __future__ import annotations

from typing import Any

from collab_overcooked.kernels.arrays import ENDLESS, clip_u8, copy_numbers
from collab_overcooked.kernels.jit import kernel

from .constants import Area, Clock, Dish, Kind, Mask, Order, Param, Reason
from .rules import why_impossible, why_invalid, would_ruin

ORDER_FEATURES = 7  # in addition to the goods: exists, cook time, ingredients, spices, times cooked, finished, ruined
AREA_FEATURES = 5  # in addition to the stock: pantry, spicebag, stove, action spaces left, action spaces per turn
CLOCK_FEATURES = 4  # in addition to the seats: turn, turns left, worker, slots left in the turn


@kernel
def observe_env(tables, env, out):
    """Agents get the same mask and the same features, except for the seat. Mutates: out."""
    observations, masks = out.observations, out.masks
    mask_actions(tables, env, masks[0])
    seats = encode_round(tables, env, observations[0])
    for i in range(1, masks.shape[0]):
        copy_numbers(masks[0], masks[i])
        copy_numbers(observations[0], observations[i])
    for i in range(masks.shape[0]):
        observations[i, seats + i] = 1


@kernel
def mask_actions(tables, env, mask):
    """The mask allows what the rules would accept now; with mask="safe", nothing that ruins an order.

    With mask="paper", it also allows what is refused only because the order is finished or ruined. Mutates: mask.
    """
    orders, stock, spaces, e = env.orders, env.stock, env.spaces, env.clock[Clock.EPISODE]
    dishes, needs, areas = tables.dishes[e], tables.needs[e], tables.areas[e]
    n_orders, option = orders.shape[0], tables.params[Param.MASK]
    n_ingredients = tables.params[Param.N_INGREDIENTS]
    mask[0] = 1
    for at in range(areas.shape[0]):
        for o in range(n_orders):
            reason = why_invalid(orders[o], stock[at], spaces[at], dishes[o], needs[o], areas[at], n_ingredients)
            if option == Mask.PAPER and (reason == Reason.ORDER_FINISHED or reason == Reason.ORDER_RUINED):
                kind = areas[at, Area.KIND]
                reason = why_impossible(orders[o], stock[at], spaces[at], needs[o], kind, n_ingredients)
            ruins = option == Mask.SAFE and would_ruin(orders[o], dishes[o], areas[at])
            mask[1 + at * n_orders + o] = 1 if reason == Reason.OK and not ruins else 0


@kernel
def encode_order(order, dish, need, out, at):
    """The features of an order are its requirements and its progress. Mutates: out."""
    for k in range(need.shape[0]):
        out[at + k] = clip_u8(need[k])
    at += need.shape[0]
    out[at] = dish[Dish.EXISTS]
    out[at + 1] = clip_u8(dish[Dish.COOK_TIME])
    out[at + 2] = order[Order.INGREDIENTS]
    out[at + 3] = order[Order.SPICES]
    out[at + 4] = clip_u8(order[Order.COOKED])
    out[at + 5] = order[Order.FINISHED]
    out[at + 6] = order[Order.RUINED]
    return at + ORDER_FEATURES


@kernel
def encode_area(shelf, space, area, out, at):
    """The features of an area are its stock, its kind and its action spaces. Mutates: out."""
    for k in range(shelf.shape[0]):
        out[at + k] = clip_u8(shelf[k])
    at += shelf.shape[0]
    out[at] = area[Area.KIND] == Kind.PANTRY
    out[at + 1] = area[Area.KIND] == Kind.SPICEBAG
    out[at + 2] = area[Area.KIND] == Kind.STOVE
    out[at + 3] = clip_u8(space)
    out[at + 4] = clip_u8(area[Area.SPACES])
    return at + AREA_FEATURES


@kernel
def encode_round(tables, env, out):
    """Write orders, areas, the clock and zeros for the seats; return the index of the first seat. Mutates: out."""
    orders, stock, spaces, clock = env.orders, env.stock, env.spaces, env.clock
    e, workers = clock[Clock.EPISODE], tables.params[Param.WORKERS]
    dishes, needs, areas = tables.dishes[e], tables.needs[e], tables.areas[e]
    at = 0
    for o in range(orders.shape[0]):
        at = encode_order(orders[o], dishes[o], needs[o], out, at)
    for p in range(areas.shape[0]):
        at = encode_area(stock[p], spaces[p], areas[p], out, at)
    left = clock[Clock.LIMIT] - clock[Clock.T]
    out[at] = clip_u8(clock[Clock.TURN])
    out[at + 1] = clip_u8((left + workers - 1) // workers)
    out[at + 2] = clip_u8(clock[Clock.WORKER])
    out[at + 3] = clip_u8(workers - clock[Clock.WORKER])
    at += CLOCK_FEATURES
    out[at:] = 0
    return at


def highest_numbers(tables: Any) -> list[int]:
    """Return the highest value of each number of an observation; counts without a bound are left to be clipped."""
    workers, high = int(tables.params[Param.WORKERS]), []
    for need, cook_time in zip(tables.needs.max(0).tolist(), tables.dishes[..., Dish.COOK_TIME].max(0), strict=True):
        high += [*need, 1, cook_time, 1, 1, cook_time + 1, 1, 1]  # one more time ruins it
    for shelf, spaces in zip(tables.stock.max(0).tolist(), tables.areas[..., Area.SPACES].max(0), strict=True):
        high += [*shelf, 1, 1, 1, spaces, spaces]
    return [*high, ENDLESS, ENDLESS, workers - 1, workers, *[1] * int(tables.params[Param.N_AGENTS])]
