"""The arrays of a batch of kitchens.

Shape letters: B environments, N agents, S stations (every tile that is not floor), F floor cells, P poses (4 F),
I items (0 is the dish), U utensils, R recipes, A actions, Q order slots.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.macro_actions import IDLE, Macro
from collab_overcooked.kernels.paths import UNREACHABLE
from collab_overcooked.kernels.rng import Rng

from .constants import FIRST_ID, NOTHING, Agent, Clock, EventColumn, Group, MacroState, Paths, Tile

Array = np.ndarray
ORDER_SLOTS = 8
EMPTY_TILE = {Tile.ITEM: NOTHING, Tile.PLATED: 0, Tile.CONTENT: NOTHING}  # as ``rules.clear_tile`` leaves it


class Tables(NamedTuple):
    """Constants of a compiled kitchen: read-only int32 arrays (rewards float32, template uint8)."""

    params: Array  # (19,) see Param
    levels: Array  # (N,) action level of each seat, see kernels.macro_actions.Level
    cells: Array  # (F, 10) see Cell
    paths: Array  # (2, P, P) see Paths
    stations: Array  # (S, 11) see Station
    groups: Array  # (G, longest) stations of a place, scan order, padded with NOTHING
    access: Array  # (N, S) see Access
    starts: Array  # (N, 2) see Agent.CELL and FACING
    foods: Array  # (I, 5) see Food
    recipes: Array  # (R, 4 + capacity) see Recipe
    needs: Array  # (I, I) how often an item occurs in the recipe tree of another
    catalogue: Array  # (rows, 3) see Row; the last of them can be named but never accepted
    takes: Array  # (U, I) action id of picking a product up from a utensil, or NOTHING
    tasks: Array  # (tasks, 3) see Task
    rewards: Array  # (2, events) float32: paid to the team, paid to the agent alone
    template: Array  # (H * W * C,) uint8: the part of the grid observation that never changes
    spans: Array  # (2, blocks) where each Feature lies in flat observations, see kernels.blocks.Span


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    agents: Array = array_of("N", Agent)
    macro_state: Array = array_of("N", len(Macro) + len(MacroState), fill=IDLE)
    tiles: Array = array_of("S", "tile", fill=EMPTY_TILE)  # see Tile
    orders: Array = array_of(ORDER_SLOTS, fill=NOTHING)  # items wanted, first one first, padded with NOTHING
    clock: Array = array_of(Clock)
    rng: Array = array_of(Rng)


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)
    truncated: Array = array_of(dtype=np.bool_)
    events: Array = array_of("N", EventColumn, fill={0: 0, FIRST_ID: NOTHING})
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written
    scratch: Array = array_of(
        "scratch", fill=None
    )  # 13 F for path finding where agents share a floor, 0 where they cannot meet


def sizes_of(tables: Tables) -> dict[str, int]:
    """Return the lengths of the arrays' axes by letter."""
    tile = len(Tile) - 1 + tables.recipes.shape[1] - 4
    scratch = 13 * len(tables.cells) * agents_can_meet(tables)
    return {"S": len(tables.stations), "tile": tile, "scratch": scratch}


def shared_floors(tables: Tables) -> Array:
    """Return bool (N, N): whether an agent can walk to where another one, or it itself, starts."""
    cells, facings = tables.starts[:, Agent.CELL], tables.starts[:, Agent.FACING]
    steps = tables.paths[Paths.STEPS][4 * cells + facings][:, 4 * cells[:, None] + np.arange(4)]
    near: Array = (steps < UNREACHABLE).any(-1)
    return near


def agents_can_meet(tables: Tables) -> bool:
    """Tell whether some agent can walk to where another one starts."""
    return bool(shared_floors(tables).sum() > len(tables.starts))


def filled_counters(tables: Tables, tiles: Any) -> list[int]:
    """Return the counters on which something lies, in the order of placement."""
    filled = [int(s) for s in tables.groups[Group.COUNTER] if s != NOTHING and tiles[s][Tile.ITEM] != NOTHING]
    return sorted(filled, key=lambda s: int(tiles[s][Tile.PLACED]))


def empty_tile(columns: int) -> Array:
    """Return an empty tile, as ``rules.clear_tile`` leaves it; no kernel may run before a scene has been checked."""
    tile = np.full(columns, NOTHING, np.int32)
    tile[Tile.PLATED : Tile.CONTENT] = 0
    return tile
