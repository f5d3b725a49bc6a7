"""Beliefs of an agent: complete states sampled from its own knowledge."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.kernels.macro_actions import Macro

from .constants import (
    FREE_AT_GOAL,
    HANDS,
    NOTHING,
    Agent,
    Belief,
    GameKind,
    Goal,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Load,
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
from .state import State

HANDS_OF = slice(Agent.LEFT_HAND, Agent.LEFT_HAND + HANDS)


class Guess:
    """Samples a belief: replaces a seat's unknown facts in one environment, whose arrays have no batch axis."""

    def __init__(self, tables: Any, state: State, seat: int, rng: np.random.Generator) -> None:
        self.tables = tables
        self.state = state
        self.rng = rng
        self.seat, self.first = seat, len(tables.room_types)  # the first piece of furniture
        self.is_transport = tables.params[Param.GAME] == GameKind.TRANSPORT
        self.goal = int(state.world[World.GOAL])
        self.known = state.know_things[seat]
        self.rooms = state.know_rooms[seat]
        self.places = state.know_places[seat]

    def draw(self) -> None:
        """Place unseen furniture, closed, in its room, agents anywhere, and things where the seat has not looked.

        Unseen agents are idle, and know what the seat knows.
        """
        self._furnish()
        for j in range(len(self.state.agents)):
            if j != self.seat:
                self._place_mate(j)
        self._place_things()
        self._recount()

    def _cell(self, room: int) -> int:
        box = self.state.rooms[room]
        x = self.rng.integers(box[Room.LEFT], box[Room.RIGHT] + 1)
        y = self.rng.integers(box[Room.TOP], box[Room.BOTTOM] + 1)
        return int(y * self.tables.params[Param.GRID_WIDTH] + x)

    def _furnish(self) -> None:
        places = self.state.places
        told = self.known[self.known[:, Belief.STATUS] == Known.SEEN, Belief.PLACE]
        for p, (room, kind, _, fits, optional) in enumerate(self.tables.furniture.tolist(), self.first):
            places[p, Place.FREE] = fits
            seen = self.rooms[room] != KnownRoom.NONE  # what a visited room does not show is not there
            if self.places[p] == KnownPlace.UNKNOWN:
                missing = optional == 1 and p not in told and (seen or self.rng.random() < 0.5)
                places[p, Place.KIND] = Kind.NONE if missing else kind
                places[p, Place.CELL] = self._cell(room)
            places[p, Place.OPEN] = kind != Kind.CONTAINER or self.places[p] == KnownPlace.OPEN
        places[self.goal, Place.FREE] = FREE_AT_GOAL

    def _place_mate(self, j: int) -> None:
        state = self.state
        agent = self.state.agents[j]
        last = self.state.know_mates[self.seat, j]
        room = state.cells[state.agents[self.seat, Agent.CELL]]
        present = last[Mate.TICK] == state.world[World.T] and last[Mate.ROOM] == room
        elsewhere = (state.cells != NOTHING) & (state.cells != room)
        cell = self.rng.choice(np.flatnonzero(state.cells == room if present else elsewhere))
        agent[:] = 0
        agent[Agent.CELL], agent[Agent.VERB] = cell, Verb.WAIT
        agent[Agent.ROOM] = state.cells[cell]
        held = last[Mate.LEFT_HAND : Mate.LEFT_HAND + HANDS].tolist() if last[Mate.TICK] != NOTHING else []
        agent[HANDS_OF] = NOTHING
        for hand, o in enumerate(held, Agent.LEFT_HAND):
            if o != NOTHING and self.known[o, : Belief.TICK].tolist() == [Known.MATE, j]:
                agent[hand] = o
        state.macro_state[j] = 0
        state.macro_state[j, Macro.ACTION] = NOTHING
        for array in (state.know_things, state.know_rooms, state.know_places):
            array[j] = array[self.seat]
        state.know_mates[j] = NOTHING

    def _place_things(self) -> None:
        things = self.state.things
        self._forget_spots()
        held = {o: j for j, hands in enumerate(self.state.agents[:, HANDS_OF].tolist()) for o in hands if o != NOTHING}
        boxes = {j: o for o, j in held.items() if things[o, Thing.ROLE] == Role.CONTAINER}
        lost = []
        things[:, Thing.IN_VIEW] = 1
        for o, (status, place) in enumerate(self.known[:, : Belief.TICK].tolist()):
            where = things[o, [Thing.REL, Thing.PARENT]].tolist()  # kept in the container that the seat holds
            if o in held:
                where = [Rel.HELD, held[o]]
            elif status == Known.SEEN:
                where = [Rel.AT, place]
                self.state.places[place, Place.FREE] -= 1
            elif status == Known.MATE and place in boxes:  # it was in no hand, so it was in the container
                where = [Rel.INSIDE, boxes[place]]
            elif status == Known.DONE:
                where = [Rel.DELIVERED if self.is_transport else Rel.AT, self.goal]
            elif status != Known.MINE:
                lost.append(o)
            things[o, [Thing.REL, Thing.PARENT]] = where
        for o, name, role in self._missing(lost):
            self._hide(o, name, role)

    def _forget_spots(self) -> None:
        places = self.state.places
        for o, p in enumerate(range(self.first + len(self.tables.furniture), len(places))):
            if self.known[o, : Belief.TICK].tolist() != [Known.SEEN, p]:
                places[p, [Place.KIND, Place.CLASS, Place.ROOM]] = Kind.SPOT, NOTHING, 0
                places[p, [Place.CELL, Place.OPEN]] = places[0, Place.CELL], 1
            places[p, Place.FREE] = 1

    def _missing(self, lost: list[int]) -> list[tuple[int, int, int]]:
        """Return the unseen things that must exist, with class and role; other unseen things do not exist."""
        things, params = self.state.things, self.tables.params
        is_known = self.known[:, Belief.STATUS] != Known.UNKNOWN
        placed = is_known & ~np.isin(np.arange(len(things)), lost)
        required: list[tuple[int, int]] = []
        for cls, need, _ in self.state.goals.tolist():
            there = int((placed & (things[:, Thing.CLASS] == cls)).sum())
            required += [(cls, Role.TARGET)] * max(need - there, 0)
        if self.is_transport:
            seen = int((is_known & (things[:, Thing.ROLE] != Role.TARGET)).sum())
            boxes = self.tables.families[self.state.world[World.TASK], Load.CONTAINER : Load.ROOM]
            required += [(int(self.rng.choice(boxes)), Role.CONTAINER)] * max(int(params[Param.CONTAINERS]) - seen, 0)
        gone = [o for o in lost if self.known[o, Belief.STATUS] == Known.GONE]
        missing = []
        for o in (*gone, *(o for o in lost if o not in gone)):
            name, role = things[o, [Thing.CLASS, Thing.ROLE]].tolist() if o in gone else (0, Role.TARGET)
            things[o, [Thing.CLASS, Thing.ROLE]] = name, role
            things[o, [Thing.REL, Thing.PARENT, Thing.IN_VIEW]] = Rel.NONE, 0, 1
            match = next((pair for pair in required if o not in gone or pair[0] == name), None)
            if match is not None:
                required.remove(match)
                missing.append((o, *match))
        return missing

    def _hide(self, o: int, name: int, role: int) -> None:
        places = self.state.places
        in_view = 1
        end = self.first + len(self.tables.furniture)
        if self.is_transport:
            p = end + o
            rooms = [r for r in range(self.first) if self.rooms[r] != KnownRoom.ALL] or list(range(self.first))
            room = int(self.rng.choice(rooms))
            places[p, Place.ROOM], places[p, Place.CELL] = room, self._cell(room)
            in_view = int(self.rooms[room] == KnownRoom.NONE and self.rng.random() < 0.5)
        else:
            closed = [p for p in range(self.first, end) if self.places[p] in (KnownPlace.UNKNOWN, KnownPlace.CLOSED)]
            present = [p for p in closed if places[p, Place.KIND] != Kind.NONE]
            likely = [p for p in present if self.tables.allowed[name, places[p, Place.CLASS]]]
            p = int(self.rng.choice(likely or present or [self.first]))
        places[p, Place.FREE] -= 1
        things = self.state.things
        things[o, [Thing.CLASS, Thing.ROLE]] = name, role
        things[o, [Thing.REL, Thing.PARENT, Thing.IN_VIEW]] = Rel.AT, p, in_view

    def _recount(self) -> None:
        done, goals = self.known[:, Belief.STATUS] == Known.DONE, self.state.goals
        for row in goals:
            count = int((done & (self.state.things[:, Thing.CLASS] == row[Goal.CLASS])).sum())
            row[Goal.HAVE] = min(count, int(row[Goal.NEED]))
        self.state.world[World.BEST] = goals[:, Goal.HAVE].sum()
