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
from collab_overcooked.games.house.engine.generate import draw_index, random_cell, set_place, shuffle
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below

ATTEMPTS = 200
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
    if params[Param.HOME] == Home.HOUSEWORK:
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
        state.places[n_rooms + k, Place.FREE] = tables.furniture[k, 3]


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
    goal = find_place(state, tables.families[task, 0])
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
    rng, most, n_classes = state.rng, tables.params[Param.TARGETS], tables.families[task, 1]
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
    for _ in range(50):
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
    """Ten things of two triples, four to six each, and containers in one or two rooms. Mutates: state."""
    rng, targets, n_rooms = state.rng, tables.params[Param.TARGETS], state.rooms.shape[0]
    clear_task(tables, state)
    state.world[World.GOAL] = n_rooms
    first = max(targets * 4 // 10, 0) + draw_below(rng, max(targets // 5, 0) + 1)
    for o in range(targets):
        kind = draw_below(rng, 3) + (0 if o < first else 3)
        room = draw_room(tables, state, task, 0)
        lay_thing(tables, state, o, tables.families[task, kind], Role.TARGET, room)
        state.goals[kind, Goal.CLASS] = tables.families[task, kind]
        state.goals[kind, Goal.NEED] += 1
    close_gaps(state)
    rooms = draw_room(tables, state, task, 1), draw_room(tables, state, task, 1)
    for k in range(tables.params[Param.CONTAINERS]):
        o, kind = targets + k, 6 + draw_below(rng, 3)
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
    room_type = tables.families[task, 9] if second else tables.params[Param.LIVING_ROOM]
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
        x = rect[1] if spot == 0 else rect[3] if spot == 1 else (rect[1] + rect[3]) // 2
        y = rect[2] if spot != 1 else rect[4]
        cell = y * width + x
    set_place(state, p, Kind.SPOT, NOTHING, room, cell, 1)
    set_thing(state, o, name, role, p, 1 if draw_below(rng, 100) < IN_VIEW else 0)
