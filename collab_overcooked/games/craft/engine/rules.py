"""The rules of CraftKitchen, one kernel a rule, for one environment. ``step.py`` has the order of play."""

from __future__ import annotations

from collab_overcooked.games.craft.engine.constants import (
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
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.orders import Queue, add_order, drop_late_orders, drop_order, next_order, remember_order

# ------------------------------------------------------------------------------------------- where things are


@kernel
def square_to(agent, place):
    """Distances are those of a straight line; squares of them stay integers."""
    dx, dz = place[Place.X] - agent[Agent.X], place[Place.Z] - agent[Agent.Z]
    return dx * dx + dz * dz


@kernel
def nearest(agent, kind, places, gone):
    """Of several places of a kind the nearest that is there is meant, of equally near ones the first."""
    best, least = NOTHING, 0
    for p in range(places.shape[0]):
        if places[p, Place.KIND] == kind and gone[p] == 0:
            square = square_to(agent, places[p])
            if best == NOTHING or square < least:
                best, least = p, square
    return best


@kernel
def is_in_reach(agent, place, reach):
    """Agents use what is near enough, at which distance depends on what it is."""
    limit = reach[place[Place.ROLE]]
    return limit < 0 or square_to(agent, place) <= limit


@kernel
def target_of(row, agent, places, gone):
    """A command is about a place of its kind: the furnace, the chest, the mob or block that it names."""
    verb = row[Row.VERB]
    if verb == Verb.WAIT:
        return NOTHING
    if row[Row.PLACE] != NOTHING:
        return row[Row.PLACE]
    if verb == Verb.GOTO or verb == Verb.KILL or verb == Verb.MINE:
        return nearest(agent, row[Row.WHAT], places, gone)
    return nearest(agent, Role.CHEST if verb == Verb.STORE else Role.FURNACE, places, gone)


# ------------------------------------------------------------------------------------------- what is refused, and why


@kernel
def why_not_slot(item, held, count):
    """A slot takes a stack of one kind, up to 64 items."""
    if count > 0 and held != item:
        return Reason.F_OTHER_KIND
    return Reason.F_FULL if count >= STACK else Reason.OK


@kernel
def why_refused(tables, row, agent, bag, gone, furnaces):
    """A command needs its place within reach, the item in the bag, and room or a product in the furnace."""
    verb, what, places = row[Row.VERB], row[Row.WHAT], tables.places
    p = target_of(row, agent, places, gone)
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


# ------------------------------------------------------------------------------------------- what commands do


@kernel
def go(agent, place, walk):
    """Going somewhere takes one step, or as many cells a step as agents walk, diagonals as one. Mutates: agent."""
    for axis in range(2):
        left = place[axis] - agent[axis]
        agent[axis] += left if walk == 0 else min(max(left, -walk), walk)


@kernel
def gather(p, places, bag, gone, respawn):
    """A killed mob or mined block yields one item, and is away for a while. Mutates: bag, gone."""
    bag[places[p, Place.GIVES]] += 1
    gone[p] = respawn


@kernel
def load(item, slot, bag, furnace):
    """One item goes from a bag into a slot of a furnace. Mutates: bag, furnace."""
    bag[item] -= 1
    furnace[slot] = item
    furnace[slot + 1] += 1


@kernel
def empty_output(bag, furnace):
    """Taking out takes all that is cooked; tells how many that are. Mutates: bag, furnace."""
    count = furnace[Furnace.OUTPUTS]
    bag[furnace[Furnace.OUTPUT]] += count
    furnace[Furnace.OUTPUT] = NOTHING
    furnace[Furnace.OUTPUTS] = 0
    return count


@kernel
def apply_command(tables, row, agent, bag, gone, furnaces, chest, event):
    """An accepted command is carried out as a whole. Mutates: agent, bag, gone, furnaces, chest, event."""
    verb, what, places = row[Row.VERB], row[Row.WHAT], tables.places
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
        chest[what] += 1


# ------------------------------------------------------------------------------------------- time passes


@kernel
def can_cook(furnace, items, params):
    """A furnace cooks if it has something raw, enough fuel for it, and room among cooked things of the same kind."""
    if furnace[Furnace.INPUTS] == 0:
        return False
    product = items[furnace[Furnace.INPUT], Item.COOKED]
    if furnace[Furnace.HEAT] + furnace[Furnace.FUELS] * params[Param.HEAT] < HALF:
        return False
    return why_not_slot(product, furnace[Furnace.OUTPUT], furnace[Furnace.OUTPUTS]) == Reason.OK


@kernel
def cook(furnace, items, params):
    """After its time one item is cooked, and fuel is used up for it; tells how many items were. Mutates: furnace."""
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
    """What was killed or mined is there again when its steps are over. Mutates: gone."""
    for p in range(gone.shape[0]):
        if gone[p] > 0:
            gone[p] -= 1


@kernel
def serve_orders(orders, clock, chest, served, dishes, history):
    """Dishes in the chest that served nobody yet complete open orders, the oldest first; tells how many.

    Mutates: orders, clock, served, history.
    """
    q, completed = 0, 0
    while q < clock[Clock.OPEN]:
        dish = orders[q, Queue.ORDER]
        if chest[dishes[dish]] > served[dish]:
            served[dish] += 1
            remember_order(dish, history, clock, Clock.COMPLETED)
            drop_order(q, orders, clock, Clock.OPEN)
            completed += 1
        else:
            q += 1
    return completed


@kernel
def age_orders(orders, clock):
    """Every order that was not served loses a step and fails without one; tells how many do. Mutates: orders, clock."""
    for q in range(clock[Clock.OPEN]):
        orders[q, Queue.REMAINING] -= 1
    expired = drop_late_orders(orders, clock, Clock.OPEN)
    clock[Clock.EXPIRED] += expired
    return expired


@kernel
def take_order(orders, clock, forced, stream, rng, params):
    """An order comes at the start and after each interval, as long as the episode goes on.

    Mutates: orders, clock, stream, rng.
    """
    if clock[Clock.T] % params[Param.INTERVAL] == 0 and clock[Clock.T] < clock[Clock.LIMIT]:
        order = next_order(forced, clock, Clock.FORCED, stream, rng, params[Param.N_DISHES])
        add_order(order, params[Param.LIFETIME], orders, clock, Clock.OPEN)


# ------------------------------------------------------------------------------------------- shaped reward

LOADED, TAKEN, STORED, AHEAD = 0.1, 0.2, 0.3, 4  # rewards; items in a slot from which loading earns nothing


@kernel
def shaped_reward(event, furnaces, places, items):
    """Loading a furnace that has little, taking out and storing dishes earn something: steps towards an order."""
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
    """What happened to orders is counted for rewards and records. Mutates: order_events."""
    order_events[OrderEvent.COMPLETED] = completed
    order_events[OrderEvent.EXPIRED] = expired
    order_events[OrderEvent.COOKED] = cooked
