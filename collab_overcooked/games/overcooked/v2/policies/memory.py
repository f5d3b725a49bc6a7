"""Memory and beliefs of a scripted player: things as last seen, where others may be, and which recipes are possible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked.games.overcooked.v2.engine.compile import Compiled
from collab_overcooked.games.overcooked.v2.engine.spec import names_of
from collab_overcooked.games.overcooked.v2.policies.kitchen import Walks
from collab_overcooked.games.overcooked.v2.text.seen import cells_in_view
from collab_overcooked.kernels.grid import OFFSETS, Direction

Scene = Mapping[str, Any]


class Memory:
    """Knowledge of a seat from all its scenes in an episode."""

    def __init__(self, compiled: Compiled, walks: Walks, seat: int, seed: int) -> None:
        self._compiled, self._walks, self._seat = compiled, walks, seat
        self._rng = np.random.default_rng(seed)
        self._objects: dict[tuple[int, int], dict[str, Any]] = {}
        self._others: dict[int, dict[str, Any]] = {}
        self._before: Scene | None = None
        self._all = [tuple(names_of(recipe)) for recipe in compiled.layout.recipes]
        self._possible = list(self._all)
        self.since = 0  # step after the last delivery of the recipe
        self.guess = self._draw()  # one of the possible recipes; the recipe, if it is known

    def _draw(self) -> tuple[str, ...]:
        return self._possible[int(self._rng.integers(len(self._possible)))]

    def update(self, scene: Scene) -> dict[str, Any]:
        """Take in a seat's scene, and return it with beliefs of what is out of view."""
        visible = cells_in_view(self._compiled, *scene["players"][self._seat]["position"])
        aged = {cell: _aged(thing) for cell, thing in self._objects.items() if not visible[cell[1], cell[0]]}
        self._objects = aged | {tuple(thing["position"]): thing for thing in scene["objects"]}
        self._learn(scene)
        self._before = scene
        players = [player or self._believed(j, visible, scene["players"]) for j, player in enumerate(scene["players"])]
        self._others = {j: player for j, player in enumerate(players) if j != self._seat}
        return {**scene, "players": players, "objects": list(self._objects.values())}

    def _believed(self, seat: int, visible: np.ndarray, players: Any) -> dict[str, Any]:
        start = self._compiled.layout.starts[seat]
        last: dict[str, Any] = {"position": list(start), "facing": "north", "holding": None}
        last = self._others.get(seat, last)
        taken = {tuple(player["position"]) for player in players if player}
        x, y = map(int, last["position"])
        if not visible[y, x]:
            return last
        unseen = [cell for cell in sorted(self._walks.floor - taken) if not visible[cell[1], cell[0]]]
        region = self._walks.region((x, y))
        free = [cell for cell in unseen if self._walks.region(cell) == region] or unseen
        ways = [(abs(column - x) + abs(row - y), column, row) for column, row in free]
        return {**last, "position": list(min(ways)[1:])}

    def _learn(self, scene: Scene) -> None:
        before = self._before or scene
        held, now = before["players"][self._seat]["holding"], scene["players"][self._seat]["holding"]
        dish = tuple(held["ingredients"]) if held and held["item"] == "dish" and not now else None
        if scene["served"] > before["served"]:
            self.since = scene["timestep"]
            redraws = self._compiled.config.redraw_recipe
            self._possible = list(self._all) if redraws else [dish] if dish in self._all else self._possible
            self.guess = self._draw() if redraws else self.guess
        elif dish and self._faced_serving(before):
            self._possible = [recipe for recipe in self._possible if recipe != dish] or self._possible
        if scene["recipe"] is not None:
            self._possible = [tuple(scene["recipe"])]
        if self.guess not in self._possible:
            self.guess = self._draw()

    def _faced_serving(self, scene: Scene) -> bool:
        me = scene["players"][self._seat]
        dx, dy = OFFSETS[Direction[me["facing"].upper()]]
        return (me["position"][0] + dx, me["position"][1] + dy) in self._compiled.layout.cells("X")


def _aged(thing: dict[str, Any]) -> dict[str, Any]:
    if not thing.get("left"):
        return thing
    return {**thing, "left": thing["left"] - 1, "ready": thing["left"] == 1}
