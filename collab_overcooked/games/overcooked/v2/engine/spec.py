"""Layouts of OvercookedV2: a frozen dataclass read from YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

from collab_overcooked.io.documents import Document, DocumentError, builtin_names, load_layout

from ...engine.constants import MAX_INGREDIENTS
from ...engine.spec import number_of, read_prepare
from .constants import DIGITS, INGREDIENTS, SYMBOLS

FOLDER = "overcooked_v2"
KEYS = ("name", "description", "grid", "recipes", "possible_recipes", "starts_reversed", "prepare")
SEATS = "abcd"  # starts by seat, instead of A in reading order
STARTS = "A" + SEATS
NEEDED = (
    ("B", "plate pile B"),
    ("X", "serving cell X"),
    ("P", "pot P"),
    (STARTS, "start A"),
    (DIGITS + "O", "pile 0 to 9"),
)

Recipe = tuple[int, ...]
"""Kinds of the three ingredients of a soup, in ascending order."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Contents of a layout file; ``compile_layouts`` turns it into arrays."""

    document: Document  # Where it was read
    name: str
    description: str  # One line
    grid: tuple[str, ...]  # Rows of symbols; start cells are floor
    starts: tuple[tuple[int, int], ...]  # Start cell (x, y) of each seat
    recipes: tuple[Recipe, ...]  # Recipes that are drawn
    kinds: int  # One more than the highest digit of a pile
    shared_counters: tuple[tuple[int, int], ...] = ()  # None is named apart
    share_soup: bool = False
    prepare: Mapping[str, str] = field(default_factory=dict)  # Station at which each ingredient is prepared, by names

    def cells(self, symbol: str) -> list[tuple[int, int]]:
        """Return the cells (x, y) of a symbol, row by row."""
        return [(x, y) for y, row in enumerate(self.grid) for x, cell in enumerate(row) if cell == symbol]


def layouts() -> list[str]:
    """Return the names of the built-in layouts."""
    return builtin_names(FOLDER)


def load_kitchen(source: str | Path | Mapping[str, Any]) -> Layout:
    """Read a layout: a built-in name, the path of a ``.yaml`` file, or the values of one.

    Grids and ``possible_recipes`` of JaxMARL are read (``O`` is pile 0), and grids as pages print them (``a``, ``b``).
    """
    doc = load_layout(source, FOLDER)
    doc.mapping(only=KEYS)
    closed = dict.fromkeys(f" {STARTS}", "floor")
    grid = doc.grid("".join(SYMBOLS), DIGITS + STARTS + "O", NEEDED, closed, "counters W or stations")
    rows = [row.replace("O", "0") for row in grid]
    kinds = 1 + max(DIGITS.index(symbol) for row in rows for symbol in row if symbol in DIGITS)
    starts = _starts(doc, rows)
    return Layout(
        document=doc,
        name=doc.text("name", default="unnamed"),
        description=doc.text("description", default=""),
        grid=tuple(re.sub(f"[{STARTS}]", " ", row) for row in rows),
        starts=tuple(reversed(starts) if doc.boolean("starts_reversed") else starts),
        recipes=_recipes(doc, kinds),
        kinds=kinds,
        prepare=read_prepare(doc, dict(zip(DIGITS, INGREDIENTS[:kinds], strict=False)), rows),
    )


def fits(values: Mapping[Any, Any]) -> bool:
    """Return whether values are of a layout of this game: plates ``B`` are a symbol of its grids alone."""
    grid = values.get("grid")
    text = grid if isinstance(grid, str) else "".join(map(str, grid)) if isinstance(grid, list) else ""
    return "B" in text and not set(text) & set("DSTG") and "stations" not in values


def _starts(doc: Document, rows: list[str]) -> list[tuple[int, int]]:
    starts = [(symbol, x, y) for y, row in enumerate(rows) for x, symbol in enumerate(row) if symbol in STARTS]
    for i, (symbol, x, y) in enumerate(starts):
        where = f"{doc.row_of('grid', y)}, cell ({x}, {y})"
        if (symbol == "A") != (starts[0][0] == "A"):
            raise DocumentError(
                f"{where}: start {symbol!r} beside {starts[0][0]!r}; write A for all, or letters by seat"
            )
        if symbol != "A" and symbol in [other for other, *_ in starts[:i]]:
            raise DocumentError(f"{where}: start {symbol!r} stands twice; every seat has one letter")
        if i >= len(SEATS):
            raise DocumentError(f"{where}: start number {i + 1}; a layout has at most {len(SEATS)}")
        if symbol != "A" and SEATS.index(symbol) >= len(starts):
            raise DocumentError(f"{where}: start {symbol!r} of {len(starts)}; use {', '.join(SEATS[: len(starts)])}")
    return [(x, y) for _, x, y in (starts if starts[0][0] == "A" else sorted(starts))]


def _recipes(doc: Document, kinds: int) -> tuple[Recipe, ...]:
    known = list(combinations_with_replacement(range(kinds), MAX_INGREDIENTS))
    recipes, key = [], "possible_recipes" if "possible_recipes" in doc else "recipes"
    if key != "recipes" and "recipes" in doc:
        raise doc.error("possible_recipes is JaxMARL's name of recipes; keep one of them", key)
    for i, entry in enumerate(doc.listed("recipes such as [0, 0, 1]", key, default=[])):
        is_list = isinstance(entry, list) and all(type(kind) is int for kind in entry)
        if not is_list or tuple(sorted(entry)) not in known:
            allowed = f"{MAX_INGREDIENTS} numbers of piles from 0 to {kinds - 1}"
            raise doc.error(f"a recipe is a list of {allowed}, not {entry!r}", key, i)
        recipes.append(tuple(sorted(entry)))
    return tuple(dict.fromkeys(recipes)) or tuple(known)


def names_of(recipe: Recipe) -> list[str]:
    """Return the ingredients of a recipe by name."""
    return [INGREDIENTS[kind] for kind in recipe]


def counts_in(recipe: Recipe, kinds: int) -> tuple[int, ...]:
    """Return the count of each of a number of kinds in a recipe or a smaller soup."""
    return tuple(recipe.count(kind) for kind in range(kinds))


def number_of_recipe(recipe: Recipe) -> int:
    """Return the number of a recipe in arrays."""
    return number_of(counts_in(recipe, len(INGREDIENTS)))
