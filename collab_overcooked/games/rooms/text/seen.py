"""Knowledge of a player with limited sight: sight, memory and sampled beliefs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from collab_overcooked.envs.seen import SeatView
from collab_overcooked.kernels.arrays import Array

from ..engine.constants import NOTHING, Clock, Generator, Goal, Param, Player, Reason, Sight, Sighting
from ..engine.state import State
from ..engine.step import settle_batch
from .scene import RoomScene
from .text import ENDS, MENU

UNSEEN = -1  # turns since the sight of an adversary that is known to be in a room now, but not seen there


class RoomView(SeatView):
    """A seat's knowledge of a state; other players' actions are known only with full sight."""

    def __init__(self, game: Any, state: Any, seat: int) -> None:
        super().__init__(game, state, seat)
        self.public_history = game.kwargs["sight"] == "all"

    def own_event_label(self, label: str) -> str:
        return super().own_event_label("waited" if label == "stayed" and self._game.goal == Goal.ESCAPE else label)

    def consequence(self, event: Any) -> str:
        if event.reason != Reason.OK.name:
            return self._say(Reason[event.reason].sentence.format(room=event.room))
        ends = {"completed": event.completed, "caught": event.caught, "escaped": event.escaped}
        texts = ENDS[self._game.goal]
        return " ".join(self._say(texts[end]) for end, reached in ends.items() if reached and end in texts)

    @property
    def objective(self) -> str:
        return self._say(self._game.objective(self.scene["limit"]))

    @property
    def has_partners(self) -> bool:
        others = (player for seat, player in enumerate(self.scene["players"]) if seat != self._seat)
        return any(player["active"] for player in others)

    @cached_property
    def surroundings(self) -> str:
        return self.text.partition(f"\n{self._say(MENU)}")[0]

    @property
    def walks(self) -> frozenset[int]:
        return frozenset(range(1, self._game.n_actions - 1))

    @cached_property
    def useless(self) -> frozenset[int]:
        use = frozenset({self._game.n_actions - 1})
        return use if self._game.is_useless(self._state, 0, self._seat) else frozenset()


class RoomBelief(RoomScene):
    """Knowledge of seats in a game of rooms, and sampled beliefs about hidden state."""

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a scene limited to what a player sees or remembers; ``seen_ago`` marks remembered positions."""
        scene = super().seat_scene(scene, seat)
        if "known" not in scene:
            return scene
        memory = scene["known"][seat]
        rooms, killer = set(memory["in_sight"]), memory["adversary"]["ago"] == 0
        players = []
        for other, (player, place) in enumerate(zip(scene["players"], memory["players"], strict=True)):
            visible = place["ago"] == 0
            room = place["room"]
            players.append(
                {
                    "room": room,
                    "before": player["before"] if other == seat else room,
                    "active": player["active"],
                    "seen": killer and visible and player["seen"],
                    "fixing": visible and player["fixing"],
                    **({} if visible else {"seen_ago": place["ago"]}),
                }
            )
        adversary = {"room": memory["adversary"]["room"], "target": scene["adversary"]["target"] if killer else None}
        if not killer:
            adversary["seen_ago"] = max(0, memory["adversary"]["ago"])
        generators = [
            {**generator, "progress": done, "fixer": generator["fixer"] if generator["room"] in rooms else None}
            for generator, done in zip(scene["generators"], memory["generators"], strict=True)
        ]
        gate = bool(generators) and all(generator["progress"] >= generator["needed"] for generator in generators)
        kept = {name: value for name, value in scene.items() if name != "known"}
        limited = {"players": players, "adversary": adversary, "generators": generators}
        return kept | limited | {"doors": memory["doors"], "gate": gate, "in_sight": memory["in_sight"]}

    @property
    def facts(self) -> Sequence[str]:
        """With limited sight, the room in which the thief is, or to which the killer goes in this turn."""
        what = self.things[0]
        rooms = self.level.rooms if self.compiled.config.sight == "room" else ()
        does = "is in" if self.goal == Goal.CAPTURE else "goes to"
        return [f"the {what} {does} room {room}" for room in rooms]

    def known_fact(self, scene: Mapping[str, Any], seat: int) -> int | None:
        """What a player sees; where the killer goes follows from whom it chases."""
        adversary = scene["adversary"]
        if "seen_ago" in adversary:
            return None
        room = self.level.rooms.index(adversary["room"])
        if self.goal == Goal.CAPTURE:
            return room
        target = None if adversary["target"] is None else scene["players"][adversary["target"]]
        if target is None or "seen_ago" in target:
            return None
        tables, goal = self.compiled.tables, self.level.rooms.index(target["room"])
        doors = sum(bool(is_open) << d for d, is_open in enumerate(scene["doors"].values()))
        ways = [way for way in tables.ways[doors, room].tolist() if way != NOTHING]
        return min([room, *ways], key=lambda way: int(tables.distances[doors, way, goal]))

    def learn_fact(self, state: State, seat: int, fact: int, then: Mapping[str, Any]) -> None:
        """Remember the adversary there, unless it was seen later, or would be in sight."""
        when = then["turn"] + (self.goal == Goal.ESCAPE)
        doors = state.clock[:, Clock.DOORS]
        here = state.players[:, seat, Player.ROOM]
        now = state.clock[:, Clock.T]
        sightings = state.sightings[:, seat, self.n_agents]
        distances = self.compiled.tables.distances
        in_sight = distances[doors, here, fact] <= 1
        learns = (sightings[:, Sighting.TURN] < when) & ~((now == when) & in_sight)
        sightings[learns, Sighting.ROOM] = fact
        sightings[learns, Sighting.TURN] = np.where(now == when, now - UNSEEN, when)[learns]

    def sample_belief(self, state: State, seat: int, rng: np.random.Generator) -> None:
        """Replace hidden state of a player by a sampled belief, in every environment of a batch.

        A player out of sight is in a random room that it can have reached since it was last seen; doors and repairs
        out of sight are as last seen. The result does not depend on anything that the player does not know.

        Mutates: state.
        """
        if self.compiled.tables.params[Param.SIGHT] != Sight.ROOM:
            return
        n_players, decides = self.n_agents, np.zeros(len(state.clock), np.bool_)
        memory = [array[:, seat].copy() for array in (state.sightings, state.known_doors, state.known_repairs)]
        for b in range(len(state.clock)):
            seen = self.compiled.tables.distances[state.clock[b, Clock.DOORS], state.players[b, seat, Player.ROOM]] <= 1
            ago = state.clock[b, Clock.T] - state.sightings[b, seat, :, Sighting.TURN]
            self._believe_generators(state, b, seat, seen, rng)
            state.clock[b, Clock.DOORS] = state.known_doors[b, seat]
            for other in range(n_players):
                player = state.players[b, other]
                if other != seat:
                    player[Player.ROOM] = self._believed_room(state, b, seat, other, seen, (), rng)
                    player[Player.BEFORE] = player[Player.ROOM]
                    player[Player.FIXING] = player[Player.FIXING] if ago[other] == 0 else 0
            active = state.players[b, state.players[b, :, Player.ACTIVE] == 1, Player.ROOM].tolist()
            place = self._believed_room(state, b, seat, n_players, seen, active, rng)
            state.clock[b, Clock.ADVERSARY] = place
            decides[b] = ago[n_players] != 0
            known = np.zeros(n_players, np.bool_) if decides[b] else ago[:n_players] == 0
            state.players[b, ~known, Player.SEEN] = 0
            if decides[b]:
                state.clock[b, Clock.TARGET] = NOTHING
            else:
                self._believe_seen(state, b, known)
        settle_batch(self.compiled.tables, state, decides)
        for array, before in zip((state.sightings, state.known_doors, state.known_repairs), memory, strict=True):
            array[:, seat] = before

    def _believe_generators(self, state: State, b: int, seat: int, seen: Array, rng: np.random.Generator) -> None:
        others = [other for other in range(self.n_agents) if other != seat]
        for g, generator in enumerate(state.generators[b]):
            if seen[generator[Generator.ROOM]]:
                continue
            generator[Generator.PROGRESS] = state.known_repairs[b, seat, g]
            works = generator[Generator.PROGRESS] > 0 and others and self.compiled.tables.params[Param.FIX_BY_ONE]
            generator[Generator.FIXER] = rng.choice(others) if works else NOTHING

    def _believed_room(
        self, state: State, b: int, seat: int, other: int, seen: Array, taken: Sequence[int], rng: np.random.Generator
    ) -> int:
        last, when = state.sightings[b, seat, other].tolist()
        ago = int(state.clock[b, Clock.T]) - when
        if ago <= 0:
            return last
        free = ~seen
        free[list(taken)] = False
        reach = free & (self.compiled.tables.distances[-1][last] <= ago)
        rooms = np.flatnonzero(reach if reach.any() else free)
        return int(rng.choice(rooms)) if len(rooms) else last

    def _believe_seen(self, state: State, b: int, known: Array) -> None:
        distances = self.compiled.tables.distances[state.clock[b, Clock.DOORS], state.clock[b, Clock.ADVERSARY]]
        for player in (state.players[b, other] for other in np.flatnonzero(~known)):
            player[Player.SEEN] = distances[player[Player.ROOM]] == 1 and player[Player.ACTIVE] == 1
