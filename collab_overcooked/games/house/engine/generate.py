"""Homes drawn at random: rooms that fill a rectangle, doors between them, furniture, and the ways to all places."""

from __future__ import annotations

from collab_overcooked.games.house.engine.constants import HANDS, NOTHING, Agent, Kind, Param, Place, Room, Verb
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below

UNREACHED = 30000
MIN_SIDE = 3  # cells of the shorter side of a room


@kernel
def shuffle(values, count, rng):
    """The first numbers come in any order, all alike. Mutates: values, rng."""
    for k in range(count - 1, 0, -1):
        other = draw_below(rng, k + 1)
        values[k], values[other] = values[other], values[k]


@kernel
def draw_index(weights, rng):
    """A place is drawn by its weight. Mutates: rng."""
    total = 0
    for k in range(weights.shape[0]):
        total += weights[k]
    left = draw_below(rng, total)
    for k in range(weights.shape[0]):
        left -= weights[k]
        if left < 0:
            return k
    return 0


@kernel
def split_rooms(rects, n_rooms, width, height, rng):
    """The longest rectangle is cut near its middle until there are enough. Mutates: rects, rng."""
    rects[0, 0], rects[0, 1], rects[0, 2], rects[0, 3] = 1, 1, width - 2, height - 2
    for count in range(1, n_rooms):
        best, longest = 0, 0
        for k in range(count):
            w, h = rects[k, 2] - rects[k, 0] + 1, rects[k, 3] - rects[k, 1] + 1
            size = w * h if max(w, h) > 2 * MIN_SIDE else 0
            if size > longest:
                best, longest = k, size
        side = 0 if rects[best, 2] - rects[best, 0] >= rects[best, 3] - rects[best, 1] else 1
        first, last = rects[best, side], rects[best, side + 2]
        length = last - first + 1
        low = max(MIN_SIDE, (2 * length) // 5)
        wall = first + low + draw_below(rng, max(length - 2 * low, 1))
        for k in range(4):
            rects[count, k] = rects[best, k]
        rects[best, side + 2] = wall - 1
        rects[count, side] = wall + 1


@kernel
def lay_rooms(tables, state, b, rects, scratch):
    """The rooms get the rectangles in any order; all other cells are wall. Mutates: state, scratch."""
    width, n_rooms = tables.params[Param.GRID_WIDTH], state.rooms.shape[1]
    for k in range(n_rooms):
        scratch[k] = k
    shuffle(scratch, n_rooms, state.rng[b])
    state.cells[b, :] = NOTHING
    for r in range(n_rooms):
        rect = rects[scratch[r]]
        state.rooms[b, r, Room.TYPE] = tables.room_types[r]
        for k in range(4):
            state.rooms[b, r, Room.LEFT + k] = rect[k]
        for y in range(rect[1], rect[3] + 1):
            for x in range(rect[0], rect[2] + 1):
                state.cells[b, y * width + x] = r


@kernel
def door_sides(cells, cell, width, way):
    """A door could be where a wall has floor of two rooms on opposite sides; returns both, or NOTHING."""
    one, other = cell - (1 if way == 0 else width), cell + (1 if way == 0 else width)
    if cells[cell] != NOTHING or one < 0 or other >= cells.shape[0]:
        return NOTHING, NOTHING
    return cells[one], cells[other]


@kernel
def is_wanted_door(one, other, connecting, groups):
    """A door leads from one room to another, at first to one that cannot be reached yet."""
    if one == NOTHING or other == NOTHING or one == other:
        return False
    return not connecting or groups[one] != groups[other]


@kernel
def cut_doors(tables, state, b, scratch):
    """Doors are drawn until all rooms are connected, then some more. Mutates: state, scratch."""
    cells, width, n_rooms, rng = state.cells[b], tables.params[Param.GRID_WIDTH], state.rooms.shape[1], state.rng[b]
    for r in range(n_rooms):
        scratch[r] = r  # the group of connected rooms that it belongs to
    for count in range(n_rooms - 1 + tables.params[Param.DOORS]):
        candidates, door, low, high = 0, NOTHING, 0, 0
        for cell in range(cells.shape[0]):
            for way in range(2):
                one, other = door_sides(cells, cell, width, way)
                if not is_wanted_door(one, other, count < n_rooms - 1, scratch):
                    continue
                candidates += 1
                if draw_below(rng, candidates) == 0:
                    door, low, high = cell, min(one, other), max(one, other)
        if door == NOTHING:
            return
        cells[door] = low
        group = scratch[high]
        for r in range(n_rooms):
            if scratch[r] == group:
                scratch[r] = scratch[low]


@kernel
def random_cell(state, b, r, width):
    """A cell of a room, all alike; never a doorway. Mutates: state.rng."""
    room, rng = state.rooms[b, r], state.rng[b]
    x = room[Room.LEFT] + draw_below(rng, room[Room.RIGHT] - room[Room.LEFT] + 1)
    y = room[Room.TOP] + draw_below(rng, room[Room.BOTTOM] - room[Room.TOP] + 1)
    return y * width + x


@kernel
def set_place(state, b, p, kind, name, room, cell, fits):
    """A place has a kind, a room, a cell and room for things; containers are closed. Mutates: state.places."""
    place = state.places[b, p]
    place[Place.KIND] = kind
    place[Place.CLASS] = name
    place[Place.ROOM] = room
    place[Place.CELL] = cell
    place[Place.OPEN] = 0 if kind == Kind.CONTAINER else 1
    place[Place.FREE] = fits


@kernel
def furnish(tables, state, b):
    """Centres come first, then furniture at random cells of its rooms. Mutates: state."""
    width, n_rooms = tables.params[Param.GRID_WIDTH], state.rooms.shape[1]
    state.places[b, :, :] = 0
    for r in range(n_rooms):
        room = state.rooms[b, r]
        x, y = (room[Room.LEFT] + room[Room.RIGHT]) // 2, (room[Room.TOP] + room[Room.BOTTOM]) // 2
        set_place(state, b, r, Kind.CENTRE, NOTHING, r, y * width + x, 0)
    for k in range(tables.furniture.shape[0]):
        row = tables.furniture[k]
        cell = random_cell(state, b, row[0], width)
        missing = row[4] == 1 and draw_below(state.rng[b], 2) == 0
        set_place(state, b, n_rooms + k, 0 if missing else row[1], row[2], row[0], cell, row[3])


@kernel
def measure_ways(state, b, p, width, queue):
    """The way from every cell to a place, over floor and through doors; none to one that is not there.

    Mutates: state.dist, queue.
    """
    cells, dist = state.cells[b], state.dist[b, p]
    dist[:] = 0 if state.places[b, p, Place.KIND] == Kind.NONE else UNREACHED
    if state.places[b, p, Place.KIND] == Kind.NONE:
        return
    start = state.places[b, p, Place.CELL]
    dist[start], queue[0] = 0, start
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        for k in range(4):
            beside = cell + (-width if k == 0 else width if k == 1 else 1 if k == 2 else -1)
            if cells[beside] != NOTHING and dist[beside] == UNREACHED:
                dist[beside] = dist[cell] + 1
                queue[tail] = beside
                tail += 1


@kernel
def make_house(tables, state, b, rects, scratch):
    """A home has rooms, doors, furniture and the ways to it. Mutates: state, rects, scratch."""
    width = tables.params[Param.GRID_WIDTH]
    split_rooms(rects, state.rooms.shape[1], width, state.cells.shape[1] // width, state.rng[b])
    lay_rooms(tables, state, b, rects, scratch)
    cut_doors(tables, state, b, scratch)
    furnish(tables, state, b)
    for p in range(state.rooms.shape[1] + tables.furniture.shape[0]):
        measure_ways(state, b, p, width, scratch)


@kernel
def place_agents(tables, state, b, scratch):
    """Agents start empty-handed in different rooms, as far as there are enough. Mutates: state, scratch."""
    n_rooms = state.rooms.shape[1]
    for r in range(n_rooms):
        scratch[r] = r
    shuffle(scratch, n_rooms, state.rng[b])
    for i in range(state.agents.shape[1]):
        agent = state.agents[b, i]
        agent[:] = 0
        agent[Agent.CELL] = random_cell(state, b, scratch[i % n_rooms], tables.params[Param.GRID_WIDTH])
        agent[Agent.VERB] = Verb.WAIT
        agent[Agent.ROOM] = NOTHING
        for hand in range(HANDS):
            agent[Agent.LEFT_HAND + hand] = NOTHING
