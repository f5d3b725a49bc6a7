"""Tables and state of a batch of environments; outputs are the same as in Overcooked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.rng import Rng

from .constants import Cell, Clock, Player

Array = np.ndarray


class Tables(NamedTuple):
    """Constants of a compiled layout: read-only int32 arrays (template uint8)."""

    params: Array  # (9,) see Param
    terrain: Array  # (H, W) see Terrain
    starts: Array  # (N, 2) x, y
    regions: Array  # (H, W) number of the floor that a cell belongs to, or NOTHING
    recipes: Array  # (Q,) bit fields of the recipes that are drawn
    object_cells: Array  # (M, 2) cells x, y of all but floor, in reading order
    permuted: Array  # (P,) ingredients whose channels are exchanged
    views: Array  # (12,) see Overcooked's View
    template: Array  # (L,) uint8, the kinds of cells as channels, with a margin as wide as the view
    planes: Array  # (12,) first channel of each Plane
    levels: Array  # (N,) action level of each player: primitive


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    players: Array = array_of("N", Player)
    cells: Array = array_of("H", "W", Cell)
    clock: Array = array_of(Clock)
    channels: Array = array_of("N", "K")  # ingredient that each player sees in place of each
    rng: Array = array_of(Rng)
