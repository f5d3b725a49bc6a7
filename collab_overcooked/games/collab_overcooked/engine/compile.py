"""Compile a kitchen and its tasks into read-only arrays.

Every check that needs the whole kitchen (reachable stations, products that some agent can make) raises here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.io.action_levels import parse_action_levels
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.io.schema import mapping_of, number, read
from collab_overcooked.kernels.arrays import counts_to
from collab_overcooked.kernels.blocks import Objects, blocks_of, highest_of, spans_of
from collab_overcooked.kernels.grid import OFFSETS, Direction
from collab_overcooked.kernels.macro_actions import MEDIUM, Level
from collab_overcooked.kernels.paths import UNREACHABLE, flood_all

from .config import CODE, PAPER, PAPER_WAIT, CollabOvercookedConfig, OrderPool
from .constants import (
    DISH,
    FIRST_NAMED,
    NOTHING,
    Access,
    Cell,
    Encoding,
    Event,
    Food,
    GridChannel,
    Group,
    Kind,
    Log,
    Param,
    Paths,
    Primitive,
    Recipe,
    Row,
    Station,
    Task,
    Verb,
)
from .observe import GRID_CHANNELS, features_of
from .solvability import refuse_impossible
from .spec import Kitchen
from .state import Tables
from .step import OWN, TEAM

KINDS = {"X": Kind.COUNTER, "ingredients": Kind.INGREDIENTS, "dishes": Kind.DISHES, "serving": Kind.SERVING}
PLACES = ("counter", "ingredient_dispenser", "dish_dispenser", "serving")
WEIGHT_SCALE = 1 << 24
MAX_NUMBER = 255  # of an observation; times and counts stop there
VISIBLE_ORDERS = 3  # orders on display in a game of many orders
# Ingredients that the original lists beside its orders in the table of what needs a dish.
ALSO_LISTED = ("apple", "carrot", "onion", "potato", "tofu")


@dataclass(frozen=True)
class Names:
    """Names for the indices in the tables."""

    items: tuple[str, ...]  # Item names; item 0 is the dish
    places: tuple[str, ...]  # Name of every group: counter, dispensers, serving, then utensils such as ``pot0``
    operations: tuple[str, ...]  # Verb of every utensil, in the order of the utensil groups
    tiles: Mapping[tuple[int, int], int]  # Station index of every grid cell (x, y) that is not floor
    floor: tuple[tuple[int, int], ...]  # Grid cell (x, y) of every floor cell index
    catalogue: tuple[str, ...]  # Text of every catalogue row


@dataclass(frozen=True)
class Compiled:
    """A kitchen ready to play."""

    kitchen: Kitchen  # What it was made from
    names: Names  # Words for its numbers
    tables: Tables  # Its arrays
    levels: tuple[str, ...]  # Action level of each seat
    n_actions: int  # Size of the action space: that of the level that has most
    n_possible: int  # Catalogue rows below this number can be accepted; the rest can only be named
    space: gymnasium.spaces.Box[Any]  # Of one agent's observation
    features: list[Objects]  # What a flat observation shows


def compile_kitchen(kitchen: Kitchen, config: CollabOvercookedConfig, pool: OrderPool) -> Compiled:
    """Compile a kitchen."""
    if config.interface == PAPER:
        kitchen = replace(kitchen, max_wait=PAPER_WAIT)
    items = ("dish", *kitchen.ingredients, *(recipe.product for recipe in kitchen.recipes))
    item_id = {name: i for i, name in enumerate(items)}
    floor, tiles = _cells(kitchen)
    cells = _neighbours(floor, tiles)
    paths = _paths(cells)
    starts = _starts(kitchen, floor)
    stations, groups, places, operations = _stations(kitchen, floor, tiles, config.preset)
    access = _access(kitchen, stations, paths, starts, tiles)
    foods, recipes, needs = _foods(kitchen, items, item_id)
    refuse_impossible(kitchen, stations, access)
    rows, texts, marks = _catalogue(kitchen, items, places, operations, stations, groups)
    takes = _takes(rows, marks, len(operations), len(items))
    params = _params(kitchen, config, pool.refill, marks, len(operations))
    params[Param.FILLERS] = _fillers(config, groups, access)
    levels = parse_action_levels(config.action_level, len(kitchen.agents), MEDIUM)
    n_actions = max(marks.accepted if level == MEDIUM else FIRST_NAMED + len(items) for level in set(levels))
    tables = Tables(
        params=params,
        levels=np.array([Level[level.upper()] for level in levels], np.int32),
        cells=cells,
        paths=paths,
        stations=stations,
        groups=groups,
        access=access,
        starts=starts,
        foods=foods,
        recipes=recipes,
        needs=needs,
        catalogue=rows,
        takes=takes,
        tasks=_tasks(pool, item_id),
        rewards=_rewards(kitchen, config.shaping),
        template=_template(kitchen, stations, cells, len(items)),
        spans=np.zeros((2, 0), np.int32),
    )
    features = features_of(tables, places[Group.UTENSIL :])
    tables = tables._replace(spans=spans_of(features))
    space = _grid_space(kitchen, tables) if config.obs == "grid" else counts_to(highest_of(blocks_of(features)))
    names = Names(items, tuple(places), tuple(operations), tiles, tuple(floor), tuple(texts))
    return Compiled(kitchen, names, tables, levels, n_actions, marks.accepted, space, features)


def with_spare_planes(compiled: Compiled, planes: int) -> Compiled:
    """Return a copy of a kitchen with room behind the planes of a grid, see ``CompiledGame.with_spare_planes``."""
    tables, params = compiled.tables, compiled.tables.params.copy()
    params[Param.SPARE] = planes
    cells = tables.template.reshape(params[Param.WIDTH] * params[Param.HEIGHT], -1)
    template = np.pad(cells, ((0, 0), (0, planes))).reshape(-1)
    return replace(compiled, tables=tables._replace(params=params, template=template))


def without_recipes(compiled: Compiled) -> Compiled:
    """Return a copy of a kitchen without recipes, for agents that do not know them."""
    tables = compiled.tables
    blank = tables._replace(recipes=np.full_like(tables.recipes, NOTHING), needs=np.zeros_like(tables.needs))
    return replace(compiled, kitchen=replace(compiled.kitchen, recipes=()), tables=blank)


def _cells(kitchen: Kitchen) -> tuple[list[tuple[int, int]], dict[tuple[int, int], int]]:
    floor: list[tuple[int, int]] = []
    tiles: dict[tuple[int, int], int] = {}
    for y, row in enumerate(kitchen.grid):
        for x, symbol in enumerate(row):
            if symbol == " ":
                floor.append((x, y))
            else:
                tiles[x, y] = len(tiles)
    return floor, tiles


def _neighbours(floor: list[tuple[int, int]], tiles: Mapping[tuple[int, int], int]) -> np.ndarray:
    index = {cell: i for i, cell in enumerate(floor)}
    cells = np.full((len(floor), 10), NOTHING, np.int32)
    for i, (x, y) in enumerate(floor):
        for direction in Direction:
            dx, dy = OFFSETS[direction]
            cells[i, Cell.NEIGHBOUR + direction] = index.get((x + dx, y + dy), NOTHING)
            cells[i, Cell.FACED + direction] = tiles.get((x + dx, y + dy), NOTHING)
        cells[i, [Cell.X, Cell.Y]] = x, y
    return cells


def _paths(cells: np.ndarray) -> np.ndarray:
    paths = np.empty((len(Paths), 4 * len(cells), 4 * len(cells)), np.int32)
    occupied, queue = np.zeros(len(cells), np.int32), np.empty(4 * len(cells), np.int32)
    flood_all(cells, paths[Paths.STEPS], paths[Paths.FIRST], occupied, queue)
    return paths


def _starts(kitchen: Kitchen, floor: list[tuple[int, int]]) -> np.ndarray:
    facing = {name.name.lower(): int(name) for name in Direction}
    return np.array([(floor.index(agent.start), facing[agent.facing]) for agent in kitchen.agents], np.int32)


def _stations(
    kitchen: Kitchen, floor: list[tuple[int, int]], tiles: Mapping[tuple[int, int], int], preset: str
) -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    index = {cell: i for i, cell in enumerate(floor)}
    kinds = [utensil.name for utensil in kitchen.utensils]
    stations = np.full((len(tiles), len(Station) + 3), NOTHING, np.int32)
    members: list[list[int]] = [[], [], [], []]
    utensils: dict[str, list[tuple[str, str, int]]] = {name: [] for name in kinds}
    for (x, y), s in tiles.items():
        spec = kitchen.stations.get(kitchen.grid[y][x])
        kind = Kind.COUNTER if spec is None else KINDS.get(spec.kind, Kind.UTENSIL)
        stations[s, [Station.KIND, Station.X, Station.Y]] = kind, x, y
        for side, (dx, dy) in enumerate(OFFSETS):
            stand = index.get((x - dx, y - dy))
            if stand is not None:
                stations[s, Station.GOAL + side] = 4 * stand + side
        if spec is not None and kind == Kind.UTENSIL:
            stations[s, Station.UTENSIL] = kinds.index(spec.name)
            stations[s, Station.CAPACITY] = spec.capacity
            stations[s, Station.LOG] = _log_of(spec.name, preset)
            utensils[spec.name].append((f"{spec.name}{len(utensils[spec.name])}", spec.operation, s))
        else:
            members[kind].append(s)
            stations[s, Station.GROUP] = kind
    places, operations = list(PLACES), []
    for name in kinds:
        for place, operation, s in utensils[name]:
            stations[s, Station.GROUP] = len(places)
            places.append(place)
            operations.append(operation)
            members.append([s])
    groups = np.full((len(members), max(map(len, members))), NOTHING, np.int32)
    for g, row in enumerate(members):
        groups[g, : len(row)] = row
    return stations, groups, places, operations


def _log_of(utensil: str, preset: str) -> Log:
    """Return how a kind of utensil logs puts; the original logs pots differently from other utensils."""
    if preset != "original":
        return Log.EFFECTS
    return Log.PUTS if utensil == "pot" else Log.ALL_AS_PUTS


def _access(
    kitchen: Kitchen, stations: np.ndarray, paths: np.ndarray, starts: np.ndarray, tiles: Mapping[tuple[int, int], int]
) -> np.ndarray:
    reach = np.zeros((len(starts), len(stations)), np.int32)
    for i, (cell, facing) in enumerate(starts):
        for s in range(len(stations)):
            goals = stations[s, Station.GOAL : Station.GOAL + 4]
            near = any(paths[Paths.STEPS, 4 * cell + facing, goal] < UNREACHABLE for goal in goals if goal != NOTHING)
            spec = kitchen.stations.get(kitchen.grid[stations[s, Station.Y]][stations[s, Station.X]])
            allowed = spec is None or spec.users is None or i in spec.users
            reach[i, s] = near and allowed
    for (x, y), s in tiles.items():
        spec = kitchen.stations.get(kitchen.grid[y][x])
        if spec is not None and not reach[:, s].any():
            who = "no agent" if spec.users is None else f"no agent of users {list(spec.users)}"
            raise DocumentError(
                f"{kitchen.document.row_of('grid', y)}, cell ({x}, {y}): {who} can reach {spec.name or spec.kind} "
                f"{spec.symbol!r}; put it beside floor that such an agent can walk to"
            )
    for kind in ("ingredients", "serving"):
        if not any(spec.kind == kind and spec.symbol in "".join(kitchen.grid) for spec in kitchen.stations.values()):
            raise kitchen.document.error(f"there is no {kind} station in the grid; add one", "grid")
    return np.array([_openness(mine, reach.sum(0), stations[:, Station.KIND]) for mine in reach], np.int32)


def _openness(mine: np.ndarray, users: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Distinguish an agent's own counters from counters that most agents can use.

    The paper's two agents share a counter or do not. Of three, two may share a floor: what one of them puts down for
    the third belongs on a counter that all can use, not on any that the two have in common.
    """
    most = users[(mine > 0) & (kinds == Kind.COUNTER)].max(initial=1)
    common = np.where(users >= most, Access.SHARED, Access.SOME)
    return np.where(mine == 0, Access.NONE, np.where(users == 1, Access.PRIVATE, common))


def _foods(
    kitchen: Kitchen, items: tuple[str, ...], item_id: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    kinds = [utensil.name for utensil in kitchen.utensils]
    capacity = max((utensil.capacity for utensil in kitchen.utensils), default=1)
    foods = np.zeros((len(items), len(Food)), np.int32)
    foods[:, Food.UTENSIL] = NOTHING
    foods[1 : 1 + len(kitchen.ingredients), Food.RAW] = 1
    recipes = np.full((len(kitchen.recipes), 4 + capacity), NOTHING, np.int32)
    for r, recipe in enumerate(kitchen.recipes):
        utensil = kinds.index(recipe.utensil)
        foods[item_id[recipe.product], Food.UTENSIL] = utensil
        recipes[r, : Recipe.INPUT] = utensil, item_id[recipe.product], recipe.time, len(recipe.inputs)
        recipes[r, Recipe.INPUT : Recipe.INPUT + len(recipe.inputs)] = [item_id[name] for name in recipe.inputs]
    for name, plated in kitchen.serving.items():
        foods[item_id[name], [Food.SERVED, Food.NEEDS_DISH]] = 1, plated
    listed = (*kitchen.serving, *ALSO_LISTED)
    foods[:, Food.SOUNDS_SERVED] = [any(part in name for part in listed) for name in items]
    needs = np.zeros((len(items), len(items)), np.int32)
    for i, name in enumerate(items):
        for part in kitchen.foods_below.get(name, ()):
            needs[i, item_id[part]] += 1
    return foods, recipes, needs


@dataclass(frozen=True)
class _Marks:
    place: int
    deliver: int
    first_put: int
    first_counter: int
    first_raw: int
    dish: int
    first_product: int
    accepted: int  # rows from here on can be named in text but are never accepted


class _Catalogue:
    """All actions as rows and as texts; the order within the list is part of the game's version."""

    def __init__(self, items: tuple[str, ...], places: list[str]) -> None:
        self.items, self.places = items, places
        self.rows: list[tuple[int, int, int]] = []
        self.texts: dict[str, int] = {}

    def add(self, text: str, verb: Verb, item: int, group: int) -> None:
        """Append an action unless it is in the list."""
        if text not in self.texts:
            self.texts[text] = len(self.rows)
            self.rows.append((verb, item, group))

    def call(self, name: str, verb: Verb, group: int) -> None:
        """Append an action on a place."""
        self.add(f"{name}({self.places[group]})", verb, NOTHING, group)

    def pickups(self, items: Iterable[int], group: int) -> None:
        """Append the pickups of items from a place."""
        for item in items:
            self.add(f"pickup({self.items[item]},{self.places[group]})", Verb.PICKUP, item, group)


def _catalogue(
    kitchen: Kitchen,
    items: tuple[str, ...],
    places: list[str],
    operations: list[str],
    stations: np.ndarray,
    groups: np.ndarray,
) -> tuple[np.ndarray, list[str], _Marks]:
    book = _Catalogue(items, places)
    utensils = range(Group.UTENSIL, len(places))
    book.add("continue", Verb.CONTINUE, NOTHING, NOTHING)
    for n in range(1, kitchen.max_wait + 1):
        book.add(f"wait({n})", Verb.WAIT, n, NOTHING)
    place = len(book.rows)
    book.add("place_obj_on_counter()", Verb.PLACE, NOTHING, Group.COUNTER)
    deliver = len(book.rows)
    book.add("deliver()", Verb.DELIVER, NOTHING, Group.SERVING)
    first_put = len(book.rows)
    for group in utensils:
        book.call("put_obj_in_utensil", Verb.PUT, group)
    for group, operation in zip(utensils, operations, strict=True):
        book.call(operation, Verb.OPERATE, group)
    for group in utensils:
        book.call("fill_dish_with_food", Verb.FILL, group)
    first_counter = len(book.rows)
    book.pickups(range(len(items)), Group.COUNTER)
    first_raw = len(book.rows)
    book.pickups(range(1, 1 + len(kitchen.ingredients)), Group.INGREDIENTS)
    dish = len(book.rows)
    book.pickups([DISH], Group.DISHES)
    first_product = len(book.rows)
    for group in utensils:
        book.pickups(_products(kitchen, items, stations[groups[group, 0], Station.UTENSIL]), group)
    accepted = len(book.rows)
    for group in utensils:
        book.pickups(range(len(items)), group)
    marks = _Marks(place, deliver, first_put, first_counter, first_raw, dish, first_product, accepted)
    return np.array(book.rows, np.int32), list(book.texts), marks


def _products(kitchen: Kitchen, items: tuple[str, ...], kind: int) -> list[int]:
    name = kitchen.utensils[kind].name
    return [items.index(recipe.product) for recipe in kitchen.recipes if recipe.utensil == name]


def _takes(rows: np.ndarray, marks: _Marks, n_utensils: int, n_items: int) -> np.ndarray:
    takes = np.full((n_utensils, n_items), NOTHING, np.int32)
    for action in range(marks.first_product, marks.accepted):
        takes[rows[action, Row.GROUP] - Group.UTENSIL, rows[action, Row.ITEM]] = action
    return takes


def primitive_texts(items: Iterable[str]) -> list[str]:
    """Return the texts of the primitive actions, by id."""
    moves = [name.name.lower() for name in Primitive]
    return [*moves, "start", *(f"interact({name})" for name in items)]


def _params(
    kitchen: Kitchen, config: CollabOvercookedConfig, refill: bool, marks: _Marks, n_utensils: int
) -> np.ndarray:
    return config.pack(
        Param,
        n_utensils=n_utensils,
        refill=refill,
        lookahead=VISIBLE_ORDERS if refill else 1,
        stuck=kitchen.stuck_limit if config.stuck_limit is None else config.stuck_limit,
        first_counter_pickup=marks.first_counter,
        first_raw_pickup=marks.first_raw,
        first_put=marks.first_put,
        encoding=Encoding[config.obs.upper()],
        full_knowledge=config.knowledge == "full",
        width=len(kitchen.grid[0]),
        height=len(kitchen.grid),
        dish_pickup=marks.dish,
        knowers=sum(1 << i for i, agent in enumerate(kitchen.agents) if agent.knows_recipes),
        original=config.preset == "original",
        fillers=0,
        spare=0,
        place=marks.place,
        deliver=marks.deliver,
    )


def _fillers(config: CollabOvercookedConfig, groups: np.ndarray, access: np.ndarray) -> int:
    serving = [s for s in groups[Group.SERVING] if s != NOTHING]
    return sum(
        1 << i for i, row in enumerate(access) if config.interface == CODE or (row[serving] != Access.NONE).any()
    )


def _tasks(pool: OrderPool, item_id: Mapping[str, int]) -> np.ndarray:
    weights = np.array([pool.weights.get(name, 1.0) for name in pool.tasks])
    running = np.rint(np.cumsum(weights / weights.sum()) * WEIGHT_SCALE)
    tasks = np.zeros((len(pool.tasks), len(Task)), np.int32)
    tasks[:, Task.ITEM] = [item_id[name] for name in pool.tasks]
    tasks[:, Task.WEIGHT] = running
    tasks[:, Task.LIMIT] = [pool.time_limits[name] for name in pool.tasks]
    return tasks


def _rewards(kitchen: Kitchen, shaping: Mapping[str, float] | None) -> np.ndarray:
    table = np.zeros((2, len(Event)), np.float32)
    table[TEAM, Event.DELIVER] = kitchen.delivery_reward
    weights = mapping_of(number(-MAX_OPTION, MAX_OPTION), [event.name for event in Event], "shaping event")
    for name, weight in read(weights, {} if shaping is None else shaping, "shaping").items():
        table[OWN, Event[name]] = weight
    return table


def _grid_space(kitchen: Kitchen, tables: Tables) -> gymnasium.spaces.Box[Any]:
    stations, needs = tables.stations, tables.needs
    high = np.zeros((len(kitchen.grid), len(kitchen.grid[0]), _depth(kitchen, len(needs))), np.uint8)
    # bounds of 0 to 255 in all channels would make trainers take the grid for an image and divide it by 255
    high[...] = 1
    first_item = high.shape[2] - len(needs)
    marks = first_item - GRID_CHANNELS
    steps = [marks + GridChannel.STEPS_DONE, marks + GridChannel.STEPS_LEFT]
    high[..., steps] = np.clip(tables.recipes[:, Recipe.TIME].max(initial=1), 1, MAX_NUMBER)
    high[..., marks + GridChannel.TIME_LEFT] = MAX_NUMBER  # a reset may set any limit
    high[..., first_item:] = np.clip(max(stations[:, Station.CAPACITY].max(), needs.max()), 1, MAX_NUMBER)
    return counts_to(high)


def _depth(kitchen: Kitchen, n_items: int) -> int:
    return 1 + Kind.UTENSIL + len(kitchen.utensils) + GRID_CHANNELS + n_items


def _template(kitchen: Kitchen, stations: np.ndarray, cells: np.ndarray, n_items: int) -> np.ndarray:
    template = np.zeros((len(kitchen.grid), len(kitchen.grid[0]), _depth(kitchen, n_items)), np.uint8)
    template[cells[:, Cell.Y], cells[:, Cell.X], 0] = 1
    for row in stations:
        utensil = row[Station.UTENSIL] if row[Station.KIND] == Kind.UTENSIL else 0
        template[row[Station.Y], row[Station.X], 1 + row[Station.KIND] + utensil] = 1
    return template.reshape(-1)
