"""The rules of the kitchen, one kernel a rule, for one environment. ``step.py`` has the order of play.

Rows passed in are views of one environment's arrays: ``agent`` (8,), ``tile`` (7 + capacity,), ``event`` (9,).
"""

from __future__ import annotations

from collab_overcooked._jit import kernel
from collab_overcooked.core.grid import resolve_moves
from collab_overcooked.core.paths import UNREACHABLE, flood
from collab_overcooked.core.rng import draw_below
from collab_overcooked.games.collab_overcooked.constants import (
    DISH,
    FIRST_NAMED,
    INTERACT,
    NOTHING,
    START,
    STAY,
    Access,
    Agent,
    Clock,
    Event,
    EventColumn,
    Food,
    Group,
    Kind,
    Param,
    Primitive,
    Reason,
    Recipe,
    Row,
    Station,
    Status,
    Task,
    Tile,
    Verb,
)

# ------------------------------------------------------------------------------------------- utensils and counters


@kernel
def status(tile):
    """A utensil is empty, filling until it is started, then cooking, then ready for ever."""
    if tile[Tile.COUNT] == 0:
        return Status.EMPTY
    if tile[Tile.TIMER] == 0:
        return Status.FILLING
    if tile[Tile.TIMER] < tile[Tile.TIME]:
        return Status.COOKING
    return Status.READY


@kernel
def clear_tile(tile):
    """An emptied counter or utensil keeps nothing of what it held. Mutates: tile."""
    tile[:] = NOTHING
    tile[Tile.PLATED : Tile.CONTENT] = 0


# ------------------------------------------------------------------------------------------- what an interact does


@kernel
def effect_at_counter(held, tile):
    """A counter takes one object from a full hand and gives it to an empty one."""
    if held != NOTHING and tile[Tile.ITEM] == NOTHING:
        return Event.PLACE
    if held == NOTHING and tile[Tile.ITEM] != NOTHING:
        return Event.PICKUP
    return Event.NONE


@kernel
def effect_at_serving(held, plated, orders, foods):
    """Delivering removes any food; it pays if it is the first order, on a dish just where it needs one."""
    if held == NOTHING or held == DISH:
        return Event.NONE
    if held == orders[0] and plated == foods[held, Food.NEEDS_DISH]:
        return Event.DELIVER
    return Event.DELIVER_WRONG


@kernel
def effect_with_full_hand(held, tile, capacity):
    """A dish takes ready food out of a utensil; food goes in, right or wrong, until it is full or started."""
    now = status(tile)
    if held == DISH:
        return Event.FILL if now == Status.READY else Event.NONE
    if now <= Status.FILLING and tile[Tile.COUNT] < capacity:
        return Event.PUT
    return Event.NONE


@kernel
def effect_with_empty_hand(parameter, tile):
    """An empty hand lifts ready food, and before the start takes back the item it names."""
    now = status(tile)
    if now == Status.READY or (now == Status.FILLING and find_content(tile, parameter) != NOTHING):
        return Event.PICKUP
    return Event.NONE


@kernel
def find_content(tile, item):
    """An item lies in an unstarted utensil if it was put there; the first of equals is taken."""
    for k in range(tile[Tile.COUNT]):
        if tile[Tile.CONTENT + k] == item:
            return k
    return NOTHING


@kernel
def effect_at_utensil(held, parameter, tile, capacity):
    """At a utensil a start of unstarted contents comes first, then what the hand holds decides."""
    if parameter == START and status(tile) == Status.FILLING:
        return Event.START
    if held != NOTHING:
        return effect_with_full_hand(held, tile, capacity)
    return effect_with_empty_hand(parameter, tile)


@kernel
def effect(held, plated, parameter, tile, station, orders, foods):
    """What an interact does depends on the station, the hand and the item it names; dispensers need an empty hand."""
    kind = station[Station.KIND]
    if kind == Kind.COUNTER:
        return effect_at_counter(held, tile)
    if kind == Kind.SERVING:
        return effect_at_serving(held, plated, orders, foods)
    if kind == Kind.UTENSIL:
        return effect_at_utensil(held, parameter, tile, station[Station.CAPACITY])
    named = kind == Kind.DISHES or (parameter >= 0 and foods[parameter, Food.RAW] == 1)
    return Event.PICKUP if held == NOTHING and named else Event.NONE


@kernel
def hold(agent, item, plated):
    """A hand holds one item, perhaps on a dish. Mutates: agent."""
    agent[Agent.ITEM] = item
    agent[Agent.PLATED] = plated


@kernel
def place_on_counter(agent, tile, clock):
    """What is placed keeps its dish, and its turn among the placed. Mutates: agent, tile, clock."""
    clock[Clock.PLACEMENTS] += 1
    tile[Tile.ITEM] = agent[Agent.ITEM]
    tile[Tile.PLATED] = agent[Agent.PLATED]
    tile[Tile.PLACED] = clock[Clock.PLACEMENTS]
    hold(agent, NOTHING, 0)


@kernel
def put_in_utensil(agent, tile):
    """An item joins the contents; a dish under it is lost. Mutates: agent, tile."""
    tile[Tile.CONTENT + tile[Tile.COUNT]] = agent[Agent.ITEM]
    tile[Tile.COUNT] += 1
    hold(agent, NOTHING, 0)


@kernel
def take_back(agent, item, tile):
    """Taking an item out of an unstarted utensil makes room for another. Mutates: agent, tile."""
    last = tile[Tile.COUNT] - 1
    for k in range(find_content(tile, item), last):
        tile[Tile.CONTENT + k] = tile[Tile.CONTENT + k + 1]
    tile[Tile.CONTENT + last] = NOTHING
    tile[Tile.COUNT] = last
    hold(agent, item, 0)


@kernel
def pick_up(agent, parameter, tile, kind):
    """A hand takes the named ingredient, a dish, an item back, or all that lies there. Mutates: agent, tile."""
    if kind == Kind.INGREDIENTS:
        hold(agent, parameter, 0)
    elif kind == Kind.DISHES:
        hold(agent, DISH, 0)
    elif kind == Kind.UTENSIL and tile[Tile.TIMER] == 0:
        take_back(agent, parameter, tile)
    else:
        hold(agent, tile[Tile.ITEM], tile[Tile.PLATED])
        clear_tile(tile)


@kernel
def fill_dish(agent, tile):
    """Ready food moves onto the dish in the hand. Mutates: agent, tile."""
    hold(agent, tile[Tile.ITEM], 1)
    clear_tile(tile)


@kernel
def deliver(agent, code, orders, clock):
    """Delivered food is gone; a paid delivery takes the first order off the list. Mutates: agent, orders, clock."""
    if code == Event.DELIVER:
        clock[Clock.DELIVERED] += 1
        for q in range(orders.shape[0] - 1):
            orders[q] = orders[q + 1]
        orders[-1] = NOTHING
    hold(agent, NOTHING, 0)


@kernel
def bring_about(code, agent, parameter, tile, kind, orders, clock):
    """An effect changes hand and station; a start is judged only at the end of the step.

    Mutates: agent, tile, orders, clock.
    """
    if code == Event.PICKUP:
        pick_up(agent, parameter, tile, kind)
    elif code == Event.PLACE:
        place_on_counter(agent, tile, clock)
    elif code == Event.PUT:
        put_in_utensil(agent, tile)
    elif code == Event.START:
        tile[Tile.STARTED] = 1
    elif code == Event.FILL:
        fill_dish(agent, tile)
    else:
        deliver(agent, code, orders, clock)


@kernel
def concerned_item(code, before, after):
    """An event concerns what came into the hand, or else what left it; a start concerns no item."""
    if code == Event.START:
        return NOTHING
    return after if code == Event.PICKUP or code == Event.FILL else before


@kernel
def interact(agent, tile, station, orders, foods, clock, event):
    """An agent uses the station it faces, and the event is written down with the item it concerns.

    Mutates: agent, tile, orders, clock, event.
    """
    parameter, held = event[EventColumn.PARAMETER], agent[Agent.ITEM]
    code = effect(held, agent[Agent.PLATED], parameter, tile, station, orders, foods)
    if code != Event.NONE:
        bring_about(code, agent, parameter, tile, station[Station.KIND], orders, clock)
        event[EventColumn.CODE] = code
        event[EventColumn.ITEM] = concerned_item(code, held, agent[Agent.ITEM])


@kernel
def faced_station(agent, access, cells):
    """An agent can use the station before it unless it belongs to others."""
    found = cells[agent[Agent.CELL], 4 + agent[Agent.FACING]]
    if found != NOTHING and access[found] == Access.NONE:
        return NOTHING
    return found


@kernel
def interact_in_turn(agents, tiles, orders, clock, events, cells, stations, access, foods):
    """Interactions come before movement, in agent order, each seeing the earlier ones.

    Mutates: agents, tiles, orders, clock, events.
    """
    for i in range(agents.shape[0]):
        if events[i, EventColumn.PRIMITIVE] != Primitive.INTERACT:
            continue
        s = faced_station(agents[i], access[i], cells)
        if s != NOTHING:
            events[i, EventColumn.STATION] = s
            interact(agents[i], tiles[s], stations[s], orders, foods, clock, events[i])


@kernel
def move_agents(agents, events, cells):
    """A direction always turns the agent and walks onto free floor; agents who collide stay.

    Mutates: agents, events.
    """
    for i in range(agents.shape[0]):
        cell, direction = agents[i, Agent.CELL], events[i, EventColumn.PRIMITIVE]
        events[i, EventColumn.TARGET] = cell
        if direction < Primitive.STAY:
            events[i, EventColumn.MOVED] = agents[i, Agent.FACING] != direction
            agents[i, Agent.FACING] = direction
            if cells[cell, direction] != NOTHING:
                events[i, EventColumn.TARGET] = cells[cell, direction]
    resolve_moves(agents[:, Agent.CELL], events[:, EventColumn.TARGET])
    for i in range(agents.shape[0]):
        if agents[i, Agent.CELL] != events[i, EventColumn.TARGET]:
            agents[i, Agent.CELL] = events[i, EventColumn.TARGET]
            events[i, EventColumn.MOVED] = 1


@kernel
def find_recipe(tile, utensil, recipes):
    """The contents make a recipe if they are its inputs, each as often as there, in any order."""
    count = tile[Tile.COUNT]
    for r in range(recipes.shape[0]):
        if recipes[r, Recipe.UTENSIL] != utensil or recipes[r, Recipe.COUNT] != count:
            continue
        matching = True
        for k in range(count):
            item = recipes[r, Recipe.INPUT + k]
            balance = 0
            for j in range(count):
                balance += int(recipes[r, Recipe.INPUT + j] == item) - int(tile[Tile.CONTENT + j] == item)
            matching = matching and balance == 0
        if matching:
            return r
    return NOTHING


@kernel
def judge_start(tile, station, recipes):
    """A started utensil begins its recipe; contents that make no recipe are destroyed. Mutates: tile."""
    r = find_recipe(tile, station[Station.UTENSIL], recipes)
    if r == NOTHING:
        clear_tile(tile)
        return False
    tile[Tile.STARTED] = 0
    tile[Tile.ITEM] = recipes[r, Recipe.PRODUCT]
    tile[Tile.TIME] = recipes[r, Recipe.TIME]
    tile[Tile.TIMER] = 1
    return True


@kernel
def tick_utensils(tiles, events, stations, groups, recipes, n_utensils):
    """At the end of a step new starts are judged and every cooking utensil advances by one. Mutates: tiles, events."""
    for u in range(n_utensils):
        s = groups[Group.UTENSIL + u, 0]
        if tiles[s, Tile.STARTED] == 1:
            if not judge_start(tiles[s], stations[s], recipes):
                for i in range(events.shape[0]):
                    if events[i, EventColumn.CODE] == Event.START and events[i, EventColumn.STATION] == s:
                        events[i, EventColumn.CODE] = Event.START_WRONG
        elif status(tiles[s]) == Status.COOKING:
            tiles[s, Tile.TIMER] += 1


@kernel
def draw_task(rng, tasks):
    """Orders are drawn from the tasks by weight. Mutates: rng."""
    ticket = draw_below(rng, tasks[-1, Task.WEIGHT])
    for k in range(tasks.shape[0]):
        if ticket < tasks[k, Task.WEIGHT]:
            return k
    return tasks.shape[0] - 1


@kernel
def refill_orders(orders, rng, tasks, params):
    """In a game of many orders a delivered one is replaced at once. Mutates: orders, rng."""
    if params[Param.REFILL] == 0:
        return
    for q in range(params[Param.LOOKAHEAD]):
        if orders[q] == NOTHING:
            orders[q] = tasks[draw_task(rng, tasks), Task.ITEM]


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
    """Pick up with an empty hand what is there; food that needs a dish leaves its utensil on one only."""
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
def check_put(s, held, tiles, stations, access):
    """Put food into a utensil that is not started and not full."""
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
    if tiles[s, Tile.COUNT] == stations[s, Station.CAPACITY]:
        return Reason.PUT_FULL
    return Reason.OK


@kernel
def check_place(held, tiles, groups, access):
    """Place what the hand holds on an empty counter that the agent can use."""
    if held == NOTHING:
        return Reason.PLACE_EMPTY_HANDED
    if not finds_on_counter(NOTHING, tiles, groups, access):
        return Reason.PLACE_NO_COUNTER
    return Reason.OK


@kernel
def check_fill(s, held, order, tiles, access, foods):
    """Fill a dish if the current order needs one and the utensil is cooking or ready."""
    if order == NOTHING or foods[order, Food.NEEDS_DISH] == 0:
        return Reason.FILL_NOT_NEEDED
    if held != DISH:
        return Reason.FILL_NO_DISH
    if status(tiles[s]) < Status.COOKING:
        return Reason.FILL_NOT_READY
    if access[s] == Access.NONE:
        return Reason.FILL_UNREACHABLE
    return Reason.OK


@kernel
def check_deliver(held, plated, groups, access, foods):
    """Deliver food that can be ordered, on a dish just where it needs one."""
    if held == NOTHING:
        return Reason.DELIVER_EMPTY_HANDED
    if foods[held, Food.SERVED] == 0 or foods[held, Food.NEEDS_DISH] != plated:
        return Reason.DELIVER_NOT_FINISHED
    if not can_use(Group.SERVING, groups, access):
        return Reason.DELIVER_UNREACHABLE
    return Reason.OK


@kernel
def check_operate(s, held, tiles, access):
    """Start, with an empty hand, a utensil that holds something and is not started."""
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
def check_action(row, agent, tiles, orders, stations, groups, access, foods):
    """An action is checked once, when an agent chooses it: a busy agent can only continue, an idle one cannot."""
    verb = row[Row.VERB]
    if agent[Agent.ACTION] != NOTHING:
        return Reason.OK if verb == Verb.CONTINUE else Reason.BUSY
    if verb == Verb.CONTINUE:
        return Reason.NOT_BUSY
    if verb == Verb.WAIT:
        return Reason.OK
    held, group = agent[Agent.ITEM], row[Row.GROUP]
    if verb == Verb.PICKUP:
        return check_pickup(row[Row.ITEM], group, held, tiles, stations, groups, access, foods)
    if verb == Verb.PLACE:
        return check_place(held, tiles, groups, access)
    if verb == Verb.DELIVER:
        return check_deliver(held, agent[Agent.PLATED], groups, access, foods)
    s = groups[group, 0]
    if verb == Verb.PUT:
        return check_put(s, held, tiles, stations, access)
    if verb == Verb.FILL:
        return check_fill(s, held, orders[0], tiles, access, foods)
    if verb == Verb.OPERATE:
        return check_operate(s, held, tiles, access)
    return Reason.OK


@kernel
def begin_actions(agents, tiles, orders, events, actions, catalogue, stations, groups, access, foods):
    """Idle agents begin the actions they chose, all judged on the same moment; a refused one costs the step.

    Mutates: agents, events.
    """
    for i in range(agents.shape[0]):
        row = catalogue[actions[i]]
        reason = check_action(row, agents[i], tiles, orders, stations, groups, access[i], foods)
        agents[i, Agent.REASON] = reason
        events[i, EventColumn.REASON] = reason
        if reason == Reason.OK and row[Row.VERB] != Verb.CONTINUE:
            agents[i, Agent.ACTION] = actions[i]
            agents[i, Agent.TIMER] = row[Row.ITEM] if row[Row.VERB] == Verb.WAIT else 0
            agents[i, Agent.STILL] = 0


# ------------------------------------------------------------------------------------------- carrying an action out


@kernel
def is_target(row, tile, access):
    """A counter is worth going to for its object, or for its room when placing; other stations always are."""
    if access == Access.NONE:
        return False
    if row[Row.VERB] == Verb.PLACE:
        return tile[Tile.ITEM] == NOTHING
    if row[Row.GROUP] == Group.COUNTER:
        return tile[Tile.ITEM] == row[Row.ITEM]
    return True


@kernel
def preferred_access(row, tiles, groups, access):
    """Agents pick up from counters of their own first, and place on shared ones first; any will do otherwise."""
    if row[Row.GROUP] != Group.COUNTER:
        return NOTHING
    wanted = Access.SHARED if row[Row.VERB] == Verb.PLACE else Access.PRIVATE
    for k in range(groups.shape[1]):
        s = groups[Group.COUNTER, k]
        if s != NOTHING and access[s] == wanted and is_target(row, tiles[s], access[s]):
            return wanted
    return NOTHING


@kernel
def nearest_goal(row, tiles, stations, groups, access, distance):
    """The nearest pose to act from wins; earlier placed objects, then earlier tiles in scan order, win ties.

    Returns:
        The pose, -1 if all are out of reach just now, or -2 if there is nothing to go to.
    """
    wanted = preferred_access(row, tiles, groups, access)
    goal, best, oldest = -2, UNREACHABLE, 0
    for k in range(groups.shape[1]):
        s = groups[row[Row.GROUP], k]
        if s == NOTHING or not is_target(row, tiles[s], access[s]) or (wanted != NOTHING and access[s] != wanted):
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
    """Teammates are in the way like walls.

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
    """An agent walks the shortest way, and interacts once it stands at its goal."""
    return INTERACT if pose == goal else first[goal]


@kernel
def choose_primitive(i, row, agents, tiles, rng, cells, ways, stations, groups, access, scratch):
    """An agent goes to the nearest goal around its teammates; where they block all, it waits or pushes on by chance.

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
def carry_on(agents, tiles, events, rng, catalogue, cells, ways, stations, groups, access, scratch):
    """A running action becomes one low-level step; an action whose goal is lost is given up.

    Mutates: agents, events, rng, scratch.
    """
    for i in range(agents.shape[0]):
        event = events[i]
        event[EventColumn.PRIMITIVE] = Primitive.STAY
        if agents[i, Agent.ACTION] == NOTHING:
            continue
        row = catalogue[agents[i, Agent.ACTION]]
        if row[Row.VERB] == Verb.WAIT:
            continue
        if row[Row.VERB] == Verb.PICKUP:
            event[EventColumn.PARAMETER] = row[Row.ITEM]
        elif row[Row.VERB] == Verb.OPERATE:
            event[EventColumn.PARAMETER] = START
        primitive = choose_primitive(i, row, agents, tiles, rng, cells, ways, stations, groups, access[i], scratch)
        if primitive == NOTHING:
            give_up(agents[i], event)
        else:
            event[EventColumn.PRIMITIVE] = primitive


@kernel
def give_up(agent, event):
    """An agent that gives its action up is idle in the next step. Mutates: agent, event."""
    agent[Agent.ACTION] = NOTHING
    event[EventColumn.ENDED] = 2


@kernel
def is_done(row, agent, tiles, groups):
    """An action is done when the hand, or the utensil it started, shows it."""
    verb = row[Row.VERB]
    if verb == Verb.WAIT:
        return agent[Agent.TIMER] <= 0
    if verb == Verb.PICKUP:
        return agent[Agent.ITEM] == row[Row.ITEM]
    if verb == Verb.OPERATE:
        return status(tiles[groups[row[Row.GROUP], 0]]) != Status.FILLING
    if verb == Verb.FILL:
        return agent[Agent.PLATED] == 1
    return agent[Agent.ITEM] == NOTHING


@kernel
def end_actions(agents, tiles, events, catalogue, groups, stuck_limit):
    """Done actions free their agents for the next step, and so do actions that got nowhere for too long.

    Mutates: agents, events.
    """
    for i in range(agents.shape[0]):
        agent = agents[i]
        if agent[Agent.ACTION] == NOTHING:
            continue
        agent[Agent.TIMER] -= 1
        moved = events[i, EventColumn.MOVED] == 1 or events[i, EventColumn.CODE] != Event.NONE
        agent[Agent.STILL] = 0 if moved else agent[Agent.STILL] + 1
        row = catalogue[agent[Agent.ACTION]]
        if is_done(row, agent, tiles, groups):
            agent[Agent.ACTION] = NOTHING
            events[i, EventColumn.ENDED] = 1
        elif stuck_limit > 0 and agent[Agent.STILL] >= stuck_limit and row[Row.VERB] != Verb.WAIT:
            give_up(agent, events[i])


# ------------------------------------------------------------------------------------------- low-level actions


@kernel
def named_by(action):
    """After the plain interact come the one that names a start and those that name an item each."""
    if action >= FIRST_NAMED:
        return action - FIRST_NAMED
    return START if action > INTERACT else NOTHING


@kernel
def act_directly(events, actions):
    """A primitive action is a move, a stay, or an interact that may name a start or an item. Mutates: events."""
    for i in range(actions.shape[0]):
        events[i, EventColumn.PRIMITIVE] = min(actions[i], INTERACT)
        events[i, EventColumn.PARAMETER] = named_by(actions[i])


@kernel
def refuse_idle_interacts(agents, events):
    """An interact that changes nothing counts as refused. Mutates: agents, events."""
    for i in range(events.shape[0]):
        idle = events[i, EventColumn.PRIMITIVE] == Primitive.INTERACT and events[i, EventColumn.CODE] == Event.NONE
        events[i, EventColumn.REASON] = Reason.NO_EFFECT if idle else Reason.OK
        agents[i, Agent.REASON] = events[i, EventColumn.REASON]
