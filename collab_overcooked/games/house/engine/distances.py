"""The distances from every cell of a home to all places, over floor and through doors."""

from __future__ import annotations

import numpy as np

from collab_overcooked.kernels.jit import kernel

from .constants import NOTHING, Kind, Place, Room

UNREACHED = 30000


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
def blocks_between(one, other, width):
    """The distance of two cells by columns and rows, as long as the way between them in a room without walls."""
    return abs(one % width - other % width) + abs(one // width - other // width)


@kernel
def find_gates(state, width, boxes, gates):
    """Gates are floor outside of all rooms' rectangles, and floor with floor beside it that is outside its rectangle.

    Mutates: boxes, gates.

    Returns:
        The number of gates.
    """
    cells, count = state.cells, 0
    boxes[:] = NOTHING
    for r in range(state.rooms.shape[0]):
        room = state.rooms[r]
        for y in range(room[Room.TOP], room[Room.BOTTOM] + 1):
            boxes[y * width + room[Room.LEFT] : y * width + room[Room.RIGHT] + 1] = r
    for cell in range(width, cells.shape[0] - width):
        is_gate = boxes[cell] == NOTHING
        for beside in (cell - width, cell + width, cell + 1, cell - 1):
            is_gate = is_gate or (cells[beside] != NOTHING and boxes[beside] != boxes[cell])
        if is_gate and cells[cell] != NOTHING:
            gates[count] = cell
            count += 1
    return count


@kernel
def measure_distances(state, width, scratch):
    """The distances from every cell to all places, over floor and through doors; none to places that are not there.

    Rooms are rectangles of plain floor, so it suffices to find the distances from gates to places by way of others,
    and to spread them over the rooms. A search from each place took three times as long or more.

    Mutates: state.dist, scratch (2, C).
    """
    boxes = scratch[0]
    gates = scratch[1]
    places = state.places
    dist = state.dist
    dist[:, :] = UNREACHED
    count = find_gates(state, width, boxes, gates)
    for p in range(places.shape[0]):
        cell = places[p, Place.CELL]
        if places[p, Place.KIND] != Kind.NONE:
            dist[cell, p] = 0
            for k in range(count):
                if boxes[gates[k]] == boxes[cell] and boxes[cell] != NOTHING:
                    dist[gates[k], p] = blocks_between(gates[k], cell, width)
    while join_gates(state.cells, width, boxes, gates[:count], dist):
        pass
    for r in range(state.rooms.shape[0]):
        spread_ways(state, r, width, gates[:count])
    for p in range(places.shape[0]):
        if places[p, Place.KIND] == Kind.NONE:
            dist[:, p] = 0


@kernel
def join_gates(cells, width, boxes, gates, dist):
    """A way to a place can lead through a gate beside, or another gate of the room. Mutates: dist."""
    lowered = False
    for cell in gates:
        for beside in (cell - width, cell + width, cell + 1, cell - 1):
            if cells[beside] != NOTHING:
                lowered = lower(dist[beside], dist[cell], 1) or lowered
        for other in gates:
            if boxes[other] == boxes[cell] and boxes[cell] != NOTHING:
                way = blocks_between(cell, other, width)
                lowered = lower(dist[other], dist[cell], way) or lowered
    return lowered


@kernel
def spread_ways(state, r, width, gates):
    """In a room, distances spread from gates and places along their rows, then down and up. Mutates: state.dist."""
    room = state.rooms[r]
    places = state.places
    dist = state.dist
    left = room[Room.LEFT]
    top = room[Room.TOP]
    right = room[Room.RIGHT]
    bottom = room[Room.BOTTOM]
    for gate in gates:
        y = gate // width
        if top <= y <= bottom and left <= gate % width <= right:
            for cell in range(y * width + left, y * width + right + 1):
                lower(dist[gate], dist[cell], abs(cell - gate))
    for p in range(places.shape[0]):
        x, y = places[p, Place.CELL] % width, places[p, Place.CELL] // width
        if top <= y <= bottom and left <= x <= right and places[p, Place.KIND] != Kind.NONE:
            for beside in range(left, right + 1):
                dist[y * width + beside, p] = abs(beside - x)
    distances = dist.reshape(dist.size)
    row = width * dist.shape[1]
    length = (right - left + 1) * dist.shape[1]
    first, last = (top * width + left) * dist.shape[1], (bottom * width + left) * dist.shape[1]
    for at in range(first + row, last + 1, row):
        lower(distances[at - row : at - row + length], distances[at : at + length], 1)
    for at in range(last - row, first - 1, -row):
        lower(distances[at + row : at + row + length], distances[at : at + length], 1)
