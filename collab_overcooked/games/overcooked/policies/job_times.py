"""Times of jobs for players with empty hands: fetching needed things, and opening gates for others."""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.constants import NOTHING, Item, Player, Terrain, Thing
from collab_overcooked.games.overcooked.policies.assignment_arrays import (
    AHEAD,
    DISH,
    FAR,
    GATE_BONUS,
    ONION,
    SOUP,
    TOMATO,
    Goal,
    Need,
    Station,
)
from collab_overcooked.games.overcooked.policies.distances import is_same_side, travel
from collab_overcooked.games.overcooked.policies.full_hands import column_of, is_meeting_place, is_shared, send
from collab_overcooked.kernels.jit import kernel


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
    return free > (1 if item != DISH and dishes > scratch.loose[DISH] else 0)


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
