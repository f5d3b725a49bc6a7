"""The rules of Rush, one kernel per rule, for one environment. ``step.py`` has the order of play.

``env`` is a row of State; other arguments are arrays of it and of one episode's tables: ``orders`` (O, 6), ``order`` a
row of it, ``stock`` (P, K), ``shelf`` a row of it, ``spaces`` (P,) action spaces left, ``clock`` (9,), ``dishes``
(O, 2), ``needs`` (O, K), ``areas`` (P, 2). Searches call ``act`` and ``end_slot`` directly.
"""

from __future__ import annotations

from collab_overcooked.kernels.events import clear_event
from collab_overcooked.kernels.jit import kernel

from .constants import FIRST_ID, NO_ACTION, NOTHING, Area, Clock, Dish, EventColumn, Kind, Order, Param, Reason, Verb

MAX_SHAPED = 9  # limit of the shaped reward of one order, in tenths

# ------------------------------------------------------------------------------------------- refusals


@kernel
def is_in_stock(shelf, need, first, end):
    """An area can serve an order only if it has all the goods that the recipe needs."""
    for k in range(first, end):
        if shelf[k] < need[k]:
            return False
    return True


@kernel
def is_collected(order, kind):
    """An order whose ingredients are collected needs no pantry; one whose spices are collected needs no spicebag."""
    if kind == Kind.PANTRY:
        return order[Order.INGREDIENTS] == 1
    return kind == Kind.SPICEBAG and order[Order.SPICES] == 1


@kernel
def why_invalid(order, shelf, space, dish, need, area, n_ingredients):
    """An action needs an open order, goods that are in stock and not yet collected, and a free action space."""
    kind = area[Area.KIND]
    if kind == Kind.NONE:
        return Reason.NO_SUCH_AREA
    if dish[Dish.EXISTS] == 0:
        return Reason.NO_SUCH_ORDER
    if order[Order.FINISHED] == 1:
        return Reason.ORDER_FINISHED
    if order[Order.RUINED] == 1:
        return Reason.ORDER_RUINED
    return why_impossible(order, shelf, space, need, kind, n_ingredients)


@kernel
def why_impossible(order, shelf, space, need, kind, n_ingredients):
    """An area needs a free action space and the goods, whatever has become of the order."""
    if is_collected(order, kind):
        return Reason.ALREADY_COLLECTED
    if space <= 0:
        return Reason.NO_SPACE
    if kind == Kind.PANTRY and not is_in_stock(shelf, need, 0, n_ingredients):
        return Reason.OUT_OF_STOCK
    if kind == Kind.SPICEBAG and not is_in_stock(shelf, need, n_ingredients, need.shape[0]):
        return Reason.OUT_OF_STOCK
    return Reason.OK


@kernel
def would_ruin(order, dish, area):
    """Cooking ruins an order whose ingredients are missing or that is already cooked as often as its recipe says."""
    if area[Area.KIND] != Kind.STOVE:
        return False
    return order[Order.INGREDIENTS] == 0 or order[Order.COOKED] >= dish[Dish.COOK_TIME]


# ------------------------------------------------------------------------------------------- effects of actions


@kernel
def take_ingredients(order, shelf, need, n_ingredients):
    """All ingredients of an order are collected at once and leave the stock. Mutates: order, shelf."""
    for k in range(n_ingredients):
        shelf[k] -= need[k]
    order[Order.INGREDIENTS] = 1


@kernel
def take_spices(order, shelf, need, n_ingredients):
    """All spices of an order are collected at once and leave the stock. Mutates: order, shelf."""
    for k in range(n_ingredients, need.shape[0]):
        shelf[k] -= need[k]
    order[Order.SPICES] = 1


@kernel
def cook(order, dish, area):
    """Cooking counts, and ruins the order if it comes too early or too often. Mutates: order."""
    order[Order.RUINED] = 1 if would_ruin(order, dish, area) else 0
    order[Order.COOKED] += 1


@kernel
def finish(order, dish):
    """An order is finished once its ingredients, spices and cook time all match. Mutates: order."""
    collected = order[Order.INGREDIENTS] == 1 and order[Order.SPICES] == 1
    if collected and order[Order.COOKED] == dish[Dish.COOK_TIME] and order[Order.RUINED] == 0:
        order[Order.FINISHED] = 1


@kernel
def shape(order):
    """Each step towards an order pays a tenth, up to nine tenths per order. Mutates: order."""
    if order[Order.SHAPED] >= MAX_SHAPED:
        return 0
    order[Order.SHAPED] += 1
    return 1


@kernel
def begin_event(event, clock):
    """Every event records episode, turn and worker. Mutates: event."""
    clear_event(event, FIRST_ID)
    event[EventColumn.EPISODE] = clock[Clock.EPISODE]
    event[EventColumn.TURN] = clock[Clock.TURN]
    event[EventColumn.WORKER] = clock[Clock.WORKER]


@kernel
def act(tables, env, action, event):
    """A worker uses an action space for an order; if the action is refused, nothing changes except whose turn it is.

    Mutates: env, event.
    """
    orders, clock = env.orders, env.clock
    begin_event(event, clock)
    clock[Clock.SEAT] += 1
    if action == NO_ACTION:
        return
    at, which = (action - 1) // orders.shape[0], (action - 1) % orders.shape[0]
    e = clock[Clock.EPISODE]
    order = orders[which]
    shelf = env.stock[at]
    dish = tables.dishes[e, which]
    need = tables.needs[e, which]
    area = tables.areas[e, at]
    kind, n_ingredients = area[Area.KIND], tables.params[Param.N_INGREDIENTS]
    event[EventColumn.CODE] = kind
    event[EventColumn.AREA] = at
    event[EventColumn.ORDER] = which
    event[EventColumn.REASON] = why_invalid(order, shelf, env.spaces[at], dish, need, area, n_ingredients)
    if event[EventColumn.REASON] != Reason.OK:
        return
    env.spaces[at] -= 1
    if kind == Verb.TAKE_INGREDIENTS:
        take_ingredients(order, shelf, need, n_ingredients)
    elif kind == Verb.TAKE_SPICES:
        take_spices(order, shelf, need, n_ingredients)
    else:
        cook(order, dish, area)
    apply_outcome(order, dish, clock, event)


@kernel
def apply_outcome(order, dish, clock, event):
    """An accepted action ruins its order, advances it, or advances and finishes it.

    Mutates: order, clock, event.
    """
    finish(order, dish)
    event[EventColumn.FINISHED] = order[Order.FINISHED]
    event[EventColumn.RUINED] = order[Order.RUINED]
    event[EventColumn.ADVANCED] = 1 - order[Order.RUINED]
    clock[Clock.FINISHED] += order[Order.FINISHED]
    clock[Clock.RUINED] += order[Order.RUINED]
    if order[Order.RUINED] == 0:
        event[EventColumn.TENTHS] = shape(order)


# ------------------------------------------------------------------------------------------- time


@kernel
def count_orders(dishes):
    """An episode has as many orders as it has order slots in use."""
    count = 0
    for o in range(dishes.shape[0]):
        count += dishes[o, Dish.EXISTS]
    return count


@kernel
def refill_spaces(spaces, areas):
    """A new turn frees all action spaces but does not refill the stock. Mutates: spaces."""
    for at in range(spaces.shape[0]):
        spaces[at] = areas[at, Area.SPACES]


@kernel
def end_slot(tables, env):
    """After a slot, the next worker acts; after the last worker, the next turn begins unless all orders are decided.

    Mutates: env.
    """
    clock, e = env.clock, env.clock[Clock.EPISODE]
    clock[Clock.SEAT] = 0
    clock[Clock.T] += 1
    clock[Clock.WORKER] += 1
    if clock[Clock.WORKER] == tables.params[Param.WORKERS]:
        clock[Clock.WORKER] = 0
        clock[Clock.TURN] += 1
        refill_spaces(env.spaces, tables.areas[e])
    if is_decided(clock, tables.dishes[e]) or clock[Clock.T] >= clock[Clock.LIMIT]:
        clock[Clock.OVER] = 1


@kernel
def is_decided(clock, dishes):
    """An episode is decided once every order is finished or ruined."""
    return clock[Clock.FINISHED] + clock[Clock.RUINED] == count_orders(dishes)


# ------------------------------------------------------------------------------------------- a new episode


@kernel
def next_episode(rng_count, forced, params):
    """Episodes are played in turn, cyclically, unless the option or ``reset`` selects one."""
    if forced != NOTHING:
        return forced
    if params[Param.EPISODE] != NOTHING:
        return params[Param.EPISODE]
    return rng_count % params[Param.N_EPISODES]


@kernel
def open_orders(orders, needs, n_ingredients):
    """Orders start uncollected and uncooked; a recipe without spices counts as having them. Mutates: orders."""
    orders[:] = 0
    for o in range(orders.shape[0]):
        orders[o, Order.SPICES] = 1
        for k in range(n_ingredients, needs.shape[1]):
            if needs[o, k] > 0:
                orders[o, Order.SPICES] = 0
