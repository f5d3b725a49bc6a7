"""The numbered objects of a layout, and the list of directives that name them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import FIRST_ROWS, NOTHING, TERRAINS, VERBS, Kind, Object, Verb
from collab_overcooked.games.overcooked.engine.spec import Layout

Array = np.ndarray


def number_objects(layouts: Sequence[Layout], grids: Array) -> Array:
    """Number the objects of each layout, row by row and from 0 on for every kind.

    Returns:
        int32 (K, M, 5), see ``Object``; the same row names the same kind and number in every layout.
    """
    pool = [_cells_by_kind(grid, set(layout.shared_counters)) for layout, grid in zip(layouts, grids, strict=True)]
    counts = [max(len(cells[kind]) for cells in pool) for kind in Kind]
    objects = np.full((len(pool), sum(counts), len(Object)), NOTHING, np.int32)
    for layout, cells, rows in zip(layouts, pool, objects, strict=True):
        slot = 0
        for kind in Kind:
            for number in range(counts[kind]):
                cell = cells[kind][number] if number < len(cells[kind]) else (NOTHING, NOTHING)
                rows[slot] = (kind, number, *cell, layout.share_soup)
                slot += 1
    return objects


def _cells_by_kind(grid: Array, shared: set[tuple[int, int]]) -> dict[Kind, list[tuple[int, int]]]:
    cells: dict[Kind, list[tuple[int, int]]] = {kind: [] for kind in Kind}
    for y, x in np.argwhere(np.isin(grid, TERRAINS)).tolist():
        kind = Kind(TERRAINS.index(grid[y, x]))
        cells[Kind.COUNTER if kind == Kind.SHARED and (x, y) not in shared else kind].append((x, y))
    return cells


def list_directives(objects: Array, auto_start: bool) -> Array:
    """Return the action list, int32 (A, 2), see ``Row``.

    Args:
        objects: See ``number_objects``.
        auto_start: Whether pots start by themselves; otherwise there are directives that start them.
    """
    rows: list[tuple[int, int]] = [*FIRST_ROWS]
    for slot, kind in enumerate(objects[0, :, Object.KIND].tolist()):
        rows += [(verb, slot) for verb in VERBS[Kind(kind)]]
        if kind == Kind.POT and not auto_start:
            rows.append((Verb.START, slot))
    return np.array(rows, np.int32)
