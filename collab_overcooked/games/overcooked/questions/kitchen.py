"""Kitchen of a question: its game, its search, and names of the first actions that are possible there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.kernels.grid import OFFSETS, Direction
from collab_overcooked.kernels.macro_actions import MEDIUM
from collab_overcooked.kernels.paths import UNREACHABLE, flood

from ..engine.constants import NOTHING, Object, Terrain
from ..text.text import object_name
from .search import First, JointSearch

ENV_ID = "Overcooked-v0"
WAIT, AWAY = "wait", "move away"
State = Mapping[str, Any]
Place = tuple[int, int]  # x, y


class Kitchen:
    """A layout of two players.

    Args:
        layout: Built-in name.
    """

    def __init__(self, layout: str) -> None:
        self.layout = layout
        self.game: Any = registry.load_game(ENV_ID, layout=layout)
        self.compiled = self.game.compiled
        tables = self.compiled.tables
        self.terrain, self.regions = tables.terrain[0], tables.regions[0]
        self.floor_numbers, self.neighbours = tables.floor[0], tables.neighbours[0]
        self.width = self.terrain.shape[1]
        self.objects = {object_name(thing): thing for thing in tables.objects[0] if thing[Object.X] != NOTHING}
        game: Any = self.game
        texts = game.directive_texts
        self.cells = {
            texts[action]: self._number(tables.objects[0, slot])
            for action, (_, slot) in enumerate(tables.catalogue.tolist())
            if slot != NOTHING
        }

    @cached_property
    def search(self) -> JointSearch:
        """The exact search of this kitchen."""
        return JointSearch(self.game)

    @cached_property
    def _directed(self) -> Any:
        return registry.load_game(ENV_ID, layout=self.layout, action_level=MEDIUM)

    def told(self, state: State, seat: int) -> str:
        """Return the observation text of an agent with directives: distances, contents, possible directives."""
        game = self._directed
        arrays, out = game.alloc(1)
        game.reset(arrays, out, np.ones(1, np.bool_), {"state": state})
        return str(game.describe(arrays, 0, seat))

    def _number(self, thing: np.ndarray) -> int:
        return int(thing[Object.Y] * self.width + thing[Object.X])

    def place(self, name: str) -> Place:
        """Return the cell of a named object."""
        return int(self.objects[name][Object.X]), int(self.objects[name][Object.Y])

    def cell(self, choice: str) -> int:
        """Return the number of the cell that a choice names at its end."""
        return self._number(self.objects[choice.split()[-1]])

    def first(self, choice: str) -> int:
        """Return the code of a choice's text in ``search.First``."""
        return int(First.WAITED) if choice == WAIT else int(First.CELL) + self.cell(choice)

    def seen(self, state: State, seat: int) -> dict[str, Any]:
        """Return the result of ``OvercookedText.look`` in a state."""
        arrays, out = self.game.alloc(1)
        self.game.reset(arrays, out, np.ones(1, np.bool_), {"state": state})
        return self.game.look(arrays, 0, seat)

    def steps_to_use(self, state: State, seat: int, *names: str) -> int | None:
        """Return the fewest steps in which a seat can use objects in the given order; None if impossible.

        The other cook is ignored, and closed gates stay closed.
        """
        occupied = np.zeros(len(self.neighbours), np.int32)
        for gate in state["gates"]:
            x, y = gate["position"]
            occupied[self.floor_numbers[y, x]] = not gate["open"]
        player = state["players"][seat]
        x, y = player["position"]
        poses = {4 * int(self.floor_numbers[y, x]) + int(Direction[player["facing"].upper()]): 0}
        for name in names:
            later: dict[int, int] = {}
            for pose, steps in poses.items():
                distance = self._flood(pose, occupied)
                for end in np.flatnonzero(self.search.faced == self._number(self.objects[name])).tolist():
                    if distance[end] < UNREACHABLE:
                        later[end] = min(later.get(end, UNREACHABLE), steps + int(distance[end]) + 1)
            poses = later
        return min(poses.values(), default=None)

    def _flood(self, pose: int, occupied: np.ndarray) -> np.ndarray:
        distance, first, queue = (np.zeros(4 * len(self.neighbours), np.int32) for _ in range(3))
        flood(pose, self.neighbours, occupied, distance, first, queue)
        return distance

    def choices(self, state: State, seat: int) -> tuple[str, ...]:
        """Return the texts of a seat's next actions, including waiting."""
        return tuple(text for text in self.seen(state, seat)["feasible"] if text not in (AWAY, "continue"))

    def faced(self, player: Mapping[str, Any]) -> int:
        """Return the number of the cell that a player of a scene faces."""
        dx, dy = OFFSETS[Direction[player["facing"].upper()]]
        x, y = player["position"]
        return int((y + dy) * self.width + x + dx)

    def used(self, before: State, after: State, seat: int) -> int | None:
        """Return the number of the cell that a seat used its hands on in a step; None if it did not."""
        player = before["players"][seat]
        cell = self.faced(player)
        if player["holding"] != after["players"][seat]["holding"]:
            return cell
        here = [cell % self.width, cell // self.width]
        opened = any(
            one["position"] == here and other["open"] and not one["open"]
            for one, other in zip(before["gates"], after["gates"], strict=True)
        )
        return cell if opened and player["holding"] is None else None

    def floor(self, region: int | None = None) -> list[Place]:
        """Return the floor cells, by default of all regions."""
        selected = self.terrain == Terrain.FLOOR if region is None else self.regions == region
        return [(int(x), int(y)) for y, x in np.argwhere(selected)]


@lru_cache(maxsize=16)
def load_kitchen(layout: str) -> Kitchen:
    """Load the kitchen of a built-in layout; it is cached."""
    return Kitchen(layout)
