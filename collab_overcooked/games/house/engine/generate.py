"""Homes drawn at random: rooms that fill a rectangle, doors between them, furniture, and tasks."""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below

from .constants import (
    HANDS,
    NOTHING,
    Agent,
    Family,
    Furniture,
    GameKind,
    Goal,
    Kind,
    Load,
    Param,
    Place,
    Rel,
    Role,
    Room,
    Side,
    Thing,
    Verb,
    World,
)

MIN_SIDE = 3  # cells of the shorter side of a room
ABSENT = int(Kind.NONE)  # plain: numba cannot unify an enum member with a number of an array


@kernel
def shuffle(values, count, rng):
    """The numbers from 0 on come in any order, all alike. Mutates: values, rng."""
    for k in range(count):
        values[k] = k
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
    rects[0, Side.LEFT], rects[0, Side.TOP] = 1, 1
    rects[0, Side.RIGHT], rects[0, Side.BOTTOM] = width - 2, height - 2
    for count in range(1, n_rooms):
        best, longest = 0, 0
        for k in range(count):
            w = rects[k, Side.RIGHT] - rects[k, Side.LEFT] + 1
            h = rects[k, Side.BOTTOM] - rects[k, Side.TOP] + 1
            size = w * h if max(w, h) > 2 * MIN_SIDE else 0
            if size > longest:
                best, longest = k, size
        rect = rects[best]
        is_wide = rect[Side.RIGHT] - rect[Side.LEFT] >= rect[Side.BOTTOM] - rect[Side.TOP]
        near, far = (Side.LEFT, Side.RIGHT) if is_wide else (Side.TOP, Side.BOTTOM)
        first, last = rect[near], rect[far]
        length = last - first + 1
        low = max(MIN_SIDE, (2 * length) // 5)
        wall = first + low + draw_below(rng, max(length - 2 * low, 1))
        for side in range(rects.shape[1]):
            rects[count, side] = rect[side]
        rect[far] = wall - 1
        rects[count, near] = wall + 1


@kernel
def lay_rooms(tables, state, rects, scratch):
    """The rooms get the rectangles in any order; all other cells are wall. Mutates: state, scratch."""
    width, n_rooms = tables.params[Param.GRID_WIDTH], state.rooms.shape[0]
    shuffle(scratch, n_rooms, state.rng)
    state.cells[:] = NOTHING
    for r in range(n_rooms):
        rect = rects[scratch[r]]
        state.rooms[r, Room.TYPE] = tables.room_types[r]
        for side in range(rects.shape[1]):
            state.rooms[r, Room.LEFT + side] = rect[side]
        for y in range(rect[Side.TOP], rect[Side.BOTTOM] + 1):
            for x in range(rect[Side.LEFT], rect[Side.RIGHT] + 1):
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
def list_walls(cells, walls):
    """Return the number of cells without floor, in order, where doors could be. Mutates: walls."""
    count = 0
    for cell in range(cells.shape[0]):
        if cells[cell] == NOTHING:
            walls[count] = cell
            count += 1
    return count


@kernel
def cut_doors(tables, state, scratch, walls):
    """Doors are drawn until all rooms are connected, then some more. Mutates: state, scratch, walls."""
    cells = state.cells
    width = tables.params[Param.GRID_WIDTH]
    n_rooms = state.rooms.shape[0]
    rng = state.rng
    n_walls = list_walls(cells, walls)
    for r in range(n_rooms):
        scratch[r] = r  # the group of connected rooms that it belongs to
    for count in range(n_rooms - 1 + tables.params[Param.DOORS]):
        candidates = 0
        door = NOTHING
        low = 0
        high = 0
        for cell in walls[:n_walls]:
            for way in range(2):
                one, other = door_sides(cells, cell, width, way)
                if not is_wanted_door(one, other, count < n_rooms - 1, scratch):
                    continue
                candidates += 1
                if draw_below(rng, candidates) == 0:
                    door = cell
                    low = min(one, other)
                    high = max(one, other)
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
        x = (room[Room.LEFT] + room[Room.RIGHT]) // 2
        y = (room[Room.TOP] + room[Room.BOTTOM]) // 2
        set_place(state, r, Kind.CENTRE, NOTHING, r, y * width + x, 0)
    for k in range(tables.furniture.shape[0]):
        row = tables.furniture[k]
        room = row[Furniture.ROOM]
        cell = random_cell(state, room, width)
        missing = row[Furniture.OPTIONAL] == 1 and draw_below(state.rng, 2) == 0
        kind = ABSENT if missing else row[Furniture.KIND]
        set_place(state, n_rooms + k, kind, row[Furniture.CLASS], room, cell, row[Furniture.FREE])


@kernel
def make_house(tables, state, rects, scratch):
    """A home has rooms, doors and furniture. Mutates: state, rects, scratch."""
    width = tables.params[Param.GRID_WIDTH]
    split_rooms(rects, state.rooms.shape[0], width, state.cells.shape[0] // width, state.rng)
    lay_rooms(tables, state, rects, scratch[0])
    cut_doors(tables, state, scratch[0], scratch[1])
    furnish(tables, state)


@kernel
def place_agents(tables, state, scratch):
    """Agents start empty-handed in different rooms, as far as there are enough. Mutates: state, scratch."""
    n_rooms = state.rooms.shape[0]
    shuffle(scratch, n_rooms, state.rng)
    for i in range(state.agents.shape[0]):
        agent = state.agents[i]
        agent[:] = 0
        agent[Agent.CELL] = random_cell(state, scratch[i % n_rooms], tables.params[Param.GRID_WIDTH])
        agent[Agent.VERB] = Verb.WAIT
        agent[Agent.ROOM] = NOTHING
        for hand in range(HANDS):
            agent[Agent.LEFT_HAND + hand] = NOTHING


ATTEMPTS, HIDING_ATTEMPTS = 200, 50  # draws of a goal until it is large enough; of a place until a thing fits
TRIPLE = 3  # classes of things of a kind in Transport
FULL = 5  # items of a goal as published; larger goals find more things
IN_VIEW = 50  # per cent of Transport's things that are seen on entering their room; a choice, nothing is published
ON_FURNITURE = 61  # per cent of Transport's targets
SPOTS = 3  # pieces of furniture of a room on which targets lie


@kernel
def make_task(tables, state, scratch):
    """A task is forced or drawn; the goal and the things are drawn for it. Mutates: state, scratch."""
    params = tables.params
    task = params[Param.TASK]
    if task == NOTHING:
        task = draw_below(state.rng, tables.families.shape[0])
    state.world[World.TASK] = task
    if params[Param.GAME] == GameKind.HOUSEWORK:
        make_housework(tables, state, task, scratch)
    else:
        make_transport(tables, state, task)


@kernel
def clear_task(tables, state):
    """There is nothing anywhere, and nothing is wanted. Mutates: state."""
    n_rooms = state.rooms.shape[0]
    state.things[:, :] = 0
    state.goals[:, :] = 0
    for g in range(state.goals.shape[0]):
        state.goals[g, Goal.CLASS] = NOTHING
    for k in range(tables.furniture.shape[0]):
        state.places[n_rooms + k, Place.FREE] = tables.furniture[k, Furniture.FREE]


@kernel
def find_place(state, name):
    """The first place of a class."""
    for p in range(state.places.shape[0]):
        if state.places[p, Place.CLASS] == name and state.places[p, Place.KIND] > Kind.CENTRE:
            return p
    return 0


@kernel
def make_housework(tables, state, task, scratch):
    """Goals are drawn until one asks for three things at least. Mutates: state, scratch."""
    goal = find_place(state, tables.families[task, Family.PLACE])
    state.world[World.GOAL] = goal
    for _ in range(ATTEMPTS):
        clear_task(tables, state)
        if draw_goal(tables, state, task, goal, scratch) >= 3:
            break
    state.places[goal, Place.FREE] = state.things.shape[0]  # a goal place holds all that could be brought to it
    shuffle_things(state)


@kernel
def draw_goal(tables, state, task, goal, scratch):
    """Classes, instances and counts of a goal; returns how many things it asks for. Mutates: state, scratch."""
    rng = state.rng
    most = tables.params[Param.TARGETS]
    n_classes = tables.families[task, Family.CLASSES]
    shuffle(scratch, n_classes, rng)
    chosen = min(1 + draw_index(tables.shares[task], rng), n_classes)
    total, used = 0, 0
    for g in range(chosen):
        pair = tables.families[task, 2 * scratch[g] :]
        name, limit = pair[Family.CLASS], pair[Family.MOST]
        limit += 1 + (1 if most > FULL else 0)
        amount = 1 + (draw_below(rng, 3) if limit > 2 and draw_below(rng, 2) == 0 else 0)
        instances, counted = amount + draw_below(rng, limit - amount + 1), 0
        for _ in range(instances):
            if used < state.things.shape[0] and hide_thing(tables, state, used, name, goal):
                counted += is_counted(tables, state, used)
                used += 1
        count = counted - 2 + draw_below(rng, 3)
        count = min(min(max(1, count), counted), most - total)
        if count > 0:
            state.goals[g, Goal.CLASS] = name
            state.goals[g, Goal.NEED] = count
            total += count
    close_gaps(state)
    return total


@kernel
def is_counted(tables, state, o):
    """Things in a dishwasher are overlooked when the published generator counts what could be wanted."""
    name = state.places[state.things[o, Thing.PARENT], Place.CLASS]
    return 0 if name == tables.params[Param.DISHWASHER] else 1


@kernel
def hide_thing(tables, state, o, name, goal):
    """A thing comes to a class of places and one of these, all alike, if it fits; never to the goal place.

    Mutates: state.
    """
    for _ in range(HIDING_ATTEMPTS):
        cls = draw_below(state.rng, tables.allowed.shape[1])
        if tables.allowed[name, cls] == 0:
            continue
        candidates, place = 0, NOTHING
        for p in range(state.rooms.shape[0], state.places.shape[0]):
            if state.places[p, Place.CLASS] == cls and state.places[p, Place.KIND] != Kind.NONE and p != goal:
                candidates += 1
                if draw_below(state.rng, candidates) == 0:
                    place = p
        if place != NOTHING and state.places[place, Place.FREE] > 0:
            state.places[place, Place.FREE] -= 1
            set_thing(state, o, name, Role.TARGET, place, 1)
            return True
    return False


@kernel
def set_thing(state, o, name, role, place, in_view):
    """A thing has a class and a role, and lies at a place. Mutates: state.things."""
    state.things[o, Thing.CLASS] = name
    state.things[o, Thing.ROLE] = role
    state.things[o, Thing.REL] = Rel.AT
    state.things[o, Thing.PARENT] = place
    state.things[o, Thing.IN_VIEW] = in_view


@kernel
def shuffle_things(state):
    """Numbers of things say nothing about them. Mutates: state.things, state.rng."""
    for o in range(state.things.shape[0] - 1, 0, -1):
        other = draw_below(state.rng, o + 1)
        for column in range(state.things.shape[1]):
            kept = state.things[o, column]
            state.things[o, column] = state.things[other, column]
            state.things[other, column] = kept


@kernel
def make_transport(tables, state, task):
    """Things of two triples, about 40 to 60 per cent of each, and containers in one or two rooms. Mutates: state."""
    rng = state.rng
    targets = tables.params[Param.TARGETS]
    n_rooms = state.rooms.shape[0]
    clear_task(tables, state)
    state.world[World.GOAL] = n_rooms
    first = targets * 4 // 10 + draw_below(rng, targets // 5 + 1)
    for o in range(targets):
        kind = draw_below(rng, TRIPLE) + (0 if o < first else TRIPLE)
        room = draw_room(tables, state, task, 0)
        lay_thing(tables, state, o, tables.families[task, Load.TARGET + kind], Role.TARGET, room)
        state.goals[kind, Goal.CLASS] = tables.families[task, Load.TARGET + kind]
        state.goals[kind, Goal.NEED] += 1
    close_gaps(state)
    rooms = draw_room(tables, state, task, 1), draw_room(tables, state, task, 1)
    for k in range(tables.params[Param.CONTAINERS]):
        o, kind = targets + k, Load.CONTAINER + draw_below(rng, TRIPLE)
        room = rooms[draw_below(rng, tables.params[Param.CONTAINER_ROOMS])]
        lay_thing(tables, state, o, tables.families[task, kind], Role.CONTAINER, room)


@kernel
def close_gaps(state):
    """Rows of the goal that ask for nothing come last. Mutates: state.goals."""
    kept = 0
    for g in range(state.goals.shape[0]):
        if state.goals[g, Goal.NEED] > 0:
            for column in range(state.goals.shape[1]):
                value = state.goals[g, column]
                state.goals[g, column] = 0 if column != Goal.CLASS else NOTHING
                state.goals[kept, column] = value
            kept += 1


@kernel
def draw_room(tables, state, task, role):
    """The second type of room has its share of things, living rooms have the others. Mutates: state.rng."""
    second = draw_below(state.rng, 1000) < tables.shares[task, role]
    room_type = tables.families[task, Load.ROOM] if second else tables.params[Param.LIVING_ROOM]
    candidates, room = 0, 0
    for r in range(state.rooms.shape[0]):
        if tables.room_types[r] == room_type:
            candidates += 1
            if draw_below(state.rng, candidates) == 0:
                room = r
    return room


@kernel
def lay_thing(tables, state, o, name, role, room):
    """A thing lies on one of a few pieces of furniture, or anywhere on the floor. Mutates: state."""
    width, rng = tables.params[Param.GRID_WIDTH], state.rng
    p = state.rooms.shape[0] + tables.furniture.shape[0] + o
    cell = random_cell(state, room, width)
    if role == Role.TARGET and draw_below(rng, 100) < ON_FURNITURE:
        spot = draw_below(rng, SPOTS)  # corners and the middle of a side stand for furniture
        rect = state.rooms[room]
        left, right = rect[Room.LEFT], rect[Room.RIGHT]
        x = left if spot == 0 else right if spot == 1 else (left + right) // 2
        y = rect[Room.TOP] if spot != 1 else rect[Room.BOTTOM]
        cell = y * width + x
    set_place(state, p, Kind.SPOT, NOTHING, room, cell, 1)
    set_thing(state, o, name, role, p, 1 if draw_below(rng, 100) < IN_VIEW else 0)
