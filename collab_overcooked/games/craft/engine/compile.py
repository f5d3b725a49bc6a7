"""Options, and their compilation with a level into read-only arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked.io.config import Config, boolean, checked_by_game, choice, integer, number
from collab_overcooked.kernels.blocks import Objects, spans_of

from .constants import HALF, INTERVALS, NOTHING, Item, Param, Role, Verb
from .observe import features_of
from .spec import MAX_AGENTS, Level, load_level
from .state import Tables


@dataclass(frozen=True)
class CraftConfig(Config):
    """Options of CraftKitchen."""

    level: str | Path | Mapping[str, Any] = checked_by_game(
        "house", "Built-in level, path of a YAML file, or the values of such a file."
    )
    agents: int | None = integer(None, "Number of agents. Default: the level's.", least=1, most=MAX_AGENTS)
    pace: int = integer(
        3, f"Pace of orders, 1 (fast) to 5: every {', '.join(map(str, INTERVALS))} steps.", least=1, most=len(INTERVALS)
    )
    interval: int | None = integer(None, "Steps between orders. Default: by pace.", least=1)
    alpha: float = number(1.5, "Lifetime of an order as a multiple of the interval, rounded down.", below=100)
    lifetime: int | None = integer(None, "Steps until an order expires. Default: by alpha.", least=1)
    reach: str = choice(
        "told",
        'Reach in cells: ``"told"`` (6 for everything, as in the paper\'s prompts) or ``"code"`` (below 6 for killing, '
        "8 for the chest, and taking out walks to the furnace, as in the public code).",
        ("told", "code"),
    )
    walk: int = integer(0, "Cells that an agent walks per step; 0 for any distance.", least=0)
    respawn: int = integer(1, "Steps until a killed mob or mined block reappears.", least=1, most=1000)
    cook_steps: int = integer(1, "Steps that a furnace needs per item.", least=1, most=1000)
    items_per_fuel: float = number(1.0, "Items that one fuel cooks, a multiple of 0.5.", below=100)
    strict_lists: bool = boolean(True, "Reject the whole list of commands if one of them has an unknown name.")


REACH, CHEST_REACH_IN_CODE = 6, 8  # cells
MAX_OPEN = 200  # open orders at a time


@dataclass(frozen=True)
class Compiled:
    """A level ready to play."""

    level: Level  # Source of the tables
    config: CraftConfig  # Options, with those of the level and the pace filled in
    tables: Tables  # Read-only arrays
    features: list[Objects]  # What an observation shows


def compile_level(config: CraftConfig) -> Compiled:
    """Compile a level with its options.

    Raises:
        ValueError: The options do not fit the level.
    """
    level = load_level(config.level)
    n_agents = config.agents or level.agents
    if n_agents > len(level.starts):
        raise ValueError(f"agents must be at most {len(level.starts)} (starts of {level.name}), not {n_agents}")
    interval = config.interval or INTERVALS[config.pace - 1]
    lifetime = config.lifetime or max(int(config.alpha * interval), 1)
    if lifetime > MAX_OPEN * interval:
        raise ValueError(f"lifetime must be at most {MAX_OPEN * interval}, {MAX_OPEN} intervals, not {lifetime}")
    heat = round(config.items_per_fuel * HALF)
    if heat != config.items_per_fuel * HALF:
        raise ValueError(f"items_per_fuel must be a multiple of 0.5, not {config.items_per_fuel}")
    config = replace(config, agents=n_agents, interval=interval, lifetime=lifetime)
    tables = Tables(
        params=config.pack(Param, heat=heat, n_dishes=len(level.dishes), walk_to_take=config.reach == "code"),
        reach=_reach(config.reach),
        places=_places(level),
        items=_items(level),
        dishes=_numbers([level.items.index(dish) for dish in level.dishes]),
        catalogue=_numbers([(verb, what, place) for verb, _, what, place in catalogue_of(level)]),
        starts=_numbers(level.starts[:n_agents]),
        spans=_numbers([[], []]),
    )
    features = features_of(tables)
    return Compiled(level, config, tables._replace(spans=spans_of(features)), features)


def _numbers(values: object) -> np.ndarray:
    return np.ascontiguousarray(values, np.int32)


def _reach(reach: str) -> np.ndarray:
    squares = [REACH**2] * len(Role)
    if reach == "code":
        squares[Role.CHEST], squares[Role.MOB] = CHEST_REACH_IN_CODE**2, REACH**2 - 1  # below 6: integers
    return _numbers(squares)


def _places(level: Level) -> np.ndarray:
    rows, furnaces = [], 0
    for place in level.places:
        role, number = Role[place.role.upper()], NOTHING
        if role == Role.FURNACE:
            number, furnaces = furnaces, furnaces + 1
        gives = level.items.index(place.gives) if place.gives else NOTHING
        rows.append([*place.at, role, level.kinds.index(place.kind), gives, number])
    return _numbers(rows)


def _items(level: Level) -> np.ndarray:
    product, dishes = {raw: dish for dish, raw in level.dishes.items()}, list(level.dishes)
    rows = np.full((len(level.items), len(Item)), NOTHING, np.int32)
    for row, name in zip(rows, level.items, strict=True):
        row[Item.FUEL] = name in level.fuel
        if name in product:
            row[Item.COOKED] = level.items.index(product[name])
        if name in dishes:
            row[Item.DISH] = dishes.index(name)
    return rows


def catalogue_of(level: Level) -> list[tuple[Verb, str, int, int]]:
    """Return each command's verb, argument (empty without one) and the meaning of the argument, see ``Row``."""
    roles = {place.kind: place.role for place in level.places}
    kinds, items = level.kinds, level.items
    commands: list[tuple[Verb, str, int, int]] = [(Verb.WAIT, "", NOTHING, NOTHING)]
    commands += [(Verb.GOTO, kind, k, NOTHING) for k, kind in enumerate(kinds)]
    commands += [
        (Verb.GOTO, place.name, kinds.index(place.kind), p)
        for p, place in enumerate(level.places)
        if place.name != place.kind
    ]
    for verb, role in ((Verb.KILL, "mob"), (Verb.MINE, "block")):
        commands += [(verb, kind, k, NOTHING) for k, kind in enumerate(kinds) if roles[kind] == role]
    raw = tuple(level.dishes.values())
    for verb, names in ((Verb.FUEL, level.fuel), (Verb.INPUT, raw)):
        commands += [(verb, name, items.index(name), NOTHING) for name in names]
    commands.append((Verb.TAKE, "", NOTHING, NOTHING))
    commands += [(Verb.STORE, name, i, NOTHING) for i, name in enumerate(items)]
    return commands
