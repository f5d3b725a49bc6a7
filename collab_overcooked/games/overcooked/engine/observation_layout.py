"""Layout of observations: shapes, templates and tables of distances for the chosen encoding.

Only numbers that never change during a game are worked out here; ``observe.py`` fills in the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.blocks import Block, highest_of, starts_of
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.paths import UNREACHABLE, flood

from .constants import (
    BELTS,
    MACHINE_WORK,
    MAX_INGREDIENTS,
    NOTHING,
    PLAYER_CHANNELS,
    PREPARING,
    Channel,
    Encoding,
    GateChannel,
    NearestObject,
    PotFeature,
    Terrain,
    View,
)
from .observe import HELD, ORDER_NUMBERS, SOURCES

Array = np.ndarray
ENCODINGS = tuple(encoding.name.lower() for encoding in Encoding)
AXES = {"whc": (0, 1, 2), "hwc": (1, 0, 2), "chw": (2, 1, 0)}  # the order of x, y and channel in memory
CHANNEL_AXIS = 2  # in these orders
MAX_NUMBER = 255  # of a picture; times and counts stop there


def _channels_of(names: type[IntEnum]) -> dict[Terrain, int]:
    """Return the channel of each kind of cell; channels are named by plurals of kinds."""
    plurals = {kind: kind.name if kind.name.endswith("S") else f"{kind.name}S" for kind in Terrain}
    return {kind: names[plural] for kind, plural in plurals.items() if plural in names.__members__}


PLAIN, GATED = _channels_of(Channel), _channels_of(GateChannel)
NEW_STATIONS = dict.fromkeys(BELTS, "belts") | dict.fromkeys(PREPARING, "boards, grills and blenders")
UNKNOWN = {  # what an encoding has no channel for
    "jaxmarl": {"T": "tomatoes", "W": "walls", "G": "gates", **NEW_STATIONS},
    "gates": {"T": "tomatoes", **NEW_STATIONS},
    "features": NEW_STATIONS,
}


def check_view(config: Any) -> None:
    """Reject options of the observation that exclude each other."""
    if config.obs == "features":
        for name in ("axes", "view_radius", "size"):
            if getattr(config, name) is not None:
                raise ValueError(f"{name} is for pictures; obs {config.obs!r} is a row of numbers")
    if config.obs == "jaxmarl" and config.axes not in (None, "hwc"):
        raise ValueError(f"obs 'jaxmarl' has the axes of that port, 'hwc', not {config.axes!r}")
    if config.view_radius is not None and config.size is not None:
        picture = f"with view_radius={config.view_radius} a picture has the size of the window"
        raise ValueError(f"size is for whole maps; {picture}")


def fill_view(
    view: Array, height: int, width: int, channels: int, order: Any, view_radius: int | None
) -> tuple[int, ...]:
    """Write the sizes and strides of a picture, of the whole map or of a player's window, and return its shape."""
    margin, side = view_radius or 0, None if view_radius is None else 2 * view_radius + 1
    shape, steps = _layout_of(side or width, side or height, channels, order)
    _, map_steps = _layout_of(width + 2 * margin, height + 2 * margin, channels, order)
    view[View.RADIUS] = NOTHING if view_radius is None else view_radius
    view[[View.WIDTH, View.HEIGHT, View.CHANNELS]] = side or width, side or height, channels
    view[[View.STEP_X, View.STEP_Y, View.STEP_CHANNEL]] = steps
    view[[View.MAP_X, View.MAP_Y, View.MAP_CHANNEL]] = map_steps
    return shape


def empty_view(config: Any) -> Array:
    """Return ``Tables.views`` with the entries that options decide; sizes, strides and channels are still missing."""
    return config.pack(View, radius=NOTHING, channels=0, changes=NOTHING, order=NOTHING, work=NOTHING)


def compile_view(
    config: Any,
    symbols: set[str],
    terrain: Array,
    floor: Array,
    neighbours: Array,
    n_players: int,
    spare_planes: int,
    *,
    cook_time: int,
    gate_limit: int,
) -> tuple[dict[str, Array], gymnasium.spaces.Box[Any]]:
    """Lay out the observations of a pool: tables ``views`` to ``nearest``, and the space of one player's observation.

    Args:
        config: Options of the game.
        symbols: All that occur in the grids; ``terrain`` has walls around smaller layouts of a pool too.
        terrain: Kinds of cells of each layout, (K, H, W).
        floor: Number of each walkable cell, (K, H, W).
        neighbours: Walkable cell next to each, by direction, (K, F, 4).
        n_players: N.
        spare_planes: Planes behind the others, which stay 0.
        cook_time: Longest cooking time of a soup in the pool.
        gate_limit: Highest count of an open gate in the pool.
    """
    obs, view_radius = config.obs, config.view_radius
    encoding = Encoding[obs.upper()]
    view = empty_view(config)
    view[View.ENCODING] = encoding
    object_cells = _object_cells(terrain)
    _refuse_unknown(symbols, n_players, obs)
    if encoding == Encoding.FEATURES:
        drawn, space = _compile_features(config, terrain, floor, neighbours, n_players, cook_time, view)
        return {"views": view, "object_cells": object_cells, **drawn}, space
    terrain = _pad(terrain, config.size)
    order = AXES[config.axes or ("hwc" if obs == "jaxmarl" else "whc")]
    extended = encoding == Encoding.LOSSLESS and not symbols.isdisjoint("WG")
    if encoding == Encoding.GATES:
        map_channels = len(GateChannel)
    else:
        map_channels = len(Channel) if extended else int(Channel.WALLS)
    base, added = PLAYER_CHANNELS * n_players, further_planes(config, terrain, ORDER_NUMBERS)
    further = highest_of(added)
    channels = base + map_channels + len(further) + spare_planes
    shape = fill_view(view, terrain.shape[1], terrain.shape[2], channels, order, view_radius)
    table = GATED if encoding == Encoding.GATES else PLAIN
    shown = {kind: base + channel for kind, channel in table.items() if channel < map_channels}
    shown |= place_planes(added, base + map_channels, view)
    view[View.WORK] -= base if view[View.WORK] != NOTHING else 0
    template = _template(terrain, shown, channels, view_radius or 0, order)
    nearest = np.zeros((len(terrain), 0, len(NearestObject)), np.int32)
    pot_ticks = config.last_tick(cook_time), config.longest_time(cook_time)
    numbers = _max_numbers(encoding, *pot_ticks, gate_limit)
    high = np.array([*numbers[:map_channels], *further, *[1] * spare_planes])
    space = _map_space(shape, order, np.minimum(high, MAX_NUMBER))
    drawn = {"template": template, "nearest": nearest, "planes": np.zeros(0, np.int32)}
    return {"views": view, "object_cells": object_cells, **drawn}, space


def _compile_features(
    config: Any, terrain: Array, floor: Array, neighbours: Array, n_players: int, cook_time: int, view: Array
) -> tuple[dict[str, Array], gymnasium.spaces.Box[Any]]:
    """Lay out the numbers of ``features``, see ``compile_view``. Mutates: view."""
    distances = np.stack([measure_poses(*maps) for maps in zip(floor, neighbours, strict=True)])
    nearest = np.stack([_nearest(*maps) for maps in zip(terrain, distances, strict=True)])
    height, width = terrain.shape[1:]
    longest = config.longest_time(cook_time)
    low, high = feature_bounds(height, width, n_players, longest, config.notice, config.order_time)
    order_numbers = 0 if config.order_time is None else ORDER_NUMBERS
    if config.notice:
        view[View.CHANGES] = len(high) - order_numbers - 1 - 2 * len(NearestObject)
    if order_numbers:
        view[View.ORDER] = len(high) - order_numbers
    starts = starts_of(features_of(height, width, longest))
    drawn = {"template": np.zeros((len(terrain), 0), np.uint8), "nearest": nearest, "planes": starts}
    return drawn, gymnasium.spaces.Box(low, high, dtype=np.int8)


def features_of(height: int, width: int, longest: int) -> list[Block]:
    """Return the blocks of numbers of one player by ``Feature``, given the longest time that a pot shows."""
    way, most = (width - 1, height - 1), MAX_INGREDIENTS
    pot = (1,) * PotFeature.ONIONS + (most, most, longest)
    return [
        Block("facing", (1,) * len(OFFSETS)),
        Block("item in hand", (1,) * len(HELD)),
        Block("ways to what it may need", way * len(SOURCES), signed=True),
        Block("ingredients of the nearest soup", (most, most)),
        Block("way to the nearest serving cell", way, signed=True),
        Block("way to the nearest free counter, always 0", way, signed=True),
        Block("nearest pot", pot),
        Block("way to it", way, signed=True),
        Block("second pot", pot),
        Block("way to it", way, signed=True),
        Block("walls around", (1,) * len(OFFSETS)),
    ]


def feature_bounds(
    height: int, width: int, n_players: int, longest: int, notice: int, order_time: int | None
) -> tuple[Array, Array]:
    """Return the lowest and highest value of each number of one player's observation, int8 (L,)."""
    way, ways_after = (width - 1, height - 1), len(NearestObject) if notice else 0
    blocks = features_of(height, width, longest) * n_players
    blocks += [Block("way to a teammate", way, signed=True)] * (n_players - 1) + [Block("own position", way)]
    blocks += [Block("steps to a change", (notice,))] * (notice > 0) + [
        Block("way then", way, signed=True)
    ] * ways_after
    if order_time is not None:
        blocks.append(Block("order", (MAX_INGREDIENTS, MAX_INGREDIENTS, order_time)))
    high = np.clip([bound for block in blocks for bound in block.highest], 1, 127)
    signed = np.repeat([block.signed for block in blocks], [len(block.highest) for block in blocks])
    return np.where(signed, -high, 0).astype(np.int8), high.astype(np.int8)


def further_planes(config: Any, terrain: Array, order_numbers: int) -> list[Block]:
    """Return the planes that layouts and options add behind those that all pictures have, some of them empty.

    Args:
        config: Options of Overcooked or OvercookedV2.
        terrain: See ``Tables``.
        order_numbers: Numbers that tell an order that ends: its steps, and counts of ingredients where all know them.
    """
    belts, change, order, stations, work = [tuple[int, ...]()] * 5
    if np.isin(terrain, list(BELTS.values())).any():
        belts = (1,) * len(BELTS)
    if config.notice:
        change = (config.notice, 1)
    if config.order_time is not None:
        order = (*[MAX_INGREDIENTS] * (order_numbers - 1), config.order_time)
    if np.isin(terrain, list(PREPARING.values())).any():
        stations, work = (1,) * len(PREPARING), (MACHINE_WORK,)
    return [
        Block("belts", belts),
        Block("change", change),
        Block("order", order),
        Block("stations", stations),
        Block("work", work),
    ]


def place_planes(planes: Sequence[Block], first: int, view: Array) -> dict[Terrain, int]:
    """Write into a view where ``further_planes`` begin, and return the channels of the cells that they show.

    Args:
        planes: See ``further_planes``.
        first: Channel of the first one.
        view: See ``View``. Mutated.
    """
    starts = (first + starts_of(planes)).tolist()
    used = {plane.name: start for plane, start in zip(planes, starts, strict=False) if plane.highest}
    view[View.CHANGES] = used.get("change", NOTHING)
    view[View.ORDER] = used.get("order", NOTHING)
    view[View.WORK] = used.get("work", NOTHING)
    shown: dict[Terrain, int] = {}
    for name, kinds in (("belts", BELTS), ("stations", PREPARING)):
        if name in used:
            shown |= {kind: used[name] + n for n, kind in enumerate(kinds.values())}
    return shown


def _template(terrain: Array, shown: Mapping[Terrain, int], channels: int, margin: int, order: Sequence[int]) -> Array:
    template = np.zeros((*terrain.shape, channels), np.uint8)
    for kind, channel in shown.items():
        template[..., channel] = terrain == kind
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


def _max_numbers(encoding: Encoding, last_tick: int, longest_time: int, gate_limit: int) -> Array:
    names = GateChannel if encoding == Encoding.GATES else Channel
    counts = ("POT_ONIONS", "POT_TOMATOES", "SOUP_ONIONS", "SOUP_TOMATOES")
    high = dict.fromkeys(counts, MAX_INGREDIENTS)
    high |= {"POT_TICK": last_tick, "TIME_LEFT": longest_time, "GATE_COUNTER": gate_limit}
    return np.array([min(high.get(name, 1), MAX_NUMBER) for name in names.__members__])


WITH_OBJECTS = (Terrain.COUNTER, *BELTS.values(), *PREPARING.values(), Terrain.POT, Terrain.GATE)


def _object_cells(terrain: Array) -> Array:
    cells = [np.argwhere(np.isin(grid, WITH_OBJECTS))[:, ::-1] for grid in terrain]
    object_cells = np.zeros((len(cells), max(map(len, cells)), 2), np.int32)
    for rows, row in zip(object_cells, cells, strict=True):
        rows[: len(row)] = row
    return object_cells


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


def measure_poses(floor: Array, neighbours: Array) -> Array:
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
    distances = np.full((poses, height * width), UNREACHABLE, np.int32)
    for pose in range(4 * len(cells)):
        flood(pose, neighbours, occupied, distance, first, queue)
        np.minimum.at(distances[pose], faced, distance[faced_by])
    distances[distances >= UNREACHABLE] = NOTHING
    return distances


def _nearest(terrain: Array, distances: Array) -> Array:
    nearest = np.full((len(distances), len(NearestObject)), NOTHING, np.int32)
    kinds = (Terrain.ONIONS, Terrain.TOMATOES, Terrain.DISHES, Terrain.SERVING, Terrain.POT)
    for column, kind in enumerate(kinds):
        cells = np.flatnonzero(terrain == kind)
        order = np.where(distances[:, cells] == NOTHING, UNREACHABLE, distances[:, cells]).argsort(
            axis=1, kind="stable"
        )
        for rank in range(2 if kind == Terrain.POT else 1):
            if rank < len(cells):
                chosen = cells[order[:, rank]]
                known = np.take_along_axis(distances, chosen[:, None], 1)[:, 0] != NOTHING
                nearest[known, column + rank] = chosen[known]
    return nearest
