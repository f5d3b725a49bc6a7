"""The arrays of a batch of environments.

Shape letters: B environments, N agents, L locations, T serving tables, I items (base ingredients first, then the
products, one a recipe), R recipes, M orders of the level, Q order slots, A actions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.mersenne import STREAM
from collab_overcooked.kernels.orders import EMPTY, FORCED_SLOTS, HISTORY_SLOTS, Queue
from collab_overcooked.kernels.rng import Rng

from .constants import NOTHING, Agent, Clock, Completion, EventColumn, OrderEvent, Place, Role, Tool

Array = np.ndarray


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
    codes: Array  # (L, 3) see Code; NOTHING in other encodings
    spans: Array  # (2, blocks) where each Feature lies in observations, see kernels.blocks.Span


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    agents: Array = array_of("N", Agent, fill={Agent.PLACE: 0, Agent.ITEM: NOTHING, Agent.BUSY: 0})
    tools: Array = array_of("L", "tool", fill={Tool.BUSY: 0, Tool.CONTENT: NOTHING})  # see Tool
    served: Array = array_of("T", "room", fill=NOTHING)  # what lies on each serving table, in the order of laying down
    orders: Array = array_of("Q", Queue, fill=EMPTY)
    clock: Array = array_of(Clock)
    wanted: Array = array_of("wanted")  # how often each item, and each recipe's mixture, still earns shaped reward
    turns: Array = array_of(
        "N", fill=NOTHING
    )  # seats in the order of their commands in the next step, NOTHING: default
    history: Array = array_of(HISTORY_SLOTS, fill=NOTHING)  # completed orders
    forced: Array = array_of(FORCED_SLOTS, fill=NOTHING)  # orders that come before any are drawn, padded with NOTHING
    stream: Array = array_of(STREAM, dtype=np.uint32, fill=None)  # see kernels.mersenne
    rng: Array = array_of(Rng)  # COUNT counts the drawn orders


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)  # float64 for the original's numbers
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float64)  # as the original's rewards are doubles
    terminated: Array = array_of(dtype=np.bool_)  # never true: episodes are cut off
    truncated: Array = array_of(dtype=np.bool_)
    events: Array = array_of("commands", EventColumn, fill=None)  # at most two an agent
    refused: Array = array_of("N")  # Reason of each agent's first refused command
    completions: Array = array_of("Q", Completion, fill=None)
    order_events: Array = array_of(OrderEvent, fill={0: 0, OrderEvent.DRAWN: NOTHING, OrderEvent.LAST_CALL: 0})
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
