"""The arrays of a batch of environments of Overcooked and of OvercookedV2.

Shape letters: B environments, K layouts of the pool, N players, H rows and W columns of the largest layout, P pots and
G gates of the layout that has most, F floor and gate cells, A actions, S soups of the kinds of ingredients.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.macro_actions import IDLE
from collab_overcooked.kernels.rng import Rng

from .constants import MACRO_COLUMNS, NO_PAST, NOTHING, Clock, EventColumn, Player, Thing

Array = np.ndarray


class Tables(NamedTuple):
    """Constants of a compiled pool: read-only int32 arrays (shaping float32, template uint8)."""

    params: Array  # (len(Param),) see Param
    shaping: Array  # (K, 3) float32, see Shaping
    frames: Array  # (K, len(LayoutSize)) see LayoutSize
    terrain: Array  # (K, H, W) see Terrain; WALL outside smaller layouts
    starts: Array  # (K, N, 2) x, y
    regions: Array  # (K, H, W) number of the floor, closed off by all but floor, that a cell belongs to, or NOTHING
    pots: Array  # (K, P, 2) x, y, row by row; unused rows are 0
    gates: Array  # (K, G, 2) x, y, row by row; unused rows are 0
    buttons: Array  # (K, U, 2) x, y, row by row; unused rows are 0
    belts: Array  # (K, E, 2) x, y, those to which others lead first; unused rows are 0
    stations: Array  # (K, Q, 2) x, y of those that prepare ingredients; unused rows are 0
    prepare: Array  # (kinds,) Terrain of the station at which an ingredient is prepared, 0 for none
    values: Array  # (K, S) what delivering a soup pays: 0 if not ordered, bonus included
    best: Array  # (K, S) the most that can still be made of a soup
    times: Array  # (K, S) steps of cooking
    floor: Array  # (K, H, W) number of a floor or gate cell, row by row, or NOTHING
    neighbours: Array  # (K, F, 4) floor or gate cell next to one, by direction, or NOTHING: what kernels.paths floods
    views: Array  # (15,) see View
    object_cells: Array  # (K, M, 2) cells x, y that are drawn anew in every picture; unused rows are 0
    template: Array  # (K, L) uint8, what pictures show before anything moves; (K, 0) for features
    nearest: Array  # (K, 4F, 6) flat cell closest to a pose, see NearestObject; (K, 0, 6) for pictures
    objects: Array  # (K, M, 5) see Object
    catalogue: Array  # (rows, 2) see Row: what players choose from if actions are directives
    levels: Array  # (N,) action level of each player, see kernels.macro_actions.Level
    recipes: Array  # (K, Q) soups that are drawn as hidden recipes or as orders; unused places are 0
    planes: Array  # where each Plane of OvercookedV2's pictures, or each Feature of ``features``, begins
    permuted: Array  # (P,) ingredients whose channels are exchanged


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    players: Array = array_of("N", Player)
    cells: Array = array_of("H", "W", Thing, fill=None)  # on counters and in pots; Item.OPEN: an open gate
    clock: Array = array_of(Clock, fill={0: 0, Clock.LAYOUT: NOTHING, Clock.LAYOUT + 1: 0})
    rng: Array = array_of(Rng)
    macro_state: Array = array_of(
        "N", MACRO_COLUMNS, fill=IDLE | NO_PAST
    )  # see kernels.macro_actions.Macro and DirectiveHistory
    changes: Array = array_of("changes")  # see Change; no columns where kitchens never change
    order: Array = array_of("order")  # see Order; no columns where orders stand for ever
    channels: Array = array_of("N", "kinds")  # ingredient that each player sees in place of each; OvercookedV2


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)  # of another dtype in some encodings
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)  # never true: episodes are cut off
    truncated: Array = array_of(dtype=np.bool_)
    sparse: Array = array_of(
        "N", dtype=np.float32
    )  # what a player's deliveries and buttons paid, less its part of losses
    shaped: Array = array_of("N", dtype=np.float32)  # each player's own shaped reward
    events: Array = array_of("N", EventColumn)
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written
    paths: Array = array_of("layers", "H", "W", fill=None)  # scratch, see Path; no layers without directives
    moves: Array = array_of(2, "N", fill=None)  # scratch: cells before the step, and target cells
