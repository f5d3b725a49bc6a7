"""What agents of the household games tell each other by a code: where a wanted thing is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..engine.constants import (
    NOTHING,
    Belief,
    Furniture,
    GameKind,
    Goal,
    Kind,
    Known,
    KnownPlace,
    KnownRoom,
    Param,
    Place,
    Rel,
    Role,
    Thing,
)
from ..engine.state import State
from .scene import HouseScenes

MOST_FACTS = 64  # symbols of a channel


class HouseFacts(HouseScenes):
    """Facts: a thing of a kind, by its number in the goal, is at a piece of furniture, in Transport in a room."""

    @property
    def _fact_places(self) -> range:
        rooms, furniture = self.compiled.sizes.rooms, len(self.compiled.tables.furniture)
        is_transport = self.compiled.tables.params[Param.GAME] == GameKind.TRANSPORT
        return range(rooms) if is_transport else range(rooms, rooms + furniture)

    @property
    def facts(self) -> Sequence[str]:
        """Where things of the goal's first kinds are, as many kinds as symbols allow."""
        places = [self.place_label(p) for p in self._fact_places]
        kinds = min(self.compiled.sizes.goals, MOST_FACTS // len(places))
        return [f"a thing of kind {g} of the goal is in the {place}" for g in range(1, kinds + 1) for place in places]

    def known_fact(self, scene: Mapping[str, Any], seat: int) -> int | None:
        """Of the things that are still missing, the one that is farthest from the seat: it would fetch it last."""
        places, facts = self._fact_places, len(self.facts)
        missing = {goal["name"]: g for g, goal in enumerate(scene["goals"]) if goal["need"] > goal["seen"]}
        by_way = {}
        for thing in scene["things"].values():
            if thing["status"] != "seen" or thing["role"] != "target" or thing["name"] not in missing:
                continue
            place = thing["place"] if thing["place"] in places else thing["room"]
            if place in places:
                by_way[thing["way"]] = missing[thing["name"]] * len(places) + places.index(place)
        told = {way: fact for way, fact in by_way.items() if fact < facts}
        return told[max(told)] if told else None

    def learn_fact(self, state: State, seat: int, fact: int, then: Mapping[str, Any]) -> None:
        """Who has looked there itself knows better. The thing gets a number that the seat does not know yet.

        Where the seat has not seen the place, its position is taken for the centre of its room.
        """
        g, k = divmod(fact, len(self._fact_places))
        for b, goals in enumerate(state.goals):
            known = state.know_things[b, seat]
            free = np.flatnonzero(known[:, Belief.STATUS] == Known.UNKNOWN)
            if goals[g, Goal.CLASS] == NOTHING or not len(free) or self._has_looked(state, b, seat, g, k):
                continue
            o = int(free[0])
            p = self._told_place(state, b, seat, o, k)
            state.things[b, o] = [goals[g, Goal.CLASS], Role.TARGET, Rel.AT, p, 1]
            known[o] = [Known.SEEN, p, then["tick"], 0]

    def _has_looked(self, state: State, b: int, seat: int, g: int, k: int) -> bool:
        p = self._fact_places[k]
        if p >= self.compiled.sizes.rooms:
            return bool(state.know_places[b, seat, p] in (KnownPlace.OPEN, KnownPlace.CHECKED))
        status, place = state.know_things[b, seat, :, : Belief.TICK].T
        is_seen = (status == Known.SEEN) & (state.things[b, :, Thing.CLASS] == state.goals[b, g, Goal.CLASS])
        here = state.places[b, place, Place.ROOM] == p
        return bool(state.know_rooms[b, seat, p] == KnownRoom.ALL or (is_seen & here).any())

    def _told_place(self, state: State, b: int, seat: int, o: int, k: int) -> int:
        """Return the place of a thing that a seat was told of; in Transport things lie on spots of their own."""
        p, rooms = self._fact_places[k], self.compiled.sizes.rooms
        if p >= rooms and state.know_places[b, seat, p] != KnownPlace.UNKNOWN:
            return p
        place = p
        kind = Kind.SPOT
        of_class = NOTHING
        room = p
        if p < rooms:
            place = rooms + len(self.compiled.tables.furniture) + o
        else:
            room, kind, of_class = self.compiled.tables.furniture[p - rooms, : Furniture.FREE].tolist()
        row = state.places[b, place]
        row[[Place.KIND, Place.CLASS, Place.ROOM]] = kind, of_class, room
        row[[Place.CELL, Place.OPEN]] = state.places[b, room, Place.CELL], kind == Kind.SPOT
        state.dist[b, :, place] = state.dist[b, :, room]
        return place
