"""Distances of players and things in a kitchen: steps from every cell to facing every station."""

from __future__ import annotations

from typing import NamedTuple

from collab_overcooked.kernels.arrays import array_of, copy_numbers
from collab_overcooked.kernels.jit import kernel

from ..engine.constants import NOTHING, Player, Terrain
from .kitchen import IN_THE_WAY, Array, Station, is_shut, stores

FAR = 1 << 12  # no way
HAND_OVER = 4  # steps that a change of hands costs beside the walk


class Distances(NamedTuple):
    """Steps to stations, and where players stand, in one environment; shape letters as in ``kitchen``."""

    fields: Array = array_of("S", "F")  # steps from a cell to facing a station, gates as they are
    opened: Array = array_of("S", "F")  # the same with all gates open
    delivery: Array = array_of("S", "F")  # steps of a thing from a cell to a station, by any hands
    here: Array = array_of("N")  # cell of each player
    gate: Array = array_of(1)  # steps that a closed gate costs
    passable: Array = array_of("F")  # scratch
    queue: Array = array_of("F")  # scratch


@kernel
def fill_field(stands, neighbours, passable, field, queue):
    """Count the steps from every cell to facing a station: the last of them walks in its direction, or turns there.

    Mutates: field, queue.
    """
    for cell in range(field.shape[0]):
        field[cell] = FAR
    head, tail = 0, 0
    for direction in range(4):
        stand = stands[direction]
        if stand == NOTHING or passable[stand] == 0:
            continue
        back = neighbours[stand, direction ^ 1]
        for cell in (stand, back):
            if cell != NOTHING and passable[cell] == 1 and field[cell] == FAR:
                field[cell] = 1
                queue[tail] = cell
                tail += 1
    while head < tail:
        cell = queue[head]
        head += 1
        for direction in range(4):
            other = neighbours[cell, direction]
            if other != NOTHING and passable[other] == 1 and field[other] == FAR:
                field[other] = field[cell] + 1
                queue[tail] = other
                tail += 1


@kernel
def locate(kitchen, players, distances):
    """Find the cell that each player stands on. Mutates: distances.here."""
    for i in range(players.shape[0]):
        distances.here[i] = kitchen.floor[players[i, Player.Y], players[i, Player.X]]


@kernel
def shut(kitchen, cells, trust, distances):
    """Mark the cells that one can walk on: not closed gates, nor where another policy's player stands in the way.

    Mutates: distances.passable.

    Returns:
        Whether any is shut.
    """
    closed, passable = False, distances.passable
    for cell in range(passable.shape[0]):
        passable[cell] = not is_shut(kitchen, cells, cell)
        closed = closed or passable[cell] == 0
    for i in range(trust.shape[0]):
        if trust[i] == IN_THE_WAY:
            passable[distances.here[i]] = 0
            closed = True
    return closed


@kernel
def survey(kitchen, env, trust, distances):
    """Find the distances to all stations, with gates and other players as they are and with all of them open.

    Unused rows of stations become FAR, as those of another layout might be left in them.
    Mutates: distances.fields, distances.opened, distances.here.
    """
    stands = kitchen.stands
    neighbours = kitchen.neighbours
    passable = distances.passable
    queue = distances.queue
    locate(kitchen, env.players, distances)
    closed = shut(kitchen, env.cells, trust, distances)
    for s in range(stands.shape[0]):
        fill_field(stands[s], neighbours, passable, distances.fields[s], queue)
    passable[:] = 1
    for s in range(stands.shape[0]):
        if not closed:
            copy_numbers(distances.fields[s], distances.opened[s])
        else:
            fill_field(stands[s], neighbours, passable, distances.opened[s], queue)


@kernel
def travel(distances, s, cell):
    """Return the steps of a player to a station; closed gates on the way take longer."""
    return min(distances.fields[s, cell], distances.opened[s, cell] + distances.gate[0])


@kernel
def measure_delivery(kitchen, distances):
    """Find how long things take to pots and serving cells, handed over on counters where no way leads there.

    Nothing is handed over to a part of the floor without a player. Mutates: distances.delivery.
    """
    stations, regions, delivery = kitchen.stations, kitchen.regions, distances.delivery
    manned, divided = distances.passable, False
    manned[:] = 0
    for here in distances.here:
        for cell in range(regions.shape[0]):
            manned[cell] = manned[cell] == 1 or regions[cell] == regions[here]
            divided = divided or regions[cell] != regions[here]
    for s in range(stations.shape[0]):
        terrain = stations[s, Station.TERRAIN]
        is_target = terrain == Terrain.POT or terrain == Terrain.SERVING or stores(terrain)
        if not is_target or terrain == Terrain.COUNTER:
            continue
        for cell in range(delivery.shape[1]):
            delivery[s, cell] = travel(distances, s, cell)
        changed = divided
        while changed:
            changed = False
            for c in range(stations.shape[0]):
                if stations[c, Station.TERRAIN] == Terrain.COUNTER:
                    changed = (
                        hand_over(kitchen.stands[kitchen.ends[c]], manned, delivery[s], distances.fields[c]) or changed
                    )


@kernel
def hand_over(stands, manned, carry, field):
    """A thing put on a counter goes on from its best side. Mutates: carry.

    Returns:
        Whether any cell is nearer by that.
    """
    best = FAR
    for stand in stands:
        if stand != NOTHING and manned[stand]:
            best = min(best, carry[stand])
    changed = False
    for cell in range(carry.shape[0]):
        if field[cell] + HAND_OVER + best < carry[cell] and carry[cell] >= FAR:
            carry[cell] = field[cell] + HAND_OVER + best
            changed = True
    return changed


@kernel
def is_same_side(distances, s, stand, cell):
    """Return whether a player gets to a side of a station, gates opened: both cells lead to the same stations."""
    for other in range(distances.opened.shape[0]):
        if (distances.opened[other, stand] < FAR) != (distances.opened[other, cell] < FAR):
            return False
    return distances.opened[s, cell] < FAR


@kernel
def is_meeting_place(kitchen, distances, c):
    """Return whether a counter is reached from parts of the floor that are not connected, or belongs to belts."""
    first = NOTHING
    for stand in kitchen.stands[c]:
        if stand == NOTHING:
            continue
        if first == NOTHING:
            first = stand
        elif not is_same_side(distances, c, first, stand):
            return True
    return kitchen.fed[c] == 1 or kitchen.ends[c] != c
