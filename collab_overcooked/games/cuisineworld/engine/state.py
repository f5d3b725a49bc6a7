"""The arrays of a batch of environments, and scenes: readable states of one environment.

Shape letters: B environments, N agents, L locations, T serving tables, I items (base ingredients first, then the
products, one a recipe), R recipes, M orders of the level, Q order slots, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.cuisineworld.engine.constants import (
    NOTHING,
    Agent,
    Clock,
    Completion,
    EventColumn,
    OrderEvent,
    Param,
    Place,
    Role,
    Tool,
)
from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.mersenne import STREAM, choose_again
from collab_overcooked.kernels.orders import FORCED_SLOTS, HISTORY_SLOTS, Queue
from collab_overcooked.kernels.rng import Rng, restore_rng, rng_to_dict

Array = np.ndarray
COUNTERS = {
    "timestep": Clock.T,
    "limit": Clock.LIMIT,
    "timer": Clock.TIMER,
    "failed": Clock.FAILED,
    "expired": Clock.EXPIRED,
    "refused": Clock.REFUSED,
    "noops": Clock.NOOPS,
}


class Tables(NamedTuple):
    """Constants of a compiled level: read-only int32 arrays."""

    params: Array  # (7,) see Param
    places: Array  # (L, 12) see Place
    sizes: Array  # (R,) ingredients of a recipe; recipes of one kind of tool stand together
    uses: Array  # (R, I) 1 where a recipe uses an item
    sold: Array  # (I,) 1 where the item is the name of an order
    menu: Array  # (M, 3 + longest order) see Menu
    demand: Array  # (M, I + R) 1 for each item and recipe in an order's recipe tree
    catalogue: Array  # (rows, 3) see Row; rows from A on can be named but are never carried out
    turns: Array  # (N,) seats in the order in which they act
    objects: Array  # (I + M,) number of each item, then of each order's name, among all names of the cookbook
    codes: Array  # (L, 3) of the original's 64 numbers: code of the location, slots of its content and busy flag


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    agents: Array = array_of("N", Agent)
    tools: Array = array_of("L", "tool")  # see Tool
    served: Array = array_of("T", "room")  # what lies on each serving table, in the order of laying down
    orders: Array = array_of("Q", Queue)
    clock: Array = array_of(Clock)
    wanted: Array = array_of("wanted")  # how often each item, and each recipe's mixture, still earns shaped reward
    history: Array = array_of(HISTORY_SLOTS)  # completed orders
    forced: Array = array_of(FORCED_SLOTS, fill=NOTHING)  # orders that come before any are drawn, padded with NOTHING
    stream: Array = array_of(STREAM, dtype=np.uint32)  # see kernels.mersenne
    rng: Array = array_of(Rng)  # COUNT counts the drawn orders


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)  # float64 for the original's numbers
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float64)  # as the original's rewards are doubles
    terminated: Array = array_of(dtype=np.bool_)  # never true: episodes are cut off
    truncated: Array = array_of(dtype=np.bool_)
    events: Array = array_of("commands", EventColumn)  # at most two an agent
    refused: Array = array_of("N")  # sum of Reason of each agent's own command
    completions: Array = array_of("Q", Completion)
    order_events: Array = array_of(OrderEvent)
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written


def sizes_of(tables: Tables, n_agents: int, n_slots: int) -> dict[str, int]:
    """Return the lengths of the arrays' axes by letter."""
    places = tables.places
    cooks = places[places[:, Place.ROLE] == Role.COOK, Place.CAPACITY]
    tables_here = places[:, Place.ROLE] == Role.TABLE
    return {
        "L": len(places),
        "T": int(tables_here.sum()),
        "Q": n_slots,
        "tool": len(Tool) - 1 + int(cooks.max(initial=1)),
        "room": int(places[tables_here, Place.CAPACITY].max()),
        "wanted": tables.demand.shape[1],
        "commands": 2 * n_agents,
    }


# ------------------------------------------------------------------------------------------- readable scenes


def decode(names: Any, tables: Tables, state: State, i: int) -> dict[str, Any]:
    """Return environment ``i`` as plain words and numbers, fit for JSON; text and pictures are made from it.

    Args:
        names: ``compile.Names`` of the level.
        tables: Compiled tables.
        state: Arrays of a batch.
        i: Environment index.

    Returns:
        Mapping with the counters, ``orders`` (name and remaining time, None for no end), ``agents``, ``tools`` by
        location, ``accomplished`` (orders completed, in turn), ``wanted`` (what still earns shaped reward), and what
        no agent knows: ``forced`` (orders of a reset, and how many of them came) and ``chance``.
    """
    clock = state.clock[i]
    n_items = int(tables.params[Param.N_ITEMS])
    done = state.history[i, : min(int(clock[Clock.COMPLETED]), HISTORY_SLOTS)]
    wanted = state.wanted[i].tolist()
    return {
        **{name: int(clock[column]) for name, column in COUNTERS.items()},
        "completed": int(clock[Clock.COMPLETED]),
        "max_steps": int(tables.params[Param.MAX_STEPS]),
        "orders": [
            {"name": names.orders[order], "remaining": int(remaining) if remaining != NOTHING else None}
            for remaining, order in state.orders[i, : clock[Clock.OPEN]].tolist()
        ],
        "agents": [_decode_agent(names, row) for row in state.agents[i].tolist()],
        "tools": {name: _decode_tool(names, tables, state, i, at) for at, name in enumerate(names.places)},
        "accomplished": [names.orders[order] for order in done.tolist()],
        "wanted": {
            "items": {name: wanted[k] for k, name in enumerate(names.items) if wanted[k]},
            "mixtures": {name: wanted[n_items + r] for r, name in enumerate(names.products) if wanted[n_items + r]},
        },
        "forced": {
            "orders": [names.orders[order] for order in state.forced[i].tolist() if order != NOTHING],
            "used": int(clock[Clock.FORCED]),
        },
        "chance": rng_to_dict(state.rng[i]),
    }


def _decode_agent(names: Any, row: Sequence[int]) -> dict[str, Any]:
    return {
        "location": names.places[row[Agent.PLACE]],
        "holding": None if row[Agent.ITEM] == NOTHING else names.items[row[Agent.ITEM]],
        "busy": row[Agent.BUSY],
        "rewarded": bool(row[Agent.PAID]),
    }


def content_of(tables: Tables, state: State, i: int, at: int) -> list[int]:
    """Return the items at a location of environment ``i``, in order."""
    tool, table = state.tools[i, at], tables.places[at, Place.TABLE]
    row = tool[Tool.CONTENT :] if table == NOTHING else state.served[i, table]
    return [int(item) for item in row[: tool[Tool.COUNT]]]


def _decode_tool(names: Any, tables: Tables, state: State, i: int, at: int) -> dict[str, Any]:
    row = state.tools[i, at]
    return {
        "content": [names.items[item] for item in content_of(tables, state, i, at)],
        "busy": int(row[Tool.BUSY]),
        "ready": bool(row[Tool.READY]),
        "rewarded": bool(row[Tool.PAID]),
    }


def encode(names: Any, tables: Tables, state: State, i: int, scene: Mapping[str, Any]) -> None:
    """Write a scene, of the form of ``scene.scene_form``, into environment ``i``; keys left out keep what is there.

    Raises:
        ValueError: If something lies where there is no room for it.
    """
    clock = state.clock[i]
    for name, column in COUNTERS.items():
        clock[column] = scene.get(name, clock[column])
    if "orders" in scene:
        _encode_orders(names, state, i, scene["orders"])
    for row, agent in zip(state.agents[i], scene.get("agents", ()), strict=False):
        _encode_agent(names, row, agent)
    for name, tool in scene.get("tools", {}).items():
        _encode_tool(names, tables, state, i, names.places.index(name), tool)
    if "accomplished" in scene:
        done = [names.orders.index(name) for name in scene["accomplished"]]
        state.history[i] = NOTHING
        state.history[i, : len(done)] = done
        clock[Clock.COMPLETED] = scene.get("completed", len(done))
    if "wanted" in scene:
        _encode_wanted(names, tables, state.wanted[i], scene["wanted"])
    if "forced" in scene:
        forced = [names.orders.index(name) for name in scene["forced"]["orders"]]
        state.forced[i] = NOTHING
        state.forced[i, : len(forced)] = forced
        clock[Clock.FORCED] = scene["forced"]["used"]
    if "chance" in scene:
        restore_rng(state.rng[i], scene["chance"])


def complete(tables: Tables, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
    """Bring the stream of orders in environment ``i`` to where a checked scene says.

    Returns:
        False, as no episode is ever terminated, and whether no step is left.
    """
    clock = state.clock[i]
    if "chance" in scene:
        low, high, draws = state.rng[i].tolist()
        choose_again(state.stream[i], low, high, draws, int(tables.params[Param.N_ORDERS]))
    clock[Clock.OVER] = clock[Clock.T] >= clock[Clock.LIMIT]
    return False, bool(clock[Clock.OVER])


def _encode_orders(names: Any, state: State, i: int, orders: Sequence[Mapping[str, Any]]) -> None:
    rows = state.orders[i]
    rows[:, Queue.REMAINING], rows[:, Queue.ORDER] = 0, NOTHING
    keyed = [(NOTHING if order.get("remaining") is None else order["remaining"], order["name"]) for order in orders]
    for row, (remaining, name) in zip(rows, sorted(keyed), strict=False):
        row[Queue.REMAINING], row[Queue.ORDER] = remaining, names.orders.index(name)
    state.clock[i, Clock.OPEN] = len(orders)


def _encode_agent(names: Any, row: Array, agent: Mapping[str, Any]) -> None:
    if "location" in agent:
        row[Agent.PLACE] = names.places.index(agent["location"])
    if "holding" in agent:
        held = agent["holding"]
        row[Agent.ITEM] = NOTHING if held is None else names.items.index(held)
    row[Agent.BUSY] = agent.get("busy", row[Agent.BUSY])
    row[Agent.PAID] = agent.get("rewarded", row[Agent.PAID])


def _encode_tool(names: Any, tables: Tables, state: State, i: int, at: int, tool: Mapping[str, Any]) -> None:
    row, place = state.tools[i, at], tables.places[at]
    if "content" in tool:
        items = [names.items.index(name) for name in tool["content"]]
        room = 0 if place[Place.ROLE] == Role.STORAGE else int(place[Place.CAPACITY])
        content = row[Tool.CONTENT :] if place[Place.TABLE] == NOTHING else state.served[i, place[Place.TABLE]]
        if len(items) > min(room, len(content)):
            raise ValueError(f"content of {names.places[at]} is {len(items)} items; it takes {min(room, len(content))}")
        content[:] = NOTHING
        content[: len(items)] = items
        row[Tool.COUNT] = len(items)
    row[Tool.BUSY] = tool.get("busy", row[Tool.BUSY])
    row[Tool.READY] = tool.get("ready", row[Tool.READY])
    row[Tool.PAID] = tool.get("rewarded", row[Tool.PAID])


def _encode_wanted(names: Any, tables: Tables, row: Array, wanted: Mapping[str, Any]) -> None:
    row[:] = 0
    for name, count in wanted.get("items", {}).items():
        row[names.items.index(name)] = count
    for name, count in wanted.get("mixtures", {}).items():
        row[tables.params[Param.N_ITEMS] + names.products.index(name)] = count
