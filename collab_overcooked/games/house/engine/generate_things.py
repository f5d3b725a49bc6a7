"""Tasks drawn at random: what is wanted where, and where things lie.

Housework follows the published generator of Watch-And-Help's scenes for C-WAH; Transport draws things by the shares of
rooms, furniture and containers that were counted in TDW-MAT's 24 test episodes.
"""

from __future__ import annotations

from collab_overcooked.games.house.engine.constants import (
    NOTHING,
    Goal,
    Home,
    Kind,
    Param,
    Place,
    Rel,
    Role,
    Thing,
    World,
)
from collab_overcooked.games.house.engine.generate import draw_index, measure_ways, random_cell, set_place, shuffle
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below

ATTEMPTS = 200
FULL = 5  # items of a goal as published; larger goals find more things
IN_VIEW = 50  # per cent of Transport's things that are seen on entering their room; a choice, nothing is published
ON_FURNITURE = 61  # per cent of Transport's targets
SPOTS = 3  # pieces of furniture of a room on which targets lie


@kernel
def make_task(tables, state, b, scratch):
    """A task is forced or drawn; the goal and the things are drawn for it. Mutates: state, scratch."""
    params = tables.params
    task = params[Param.TASK]
    if task == NOTHING:
        task = draw_below(state.rng[b], tables.families.shape[0])
    state.world[b, World.TASK] = task
    if params[Param.HOME] == Home.HOUSEWORK:
        make_housework(tables, state, b, task, scratch)
    else:
        make_transport(tables, state, b, task, scratch)


@kernel
def clear_task(tables, state, b):
    """There is nothing anywhere, and nothing is wanted. Mutates: state."""
    n_rooms = state.rooms.shape[1]
    state.things[b, :, :] = 0
    state.goals[b, :, :] = 0
    for g in range(state.goals.shape[1]):
        state.goals[b, g, Goal.CLASS] = NOTHING
    for k in range(tables.furniture.shape[0]):
        state.places[b, n_rooms + k, Place.FREE] = tables.furniture[k, 3]


@kernel
def find_place(state, b, name):
    """The first place of a class."""
    for p in range(state.places.shape[1]):
        if state.places[b, p, Place.CLASS] == name and state.places[b, p, Place.KIND] > Kind.CENTRE:
            return p
    return 0


@kernel
def make_housework(tables, state, b, task, scratch):
    """Goals are drawn until one asks for three things at least. Mutates: state, scratch."""
    goal = find_place(state, b, tables.families[task, 0])
    state.world[b, World.GOAL] = goal
    for _ in range(ATTEMPTS):
        clear_task(tables, state, b)
        if draw_goal(tables, state, b, task, goal, scratch) >= 3:
            break
    state.places[b, goal, Place.FREE] = state.things.shape[1]  # a goal place holds all that could be brought to it
    shuffle_things(state, b)


@kernel
def draw_goal(tables, state, b, task, goal, scratch):
    """Classes, instances and counts of a goal; returns how many things it asks for. Mutates: state, scratch."""
    rng, most, n_classes = state.rng[b], tables.params[Param.TARGETS], tables.families[task, 1]
    for k in range(n_classes):
        scratch[k] = k
    shuffle(scratch, n_classes, rng)
    chosen = min(1 + draw_index(tables.shares[task], rng), n_classes)
    total, used = 0, 0
    for g in range(chosen):
        name, limit = tables.families[task, 2 + 2 * scratch[g]], tables.families[task, 3 + 2 * scratch[g]]
        limit += 1 + (1 if most > FULL else 0)
        amount = 1 + (draw_below(rng, 3) if limit > 2 and draw_below(rng, 2) == 0 else 0)
        instances, counted = amount + draw_below(rng, limit - amount + 1), 0
        for _ in range(instances):
            if used < state.things.shape[1] and hide_thing(tables, state, b, used, name, goal):
                counted += is_counted(tables, state, b, used)
                used += 1
        count = counted - 2 + draw_below(rng, 3)
        count = min(min(max(1, count), counted), most - total)
        if count > 0:
            state.goals[b, g, Goal.CLASS] = name
            state.goals[b, g, Goal.NEED] = count
            total += count
    close_gaps(state, b)
    return total


@kernel
def is_counted(tables, state, b, o):
    """Things in a dishwasher are overlooked when the published generator counts what could be wanted."""
    name = state.places[b, state.things[b, o, Thing.PARENT], Place.CLASS]
    return 0 if name == tables.params[Param.DISHWASHER] else 1


@kernel
def hide_thing(tables, state, b, o, name, goal):
    """A thing comes to a class of places and one of these, all alike, if it fits; never to the goal place.

    Mutates: state.
    """
    for _ in range(50):
        cls = draw_below(state.rng[b], tables.allowed.shape[1])
        if tables.allowed[name, cls] == 0:
            continue
        candidates, place = 0, NOTHING
        for p in range(state.rooms.shape[1], state.places.shape[1]):
            if state.places[b, p, Place.CLASS] == cls and state.places[b, p, Place.KIND] != Kind.NONE and p != goal:
                candidates += 1
                if draw_below(state.rng[b], candidates) == 0:
                    place = p
        if place != NOTHING and state.places[b, place, Place.FREE] > 0:
            state.places[b, place, Place.FREE] -= 1
            set_thing(state, b, o, name, Role.TARGET, place, 1)
            return True
    return False


@kernel
def set_thing(state, b, o, name, role, place, in_view):
    """A thing has a class and a role, and lies at a place. Mutates: state.things."""
    state.things[b, o, Thing.CLASS] = name
    state.things[b, o, Thing.ROLE] = role
    state.things[b, o, Thing.REL] = Rel.AT
    state.things[b, o, Thing.PARENT] = place
    state.things[b, o, Thing.IN_VIEW] = in_view


@kernel
def shuffle_things(state, b):
    """Numbers of things say nothing about them. Mutates: state.things, state.rng."""
    for o in range(state.things.shape[1] - 1, 0, -1):
        other = draw_below(state.rng[b], o + 1)
        for column in range(state.things.shape[2]):
            kept = state.things[b, o, column]
            state.things[b, o, column] = state.things[b, other, column]
            state.things[b, other, column] = kept


@kernel
def make_transport(tables, state, b, task, scratch):
    """Ten things of two triples, four to six each, and containers in one or two rooms. Mutates: state, scratch."""
    rng, targets, n_rooms = state.rng[b], tables.params[Param.TARGETS], state.rooms.shape[1]
    clear_task(tables, state, b)
    state.world[b, World.GOAL] = n_rooms
    first = max(targets * 4 // 10, 0) + draw_below(rng, max(targets // 5, 0) + 1)
    for o in range(targets):
        kind = draw_below(rng, 3) + (0 if o < first else 3)
        room = draw_room(tables, state, b, task, 0)
        lay_thing(tables, state, b, o, tables.families[task, kind], Role.TARGET, room, scratch)
        state.goals[b, kind, Goal.CLASS] = tables.families[task, kind]
        state.goals[b, kind, Goal.NEED] += 1
    close_gaps(state, b)
    rooms = draw_room(tables, state, b, task, 1), draw_room(tables, state, b, task, 1)
    for k in range(tables.params[Param.CONTAINERS]):
        o, kind = targets + k, 6 + draw_below(rng, 3)
        room = rooms[draw_below(rng, tables.params[Param.CONTAINER_ROOMS])]
        lay_thing(tables, state, b, o, tables.families[task, kind], Role.CONTAINER, room, scratch)


@kernel
def close_gaps(state, b):
    """Rows of the goal that ask for nothing come last. Mutates: state.goals."""
    kept = 0
    for g in range(state.goals.shape[1]):
        if state.goals[b, g, Goal.NEED] > 0:
            for column in range(state.goals.shape[2]):
                value = state.goals[b, g, column]
                state.goals[b, g, column] = 0 if column != Goal.CLASS else NOTHING
                state.goals[b, kept, column] = value
            kept += 1


@kernel
def draw_room(tables, state, b, task, role):
    """The second type of room has its share of things, living rooms have the others. Mutates: state.rng."""
    second = draw_below(state.rng[b], 1000) < tables.shares[task, role]
    room_type = tables.families[task, 9] if second else tables.params[Param.LIVING_ROOM]
    candidates, room = 0, 0
    for r in range(state.rooms.shape[1]):
        if tables.room_types[r] == room_type:
            candidates += 1
            if draw_below(state.rng[b], candidates) == 0:
                room = r
    return room


@kernel
def lay_thing(tables, state, b, o, name, role, room, scratch):
    """A thing lies on one of a few pieces of furniture, or anywhere on the floor. Mutates: state, scratch."""
    width, rng = tables.params[Param.GRID_WIDTH], state.rng[b]
    p = state.rooms.shape[1] + tables.furniture.shape[0] + o
    cell = random_cell(state, b, room, width)
    if role == Role.TARGET and draw_below(rng, 100) < ON_FURNITURE:
        spot = draw_below(rng, SPOTS)  # corners and the middle of a side stand for furniture
        rect = state.rooms[b, room]
        x = rect[1] if spot == 0 else rect[3] if spot == 1 else (rect[1] + rect[3]) // 2
        y = rect[2] if spot != 1 else rect[4]
        cell = y * width + x
    set_place(state, b, p, Kind.SPOT, NOTHING, room, cell, 1)
    set_thing(state, b, o, name, role, p, 1 if draw_below(rng, 100) < IN_VIEW else 0)
    measure_ways(state, b, p, width, scratch)
