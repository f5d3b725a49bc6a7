"""The arrays of a batch of kitchens, and readable pictures of one of them.

Shape letters: B environments, N agents, S stations (every tile that is not floor), F floor cells, P poses (4 F),
I items (0 is the dish), U utensils, R recipes, A actions, Q order slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.core.arrays import array_of
from collab_overcooked.core.grid import Direction
from collab_overcooked.core.macro_actions import Macro
from collab_overcooked.core.paths import UNREACHABLE
from collab_overcooked.core.rng import Rng
from collab_overcooked.errors import index_of, near_matches, whole_number
from collab_overcooked.games.collab_overcooked.constants import (
    DISH,
    NOTHING,
    Agent,
    Clock,
    EventColumn,
    Food,
    Group,
    Kind,
    MacroState,
    Station,
    Status,
    Tile,
)
from collab_overcooked.games.collab_overcooked.rules import clear_tile, status

Array = np.ndarray
ORDER_SLOTS = 8
SCENE_KEYS = ("timestep", "limit", "delivered", "orders", "agents", "counters", "utensils")


class Tables(NamedTuple):
    """What never changes during a game: read-only int32 arrays (rewards float32, template uint8)."""

    params: Array  # (13,) see Param
    levels: Array  # (N,) action level of each seat, see core.macro_actions.Level
    cells: Array  # (F, 10) neighbour floor cell by direction, faced station by direction (NOTHING for none), x, y
    ways: Array  # (2, P, P) fewest steps from pose to pose, and the first of them
    stations: Array  # (S, 10) see Station
    groups: Array  # (G, longest) stations of a place, scan order, padded with NOTHING
    access: Array  # (N, S) see Access
    starts: Array  # (N, 2) floor cell, facing
    foods: Array  # (I, 4) see Food
    recipes: Array  # (R, 4 + capacity) see Recipe
    needs: Array  # (I, I) how often an item occurs in the recipe tree of another
    catalogue: Array  # (rows, 3) see Row; the last of them can be named but never accepted
    takes: Array  # (U, I) action id of picking a product up from a utensil, or NOTHING
    tasks: Array  # (tasks, 3) see Task
    rewards: Array  # (2, events) float32: paid to the team, paid to the agent alone
    template: Array  # (H * W * C,) uint8: the part of the grid observation that never changes


class State(NamedTuple):
    """One moment of B kitchens, with leading axis B."""

    agents: Array = array_of("N", Agent)
    macro_state: Array = array_of("N", len(Macro) + len(MacroState))
    tiles: Array = array_of("S", "tile", fill=NOTHING)  # see Tile
    orders: Array = array_of(ORDER_SLOTS, fill=NOTHING)  # items wanted, first one first, padded with NOTHING
    clock: Array = array_of(Clock)
    rng: Array = array_of(Rng)


class Out(NamedTuple):
    """What a step writes, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)
    truncated: Array = array_of(dtype=np.bool_)
    events: Array = array_of("N", EventColumn)
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written
    scratch: Array = array_of("scratch")  # 13 F for path finding where agents share a floor, 0 where they cannot meet


def sizes_of(tables: Tables) -> dict[str, int]:
    """Return the lengths of the arrays' axes by letter."""
    tile, scratch = len(Tile) - 1 + tables.recipes.shape[1] - 4, 13 * len(tables.cells) * agents_can_meet(tables)
    return {"S": len(tables.stations), "tile": tile, "scratch": scratch}


def agents_can_meet(tables: Tables) -> bool:
    """Tell whether some agent can walk to where another one starts."""
    start = 4 * tables.starts[:, 0] + tables.starts[:, 1]
    near = (tables.ways[0][start][:, 4 * tables.starts[:, 0, None] + np.arange(4)] < UNREACHABLE).any(-1)
    return bool(near.sum() > len(start))


# ------------------------------------------------------------------------------------------- readable scenes


def decode(names: Any, tables: Tables, state: State, i: int) -> dict[str, Any]:
    """Return environment ``i`` as plain words and numbers, fit for JSON; text and pictures are made from it.

    Args:
        names: ``compile.Names`` of the kitchen.
        tables: Compiled tables.
        state: Arrays of a batch.
        i: Environment index.

    Returns:
        Mapping with ``timestep``, ``limit``, ``delivered``, ``orders``, ``agents``, ``counters`` (in order of
        placement) and ``utensils``.
    """
    clock = state.clock[i]
    return {
        "timestep": int(clock[Clock.T]),
        "limit": int(clock[Clock.LIMIT]),
        "delivered": int(clock[Clock.DELIVERED]),
        "orders": [names.items[item] for item in state.orders[i] if item != NOTHING],
        "agents": [_decode_agent(names, *rows) for rows in zip(state.agents[i], state.macro_state[i], strict=True)],
        "counters": _decode_counters(names, tables, state.tiles[i]),
        "utensils": _decode_utensils(names, tables, state.tiles[i]),
    }


def _decode_agent(names: Any, row: Array, macro: Array) -> dict[str, Any]:
    holding = None
    if row[Agent.ITEM] != NOTHING:
        holding = {"item": names.items[row[Agent.ITEM]], "plated": bool(row[Agent.PLATED])}
    return {
        "position": list(names.floor[row[Agent.CELL]]),
        "facing": Direction(row[Agent.FACING]).name.lower(),
        "holding": holding,
        "action": None if macro[Macro.ACTION] == NOTHING else names.catalogue[macro[Macro.ACTION]],
        "timer": int(macro[Macro.TIMER]),
    }


def _decode_counters(names: Any, tables: Tables, tiles: Array) -> list[dict[str, Any]]:
    shown = [s for s in tables.groups[Group.COUNTER] if s != NOTHING and tiles[s, Tile.ITEM] != NOTHING]
    return [
        {
            "position": [int(tables.stations[s, Station.X]), int(tables.stations[s, Station.Y])],
            "item": names.items[tiles[s, Tile.ITEM]],
            "plated": bool(tiles[s, Tile.PLATED]),
        }
        for s in sorted(shown, key=lambda s: tiles[s, Tile.PLACED])
    ]


def _decode_utensils(names: Any, tables: Tables, tiles: Array) -> dict[str, dict[str, Any]]:
    utensils = {}
    for group in range(Group.UTENSIL, len(names.places)):
        s = tables.groups[group, 0]
        tile = tiles[s]
        count = int(tile[Tile.COUNT])
        utensils[names.places[group]] = {
            "position": [int(tables.stations[s, Station.X]), int(tables.stations[s, Station.Y])],
            "status": Status(status(tile)).name.lower(),
            "contents": [names.items[item] for item in tile[Tile.CONTENT : Tile.CONTENT + count]],
            "product": None if tile[Tile.ITEM] == NOTHING else names.items[tile[Tile.ITEM]],
            "timer": int(tile[Tile.TIMER]),
            "time": int(tile[Tile.TIME]),
        }
    return utensils


def encode(names: Any, tables: Tables, state: State, i: int, scene: Mapping[str, Any]) -> None:
    """Write a scene, as ``decode`` returns it, into environment ``i``; keys left out keep what is there.

    Raises:
        ValueError: If the scene names an unknown item, place, position or key.
    """
    for key in scene:
        if key not in SCENE_KEYS:
            raise ValueError(near_matches("scene key", key, SCENE_KEYS))
    clock = state.clock[i]
    for name, column in (("timestep", Clock.T), ("limit", Clock.LIMIT), ("delivered", Clock.DELIVERED)):
        clock[column] = count_of(scene, name, clock[column])
    if "orders" in scene:
        state.orders[i] = order_row(names, scene["orders"])
    if "agents" in scene:
        _encode_agents(names, state.agents[i], state.macro_state[i], scene["agents"])
    if "counters" in scene:
        _encode_counters(names, tables, state, i, scene["counters"])
    for name, utensil in scene.get("utensils", {}).items():
        if name not in names.places[Group.UTENSIL :]:
            raise ValueError(near_matches("utensil", name, names.places[Group.UTENSIL :]))
        s = tables.groups[names.places.index(name), 0]
        _encode_utensil(names, tables, s, name, state.tiles[i, s], utensil)


def count_of(values: Mapping[str, Any], name: str, default: Any = None) -> int:
    """Return a whole number of at least 0 from a mapping.

    Raises:
        ValueError: If it is missing without a default, or something else.
    """
    return whole_number(name, values.get(name, default), 0)


def order_row(names: Any, orders: Sequence[str]) -> Array:
    """Return the order slots of a list of order names.

    Raises:
        ValueError: If the list is too long or names something that is no food.
    """
    if isinstance(orders, str) or len(orders) > ORDER_SLOTS:
        raise ValueError(f"orders must be a list of up to {ORDER_SLOTS} foods, not {orders!r}")
    row = np.full(ORDER_SLOTS, NOTHING, np.int32)
    row[: len(orders)] = [item_id(names, name) for name in orders]
    return row


def item_id(names: Any, name: str) -> int:
    """Return the number of an item.

    Raises:
        ValueError: If there is no such item.
    """
    return index_of("item", name, names.items)


def _encode_agents(names: Any, rows: Array, macros: Array, agents: Sequence[Mapping[str, Any]]) -> None:
    if len(agents) != len(rows):
        raise ValueError(f"scene lists {len(agents)} agents; the kitchen has {len(rows)}")
    for row, macro, agent in zip(rows, macros, agents, strict=True):
        _encode_agent(names, row, macro, agent)
    cells = rows[:, Agent.CELL].tolist()
    for i, cell in enumerate(cells):
        if cell in cells[:i]:
            raise ValueError(f"agents {cells.index(cell)} and {i} both stand at {list(names.floor[cell])}")


def _encode_agent(names: Any, row: Array, macro: Array, agent: Mapping[str, Any]) -> None:
    if "position" in agent:
        cell = tuple(agent["position"])
        if cell not in names.floor:
            raise ValueError(f"agent position {cell} is not on the floor")
        row[Agent.CELL] = names.floor.index(cell)
    if "facing" in agent:
        facings = [direction.name.lower() for direction in Direction]
        if agent["facing"] not in facings:
            raise ValueError(near_matches("facing", agent["facing"], facings))
        row[Agent.FACING] = facings.index(agent["facing"])
    if "holding" in agent:
        held = agent["holding"]
        row[Agent.ITEM], row[Agent.PLATED] = (NOTHING, 0) if held is None else _object(names, held)
    if "action" in agent:
        text = agent["action"]
        if text is not None and text not in names.catalogue:
            raise ValueError(near_matches("action", text, names.catalogue))
        macro[Macro.ACTION] = NOTHING if text is None else names.catalogue.index(text)
        macro[Macro.TIMER] = agent.get("timer", 0)


def _object(names: Any, thing: Mapping[str, Any]) -> tuple[int, int]:
    """Return item and plated of what lies in a hand or on a counter."""
    item, plated = item_id(names, thing.get("item", "")), bool(thing.get("plated", False))
    if plated and item == DISH:
        raise ValueError("a dish cannot lie on a dish: plated must be false")
    return item, int(plated)


def _encode_counters(names: Any, tables: Tables, state: State, i: int, counters: Sequence[Mapping[str, Any]]) -> None:
    for s in tables.groups[Group.COUNTER]:
        if s != NOTHING:
            clear_tile(state.tiles[i, s])
    for number, counter in enumerate(counters, start=1):
        s = names.tiles.get(tuple(counter["position"]))
        if s is None or tables.stations[s, Station.KIND] != Kind.COUNTER:
            raise ValueError(f"counter position {counter['position']} is not a counter")
        tile = state.tiles[i, s]
        if tile[Tile.ITEM] != NOTHING:
            raise ValueError(f"counter position {counter['position']} is listed twice")
        tile[Tile.ITEM], tile[Tile.PLATED] = _object(names, counter)
        tile[Tile.PLACED] = number
    state.clock[i, Clock.PLACEMENTS] = len(counters)


def _encode_utensil(names: Any, tables: Tables, s: int, name: str, tile: Array, utensil: Mapping[str, Any]) -> None:
    contents = utensil.get("contents", ())
    capacity = tables.stations[s, Station.CAPACITY]
    if len(contents) > capacity:
        raise ValueError(f"{name} takes {capacity} items, not {len(contents)}: {list(contents)}")
    clear_tile(tile)
    tile[Tile.COUNT] = len(contents)
    tile[Tile.CONTENT : Tile.CONTENT + len(contents)] = [item_id(names, content) for content in contents]
    if utensil.get("product") is not None:
        product = item_id(names, utensil["product"])
        if tables.foods[product, Food.UTENSIL] != tables.stations[s, Station.UTENSIL]:
            raise ValueError(f"{utensil['product']} cannot be made in {name}")
        tile[Tile.ITEM] = product
        tile[Tile.COUNT] = max(1, len(contents))
        tile[Tile.TIMER] = max(1, count_of(utensil, "timer"))
        tile[Tile.TIME] = max(1, count_of(utensil, "time"))
