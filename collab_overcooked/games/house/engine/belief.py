"""Beliefs of an agent: complete states sampled from its own knowledge."""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.house.engine.compile import Compiled
from collab_overcooked.games.house.engine.constants import (
    HANDS,
    NOTHING,
    Agent,
    Belief,
    Goal,
    Home,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Mate,
    Param,
    Place,
    Rel,
    Role,
    Room,
    Thing,
    Verb,
    World,
)
from collab_overcooked.games.house.engine.state import State
from collab_overcooked.games.house.engine.step import measure_batch
from collab_overcooked.kernels.bound import bind
from collab_overcooked.kernels.macro_actions import Macro

Array = np.ndarray


def sample_belief(compiled: Compiled, state: State, seat: int, rng: np.random.Generator) -> None:
    """Replace what a seat does not know, in every environment of a batch.

    Unseen furniture is placed at random in its room and is closed; missing things are placed where the seat has not
    looked; unseen agents are placed at random, are idle, and know what the seat knows.

    Args:
        compiled: The game.
        state: Batch, changed.
        seat: Whose knowledge is kept.
        rng: Source of random draws.
    """
    for b in range(len(state.rng)):
        _furnish(compiled, state, b, seat, rng)
        _place_mates(state, b, seat, rng)
        _place_things(compiled, state, b, seat, rng)
        _recount(state, b, seat)
    measure_home(compiled, state)


def measure_home(compiled: Compiled, state: State) -> None:
    """Measure the ways to all places in every environment of a batch."""
    bind(measure_batch, compiled.tables, state, np.zeros((len(state.rng), 2, state.cells.shape[1]), np.int32))()


def _cell(state: State, b: int, room: int, rng: np.random.Generator, width: int) -> int:
    box = state.rooms[b, room]
    x = rng.integers(box[Room.LEFT], box[Room.RIGHT] + 1)
    y = rng.integers(box[Room.TOP], box[Room.BOTTOM] + 1)
    return int(y * width + x)


def _furnish(compiled: Compiled, state: State, b: int, seat: int, rng: np.random.Generator) -> None:
    known, places, width = state.know_places[b, seat], state.places[b], compiled.sizes.width
    for k, row in enumerate(compiled.tables.furniture.tolist()):
        p = compiled.sizes.rooms + k
        places[p, Place.FREE] = row[3]
        seen = state.know_rooms[b, seat, row[0]] != KnownRoom.NONE  # what a visited room does not show is not there
        if known[p] == KnownPlace.UNKNOWN:
            missing = row[4] == 1 and (seen or rng.random() < 0.5)
            places[p, Place.KIND] = Kind.NONE if missing else row[1]
            places[p, Place.CELL] = _cell(state, b, row[0], rng, width)
        places[p, Place.OPEN] = row[1] != Kind.CONTAINER or known[p] == KnownPlace.OPEN
    places[state.world[b, World.GOAL], Place.FREE] = 30


def _place_mates(state: State, b: int, seat: int, rng: np.random.Generator) -> None:
    count = state.agents.shape[1]
    room = state.cells[b, state.agents[b, seat, Agent.CELL]]
    here = np.flatnonzero(state.cells[b] == room)
    elsewhere = np.flatnonzero((state.cells[b] != NOTHING) & (state.cells[b] != room))
    for j in range(count):
        if j == seat:
            continue
        agent = state.agents[b, j]
        last = state.know_mates[b, seat, j]
        present = last[Mate.TICK] == state.world[b, World.T] and last[Mate.ROOM] == room
        cell = rng.choice(here if present else elsewhere)
        agent[:] = 0
        agent[Agent.CELL], agent[Agent.VERB] = cell, Verb.WAIT
        agent[Agent.ROOM] = state.cells[b, cell]
        held = last[Mate.LEFT_HAND : Mate.LEFT_HAND + HANDS] if last[Mate.TICK] != NOTHING else [NOTHING] * HANDS
        statuses = state.know_things[b, seat]
        agent[Agent.LEFT_HAND : Agent.LEFT_HAND + HANDS] = [
            o
            if o != NOTHING and statuses[o, Belief.STATUS] == Known.MATE and statuses[o, Belief.PLACE] == j
            else NOTHING
            for o in held
        ]
        state.macro_state[b, j] = 0
        state.macro_state[b, j, Macro.ACTION] = NOTHING
        for name in ("know_things", "know_rooms", "know_places"):
            array = getattr(state, name)
            array[b, j] = array[b, seat]
        state.know_mates[b, j] = NOTHING


def _place_things(compiled: Compiled, state: State, b: int, seat: int, rng: np.random.Generator) -> None:
    known, things = state.know_things[b, seat], state.things[b]
    _forget_spots(compiled, state, b, seat)
    held = {int(o): j for j in range(state.agents.shape[1]) for o in state.agents[b, j, 1 : 1 + HANDS] if o != NOTHING}
    boxes = {j: o for o, j in held.items() if things[o, Thing.ROLE] == Role.CONTAINER}
    lost = []
    things[:, Thing.IN_VIEW] = 1
    for o, (status, place) in enumerate(known[:, : Belief.TICK].tolist()):
        if o in held:
            things[o, Thing.REL], things[o, Thing.PARENT] = Rel.HELD, held[o]
        elif status == Known.SEEN:
            things[o, Thing.REL], things[o, Thing.PARENT] = Rel.AT, place
            state.places[b, place, Place.FREE] -= 1
        elif status == Known.MINE:
            continue  # in the container that the seat holds
        elif status == Known.MATE and place in boxes:  # it was in no hand, so it was in the container
            things[o, Thing.REL], things[o, Thing.PARENT] = Rel.INSIDE, boxes[place]
        elif status == Known.DONE:
            things[o, Thing.PARENT] = state.world[b, World.GOAL]
            things[o, Thing.REL] = Rel.DELIVERED if compiled.tables.params[Param.HOME] == Home.TRANSPORT else Rel.AT
        else:
            lost.append(o)
    for o, name, role in _missing(compiled, state, b, seat, lost, rng):
        _hide(compiled, state, b, seat, o, name, role, rng)


def _forget_spots(compiled: Compiled, state: State, b: int, seat: int) -> None:
    first = compiled.sizes.rooms + len(compiled.tables.furniture)
    for o, p in enumerate(range(first, state.places.shape[1])):
        believed = state.know_things[b, seat, o, : Belief.TICK].tolist() == [Known.SEEN, p]
        if not believed:
            state.places[b, p] = [Kind.SPOT, NOTHING, 0, state.places[b, 0, Place.CELL], 1, 1]
        state.places[b, p, Place.FREE] = 1


def _missing(
    compiled: Compiled, state: State, b: int, seat: int, lost: list[int], rng: np.random.Generator
) -> list[tuple[int, int, int]]:
    known, things = state.know_things[b, seat], state.things[b]
    required: list[tuple[int, int]] = []
    params = compiled.tables.params
    for cls, need, _ in state.goals[b].tolist():
        there = sum(
            int(things[o, Thing.CLASS]) == cls
            for o in range(len(things))
            if o not in lost and known[o, Belief.STATUS] != Known.UNKNOWN
        )
        required += [(cls, Role.TARGET)] * max(need - there, 0)
    seen = sum(known[o, Belief.STATUS] != Known.UNKNOWN for o in range(len(things)) if things[o, Thing.ROLE])
    if params[Param.HOME] == Home.TRANSPORT:
        boxes = compiled.tables.families[state.world[b, World.TASK], 6:9]
        required += [(int(rng.choice(boxes)), Role.CONTAINER)] * max(int(params[Param.CONTAINERS]) - int(seen), 0)
    gone = [o for o in lost if known[o, Belief.STATUS] == Known.GONE]
    missing = []
    for o in (*gone, *(o for o in lost if o not in gone)):
        name, role = things[o, : Thing.REL].tolist() if o in gone else (0, 0)
        things[o] = [name, role, Rel.NONE, 0, 1]
        match = next((pair for pair in required if o not in gone or pair[0] == things[o, Thing.CLASS]), None)
        if match is not None:
            required.remove(match)
            missing.append((o, *match))
    return missing


def _hide(
    compiled: Compiled, state: State, b: int, seat: int, o: int, name: int, role: int, rng: np.random.Generator
) -> None:
    known, rooms = state.know_places[b, seat], state.know_rooms[b, seat]
    first, furniture = compiled.sizes.rooms, compiled.tables.furniture
    if compiled.tables.params[Param.HOME] == Home.TRANSPORT:
        p = first + len(furniture) + o
        where = [r for r in range(first) if rooms[r] != KnownRoom.ALL] or list(range(first))
        room = int(rng.choice(where))
        state.places[b, p, Place.ROOM] = room
        state.places[b, p, Place.CELL] = _cell(state, b, room, rng, compiled.sizes.width)
        in_view = int(rooms[room] == KnownRoom.NONE and rng.random() < 0.5)
    else:
        closed = [
            first + k for k in range(len(furniture)) if known[first + k] in (KnownPlace.UNKNOWN, KnownPlace.CLOSED)
        ]
        present = [p for p in closed if state.places[b, p, Place.KIND] != Kind.NONE]
        likely = [p for p in present if compiled.tables.allowed[name, state.places[b, p, Place.CLASS]]]
        p = int(rng.choice(likely or present or [first]))
        in_view = 1
    state.places[b, p, Place.FREE] -= 1
    state.things[b, o] = [name, role, Rel.AT, p, in_view]


def _recount(state: State, b: int, seat: int) -> None:
    known, things = state.know_things[b, seat], state.things[b]
    for row in state.goals[b]:
        done = (known[:, Belief.STATUS] == Known.DONE) & (things[:, Thing.CLASS] == row[Goal.CLASS])
        row[Goal.HAVE] = min(int(done.sum()), int(row[Goal.NEED]))
    state.world[b, World.BEST] = int(state.goals[b, :, Goal.HAVE].sum())
