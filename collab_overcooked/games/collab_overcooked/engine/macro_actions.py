"""Medium-level actions: their validity, execution by primitive actions, and ends.

One kernel a rule, for one environment. ``macro`` (4,) is a row of ``State.macro_state``, ``row`` (3,) one of the
catalogue, ``access`` (S,) that of the seat.
"""

from __future__ import annotations

from collab_overcooked.games.collab_overcooked.engine.constants import (
    DISH,
    INTERACT,
    NOTHING,
    START,
    STAY,
    WAIT_ONE,
    Access,
    Agent,
    Event,
    EventColumn,
    Food,
    Group,
    MacroState,
    Param,
    Reason,
    Row,
    Station,
    Status,
    Tile,
    Verb,
)
from collab_overcooked.games.collab_overcooked.engine.rules import status
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import (
    Level,
    Macro,
    Outcome,
    end_macro,
    is_running,
    start_macro,
    tick_macro,
)
from collab_overcooked.kernels.paths import UNREACHABLE, flood
from collab_overcooked.kernels.rng import draw_below

# ------------------------------------------------------------------------------------------- choosing an action


@kernel
def can_use(group, groups, access):
    """A place can be used if one of its stations can."""
    for k in range(groups.shape[1]):
        s = groups[group, k]
        if s != NOTHING and access[s] != Access.NONE:
            return True
    return False


@kernel
def finds_on_counter(item, tiles, groups, access):
    """An object can be picked up from a counter that the agent can use."""
    for k in range(groups.shape[1]):
        s = groups[Group.COUNTER, k]
        if s != NOTHING and access[s] != Access.NONE and tiles[s, Tile.ITEM] == item:
            return True
    return False


@kernel
def check_pickup(item, group, held, tiles, stations, groups, access, foods):
    """Pick up an available object with an empty hand; food that needs a dish leaves its utensil only on a dish."""
    if group >= Group.UTENSIL:
        s = groups[group, 0]
        if status(tiles[s]) == Status.COOKING:
            return Reason.PICK_COOKING
        if foods[item, Food.NEEDS_DISH] == 1 and foods[item, Food.UTENSIL] == stations[s, Station.UTENSIL]:
            return Reason.PICK_NEEDS_DISH
    if group == Group.COUNTER:
        if not finds_on_counter(item, tiles, groups, access):
            return Reason.PICK_NOT_ON_COUNTER
    elif not can_use(group, groups, access):
        return Reason.PICK_UNREACHABLE if group >= Group.UTENSIL else Reason.PICK_CHEF_DISPENSER
    if held != NOTHING:
        return Reason.PICK_HANDS_FULL
    if group >= Group.UTENSIL:
        s = groups[group, 0]
        if status(tiles[s]) != Status.READY or tiles[s, Tile.ITEM] != item:
            return Reason.PICK_NOT_IN_UTENSIL
    return Reason.OK


@kernel
def check_put(s, held, tiles, stations, access, original):
    """Put food into a utensil that is not started and not full; the original does not check this."""
    now = status(tiles[s])
    if now == Status.COOKING:
        return Reason.PUT_COOKING
    if now == Status.READY:
        return Reason.PUT_READY
    if access[s] == Access.NONE:
        return Reason.PUT_UNREACHABLE
    if held == NOTHING:
        return Reason.PUT_EMPTY_HANDED
    if held == DISH:
        return Reason.PUT_DISH
    if tiles[s, Tile.COUNT] == stations[s, Station.CAPACITY] and not original:
        return Reason.PUT_FULL
    return Reason.OK


@kernel
def check_place(held, tiles, groups, access, original):
    """Place the held object on an empty counter that the agent can use; the original does not check for one."""
    if held == NOTHING:
        return Reason.PLACE_EMPTY_HANDED
    if not original and not finds_on_counter(NOTHING, tiles, groups, access):
        return Reason.PLACE_NO_COUNTER
    return Reason.OK


@kernel
def check_fill(s, held, order, tiles, access, foods, original):
    """Fill a dish if the current order needs one and the utensil, in the original any, is cooking or ready."""
    if order == NOTHING or foods[order, Food.NEEDS_DISH] == 0:
        return Reason.FILL_NOT_NEEDED
    if held != DISH:
        return Reason.FILL_NO_DISH
    if status(tiles[s]) < Status.COOKING:
        return Reason.FILL_NOT_READY
    if access[s] == Access.NONE and not original:
        return Reason.FILL_UNREACHABLE
    return Reason.OK


@kernel
def check_deliver(held, plated, groups, access, foods, original):
    """Deliver food that can be ordered, on a dish exactly if needed; in the original, anything named like food."""
    if held == NOTHING:
        return Reason.DELIVER_EMPTY_HANDED
    if original:
        return Reason.OK if foods[held, Food.SOUNDS_SERVED] == 1 else Reason.DELIVER_NOT_FINISHED
    if foods[held, Food.SERVED] == 0 or foods[held, Food.NEEDS_DISH] != plated:
        return Reason.DELIVER_NOT_FINISHED
    if not can_use(Group.SERVING, groups, access):
        return Reason.DELIVER_UNREACHABLE
    return Reason.OK


@kernel
def check_operate(s, held, tiles, access):
    """Start a filled utensil that is not started, with an empty hand."""
    if access[s] == Access.NONE:
        return Reason.OP_UNREACHABLE
    now = status(tiles[s])
    if now == Status.EMPTY:
        return Reason.OP_EMPTY
    if now != Status.FILLING:
        return Reason.OP_BUSY
    if held != NOTHING:
        return Reason.OP_HANDS_FULL
    return Reason.OK


@kernel
def check_action(row, agent, macro, tiles, orders, stations, groups, access, foods, original):
    """An action is checked once, when an agent chooses it: a busy agent can only continue, an idle one cannot."""
    verb = row[Row.VERB]
    if is_running(macro):
        return Reason.OK if verb == Verb.CONTINUE else Reason.BUSY
    if verb == Verb.CONTINUE:
        return Reason.NOT_BUSY
    if verb == Verb.WAIT:
        return Reason.OK
    held, group = agent[Agent.ITEM], row[Row.GROUP]
    if verb == Verb.PICKUP:
        return check_pickup(row[Row.ITEM], group, held, tiles, stations, groups, access, foods)
    if verb == Verb.PLACE:
        return check_place(held, tiles, groups, access, original)
    if verb == Verb.DELIVER:
        return check_deliver(held, agent[Agent.PLATED], groups, access, foods, original)
    s = groups[group, 0]
    if verb == Verb.PUT:
        return check_put(s, held, tiles, stations, access, original)
    if verb == Verb.FILL:
        return check_fill(s, held, orders[0], tiles, access, foods, original)
    if verb == Verb.OPERATE:
        return check_operate(s, held, tiles, access)
    return Reason.OK


@kernel
def start_macro_actions(tables, agents, macros, tiles, orders, events, actions):
    """Idle agents start their chosen actions, all checked against the same state; a refused action costs the step.

    Mutates: macros, events.
    """
    catalogue, stations, groups, foods = tables.catalogue, tables.stations, tables.groups, tables.foods
    original = tables.params[Param.ORIGINAL] == 1
    for i in range(agents.shape[0]):
        if tables.levels[i] != Level.MEDIUM:
            continue
        reason = Reason.NO_SUCH_ACTION + 0
        if actions[i] < catalogue.shape[0]:
            row = catalogue[actions[i]]
            reason = 0 + check_action(
                row, agents[i], macros[i], tiles, orders, stations, groups, tables.access[i], foods, original
            )
            if reason == Reason.OK and row[Row.VERB] != Verb.CONTINUE:
                start_macro(macros[i], actions[i], row[Row.ITEM] if row[Row.VERB] == Verb.WAIT else 0)
        macros[i, MacroState.REASON] = reason
        events[i, EventColumn.REASON] = reason


# ------------------------------------------------------------------------------------------- carrying an action out


@kernel
def is_target(row, tile, access):
    """Counters are goals if they have the object, or space when placing; other stations always are."""
    if access == Access.NONE:
        return False
    if row[Row.VERB] == Verb.PLACE:
        return tile[Tile.ITEM] == NOTHING
    if row[Row.GROUP] == Group.COUNTER:
        return tile[Tile.ITEM] == row[Row.ITEM]
    return True


@kernel
def preferred_access(row, tiles, groups, access):
    """Agents prefer their own counters when picking up, and shared counters when placing."""
    if row[Row.GROUP] != Group.COUNTER:
        return NOTHING
    preferred = Access.SHARED if row[Row.VERB] == Verb.PLACE else Access.PRIVATE
    for k in range(groups.shape[1]):
        s = groups[Group.COUNTER, k]
        if s != NOTHING and access[s] == preferred and is_target(row, tiles[s], access[s]):
            return preferred
    return NOTHING


@kernel
def nearest_goal(row, tiles, stations, groups, access, distance):
    """The nearest pose to act from wins; earlier placed objects, then earlier tiles in scan order, win ties.

    Returns:
        The pose, -1 if all are out of reach just now, or -2 if there is nothing to go to.
    """
    preferred = preferred_access(row, tiles, groups, access)
    goal, best, oldest = -2, UNREACHABLE, 0
    for k in range(groups.shape[1]):
        s = groups[row[Row.GROUP], k]
        if s == NOTHING or not is_target(row, tiles[s], access[s]) or (preferred != NOTHING and access[s] != preferred):
            continue
        goal = max(goal, -1)
        for side in range(4):
            pose = stations[s, Station.GOAL + side]
            if pose == NOTHING or distance[pose] == UNREACHABLE:
                continue
            if distance[pose] < best or (distance[pose] == best and tiles[s, Tile.PLACED] < oldest):
                goal, best, oldest = pose, distance[pose], tiles[s, Tile.PLACED]
    return goal


@kernel
def flood_around(i, agents, cells, scratch):
    """Teammates block the way like walls.

    Mutates: scratch (13 F,), which gets distances, first steps, a queue and the occupied cells.
    """
    poses = 4 * cells.shape[0]
    occupied = scratch[3 * poses :]
    occupied[:] = 0
    for j in range(agents.shape[0]):
        if j != i:
            occupied[agents[j, Agent.CELL]] = 1
    pose = 4 * agents[i, Agent.CELL] + agents[i, Agent.FACING]
    flood(pose, cells, occupied, scratch[:poses], scratch[poses : 2 * poses], scratch[2 * poses : 3 * poses])


@kernel
def walk(goal, pose, first):
    """An agent walks the shortest path and interacts once it is at its goal."""
    return INTERACT if pose == goal else first[goal]


@kernel
def choose_primitive(i, row, agents, tiles, rng, cells, ways, stations, groups, access, scratch):
    """An agent goes to the nearest goal around its teammates; if they block all, it waits or pushes on at random.

    Mutates: rng, scratch.

    Returns:
        The primitive, or NOTHING if the goal is lost.
    """
    pose, poses = 4 * agents[i, Agent.CELL] + agents[i, Agent.FACING], ways.shape[1]
    if scratch.shape[0] > 0:
        flood_around(i, agents, cells, scratch)
        goal = nearest_goal(row, tiles, stations, groups, access, scratch[:poses])
        if goal >= 0:
            return walk(goal, pose, scratch[poses : 2 * poses])
        if goal == -1 and draw_below(rng, 2) == 0:
            return STAY
    goal = nearest_goal(row, tiles, stations, groups, access, ways[0, pose])
    return walk(goal, pose, ways[1, pose]) if goal >= 0 else NOTHING


@kernel
def drag_on(macro, rng):
    """In the original, an action without a goal continues or becomes a wait of two steps, with equal probability.

    Mutates: macro, rng.
    """
    if draw_below(rng, 2) == 1:
        start_macro(macro, WAIT_ONE, 2)


@kernel
def step_macro_actions(tables, agents, macros, tiles, events, rng, scratch):
    """A running action becomes one primitive action; it fails if its goal is lost.

    Mutates: macros, events, rng, scratch.
    """
    catalogue, cells, ways = tables.catalogue, tables.cells, tables.ways
    stations, groups = tables.stations, tables.groups
    for i in range(agents.shape[0]):
        event = events[i]
        event[EventColumn.PRIMITIVE] = STAY
        if not is_running(macros[i]):
            continue
        row = catalogue[macros[i, Macro.ACTION]]
        if row[Row.VERB] == Verb.WAIT:
            continue
        if row[Row.VERB] == Verb.PICKUP:
            event[EventColumn.PARAMETER] = row[Row.ITEM]
        elif row[Row.VERB] == Verb.OPERATE:
            event[EventColumn.PARAMETER] = START
        access = tables.access[i]
        primitive = choose_primitive(i, row, agents, tiles, rng, cells, ways, stations, groups, access, scratch)
        if primitive != NOTHING:
            event[EventColumn.PRIMITIVE] = primitive
        elif tables.params[Param.ORIGINAL] == 1:
            drag_on(macros[i], rng)
        else:
            end_macro(macros[i])
            event[EventColumn.ENDED] = Outcome.FAILED


@kernel
def spoils_starts(events, original):
    """In the original a wrong start ends every agent's start."""
    if original:
        for i in range(events.shape[0]):
            if events[i, EventColumn.CODE] == Event.START_WRONG:
                return True
    return False


@kernel
def is_filled(agent, order, original):
    """Filling ends once food is on the dish; in the original, it must be the order."""
    return agent[Agent.ITEM] == order if original else agent[Agent.PLATED] == 1


@kernel
def is_done(row, agent, macro, tiles, order, groups, spoiled, original):
    """An action ends when its effect on the hand or utensil is visible; a wait ends when its time is over."""
    verb = row[Row.VERB]
    if verb == Verb.WAIT:
        return macro[Macro.TIMER] <= 0
    if verb == Verb.PICKUP:
        return agent[Agent.ITEM] == row[Row.ITEM]
    if verb == Verb.OPERATE:
        return spoiled or status(tiles[groups[row[Row.GROUP], 0]]) != Status.FILLING
    if verb == Verb.FILL:
        return is_filled(agent, order, original)
    return agent[Agent.ITEM] == NOTHING


@kernel
def has_changed(event):
    """An agent makes progress if it moves or turns, or if its interact changes something."""
    code = event[EventColumn.CODE]
    return event[EventColumn.MOVED] == 1 or (code != Event.NONE and code != Event.PUT_NO_EFFECT)


@kernel
def end_macro_actions(agents, macros, tiles, orders, events, catalogue, groups, params):
    """Finished actions, and actions without progress for too long, free their agents for the next step.

    Mutates: macros, events.
    """
    stuck_limit, original = params[Param.STUCK], params[Param.ORIGINAL] == 1
    spoiled = spoils_starts(events, original)
    for i in range(agents.shape[0]):
        macro = macros[i]
        if not is_running(macro):
            continue
        tick_macro(macro, has_changed(events[i]))
        row = catalogue[macro[Macro.ACTION]]
        if is_done(row, agents[i], macro, tiles, orders[0], groups, spoiled, original):
            end_macro(macro)
            events[i, EventColumn.ENDED] = Outcome.DONE
        elif stuck_limit > 0 and macro[Macro.STILL] >= stuck_limit and row[Row.VERB] != Verb.WAIT:
            end_macro(macro)
            events[i, EventColumn.ENDED] = Outcome.INTERRUPTED
