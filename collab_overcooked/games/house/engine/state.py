"""The arrays of a batch of environments.

Shape letters: B environments, N agents, R rooms, F pieces of furniture, O things, P = R + F + spots places, C cells,
G rows of the goal, L features, A actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.macro_actions import IDLE, Macro
from collab_overcooked.kernels.rng import Rng

from .constants import FIRST_ID, NOTHING, Agent, Belief, EventColumn, Goal, Mate, Place, Room, Side, Thing, World

Array = np.ndarray


@dataclass(frozen=True)
class Sizes:
    """Sizes of the arrays of a state: N, the grid's height and width in cells, R, F, spots, O and G."""

    agents: int
    height: int
    width: int
    rooms: int
    furniture: int
    spots: int
    things: int
    goals: int

    @property
    def places(self) -> int:
        """P."""
        return self.rooms + self.furniture + self.spots

    @property
    def letters(self) -> dict[str, int]:
        """The lengths of axes by letter."""
        return {"C": self.height * self.width, "R": self.rooms, "P": self.places, "O": self.things, "G": self.goals}


class Tables(NamedTuple):
    """Constants of a compiled game: read-only int32 arrays."""

    params: Array  # (20,) see Param
    cost: Array  # (11,) ticks of primitive actions, by Verb
    levels: Array  # (N,) action level of each seat, see kernels.macro_actions.Level
    catalogue: Array  # (2, A, 2) see Row; every action by level, NOTHING where a list is shorter
    room_types: Array  # (R,) index in compile.ROOM_TYPES
    furniture: Array  # (F, 5) see Furniture
    families: Array  # (tasks, columns) see Family and Load
    shares: Array  # (tasks, columns) weights of numbers of classes; per mille of a room type for targets, containers
    allowed: Array  # (classes, places) where things may lie at the start, Housework only
    spans: Array  # (2, blocks) where each Feature lies in observations, see kernels.blocks.Span


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    cells: Array = array_of("C", fill=None)  # room of a cell, NOTHING for walls; a doorway belongs to one of its rooms
    rooms: Array = array_of("R", Room, fill=None)
    places: Array = array_of("P", Place, fill=None)
    dist: Array = array_of("C", "P", dtype=np.int16, fill=None)  # cells on the way from a cell to a place; derived
    things: Array = array_of("O", Thing)
    agents: Array = array_of("N", Agent)
    goals: Array = array_of("G", Goal)
    world: Array = array_of(World)
    know_things: Array = array_of("N", "O", Belief, fill=None)
    know_rooms: Array = array_of("N", "R", fill=None)  # see KnownRoom
    know_places: Array = array_of("N", "P", fill=None)  # see KnownPlace
    know_mates: Array = array_of("N", "N", Mate, fill=None)
    macro_state: Array = array_of("N", Macro, fill=IDLE)  # its timer counts primitive actions
    rng: Array = array_of(Rng)  # see kernels.rng


class Out(NamedTuple):
    """Outputs of a step, and scratch memory, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)
    truncated: Array = array_of(dtype=np.bool_)
    events: Array = array_of("N", EventColumn, fill={0: 0, FIRST_ID: NOTHING})
    fresh: Array = array_of(dtype=np.bool_)  # to be observed
    rects: Array = array_of("R", Side, fill=None)  # scratch
    scratch: Array = array_of(2, "C", fill=None)
