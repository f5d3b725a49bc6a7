"""The needs of pots, and targets of players with full hands."""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.constants import MAX_INGREDIENTS, NOTHING, Item, Player, Terrain, Thing
from collab_overcooked.games.overcooked.engine.rules import ingredients_in, is_full, is_idle
from collab_overcooked.games.overcooked.policies.assignment_arrays import (
    AHEAD,
    DISH,
    FAR,
    HAND_OVER,
    NEED_DISH,
    NEED_LATER,
    NEED_NOW,
    SOUP,
    TOMATO,
    Goal,
    Need,
    Station,
)
from collab_overcooked.games.overcooked.policies.distances import is_same_side, travel
from collab_overcooked.kernels.jit import kernel


@kernel
def is_supplied(terrain, pot, stations, floor, players, scratch):
    """Return whether players can bring a pot what a kind of dispenser has, over counters if necessary."""
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] != terrain:
            continue
        for i in range(players.shape[0]):
            cell = floor[players[i, Player.Y], players[i, Player.X]]
            if scratch.opened[s, cell] < FAR and scratch.carries[pot, cell] < FAR:
                return True
    return False


@kernel
def best_soup(pot, values, auto_start, has_onions, has_tomatoes, needs, onions, tomatoes):
    """Of all soups that the content can still become the one that pays most is made; of equal ones the smallest.

    What no player can bring is not put in. Pots that start by themselves only do so with three ingredients. Where
    nothing pays any more, onions fill the pot, or tomatoes where these are all there is.
    Mutates: needs, at the columns of missing onions and tomatoes.
    """
    most, left = 0, MAX_INGREDIENTS - ingredients_in(pot)
    needs[onions], needs[tomatoes] = left, 0
    if has_tomatoes and not has_onions:
        needs[onions], needs[tomatoes] = 0, left
    for o in range(MAX_INGREDIENTS + 1):
        for t in range(MAX_INGREDIENTS + 1 - o):
            if o < pot[Thing.ONIONS] or t < pot[Thing.TOMATOES] or values[o, t] < most or values[o, t] == 0:
                continue
            if (o > pot[Thing.ONIONS] and not has_onions) or (t > pot[Thing.TOMATOES] and not has_tomatoes):
                continue
            missing = o + t - ingredients_in(pot)
            if auto_start == 1 and missing < left:
                continue
            if values[o, t] > most or missing < needs[onions] + needs[tomatoes]:
                most = values[o, t]
                needs[onions], needs[tomatoes] = o - pot[Thing.ONIONS], t - pot[Thing.TOMATOES]


@kernel
def list_needs(stations, floor, players, cells, values, times, auto_start, scratch):
    """Say of every pot what it needs. Mutates: scratch."""
    needs = scratch.needs
    for s in range(stations.shape[0]):
        needs[s] = 0
        if stations[s, Station.TERRAIN] != Terrain.POT:
            continue
        pot = cells[stations[s, Station.Y], stations[s, Station.X]]
        has_onions = is_supplied(Terrain.ONIONS, s, stations, floor, players, scratch)
        has_tomatoes = is_supplied(Terrain.TOMATOES, s, stations, floor, players, scratch)
        if not is_full(pot):
            best_soup(pot, values, auto_start, has_onions, has_tomatoes, needs[s], Need.ONIONS, Need.TOMATOES)
        complete = needs[s, Need.ONIONS] + needs[s, Need.TOMATOES] == 0
        if not complete:
            continue
        needs[s, Need.START] = is_idle(pot)
        needs[s, Need.DISH] = 1
        time = times[pot[Thing.ONIONS], pot[Thing.TOMATOES]]
        needs[s, Need.READY] = max(time - max(pot[Thing.TICK], 0), 0)
        onions, tomatoes = Need.NEXT_ONIONS, Need.NEXT_TOMATOES
        best_soup(scratch.empty, values, auto_start, has_onions, has_tomatoes, needs[s], onions, tomatoes)


@kernel
def count_loose(stations, cells, claimed, scratch):
    """Count unclaimed things on counters. Mutates: scratch."""
    scratch.loose[:] = 0
    for s in range(stations.shape[0]):
        scratch.taken[s] = 0
        if stations[s, Station.TERRAIN] == Terrain.COUNTER:
            item = cells[stations[s, Station.Y], stations[s, Station.X], Thing.ITEM]
            scratch.taken[s] = claimed[s] == 1 and item != Item.NONE
            scratch.loose[item] += scratch.taken[s] == 0


@kernel
def column_of(item, later):
    """Return the column of ``Need`` for an item, now or for the next soup."""
    if item == DISH:
        return NEED_DISH
    first = NEED_LATER if later else NEED_NOW
    return first + (1 if item == TOMATO else 0)


@kernel
def best_pot(item, later, cell, stations, scratch):
    """Find the pot that needs an item and gets it soonest from a cell; waiting for soup counts like walking."""
    best, least = NOTHING, FAR
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] != Terrain.POT or scratch.needs[s, column_of(item, later)] <= 0:
            continue
        steps = scratch.carries[s, cell]
        if steps < FAR and (item == DISH or later):
            steps = max(steps, scratch.needs[s, Need.READY])
        if steps < least:
            best, least = s, steps
    return best


@kernel
def best_serving(cell, stations, scratch):
    """Find the serving cell that a soup gets to soonest."""
    best, least = NOTHING, FAR
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] == Terrain.SERVING and scratch.carries[s, cell] < least:
            best, least = s, scratch.carries[s, cell]
    return best


@kernel
def is_shared(i, c, target, scratch):
    """Return whether a player other than one gets to a counter and to a target."""
    for j in range(scratch.barred.shape[0]):
        if j != i and scratch.barred[j, c] == 0 and scratch.barred[j, target] == 0:
            return True
    return False


@kernel
def hand_over_time(i, c, target, cell, stands, scratch):
    """Return the steps of a thing from a counter to a target in other hands, FAR if no other player gets to both.

    Steps count twice where the player itself only lacks a way past a teammate: it goes as near as possible.
    """
    if not is_shared(i, c, target, scratch):
        return FAR
    onward = FAR
    for stand in stands[c]:
        if stand != NOTHING:
            onward = min(onward, scratch.carries[target, stand])
    return HAND_OVER + (2 * onward if travel(target, cell, scratch) < FAR else onward)


@kernel
def best_counter(i, target, cell, stations, stands, cells, scratch):
    """Find the empty counter on which a thing is handed over for a target, or put out of the way without one."""
    best, least = NOTHING, FAR
    for c in range(stations.shape[0]):
        if stations[c, Station.TERRAIN] != Terrain.COUNTER or scratch.taken[c] == 1 or scratch.barred[i, c] == 1:
            continue
        if cells[stations[c, Station.Y], stations[c, Station.X], Thing.ITEM] != Item.NONE:
            continue
        steps = scratch.fields[c, cell]
        if target != NOTHING:
            steps += hand_over_time(i, c, target, cell, stands, scratch)
        elif is_meeting_place(c, stands, scratch):
            steps += AHEAD  # better left free for handing over
        if steps < least:
            best, least = c, steps
    return best


@kernel
def is_meeting_place(c, stands, scratch):
    """Return whether a counter is reached from parts of the floor that are not connected."""
    first = NOTHING
    for stand in stands[c]:
        if stand == NOTHING:
            continue
        if first == NOTHING:
            first = stand
        elif not is_same_side(c, first, stand, scratch):
            return True
    return False


@kernel
def send(i, s, rank, cell, scratch):
    """A player goes for a station. Mutates: scratch."""
    scratch.goals[i, Goal.STATION] = s
    scratch.goals[i, Goal.RANK] = rank
    scratch.goals[i, Goal.OPENED] = 0
    if s != NOTHING and scratch.fields[s, cell] >= FAR and scratch.opened[s, cell] < FAR:
        scratch.goals[i, Goal.OPENED] = 1


@kernel
def send_carrier(i, item, cell, stations, stands, cells, scratch):
    """Players carry their things to where they are needed soonest, via a counter if necessary. Mutates: scratch."""
    rank = 1
    if item == SOUP:
        target, rank = best_serving(cell, stations, scratch), 5
    else:
        target = best_pot(item, False, cell, stations, scratch)
        if target != NOTHING:
            rank = 4 if item == DISH else 3
            scratch.needs[target, column_of(item, False)] -= 1
        elif item != DISH:
            target, rank = best_pot(item, True, cell, stations, scratch), 2
            if target != NOTHING:
                scratch.needs[target, column_of(item, True)] -= 1
    if target == NOTHING:
        return
    if travel(target, cell, scratch) >= FAR or scratch.barred[i, target] == 1:
        target = best_counter(i, target, cell, stations, stands, cells, scratch)
        if target != NOTHING:
            scratch.taken[target] = 1
    send(i, target, rank, cell, scratch)
