"""Compile a pool of layouts and its options into read-only arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.io.action_levels import parse_action_levels
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.macro_actions import MEDIUM, PRIMITIVE, Level
from collab_overcooked.kernels.paths import shortest_paths

from .config import OvercookedConfig, change_steps, pack_changes
from .constants import (
    BELTS,
    FIRST_BELT,
    FIRST_ROWS,
    FIRST_STATION,
    INGREDIENTS,
    LAST_BELT,
    LAST_STATION,
    MAX_INGREDIENTS,
    MAX_PLAYERS,
    NOTHING,
    PREPARING,
    SYMBOLS,
    TERRAINS,
    VERBS,
    Event,
    Kind,
    LayoutSize,
    Object,
    Param,
    Rules,
    Shaping,
    Stalemate,
    Terrain,
    Verb,
)
from .observation_layout import compile_view
from .spec import Layout, Soup, check_shaping, number_of
from .state import Tables

Array = np.ndarray
WALKABLE = (Terrain.FLOOR, Terrain.GATE)


def number_objects(layouts: Sequence[Any], grids: Array) -> Array:
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
    grid = np.where(is_belt(grid), Terrain.COUNTER, grid)
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


@dataclass(frozen=True, eq=False)
class Compiled:
    """A pool of layouts ready to play."""

    layouts: tuple[Layout, ...]  # What it was made from
    config: OvercookedConfig  # The options
    names: tuple[str, ...]  # Of the layouts
    tables: Tables  # Its arrays
    n_players: int  # N
    levels: tuple[str, ...]  # Action level of each player
    space: gymnasium.spaces.Box[Any]  # Of one player's observation


def recipes_of(layouts: Sequence[Any], soups: Sequence[Sequence[int]], config: Any) -> Array:
    """Return the table ``recipes`` of a pool, given the numbers of the soups of each layout that may be drawn.

    Raises:
        ValueError: Those of layouts that follow each other differ.
    """
    for layout, entry in zip(layouts, soups, strict=True):
        if config.changes is not None and set(entry) != set(soups[0]):
            pair = f"layout {layout.name} cannot follow {layouts[0].name} in a kitchen that changes"
            raise ValueError(f"{pair}: their recipes must be the same")
    recipes = np.zeros((len(soups), max(map(len, soups))), np.int32)
    for row, entry in zip(recipes, soups, strict=True):
        row[: len(entry)] = entry
    return recipes


def orders_drawn(layout: Layout, config: OvercookedConfig) -> list[Soup]:
    """Return the orders of a layout that can be made of what its dispensers give; none where all of them stand."""
    if config.order_time is None:
        return []
    kinds = [kind for kind, symbol in enumerate("OT") if layout.cells(symbol)]
    least = MAX_INGREDIENTS if config.dynamics == "auto" else 1
    orders = [soup for soup in layout.orders if sum(soup) >= least]
    return [soup for soup in orders if sum(soup[kind] for kind in kinds) == sum(soup)]


def compile_layouts(layouts: Sequence[Layout], config: OvercookedConfig, spare_planes: int = 0) -> Compiled:
    """Compile a pool of one or more layouts.

    Args:
        layouts: The pool.
        config: Options of the game.
        spare_planes: Planes behind those of pictures for which room is left, see ``CompiledGame.with_spare_planes``.

    Raises:
        ValueError: Options contradict each other or do not fit the layouts, or layouts cannot be of one pool.
    """
    names = check_names(layouts)
    n_players = _count_players(layouts, config)
    config.check_costs()
    if config.dynamics == "auto":
        for layout in layouts:
            _refuse_small_orders(layout)
    terrain = compile_terrain([layout.grid for layout in layouts], SYMBOLS)
    grids = compile_grids(layouts, terrain, auto_start=config.dynamics == "auto")
    pays = [{soup: layout.pays(soup) for soup in layout.orders} for layout in layouts]
    values = np.stack([by_soup(entry, len(INGREDIENTS)) for entry in pays])
    times = np.stack([by_soup(layout.cook_times, len(INGREDIENTS)) for layout in layouts])
    frames = np.stack([_frame(layout, config) for layout in layouts])
    drawn = [orders_drawn(layout, config) for layout in layouts]
    for layout, soups in zip(layouts, drawn, strict=True):
        if config.order_time is not None and not soups:
            raise ValueError(f"order_time needs orders, but layout {layout.name} has none that can be cooked")
    frames[:, LayoutSize.RECIPES] = [*map(len, drawn)]
    check_changes(config, names, n_players, terrain, times, frames)
    symbols = set().union(*(row for layout in layouts for row in layout.grid))
    highest = {"cook_time": int(times.max()), "gate_limit": int(frames[:, LayoutSize.GATE_LIMIT].max())}
    floor, neighbours = grids["floor"], grids["neighbours"]
    seen, space = compile_view(config, symbols, terrain, floor, neighbours, n_players, spare_planes, **highest)
    levels = parse_action_levels(config.action_level, n_players, PRIMITIVE)
    if MEDIUM in levels and layouts[0].prepare:
        raise ValueError("directives know no boards, grills and blenders; choose action_level='primitive'")
    tables = Tables(
        params=_params(config, levels),
        shaping=np.stack([_shaping(layout, config) for layout in layouts]),
        frames=frames,
        starts=np.stack([_starts(layout, n_players) for layout in layouts]),
        **grids,
        prepare=prepare_of(layouts, INGREDIENTS),
        values=values,
        best=np.stack([best_of(pays) for pays in values]),
        times=times,
        **seen,
        levels=_numbers([Level[level.upper()] for level in levels]),
        recipes=recipes_of(layouts, [[*map(number_of, entry)] for entry in drawn], config),
        permuted=np.zeros(0, np.int32),
    )
    return Compiled(tuple(layouts), config, names, tables, n_players, levels, space)


def compile_grids(layouts: Sequence[Any], terrain: Array, *, auto_start: bool) -> dict[str, Array]:
    """Return the tables that follow from the cells of a pool: ``terrain`` itself, places, floors and directives.

    Args:
        layouts: Of Overcooked or of OvercookedV2.
        terrain: See ``Tables``.
        auto_start: Whether pots start by themselves.
    """
    floor = np.stack([number_floor(grid) for grid in terrain])
    objects = number_objects(layouts, terrain)
    return {
        "terrain": terrain,
        "regions": np.stack([number_regions(grid) for grid in terrain]),
        "pots": places_of([cells_of(grid, Terrain.POT) for grid in terrain]),
        "gates": places_of([cells_of(grid, Terrain.GATE) for grid in terrain]),
        "belts": places_of([order_belts(layout.name, grid) for layout, grid in zip(layouts, terrain, strict=True)]),
        "stations": places_of([_station_cells(grid) for grid in terrain]),
        "buttons": places_of([cells_of(grid, Terrain.BUTTON) for grid in terrain]),
        "floor": floor,
        "neighbours": np.stack([find_neighbours(numbers, int(floor.max()) + 1) for numbers in floor]),
        "objects": objects,
        "catalogue": list_directives(objects, auto_start),
    }


def order_belts(name: str, terrain: Array) -> list[tuple[int, int]]:
    """Return the cells (x, y) of belts, those to which others lead first, then row by row.

    Args:
        name: Of the layout.
        terrain: Kinds of cells, (H, W).

    Raises:
        ValueError: Belts lead to each other in a ring, or out of the kitchen.
    """
    belts = [(x, y) for y, x in np.argwhere(is_belt(terrain)).tolist()]
    lengths = {cell: len(belts_ahead(name, terrain, cell)) for cell in belts}
    return sorted(belts, key=lambda cell: lengths[cell])


def _station_cells(terrain: Array) -> Array:
    cells: Array = np.argwhere((terrain >= FIRST_STATION) & (terrain <= LAST_STATION))[:, ::-1]
    return cells


def prepare_of(layouts: Sequence[Any], names: Sequence[str]) -> Array:
    """Return the table ``prepare`` of a pool, given the names of ingredients by kind.

    Raises:
        ValueError: Layouts of the pool prepare ingredients in different ways.
    """
    for layout in layouts:
        if layout.prepare != layouts[0].prepare:
            pair = f"layouts {layouts[0].name} and {layout.name} of the pool"
            raise ValueError(f"{pair} prepare ingredients in different ways; give them the same entry prepare")
    return _numbers([Terrain[layouts[0].prepare.get(name, "floor").upper()] for name in names])


def is_belt(terrain: Array) -> Array:
    """Return which cells are belts, bool of the shape of ``terrain``."""
    found: Array = (terrain >= FIRST_BELT) & (terrain <= LAST_BELT)
    return found


def belts_ahead(name: str, terrain: Array, belt: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the cells (x, y) to which a belt leads: further belts, and the counter at the end if there is one.

    Args:
        name: Of the layout.
        terrain: Kinds of cells, (H, W).
        belt: Cell (x, y); any other cell leads nowhere.

    Raises:
        ValueError: Belts lead to each other in a ring, or out of the kitchen.
    """
    found = [belt]
    while is_belt(terrain[found[-1][1], found[-1][0]]):
        x, y = found[-1]
        dx, dy = OFFSETS[terrain[y, x] - FIRST_BELT]
        ahead = x + dx, y + dy
        if ahead in found:
            raise ValueError(f"layout {name}: belts lead to each other in a ring at {ahead}; let one end at a counter")
        if not (0 <= ahead[0] < terrain.shape[1] and 0 <= ahead[1] < terrain.shape[0]):
            raise ValueError(f"layout {name}: the belt at {(x, y)} leads out of the kitchen")
        if not Terrain.COUNTER <= terrain[ahead[1], ahead[0]] <= LAST_BELT:
            break
        found.append(ahead)
    return found[1:]


def check_names(layouts: Sequence[Any]) -> tuple[str, ...]:
    """Return the names of a pool's layouts.

    Raises:
        ValueError: Two of them have the same.
    """
    names = tuple(layout.name for layout in layouts)
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ValueError(f"two layouts of the pool are called {name!r}; give each its own name")
    return names


def _count_players(layouts: Sequence[Layout], config: OvercookedConfig) -> int:
    counts = {len(layout.starts) for layout in layouts}
    if config.agents is None and len(counts) > 1:
        raise ValueError(f"layouts of the pool start {sorted(counts)} players; choose with the option agents")
    players = counts.pop() if config.agents is None else config.agents
    if isinstance(players, bool) or not isinstance(players, int) or not 1 <= players <= MAX_PLAYERS:
        raise ValueError(f"agents must be an integer from 1 to {MAX_PLAYERS}, not {players!r}")
    for layout in layouts:
        room = len(layout.cells(" "))
        if room < players:
            raise ValueError(f"layout {layout.name} has {room} floor cells, too few for {players} players")
    return players


def _refuse_small_orders(layout: Layout) -> None:
    if not layout.cooks_by_itself:
        onions, tomatoes = next(soup for soup in layout.orders if sum(soup) < MAX_INGREDIENTS)
        what = ", ".join(["onion"] * onions + ["tomato"] * tomatoes)
        raise ValueError(
            f"layout {layout.name} orders a soup of {what}, but with dynamics 'auto' only pots of {MAX_INGREDIENTS} "
            "ingredients cook; choose dynamics='explicit'"
        )


def check_changes(
    config: Any, names: Sequence[str], n_players: int, terrain: Array, times: Array, frames: Array
) -> None:
    """Refuse changes that could never come, as players have nowhere to go, or leave things in an impossible state.

    Args:
        config: Options of the game.
        names: Of the layouts, in the order in which they follow each other.
        n_players: N.
        terrain: See ``Tables``, as ``times`` and ``frames``.
        times: By soup.
        frames: Sizes of the layouts.

    Raises:
        ValueError: The kitchen could not change from some layout into the next one.
    """
    if config.changes is None:
        if config.notice:
            raise ValueError(f"notice={config.notice} is for kitchens that change; set changes, too")
        return
    if len(names) == 1:
        raise ValueError(
            f"changes needs a pool of at least two layouts, not only {names[0]}: layout=[A, B], or --layouts A+B"
        )
    least, _ = change_steps(config.changes)
    if "after" not in config.changes and config.notice >= least:
        raise ValueError(f"notice must be below the {least} steps between two changes, not {config.notice}")
    for name, grid, time, frame in zip(names[1:], terrain[1:], times[1:], frames[1:], strict=True):
        pair = f"layout {name} cannot follow {names[0]} in a kitchen that changes"
        moved = np.argwhere((grid == Terrain.GATE) != (terrain[0] == Terrain.GATE))
        if len(moved):
            y, x = moved[0].tolist()
            raise ValueError(f"{pair}: gates must be the same cells, but differ at ({x}, {y})")
        if (time != times[0]).any():
            raise ValueError(f"{pair}: their soups must have the same cook_time")
        if frame[LayoutSize.GATE_LIMIT] != frames[0, LayoutSize.GATE_LIMIT]:
            raise ValueError(f"{pair}: their gates must have the same gate_limit; the option gate_limit sets one")
    for k, grid in enumerate(terrain):
        _check_room(names[k], names[(k + 1) % len(names)], grid, terrain[(k + 1) % len(names)], n_players)


def _check_room(name: str, following: str, before: Array, after: Array, n_players: int) -> None:
    """Refuse a change for which players on some part of the floor could never make room."""
    regions = number_regions(before, WALKABLE)
    for region in range(regions.max() + 1):
        cells = np.argwhere(regions == region)
        remaining = int((before[regions == region] == after[regions == region]).sum())
        if remaining < min(n_players, len(cells)):
            y, x = cells[0].tolist()
            raise ValueError(
                f"layout {following} cannot follow {name} in a kitchen that changes: of the floor around ({x}, {y}) it "
                f"keeps {remaining} cells, too few for {min(n_players, len(cells))} players"
            )


def _numbers(values: object) -> np.ndarray:
    return np.ascontiguousarray(values, np.int32)


def _params(config: OvercookedConfig, levels: Sequence[str]) -> np.ndarray:
    return config.pack(
        Param,
        auto_start=config.dynamics == "auto",
        gate_anyone=config.gate_opener == "anyone",
        shaped=config.reward == "shaped",
        redraw=config.order_time is not None,
        macros=MEDIUM in levels,
        rules=Rules[config.text_rules.upper()],
        stalemate=Stalemate[config.stalemate.upper()],
        soup_burnt=Event.SOUP_BURNT,
        **pack_changes(config.changes),
    )


def _shaping(layout: Layout, config: OvercookedConfig) -> np.ndarray:
    pays = check_shaping(config.shaping, layout.shaping)
    return np.array([pays[entry.name.lower()] for entry in Shaping], np.float32)


def _frame(layout: Layout, config: OvercookedConfig) -> np.ndarray:
    frame = np.zeros(len(LayoutSize), np.int32)
    frame[LayoutSize.HEIGHT], frame[LayoutSize.WIDTH] = layout.height, layout.width
    frame[LayoutSize.POTS] = len(layout.cells("P"))
    frame[LayoutSize.GATES] = len(layout.cells("G"))
    frame[LayoutSize.GATE_LIMIT] = layout.gate_limit if config.gate_limit is None else config.gate_limit
    frame[LayoutSize.OBJECT_CELLS] = sum(len(layout.cells(symbol)) for symbol in ("X", "P", "G", *BELTS, *PREPARING))
    frame[LayoutSize.BELTS] = sum(len(layout.cells(symbol)) for symbol in BELTS)
    frame[LayoutSize.STATIONS] = sum(len(layout.cells(symbol)) for symbol in PREPARING)
    return frame


def compile_terrain(grids: Sequence[Sequence[str]], symbols: Mapping[str, int]) -> np.ndarray:
    """Return the kinds of cells of a pool of grids, int32 (K, H, W), with walls around smaller ones."""
    size = max(map(len, grids)), max(len(grid[0]) for grid in grids)
    terrain = np.full((len(grids), *size), Terrain.WALL, np.int32)
    for cells, grid in zip(terrain, grids, strict=True):
        for y, row in enumerate(grid):
            cells[y, : len(row)] = [symbols[symbol] for symbol in row]
    return terrain


def _starts(layout: Layout, n_players: int) -> np.ndarray:
    free = [cell for cell in layout.cells(" ") if cell not in layout.starts]
    return _numbers([*layout.starts, *free][:n_players])


def cells_of(terrain: np.ndarray, kind: Terrain) -> np.ndarray:
    """Return the cells (x, y) of a kind, row by row, (M, 2)."""
    cells: np.ndarray = np.argwhere(terrain == kind)[:, ::-1]
    return cells


def places_of(cells: Sequence[Any]) -> np.ndarray:
    """Return cells (x, y) of each layout of a pool, int32 (K, M, 2); unused rows are 0."""
    places = np.zeros((len(cells), max(map(len, cells)), 2), np.int32)
    for rows, row in zip(places, cells, strict=True):
        rows[: len(row)] = np.reshape(row, (-1, 2))
    return places


def number_floor(terrain: np.ndarray) -> np.ndarray:
    """Return the numbers of floor and gate cells, row by row, NOTHING elsewhere; int32 of the shape of ``terrain``."""
    floor = np.full(terrain.shape, NOTHING, np.int32)
    walkable = np.isin(terrain, WALKABLE)
    floor[walkable] = np.arange(walkable.sum())
    return floor


def find_neighbours(floor: np.ndarray, longest: int) -> np.ndarray:
    """Return the numbers of the floor cells next to each, by direction, or NOTHING; (F, 4)."""
    neighbours = np.full((longest, 4), NOTHING, np.int32)
    for y, x in np.argwhere(floor != NOTHING):
        neighbours[floor[y, x]] = [floor[y + dy, x + dx] for dx, dy in OFFSETS]  # floor is never at the edge
    return neighbours


def number_regions(terrain: np.ndarray, open_kinds: Sequence[int] = (Terrain.FLOOR,)) -> np.ndarray:
    """Return the number of the floor that each cell of open kinds belongs to, or NOTHING; (H, W)."""
    is_open = np.isin(terrain, open_kinds)
    regions = np.full(terrain.shape, NOTHING, np.int32)

    def beside(cell: tuple[int, int]) -> list[tuple[int, int]]:
        near = [(cell[0] + dy, cell[1] + dx) for dx, dy in OFFSETS]
        return [place for place in near if is_open[place]]

    for start in map(tuple, np.argwhere(is_open).tolist()):
        if regions[start] == NOTHING:
            regions[tuple(zip(*shortest_paths(start, beside), strict=True))] = regions.max() + 1
    return regions


def by_soup(numbers: Mapping[Any, int], kinds: int) -> np.ndarray:
    """Return a table by soup, int32 (S,): numbers by counts of each of ``kinds`` ingredients, 0 for all others."""
    table = np.zeros(1 << 2 * kinds, np.int32)
    for counts, number in numbers.items():
        table[number_of(counts)] = number
    return table


def best_of(values: np.ndarray) -> np.ndarray:
    """Return the most that each soup of up to three ingredients can still become, int32 (S,), given what soups pay."""
    best, kinds = values.copy(), (len(values).bit_length() - 1) // 2
    for size in range(MAX_INGREDIENTS - 1, -1, -1):
        for ingredients in combinations_with_replacement(range(kinds), size):
            soup = sum(1 << 2 * kind for kind in ingredients)
            best[soup] = max(best[soup], *(best[soup + (1 << 2 * kind)] for kind in range(kinds)))
    best[0] = max(best[1 << 2 * kind] for kind in range(kinds))  # an empty pot is worth nothing by itself
    return best
