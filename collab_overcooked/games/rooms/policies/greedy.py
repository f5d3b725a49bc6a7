"""Greedy play of the room games, from the seat's observation.

A hunter is the baseline of LLM-Coordination: it moves to the thief if it is next door, else presses a button that opens
a way to the thief, else moves to the first neighbouring room. A survivor evades a killer next door, else repairs
the nearest broken generator, else goes to the exit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase

from ..engine.constants import FREE, NOTHING, STAY, UNREACHABLE, RoomColumn
from .exact import check_game


class GreedyPolicy(PolicyBase):
    """Hunts the thief, or repairs and escapes; its ``intent`` is the room that it wants to reach."""

    name = "greedy"
    needs_simulator = False
    batched = True

    intent: int | None = None

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        check_game(self.name, info.game)
        self._compiled = plain(info.game).compiled
        self._rooms = self._compiled.level.rooms

    def act(self, seen: AgentView) -> int:
        scene = seen.scene
        room = self._rooms.index(scene["players"][seen.seat]["room"])
        adversary = self._rooms.index(scene["adversary"]["room"])
        doors = sum(bool(is_open) << d for d, is_open in enumerate(scene["doors"].values()))
        chosen = self._hunt if self._compiled.level.game == "capture" else self._survive
        action = chosen(scene, seen.seat, room, adversary, doors)
        return action if seen.mask[action] else seen.idle_action

    def _is_next(self, room: int, other: int, doors: int) -> bool:
        passage = int(self._compiled.tables.passages[room, other])
        return passage == FREE or (passage > FREE and bool(doors >> (passage - 1) & 1))

    def _hunt(self, scene: Any, seat: int, room: int, thief: int, doors: int) -> int:
        button = int(self._compiled.tables.rooms[room, RoomColumn.BUTTON])
        self.intent = thief
        if self._is_next(room, thief, doors):
            return 1 + thief
        if button != NOTHING and self._is_next(room, thief, doors ^ (1 << button)):
            return self._compiled.n_rooms + 1
        near = [other for other in self._compiled.level.neighbours[room] if self._is_next(room, other, doors)]
        self.intent = near[0] if near else room
        return 1 + near[0] if near else STAY

    def _survive(self, scene: Any, seat: int, room: int, killer: int, doors: int) -> int:
        distances = self._compiled.tables.distances[doors]
        near = [other for other in self._compiled.level.neighbours[room] if self._is_next(room, other, doors)]
        if distances[killer, room] <= 1 and scene["adversary"]["target"] in (None, seat):
            flight = max([STAY, *(1 + other for other in near)], key=lambda a: _reach(distances, killer, room, a))
            self.intent = room if flight == STAY else flight - 1
            return flight
        broken = [generator for generator in scene["generators"] if generator["progress"] < generator["needed"]]
        goals = [self._rooms.index(generator["room"]) for generator in broken] or list(self._compiled.level.exits)
        goal = min((goal for goal in goals if goal != killer or len(goals) == 1), key=lambda g: distances[room, g])
        self.intent = goal
        if goal == room:
            return self._compiled.n_rooms + 1 if broken else STAY
        safe = [other for other in near if other != killer] or [room]
        step = min(safe, key=lambda other: distances[other, goal])
        return STAY if step == room or distances[step, goal] == UNREACHABLE else 1 + step


def _reach(distances: np.ndarray, killer: int, room: int, action: int) -> int:
    return int(distances[killer, room if action == STAY else action - 1])
