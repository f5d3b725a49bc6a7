"""Observations of the household games: an agent's knowledge as uint8 features; counts and times are clipped at 255."""

from __future__ import annotations

from typing import Any

from collab_overcooked.games.house.engine.constants import (
    BLOCKS,
    CONTAINER_ROOM,
    HANDS,
    MAX_NEED,
    NOTHING,
    Agent,
    Belief,
    Goal,
    Known,
    KnownPlace,
    KnownRoom,
    Mate,
    Param,
    Place,
    Reason,
    Role,
    Room,
    Thing,
    Verb,
    World,
)
from collab_overcooked.games.house.engine.rules import contents, held_of_role, room_of, why_refused
from collab_overcooked.kernels.arrays import ENDLESS, clip_u8
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import CONTINUE, is_running


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
def observe_env(tables, state, i, observation, mask):
    """Write an agent's observation and mask from its knowledge. Mutates: observation, mask."""
    for action in range(mask.shape[0]):
        mask[action] = judge(tables, state, i, action) == Reason.OK
    encode_known(tables, state, i, observation)


@kernel
def encode_known(tables, state, i, out):
    """Write time, self, rooms, furniture, things, goal and other agents, with products instead of branches.

    Mutates: out.
    """
    at = encode_self(state, i, out)
    room, ways = room_of(state, i), state.dist[state.agents[i, Agent.CELL]]
    for r in range(state.rooms.shape[0]):
        out[at] = 1 + state.rooms[r, Room.TYPE]
        out[at + 1] = state.know_rooms[i, r]
        out[at + 2] = clip_u8(ways[r])
        out[at + 3] = room == r
        at += 4
    for k in range(tables.furniture.shape[0]):
        at = encode_place(state, i, state.rooms.shape[0] + k, ways, out, at)
    for o in range(state.things.shape[0]):
        at = encode_thing(state, i, o, ways, out, at)
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
def encode_place(state, i, p, ways, out, at):
    """Furniture is encoded as class, knowledge, distance and whether it is the goal place. Mutates: out."""
    known = state.know_places[i, p]
    is_known = known != KnownPlace.UNKNOWN
    out[at] = is_known * (1 + state.places[p, Place.CLASS])
    out[at + 1] = known
    out[at + 2] = is_known * clip_u8(ways[p])
    out[at + 3] = is_known * (state.world[World.GOAL] == p)
    return at + 4


@kernel
def encode_thing(state, i, o, ways, out, at):
    """A thing is encoded as class, role, status, room and distance, as far as known. Mutates: out."""
    status, place = state.know_things[i, o, Belief.STATUS], max(state.know_things[i, o, Belief.PLACE], 0)
    is_known, is_seen = status != Known.UNKNOWN, status == Known.SEEN
    out[at] = is_known * (1 + state.things[o, Thing.CLASS])
    out[at + 1] = is_known * state.things[o, Thing.ROLE]
    out[at + 2] = status
    out[at + 3] = is_seen * (1 + state.places[place, Place.ROOM])
    out[at + 4] = is_seen * clip_u8(ways[place])
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
