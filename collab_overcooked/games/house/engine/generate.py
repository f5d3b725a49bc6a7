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
def lay_rooms(tables, state, rects, scratch):
    """The rooms get the rectangles in any order; all other cells are wall. Mutates: state, scratch."""
    width, n_rooms = tables.params[Param.GRID_WIDTH], state.rooms.shape[0]
    for k in range(n_rooms):
        scratch[k] = k
    shuffle(scratch, n_rooms, state.rng)
    state.cells[:] = NOTHING
    for r in range(n_rooms):
        rect = rects[scratch[r]]
        state.rooms[r, Room.TYPE] = tables.room_types[r]
        for k in range(4):
            state.rooms[r, Room.LEFT + k] = rect[k]
        for y in range(rect[1], rect[3] + 1):
            for x in range(rect[0], rect[2] + 1):
                state.cells[y * width + x] = r


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
def cut_doors(tables, state, scratch):
    """Doors are drawn until all rooms are connected, then some more. Mutates: state, scratch."""
    cells, width, n_rooms, rng = state.cells, tables.params[Param.GRID_WIDTH], state.rooms.shape[0], state.rng
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
def random_cell(state, r, width):
    """A cell of a room, all alike; never a doorway. Mutates: state.rng."""
    room, rng = state.rooms[r], state.rng
    x = room[Room.LEFT] + draw_below(rng, room[Room.RIGHT] - room[Room.LEFT] + 1)
    y = room[Room.TOP] + draw_below(rng, room[Room.BOTTOM] - room[Room.TOP] + 1)
    return y * width + x


@kernel
def set_place(state, p, kind, name, room, cell, fits):
    """A place has a kind, a room, a cell and room for things; containers are closed. Mutates: state.places."""
    place = state.places[p]
    place[Place.KIND] = kind
    place[Place.CLASS] = name
    place[Place.ROOM] = room
    place[Place.CELL] = cell
    place[Place.OPEN] = 0 if kind == Kind.CONTAINER else 1
    place[Place.FREE] = fits


@kernel
def furnish(tables, state):
    """Centres come first, then furniture at random cells of its rooms. Mutates: state."""
    width, n_rooms = tables.params[Param.GRID_WIDTH], state.rooms.shape[0]
    state.places[:, :] = 0
    for r in range(n_rooms):
        room = state.rooms[r]
        x, y = (room[Room.LEFT] + room[Room.RIGHT]) // 2, (room[Room.TOP] + room[Room.BOTTOM]) // 2
        set_place(state, r, Kind.CENTRE, NOTHING, r, y * width + x, 0)
    for k in range(tables.furniture.shape[0]):
        row = tables.furniture[k]
        cell = random_cell(state, row[0], width)
        missing = row[4] == 1 and draw_below(state.rng, 2) == 0
        set_place(state, n_rooms + k, 0 if missing else row[1], row[2], row[0], cell, row[3])


@kernel
def measure_ways(state, width, scratch):
    """The ways from every cell to all places, over floor and through doors; none to places that are not there.

    Mutates: state.dist, scratch (2, C).
    """
    cells, places, dist = state.cells, state.places, state.dist
    dist[:, :] = UNREACHED
    for p in range(places.shape[0]):
        if places[p, Place.KIND] == Kind.NONE:
            dist[:, p] = 0
        else:
            measure_way(cells, places[p, Place.CELL], width, p, dist, scratch[0], scratch[1])


@kernel
def measure_way(cells, start, width, p, dist, ways, queue):
    """The ways to a place, nearest cells first; with selections instead of branches, which no processor can foresee.

    Mutates: dist, ways, queue.
    """
    for cell in range(cells.shape[0]):
        ways[cell] = NOTHING if cells[cell] == NOTHING else UNREACHED
    ways[start], queue[0] = 0, start
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        dist[cell, p] = ways[cell]
        for k in range(4):
            beside = cell + (-width if k == 0 else width if k == 1 else 1 if k == 2 else -1)
            is_new = ways[beside] == UNREACHED
            queue[tail] = beside
            ways[beside] = ways[cell] + 1 if is_new else ways[beside]
            tail += 1 if is_new else 0


@kernel
def make_house(tables, state, rects, scratch):
    """A home has rooms, doors and furniture. Mutates: state, rects, scratch."""
    width = tables.params[Param.GRID_WIDTH]
    split_rooms(rects, state.rooms.shape[0], width, state.cells.shape[0] // width, state.rng)
    lay_rooms(tables, state, rects, scratch)
    cut_doors(tables, state, scratch)
    furnish(tables, state)


@kernel
def place_agents(tables, state, scratch):
    """Agents start empty-handed in different rooms, as far as there are enough. Mutates: state, scratch."""
    n_rooms = state.rooms.shape[0]
    for r in range(n_rooms):
        scratch[r] = r
    shuffle(scratch, n_rooms, state.rng)
    for i in range(state.agents.shape[0]):
        agent = state.agents[i]
        agent[:] = 0
        agent[Agent.CELL] = random_cell(state, scratch[i % n_rooms], tables.params[Param.GRID_WIDTH])
        agent[Agent.VERB] = Verb.WAIT
        agent[Agent.ROOM] = NOTHING
        for hand in range(HANDS):
            agent[Agent.LEFT_HAND + hand] = NOTHING
