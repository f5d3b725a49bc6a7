"""Arrays that the searches of Overcooked share: the kitchen of a layout, and how a seat sees its team.

Shape letters: K layouts, N players, S stations (cells that one can face), F floor and gate cells, H rows, W columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.jit import kernel

from ..engine.compile import WALKABLE, belts_ahead, is_belt, number_regions
from ..engine.constants import (
    COUNT_MASK,
    FIRST_PILE,
    FIRST_STATION,
    HAND_END,
    LAST_STATION,
    MAX_INGREDIENTS,
    NOTHING,
    Action,
    Effect,
    Item,
    LayoutSize,
    Player,
    Terrain,
    Thing,
)
from ..engine.rules import dispensed, effect_of, is_prepared
from ..engine.spec import number_of

Array = np.ndarray
STAY, INTERACT = int(Action.STAY), int(Action.INTERACT)
DISH = int(Item.DISH)
SOUP = int(Item.SOUP)
COUNTER = int(Terrain.COUNTER)


class Station(IntEnum):
    """Columns of ``Kitchen.stations`` (S, 3)."""

    TERRAIN = 0  # NOTHING in unused rows
    X = 1
    Y = 2


class Kitchen(NamedTuple):
    """A layout as arrays, read-only int32; a pool of layouts with a leading axis K."""

    stations: Array  # (S, 3) see Station, row by row
    stands: Array  # (S, 4) cell on which one faces the station by direction, NOTHING where there is no floor
    ends: Array  # (S,) station at which a thing that is put there comes to rest: another one for belts
    fed: Array  # (S,) 1 where belts bring things
    gates: Array  # (F,) station of a gate's cell, NOTHING for plain floor
    regions: Array  # (F,) part of the floor that a cell belongs to, all gates open
    floor: Array  # (H, W) number of a floor or gate cell, or NOTHING
    neighbours: Array  # (F, 4) floor or gate cell next to one, by direction, or NOTHING
    values: Array  # (number of soups,) what delivering a soup pays
    best: Array  # (number of soups,) the most that can still be made of a soup
    times: Array  # (number of soups,) steps of cooking
    prepare: Array  # (kinds,) see engine.state.Tables
    params: Array  # see engine.constants.Param
    gate_limit: Array  # (1,) see engine.constants.LayoutSize
    soups: Array  # (Q,) soups of up to three ingredients, those with fewest of the first kinds first


class Trust(IntEnum):
    """Relation of a player to the assigner: those of the same policy follow its decisions."""

    IN_THE_WAY = -1  # another policy's player that stands still: its cell is like a closed gate
    OTHER_POLICY = 0
    SAME_POLICY = 1


SAME_POLICY, IN_THE_WAY = int(Trust.SAME_POLICY), int(Trust.IN_THE_WAY)


class TeamView(NamedTuple):
    """A seat's conclusions about its team from earlier steps; by default all are of one policy, and none is barred."""

    trust: Array = array_of("N", fill=SAME_POLICY)  # see Trust
    claimed: Array = array_of("S")  # steps for which a counter's content is left to another policy's player
    barred: Array = array_of("N", "S")  # 1 where a player never gets to a station, as it cannot pass the others
    standstill: Array = array_of(1)  # 1 after steps without anything new: players only finish what has begun
    turn: Array = array_of(1)  # 1 while the order of moving is reversed, PASSING + i while all make way for player i


class Goal(IntEnum):
    """Columns of goals (N, 4)."""

    STATION = 0  # what the player goes for, NOTHING for nothing
    RANK = 1  # urgency
    OPENED = 2  # 1 where the way leads through a gate that is closed
    BLOCKED = 3  # steps for which the player has been kept from it, counted by the planner


def make_kitchens(tables: Any) -> Kitchen:
    """Make the kitchens of a compiled pool, with a leading axis K."""
    pairs = zip(tables.terrain, tables.values, strict=True)
    grids = [np.where(_is_useless(*maps), Terrain.WALL, maps[0]) for maps in pairs]
    layouts = [_stations_of(terrain, floor) for terrain, floor in zip(grids, tables.floor, strict=True)]
    n_stations = max(len(rows) for rows, _ in layouts)
    n_layouts, n_cells = tables.neighbours.shape[:2]
    stations = np.full((n_layouts, n_stations, len(Station)), NOTHING, np.int32)
    stands = np.full((n_layouts, n_stations, 4), NOTHING, np.int32)
    fed = np.zeros((n_layouts, n_stations), np.int32)
    ends = np.tile(np.arange(n_stations, dtype=np.int32), (n_layouts, 1))
    regions, gates = np.full((2, n_layouts, n_cells), NOTHING, np.int32)
    for k, (rows, sides) in enumerate(layouts):
        stations[k, : len(rows)], stands[k, : len(rows)] = rows, sides
        for s, (_, x, y) in enumerate(rows):
            ends[k, s] = _end_of(s, rows, belts_ahead("", tables.terrain[k], (x, y)))
            fed[k, ends[k, s]] |= ends[k, s] != s
        floor = tables.floor[k] != NOTHING
        regions[k, : floor.sum()] = number_regions(tables.terrain[k], WALKABLE)[floor]
        for s, (terrain, x, y) in enumerate(rows):
            if terrain == Terrain.GATE:
                gates[k, tables.floor[k, y, x]] = s
    params, prepare = (np.tile(numbers, (n_layouts, 1)) for numbers in (tables.params, tables.prepare))
    gate_limit = tables.frames[:, [LayoutSize.GATE_LIMIT]]
    for array in (stations, stands, ends, fed, gates, regions, prepare, params, gate_limit):
        array.setflags(write=False)
    shared = tables.floor, tables.neighbours, tables.values, tables.best, tables.times
    soups = _list_soups(n_layouts, tables.values.shape[1])
    return Kitchen(stations, stands, ends, fed, gates, regions, *shared, prepare, params, gate_limit, soups)


def _list_soups(n_layouts: int, n_soups: int) -> Array:
    kinds = (n_soups.bit_length() - 1) // 2
    counts = [row for row in product(range(MAX_INGREDIENTS + 1), repeat=kinds) if sum(row) <= MAX_INGREDIENTS]
    soups = np.array([number_of(row) for row in counts], np.int32)
    return np.broadcast_to(soups, (n_layouts, len(soups))).copy()


def _is_useless(terrain: Array, values: Array) -> Array:
    """Return which cells no delivery needs, bool (H, W): piles of what is in no soup that pays, and shown recipes."""
    needed = 0
    for soup in np.flatnonzero(values).tolist():
        needed |= soup
    kinds = (len(values).bit_length() - 1) // 2
    piles = [FIRST_PILE + kind for kind in range(kinds) if needed >> 2 * kind & COUNT_MASK == 0]
    return np.isin(terrain, [Terrain.INDICATOR, Terrain.BUTTON, *piles])


def _end_of(s: int, rows: Sequence[tuple[int, int, int]], ahead: Sequence[tuple[int, int]]) -> int:
    """Return the last station on a way of belts, the first one included."""
    stations = {(x, y): number for number, (_, x, y) in enumerate(rows)}
    return [s, *(stations[cell] for cell in ahead if cell in stations)][-1]


def _stands_at(cell: tuple[int, int], floor: Array) -> list[int]:
    """Return the floor cells on which one faces a cell, by direction."""
    places = [(cell[0] - dx, cell[1] - dy) for dx, dy in OFFSETS]
    height, width = floor.shape
    return [int(floor[y, x]) if 0 <= x < width and 0 <= y < height else NOTHING for x, y in places]


def _stations_of(terrain: Array, floor: Array) -> tuple[list[tuple[int, int, int]], list[list[int]]]:
    rows, sides = [], []
    for y, x in np.argwhere((terrain != Terrain.FLOOR) & (terrain != Terrain.WALL)).tolist():
        stands = _stands_at((x, y), floor)
        if is_belt(terrain[y, x]) or any(stand != NOTHING for stand in stands):
            rows.append((COUNTER if is_belt(terrain[y, x]) else int(terrain[y, x]), x, y))
            sides.append(stands)
    return rows, sides


@kernel
def faces(player, station):
    """Return whether a player faces a station."""
    dx, dy = OFFSETS[player[Player.FACING]]
    return player[Player.X] + dx == station[Station.X] and player[Player.Y] + dy == station[Station.Y]


@kernel
def item_on(kitchen, cells, s):
    """Return the item on a station."""
    return cells[kitchen.stations[s, Station.Y], kitchen.stations[s, Station.X], Thing.ITEM]


@kernel
def item_at(kitchen, cells, s):
    """Return the item that empty hands get at a station, Item.NONE for nothing."""
    terrain = kitchen.stations[s, Station.TERRAIN]
    if terrain == Terrain.COUNTER or (stores(terrain) and not is_unprepared(kitchen, cells, s)):
        return item_on(kitchen, cells, s)
    return dispensed(terrain)


@kernel
def stores(terrain):
    """Return whether things lie on a kind of station: counters, and those that prepare ingredients."""
    return terrain == Terrain.COUNTER or FIRST_STATION <= terrain <= LAST_STATION


@kernel
def is_unprepared(kitchen, cells, s):
    """Return whether an ingredient lies on a station that still has to be prepared."""
    cell = cells[kitchen.stations[s, Station.Y], kitchen.stations[s, Station.X]]
    return not is_prepared(cell, kitchen.prepare)


@kernel
def answers(kitchen, cells, s, hand):
    """Return whether hands can do something at a station now."""
    terrain = kitchen.stations[s, Station.TERRAIN]
    x = kitchen.stations[s, Station.X]
    y = kitchen.stations[s, Station.Y]
    return effect_of(hand, cells[y, x], terrain, kitchen.times, kitchen.prepare, kitchen.params) != Effect.NONE


@kernel
def can_act(kitchen, env, i, s):
    """Return whether a player faces a station at which it can do something now."""
    player = env.players[i]
    return faces(player, kitchen.stations[s]) and answers(kitchen, env.cells, s, player[Player.HAND : HAND_END])


@kernel
def is_shut(kitchen, cells, cell):
    """Return whether a closed gate stands on a cell of the floor."""
    s = kitchen.gates[cell]
    return s != NOTHING and item_on(kitchen, cells, s) != Item.OPEN
