"""Medium-level actions: their validity, execution by primitive actions, and ends.

One kernel a rule, for one environment. ``macro`` (4,) is a row of ``State.macro_state``, ``row`` (3,) one of the
catalogue, ``access`` (S,) that of seat ``i``.
"""

from __future__ import annotations

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

from .constants import (
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
    Paths,
    Reason,
    Row,
    Station,
    Status,
    Tile,
    Verb,
)
from .rules import status

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
def check_pickup(tables, env, i, item, group):
    """Pick up an available object with an empty hand; food that needs a dish leaves its utensil only on a dish."""
    tiles = env.tiles
    groups = tables.groups
    foods = tables.foods
    access = tables.access[i]
    if group >= Group.UTENSIL:
        s = groups[group, 0]
        if status(tiles[s]) == Status.COOKING:
            return Reason.PICK_COOKING
        if foods[item, Food.NEEDS_DISH] == 1 and foods[item, Food.UTENSIL] == tables.stations[s, Station.UTENSIL]:
            return Reason.PICK_NEEDS_DISH
    if group == Group.COUNTER:
        if not finds_on_counter(item, tiles, groups, access):
            return Reason.PICK_NOT_ON_COUNTER
    elif not can_use(group, groups, access):
        return Reason.PICK_UNREACHABLE
    if env.agents[i, Agent.ITEM] != NOTHING:
        return Reason.PICK_HANDS_FULL
    if group >= Group.UTENSIL:
        s = groups[group, 0]
        if status(tiles[s]) != Status.READY or tiles[s, Tile.ITEM] != item:
            return Reason.PICK_NOT_IN_UTENSIL
    return Reason.OK


@kernel
def check_put(tables, env, i, s):
    """Put food into a utensil that is not started and not full; the original does not check this."""
    held, tile = env.agents[i, Agent.ITEM], env.tiles[s]
    now = status(tile)
    if now == Status.COOKING:
        return Reason.PUT_COOKING
    if now == Status.READY:
        return Reason.PUT_READY
    if tables.access[i, s] == Access.NONE:
        return Reason.PUT_UNREACHABLE
    if held == NOTHING:
        return Reason.PUT_EMPTY_HANDED
    if held == DISH:
        return Reason.PUT_DISH
    if tile[Tile.COUNT] == tables.stations[s, Station.CAPACITY] and tables.params[Param.ORIGINAL] == 0:
        return Reason.PUT_FULL
    return Reason.OK


@kernel
def check_place(tables, env, i):
    """Place the held object on an empty counter that the agent can use; the original does not check for one."""
    if env.agents[i, Agent.ITEM] == NOTHING:
        return Reason.PLACE_EMPTY_HANDED
    if tables.params[Param.ORIGINAL] == 1 or finds_on_counter(NOTHING, env.tiles, tables.groups, tables.access[i]):
        return Reason.OK
    return Reason.PLACE_NO_COUNTER


@kernel
def check_fill(tables, env, i, s):
    """Fill a dish if the agent may, the order needs one and the utensil, in the original any, is cooking or ready."""
    order = env.orders[0]
    if (tables.params[Param.FILLERS] >> i) & 1 == 0:
        return Reason.FILL_NOT_LISTED
    if order == NOTHING or tables.foods[order, Food.NEEDS_DISH] == 0:
        return Reason.FILL_NOT_NEEDED
    if env.agents[i, Agent.ITEM] != DISH:
        return Reason.FILL_NO_DISH
    if status(env.tiles[s]) < Status.COOKING:
        return Reason.FILL_NOT_READY
    if tables.access[i, s] == Access.NONE and tables.params[Param.ORIGINAL] == 0:
        return Reason.FILL_UNREACHABLE
    return Reason.OK


@kernel
def check_deliver(tables, env, i):
    """Deliver food that can be ordered, on a dish exactly if needed; in the original, anything named like food."""
    held, foods = env.agents[i, Agent.ITEM], tables.foods
    if held == NOTHING:
        return Reason.DELIVER_EMPTY_HANDED
    if tables.params[Param.ORIGINAL] == 1:
        return Reason.OK if foods[held, Food.SOUNDS_SERVED] == 1 else Reason.DELIVER_NOT_FINISHED
    if foods[held, Food.SERVED] == 0 or foods[held, Food.NEEDS_DISH] != env.agents[i, Agent.PLATED]:
        return Reason.DELIVER_NOT_FINISHED
    if not can_use(Group.SERVING, tables.groups, tables.access[i]):
        return Reason.DELIVER_UNREACHABLE
    return Reason.OK


@kernel
def check_operate(tables, env, i, s):
    """Start a filled utensil that is not started, with an empty hand."""
    if tables.access[i, s] == Access.NONE:
        return Reason.OP_UNREACHABLE
    now = status(env.tiles[s])
    if now == Status.EMPTY:
        return Reason.OP_EMPTY
    if now != Status.FILLING:
        return Reason.OP_BUSY
    if env.agents[i, Agent.ITEM] != NOTHING:
        return Reason.OP_HANDS_FULL
    return Reason.OK


@kernel
def check_action(tables, env, i, row):
    """An action is checked once, when an agent chooses it: a busy agent can only continue, an idle one cannot."""
    verb = row[Row.VERB]
    if is_running(env.macro_state[i]):
        return Reason.OK if verb == Verb.CONTINUE else Reason.BUSY
    if verb == Verb.CONTINUE:
        return Reason.NOT_BUSY
    if verb == Verb.WAIT:
        return Reason.OK
    if verb == Verb.PICKUP:
        return check_pickup(tables, env, i, row[Row.ITEM], row[Row.GROUP])
    if verb == Verb.PLACE:
        return check_place(tables, env, i)
    if verb == Verb.DELIVER:
        return check_deliver(tables, env, i)
    s = tables.groups[row[Row.GROUP], 0]
    if verb == Verb.PUT:
        return check_put(tables, env, i, s)
    if verb == Verb.FILL:
        return check_fill(tables, env, i, s)
    if verb == Verb.OPERATE:
        return check_operate(tables, env, i, s)
    return Reason.OK


@kernel
def judge_choice(tables, env, i, action):
    """A number beyond the catalogue is no action of this seat; all others are checked by their verb."""
    if action >= tables.catalogue.shape[0]:
        return Reason.NO_SUCH_ACTION
    return check_action(tables, env, i, tables.catalogue[action])


@kernel
def start_macro_actions(tables, env, actions, events):
    """Idle agents start their chosen actions, all checked against the same state; a refused action costs the step.

    Mutates: env, events.
    """
    macros, catalogue = env.macro_state, tables.catalogue
    for i in range(macros.shape[0]):
        if tables.levels[i] != Level.MEDIUM:
            continue
        reason = judge_choice(tables, env, i, actions[i])
        if reason == Reason.OK and catalogue[actions[i], Row.VERB] != Verb.CONTINUE:
            row = catalogue[actions[i]]
            start_macro(macros[i], actions[i], row[Row.ITEM] if row[Row.VERB] == Verb.WAIT else 0)
        macros[i, MacroState.REASON] = reason
        events[i, EventColumn.REASON] = reason


# ------------------------------------------------------------------------------------------- carrying an action out

BLOCKED, NO_GOAL = -1, -2  # instead of a pose: all goals are out of reach just now; there is nothing to go to


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
def nearest_goal(tables, env, i, row, distance):
    """The nearest pose to act from wins; earlier placed objects, then earlier tiles in scan order, win ties.

    Returns:
        The pose, BLOCKED or NO_GOAL.
    """
    tiles = env.tiles
    stations = tables.stations
    groups = tables.groups
    access = tables.access[i]
    preferred = preferred_access(row, tiles, groups, access)
    goal, best, oldest = NO_GOAL, UNREACHABLE, 0
    for k in range(groups.shape[1]):
        s = groups[row[Row.GROUP], k]
        if s == NOTHING or not is_target(row, tiles[s], access[s]) or (preferred != NOTHING and access[s] != preferred):
            continue
        goal = max(goal, BLOCKED)
        for side in range(4):
            pose = stations[s, Station.GOAL + side]
            if pose == NOTHING or distance[pose] == UNREACHABLE:
                continue
            if distance[pose] < best or (distance[pose] == best and tiles[s, Tile.PLACED] < oldest):
                goal = pose
                best = distance[pose]
                oldest = tiles[s, Tile.PLACED]
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
def choose_primitive(tables, env, i, row, scratch):
    """An agent goes to the nearest goal around its teammates; if they block all, it waits or pushes on at random.

    Mutates: env, scratch.

    Returns:
        The primitive, or NOTHING if the goal is lost.
    """
    agents, paths = env.agents, tables.paths
    pose, poses = 4 * agents[i, Agent.CELL] + agents[i, Agent.FACING], paths.shape[1]
    if scratch.shape[0] > 0:
        flood_around(i, agents, tables.cells, scratch)
        goal = nearest_goal(tables, env, i, row, scratch[:poses])
        if goal >= 0:
            return walk(goal, pose, scratch[poses : 2 * poses])
        if goal == BLOCKED and draw_below(env.rng, 2) == 0:
            return STAY
    goal = nearest_goal(tables, env, i, row, paths[Paths.STEPS, pose])
    return walk(goal, pose, paths[Paths.FIRST, pose]) if goal >= 0 else NOTHING


@kernel
def named_by_row(row):
    """The interact of a pickup names its item, that of an operation the start."""
    if row[Row.VERB] == Verb.PICKUP:
        return row[Row.ITEM]
    return START if row[Row.VERB] == Verb.OPERATE else NOTHING


@kernel
def drag_on(macro, rng):
    """In the original, an action without a goal continues or becomes a wait of two steps, with equal probability.

    Mutates: macro, rng.
    """
    if draw_below(rng, 2) == 1:
        start_macro(macro, WAIT_ONE, 2)


@kernel
def step_macro_actions(tables, env, events, scratch):
    """A running action becomes one primitive action; it fails if its goal is lost. Mutates: env, events, scratch."""
    macros = env.macro_state
    for i in range(macros.shape[0]):
        event = events[i]
        event[EventColumn.PRIMITIVE] = STAY
        if not is_running(macros[i]):
            continue
        row = tables.catalogue[macros[i, Macro.ACTION]]
        if row[Row.VERB] == Verb.WAIT:
            continue
        event[EventColumn.PARAMETER] = named_by_row(row)
        primitive = choose_primitive(tables, env, i, row, scratch)
        if primitive != NOTHING:
            event[EventColumn.PRIMITIVE] = primitive
        elif tables.params[Param.ORIGINAL] == 1:
            drag_on(macros[i], env.rng)
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
def is_done(tables, env, i, row, spoiled):
    """An action ends when its effect on the hand or utensil is visible; a wait ends when its time is over."""
    verb, agent = row[Row.VERB], env.agents[i]
    if verb == Verb.WAIT:
        return env.macro_state[i, Macro.TIMER] <= 0
    if verb == Verb.PICKUP:
        return agent[Agent.ITEM] == row[Row.ITEM]
    if verb == Verb.OPERATE:
        return spoiled or status(env.tiles[tables.groups[row[Row.GROUP], 0]]) != Status.FILLING
    if verb == Verb.FILL:
        return is_filled(agent, env.orders[0], tables.params[Param.ORIGINAL] == 1)
    return agent[Agent.ITEM] == NOTHING


@kernel
def has_changed(event):
    """An agent makes progress if it moves or turns, or if its interact changes something."""
    code = event[EventColumn.CODE]
    return event[EventColumn.MOVED] == 1 or (code != Event.NONE and code != Event.PUT_NO_EFFECT)


@kernel
def end_macro_actions(tables, env, events):
    """Finished actions, and actions without progress for too long, free their agents for the next step.

    Mutates: env, events.
    """
    stuck_limit = tables.params[Param.STUCK]
    spoiled = spoils_starts(events, tables.params[Param.ORIGINAL] == 1)
    for i in range(events.shape[0]):
        macro = env.macro_state[i]
        if not is_running(macro):
            continue
        tick_macro(macro, has_changed(events[i]))
        row = tables.catalogue[macro[Macro.ACTION]]
        if is_done(tables, env, i, row, spoiled):
            end_macro(macro)
            events[i, EventColumn.ENDED] = Outcome.DONE
        elif stuck_limit > 0 and macro[Macro.STILL] >= stuck_limit and row[Row.VERB] != Verb.WAIT:
            end_macro(macro)
            events[i, EventColumn.ENDED] = Outcome.INTERRUPTED
