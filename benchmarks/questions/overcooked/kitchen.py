"""Kitchen of a generated question: its search, and names of the first actions that are possible there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from benchmarks.questions.overcooked.search import First, JointSearch
from collab_overcooked.games.overcooked.engine.constants import Terrain
from collab_overcooked.games.overcooked.questions.kitchen import WAIT, Kitchen, Place
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.paths import UNREACHABLE, flood

AWAY = "move away"
State = Mapping[str, Any]


class SearchedKitchen(Kitchen):
    """A layout of two players, with the ways and searches of the generator.

    Args:
        layout: Built-in name.
    """

    def __init__(self, layout: str) -> None:
        super().__init__(layout)
        tables = self.compiled.tables
        self.regions = tables.regions[0]
        self.floor_numbers = tables.floor[0]
        self.neighbours = tables.neighbours[0]

    @cached_property
    def search(self) -> JointSearch:
        """The exact search of this kitchen."""
        return JointSearch(self.game)

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
                for end in np.flatnonzero(self.search.faced == self.number(self.objects[name])).tolist():
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

    def floor(self, region: int | None = None) -> list[Place]:
        """Return the floor cells, by default of all regions."""
        selected = self.terrain == Terrain.FLOOR if region is None else self.regions == region
        return [(int(x), int(y)) for y, x in np.argwhere(selected)]


@lru_cache(maxsize=16)
def load_kitchen(layout: str) -> SearchedKitchen:
    """Load the kitchen of a built-in layout; it is cached."""
    return SearchedKitchen(layout)
