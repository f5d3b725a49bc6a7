"""Layouts of OvercookedV2: a frozen dataclass read from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

from collab_overcooked.games.overcooked.v2.engine.constants import INGREDIENTS, MAX_INGREDIENTS, SYMBOLS
from collab_overcooked.io.documents import Document, LayoutError, builtin_names, load_layout

FOLDER = "overcooked_v2"
KEYS = ("name", "description", "grid", "recipes", "starts_reversed")
DIGITS = "0123456789"
NEEDED = (("B", "plate pile B"), ("X", "serving cell X"), ("P", "pot P"), ("A", "start A"), (DIGITS, "pile 0 to 9"))

Recipe = tuple[int, ...]
"""Kinds of the three ingredients of a soup, in ascending order."""


@dataclass(frozen=True)
class Layout:
    """Contents of a layout file; ``compile_layout`` turns it into arrays."""

    document: Document  # Where it was read
    name: str
    description: str  # One line
    grid: tuple[str, ...]  # Rows of symbols; start cells are floor
    starts: tuple[tuple[int, int], ...]  # Start cell (x, y) of each seat
    recipes: tuple[Recipe, ...]  # Recipes that are drawn
    kinds: int  # One more than the highest digit of a pile

    def cells(self, symbol: str) -> list[tuple[int, int]]:
        """Return the cells (x, y) of a symbol, row by row."""
        return [(x, y) for y, row in enumerate(self.grid) for x, cell in enumerate(row) if cell == symbol]


def layouts() -> list[str]:
    """Return the names of the built-in layouts."""
    return builtin_names(FOLDER)


def load_kitchen(source: str | Path | Mapping[str, Any]) -> Layout:
    """Read a layout: a built-in name, the path of a ``.yaml`` file, or the values of one."""
    doc = load_layout(source, FOLDER)
    doc.mapping(only=KEYS)
    rows = doc.rows("grid", remedy="close every row with a counter W or a station")
    _check_grid(doc, rows)
    kinds = 1 + max(DIGITS.index(symbol) for row in rows for symbol in row if symbol in DIGITS)
    starts = [(x, y) for y, row in enumerate(rows) for x, symbol in enumerate(row) if symbol == "A"]
    return Layout(
        document=doc,
        name=doc.text("name", default="unnamed"),
        description=doc.text("description", default=""),
        grid=tuple(row.replace("A", " ") for row in rows),
        starts=tuple(reversed(starts) if doc.boolean("starts_reversed") else starts),
        recipes=_recipes(doc, kinds),
        kinds=kinds,
    )


def _check_grid(doc: Document, rows: list[str]) -> None:
    for y, row in enumerate(rows):
        for x, symbol in enumerate(row):
            where = f"{doc.row_of('grid', y)}, cell ({x}, {y})"
            if symbol not in SYMBOLS and symbol not in DIGITS:
                allowed = f"space, a digit or one of {''.join(SYMBOLS).strip()}"
                raise LayoutError(f"{where}: unknown symbol {symbol!r}; use {allowed}")
            if symbol in " A" and (x in (0, len(row) - 1) or y in (0, len(rows) - 1)):
                raise LayoutError(f"{where}: floor at the edge of the grid; close the edge with counters W or stations")
    for symbols, what in NEEDED:
        if not any(symbol in row for row in rows for symbol in symbols):
            raise LayoutError(f"{doc.row_of('grid', 0)}: the grid has no {what}")


def _recipes(doc: Document, kinds: int) -> tuple[Recipe, ...]:
    known = list(combinations_with_replacement(range(kinds), MAX_INGREDIENTS))
    recipes = []
    for i, entry in enumerate(doc.listed("recipes such as [0, 0, 1]", "recipes", default=[])):
        is_list = isinstance(entry, list) and all(type(kind) is int for kind in entry)
        if not is_list or tuple(sorted(entry)) not in known:
            allowed = f"{MAX_INGREDIENTS} numbers of piles from 0 to {kinds - 1}"
            raise doc.error(f"a recipe is a list of {allowed}, not {entry!r}", "recipes", i)
        recipes.append(tuple(sorted(entry)))
    return tuple(dict.fromkeys(recipes)) or tuple(known)


def names_of(recipe: Recipe) -> list[str]:
    """Return the ingredients of a recipe by name."""
    return [INGREDIENTS[kind] for kind in recipe]
