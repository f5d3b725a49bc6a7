"""Procedural kitchens: layouts drawn from a seed, each with a proof that soup can be served in it.

A layout is drawn at random, within what ``GeneratorConfig`` allows, and thrown away unless it can be proved solvable
(see ``solvability.py``). Layout ``i`` of a seed is the same however many are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np

from collab_overcooked.io import schema
from collab_overcooked.io.options import option
from collab_overcooked.kernels.grid import OFFSETS

from .compile import number_regions
from .constants import BELTS, INGREDIENTS, MAX_INGREDIENTS, MAX_PLAYERS, PREPARING_SYMBOLS
from .solvability import Cell, Proof, flood, prove, works_anywhere
from .spec import SOUPS, Layout, Soup, load_kitchen

MAX_SIDE = 40  # cells in a row or column
MAX_LAYOUTS = 10_000  # of one pool
TRIES = 2_000  # draws for one layout before giving up
STATION_OPTIONS = {"pots": "P", "onions": "O", "tomatoes": "T", "dishes": "D", "servings": "S"}
MINIMA = {"width": 4, "height": 4, "pots": 1, "onions": 0, "tomatoes": 0, "dishes": 1, "servings": 1, "belts": 0}
BELT_LENGTHS = range(2, 5)  # cells of a belt
SHARE = 0.9  # of the inner cells that may be counters at most

Finished = TypeVar("Finished")
Range = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class GeneratorConfig:
    """Options of the layout generator; a pair is a minimum and maximum, sampled for each layout."""

    seed: int = option(0, "Random seed.")
    count: int = option(64, "Number of layouts.")
    agents: int = option(2, "Start cells, 1 to 4.")
    width: Range = option((5, 9), "Columns of the grid, edge included.")
    height: Range = option((4, 6), "Rows of the grid, edge included.")
    counters: tuple[float, float] = option((0.0, 0.3), "Share of inner cells that are counters, before rooms.")
    rooms: Range = option((1, 1), "Parts of the floor that no one can leave, at most as many as agents.")
    pots: Range = option((1, 2), "Pots.")
    onions: Range = option((1, 2), "Onion dispensers.")
    tomatoes: Range = option((0, 0), "Tomato dispensers; 0 for the classic onion soup.")
    dishes: Range = option((1, 2), "Dish dispensers.")
    servings: Range = option((1, 2), "Serving cells.")
    belts: Range = option((0, 0), "Belts, each a straight run of 2 to 4 cells in a random direction.")
    prepared: Range = option(
        (0, 0), "Kinds of ingredients that need preparation, at a random kind of station; the same in all layouts."
    )
    rearrange: bool = option(
        False, "All layouts are the first one with its stations in other places, for kitchens that change."
    )


def read_generator_config(options: Mapping[str, Any] | None) -> GeneratorConfig:
    """Read options; a single number stands for a pair of it.

    Raises:
        ValueError: An option is invalid, no ingredient is left, or too few for ``prepared``.
    """
    agents = schema.integer(1, MAX_PLAYERS)
    parsers = {"seed": schema.integer(0, None), "count": schema.integer(1, MAX_LAYOUTS), "agents": agents}
    parsers["rearrange"] = schema.boolean
    parsers |= {name: _pair_of(schema.integer(low, MAX_SIDE), "a number") for name, low in MINIMA.items()}
    parsers |= {"rooms": schema.json_value, "counters": _pair_of(_share, "a share")}
    parsers["prepared"] = _pair_of(schema.integer(0, len(INGREDIENTS)), "a number")
    chosen = schema.record(parsers)(options or {})
    if "rooms" in chosen:
        rooms = _pair_of(schema.integer(1, chosen.get("agents", GeneratorConfig.agents)), "a number")
        chosen["rooms"] = schema.read(rooms, chosen["rooms"], "rooms")
    config = GeneratorConfig(**chosen)
    if config.onions[1] + config.tomatoes[1] == 0:
        raise ValueError("onions and tomatoes are both 0; a soup needs one of them")
    lasting = _lasting_ingredients(config)
    if config.prepared[1] > len(lasting):
        raise ValueError(
            f"prepared must be at most {len(lasting)}, not {config.prepared[1]}; ingredients of which every layout has "
            f"a dispenser: {', '.join(lasting) or 'none'}"
        )
    return config


def _lasting_ingredients(config: GeneratorConfig) -> list[str]:
    """Return the ingredients of which every layout has a dispenser: the layouts of a pool share one preparation."""
    return [name for name, pair in zip(INGREDIENTS, (config.onions, config.tomatoes), strict=True) if pair[0] > 0]


def _pair_of(parser: schema.Parser, what: str) -> schema.Parser:
    def read(value: Any) -> tuple[Any, ...]:
        ends = tuple(map(parser, value if isinstance(value, (list, tuple)) else [value]))
        if len(ends) not in (1, 2) or ends[0] > ends[-1]:
            raise schema.refuse(value, f"{what} or a pair [least, most]")
        return ends[0], ends[-1]

    return read


def _share(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= SHARE:
        raise schema.refuse(value, f"a share from 0 to {SHARE}")
    return float(value)


def generate(config: GeneratorConfig) -> list[Layout]:
    """Draw the layouts of a seed.

    Raises:
        ValueError: ``TRIES`` drawings hold no layout with these properties.
    """
    return draw_layouts(config, lambda kitchen, i: kitchen)


def draw_layouts(config: GeneratorConfig, finish: Callable[[Layout, int], Finished | None]) -> list[Finished]:
    """Draw the layouts of a seed, and finish each.

    Args:
        config: Options of the generator.
        finish: Makes the layout of a game from a kitchen and its number, or returns None to throw the kitchen away.

    Raises:
        ValueError: ``TRIES`` drawings hold no layout with these properties.
    """
    layouts: list[Finished] = []
    known: set[str] = set()
    first: _Plan | None = None
    prepare = _draw_preparation(config)
    for i in range(config.count):
        rng = np.random.default_rng([config.seed, i])
        for _ in range(TRIES):
            plan = first or _plan(rng, config, prepare)
            grid = None if plan is None else _furnish(rng, plan, prepare, config.rearrange)
            if grid is None or grid in known:
                continue
            kitchen = load_kitchen(_values(grid, f"procedural_{config.seed}_{i}", config, prepare))
            layout = finish(kitchen, i)
            if layout is not None:
                break
        else:
            raise ValueError(
                f"no layout number {i} found in {TRIES} tries; allow a larger grid or fewer counters, belts or stations"
            )
        known.add(grid)
        first = plan if config.rearrange else None
        layouts.append(layout)
    return layouts


def _draw_preparation(config: GeneratorConfig) -> dict[str, str]:
    rng = np.random.default_rng([config.seed, 0, 2])
    names = rng.permutation(_lasting_ingredients(config))[: _between(rng, config.prepared)]
    return {name: str(rng.choice([*PREPARING_SYMBOLS])) for name in INGREDIENTS if name in names}


def _values(grid: str, name: str, config: GeneratorConfig, prepare: Mapping[str, str]) -> dict[str, Any]:
    orders = [list(names_of(soup)) for soup in _recipes(grid)]
    changed = ", ".join(
        f"{key} {value}" for key, value in asdict(config).items() if value != getattr(GeneratorConfig, key)
    )
    return {
        "name": name,
        "description": f"Drawn by the generator{f' with {changed}' if changed else ''}.",
        "grid": grid,
        "orders": orders,
        **({"prepare": dict(prepare)} if prepare else {}),
    }


def _recipes(grid: str) -> list[Soup]:
    missing = {name for name, symbol in zip(INGREDIENTS, "OT", strict=True) if symbol not in grid}
    full = [soup for soup in SOUPS if sum(soup) == MAX_INGREDIENTS]
    return [soup for soup in full if missing.isdisjoint(names_of(soup))]


def names_of(soup: Soup) -> tuple[str, ...]:
    """Return the ingredients of a soup."""
    return tuple(name for name, count in zip(INGREDIENTS, soup, strict=True) for _ in range(count))


def prove_layout(layout: Layout) -> Proof | None:
    """Return a proof that one of a layout's orders can be served, None if there is none; see ``solvability.prove``."""
    return prove(layout.grid, layout.starts, orders_to_prove(layout), layout.prepare)


def orders_to_prove(layout: Layout) -> list[tuple[str, ...]]:
    """Return the ingredients of each order that can be cooked."""
    orders = [soup for soup in layout.orders if sum(soup) == MAX_INGREDIENTS or not layout.cooks_by_itself]
    return [names_of(soup) for soup in orders]


def layout_text(values: Mapping[str, Any], par: int | None = None) -> str:
    """Return the values of a generated layout, also of OvercookedV2, as the text of a layout file.

    Args:
        values: Content of the layout's document.
        par: Par score, if there is one.
    """
    lines = [f"name: {values['name']}", f"description: {values['description']}", "grid: |"]
    lines += [f"  {row}" for row in values["grid"].split("\n")]
    if "orders" in values:
        lines += ["orders:", *(f"  - [{', '.join(order)}]" for order in values["orders"])]
    if "prepare" in values:
        lines += ["prepare:", *(f"  {name}: {station}" for name, station in values["prepare"].items())]
    return "\n".join([*lines, *([] if par is None else [f"par: {par}"]), ""])


class _Plan(NamedTuple):
    grid: np.ndarray  # Symbols (H, W): floor, counters and belts
    starts: list[Cell]
    stations: list[str]  # Symbols
    edge: list[Cell]  # Where they can stand


def _plan(rng: np.random.Generator, config: GeneratorConfig, prepare: Mapping[str, str]) -> _Plan | None:
    width, height, rooms = (_between(rng, pair) for pair in (config.width, config.height, config.rooms))
    floor = np.zeros((height, width), bool)
    floor[1:-1, 1:-1] = rng.random((height - 2, width - 2)) >= rng.uniform(*config.counters)
    if not _divide(rng, floor, rooms):
        return None
    parts = _parts(floor)
    if len(parts) != rooms:
        return None
    starts = _start_cells(rng, parts, config.agents)
    stations = [symbol for name, symbol in STATION_OPTIONS.items() for _ in range(_between(rng, getattr(config, name)))]
    stations += dict.fromkeys(PREPARING_SYMBOLS[station] for station in prepare.values())
    grid = np.where(floor, " ", "X")
    has_belts = _lay_belts(rng, grid, _between(rng, config.belts))
    edge = [(x, y) for x, y in _edge(floor) if grid[y, x] == "X"]
    if not starts or not has_belts or len(stations) > len(edge) or not {"O", "T"} & set(stations):
        return None
    return _Plan(grid, starts, stations, edge)


def _furnish(rng: np.random.Generator, plan: _Plan, prepare: Mapping[str, str], anywhere: bool) -> str | None:
    """Put the stations in place; None unless every soup is proved, with ``anywhere`` wherever players stand."""
    grid = plan.grid.copy()
    for symbol, place in zip(plan.stations, rng.permutation(len(plan.edge)), strict=False):
        x, y = plan.edge[place]
        grid[y, x] = symbol
    rows = ["".join(row) for row in grid]
    for soup in _recipes("".join(rows)):
        recipes = [names_of(soup)]
        floors = [flood(rows, start, set()) for start in plan.starts]
        if prove(rows, plan.starts, recipes, prepare) is None:
            return None
        if anywhere and not works_anywhere(rows, floors, recipes, prepare):
            return None
    for seat, (x, y) in enumerate(plan.starts, start=1):
        grid[y, x] = str(seat)
    return "\n".join("".join(row) for row in grid)


def _between(rng: np.random.Generator, pair: Range) -> int:
    return int(rng.integers(pair[0], pair[1] + 1))


def _divide(rng: np.random.Generator, floor: np.ndarray, rooms: int) -> bool:
    long = floor if floor.shape[0] > floor.shape[1] else floor.T
    inner = np.arange(2, long.shape[0] - 2)
    if rooms == 1:
        return True
    lines = np.sort(rng.choice(inner, rooms - 1, replace=False)) if len(inner) >= rooms - 1 else inner[:0]
    long[lines] = False
    return len(lines) == rooms - 1 and bool((np.diff(lines) > 1).all())


def _parts(floor: np.ndarray) -> list[list[Cell]]:
    regions = number_regions(floor, (True,))
    return [[(x, y) for y, x in np.argwhere(regions == part).tolist()] for part in range(regions.max() + 1)]


def _start_cells(rng: np.random.Generator, parts: Sequence[Sequence[Cell]], players: int) -> list[Cell]:
    cells = [part[int(rng.integers(len(part)))] for part in parts]
    free = [cell for part in parts for cell in part if cell not in cells]
    more = players - len(cells)
    if more < 0 or more > len(free):
        return []
    cells += [free[k] for k in rng.choice(len(free), more, replace=False)] if more else []
    return [cells[k] for k in rng.permutation(players)]


def _edge(floor: np.ndarray) -> list[Cell]:
    near = np.zeros_like(floor)
    for dx, dy in OFFSETS:
        near |= np.roll(floor, (dy, dx), axis=(0, 1))  # the outermost cells are never floor, so nothing wraps round
    return [(x, y) for y, x in np.argwhere(near & ~floor).tolist()]


def _lay_belts(rng: np.random.Generator, grid: np.ndarray, count: int) -> bool:
    """Put belts over counters; return whether there is room for all, with no belt leading to another one."""
    taken: set[Cell] = set()
    for _ in range(count):
        tracks = [track for track in _tracks(grid == " ") if taken.isdisjoint(track[1])]
        if not tracks:
            return False
        symbol, cells = tracks[int(rng.integers(len(tracks)))]
        taken |= {*cells}
        for x, y in cells[:-1]:
            grid[y, x] = symbol
    return True


def _tracks(floor: np.ndarray) -> Iterator[tuple[str, list[Cell]]]:
    """Yield the direction of each belt that is possible, and its cells with the one ahead of it.

    Players can stand beside each counter of these, so that things are put on a belt and none is lost at its end.
    """
    edge = dict.fromkeys(_edge(floor))  # in order, unlike a set
    for (x, y), (symbol, (dx, dy)), length in product(edge, zip(BELTS, OFFSETS, strict=True), BELT_LENGTHS):
        *belt, ahead = cells = [(x + k * dx, y + k * dy) for k in range(length + 1)]
        if edge.keys() >= {*belt} and (ahead in edge or floor[ahead[1], ahead[0]]):
            yield symbol, cells
