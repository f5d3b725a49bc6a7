"""Layout of observations: shapes, templates and tables of distances for the chosen encoding.

Only numbers that never change during a game are worked out here; ``observe.py`` and ``features.py`` fill in the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from collab_overcooked.games.overcooked.engine.constants import (
    MAX_INGREDIENTS,
    NOTHING,
    PLAYER_CHANNELS,
    Channel,
    Closest,
    Encoding,
    GateChannel,
    Terrain,
    View,
)
from collab_overcooked.games.overcooked.engine.observe import feature_bounds
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.paths import UNREACHABLE, flood

Array = np.ndarray
ENCODINGS = tuple(encoding.name.lower() for encoding in Encoding)
AXES = {"whc": (0, 1, 2), "hwc": (1, 0, 2), "chw": (2, 1, 0)}  # the order of x, y and channel in memory
CHANNEL_AXIS = 2  # in these orders
MAX_NUMBER = 255  # of a picture; times and counts stop there
PLAIN = {  # channel of each terrain, after those of the players
    Terrain.COUNTER: Channel.COUNTERS,
    Terrain.ONIONS: Channel.ONIONS,
    Terrain.TOMATOES: Channel.TOMATOES,
    Terrain.DISHES: Channel.DISHES,
    Terrain.POT: Channel.POTS,
    Terrain.SERVING: Channel.SERVINGS,
    Terrain.WALL: Channel.WALLS,
    Terrain.GATE: Channel.GATES,
}
GATED = {
    Terrain.COUNTER: GateChannel.COUNTERS,
    Terrain.ONIONS: GateChannel.ONIONS,
    Terrain.DISHES: GateChannel.DISHES,
    Terrain.POT: GateChannel.POTS,
    Terrain.SERVING: GateChannel.SERVINGS,
    Terrain.GATE: GateChannel.GATES,
}
UNKNOWN = {  # what an encoding has no channel for
    "jaxmarl": {"T": "tomatoes", "W": "walls", "G": "gates"},
    "gates": {"T": "tomatoes"},
}


class Seen(NamedTuple):
    """Arrays of the observation kernels beyond the tables of the game.

    Attributes:
        view: int32 (11,), see View.
        holders: int32 (K, M, 2), cells (x, y) on which things can lie or gates stand, reading order; unused rows are 0.
        template: uint8 (K, L), the map of each layout as pictures show it before anything moves, with a margin as
            wide as the view radius; (K, 0) for features.
        nearest: int32 (K, 4F, 6), flat cell of what is closest to each pose, see Closest; (K, 0, 6) for pictures.
        ways: int32 (K, 4F, H * W), fewest steps from a pose to facing a cell, or NOTHING; (K, 0, 0) for pictures.
        space: Of one player's observation.
    """

    view: Array
    holders: Array
    template: Array
    nearest: Array
    ways: Array
    space: gymnasium.spaces.Box[Any]


def check_view(obs: Any, axes: Any, view_radius: Any, size: Any = None) -> None:
    """Reject incompatible options."""
    if obs.startswith("features"):
        for name, value in (("axes", axes), ("view_radius", view_radius), ("size", size)):
            if value is not None:
                raise ValueError(f"{name} is for pictures; obs {obs!r} is a row of numbers")
    if obs == "jaxmarl" and axes not in (None, "hwc"):
        raise ValueError(f"obs 'jaxmarl' has the axes of that port, 'hwc', not {axes!r}")
    if view_radius is not None and size is not None:
        raise ValueError(f"size is for whole maps; with view_radius={view_radius} a picture has the size of the window")


def fill_view(
    view: Array, height: int, width: int, channels: int, order: Any, view_radius: int | None
) -> tuple[int, ...]:
    """Write the sizes and steps of a picture, whole or of what lies around a player, and return its shape."""
    margin, side = view_radius or 0, None if view_radius is None else 2 * view_radius + 1
    shape, steps = _layout_of(side or width, side or height, channels, order)
    _, map_steps = _layout_of(width + 2 * margin, height + 2 * margin, channels, order)
    view[View.RADIUS] = NOTHING if view_radius is None else view_radius
    view[[View.WIDTH, View.HEIGHT, View.CHANNELS]] = side or width, side or height, channels
    view[[View.STEP_X, View.STEP_Y, View.STEP_CHANNEL]] = steps
    view[[View.MAP_X, View.MAP_Y, View.MAP_CHANNEL]] = map_steps
    return shape


def compile_view(
    symbols: set[str],
    terrain: Array,
    floor: Array,
    neighbours: Array,
    n_players: int,
    obs: str,
    axes: str | None = None,
    view_radius: int | None = None,
    cook_time: int = MAX_NUMBER,
    gate_limit: int = MAX_NUMBER,
    size: Sequence[int] | None = None,
) -> Seen:
    """Lay out the observations of a pool.

    Args:
        symbols: All that occur in the grids; ``terrain`` has walls around smaller layouts of a pool too.
        terrain: int32 (K, H, W), see Terrain.
        floor: int32 (K, H, W), numbers of floor cells.
        neighbours: int32 (K, F, 4), of ``kernels.paths``.
        n_players: N.
        obs: Name of an encoding.
        axes: Order of the axes of a picture; the encoding's own if None: ``"hwc"`` for jaxmarl, else ``"whc"``.
        view_radius: Cells that a player sees in each direction, all if None.
        cook_time: Longest cooking time of a soup in the pool.
        gate_limit: Highest count of an open gate in the pool.
        size: Columns and rows of a picture, those of ``terrain`` if None.
    """
    encoding = Encoding[obs.upper()]
    view = np.full(len(View), NOTHING, np.int32)
    view[View.ENCODING] = encoding
    holders = _holders(terrain)
    if encoding >= Encoding.FEATURES:
        ways = np.stack([measure_ways(*maps) for maps in zip(floor, neighbours, strict=True)])
        nearest = np.stack([_nearest(*maps) for maps in zip(terrain, ways, strict=True)])
        low, high = feature_bounds(terrain.shape[1], terrain.shape[2], n_players, cook_time)
        space: gymnasium.spaces.Box[Any] = gymnasium.spaces.Box(low, high, dtype=np.int8)
        return Seen(view, holders, np.zeros((len(terrain), 0), np.uint8), nearest, ways, space)
    _refuse_unknown(symbols, n_players, obs)
    terrain = _pad(terrain, size)
    order = AXES[axes or ("hwc" if obs == "jaxmarl" else "whc")]
    extended = encoding == Encoding.LOSSLESS and not symbols.isdisjoint("WG")
    map_channels = len(GateChannel) if encoding == Encoding.GATES else len(Channel) if extended else int(Channel.WALLS)
    channels = PLAYER_CHANNELS * n_players + map_channels
    shape = fill_view(view, terrain.shape[1], terrain.shape[2], channels, order, view_radius)
    template = _template(
        terrain, GATED if encoding == Encoding.GATES else PLAIN, channels, map_channels, view_radius or 0, order
    )
    none = np.zeros((len(terrain), 0, len(Closest)), np.int32), np.zeros((len(terrain), 0, 0), np.int32)
    space = _map_space(shape, order, _max_numbers(encoding, cook_time, gate_limit)[:map_channels])
    return Seen(view, holders, template, *none, space)


def _template(
    terrain: Array, table: Mapping[Terrain, int], channels: int, map_channels: int, margin: int, order: Sequence[int]
) -> Array:
    template = np.zeros((*terrain.shape, channels), np.uint8)
    for kind, channel in table.items():
        if channel < map_channels:
            template[..., channels - map_channels + channel] = terrain == kind
    margins = (margin, margin)
    template = np.pad(template, ((0, 0), margins, margins, (0, 0)))
    template = template.transpose(0, *(axis + 1 for axis in _from_rows(order)))
    return np.ascontiguousarray(template).reshape(len(terrain), -1)


def _pad(terrain: Array, size: Sequence[int] | None) -> Array:
    height, width = terrain.shape[1:]
    columns, rows = size or (width, height)
    if columns < width or rows < height:
        raise ValueError(f"size {columns} x {rows} is too small for layouts of {width} x {height}")
    margins = ((0, 0), (0, rows - height), (0, columns - width))
    return np.pad(terrain, margins, constant_values=int(Terrain.WALL))


def _map_space(shape: tuple[int, ...], order: Sequence[int], high: Array) -> gymnasium.spaces.Box[Any]:
    marks = np.ones(shape[order.index(CHANNEL_AXIS)] - len(high), np.uint8)
    by_channel = np.concatenate([marks, high]).reshape([-1 if axis == CHANNEL_AXIS else 1 for axis in order])
    highest = np.broadcast_to(by_channel, shape)
    return counts_to(highest)


def _max_numbers(encoding: Encoding, cook_time: int, gate_limit: int) -> Array:
    if encoding == Encoding.GATES:
        high = np.ones(len(GateChannel), np.uint8)
        high[GateChannel.POT_ONIONS] = MAX_INGREDIENTS
        high[GateChannel.POT_TICK] = np.clip(cook_time, 1, MAX_NUMBER)
        high[GateChannel.GATE_COUNTER] = np.clip(gate_limit, 1, MAX_NUMBER)
        return high
    high = np.ones(len(Channel), np.uint8)
    high[[Channel.POT_ONIONS, Channel.POT_TOMATOES, Channel.SOUP_ONIONS, Channel.SOUP_TOMATOES]] = MAX_INGREDIENTS
    high[Channel.TIME_LEFT] = np.clip(cook_time, 1, MAX_NUMBER)
    high[Channel.GATE_COUNTER] = np.clip(gate_limit, 1, MAX_NUMBER)
    return high


def _holders(terrain: Array) -> Array:
    cells = [np.argwhere(np.isin(grid, (Terrain.COUNTER, Terrain.POT, Terrain.GATE)))[:, ::-1] for grid in terrain]
    holders = np.zeros((len(cells), max(map(len, cells)), 2), np.int32)
    for rows, row in zip(holders, cells, strict=True):
        rows[: len(row)] = row
    return holders


def _from_rows(order: Sequence[int]) -> tuple[int, ...]:
    return tuple((1, 0, 2)[axis] for axis in order)


def _layout_of(
    width: int, height: int, channels: int, order: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    sizes = (width, height, channels)
    shape = tuple(sizes[axis] for axis in order)
    steps = [0, 0, 0]
    for place, axis in enumerate(order):
        steps[axis] = int(np.prod(shape[place + 1 :]))
    return shape, (steps[0], steps[1], steps[2])


def _refuse_unknown(symbols: set[str], n_players: int, obs: str) -> None:
    for symbol, what in UNKNOWN.get(obs, {}).items():
        if symbol in symbols:
            raise ValueError(f"obs {obs!r} has no channel for {what}, which a layout has; choose obs='lossless'")
    if obs == "jaxmarl" and n_players != 2:
        raise ValueError(f"obs 'jaxmarl' is for 2 players, not {n_players}; choose obs='lossless'")


def measure_ways(floor: Array, neighbours: Array) -> Array:
    """Return the fewest steps from each pose to facing each cell that is next to the floor, (4F, H * W)."""
    poses, (height, width) = 4 * len(neighbours), floor.shape
    distance, first, queue = (np.zeros(poses, np.int32) for _ in range(3))
    occupied = np.zeros(len(neighbours), np.int32)
    cells = np.argwhere(floor != NOTHING)
    ends = [  # poses that face a cell, with the cell
        (4 * floor[y, x] + facing, (y + dy) * width + x + dx)
        for y, x in cells.tolist()
        for facing, (dx, dy) in enumerate(OFFSETS)
    ]
    faced_by, faced = np.array(ends, np.int64).reshape(-1, 2).T
    ways = np.full((poses, height * width), UNREACHABLE, np.int32)
    for pose in range(4 * len(cells)):
        flood(pose, neighbours, occupied, distance, first, queue)
        np.minimum.at(ways[pose], faced, distance[faced_by])
    ways[ways >= UNREACHABLE] = NOTHING
    return ways


def _nearest(terrain: Array, ways: Array) -> Array:
    nearest = np.full((len(ways), len(Closest)), NOTHING, np.int32)
    kinds = (Terrain.ONIONS, Terrain.TOMATOES, Terrain.DISHES, Terrain.SERVING, Terrain.POT)
    for column, kind in enumerate(kinds):
        cells = np.flatnonzero(terrain == kind)
        order = np.where(ways[:, cells] == NOTHING, UNREACHABLE, ways[:, cells]).argsort(axis=1, kind="stable")
        for rank in range(2 if kind == Terrain.POT else 1):
            if rank < len(cells):
                chosen = cells[order[:, rank]]
                known = np.take_along_axis(ways, chosen[:, None], 1)[:, 0] != NOTHING
                nearest[known, column + rank] = chosen[known]
    return nearest
