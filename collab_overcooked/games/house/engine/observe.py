"""Perception and beliefs of agents, the arrays ``know_*``, from which observations, texts and masks are made.

Observations are an agent's knowledge as uint8 features; counts and times are clipped at 255.
"""

from __future__ import annotations

from typing import Any

from collab_overcooked.kernels.arrays import ENDLESS, clip_u8
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import CONTINUE, is_running
from collab_overcooked.kernels.rng import draw_below

from .constants import (
    BLOCKS,
    CONTAINER_ROOM,
    HANDS,
    MAX_NEED,
    NOTHING,
    Agent,
    Belief,
    EventColumn,
    GameKind,
    Goal,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Mate,
    Param,
    Place,
    Reason,
    Rel,
    Role,
    Room,
    Thing,
    Verb,
    World,
)
from .rules import contents, held_of_role, room_of, why_refused

# ------------------------------------------------------------------------------------------- what agents know


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
    at_once = tables.params[Param.HOME] == GameKind.HOUSEWORK or looked
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
def keep_seeing(state, i, before, now):
    """As long as nothing changes, agents see what they saw at their last look. Mutates: state."""
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


# ------------------------------------------------------------------------------------------- what policies get


@kernel
def judge(tables, state, i, action):
    """A busy agent can only go on, unless it may replace what it does."""
    if is_running(state.macro_state[i]):
        if action == CONTINUE:
            return Reason.OK
        if tables.params[Param.PREEMPT] == 0:
            return Reason.F_BUSY
    return why_refused(tables, state, i, action)


@kernel
def observe_env(tables, env, out):
    """Agents observe what they know, and their masks are judged by it. Mutates: out."""
    for i in range(out.masks.shape[0]):
        mask = out.masks[i]
        can_only_continue = is_running(env.macro_state[i]) and tables.params[Param.PREEMPT] == 0
        mask[:] = 0
        for action in range(CONTINUE + 1 if can_only_continue else mask.shape[0]):
            mask[action] = judge(tables, env, i, action) == Reason.OK
        encode_known(tables, env, i, out.observations[i])


@kernel
def encode_known(tables, state, i, out):
    """Write time, self, rooms, furniture, things, goal and other agents, with products instead of branches.

    Mutates: out.
    """
    at = encode_self(state, i, out)
    room, distances = room_of(state, i), state.dist[state.agents[i, Agent.CELL]]
    for r in range(state.rooms.shape[0]):
        out[at] = 1 + state.rooms[r, Room.TYPE]
        out[at + 1] = state.know_rooms[i, r]
        out[at + 2] = clip_u8(distances[r])
        out[at + 3] = room == r
        at += 4
    for k in range(tables.furniture.shape[0]):
        at = encode_place(state, i, state.rooms.shape[0] + k, distances, out, at)
    for o in range(state.things.shape[0]):
        at = encode_thing(state, i, o, distances, out, at)
    for g in range(state.goals.shape[0]):
        out[at + 3 * g] = 1 + state.goals[g, Goal.CLASS]
        out[at + 3 * g + 1] = clip_u8(state.goals[g, Goal.NEED])
        out[at + 3 * g + 2] = 0
    for o in range(state.things.shape[0]):
        if state.know_things[i, o, Belief.STATUS] == Known.DONE:
            count_done(state, o, out, at)
    at += 3 * state.goals.shape[0]
    for k in range(1, state.agents.shape[0]):
        at = encode_mate(state, i, (i + k) % state.agents.shape[0], out, at)


@kernel
def encode_self(state, i, out):
    """Write time, seat, hands, contents of a held container, and the action in progress. Mutates: out."""
    agent, world = state.agents[i], state.world
    out[0] = clip_u8(world[World.T] * 255 // max(world[World.LIMIT], 1))
    out[1] = i
    out[2] = world[World.TASK]
    for hand in range(HANDS):
        out[3 + hand] = held_class(state, agent[Agent.LEFT_HAND + hand])
    box = held_of_role(state, i, Role.CONTAINER)
    out[5] = 0 if box == NOTHING else 1 + contents(state, box)
    out[6] = is_running(state.macro_state[i])
    out[7] = clip_u8(agent[Agent.LEFT])
    return 8


@kernel
def held_class(state, o):
    """A held thing is encoded as its class, 0 for none."""
    return 0 if o == NOTHING else 1 + state.things[o, Thing.CLASS]


@kernel
def encode_place(state, i, p, distances, out, at):
    """Furniture is encoded as class, knowledge, distance and whether it is the goal place. Mutates: out."""
    known = state.know_places[i, p]
    is_known = known != KnownPlace.UNKNOWN
    out[at] = is_known * (1 + state.places[p, Place.CLASS])
    out[at + 1] = known
    out[at + 2] = is_known * clip_u8(distances[p])
    out[at + 3] = is_known * (state.world[World.GOAL] == p)
    return at + 4


@kernel
def encode_thing(state, i, o, distances, out, at):
    """A thing is encoded as class, role, status, room and distance, as far as known. Mutates: out."""
    status, place = state.know_things[i, o, Belief.STATUS], max(state.know_things[i, o, Belief.PLACE], 0)
    is_known, is_seen = status != Known.UNKNOWN, status == Known.SEEN
    out[at] = is_known * (1 + state.things[o, Thing.CLASS])
    out[at + 1] = is_known * state.things[o, Thing.ROLE]
    out[at + 2] = status
    out[at + 3] = is_seen * (1 + state.places[place, Place.ROOM])
    out[at + 4] = is_seen * clip_u8(distances[place])
    return at + 5


@kernel
def count_done(state, o, out, at):
    """A thing that an agent has seen at the goal place counts for its row of the goal. Mutates: out."""
    for g in range(state.goals.shape[0]):
        out[at + 3 * g + 2] += state.goals[g, Goal.CLASS] == state.things[o, Thing.CLASS]


@kernel
def encode_mate(state, i, j, out, at):
    """Another agent is encoded as its last known room, held things and the time since. Mutates: out."""
    mate = state.know_mates[i, j]
    for k in range(5):
        out[at + k] = 0
    if mate[Mate.TICK] != NOTHING:
        out[at] = 1
        out[at + 1] = 1 + mate[Mate.ROOM]
        out[at + 4] = clip_u8((state.world[World.T] - mate[Mate.TICK]) * 255 // max(state.world[World.LIMIT], 1))
        for hand in range(HANDS):
            out[at + 2 + hand] = held_class(state, mate[Mate.LEFT_HAND + hand])
    return at + 5


def highest_numbers(tables: Any, sizes: Any, n_classes: int, n_room_types: int) -> list[int]:
    """Return the highest value of each number of an observation, as ``encode_known`` writes them."""
    cost = tables.cost.copy()
    cost[Verb.SAY] *= BLOCKS
    way = sizes.height * sizes.width - 1
    seat, task = sizes.agents - 1, len(tables.families) - 1
    high = [ENDLESS, seat, task, n_classes, n_classes, 1 + CONTAINER_ROOM, 1, cost.max()]
    high += [n_room_types, max(KnownRoom), way, 1] * sizes.rooms
    for furniture in tables.furniture:
        high += [1 + furniture[2], max(KnownPlace), way, 1]
    high += [n_classes, max(Role), max(Known), sizes.rooms, way] * sizes.things
    high += [n_classes, MAX_NEED, sizes.things] * sizes.goals
    return high + [1, sizes.rooms, n_classes, n_classes, ENDLESS] * (sizes.agents - 1)
