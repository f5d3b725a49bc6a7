"""Perception and beliefs of agents, the arrays ``know_*``, from which observations, texts and masks are made.

Observations are an agent's knowledge as uint8 features; counts and times are clipped at 255.
"""

from __future__ import annotations

from collab_overcooked.kernels.arrays import ENDLESS, clip_u8
from collab_overcooked.kernels.blocks import Block, Objects, numbered, start_of
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
    Feature,
    Furniture,
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
from .state import Sizes, Tables

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
    at_once = tables.params[Param.GAME] == GameKind.HOUSEWORK or looked
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
    """Write the blocks of an observation, see ``features_of``, with products instead of branches. Mutates: out."""
    spans, rooms, goals = tables.spans, state.rooms, state.goals
    room = room_of(state, i)
    distances = state.dist[state.agents[i, Agent.CELL]]
    n_agents = state.agents.shape[0]
    encode_self(spans, state, i, out)
    for r in range(rooms.shape[0]):
        out[start_of(spans, Feature.ROOM_TYPE, r)] = 1 + rooms[r, Room.TYPE]
        out[start_of(spans, Feature.ROOM_KNOWN, r)] = state.know_rooms[i, r]
        out[start_of(spans, Feature.ROOM_WAY, r)] = clip_u8(distances[r])
        out[start_of(spans, Feature.PRESENT, r)] = room == r
    for k in range(tables.furniture.shape[0]):
        encode_place(spans, state, i, k, distances, out)
    for o in range(state.things.shape[0]):
        encode_thing(spans, state, i, o, distances, out)
    for g in range(goals.shape[0]):
        out[start_of(spans, Feature.GOAL_CLASS, g)] = 1 + goals[g, Goal.CLASS]
        out[start_of(spans, Feature.NEED, g)] = clip_u8(goals[g, Goal.NEED])
        out[start_of(spans, Feature.SEEN_THERE, g)] = 0
    for o in range(state.things.shape[0]):
        if state.know_things[i, o, Belief.STATUS] == Known.DONE:
            count_done(spans, state, o, out)
    for k in range(1, n_agents):
        encode_mate(spans, state, i, (i + k) % n_agents, k - 1, out)


@kernel
def encode_self(spans, state, i, out):
    """Write time, seat, hands, contents of a held container, and the action in progress. Mutates: out."""
    agent = state.agents[i]
    world = state.world
    hands = start_of(spans, Feature.HANDS, 0)
    out[start_of(spans, Feature.TIME, 0)] = clip_u8(world[World.T] * 255 // max(world[World.LIMIT], 1))
    out[start_of(spans, Feature.SEAT, 0)] = i
    out[start_of(spans, Feature.TASK, 0)] = world[World.TASK]
    for hand in range(HANDS):
        out[hands + hand] = held_class(state, agent[Agent.LEFT_HAND + hand])
    box = held_of_role(state, i, Role.CONTAINER)
    out[start_of(spans, Feature.CONTENTS, 0)] = 0 if box == NOTHING else 1 + contents(state, box)
    out[start_of(spans, Feature.BUSY, 0)] = is_running(state.macro_state[i])
    out[start_of(spans, Feature.LEFT, 0)] = clip_u8(agent[Agent.LEFT])


@kernel
def held_class(state, o):
    """A held thing is encoded as its class, 0 for none."""
    return 0 if o == NOTHING else 1 + state.things[o, Thing.CLASS]


@kernel
def encode_place(spans, state, i, k, distances, out):
    """Furniture is encoded as class, knowledge, distance and whether it is the goal place. Mutates: out."""
    p = state.rooms.shape[0] + k
    known = state.know_places[i, p]
    is_known = known != KnownPlace.UNKNOWN
    out[start_of(spans, Feature.PLACE_CLASS, k)] = is_known * (1 + state.places[p, Place.CLASS])
    out[start_of(spans, Feature.PLACE_KNOWN, k)] = known
    out[start_of(spans, Feature.PLACE_WAY, k)] = is_known * clip_u8(distances[p])
    out[start_of(spans, Feature.GOAL_PLACE, k)] = is_known * (state.world[World.GOAL] == p)


@kernel
def encode_thing(spans, state, i, o, distances, out):
    """A thing is encoded as class, role, status, room and distance, as far as known. Mutates: out."""
    status = state.know_things[i, o, Belief.STATUS]
    place = max(state.know_things[i, o, Belief.PLACE], 0)
    is_known, is_seen = status != Known.UNKNOWN, status == Known.SEEN
    out[start_of(spans, Feature.THING_CLASS, o)] = is_known * (1 + state.things[o, Thing.CLASS])
    out[start_of(spans, Feature.ROLE, o)] = is_known * state.things[o, Thing.ROLE]
    out[start_of(spans, Feature.STATUS, o)] = status
    out[start_of(spans, Feature.THING_ROOM, o)] = is_seen * (1 + state.places[place, Place.ROOM])
    out[start_of(spans, Feature.THING_WAY, o)] = is_seen * clip_u8(distances[place])


@kernel
def count_done(spans, state, o, out):
    """A thing that an agent has seen at the goal place counts for its row of the goal. Mutates: out."""
    for g in range(state.goals.shape[0]):
        same = state.goals[g, Goal.CLASS] == state.things[o, Thing.CLASS]
        out[start_of(spans, Feature.SEEN_THERE, g)] += same


@kernel
def encode_mate(spans, state, i, j, k, out):
    """Another agent is encoded as its last known room, held things and the time since. Mutates: out."""
    mate = state.know_mates[i, j]
    world = state.world
    hands = start_of(spans, Feature.MATE_HANDS, k)
    is_seen = mate[Mate.TICK] != NOTHING
    since = clip_u8((world[World.T] - mate[Mate.TICK]) * 255 // max(world[World.LIMIT], 1))
    out[start_of(spans, Feature.SEEN, k)] = is_seen
    out[start_of(spans, Feature.MATE_ROOM, k)] = is_seen * (1 + mate[Mate.ROOM])
    for hand in range(HANDS):
        out[hands + hand] = is_seen * held_class(state, mate[Mate.LEFT_HAND + hand])
    out[start_of(spans, Feature.SINCE, k)] = is_seen * since


def features_of(tables: Tables, sizes: Sizes, n_room_types: int) -> list[Objects]:
    """Return what an observation shows, by ``Feature``; counts without a bound are left to be clipped."""
    cost = tables.cost.copy()
    n_classes = len(tables.allowed)
    way = sizes.height * sizes.width - 1
    cost[Verb.SAY] *= BLOCKS
    hands = (n_classes,) * HANDS
    oneself = (
        Block("time", (ENDLESS,), "ticks gone, of 255"),
        Block("seat", (sizes.agents - 1,), "number of the agent"),
        Block("task", (len(tables.families) - 1,), "number of the task"),
        Block("hands", hands, "class of the thing in each, from 1 on; 0 for none"),
        Block("contents", (1 + CONTAINER_ROOM,), "things in a held container, plus 1; 0 without one"),
        Block("busy", (1,), "1 while an action goes on"),
        Block("ticks left", (cost.max(),), "of a movement"),
    )
    room = (
        Block("type", (n_room_types,), "from 1 on"),
        Block("known", (max(KnownRoom),), "0 not, 1 in part, 2 all"),
        Block("way", (way,), "cells to it"),
        Block("present", (1,), "1 if the agent is there"),
    )
    place = (
        Block("class", 1 + tables.furniture[:, [Furniture.CLASS]], "from 1 on; 0 while unseen"),
        Block("known", (max(KnownPlace),), "0 unseen, 1 closed, 2 open, 3 closed but looked into"),
        Block("way", (way,), "cells to it; 0 while unseen"),
        Block("goal place", (1,), "1 if it is seen to be"),
    )
    thing = (
        Block("class", (n_classes,), "from 1 on; 0 while unseen"),
        Block("role", (max(Role),), "0 target, 1 container"),
        Block("status", (max(Known),), "0 unseen, 1 at a place, 2 one's own, 3 in other hands, 4 gone, 5 delivered"),
        Block("room", (sizes.rooms,), "from 1 on; 0 if it is not known to lie in one"),
        Block("way", (way,), "cells to it; 0 likewise"),
    )
    goal = (
        Block("class", (n_classes,), "from 1 on; 0 for none"),
        Block("wanted", (MAX_NEED,), "things of the class"),
        Block("there", (sizes.things,), "seen at the goal place"),
    )
    mate = (
        Block("seen", (1,), "1 once it was"),
        Block("room", (sizes.rooms,), "where it was seen last, from 1 on"),
        Block("hands", hands, "as one's own, when it was seen last"),
        Block("since", (ENDLESS,), "ticks since, of 255"),
    )
    return [
        Objects(oneself),
        Objects(room, numbered("room", sizes.rooms)),
        Objects(place, numbered("furniture", sizes.furniture)),
        Objects(thing, numbered("thing", sizes.things)),
        Objects(goal, numbered("goal", sizes.goals)),
        Objects(mate, tuple(f"other agent {k}" for k in range(1, sizes.agents))),
    ]
