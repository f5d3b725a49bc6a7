"""The rules of CraftKitchen, one kernel per rule, for one environment. ``step.py`` has the order of play."""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import Queue, add_order, drop_late_orders, drop_order, next_order, remember_order

from .constants import (
    HALF,
    NOTHING,
    STACK,
    Agent,
    Clock,
    EventColumn,
    Furnace,
    Item,
    OrderEvent,
    Param,
    Place,
    Reason,
    Role,
    Row,
    Verb,
)

# Plain ints: numba cannot unify an enum member with a number of an array.
CHEST, FURNACE = int(Role.CHEST), int(Role.FURNACE)

# ------------------------------------------------------------------------------------------- places and distances


@kernel
def square_to(agent, place):
    """Distance is Euclidean; its square stays an integer."""
    dx, dz = place[Place.X] - agent[Agent.X], place[Place.Z] - agent[Agent.Z]
    return dx * dx + dz * dz


@kernel
def nearest(agent, kind, places, gone):
    """A command refers to the nearest available place of its kind; ties go to the first one."""
    best, least = NOTHING, 0
    for p in range(places.shape[0]):
        if places[p, Place.KIND] == kind and gone[p] == 0:
            square = square_to(agent, places[p])
            if best == NOTHING or square < least:
                best, least = p, square
    return best


@kernel
def is_in_reach(agent, place, reach):
    """Agents can use a place within the reach of its role."""
    return square_to(agent, place) <= reach[place[Place.ROLE]]


@kernel
def kind_of(row):
    """A command that names no place acts on the mob or block that it names, or on a furnace or chest."""
    verb = row[Row.VERB]
    if verb == Verb.WAIT or row[Row.PLACE] != NOTHING:
        return NOTHING
    if verb == Verb.GOTO or verb == Verb.KILL or verb == Verb.MINE:
        return row[Row.WHAT]
    return CHEST if verb == Verb.STORE else FURNACE


@kernel
def target_of(row, agent, places, gone):
    """A command acts on the place that it names, or on the nearest one of its kind."""
    kind = kind_of(row)
    return row[Row.PLACE] if kind == NOTHING else nearest(agent, kind, places, gone)


# ------------------------------------------------------------------------------------------- refusals


@kernel
def why_not_slot(item, held, count):
    """A slot holds up to 64 items of one kind."""
    if count > 0 and held != item:
        return Reason.F_OTHER_KIND
    return Reason.F_FULL if count >= STACK else Reason.OK


@kernel
def why_refused(tables, row, p, agent, bag, furnaces):
    """A command needs a place within reach, its item in the bag, and a free slot or an output in the furnace."""
    verb = row[Row.VERB]
    what = row[Row.WHAT]
    places = tables.places
    if p == NOTHING:
        return Reason.OK if verb == Verb.WAIT else Reason.F_GONE
    if verb == Verb.GOTO:
        return Reason.OK
    if (verb == Verb.FUEL or verb == Verb.INPUT or verb == Verb.STORE) and bag[what] == 0:
        return Reason.F_NOT_HELD
    walks = verb == Verb.TAKE and tables.params[Param.WALK_TO_TAKE] == 1
    if not walks and not is_in_reach(agent, places[p], tables.reach):
        return Reason.F_TOO_FAR
    f = places[p, Place.FURNACE]
    if verb == Verb.FUEL:
        return why_not_slot(what, furnaces[f, Furnace.FUEL], furnaces[f, Furnace.FUELS])
    if verb == Verb.INPUT:
        return why_not_slot(what, furnaces[f, Furnace.INPUT], furnaces[f, Furnace.INPUTS])
    if verb == Verb.TAKE and furnaces[f, Furnace.OUTPUTS] == 0:
        return Reason.F_NOTHING_COOKED
    return Reason.OK


# ------------------------------------------------------------------------------------------- effects of commands


@kernel
def go(agent, place, walk):
    """Walking takes one step, or with a limit ``walk``, that many cells (or diagonals) per step. Mutates: agent."""
    for axis in range(2):
        left = place[axis] - agent[axis]
        agent[axis] += left if walk == 0 else min(max(left, -walk), walk)


@kernel
def gather(p, places, bag, gone, respawn):
    """A killed mob or mined block yields one item and disappears for ``respawn`` steps. Mutates: bag, gone."""
    bag[places[p, Place.GIVES]] += 1
    gone[p] = respawn


@kernel
def load(item, slot, bag, furnace):
    """Loading moves one item from the bag into a slot of a furnace. Mutates: bag, furnace."""
    bag[item] -= 1
    furnace[slot] = item
    furnace[slot + 1] += 1


@kernel
def empty_output(bag, furnace):
    """Taking out moves all cooked items into the bag; returns their number. Mutates: bag, furnace."""
    count = furnace[Furnace.OUTPUTS]
    bag[furnace[Furnace.OUTPUT]] += count
    furnace[Furnace.OUTPUT] = NOTHING
    furnace[Furnace.OUTPUTS] = 0
    return count


@kernel
def apply_command(tables, env, i, row, event):
    """Carry out an accepted command. Mutates: env, event."""
    verb = row[Row.VERB]
    what = row[Row.WHAT]
    places = tables.places
    agent = env.agents[i]
    bag = env.bags[i]
    gone = env.gone
    furnaces = env.furnaces
    p = target_of(row, agent, places, gone)
    event[EventColumn.CODE], event[EventColumn.PLACE] = verb, p
    if verb == Verb.WAIT:
        return
    event[EventColumn.COUNT] = 1
    event[EventColumn.ITEM] = what
    f = places[p, Place.FURNACE]
    if verb == Verb.GOTO:
        go(agent, places[p], tables.params[Param.WALK])
        event[EventColumn.COUNT], event[EventColumn.ITEM] = 0, NOTHING
    elif verb == Verb.KILL or verb == Verb.MINE:
        gather(p, places, bag, gone, tables.params[Param.RESPAWN])
        event[EventColumn.ITEM] = places[p, Place.GIVES]
    elif verb == Verb.FUEL:
        load(what, Furnace.FUEL, bag, furnaces[f])
    elif verb == Verb.INPUT:
        load(what, Furnace.INPUT, bag, furnaces[f])
    elif verb == Verb.TAKE:
        event[EventColumn.ITEM] = furnaces[f, Furnace.OUTPUT]
        event[EventColumn.COUNT] = empty_output(bag, furnaces[f])
        if tables.params[Param.WALK_TO_TAKE] == 1 and not is_in_reach(agent, places[p], tables.reach):
            go(agent, places[p], 0)
    elif verb == Verb.STORE:
        bag[what] -= 1
        env.chest[what] += 1


# ------------------------------------------------------------------------------------------- passing of time


@kernel
def can_cook(furnace, items, params):
    """A furnace cooks if it has a raw item, enough fuel, and an output slot that can take the product."""
    if furnace[Furnace.INPUTS] == 0:
        return False
    product = items[furnace[Furnace.INPUT], Item.COOKED]
    if furnace[Furnace.HEAT] + furnace[Furnace.FUELS] * params[Param.HEAT] < HALF:
        return False
    return why_not_slot(product, furnace[Furnace.OUTPUT], furnace[Furnace.OUTPUTS]) == Reason.OK


@kernel
def cook(furnace, items, params):
    """After ``cook_steps`` steps one item is cooked and uses up its fuel; returns items cooked. Mutates: furnace."""
    if not can_cook(furnace, items, params):
        furnace[Furnace.PROGRESS] = 0
        return 0
    furnace[Furnace.PROGRESS] += 1
    if furnace[Furnace.PROGRESS] < params[Param.COOK_STEPS]:
        return 0
    while furnace[Furnace.HEAT] < HALF:
        furnace[Furnace.HEAT] += params[Param.HEAT]
        furnace[Furnace.FUELS] -= 1
    furnace[Furnace.HEAT] -= HALF
    furnace[Furnace.PROGRESS] = 0
    furnace[Furnace.OUTPUT] = items[furnace[Furnace.INPUT], Item.COOKED]
    furnace[Furnace.OUTPUTS] += 1
    furnace[Furnace.INPUTS] -= 1
    if furnace[Furnace.FUELS] == 0:
        furnace[Furnace.FUEL] = NOTHING
    if furnace[Furnace.INPUTS] == 0:
        furnace[Furnace.INPUT] = NOTHING
    return 1


@kernel
def come_back(gone):
    """Killed mobs and mined blocks reappear after ``respawn`` steps. Mutates: gone."""
    for p in range(gone.shape[0]):
        if gone[p] > 0:
            gone[p] -= 1


@kernel
def serve_orders(tables, env):
    """Each unserved dish in the chest completes the oldest open order for it; returns the number of orders.

    Mutates: env.
    """
    orders = env.orders
    clock = env.clock
    chest = env.chest
    served = env.served
    q, completed = 0, 0
    while q < clock[Clock.OPEN]:
        dish = orders[q, Queue.ORDER]
        if chest[tables.dishes[dish]] > served[dish]:
            served[dish] += 1
            remember_order(dish, env.history, clock, Clock.COMPLETED)
            drop_order(q, orders, clock, Clock.OPEN)
            completed += 1
        else:
            q += 1
    return completed


@kernel
def age_orders(orders, clock):
    """Open orders lose a step and expire when none is left; returns how many expired. Mutates: orders, clock."""
    for q in range(clock[Clock.OPEN]):
        orders[q, Queue.REMAINING] -= 1
    expired = drop_late_orders(orders, clock, Clock.OPEN)
    clock[Clock.EXPIRED] += expired
    return expired


@kernel
def take_order(orders, clock, forced, stream, rng, params):
    """A new order arrives at the start and after each interval until the episode ends.

    Mutates: orders, clock, stream, rng.
    """
    if clock[Clock.T] % params[Param.INTERVAL] == 0 and clock[Clock.T] < clock[Clock.LIMIT]:
        order = next_order(forced, clock, Clock.FORCED, stream, rng, params[Param.N_DISHES])
        add_order(order, params[Param.LIFETIME], orders, clock, Clock.OPEN)


# ------------------------------------------------------------------------------------------- shaped reward

LOADED, TAKEN, STORED, AHEAD = 0.1, 0.2, 0.3, 4  # rewards; items in a slot above which loading earns nothing


@kernel
def shaped_reward(event, furnaces, places, items):
    """Steps towards an order earn reward: loading a nearly empty furnace, taking out, and storing dishes."""
    verb, p = event[EventColumn.CODE], event[EventColumn.PLACE]
    if verb == Verb.FUEL or verb == Verb.INPUT:
        slot = Furnace.FUELS if verb == Verb.FUEL else Furnace.INPUTS
        return LOADED if furnaces[places[p, Place.FURNACE], slot] <= AHEAD else 0.0
    if verb == Verb.TAKE:
        return TAKEN * event[EventColumn.COUNT]
    if verb == Verb.STORE and items[event[EventColumn.ITEM], Item.DISH] != NOTHING:
        return STORED
    return 0.0


@kernel
def count_order_events(order_events, completed, expired, cooked):
    """Rewards and records use counts of completed and expired orders and cooked items. Mutates: order_events."""
    order_events[OrderEvent.COMPLETED] = completed
    order_events[OrderEvent.EXPIRED] = expired
    order_events[OrderEvent.COOKED] = cooked
