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
from collab_overcooked.games.house.engine.rules import contents, held_of_role, path_to, room_of, why_refused
from collab_overcooked.kernels.arrays import ENDLESS, clip_u8
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.macro_actions import CONTINUE, is_running


@kernel
def observe_env(tables, state, b, i, observation, mask, reasons):
    """Write an agent's observation and mask from its knowledge. Mutates: observation, mask, reasons."""
    busy = is_running(state.macro_state[b, i])
    for action in range(mask.shape[0]):
        reason = why_refused(tables, state, b, i, action)
        if busy and tables.params[Param.PREEMPT] == 0:
            reason = Reason.F_BUSY
        if busy and action == CONTINUE:
            reason = Reason.OK
        reasons[action] = reason
        mask[action] = reason == Reason.OK
    encode_known(tables, state, b, i, observation)


@kernel
def encode_known(tables, state, b, i, out):
    """Write time, self, rooms, furniture, things, goal and other agents. Mutates: out."""
    at = encode_self(state, b, i, out)
    room = room_of(state, b, i)
    for r in range(state.rooms.shape[1]):
        out[at] = 1 + state.rooms[b, r, Room.TYPE]
        out[at + 1] = state.know_rooms[b, i, r]
        out[at + 2] = clip_u8(path_to(state, b, i, r))
        out[at + 3] = room == r
        at += 4
    for k in range(tables.furniture.shape[0]):
        at = encode_place(state, b, i, state.rooms.shape[1] + k, out, at)
    for o in range(state.things.shape[1]):
        at = encode_thing(state, b, i, o, out, at)
    for g in range(state.goals.shape[1]):
        out[at] = 1 + state.goals[b, g, Goal.CLASS]
        out[at + 1] = clip_u8(state.goals[b, g, Goal.NEED])
        out[at + 2] = known_done(state, b, i, state.goals[b, g, Goal.CLASS])
        at += 3
    for k in range(1, state.agents.shape[1]):
        at = encode_mate(state, b, i, (i + k) % state.agents.shape[1], out, at)


@kernel
def encode_self(state, b, i, out):
    """Write time, seat, hands, contents of a held container, and the action in progress. Mutates: out."""
    agent, world = state.agents[b, i], state.world[b]
    out[0] = clip_u8(world[World.T] * 255 // max(world[World.LIMIT], 1))
    out[1] = i
    out[2] = world[World.TASK]
    for hand in range(HANDS):
        out[3 + hand] = held_class(state, b, agent[Agent.LEFT_HAND + hand])
    box = held_of_role(state, b, i, Role.CONTAINER)
    out[5] = 0 if box == NOTHING else 1 + contents(state, b, box)
    out[6] = is_running(state.macro_state[b, i])
    out[7] = clip_u8(agent[Agent.LEFT])
    return 8


@kernel
def held_class(state, b, o):
    """A held thing is encoded as its class, 0 for none."""
    return 0 if o == NOTHING else 1 + state.things[b, o, Thing.CLASS]


@kernel
def encode_place(state, b, i, p, out, at):
    """Furniture is encoded as class, knowledge, distance and whether it is the goal place. Mutates: out."""
    known = state.know_places[b, i, p]
    for k in range(4):
        out[at + k] = 0
    if known != KnownPlace.UNKNOWN:
        out[at] = 1 + state.places[b, p, Place.CLASS]
        out[at + 1] = known
        out[at + 2] = clip_u8(path_to(state, b, i, p))
        out[at + 3] = state.world[b, World.GOAL] == p
    return at + 4


@kernel
def encode_thing(state, b, i, o, out, at):
    """A thing is encoded as class, role, status, room and distance, as far as known. Mutates: out."""
    status, place = state.know_things[b, i, o, Belief.STATUS], state.know_things[b, i, o, Belief.PLACE]
    for k in range(5):
        out[at + k] = 0
    if status != Known.UNKNOWN:
        out[at] = 1 + state.things[b, o, Thing.CLASS]
        out[at + 1] = state.things[b, o, Thing.ROLE]
        out[at + 2] = status
    if status == Known.SEEN:
        out[at + 3] = 1 + state.places[b, place, Place.ROOM]
        out[at + 4] = clip_u8(path_to(state, b, i, place))
    return at + 5


@kernel
def known_done(state, b, i, cls):
    """Count the things of a class that an agent has seen at the goal place."""
    count = 0
    for o in range(state.things.shape[1]):
        done = state.know_things[b, i, o, Belief.STATUS] == Known.DONE
        if done and state.things[b, o, Thing.CLASS] == cls:
            count += 1
    return count


@kernel
def encode_mate(state, b, i, j, out, at):
    """Another agent is encoded as its last known room, held things and the time since. Mutates: out."""
    mate = state.know_mates[b, i, j]
    for k in range(5):
        out[at + k] = 0
    if mate[Mate.TICK] != NOTHING:
        out[at] = 1
        out[at + 1] = 1 + mate[Mate.ROOM]
        out[at + 4] = clip_u8((state.world[b, World.T] - mate[Mate.TICK]) * 255 // max(state.world[b, World.LIMIT], 1))
        for hand in range(HANDS):
            out[at + 2 + hand] = held_class(state, b, mate[Mate.LEFT_HAND + hand])
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
