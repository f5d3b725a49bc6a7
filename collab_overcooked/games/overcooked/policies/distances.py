"""Steps of players and things to stations, around closed gates and strangers, and over counters."""

from __future__ import annotations

from collab_overcooked.games.overcooked.engine.constants import NOTHING, Item, Player, Terrain, Thing
from collab_overcooked.games.overcooked.policies.assignment_arrays import FAR, HAND_OVER, IN_THE_WAY, Station
from collab_overcooked.kernels.arrays import copy_numbers
from collab_overcooked.kernels.jit import kernel


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
def is_shut(cell, stations, gates, cells):
    """Return whether a closed gate stands on a cell of the floor."""
    s = gates[cell]
    return s != NOTHING and cells[stations[s, Station.Y], stations[s, Station.X], Thing.ITEM] != Item.OPEN


@kernel
def shut(stations, gates, floor, players, cells, trust, passable):
    """Mark the cells that one can walk on: not closed gates, nor where a stranger stands in the way.

    Mutates: passable.

    Returns:
        Whether any is shut.
    """
    closed = False
    for cell in range(passable.shape[0]):
        passable[cell] = not is_shut(cell, stations, gates, cells)
        closed = closed or passable[cell] == 0
    for i in range(players.shape[0]):
        if trust[i] == IN_THE_WAY:
            passable[floor[players[i, Player.Y], players[i, Player.X]]] = 0
            closed = True
    return closed


@kernel
def survey(stations, stands, gates, neighbours, floor, players, cells, trust, scratch):
    """Find the ways to all stations, with gates and strangers as they are and with all ways open. Mutates: scratch."""
    passable = scratch.passable
    closed = shut(stations, gates, floor, players, cells, trust, passable)
    for s in range(stations.shape[0]):
        if stations[s, Station.TERRAIN] != NOTHING:
            fill_field(stands[s], neighbours, passable, scratch.fields[s], scratch.queue)
    passable[:] = 1
    for s in range(stations.shape[0]):
        if not closed:
            copy_numbers(scratch.fields[s], scratch.opened[s])
        elif stations[s, Station.TERRAIN] != NOTHING:
            fill_field(stands[s], neighbours, passable, scratch.opened[s], scratch.queue)


@kernel
def travel(s, cell, scratch):
    """Return the steps of a player to a station; closed gates on the way take longer."""
    return min(scratch.fields[s, cell], scratch.opened[s, cell] + scratch.gate[0])


@kernel
def find_carries(stations, stands, regions, floor, players, scratch):
    """Find how long things take to pots and serving cells, handed over on counters where no way leads there.

    Nothing is handed over to a part of the floor without a player. Mutates: scratch.
    """
    carries, manned, divided = scratch.carries, scratch.passable, False
    manned[:] = 0
    for i in range(players.shape[0]):
        here = regions[floor[players[i, Player.Y], players[i, Player.X]]]
        for cell in range(regions.shape[0]):
            manned[cell] = manned[cell] == 1 or regions[cell] == here
            divided = divided or regions[cell] != here
    for s in range(stations.shape[0]):
        terrain = stations[s, Station.TERRAIN]
        if terrain != Terrain.POT and terrain != Terrain.SERVING:
            continue
        for cell in range(carries.shape[1]):
            carries[s, cell] = travel(s, cell, scratch)
        changed = divided
        while changed:
            changed = False
            for c in range(stations.shape[0]):
                if stations[c, Station.TERRAIN] == Terrain.COUNTER:
                    changed = hand_over(stands[c], manned, carries[s], scratch.fields[c]) or changed


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
def is_same_side(s, stand, cell, scratch):
    """Return whether a player gets to a side of a station, gates opened: both cells lead to the same stations."""
    for other in range(scratch.opened.shape[0]):
        if (scratch.opened[other, stand] < FAR) != (scratch.opened[other, cell] < FAR):
            return False
    return scratch.opened[s, cell] < FAR
