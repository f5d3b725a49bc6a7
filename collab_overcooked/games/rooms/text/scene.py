"""Scenes of the room games: keys, their parsers, and checks between keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.api import rows
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.scene_codec import Part, Rows, write_scene
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import boolean_or_bit, integer, list_of, one_of, record

from ..engine.compile import Compiled
from ..engine.constants import Adversary, Clock, Generator, Goal, Outcome, Param, Player
from ..engine.spec import RoomLayout
from ..engine.state import State
from ..engine.step import settle_batch


class RoomScene(CompiledGame):
    """Scenes of a game of rooms."""

    compiled: Compiled
    goal: ClassVar[Goal]
    level: RoomLayout

    def scene_parts(self) -> dict[str, Part]:
        """Declare the keys of scenes; a room that is a number may be written as one.

        Of a player: the room ``before`` the last turn, whether it was ``seen`` by the killer, and is said to have been
        ``fixing``. A ``target`` and a ``fixer``, whose fixes count, are seats.
        """
        level, tables, n_players = self.level, self.compiled.tables, self.n_agents
        room, needed = self._room(), int(tables.params[Param.FIXES])
        seat = codec.optional(codec.integers(0, n_players - 1))

        def write_room(rows: Rows, value: str) -> None:
            rows["players"][[Player.ROOM, Player.BEFORE]] = level.rooms.index(value)

        def is_gate_open(rows: Rows) -> bool:
            return needed <= min((repair[Generator.PROGRESS] for repair in rows["generators"]), default=-1)

        player = {
            "room": codec.column("players", Player.ROOM, room)._replace(write=write_room),
            "before": codec.column("players", Player.BEFORE, room),
            **codec.columns("players", codec.BOOLEAN, active=Player.ACTIVE, seen=Player.SEEN, fixing=Player.FIXING),
        }
        repair = {
            "room": codec.column("generators", Generator.ROOM, room),
            "progress": codec.column("generators", Generator.PROGRESS, codec.COUNT),
            "needed": codec.constant(integer(needed, needed), needed),
            "fixer": codec.column("generators", Generator.FIXER, seat),
        }
        adversary = {
            "room": codec.column("clock", Clock.ADVERSARY, room),
            "target": codec.column("clock", Clock.TARGET, seat),
        }
        return {
            "map": codec.constant(one_of([level.name], "map"), level.name),
            "turn": codec.column("clock", Clock.T, codec.COUNT),
            "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
            "outcome": codec.column("clock", Clock.OUTCOME, codec.members_of(Outcome, "outcome")),
            "players": codec.by_entry([codec.group(player)] * n_players, "players"),
            "adversary": codec.group(adversary),
            "doors": codec.bits("clock", Clock.DOORS, level.door_names, "door"),
            "generators": codec.by_entry([codec.group(repair)] * len(tables.generators), "generators"),
            "gate": Part(boolean_or_bit, is_gate_open),
            "chance": codec.rng_state(),
            **({"known": self._known_part()} if self.compiled.config.sight == "room" else {}),
        }

    def _room(self) -> codec.Codec:
        names = codec.names_of(self.level.rooms, "room")

        return names._replace(parser=lambda value: names.parser(str(value) if type(value) is int else value))

    def _known_part(self) -> Part:
        """Declare what players know by sight and memory: rooms and turns ``ago``, doors, fixes, rooms ``in_sight``."""
        level = self.level
        n_players = self.n_agents
        room = self._room()
        repairs = codec.vector([codec.COUNT] * len(self.compiled.tables.generators), "generators")

        def sighting(seat: int, k: int) -> Part:
            def read(rows: Rows) -> dict[str, Any]:
                at, when = rows["sightings"][seat][k]
                return {"room": level.rooms[at], "ago": rows["clock"][Clock.T] - when}

            def write(rows: Rows, value: Mapping[str, Any]) -> None:
                rows["sightings"][seat][k][:] = level.rooms.index(value["room"]), rows["clock"][Clock.T] - value["ago"]

            return Part(record({"room": room.parser, "ago": codec.COUNT.parser}, ("room", "ago")), read, write)

        def in_sight(seat: int) -> Part:
            def read(rows: Rows) -> list[str]:
                doors, here = rows["clock"][Clock.DOORS], rows["players"][seat][Player.ROOM]
                return [level.rooms[at] for at in np.flatnonzero(self.compiled.tables.distances[doors, here] <= 1)]

            return Part(list_of(room.parser, 1, len(self.level.rooms), "rooms"), read)

        known = [
            codec.group(
                {
                    "players": codec.listing([sighting(seat, k) for k in range(n_players)], "players"),
                    "adversary": sighting(seat, n_players),
                    "doors": codec.bits("known_doors", seat, level.door_names, "door"),
                    "generators": codec.column("known_repairs", seat, repairs),
                    "in_sight": in_sight(seat),
                }
            )
            for seat in range(n_players)
        ]
        return codec.listing(known, "players")._replace(derived=True)

    def _encode(self, state: State, i: int, scene: Mapping[str, Any]) -> None:
        super()._encode(state, i, scene)
        clock = state.clock[i]
        if clock[Clock.OUTCOME] == Outcome.RUNNING and clock[Clock.T] >= clock[Clock.LIMIT]:
            clock[Clock.OUTCOME] = Outcome.TIME_OUT

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        is_decided = "target" in scene.get("adversary", {})  # otherwise the killer decides again
        settle_batch(self.compiled.tables, rows(state, i, i + 1), np.array([not is_decided]))
        if "known" in scene:
            write_scene(self._known_part(), state, i, scene["known"])
        outcome = state.clock[i, Clock.OUTCOME]
        return outcome not in (Outcome.RUNNING, Outcome.TIME_OUT), outcome == Outcome.TIME_OUT

    def _check_scene(self, scene: dict[str, Any]) -> None:
        params, players = self.compiled.tables.params, scene["players"]
        if scene["outcome"] == "running" and not any(player["active"] for player in players):
            raise ValueError("state.players: one must be active while the outcome is running")
        meets = scene["adversary"]["room"] in [player["room"] for player in players if player["active"]]
        if scene["outcome"] == "running" and meets:
            raise ValueError(f"players and adversary are both in room {scene['adversary']['room']}; that ends it")
        rooms = [generator["room"] for generator in scene["generators"]]
        for room in rooms:
            if self.level.has_button(self.level.rooms.index(room)) or rooms.count(room) > 1:
                raise ValueError(f"generators: room {room} has a button or another generator")
        by_one = bool(params[Param.FIX_BY_ONE])
        for k, generator in enumerate(scene["generators"]):
            if (generator["fixer"] is not None) != (by_one and generator["progress"] > 0):
                allowed = "a seat" if by_one and generator["progress"] > 0 else "null"
                raise ValueError(
                    f"state.generators[{k}].fixer must be {allowed} for such a generator, not {generator['fixer']}"
                )

    def _check_completed(self, scene: dict[str, Any]) -> None:
        self._check_target(scene)
        for seat, known in enumerate(scene.get("known", ())):
            self._check_known(scene, seat, known)

    def _check_target(self, scene: Mapping[str, Any]) -> None:
        escape, kind = self.goal == Goal.ESCAPE, self.compiled.tables.params[Param.ADVERSARY]
        near = self._distances(scene["doors"])[self.level.rooms.index(scene["adversary"]["room"])]
        in_sight = [
            seat
            for seat, player in enumerate(scene["players"])
            if escape and player["active"] and near[self.level.rooms.index(player["room"])] == 1
        ]
        coded, target = escape and kind == Adversary.CODED, scene["adversary"]["target"]
        for seat, player in enumerate(scene["players"]):
            if player["seen"] != (coded and seat in in_sight):
                raise ValueError(
                    f"state.players[{seat}].seen must be {not player['seen']}: it sees rooms next to its own"
                )
        allowed: list[int | None] = [*in_sight] or [None] if coded else [None]
        if escape and kind == Adversary.CLOSEST:
            allowed = [None, *(seat for seat, player in enumerate(scene["players"]) if player["active"])]
        if target not in allowed:
            raise ValueError(f"state.adversary.target must be one of {allowed}, not {target}")

    def _check_known(self, scene: Mapping[str, Any], seat: int, known: Mapping[str, Any]) -> None:
        place, in_sight = f"state.known[{seat}]", known["in_sight"]
        truth = [*(player["room"] for player in scene["players"]), scene["adversary"]["room"]]
        for k, (room, belief) in enumerate(zip(truth, [*known["players"], known["adversary"]], strict=True)):
            where = f"{place}.players[{k}]" if k < len(scene["players"]) else f"{place}.adversary"
            if belief["ago"] > scene["turn"]:
                raise ValueError(f"{where}.ago must be at most the {scene['turn']} turns played, not {belief['ago']}")
            if (room in in_sight and belief["ago"] > 0) or (belief["ago"] == 0 and belief["room"] != room):
                raise ValueError(
                    f"{where} must be room {room} 0 turns ago, not room {belief['room']} {belief['ago']} turns ago"
                )
        rooms = self.level.rooms
        here = rooms.index(scene["players"][seat]["room"])
        for door, name in zip(self.level.doors, self.level.door_names, strict=True):
            if here in (*door.rooms, door.button) and known["doors"][name] != scene["doors"][name]:
                raise ValueError(f"{place}.doors.{name} must be {scene['doors'][name]}: the player is at it")
        for k, (generator, done) in enumerate(zip(scene["generators"], known["generators"], strict=True)):
            if generator["room"] in in_sight and done != generator["progress"]:
                raise ValueError(
                    f"{place}.generators[{k}] must be {generator['progress']}, which is in sight, not {done}"
                )

    def _distances(self, doors: Mapping[str, bool]) -> Any:
        return self.compiled.tables.distances[sum(doors[name] << d for d, name in enumerate(self.level.door_names))]
