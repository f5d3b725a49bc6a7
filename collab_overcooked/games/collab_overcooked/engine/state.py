"""The arrays of a batch of kitchens, and readable pictures of one of them.

Shape letters: B environments, N agents, S stations (every tile that is not floor), F floor cells, P poses (4 F),
I items (0 is the dish), U utensils, R recipes, A actions, Q order slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.collab_overcooked.engine.constants import (
    NOTHING,
    Agent,
    Clock,
    EventColumn,
    Food,
    Group,
    Kind,
    MacroState,
    Reason,
    Recipe,
    Row,
    Station,
    Status,
    Tile,
    Verb,
)
from collab_overcooked.games.collab_overcooked.engine.rules import status
from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.macro_actions import Macro
from collab_overcooked.kernels.paths import UNREACHABLE
from collab_overcooked.kernels.rng import Rng, restore_rng, rng_to_dict

Array = np.ndarray
ORDER_SLOTS = 8
COUNTERS = {"timestep": Clock.T, "limit": Clock.LIMIT, "delivered": Clock.DELIVERED}


class Tables(NamedTuple):
    """Constants of a compiled kitchen: read-only int32 arrays (rewards float32, template uint8)."""

    params: Array  # (15,) see Param
    levels: Array  # (N,) action level of each seat, see kernels.macro_actions.Level
    cells: Array  # (F, 10) neighbour floor cell by direction, faced station by direction (NOTHING for none), x, y
    ways: Array  # (2, P, P) fewest steps from pose to pose, and the first of them
    stations: Array  # (S, 11) see Station
    groups: Array  # (G, longest) stations of a place, scan order, padded with NOTHING
    access: Array  # (N, S) see Access
    starts: Array  # (N, 2) floor cell, facing
    foods: Array  # (I, 5) see Food
    recipes: Array  # (R, 4 + capacity) see Recipe
    needs: Array  # (I, I) how often an item occurs in the recipe tree of another
    catalogue: Array  # (rows, 3) see Row; the last of them can be named but never accepted
    takes: Array  # (U, I) action id of picking a product up from a utensil, or NOTHING
    tasks: Array  # (tasks, 3) see Task
    rewards: Array  # (2, events) float32: paid to the team, paid to the agent alone
    template: Array  # (H * W * C,) uint8: the part of the grid observation that never changes


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    agents: Array = array_of("N", Agent)
    macro_state: Array = array_of("N", len(Macro) + len(MacroState))
    tiles: Array = array_of("S", "tile", fill=NOTHING)  # see Tile
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


def decode(names: Any, tables: Tables, state: State, i: int, derived: bool = True) -> dict[str, Any]:
    """Return environment ``i`` as names and numbers, fit for JSON; texts and pictures are made from it.

    Args:
        names: ``compile.Names`` of the kitchen.
        tables: Compiled tables.
        state: Arrays of a batch.
        i: Environment index.
        derived: Include the ``status`` of utensils.

    Returns:
        Mapping with ``timestep``, ``limit``, ``delivered``, ``orders``, ``agents``, ``counters`` (in order of
        placement) and ``utensils``, then hidden state: the agents' ``memory``, the order in which things on
        counters were ``placed``, and ``chance``.
    """
    clock = state.clock[i]
    placed = [int(state.tiles[i, s, Tile.PLACED]) for s in filled_counters(tables, state.tiles[i])]
    return {
        **{name: int(clock[column]) for name, column in COUNTERS.items()},
        "orders": [names.items[item] for item in state.orders[i] if item != NOTHING],
        "agents": [decode_agent(names, *rows) for rows in zip(state.agents[i], state.macro_state[i], strict=True)],
        "counters": _decode_counters(names, tables, state.tiles[i]),
        "utensils": _decode_utensils(names, tables, state.tiles[i], derived),
        "memory": [
            {"still": int(macro[Macro.STILL]), "reason": Reason(macro[MacroState.REASON]).name}
            for macro in state.macro_state[i]
        ],
        "placed": {"total": int(clock[Clock.PLACEMENTS]), "counters": placed},
        "chance": rng_to_dict(state.rng[i]),
    }


def decode_agent(names: Any, row: Array, macro: Array) -> dict[str, Any]:
    """Return an agent's part of a scene, from its rows of ``agents`` and ``macro_state``."""
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
    return [
        {
            "position": [int(tables.stations[s, Station.X]), int(tables.stations[s, Station.Y])],
            "item": names.items[tiles[s, Tile.ITEM]],
            "plated": bool(tiles[s, Tile.PLATED]),
        }
        for s in filled_counters(tables, tiles)
    ]


def filled_counters(tables: Tables, tiles: Array) -> list[int]:
    """Return the counters on which something lies, in the order of placement."""
    filled = [int(s) for s in tables.groups[Group.COUNTER] if s != NOTHING and tiles[s, Tile.ITEM] != NOTHING]
    return sorted(filled, key=lambda s: int(tiles[s, Tile.PLACED]))


def _decode_utensils(names: Any, tables: Tables, tiles: Array, derived: bool) -> dict[str, dict[str, Any]]:
    utensils = {}
    for group in range(Group.UTENSIL, len(names.places)):
        s = tables.groups[group, 0]
        tile = tiles[s]
        count = int(tile[Tile.COUNT])
        utensils[names.places[group]] = {
            "position": [int(tables.stations[s, Station.X]), int(tables.stations[s, Station.Y])],
            **({"status": Status(status(tile)).name.lower()} if derived else {}),
            "contents": [names.items[item] for item in tile[Tile.CONTENT : Tile.CONTENT + count]],
            "product": None if tile[Tile.ITEM] == NOTHING else names.items[tile[Tile.ITEM]],
            "timer": int(tile[Tile.TIMER]),
            "time": int(tile[Tile.TIME]),
        }
    return utensils


def encode(names: Any, tables: Tables, state: State, i: int, scene: Mapping[str, Any]) -> None:
    """Write a scene, of the form of ``scene.scene_form``, into environment ``i``; keys left out keep what is there.

    Raises:
        ValueError: If someone or something is where it cannot be.
    """
    clock = state.clock[i]
    for name, column in COUNTERS.items():
        clock[column] = scene.get(name, clock[column])
    if "orders" in scene:
        state.orders[i] = order_row(names, scene["orders"])
    if "agents" in scene:
        _encode_agents(names, tables, state.agents[i], state.macro_state[i], scene["agents"])
    for macro, memory in zip(state.macro_state[i], scene.get("memory", ()), strict=False):
        macro[Macro.STILL] = memory.get("still", macro[Macro.STILL])
        macro[MacroState.REASON] = Reason[memory.get("reason", Reason.OK.name)]
    if "counters" in scene:
        _encode_counters(names, tables, state, i, scene["counters"])
    if "placed" in scene:
        _encode_placed(tables, state, i, scene["placed"])
    for name, utensil in scene.get("utensils", {}).items():
        s = tables.groups[names.places.index(name), 0]
        _encode_utensil(names, tables, state, i, s, name, utensil)
    if "chance" in scene:
        restore_rng(state.rng[i], scene["chance"])


def order_row(names: Any, orders: Sequence[str]) -> Array:
    """Return the order slots of a list of names of food."""
    row = np.full(ORDER_SLOTS, NOTHING, np.int32)
    row[: len(orders)] = [names.items.index(name) for name in orders]
    return row


def _encode_agents(names: Any, tables: Tables, rows: Array, macros: Array, agents: Sequence[Mapping[str, Any]]) -> None:
    for row, macro, agent in zip(rows, macros, agents, strict=True):
        _encode_agent(names, tables, row, macro, agent)
    cells = rows[:, Agent.CELL].tolist()
    for i, cell in enumerate(cells):
        if cell in cells[:i]:
            raise ValueError(f"agents {cells.index(cell)} and {i} both stand at {list(names.floor[cell])}")


def _encode_agent(names: Any, tables: Tables, row: Array, macro: Array, agent: Mapping[str, Any]) -> None:
    if "position" in agent:
        cell = tuple(agent["position"])
        if cell not in names.floor:
            raise ValueError(f"agent position {cell} is not on the floor")
        row[Agent.CELL] = names.floor.index(cell)
    if "facing" in agent:
        row[Agent.FACING] = Direction[agent["facing"].upper()]
    if "holding" in agent:
        held = agent["holding"]
        row[Agent.ITEM], row[Agent.PLATED] = (NOTHING, 0) if held is None else _object(names, held)
    if "action" in agent:
        action = NOTHING if agent["action"] is None else names.catalogue.index(agent["action"])
        is_wait = action != NOTHING and tables.catalogue[action, Row.VERB] == Verb.WAIT
        macro[Macro.ACTION] = action
        macro[Macro.TIMER] = tables.catalogue[action, Row.ITEM] if is_wait else 0
    macro[Macro.TIMER] = agent.get("timer", macro[Macro.TIMER])


def _object(names: Any, thing: Mapping[str, Any]) -> tuple[int, int]:
    """Return item and plated of what lies in a hand or on a counter."""
    return names.items.index(thing["item"]), int(thing.get("plated", False))


def empty_tile(state: State) -> Array:
    """Return an empty tile, as ``rules.clear_tile`` leaves it; no kernel may run before a scene has been checked."""
    tile = np.full(state.tiles.shape[2], NOTHING, np.int32)
    tile[Tile.PLATED : Tile.CONTENT] = 0
    return tile


def _encode_counters(names: Any, tables: Tables, state: State, i: int, counters: Sequence[Mapping[str, Any]]) -> None:
    for s in tables.groups[Group.COUNTER]:
        if s != NOTHING:
            state.tiles[i, s] = empty_tile(state)
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


def _encode_placed(tables: Tables, state: State, i: int, placed: Mapping[str, Any]) -> None:
    """Number what lies on counters as it was when it was placed, unless something has been added or taken away."""
    filled = filled_counters(tables, state.tiles[i])
    if len(placed["counters"]) == len(filled):
        state.tiles[i, filled, Tile.PLACED] = placed["counters"]
        state.clock[i, Clock.PLACEMENTS] = placed["total"]


def _encode_utensil(
    names: Any, tables: Tables, state: State, i: int, s: int, name: str, utensil: Mapping[str, Any]
) -> None:
    """Contents that are left out, or empty, are those of the product's recipe; so is its time."""
    contents = [names.items.index(item) for item in utensil.get("contents", ())]
    capacity, product = tables.stations[s, Station.CAPACITY], utensil.get("product")
    if len(contents) > capacity:
        raise ValueError(f"{name} takes {capacity} items, not {len(contents)}: {utensil['contents']}")
    state.tiles[i, s] = empty_tile(state)
    tile = state.tiles[i, s]
    if product is not None:
        tile[Tile.ITEM] = names.items.index(product)
        if tables.foods[tile[Tile.ITEM], Food.UTENSIL] != tables.stations[s, Station.UTENSIL]:
            raise ValueError(f"{product} cannot be made in {name}")
        recipe = tables.recipes[tables.recipes[:, Recipe.PRODUCT] == tile[Tile.ITEM]][0]
        contents = contents or recipe[Recipe.INPUT : Recipe.INPUT + recipe[Recipe.COUNT]].tolist()
        tile[Tile.TIMER], tile[Tile.TIME] = utensil.get("timer", 0), utensil.get("time", recipe[Recipe.TIME])
    tile[Tile.COUNT] = len(contents)
    tile[Tile.CONTENT : Tile.CONTENT + len(contents)] = contents
