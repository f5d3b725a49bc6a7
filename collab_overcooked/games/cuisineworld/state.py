"""The arrays of a batch of kitchens, and readable pictures of one of them.

Shape letters: B environments, N agents, L locations, T serving tables, I items (base ingredients first, then the
products, one a recipe), R recipes, M orders of the level, Q order slots, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.core.mersenne import STREAM, choose_again
from collab_overcooked.core.rng import Rng, chance_of, set_chance
from collab_overcooked.games.cuisineworld.constants import (
    NOTHING,
    Agent,
    Clock,
    Completion,
    EventColumn,
    OrderEvent,
    Param,
    Place,
    Queue,
    Role,
    Tool,
)

Array = np.ndarray
FORCED_SLOTS = 128  # orders that a reset can force
HISTORY_SLOTS = 128  # completed orders that the text form lists
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
    """What never changes during a game: read-only int32 arrays."""

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
    """One moment of B kitchens: int32 arrays (stream uint32) with leading axis B."""

    agents: Array  # (B, N, 4) see Agent
    tools: Array  # (B, L, 4 + capacity) see Tool
    served: Array  # (B, T, room) what lies on each serving table, in the order of laying down
    orders: Array  # (B, Q, 2) see Queue
    clock: Array  # (B, 11) see Clock
    wanted: Array  # (B, I + R) how often each item, and each recipe's mixture, still earns shaped reward
    history: Array  # (B, 128) completed orders
    forced: Array  # (B, 128) orders that come before any are drawn, padded with NOTHING
    stream: Array  # (B, 625) uint32, see core.mersenne
    rng: Array  # (B, 3) see core.rng; COUNT counts the drawn orders


class Out(NamedTuple):
    """What a step writes."""

    observations: Array  # (B, N, L) uint8, or float64 for the original's numbers
    masks: Array  # (B, N, A) int8
    rewards: Array  # (B, N) float64, as the original's rewards are doubles
    terminated: Array  # (B,) bool, never true: episodes are cut off
    truncated: Array  # (B,) bool
    events: Array  # (B, 2 N, 4) int32, see EventColumn
    refused: Array  # (B, N) int32, sum of Reason of each agent's own command
    completions: Array  # (B, Q, 3) int32, see Completion
    order_events: Array  # (B, 5) int32, see OrderEvent
    fresh: Array  # (B,) bool: the state changed in this call, so that observations and masks have to be written


def alloc(
    tables: Tables, batch_size: int, n_agents: int, n_slots: int, length: int, n_actions: int, dtype: Any
) -> tuple[State, Out]:
    """Allocate the arrays of a batch; nothing else in the game does.

    Args:
        tables: Compiled tables.
        batch_size: B.
        n_agents: N.
        n_slots: Q.
        length: Numbers in one agent's observation.
        n_actions: A.
        dtype: Of the observations.

    Returns:
        State and Out, zeroed; call ``reset`` before stepping.
    """
    places = tables.places
    cooks = places[places[:, Place.ROLE] == Role.COOK, Place.CAPACITY]
    tables_here = places[:, Place.ROLE] == Role.TABLE
    state = State(
        agents=np.zeros((batch_size, n_agents, len(Agent)), np.int32),
        tools=np.zeros((batch_size, len(places), len(Tool) - 1 + cooks.max(initial=1)), np.int32),
        served=np.zeros((batch_size, tables_here.sum(), places[tables_here, Place.CAPACITY].max()), np.int32),
        orders=np.zeros((batch_size, n_slots, len(Queue)), np.int32),
        clock=np.zeros((batch_size, len(Clock)), np.int32),
        wanted=np.zeros((batch_size, tables.demand.shape[1]), np.int32),
        history=np.zeros((batch_size, HISTORY_SLOTS), np.int32),
        forced=np.full((batch_size, FORCED_SLOTS), NOTHING, np.int32),
        stream=np.zeros((batch_size, STREAM), np.uint32),
        rng=np.zeros((batch_size, len(Rng)), np.int32),
    )
    out = Out(
        observations=np.zeros((batch_size, n_agents, length), dtype),
        masks=np.zeros((batch_size, n_agents, n_actions), np.int8),
        rewards=np.zeros((batch_size, n_agents), np.float64),
        terminated=np.zeros(batch_size, np.bool_),
        truncated=np.zeros(batch_size, np.bool_),
        events=np.zeros((batch_size, 2 * n_agents, len(EventColumn)), np.int32),
        refused=np.zeros((batch_size, n_agents), np.int32),
        completions=np.zeros((batch_size, n_slots, len(Completion)), np.int32),
        order_events=np.zeros((batch_size, len(OrderEvent)), np.int32),
        fresh=np.zeros(batch_size, np.bool_),
    )
    return state, out


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
        nobody knows: ``forced`` (orders of a reset, and how many of them came) and ``chance``.
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
        "chance": chance_of(state.rng[i]),
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


def encode(names: Any, tables: Tables, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
    """Write a scene, of the form of ``scene.scene_form``, into environment ``i``; keys left out keep what is there.

    Returns:
        False, as no episode is ever terminated, and whether no step is left.

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
        set_chance(state.rng[i], scene["chance"])
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
