"""A kitchen with a known recipe as one of Overcooked, whose policies then play it.

One or two kinds of ingredients of the recipe become onions and tomatoes; stations that Overcooked does not have, and
piles of other kinds, become walls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.games.overcooked.v2.engine.compile import Compiled
from collab_overcooked.games.overcooked.v2.engine.constants import COOK_TIME, INGREDIENTS
from collab_overcooked.kernels.grid import OFFSETS

SYMBOLS = {" ": " ", "W": "X", "X": "S", "B": "D", "P": "P"}
NAMES, PILES = ("onion", "tomato"), "OT"

Cell = tuple[int, int]
Recipe = Sequence[str]


@lru_cache(maxsize=64)
def kitchen_of(compiled: Compiled, recipe: tuple[str, ...]) -> Overcooked:
    """Return the game of Overcooked in which a recipe is the only order."""
    known = _translation(recipe)
    piles = {str(INGREDIENTS.index(name)): PILES[NAMES.index(other)] for name, other in known.items()}
    grid = [[(SYMBOLS | piles).get(symbol, "W") for symbol in row] for row in compiled.layout.grid]
    for number, (x, y) in enumerate(compiled.layout.starts, start=1):
        grid[y][x] = str(number)
    layout = {"name": compiled.layout.name, "grid": "\n".join(map("".join, grid))}
    orders = [[known[name] for name in recipe]]
    return Overcooked({**layout, "orders": orders, "cook_time": COOK_TIME}, dynamics=compiled.config.dynamics)


def _translation(recipe: Recipe) -> dict[str, str]:
    return dict(zip(dict.fromkeys(recipe), NAMES, strict=False))


def scene_of(scene: Mapping[str, Any], recipe: Recipe) -> dict[str, Any]:
    """Return a scene in which all players have positions as a scene of Overcooked, without what is of no use there."""
    objects = [(thing["position"], _thing(thing, recipe)) for thing in scene["objects"]]
    players = [{**player, "holding": _thing(player["holding"], recipe)} for player in scene["players"]]
    return {
        "timestep": scene["timestep"],
        "limit": scene["limit"],
        "players": [{key: player[key] for key in ("position", "facing", "holding")} for player in players],
        "objects": [{"position": place, **thing} for place, thing in objects if thing],
    }


def _thing(thing: Mapping[str, Any] | None, recipe: Recipe) -> dict[str, Any] | None:
    known = _translation(recipe)
    if thing is None or not (thing["item"] == "soup" or is_useful(thing, recipe)):
        return None
    if "ingredients" not in thing:
        return {"item": known.get(thing["item"], "dish")}
    is_pot, fits = thing["item"] == "soup", can_become(thing["ingredients"], recipe)
    # A pot that is of no use is one that has just begun to cook, until no other is left.
    soup = {"item": "soup", "ingredients": [known[name] for name in (thing["ingredients"] if fits else recipe)]}
    if not is_pot or (fits and thing["ready"]):
        return soup
    return {**soup, "tick": (COOK_TIME - thing["left"] if thing["left"] else -1) if fits else 0}


def is_useful(thing: Mapping[str, Any], recipe: Recipe) -> bool:
    """Return whether a thing in a hand or on a counter is of use for a recipe."""
    names = thing.get("ingredients", () if thing["item"] == "plate" else (thing["item"],))
    return can_become(names, recipe)


def can_become(ingredients: Recipe, recipe: Recipe) -> bool:
    """Return whether a pot with these ingredients can still become the recipe."""
    return all(ingredients.count(name) <= recipe.count(name) for name in ingredients)


class Walks:
    """Shortest walks on the floor of a layout."""

    def __init__(self, compiled: Compiled) -> None:
        layout = compiled.layout
        self.floor = {(x, y) for x, y in layout.cells(" ")}
        self.regions = compiled.tables.regions
        edges = {cell: {self.region(spot) for spot in self.beside(cell)} for cell in layout.cells("W")}
        self.shared = {cell for cell, regions in edges.items() if len(regions) > 1}  # counters between rooms
        self.cells = {symbol: layout.cells(symbol) for symbol in {symbol for row in layout.grid for symbol in row}}

    def beside(self, target: Cell) -> set[Cell]:
        """Return the floor cells next to a cell."""
        return {(target[0] + dx, target[1] + dy) for dx, dy in OFFSETS} & self.floor

    def is_reachable(self, target: Cell, start: Cell) -> bool:
        """Return whether a cell is next to the floor that a start belongs to."""
        return any(self.region(cell) == self.region(start) for cell in self.beside(target))

    def region(self, cell: Cell) -> int:
        """Return the number of the floor that a cell belongs to."""
        return int(self.regions[cell[1], cell[0]])

    def step(self, start: Cell, goals: set[Cell], blocked: set[Cell]) -> int | None:
        """Return the first move of a shortest walk to one of several cells; None if there is none or it is reached."""
        queue: list[tuple[Cell, int | None]] = [(start, None)]
        known = {start, *blocked}
        for cell, first in queue:
            if cell in goals:
                return first
            for direction, (dx, dy) in enumerate(OFFSETS):
                ahead = cell[0] + dx, cell[1] + dy
                if ahead in self.floor and ahead not in known:
                    known.add(ahead)
                    queue.append((ahead, direction if first is None else first))
        return None

    def use(self, start: Cell, facing: int, targets: Sequence[Cell], blocked: set[Cell], interact: int) -> int | None:
        """Return the next action of a walk to the nearest of several cells to interact with; None without a way."""
        for direction, (dx, dy) in enumerate(OFFSETS):
            if (start[0] + dx, start[1] + dy) in targets:
                return interact if facing == direction else direction
        goals = set().union(*(self.beside(target) for target in targets)) if targets else set()
        return self.step(start, goals, blocked)


def cells_that_see(walks: Walks, compiled: Compiled, targets: Sequence[Cell]) -> set[Cell]:
    """Return the floor cells from which one of several cells is in view."""
    radius = compiled.config.view_radius
    if radius is None:
        return set(walks.floor) if targets else set()
    return {cell for cell in walks.floor if any(np.abs(np.subtract(cell, other)).max() <= radius for other in targets)}
