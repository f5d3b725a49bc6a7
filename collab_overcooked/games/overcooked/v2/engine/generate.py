"""Procedural kitchens with a hidden recipe: those of Overcooked's generator, with an indicator in one of the rooms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked.kernels.grid import OFFSETS

from ...engine.compile import compile_terrain, number_regions
from ...engine.constants import BELTS, NOTHING, PREPARING
from ...engine.constants import SYMBOLS as KITCHEN_SYMBOLS
from ...engine.generate import GeneratorConfig, draw_layouts, orders_to_prove, read_generator_config
from ...engine.solvability import Cell, prove
from ...engine.spec import Layout as Kitchen
from .spec import SEATS, Layout, load_kitchen

# Of Overcooked, as written here
SYMBOLS = {" ": " ", "X": "W", "O": "0", "T": "1", "D": "B", "P": "P", "S": "X"} | {
    symbol: symbol for symbol in (*BELTS, *PREPARING)
}
DEFAULTS = {"tomatoes": [1, 1]}  # of the generator, where they differ from Overcooked's


def read_config(options: Mapping[str, Any] | None) -> GeneratorConfig:
    """Read options of the generator.

    Raises:
        ValueError: An option is invalid, or a layout could have a single ingredient, so that its recipe is known.
    """
    config = read_generator_config({**DEFAULTS, **(options or {})})
    for name in ("onions", "tomatoes"):
        if getattr(config, name)[0] == 0:
            raise ValueError(f"{name} must be at least 1, not 0; with one ingredient all know the recipe")
    return config


def generate(config: GeneratorConfig) -> list[Layout]:
    """Draw the layouts of a seed; each recipe of three onions and tomatoes is proved.

    Raises:
        ValueError: The generator finds no layout with these properties.
    """

    def finish(kitchen: Kitchen, i: int) -> Layout | None:
        cell = _place_indicator(kitchen, np.random.default_rng([config.seed, i, 1]))
        return None if cell is None else load_kitchen(_values(kitchen, cell))

    return draw_layouts(config, finish)


def _place_indicator(kitchen: Kitchen, rng: np.random.Generator) -> Cell | None:
    """Return a counter that only players of one room face and that no recipe needs; None if there is none."""
    (terrain,) = compile_terrain([kitchen.grid], KITCHEN_SYMBOLS)
    regions = number_regions(terrain)
    faced = [(cell, rooms) for cell in kitchen.cells("X") if (rooms := _rooms_at(cell, regions))]
    for k in rng.permutation(len(faced)):
        (x, y), rooms = faced[k]
        rows = list(kitchen.grid)
        rows[y] = rows[y][:x] + "W" + rows[y][x + 1 :]
        recipes = [[recipe] for recipe in orders_to_prove(kitchen)]
        if len(rooms) == 1 and all(
            prove(rows, kitchen.starts, recipe, kitchen.prepare) is not None for recipe in recipes
        ):
            return x, y
    return None


def _rooms_at(cell: Cell, regions: np.ndarray) -> set[int]:
    x, y = cell
    height, width = regions.shape
    beside = [(x + dx, y + dy) for dx, dy in OFFSETS if 0 <= x + dx < width and 0 <= y + dy < height]
    return {int(regions[row, column]) for column, row in beside} - {NOTHING}


def _values(kitchen: Kitchen, indicator: Cell) -> dict[str, Any]:
    rows = [[SYMBOLS[symbol] for symbol in row] for row in kitchen.grid]
    for letter, (x, y) in zip(SEATS, kitchen.starts, strict=False):
        rows[y][x] = letter
    rows[indicator[1]][indicator[0]] = "R"
    grid = "\n".join(map("".join, rows))
    values = {"name": kitchen.name, "description": kitchen.description, "grid": grid}
    return values | ({"prepare": dict(kitchen.prepare)} if kitchen.prepare else {})
