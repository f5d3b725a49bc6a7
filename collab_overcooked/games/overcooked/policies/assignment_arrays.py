"""Arrays of task assignment: static information of the layouts, and scratch memory; and steps to stations.

Shape letters: K layouts, B environments, N players, S stations (cells that one can face), F floor and gate cells.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import allocate, array_of, copy_numbers
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.jit import kernel

from ..engine.compile import number_regions
from ..engine.constants import NOTHING, Action, Item, Player, Terrain, Thing

Array = np.ndarray
FAR = 1 << 12  # no way
HAND_OVER = 4  # steps that a change of hands costs beside the ways
GATE_COST = 6  # steps that a closed gate costs if another player may open it
LOCKED_IN = 80  # steps that it costs if no other player may: one who carries a thing could be stuck behind it
AHEAD = 6  # steps by which work for the soup after the next counts as longer
LAST_RESORT = 100  # steps by which a counter between rooms counts as further when it must be left free
GATE_BONUS = 12  # steps by which opening a gate for another player counts as shorter
BASE = 1 << 13  # of the joint cost, one digit a player
PASSING = 2  # plus its number, where the others make way for a player
MAX_PAIRED = 128  # cells of the largest floor on which two players look for a way past each other
STAY, INTERACT = int(Action.STAY), int(Action.INTERACT)
ONION, TOMATO, DISH, SOUP = int(Item.ONION), int(Item.TOMATO), int(Item.DISH), int(Item.SOUP)


class Station(IntEnum):
    """Columns of ``StaticInfo.stations`` (K, S, 3)."""

    TERRAIN = 0  # NOTHING in unused rows
    X = 1
    Y = 2


class Trust(IntEnum):
    """Relation of a player to the assigner: kin follow its decisions, strangers do not."""

    IN_THE_WAY = -1  # a stranger that stands still: its cell is like a closed gate
    STRANGER = 0
    KIN = 1


KIN, IN_THE_WAY = int(Trust.KIN), int(Trust.IN_THE_WAY)


class StaticInfo(NamedTuple):
    """Static information of a pool of layouts beyond its tables; int32."""

    stations: Array  # (K, S, 3) see Station, row by row
    stands: Array  # (K, S, 4) cell on which one faces the station by direction, NOTHING where there is no floor
    gates: Array  # (K, F) station of a gate's cell, NOTHING for plain floor
    regions: Array  # (K, F) part of the floor that a cell belongs to, all gates open


class Goal(IntEnum):
    """Columns of ``Scratch.goals`` (N, 4)."""

    STATION = 0  # what the player goes for, NOTHING for nothing
    RANK = 1  # urgency
    OPENED = 2  # 1 where the way leads through a gate that is closed
    CHOICE = 3  # move that is looked at


class Need(IntEnum):
    """Columns of ``Scratch.needs`` (S, 7), for pots."""

    ONIONS = 0  # missing now
    TOMATOES = 1
    DISH = 2  # 1 if one is needed and no player brings it
    READY = 3  # steps until the soup is ready
    NEXT_ONIONS = 4  # for the soup after this one
    NEXT_TOMATOES = 5
    START = 6  # 1 if a player has to start it


NEED_NOW, NEED_LATER, NEED_DISH = int(Need.ONIONS), int(Need.NEXT_ONIONS), int(Need.DISH)


class Scratch(NamedTuple):
    """Scratch memory for one environment at a time."""

    fields: Array = array_of("S", "F")  # steps from a cell to facing a station, gates as they are
    opened: Array = array_of("S", "F")  # the same with all gates open
    carries: Array = array_of("S", "F")  # steps of a thing from a cell to a station, by any hands
    gate: Array = array_of(1)  # steps that a closed gate costs
    relief: Array = array_of(1)  # 1 while nothing new has happened for long
    passable: Array = array_of("F")
    queue: Array = array_of("F")
    needs: Array = array_of("S", Need)
    goals: Array = array_of("N", Goal)
    empty: Array = array_of(Thing)  # a pot with nothing in it; never written
    loose: Array = array_of(Item)  # things on counters that are not yet counted for a need
    soups: Array = array_of(1)  # in hands and on counters
    taken: Array = array_of("S")  # 1 if a player already takes from or puts on a counter
    barred: Array = array_of("N", "S")  # 1 where a player never gets to a station, as it cannot pass the others
    order: Array = array_of("N")  # players by urgency
    choices: Array = array_of("N", 5, 2)  # cell after a move, and its cost
    steps: Array = array_of("N", fill=NOTHING)  # cell that a player has to move to, NOTHING for its own choice
    pairs: Array = array_of("pairs")  # 1 for cells of two players from which the first gets to its goal
    pair_queue: Array = array_of("pairs")


def make_static_info(tables: Any) -> StaticInfo:
    """Make the static information of a pool of layouts."""
    layouts = [_layout_info(terrain, floor) for terrain, floor in zip(tables.terrain, tables.floor, strict=True)]
    n_stations, n_cells = max(len(static[0]) for static in layouts), tables.neighbours.shape[1]
    stations = np.full((len(layouts), n_stations, len(Station)), NOTHING, np.int32)
    stands = np.full((len(layouts), n_stations, 4), NOTHING, np.int32)
    regions, gates = np.full((2, len(layouts), n_cells), NOTHING, np.int32)
    for k, (rows, sides) in enumerate(layouts):
        stations[k, : len(rows)], stands[k, : len(rows)] = rows, sides
        floor = tables.floor[k] != NOTHING
        regions[k, : floor.sum()] = number_regions(tables.terrain[k], (Terrain.FLOOR, Terrain.GATE))[floor]
        for s, (terrain, x, y) in enumerate(rows):
            if terrain == Terrain.GATE:
                gates[k, tables.floor[k, y, x]] = s
    return StaticInfo(stations, stands, gates, regions)


def _layout_info(terrain: Array, floor: Array) -> tuple[list[tuple[int, int, int]], list[list[int]]]:
    rows, sides = [], []
    height, width = terrain.shape
    for y, x in np.argwhere((terrain != Terrain.FLOOR) & (terrain != Terrain.WALL)).tolist():
        stands = [NOTHING] * 4
        for direction, (dx, dy) in enumerate(OFFSETS):
            if 0 <= x - dx < width and 0 <= y - dy < height:
                stands[direction] = int(floor[y - dy, x - dx])
        if any(stand != NOTHING for stand in stands):
            rows.append((int(terrain[y, x]), x, y))
            sides.append(stands)
    return rows, sides


def make_scratch(static: StaticInfo, n_players: int) -> Scratch:
    """Allocate scratch memory."""
    n_cells = static.gates.shape[1]
    pairs = n_cells**2 if n_cells <= MAX_PAIRED else 0
    return allocate(Scratch, {"S": static.stations.shape[1], "F": n_cells, "N": n_players, "pairs": pairs})


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
    """Find the ways to all stations, with gates and strangers as they are and with all ways open. Mutates: scratch.

    There are none to unused rows of stations, in which the ways of another layout might be left.
    """
    passable = scratch.passable
    closed = shut(stations, gates, floor, players, cells, trust, passable)
    for s in range(stations.shape[0]):
        fill_field(stands[s], neighbours, passable, scratch.fields[s], scratch.queue)
    passable[:] = 1
    for s in range(stations.shape[0]):
        if not closed:
            copy_numbers(scratch.fields[s], scratch.opened[s])
        else:
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
