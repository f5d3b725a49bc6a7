"""The arrays of a batch of environments.

Shape letters: B environments, N agents, E episodes of the scenario, O order slots, P areas, K goods (ingredients, then
spices), A actions, L numbers in an observation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.rng import Rng

from .constants import NOTHING, Clock, EventColumn, Order

Array = np.ndarray


class Tables(NamedTuple):
    """Constants of a compiled scenario: read-only int32 arrays."""

    params: Array  # (8,) see Param
    dishes: Array  # (E, O, 2) see Dish
    needs: Array  # (E, O, K) goods that each order asks for
    areas: Array  # (E, P, 2) see Area
    stock: Array  # (E, P, K) goods at the start of an episode
    spans: Array  # (2, blocks) where each Feature lies in observations, see kernels.blocks.Span


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    orders: Array = array_of("O", Order, fill=None)
    stock: Array = array_of("P", "K", fill=None)
    spaces: Array = array_of("P", fill=None)  # action spaces left in the present turn
    clock: Array = array_of(Clock, fill={0: 0, Clock.EPISODE: NOTHING, Clock.FINISHED: 0})
    rng: Array = array_of(Rng)  # nothing is drawn; COUNT is the episode that comes next in turn


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32, fill=None)
    terminated: Array = array_of(dtype=np.bool_)  # every order is finished or ruined
    truncated: Array = array_of(dtype=np.bool_)  # no turn is left
    events: Array = array_of("N", EventColumn, fill=None)
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written


def sizes_of(tables: Tables) -> dict[str, int]:
    """Return the lengths of the arrays' axes by letter."""
    n_orders, n_goods = tables.needs.shape[1:]
    return {"O": n_orders, "P": tables.areas.shape[1], "K": n_goods}
