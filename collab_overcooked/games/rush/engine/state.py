"""The arrays of a batch of environments, and scenes: readable states of one environment.

Shape letters: B environments, N agents, E episodes of the scenario, O order slots, P areas, K goods (ingredients, then
spices), A actions, L numbers in an observation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.rush.engine.constants import (
    NOTHING,
    Area,
    Clock,
    EventColumn,
    Kind,
    Order,
    Param,
    Reason,
    Verb,
)
from collab_overcooked.games.rush.engine.rules import MAX_SHAPED, count_orders
from collab_overcooked.io.checks import index_of, near_matches
from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.rng import Rng

Array = np.ndarray
COUNTERS = {"slot": Clock.T, "turn": Clock.TURN, "worker": Clock.WORKER, "seat": Clock.SEAT, "limit": Clock.LIMIT}
ORDER_COLUMNS = {
    "ingredients": Order.INGREDIENTS,
    "spices": Order.SPICES,
    "cooked": Order.COOKED,
    "finished": Order.FINISHED,
    "ruined": Order.RUINED,
    "rewarded": Order.SHAPED,
}
COUNTED = ("cooked", "rewarded")  # the other columns of orders are flags


class Tables(NamedTuple):
    """Constants of a compiled scenario: read-only int32 arrays."""

    params: Array  # (8,) see Param
    dishes: Array  # (E, O, 2) see Dish
    needs: Array  # (E, O, K) goods that each order asks for
    areas: Array  # (E, P, 2) see Area
    stock: Array  # (E, P, K) goods at the start of an episode


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    orders: Array = array_of("O", Order)
    stock: Array = array_of("P", "K")
    spaces: Array = array_of("P")  # action spaces left in the present turn
    clock: Array = array_of(Clock)
    rng: Array = array_of(Rng)  # nothing is drawn; COUNT is the episode that comes next in turn


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)  # every order is finished or ruined
    truncated: Array = array_of(dtype=np.bool_)  # no turn is left
    events: Array = array_of("N", EventColumn)
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written


def sizes_of(tables: Tables) -> dict[str, int]:
    """Return the lengths of the arrays' axes by letter."""
    n_orders, n_goods = tables.needs.shape[1:]
    return {"O": n_orders, "P": tables.areas.shape[1], "K": n_goods}


# ------------------------------------------------------------------------------------------- readable scenes


def decode(names: Any, tables: Tables, state: State, i: int, derived: bool = True) -> dict[str, Any]:
    """Return environment ``i`` as plain words and numbers, fit for JSON; text and pictures are made from it.

    Args:
        names: ``compile.Names`` of the scenario.
        tables: Compiled tables.
        state: Arrays of a batch.
        i: Environment index.
        derived: Include ``over``.

    Returns:
        Mapping with ``scenario``, ``episode`` (from 0), the counters ``slot``, ``turn`` (from 0), ``turns_left`` (with
        the present one), ``worker``, ``seat``, ``limit`` (slots), how many ``agents`` and ``workers`` there are,
        ``over``, then ``orders`` (name,
        ``ingredients`` and ``spices`` collected, times ``cooked``, ``finished``, ``ruined``, tenths of shaped reward
        ``rewarded``) and ``areas`` (id, kind, stock, ``spaces`` left, ``spaces_per_turn``).
    """
    clock = state.clock[i]
    episode, workers = int(clock[Clock.EPISODE]), int(tables.params[Param.WORKERS])
    kinds = tables.areas[episode, :, Area.KIND].tolist()
    return {
        "scenario": names.scenario,
        "episode": episode,
        **{name: int(clock[column]) for name, column in COUNTERS.items()},
        "turns_left": -(-(int(clock[Clock.LIMIT]) - int(clock[Clock.T])) // workers),
        "agents": int(tables.params[Param.N_AGENTS]),
        "workers": workers,
        **({"over": bool(clock[Clock.OVER])} if derived else {}),
        "orders": [
            {"name": name, **_decode_order(row)}
            for name, row in zip(names.orders[episode], state.orders[i].tolist(), strict=False)
        ],
        "areas": [
            {
                "id": number,
                "kind": Kind(kinds[at]).name.lower(),
                "stock": {names.goods[k]: int(state.stock[i, at, k]) for k in shelf_of(names, kinds[at])},
                "spaces": int(state.spaces[i, at]),
                "spaces_per_turn": int(tables.areas[episode, at, Area.SPACES]),
            }
            for at, number in enumerate(names.areas[episode])
        ],
    }


def _decode_order(row: Sequence[int]) -> dict[str, Any]:
    return {key: row[column] if key in COUNTED else bool(row[column]) for key, column in ORDER_COLUMNS.items()}


def shelf_of(names: Any, kind: int) -> range:
    """Return the goods that an area of a kind holds, by number."""
    n_ingredients, n_goods = len(names.ingredients), len(names.goods)
    return {Kind.PANTRY: range(n_ingredients), Kind.SPICEBAG: range(n_ingredients, n_goods)}.get(Kind(kind), range(0))


def encode(names: Any, tables: Tables, state: State, i: int, scene: Mapping[str, Any]) -> None:
    """Write a scene, of the form of ``scene.scene_form``, into environment ``i``; keys left out keep what is there.

    Without ``areas``, what orders have collected is taken from the first area that has it; without ``rewarded``, an
    order has paid for all that was done for it. The episode must be that of the scene already. What other keys tell
    (``over``, ``turns_left``) is worked out anew.

    Raises:
        ValueError: If the episode lacks an order, an area, or a good in it.
    """
    clock = state.clock[i]
    episode = int(clock[Clock.EPISODE])
    for name, counter in COUNTERS.items():
        clock[counter] = scene.get(name, clock[counter])
    clock[Clock.T] = clock[Clock.TURN] * tables.params[Param.WORKERS] + clock[Clock.WORKER]
    n_ingredients = len(names.ingredients)
    for order in scene.get("orders", ()):
        which = index_of("order", order["name"], names.orders[episode])
        row = state.orders[i, which]
        for key, column in ORDER_COLUMNS.items():
            row[column] = order.get(key, row[column])
        if "rewarded" not in order:
            row[Order.SHAPED] = shaped_so_far(
                row, needs_spices=bool(tables.needs[episode, which, n_ingredients:].any())
            )
    if "areas" not in scene:
        _take_collected(state.orders[i], state.stock[i], tables.needs[episode], n_ingredients)
    for area in scene.get("areas", ()):
        at = index_of("area", area["id"], names.areas[episode])
        _encode_area(names, state, i, at, int(tables.areas[episode, at, Area.KIND]), area)


def complete(tables: Tables, state: State, i: int) -> tuple[bool, bool]:
    """Count the decided orders of environment ``i``.

    Returns:
        Whether all orders are decided, and, if not, whether no slot is left.
    """
    clock = state.clock[i]
    clock[Clock.FINISHED] = state.orders[i, :, Order.FINISHED].sum()
    clock[Clock.RUINED] = state.orders[i, :, Order.RUINED].sum()
    decided = bool(clock[Clock.FINISHED] + clock[Clock.RUINED] == count_orders(tables.dishes[clock[Clock.EPISODE]]))
    clock[Clock.OVER] = decided or clock[Clock.T] >= clock[Clock.LIMIT]
    return decided, bool(clock[Clock.OVER]) and not decided


def shaped_so_far(order: Array, needs_spices: bool) -> int:
    """Return the tenths of shaped reward that an order has paid, by what was done for it."""
    collected = order[Order.INGREDIENTS] + (order[Order.SPICES] if needs_spices else 0)
    return min(int(collected + order[Order.COOKED] - order[Order.RUINED]), MAX_SHAPED)


def _take_collected(orders: Array, stock: Array, needs: Array, n_ingredients: int) -> None:
    goods = slice(0, n_ingredients), slice(n_ingredients, None)
    for order, need in zip(orders, needs, strict=True):
        for column, part in zip((Order.INGREDIENTS, Order.SPICES), goods, strict=True):
            if order[column] and need[part].any():
                shelf = next((shelf for shelf in stock if (shelf[part] >= need[part]).all()), stock[0])
                shelf[part] -= need[part]  # below 0 is refused later


def _encode_area(names: Any, state: State, i: int, at: int, kind: int, area: Mapping[str, Any]) -> None:
    shelf = {names.goods[k]: k for k in shelf_of(names, kind)}
    for good, count in area.get("stock", {}).items():
        if good not in shelf:
            raise ValueError(near_matches(f"good of the {Kind(kind).name.lower()}", good, shelf))
        state.stock[i, at, shelf[good]] = count
    state.spaces[i, at] = area.get("spaces", state.spaces[i, at])


# ------------------------------------------------------------------------------------------- readable events


def event_of(names: Any, event: Sequence[int]) -> dict[str, Any]:
    """Return what an agent did in the last slot, as plain words and numbers.

    Args:
        names: ``compile.Names`` of the scenario.
        event: Numbers of a row of ``Out.events``.

    Returns:
        Mapping with ``event`` (name of the Verb), ``order`` (name or None), ``area`` (id or None), ``turn`` and
        ``worker`` (from 0), ``reason`` (name of the Reason, ``"OK"`` if accepted), whether the order ``advanced``, was
        ``finished`` or ``ruined`` by it, and a short ``label``.
    """
    episode, verb = event[EventColumn.EPISODE], Verb(event[EventColumn.CODE]).name
    exists = event[EventColumn.REASON] not in (Reason.NO_SUCH_AREA, Reason.NO_SUCH_ORDER)
    used = exists and event[EventColumn.ORDER] != NOTHING
    order = names.orders[episode][event[EventColumn.ORDER]] if used else None
    area = names.areas[episode][event[EventColumn.AREA]] if used else None
    return {
        "event": verb,
        "order": order,
        "area": area,
        "turn": event[EventColumn.TURN],
        "worker": event[EventColumn.WORKER],
        "reason": Reason(event[EventColumn.REASON]).name,
        "advanced": bool(event[EventColumn.ADVANCED]),
        "finished": bool(event[EventColumn.FINISHED]),
        "ruined": bool(event[EventColumn.RUINED]),
        "label": f"{verb}({area}, {order})" if used else verb,
    }
