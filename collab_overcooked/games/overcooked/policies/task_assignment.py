"""Joint decision for a kitchen: goals of all players, and moves towards them that do not block each other.

Pots need ingredients now, a dish when the soup is almost ready, and ingredients for the next soup. Things in hands are
counted first, then things on counters; empty hands get the remaining jobs, the fastest pair of player and job first.
Hand-overs go via counters that both sides reach; players who carry something through a closed gate need a player with
empty hands to open it. Moves are then chosen for all players jointly, with priority for the most urgent thing.

Kernels here are compiled like the rules (see ``kernels.jit``): no allocation, all scratch memory is in ``Scratch``.
"""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel

from ..engine.constants import NOTHING, Frame, Item, Param, Player, Terrain, Thing
from .assignment_arrays import (
    AHEAD,
    DISH,
    FAR,
    GATE_BONUS,
    GATE_COST,
    INTERACT,
    KIN,
    LOCKED_IN,
    ONION,
    PASSING,
    SOUP,
    STAY,
    TOMATO,
    Goal,
    Need,
    Station,
    find_carries,
    is_same_side,
    survey,
    travel,
)
from .joint_moves import (
    best_counter,
    best_pot,
    best_serving,
    can_act,
    column_of,
    count_loose,
    is_meeting_place,
    is_shared,
    list_needs,
    make_way,
    move_together,
    send,
    send_carrier,
)


@kernel
def item_at(s, stations, cells):
    """Return the item that empty hands get at a station, Item.NONE for nothing."""
    terrain = stations[s, Station.TERRAIN]
    if terrain == Terrain.COUNTER:
        return cells[stations[s, Station.Y], stations[s, Station.X], Thing.ITEM]
    if terrain == Terrain.ONIONS:
        return ONION
    if terrain == Terrain.TOMATOES:
        return TOMATO
    return DISH if terrain == Terrain.DISHES else 0


@kernel
def onward(s, target, cell, stands, scratch):
    """Return the steps of a thing from a station to a target, taken by a player who comes from a cell.

    A thing is not taken back from a counter on which it lies for a player nearer to the target.
    """
    same_side, any_side = FAR, FAR
    for stand in stands[s]:
        if stand == NOTHING:
            continue
        any_side = min(any_side, scratch.carries[target, stand])
        if is_same_side(s, stand, cell, scratch):
            same_side = min(same_side, scratch.carries[target, stand])
    return same_side if same_side <= any_side else FAR


@kernel
def find_use(s, i, item, way, cell, stations, stands, scratch):
    """Find where an item from a station is needed soonest, for a player who reaches the station in ``way`` steps.

    Returns:
        Steps until it is there, plus penalties of less urgent jobs, and the target; FAR if nothing needs it.
    """
    least, best = FAR, NOTHING
    for target in range(stations.shape[0]):
        terrain = stations[target, Station.TERRAIN]
        if terrain != (Terrain.SERVING if item == SOUP else Terrain.POT):
            continue
        later = item != SOUP and scratch.needs[target, column_of(item, False)] <= 0
        if later and (item == DISH or scratch.needs[target, column_of(item, True)] <= 0):
            continue
        steps = onward(s, target, cell, stands, scratch)
        is_left = stations[s, Station.TERRAIN] == Terrain.COUNTER and is_shared(i, s, target, scratch)
        if steps >= FAR or (scratch.barred[i, target] == 1 and is_left):
            continue
        steps += way + 1
        if item == DISH or later:
            steps = max(steps, scratch.needs[target, Need.READY] + 1)
        steps += AHEAD if later else 0
        if steps < least:
            least, best = steps, target
    return least, best


@kernel
def fetch_time(s, i, item, cell, stations, stands, cells, scratch):
    """Say how long it takes to fetch an item from a station to where it is needed, and where that is.

    Nothing is fetched from a dispenser while enough of it lies about, or handed over where there is no room.

    Returns:
        Steps and target; FAR if there is no use for it.
    """
    way = travel(s, cell, scratch)
    if way >= FAR:
        return FAR, NOTHING
    if stations[s, Station.TERRAIN] != Terrain.COUNTER and 0 < scratch.loose[item] >= total_need(
        item, stations, scratch
    ):
        return FAR, NOTHING
    least, best = find_use(s, i, item, way, cell, stations, stands, scratch)
    if item == DISH and best != NOTHING and travel(best, cell, scratch) < FAR:
        if best_serving(cell, stations, scratch) == NOTHING:  # the soup would never be served from here
            return FAR, NOTHING
    if (
        best != NOTHING
        and travel(best, cell, scratch) >= FAR
        and not has_room(item, cell, stations, stands, cells, scratch)
    ):
        return FAR, NOTHING
    return least, best


@kernel
def total_need(item, stations, scratch):
    """Count how many of an item all pots need, now and for their next soups."""
    total = 0
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.POT:
            total += scratch.needs[s, column_of(item, False)]
            if item != DISH:
                total += scratch.needs[s, column_of(item, True)]
    return total


@kernel
def has_room(item, cell, stations, stands, cells, scratch):
    """To hand something over takes an empty counter, and one more where a dish is still to come."""
    free, dishes = 0, 0
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.POT:
            dishes += scratch.needs[s, Need.DISH]
        if stations[s, Station.TERRAIN] != Terrain.COUNTER or scratch.taken[s] == 1 or scratch.fields[s, cell] >= FAR:
            continue
        if cells[stations[s, Station.Y], stations[s, Station.X], Thing.ITEM] == Item.NONE:
            free += is_meeting_place(s, stands, scratch)
    awaited = (item != DISH and dishes > scratch.loose[DISH]) or (scratch.relief[0] == 1 and scratch.soups[0] > 0)
    return free > (1 if awaited and item != SOUP else 0)


@kernel
def gate_time(g, j, stations, players, cells, floor, limit, scratch):
    """Return the steps until a player with empty hands opens a gate for a teammate on its way through it.

    Returns:
        Steps, FAR if no teammate needs it, or not yet.
    """
    x, y = stations[g, Station.X], stations[g, Station.Y]
    if cells[y, x, Thing.ITEM] == Item.OPEN:
        return FAR
    gate_cell = floor[y, x]
    steps = scratch.fields[g, floor[players[j, Player.Y], players[j, Player.X]]]
    for i in range(players.shape[0]):
        s = scratch.goals[i, Goal.STATION]
        if i == j or s == NOTHING or scratch.goals[i, Goal.OPENED] == 0 or players[i, Player.HAND] == Item.NONE:
            continue
        cell = floor[players[i, Player.Y], players[i, Player.X]]
        detour = scratch.fields[g, cell] + 1 + scratch.opened[s, gate_cell] - scratch.opened[s, cell]
        if detour <= 2 and scratch.fields[g, cell] - steps < limit - 1:
            return steps
    return FAR


@kernel
def open_for_oneself(i, cell, gates, scratch):
    """Empty hands open the gate that their way leads through. Mutates: scratch."""
    s = scratch.goals[i, Goal.STATION]
    best, least = NOTHING, FAR
    for gate_cell in range(gates.shape[0]):
        g = gates[gate_cell]
        if g == NOTHING:
            continue
        steps = scratch.fields[g, cell] + scratch.opened[s, gate_cell]
        if scratch.fields[g, cell] < FAR and steps < least:
            best, least = g, steps
    if best != NOTHING:
        send(i, best, scratch.goals[i, Goal.RANK], cell, scratch)


@kernel
def job_time(s, i, cell, limit, stations, stands, floor, players, cells, scratch):
    """Say how long a job at a station takes a player with empty hands: fetching, starting or opening.

    Returns:
        Steps, FAR for none, and the target of what is fetched.
    """
    terrain = stations[s, Station.TERRAIN]
    if terrain == NOTHING or scratch.taken[s] == 1 or scratch.barred[i, s] == 1:
        return FAR, NOTHING
    if terrain == Terrain.POT:
        return travel(s, cell, scratch) if scratch.needs[s, Need.START] == 1 else FAR, NOTHING
    if terrain == Terrain.GATE:
        steps = gate_time(s, i, stations, players, cells, floor, limit, scratch)
        return steps - GATE_BONUS if steps < FAR else FAR, NOTHING
    item = item_at(s, stations, cells)
    if item == 0:
        return FAR, NOTHING
    return fetch_time(s, i, item, cell, stations, stands, cells, scratch)


@kernel
def assign(limit, stations, stands, gates, floor, players, cells, trust, scratch):
    """Give jobs to empty hands, the pair of player and job that takes the least time first. Mutates: scratch."""
    for _ in range(players.shape[0]):
        least, who, what, where = FAR, NOTHING, NOTHING, NOTHING
        for i in range(players.shape[0]):
            if players[i, Player.HAND] != Item.NONE or scratch.goals[i, Goal.STATION] != NOTHING or trust[i] != KIN:
                continue
            cell = floor[players[i, Player.Y], players[i, Player.X]]
            for s in range(stations.shape[0]):
                steps, target = job_time(s, i, cell, limit, stations, stands, floor, players, cells, scratch)
                if steps < least:
                    least, who, what, where = steps, i, s, target
        if who == NOTHING:
            return
        cell = floor[players[who, Player.Y], players[who, Player.X]]
        send(who, what, 2, cell, scratch)
        terrain = stations[what, Station.TERRAIN]
        if terrain == Terrain.POT:
            scratch.needs[what, Need.START] = 0
        elif terrain != Terrain.GATE:
            settle(what, where, stations, cells, scratch)
        else:
            scratch.goals[who, Goal.RANK] = 4
        if scratch.goals[who, Goal.OPENED] == 1:
            open_for_oneself(who, cell, gates, scratch)


@kernel
def settle(s, target, stations, cells, scratch):
    """Remove a thing that a player goes to fetch from the needs. Mutates: scratch."""
    item = item_at(s, stations, cells)
    if stations[s, Station.TERRAIN] == Terrain.COUNTER:
        scratch.taken[s] = 1
        scratch.loose[item] -= 1
    if item == SOUP:
        return
    now = column_of(item, False)
    scratch.needs[target, now if scratch.needs[target, now] > 0 or item == DISH else column_of(item, True)] -= 1


@kernel
def clear_hands(stations, stands, floor, players, cells, trust, scratch):
    """Put down unneeded things if a dish or soup waits for empty hands. Mutates: scratch."""
    waiting = scratch.loose[SOUP] > 0
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.POT:
            wants = scratch.needs[s, Need.DISH] > 0 or scratch.needs[s, Need.START] > 0
            waiting = waiting or wants or scratch.needs[s, Need.ONIONS] + scratch.needs[s, Need.TOMATOES] > 0
    for i in range(players.shape[0]):
        if not waiting or trust[i] != KIN or players[i, Player.HAND] == Item.NONE:
            continue
        if scratch.goals[i, Goal.RANK] > 2:
            continue
        cell = floor[players[i, Player.Y], players[i, Player.X]]
        c = best_counter(i, NOTHING, cell, stations, stands, cells, scratch)
        if c != NOTHING:
            scratch.taken[c] = 1
            send(i, c, 2, cell, scratch)
            return


@kernel
def is_walk(item, i, cell, stations, scratch):
    """Return whether a player walks to the pot that needs its thing now."""
    target = best_pot(item, False, cell, stations, scratch)
    return target != NOTHING and travel(target, cell, scratch) < FAR and scratch.barred[i, target] == 0


@kernel
def keep_clear(i, item, cell, stations, stands, cells, scratch):
    """In relief nothing is handed over on the last counter where soup is still to come. Mutates: scratch."""
    s = scratch.goals[i, Goal.STATION]
    if scratch.relief[0] == 0 or item == SOUP or s == NOTHING or stations[s, Station.TERRAIN] != Terrain.COUNTER:
        return
    scratch.taken[s] = 0
    if has_room(item, cell, stations, stands, cells, scratch):
        scratch.taken[s] = 1
    else:
        scratch.goals[i, Goal.STATION] = NOTHING


@kernel
def relieve(stations, stands, floor, players, cells, trust, scratch):
    """Players without a goal clear counters between rooms, or put down what can go nowhere. Mutates: scratch."""
    for i in range(players.shape[0]):
        if trust[i] != KIN or scratch.goals[i, Goal.STATION] != NOTHING:
            continue
        cell = floor[players[i, Player.Y], players[i, Player.X]]
        c = best_counter(i, NOTHING, cell, stations, stands, cells, scratch)
        if c != NOTHING and players[i, Player.HAND] == Item.NONE:
            c = (
                NOTHING
                if is_meeting_place(c, stands, scratch)
                else nearest_crowded(i, cell, stations, stands, cells, scratch)
            )
        if c != NOTHING:
            scratch.taken[c] = 1
            send(i, c, 1, cell, scratch)


@kernel
def nearest_crowded(i, cell, stations, stands, cells, scratch):
    """Find the counter between rooms on which something else than soup lies that no player is going to take."""
    best, least = NOTHING, FAR
    for s in range(stations.shape[0]):
        item = item_at(s, stations, cells) if stations[s, Station.TERRAIN] == Terrain.COUNTER else Item.NONE
        if (
            item != Item.NONE
            and item != SOUP
            and scratch.taken[s] == 0
            and scratch.barred[i, s] == 0
            and scratch.fields[s, cell] < least
        ):
            if is_meeting_place(s, stands, scratch):
                best, least = s, scratch.fields[s, cell]
    return best


@kernel
def take_stock(tables, static, k, players, cells, trust, claimed, scratch):
    """Find ways and needs of one kitchen, and send full hands to where their things go. Mutates: scratch."""
    stations, stands, gates = static.stations[k], static.stands[k], static.gates[k]
    floor, times, goals = tables.floor[k], tables.times[k], scratch.goals
    survey(stations, stands, gates, tables.neighbours[k], floor, players, cells, trust, scratch)
    find_carries(stations, stands, static.regions[k], floor, players, scratch)
    list_needs(stations, floor, players, cells, tables.values[k], times, tables.params[Param.AUTO_START], scratch)
    count_loose(stations, players, cells, claimed, scratch)
    for i in range(players.shape[0]):
        goals[i] = 0
        goals[i, Goal.STATION] = NOTHING
    for item in (SOUP, DISH, ONION, TOMATO):
        for later in (False, True):  # in relief those come first who walk to where their things are needed
            for i in range(players.shape[0]):
                cell = floor[players[i, Player.Y], players[i, Player.X]]
                if players[i, Player.HAND] != item or goals[i, Goal.RANK] > 0:
                    continue
                if later or scratch.relief[0] == 0 or item == SOUP or is_walk(item, i, cell, stations, scratch):
                    send_carrier(i, item, cell, stations, stands, cells, scratch)
                    keep_clear(i, item, cell, stations, stands, cells, scratch)


@kernel
def assign_env(tables, static, k, players, cells, trust, claimed, turn, scratch, actions):
    """Decide for one kitchen. Mutates: scratch, actions (N,)."""
    stations, stands, gates = static.stations[k], static.stands[k], static.gates[k]
    neighbours, floor, times = tables.neighbours[k], tables.floor[k], tables.times[k]
    params, goals, n = tables.params, scratch.goals, players.shape[0]
    helpers = 0
    for i in range(n):
        helpers += trust[i] == KIN
    scratch.gate[0] = GATE_COST if helpers > 1 else LOCKED_IN
    take_stock(tables, static, k, players, cells, trust, claimed, scratch)
    assign(tables.frames[k, Frame.GATE_LIMIT], stations, stands, gates, floor, players, cells, trust, scratch)
    clear_hands(stations, stands, floor, players, cells, trust, scratch)
    if scratch.relief[0] == 1:
        relieve(stations, stands, floor, players, cells, trust, scratch)
    for i in range(n):
        s = goals[i, Goal.STATION]
        acts = s != NOTHING and trust[i] == KIN and can_act(i, s, players, stations, cells, times, params)
        actions[i] = INTERACT if acts else STAY
    scratch.steps[:] = NOTHING
    if turn >= PASSING:
        make_way(turn - PASSING, stations, stands, neighbours, gates, floor, players, cells, trust, scratch)
    move_together(players, neighbours, stations, gates, floor, cells, turn, trust, scratch, actions)
