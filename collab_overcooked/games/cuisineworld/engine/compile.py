"""Compile a level and its options into read-only arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from collab_overcooked.io.schema import integer, read, tuple_of
from collab_overcooked.kernels.blocks import Objects, spans_of

from .config import CuisineWorldConfig
from .constants import KIND_NUMBERS, NOTHING, Code, Encoding, Mask, Menu, Number, Param, Place, Role, Verb
from .observe import features_of
from .spec import Level, Recipe, Timing
from .state import Tables

# Order of the kinds of tools, three of each, in the original's 64 numbers and 211 action codes.
ORIGINAL_KINDS = ("servingtable", "pan", "blender", "storage", "chopboard", "fryer", "mixer", "pot", "steamer", "oven")
ORIGINAL_INSTANCES = 3
ORIGINAL_ORDERS = 6
ENDLESS = 2**30  # capacity of a storage
MAX_SERVED = 100_000  # dishes on a table, whatever the episode's length
Command = tuple[Verb, int, int, str]  # a row of the catalogue, and its text, such as ``"get egg storage0"``
PUTS_PER_STEP = 2  # dishes that one agent can put on tables in a step, addressed by both of its numbers


@dataclass(frozen=True)
class Compiled:
    """A level ready to play."""

    level: Level  # Source of the tables
    config: CuisineWorldConfig  # Options, with those of the level filled in
    tables: Tables  # Read-only arrays
    features: list[Objects]  # What an observation shows, but for the original's numbers


def compile_level(level: Level, config: CuisineWorldConfig) -> Compiled:
    """Compile a level."""
    timing, items = level.timing(config.alpha, config.beta), level.items
    n_agents = config.agents or level.agents
    max_open_orders = config.max_open_orders or level.max_open_orders
    turn_order = _turn_order(config.turn_order, n_agents)
    config = replace(config, agents=n_agents, max_open_orders=max_open_orders, turn_order=turn_order)
    recipes = [level.recipes[product] for product in level.products]
    possible, idle = catalogue_of(level)
    objects = sorted([*level.base_ingredients, *level.recipes])
    tables = Tables(
        params=config.pack(
            Param,
            n_base=len(level.base_ingredients),
            n_items=len(items),
            interval=timing.interval,
            max_steps=level.max_cycles,
            encoding=Encoding[config.obs.upper()],
            mask=Mask,
            n_orders=len(level.orders),
        ),
        places=_places(level, recipes, possible, n_agents),
        sizes=_numbers([len(recipe.ingredients) for recipe in recipes]),
        uses=_numbers([[name in recipe.ingredients for name in items] for recipe in recipes]),
        sold=_numbers([name in level.order_names for name in items]),
        menu=_menu(level, timing),
        demand=_numbers([_demand(level, name) for name in level.order_names]),
        catalogue=_numbers([command[:3] for command in (*possible, *idle)]),
        turns=_numbers(turn_order),
        objects=_numbers([objects.index(name) for name in (*items, *level.order_names)]),
        codes=_codes(level, config, n_agents, max_open_orders),
        spans=_numbers([[], []]),
    )
    features = features_of(tables, level.locations, max_open_orders)
    return Compiled(level, config, tables._replace(spans=spans_of(features)), features)


def _numbers(values: object) -> np.ndarray:
    return np.ascontiguousarray(values, np.int32)


def catalogue_of(level: Level) -> tuple[list[Command], list[Command]]:
    """Return the commands that can be actions, and commands that have a text but are never possible."""
    roles = [level.tools[kind].role for kind in level.kitchen]
    places = list(enumerate(level.locations))
    possible = [(Verb.NOOP, NOTHING, NOTHING, "noop")]
    possible += [(Verb.GOTO, at, NOTHING, f"goto {name}") for at, name in places]
    for at, name in places:
        if roles[at] == "storage":
            possible += [(Verb.GET, at, k, f"get {item} {name}") for k, item in enumerate(level.base_ingredients)]
        elif roles[at] == "cook":
            possible.append((Verb.GET, at, NOTHING, f"get {name}"))
    possible += [(Verb.PUT, at, NOTHING, f"put {name}") for at, name in places]
    possible += [(Verb.ACTIVATE, at, NOTHING, f"activate {name}") for at, name in places if roles[at] == "cook"]
    idle = [(Verb.GET, at, NOTHING, f"get {name}") for at, name in places if roles[at] != "cook"]
    idle += [(Verb.ACTIVATE, at, NOTHING, f"activate {name}") for at, name in places if roles[at] != "cook"]
    return possible, idle


def _places(level: Level, recipes: list[Recipe], commands: list[Command], n_agents: int) -> np.ndarray:
    kinds = list(level.tools)
    first = {(verb, at): action for action, (verb, at, _, _) in reversed(list(enumerate(commands)))}
    made_in = [recipe.tool for recipe in recipes]
    places = np.full((len(level.kitchen), len(Place)), NOTHING, np.int32)
    n_tables = 0
    for at, kind in enumerate(level.kitchen):
        tool, row = level.tools[kind], places[at]
        row[Place.KIND] = kinds.index(kind)
        row[Place.ROLE] = Role[tool.role.upper()]
        row[Place.CAPACITY] = tool.capacity or ENDLESS
        row[Place.BUSY] = tool.busy
        row[Place.BUSY_AGENT] = tool.busy_agent
        row[Place.OPEN] = tool.open or tool.role == "storage"
        for column, verb in ((Place.GET, Verb.GET), (Place.PUT, Verb.PUT), (Place.ACTIVATE, Verb.ACTIVATE)):
            row[column] = first.get((verb, at), NOTHING)
        row[Place.FIRST_RECIPE] = made_in.index(kind) if kind in made_in else 0
        row[Place.RECIPES_END] = row[Place.FIRST_RECIPE] + made_in.count(kind)
        if tool.role == "table":
            # Serving tables have no limit; this one cannot be reached within the steps of an episode.
            row[Place.CAPACITY] = min(n_agents * PUTS_PER_STEP * level.max_cycles, MAX_SERVED)
            row[Place.TABLE] = n_tables
            n_tables += 1
    return places


def _menu(level: Level, timing: Timing) -> np.ndarray:
    longest = max(len(order.items) for order in level.orders)
    menu = np.full((len(level.orders), Menu.ITEM + longest), NOTHING, np.int32)
    alphabet = sorted(level.order_names)
    for row, order in zip(menu, level.orders, strict=True):
        row[Menu.RANK] = alphabet.index(order.name)
        row[Menu.LIFETIME] = timing.lifetimes[order.name]
        row[Menu.COUNT] = len(order.items)
        row[Menu.ITEM : Menu.ITEM + len(order.items)] = [level.items.index(name) for name in order.items]
    return menu


def _demand(level: Level, dish: str) -> list[int]:
    tree = level.tree(dish)
    return [name in tree for name in (*level.items, *level.products)]


def _codes(level: Level, config: CuisineWorldConfig, n_agents: int, max_open_orders: int) -> np.ndarray:
    codes = np.full((len(level.kitchen), len(Code)), NOTHING, np.int32)
    if config.obs != "original64":
        return codes
    if n_agents != 2:
        raise ValueError(f"obs 'original64' supports 2 agents, not {n_agents}; use 'features'")
    if max_open_orders > ORIGINAL_ORDERS:
        raise ValueError(f"obs 'original64' has room for {ORIGINAL_ORDERS} orders, not {max_open_orders}")
    for at, name in enumerate(level.locations):
        kind, number = level.kitchen[at], int(name.removeprefix(level.kitchen[at]))
        if kind not in ORIGINAL_KINDS or number >= ORIGINAL_INSTANCES:
            raise ValueError(f"obs 'original64' has no room for {name}; use 'features'")
        k = ORIGINAL_KINDS.index(kind)
        first = Number.TOOL + KIND_NUMBERS * k
        codes[at, Code.LOCATION] = ORIGINAL_INSTANCES * k + number
        codes[at, Code.CONTENT], codes[at, Code.BUSY] = first + number, first + ORIGINAL_INSTANCES
    return codes


def _turn_order(turns: Sequence[int] | None, n_agents: int) -> tuple[int, ...]:
    seats = tuple(range(n_agents))
    if turns is None:
        return seats
    named = read(tuple_of([integer(0, n_agents - 1)] * n_agents, "seats"), turns, "turn_order")
    if len(set(named)) < n_agents:
        raise ValueError(f"turn_order must name each seat of {list(seats)} once, not {named}")
    return tuple(named)
