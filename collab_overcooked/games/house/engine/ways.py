"""Ways over floor and through doors: those from the gates of rooms to all places are kept, all others follow from them.

Rooms are rectangles of plain floor, so a way within a room is as long as the distance by columns and rows, and any
other leads through a gate of the room.
"""

from __future__ import annotations

import numpy as np

from collab_overcooked.kernels.jit import kernel

from .constants import NOTHING, Agent, Kind, Param, Place, Room, Spot

UNREACHED = 30000
AWAY = -2  # room of places that do not exist or are outside of rooms' rectangles
NORTH, SOUTH, EAST, WEST, THROUGH = 1, 2, 4, 8, 16


@kernel
def lower(source, target, way):
    """Entries get the value of a source and the way to it where that is less; returns whether any did.

    Views, 16 bits and no branches let the compiler handle 16 entries at once. Mutates: target.
    """
    lowered = False
    for k in range(target.shape[0]):
        longer = np.int16(source[k] + way)
        lowered |= longer < target[k]
        target[k] = min(longer, target[k])
    return lowered


@kernel
def room_around(state, cell, x, y):
    """The room whose rectangle a cell is in; NOTHING for walls and for floor outside of all rectangles."""
    r = state.cells[cell]
    if r == NOTHING:
        return NOTHING
    room = state.rooms[r]
    inside = (room[Room.LEFT] <= x) & (x <= room[Room.RIGHT]) & (room[Room.TOP] <= y) & (y <= room[Room.BOTTOM])
    return r if inside else NOTHING


@kernel
def leads_out(state, x, y, r, width):
    """A cell of a room leads out if floor beside it is outside of the room's rectangle."""
    for beside_x, beside_y in ((x, y - 1), (x, y + 1), (x + 1, y), (x - 1, y)):
        cell = beside_y * width + beside_x
        if state.cells[cell] != NOTHING and room_around(state, cell, beside_x, beside_y) != r:
            return True
    return False


@kernel
def add_gate(state, count, x, y, r):
    """Gates that there is no space for are counted alone. Mutates: state.gates."""
    if count < state.gates.shape[0]:
        state.gates[count, Spot.X] = x
        state.gates[count, Spot.Y] = y
        state.gates[count, Spot.ROOM] = r
    return count + 1


@kernel
def find_gates(state, width):
    """Gates are cells of a room that lead out, room by room, then all floor outside of rooms' rectangles.

    Mutates: state.gates, state.first_gates.

    Returns:
        The number of gates.
    """
    cells, count, n_rooms = state.cells, 0, state.rooms.shape[0]
    for r in range(n_rooms):
        state.first_gates[r] = count
        room = state.rooms[r]
        for y in range(room[Room.TOP], room[Room.BOTTOM] + 1):
            for x in range(room[Room.LEFT], room[Room.RIGHT] + 1):
                inner = room[Room.TOP] < y < room[Room.BOTTOM] and room[Room.LEFT] < x < room[Room.RIGHT]
                if not inner and cells[y * width + x] == r and leads_out(state, x, y, r, width):
                    count = add_gate(state, count, x, y, r)
    state.first_gates[n_rooms] = count
    for y in range(1, cells.shape[0] // width - 1):
        for x in range(1, width - 1):
            cell = y * width + x
            if cells[cell] != NOTHING and room_around(state, cell, x, y) == NOTHING:
                count = add_gate(state, count, x, y, NOTHING)
    state.first_gates[n_rooms + 1] = count
    return count


@kernel
def find_spots(state, width):
    """Places have the column, row and room of their cells. Mutates: state.spots."""
    spots, places = state.spots, state.places
    spots[Spot.ROOM, :] = AWAY
    for p in range(places.shape[0]):
        cell = places[p, Place.CELL]
        x, y = cell % width, cell // width
        r = room_around(state, cell, x, y)
        spots[Spot.X, p] = x
        spots[Spot.Y, p] = y
        spots[Spot.ROOM, p] = r if r != NOTHING and places[p, Place.KIND] != Kind.NONE else AWAY


@kernel
def measure_ways(state, width):
    """Ways from gates lead to the places of their room, or on through the gates beside and those of their room.

    Mutates: state.spots, state.gates, state.first_gates, state.gate_ways.
    """
    find_spots(state, width)
    gates, ways, spots, places = state.gates, state.gate_ways, state.spots, state.places
    gates[:, :] = 0
    ways[:, :] = UNREACHED
    count = min(find_gates(state, width), gates.shape[0])
    for k in range(count):
        for p in range(places.shape[0]):
            way = abs(gates[k, Spot.X] - spots[Spot.X, p]) + abs(gates[k, Spot.Y] - spots[Spot.Y, p])
            is_there = way == 0 and places[p, Place.KIND] != Kind.NONE
            if is_there or gates[k, Spot.ROOM] == spots[Spot.ROOM, p]:
                ways[k, p] = way
    while join_gates(gates[:count], ways):
        pass


@kernel
def join_gates(gates, ways):
    """A way can lead through a gate beside, or another gate of the room; returns whether any got shorter.

    Mutates: ways.
    """
    lowered = False
    for k in range(gates.shape[0]):
        for other in range(gates.shape[0]):
            way = abs(gates[k, Spot.X] - gates[other, Spot.X]) + abs(gates[k, Spot.Y] - gates[other, Spot.Y])
            in_room = gates[k, Spot.ROOM] != NOTHING and gates[k, Spot.ROOM] == gates[other, Spot.ROOM]
            if way == 1 or (in_room and way > 0):
                lowered = lower(ways[k], ways[other], way) or lowered
    return lowered


@kernel
def gates_around(state, r, x, y):
    """Ways from a cell lead through the gates of its room; a gate outside of rooms is its own.

    Returns:
        The first of these gates, and the one after the last.
    """
    first = state.first_gates
    if r != NOTHING:
        return first[r], first[r + 1]
    for k in range(first[first.shape[0] - 2], first[first.shape[0] - 1]):
        if state.gates[k, Spot.X] == x and state.gates[k, Spot.Y] == y:
            return k, k + 1
    return 0, 0


@kernel
def way_to(tables, state, cell, p):
    """The number of cells of the shortest way from a cell to a place."""
    x, y = tables.positions[cell, 0], tables.positions[cell, 1]
    r, spots = room_around(state, cell, x, y), state.spots
    if spots[Spot.ROOM, p] == r:
        return abs(spots[Spot.X, p] - x) + abs(spots[Spot.Y, p] - y)
    first, end = gates_around(state, r, x, y)
    best = UNREACHED
    for k in range(first, end):
        best = min(best, abs(state.gates[k, Spot.X] - x) + abs(state.gates[k, Spot.Y] - y) + state.gate_ways[k, p])
    return best


@kernel
def write_room_ways(spots, x, y, r, ways):
    """The ways to places of the same room, all places alike so that the compiler handles 16 at once.

    Mutates: ways (W,).
    """
    columns, rows, rooms = spots[Spot.X], spots[Spot.Y], spots[Spot.ROOM]
    for p in range(ways.shape[0]):
        way = np.int16(abs(np.int16(columns[p] - x)) + abs(np.int16(rows[p] - y)))
        ways[p] = way if rooms[p] == r else ways[p]


@kernel
def write_ways(tables, state, cell, ways):
    """The ways from a cell to all places, as ``way_to`` finds them. Mutates: ways (W,)."""
    x, y = tables.positions[cell, 0], tables.positions[cell, 1]
    r = room_around(state, cell, x, y)
    first, end = gates_around(state, r, x, y)
    ways[:] = UNREACHED
    for k in range(first, end):
        lower(state.gate_ways[k], ways, abs(state.gates[k, Spot.X] - x) + abs(state.gates[k, Spot.Y] - y))
    write_room_ways(state.spots, np.int16(x), np.int16(y), np.int16(r), ways)


@kernel
def write_seat_ways(tables, state):
    """Agents know the ways to all places from where they are. Mutates: state.seat_ways."""
    for i in range(state.agents.shape[0]):
        write_ways(tables, state, state.agents[i, Agent.CELL], state.seat_ways[i])


@kernel
def sides_towards(x, y):
    """The sides on which a cell lies that is so many columns and rows away."""
    return NORTH * (y < 0) + SOUTH * (y > 0) + EAST * (x > 0) + WEST * (x < 0)


@kernel
def sides_to(tables, state, cell, p):
    """The sides of a cell to which a shortest way to a place leads, THROUGH for one that leaves the room there."""
    x, y = tables.positions[cell, 0], tables.positions[cell, 1]
    r, spots = room_around(state, cell, x, y), state.spots
    if spots[Spot.ROOM, p] == r:
        return sides_towards(spots[Spot.X, p] - x, spots[Spot.Y, p] - y)
    first, end = gates_around(state, r, x, y)
    best, sides = UNREACHED, 0
    for k in range(first, end):
        columns, rows = state.gates[k, Spot.X] - x, state.gates[k, Spot.Y] - y
        way = abs(columns) + abs(rows) + state.gate_ways[k, p]
        if way <= best and way < UNREACHED:
            towards = THROUGH if columns == 0 and rows == 0 else sides_towards(columns, rows)
            sides = towards | (sides if way == best else 0)
            best = way
    return sides


@kernel
def next_cell(tables, state, cell, p):
    """The cell beside to the north, south, east or west, the first on a shortest way; the cell itself without any."""
    sides, width = sides_to(tables, state, cell, p), tables.params[Param.GRID_WIDTH]
    way = way_to(tables, state, cell, p) if sides >= THROUGH else 0
    for k in range(4):
        beside = cell + (-width if k == 0 else width if k == 1 else 1 if k == 2 else -1)
        if sides < THROUGH and sides & (1 << k):
            return beside
        if sides >= THROUGH and 0 <= beside < state.cells.shape[0] and way_to(tables, state, beside, p) < way:
            return beside
    return cell
