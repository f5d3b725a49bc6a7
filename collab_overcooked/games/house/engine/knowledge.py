"""Perception and beliefs of agents: the arrays ``know_*``, from which observations, texts and masks are made."""

from __future__ import annotations

from collab_overcooked.games.house.engine.constants import (
    HANDS,
    NOTHING,
    Agent,
    Belief,
    EventColumn,
    Home,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Mate,
    Param,
    Place,
    Rel,
    Thing,
    World,
)
from collab_overcooked.games.house.engine.rules import room_of
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import draw_below


@kernel
def forget_all(state, i):
    """At the start, agents know only the positions of the rooms. Mutates: state."""
    state.know_things[i, :, :] = 0
    state.know_rooms[i, :] = KnownRoom.NONE
    state.know_mates[i, :, :] = NOTHING
    for p in range(state.places.shape[0]):
        kind = state.places[p, Place.KIND]
        plain = kind == Kind.CENTRE or kind == Kind.SPOT  # a spot is known with the thing that lies there
        state.know_places[i, p] = KnownPlace.OPEN if plain else KnownPlace.UNKNOWN
    for o in range(state.things.shape[0]):
        state.know_things[i, o, Belief.PLACE] = NOTHING


@kernel
def perceive(tables, state, i, looked, event):
    """Agents see and remember their room except the contents of closed containers. Mutates: state, event."""
    room = room_of(state, i)
    entered = state.agents[i, Agent.ROOM] != room
    state.agents[i, Agent.ROOM] = room
    at_once = tables.params[Param.HOME] == Home.HOUSEWORK or looked
    if at_once:
        state.know_rooms[i, room] = KnownRoom.ALL
    elif state.know_rooms[i, room] == KnownRoom.NONE:
        state.know_rooms[i, room] = KnownRoom.PART
    see_places(tables, state, i, room, event)
    may_notice = entered or looked or tables.params[Param.MISS] == 0
    for o in range(state.things.shape[0]):
        if state.things[o, Thing.REL] != Rel.NONE:
            see_thing(tables, state, i, o, room, may_notice, event)
    see_mates(state, i, room)


@kernel
def keep_seeing(state, i, before):
    """As long as nothing changes, agents see what they saw a tick before. Mutates: state."""
    now = state.world[World.T]
    for o in range(state.things.shape[0]):
        known = state.know_things[i, o]
        if known[Belief.TICK] == before and known[Belief.STATUS] != Known.GONE:
            known[Belief.TICK] = now
    for j in range(state.agents.shape[0]):
        if state.know_mates[i, j, Mate.TICK] == before:
            state.know_mates[i, j, Mate.TICK] = now


@kernel
def see_places(tables, state, i, room, event):
    """On entering a room, agents see its furniture and whether it is open. Mutates: state.know_places, event."""
    goal = state.world[World.GOAL]
    if state.know_places[i, goal] == KnownPlace.UNKNOWN and state.places[goal, Place.ROOM] == room:
        event[EventColumn.GOAL_SEEN] = 1
    for p in range(state.rooms.shape[0], state.rooms.shape[0] + tables.furniture.shape[0]):
        kind = state.places[p, Place.KIND]
        if state.places[p, Place.ROOM] != room or kind == Kind.NONE:
            continue
        known = state.know_places[i, p]
        if kind != Kind.CONTAINER or state.places[p, Place.OPEN] == 1:
            state.know_places[i, p] = KnownPlace.OPEN
        elif known == KnownPlace.UNKNOWN:
            state.know_places[i, p] = KnownPlace.CLOSED
        elif known == KnownPlace.OPEN:
            state.know_places[i, p] = KnownPlace.CHECKED


@kernel
def is_in_sight(state, p, room):
    """Things at a place are visible from its room, unless the place is a closed container."""
    closed = state.places[p, Place.KIND] == Kind.CONTAINER and state.places[p, Place.OPEN] == 0
    return state.places[p, Place.ROOM] == room and not closed


@kernel
def notices(tables, state, i, o, room, may_notice):
    """Things are noticed at once or when looking around; each first sighting can be missed. Mutates: state."""
    if state.know_things[i, o, Belief.NOTICED] == 1:
        return True
    visible = state.things[o, Thing.IN_VIEW] == 1 or state.know_rooms[i, room] == KnownRoom.ALL
    if not visible or not may_notice:
        return False
    miss = tables.params[Param.MISS]
    if miss > 0 and draw_below(state.rng, 100) < miss:
        return False
    state.know_things[i, o, Belief.NOTICED] = 1
    return True


@kernel
def believe(state, i, o, status, place):
    """Store the class, place and time of a sighting. Mutates: state.know_things."""
    state.know_things[i, o, Belief.STATUS] = status
    state.know_things[i, o, Belief.PLACE] = place
    state.know_things[i, o, Belief.TICK] = state.world[World.T]


@kernel
def see_thing(tables, state, i, o, room, may_notice, event):
    """Update beliefs from what is visible; an object missing from its believed place is gone. Mutates: state, event."""
    rel, parent = state.things[o, Thing.REL], state.things[o, Thing.PARENT]
    if rel == Rel.INSIDE:
        rel, parent = state.things[parent, Thing.REL], state.things[parent, Thing.PARENT]
    status, place = state.know_things[i, o, Belief.STATUS], state.know_things[i, o, Belief.PLACE]
    if rel == Rel.HELD:
        if parent == i or room_of(state, parent) == room:
            believe(state, i, o, Known.MINE if parent == i else Known.MATE, parent)
            state.know_things[i, o, Belief.NOTICED] = 1
            return
    elif is_in_sight(state, parent, room):
        goal = parent == state.world[World.GOAL]
        done = rel == Rel.DELIVERED or (goal and state.places[parent, Place.KIND] != Kind.BED)
        if done or notices(tables, state, i, o, room, may_notice):
            event[EventColumn.SAW] += 1 if not done and (status == Known.UNKNOWN or status == Known.GONE) else 0
            believe(state, i, o, Known.DONE if done else Known.SEEN, parent)
            return
    if status == Known.SEEN and is_in_sight(state, place, room):
        believe(state, i, o, Known.GONE, NOTHING)
    elif status == Known.MATE and room_of(state, place) == room:
        believe(state, i, o, Known.GONE, NOTHING)


@kernel
def see_mates(state, i, room):
    """Agents see other agents in their room and what they hold. Mutates: state.know_mates."""
    for j in range(state.agents.shape[0]):
        if j != i and room_of(state, j) == room:
            mate = state.know_mates[i, j]
            mate[Mate.ROOM] = room
            mate[Mate.TICK] = state.world[World.T]
            for hand in range(HANDS):
                mate[Mate.LEFT_HAND + hand] = state.agents[j, Agent.LEFT_HAND + hand]
