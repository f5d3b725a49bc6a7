"""Rule tests of room games as diagrams: write a moment down, let players act, compare what comes out.

A moment is a line for each room that holds something, and one for doors and time where these matter::

    1: 0 generator 1        player 0; the generator there has one fix
    3: 1 adversary
    door 1-2 open
    turn 4

Actions of a turn are separated by bars: ``"2 | fix"`` sends player 0 to room 2; ``-`` stays.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import yaml
from support.scenes import write_scene

from collab_overcooked.games.rooms.env import CollabCapture, CollabEscape, RoomGame
from collab_overcooked.kernels.rng import seed_states

ROOMS = """one_way: true
rooms:
  1: [2, 6]
  2: [1, 3]
  3: [2, 4]
  4: [3, 5]
  5: [4, 6]
  6: [5, 1, 7]
  7: [6, 8]
  8: [6]
"""
CAPTURE = (
    ROOMS
    + """name: test
game: capture
doors: [{between: [1, 2], button: 5, open: false}, {between: [4, 5], button: 7, open: true}]
starts: {agents: [1, 6], adversary: 3}
"""
)
ESCAPE = (
    ROOMS
    + """name: test
game: escape
doors: [{between: [4, 5], button: 7, open: true}]
generators: [1, 3]
exits: [8]
starts: {agents: [1, 2], adversary: 5}
"""
)
GAMES = {"capture": (CollabCapture, CAPTURE), "escape": (CollabEscape, ESCAPE)}


@lru_cache
def game_of(kind: str, options: str) -> RoomGame:
    game, level = GAMES[kind]
    return game(**({"map": yaml.safe_load(level)} | yaml.safe_load(options)))


class Moment:
    """A moment as written; what is left out is as at the start, with the killer's decision made anew."""

    def __init__(self, kind: str, text: str = "", seed: int = 0, **options: Any) -> None:
        self.game = game_of(kind, yaml.safe_dump(options))
        self.state, self.out = self.game.alloc(1)
        self.state.rng[:] = seed_states([seed])
        write_scene(self.game, self.state, self.out, self.read(text))

    def read(self, text: str) -> dict[str, Any]:
        state, out = self.game.alloc(1)
        self.game.reset(state, out, np.ones(1, np.bool_))
        scene = self.game.scene(state, 0)
        for thing in (scene["adversary"], *scene["players"]):
            thing.pop("target", None)
        scene["players"] = [{"room": player["room"], "active": True} for player in scene["players"]]
        for line in filter(None, map(str.strip, text.splitlines())):
            head, _, rest = line.partition(":")
            if not rest:
                self._read_rest(scene, line.split())
                continue
            self._read_room(scene, head, rest.split())
        return scene

    def _read_room(self, scene: dict[str, Any], room: str, message: list[str]) -> None:
        while message:
            word = message.pop(0)
            if word == "adversary":
                scene["adversary"]["room"] = room
            elif word == "generator":
                (results,) = [generator for generator in scene["generators"] if generator["room"] == room]
                results["progress"] = int(message.pop(0))
                if message and message[0] == "by":
                    results["fixer"] = int(message[1])
                    del message[:2]
            else:
                player = scene["players"][int(word.rstrip("x!"))]
                player |= {"room": room, "before": room, "active": "x" not in word, "seen": "!" in word}

    def _read_rest(self, scene: dict[str, Any], phrase: list[str]) -> None:
        if phrase[0] == "door":
            scene["doors"][phrase[1]] = phrase[2] == "open"
        elif phrase[0] == "target":
            scene["adversary"]["target"] = None if phrase[1] == "nobody" else int(phrase[1])
        else:
            scene[phrase[0]] = int(phrase[1])

    @property
    def scene(self) -> dict[str, Any]:
        return self.game.scene(self.state, 0)

    def action(self, word: str) -> int:
        if word in ("-", "use", "fix", "press"):
            return 0 if word == "-" else self.game.n_actions - 1
        return 1 + self.game.level.rooms.index(word)

    def play(self, *turns: str) -> Moment:
        for turn in turns:
            actions = [self.action(word.strip()) for word in turn.split("|")]
            self.game.step(self.state, np.array([actions], np.int32), self.out)
        return self

    @property
    def rooms(self) -> list[int]:
        """Rooms of the players, then of the adversary."""
        scene = self.scene
        return [*(int(player["room"]) for player in scene["players"]), int(scene["adversary"]["room"])]

    @property
    def repairs(self) -> list[int]:
        return [entry["progress"] for entry in self.scene["generators"]]

    @property
    def events(self) -> list[Any]:
        return self.game.events(self.out, 0)
