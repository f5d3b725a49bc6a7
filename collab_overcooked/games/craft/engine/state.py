"""The arrays of a batch of CraftKitchens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import Array, array_of
from collab_overcooked.kernels.mersenne import STREAM
from collab_overcooked.kernels.orders import EMPTY, FORCED_SLOTS, HISTORY_SLOTS, Queue
from collab_overcooked.kernels.rng import Rng

from .constants import (
    EMPTY_FURNACE,
    FIRST_ID,
    NOTHING,
    Agent,
    Clock,
    EventColumn,
    Furnace,
    OrderEvent,
    Param,
    Place,
    Role,
)


class Tables(NamedTuple):
    """Constants of a compiled level: read-only int32 arrays."""

    params: Array  # (8,) see Param
    reach: Array  # (4,) square of the distance from which a place of each Role can be used
    places: Array  # (P, 6) see Place
    items: Array  # (I, 3) see Item
    dishes: Array  # (D,) item that each order asks for
    catalogue: Array  # (A, 3) see Row
    starts: Array  # (N, 2) where each agent starts
    spans: Array  # (2, blocks) where each Feature lies in observations, see kernels.blocks.Span


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    agents: Array = array_of("N", Agent)
    bags: Array = array_of("N", "I")  # items that each agent has
    gone: Array = array_of("P")  # steps until a mob or block is back, 0 where it is there
    furnaces: Array = array_of("F", Furnace, fill=EMPTY_FURNACE)
    chest: Array = array_of("I")  # all chests are one
    served: Array = array_of("D")  # dishes of the chest that went to orders
    orders: Array = array_of("Q", Queue, fill=EMPTY)
    clock: Array = array_of(Clock)
    turns: Array = array_of(
        "N", fill=NOTHING
    )  # seats in the order of their commands in the next step, NOTHING: default
    history: Array = array_of(HISTORY_SLOTS, fill=NOTHING)  # completed orders
    forced: Array = array_of(FORCED_SLOTS, fill=NOTHING)  # orders that come before any are drawn
    stream: Array = array_of(STREAM, dtype=np.uint32, fill=None)  # see kernels.mersenne
    rng: Array = array_of(Rng)  # COUNT counts the drawn orders


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    shaped: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)  # never true: episodes are cut off
    truncated: Array = array_of(dtype=np.bool_)
    events: Array = array_of("N", EventColumn, fill={0: 0, FIRST_ID: NOTHING})
    order_events: Array = array_of(OrderEvent)
    fresh: Array = array_of(dtype=np.bool_)
    targets: Array = array_of("K", fill=None)  # scratch: the nearest place of each kind


def sizes_of(tables: Tables) -> dict[str, int]:
    """Return the lengths of the arrays' axes by letter; K counts the kinds of places."""
    places = tables.places
    return {
        "I": len(tables.items),
        "P": len(places),
        "F": int((places[:, Place.ROLE] == Role.FURNACE).sum()),
        "D": len(tables.dishes),
        "Q": -(-int(tables.params[Param.LIFETIME]) // int(tables.params[Param.INTERVAL])),
        "K": 1 + max(Role.CHEST, int(places[:, Place.KIND].max())),
    }
