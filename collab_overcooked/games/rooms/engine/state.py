"""The arrays of a batch of room games.

Shape letters: B environment, N player, R room, K neighbour of a room, D door, G generator, A action.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import Array, array_of
from collab_overcooked.kernels.rng import Rng

from .constants import Clock, EventColumn, Generator, Player, Sighting


class Tables(NamedTuple):
    """Constants of a compiled layout: read-only arrays, int32 unless stated otherwise."""

    params: Array  # (14,) see Param
    passages: Array  # (R, R) FREE, 1 + door, or NOTHING
    ways: Array  # (2**D, R, K) rooms that open passages of a room lead to in the order of its list, then NOTHING
    rooms: Array  # (R, 3) see RoomColumn
    distances: Array  # (2**D, R, R) uint8: passages from room to room by the open doors, UNREACHABLE
    legal: Array  # (2**D, R, A) int8: what a player in a room can do, but for generators
    door_rooms: Array  # (D, 2) rooms on both sides
    starts: Array  # (N,) rooms of the players
    generators: Array  # (G,) their rooms, if these are not drawn
    candidates: Array  # (C,) rooms that can be drawn
    spans: Array  # (2, blocks) where each Feature lies in observations, see kernels.blocks.Span


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    players: Array = array_of("N", Player)
    generators: Array = array_of("G", Generator)
    clock: Array = array_of(Clock)
    sightings: Array = array_of("N", "M", Sighting, fill=None)  # of the players, then of the adversary
    known_doors: Array = array_of("N", fill=None)  # bits of the doors as a player last saw them
    known_repairs: Array = array_of("N", "G", fill=None)  # fixes of the generators as a player last saw them
    rng: Array = array_of(Rng)


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32, fill=None)
    shaped: Array = array_of("N", dtype=np.float32, fill=None)  # see rules.shaped_reward
    terminated: Array = array_of(dtype=np.bool_)  # success or loss
    truncated: Array = array_of(dtype=np.bool_)  # no turn is left
    events: Array = array_of("N", EventColumn, fill=None)
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written


def sizes_of(tables: Tables) -> dict[str, int]:
    """Return the lengths of the arrays' axes by letter; M counts the players and the adversary."""
    n, n_rooms = len(tables.starts), len(tables.rooms)
    return {"N": n, "M": n + 1, "G": len(tables.generators), "A": n_rooms + 2}
