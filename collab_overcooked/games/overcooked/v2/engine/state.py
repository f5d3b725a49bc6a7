"""The arrays of a batch of environments; outputs are those of Overcooked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import EventColumn
from collab_overcooked.games.overcooked.v2.engine.constants import Cell, Clock, Player
from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.rng import Rng

Array = np.ndarray


class Tables(NamedTuple):
    """Constants of a compiled layout: read-only int32 arrays (template uint8)."""

    params: Array  # (10,) see Param
    terrain: Array  # (H, W) see Terrain
    starts: Array  # (N, 2) x, y
    regions: Array  # (H, W) number of the floor that a cell belongs to, or NOTHING
    recipes: Array  # (Q,) bit fields of the recipes that are drawn
    holders: Array  # (M, 2) cells x, y of all but floor, in reading order
    permuted: Array  # (P,) ingredients whose channels are exchanged
    views: Array  # (11,) see Overcooked's View
    template: Array  # (L,) uint8, the kinds of cells as channels, with a margin as wide as the view
    levels: Array  # (N,) action level of each player: primitive


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    players: Array = array_of("N", Player)
    cells: Array = array_of("H", "W", Cell)
    clock: Array = array_of(Clock)
    channels: Array = array_of("N", "K")  # ingredient that each player sees in place of each
    rng: Array = array_of(Rng)


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)  # never true: episodes are cut off
    truncated: Array = array_of(dtype=np.bool_)
    sparse: Array = array_of("N", dtype=np.float32)  # points of each player's own deliveries and buttons
    shaped: Array = array_of("N", dtype=np.float32)  # each player's own shaped reward
    events: Array = array_of("N", EventColumn)
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written
    moves: Array = array_of(2, "N")  # scratch: cells before the step, and target cells
