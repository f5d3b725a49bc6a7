"""Observations of Rush: action masks and uint8 features; counts and times are clipped at 255."""

from __future__ import annotations

from collab_overcooked.kernels.arrays import ENDLESS, clip_u8, copy_numbers
from collab_overcooked.kernels.blocks import Block, Objects, numbered, start_of
from collab_overcooked.kernels.jit import kernel

from .constants import Area, Clock, Dish, Feature, Kind, Mask, Order, Param, Reason
from .rules import why_impossible, why_invalid, would_ruin
from .state import Tables


@kernel
def observe_env(tables, env, out):
    """Agents get the same mask and the same features, except for the seat. Mutates: out."""
    observations, masks = out.observations, out.masks
    mask_actions(tables, env, masks[0])
    encode_round(tables, env, observations[0])
    seats = start_of(tables.spans, Feature.SEAT, 0)
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
    orders = env.orders
    stock = env.stock
    spaces = env.spaces
    e = env.clock[Clock.EPISODE]
    dishes = tables.dishes[e]
    needs = tables.needs[e]
    areas = tables.areas[e]
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
def encode_order(spans, order, dish, need, o, out):
    """The features of an order are its requirements and its progress. Mutates: out."""
    at = start_of(spans, Feature.GOODS, o)
    for k in range(need.shape[0]):
        out[at + k] = clip_u8(need[k])
    out[start_of(spans, Feature.EXISTS, o)] = dish[Dish.EXISTS]
    out[start_of(spans, Feature.COOK_TIME, o)] = clip_u8(dish[Dish.COOK_TIME])
    out[start_of(spans, Feature.INGREDIENTS, o)] = order[Order.INGREDIENTS]
    out[start_of(spans, Feature.SPICES, o)] = order[Order.SPICES]
    out[start_of(spans, Feature.COOKED, o)] = clip_u8(order[Order.COOKED])
    out[start_of(spans, Feature.FINISHED, o)] = order[Order.FINISHED]
    out[start_of(spans, Feature.RUINED, o)] = order[Order.RUINED]


@kernel
def encode_area(spans, shelf, space, area, p, out):
    """The features of an area are its stock, its kind and its action spaces. Mutates: out."""
    at = start_of(spans, Feature.STOCK, p)
    for k in range(shelf.shape[0]):
        out[at + k] = clip_u8(shelf[k])
    at = start_of(spans, Feature.KIND, p)
    for kind in range(Kind.PANTRY, Kind.STOVE + 1):
        out[at + kind - Kind.PANTRY] = area[Area.KIND] == kind
    out[start_of(spans, Feature.SPACES_LEFT, p)] = clip_u8(space)
    out[start_of(spans, Feature.SPACES, p)] = clip_u8(area[Area.SPACES])


@kernel
def encode_round(tables, env, out):
    """Write orders, areas, the clock and zeros for the seats. Mutates: out."""
    orders = env.orders
    stock = env.stock
    spaces = env.spaces
    clock = env.clock
    spans = tables.spans
    e, workers = clock[Clock.EPISODE], tables.params[Param.WORKERS]
    dishes = tables.dishes[e]
    needs = tables.needs[e]
    areas = tables.areas[e]
    for o in range(orders.shape[0]):
        encode_order(spans, orders[o], dishes[o], needs[o], o, out)
    for p in range(areas.shape[0]):
        encode_area(spans, stock[p], spaces[p], areas[p], p, out)
    left = clock[Clock.LIMIT] - clock[Clock.T]
    out[start_of(spans, Feature.TURN, 0)] = clip_u8(clock[Clock.TURN])
    out[start_of(spans, Feature.TURNS_LEFT, 0)] = clip_u8((left + workers - 1) // workers)
    out[start_of(spans, Feature.WORKER, 0)] = clip_u8(clock[Clock.WORKER])
    out[start_of(spans, Feature.SLOTS_LEFT, 0)] = clip_u8(workers - clock[Clock.WORKER])
    out[start_of(spans, Feature.SEAT, 0) :] = 0


def features_of(tables: Tables) -> list[Objects]:
    """Return what an observation shows, by ``Feature``; counts without a bound are left to be clipped."""
    _, n_orders, _ = tables.needs.shape
    _, n_areas, _ = tables.areas.shape
    workers, n_agents = int(tables.params[Param.WORKERS]), int(tables.params[Param.N_AGENTS])
    cook_times = tables.dishes.max(0)[:, [Dish.COOK_TIME]]
    spaces = tables.areas.max(0)[:, [Area.SPACES]]
    order = (
        Block("goods", tables.needs.max(0), "how many of each it needs, ingredients, then spices"),
        Block("exists", (1,), "0 for an order that the episode lacks"),
        Block("cook time", cook_times, "how often to cook it"),
        Block("ingredients", (1,), "1 once collected"),
        Block("spices", (1,), "1 once collected, or if it needs none"),
        Block("cooked", cook_times + 1, "times cooked; one more time ruins it"),
        Block("finished", (1,), "1 if it is"),
        Block("ruined", (1,), "1 if it is"),
    )
    area = (
        Block("stock", tables.stock.max(0), "how many of each good are left"),
        Block("kind", (1, 1, 1), "pantry, spicebag, stove; all 0 for an area that the episode lacks"),
        Block("spaces left", spaces, "action spaces free in this turn"),
        Block("spaces", spaces, "action spaces per turn"),
    )
    clock = (
        Block("turn", (ENDLESS,), "turns played"),
        Block("turns left", (ENDLESS,), "with the present one"),
        Block("worker", (workers - 1,), "whose slot it is"),
        Block("slots left", (workers,), "in the turn"),
        Block("seat", (1,) * n_agents, "the own seat set to 1"),
    )
    return [Objects(order, numbered("order", n_orders)), Objects(area, numbered("area", n_areas)), Objects(clock)]
