"""The arrays of a batch of homes.

Shape letters: B environments, N agents, R rooms, F pieces of furniture, O things, P = R + F + spots places, C cells,
G rows of the goal, L features, A actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from collab_overcooked.core.macro_actions import Macro
from collab_overcooked.core.rng import Rng
from collab_overcooked.games.house.constants import (
    Agent,
    Belief,
    EventColumn,
    Goal,
    Mate,
    Place,
    Room,
    Thing,
    World,
)

Array = np.ndarray


@dataclass(frozen=True)
class Sizes:
    """Lengths of the arrays of a moment: N, the grid's height and width in cells, R, F, spots, O and G."""

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
    def features(self) -> int:
        """L, see ``observe.encode_known``."""
        own, others = 8, 5 * (self.agents - 1)
        return own + 4 * self.rooms + 4 * self.furniture + 5 * self.things + 3 * self.goals + others


class Tables(NamedTuple):
    """What never changes during a game: read-only int32 arrays."""

    params: Array  # (20,) see Param
    cost: Array  # (11,) ticks of primitive actions, by Verb
    levels: Array  # (N,) action level of each seat, see core.macro_actions.Level
    catalogue: Array  # (2, A, 2) verb and argument of every action, by level; NOTHING where a list is shorter
    room_types: Array  # (R,) index in compile.ROOM_TYPES
    furniture: Array  # (F, 5) room, kind, class, things that fit, whether it may be missing
    families: Array  # (tasks, columns) see compile._families and compile._loads
    shares: Array  # (tasks, columns) weights of numbers of classes; per mille of a room type for targets, containers
    allowed: Array  # (classes, places) where things may lie at the start, Housework only


class State(NamedTuple):
    """One moment of B homes: int32 arrays (dist int16) with leading axis B."""

    cells: Array  # (B, C) room of a cell, NOTHING for walls; a doorway belongs to one of its rooms
    rooms: Array  # (B, R, 5) see Room
    places: Array  # (B, P, 6) see Place
    dist: Array  # (B, P, C) int16: cells on the way from a cell to a place; derived from cells and places
    things: Array  # (B, O, 5) see Thing
    agents: Array  # (B, N, 11) see Agent
    goals: Array  # (B, G, 3) see Goal
    world: Array  # (B, 8) see World
    know_things: Array  # (B, N, O, 4) see Belief
    know_rooms: Array  # (B, N, R) see KnownRoom
    know_places: Array  # (B, N, P) see KnownPlace
    know_mates: Array  # (B, N, N, 4) see Mate
    macro_state: Array  # (B, N, 3) see core.macro_actions.Macro; its timer counts primitive actions
    rng: Array  # (B, 3) see core.rng


class Out(NamedTuple):
    """What a step writes, and scratch memory."""

    observations: Array  # (B, N, L) uint8
    masks: Array  # (B, N, A) int8
    reasons: Array  # (B, N, A) int32: why each action would be refused, see Reason
    rewards: Array  # (B, N) float32
    terminated: Array  # (B,) bool
    truncated: Array  # (B,) bool
    events: Array  # (B, N, 11) see EventColumn
    fresh: Array  # (B,) bool: to be observed
    rects: Array  # (B, R, 4) int32, scratch
    scratch: Array  # (B, C) int32


def alloc(sizes: Sizes, n_actions: int, batch_size: int) -> tuple[State, Out]:
    """Return state and out of a batch."""
    n, cells = sizes.agents, sizes.height * sizes.width

    def array(*shape: int, kind: type = np.int32) -> Array:
        return np.zeros((batch_size, *shape), kind)

    state = State(
        cells=array(cells),
        rooms=array(sizes.rooms, len(Room)),
        places=array(sizes.places, len(Place)),
        dist=array(sizes.places, cells, kind=np.int16),
        things=array(sizes.things, len(Thing)),
        agents=array(n, len(Agent)),
        goals=array(sizes.goals, len(Goal)),
        world=array(len(World)),
        know_things=array(n, sizes.things, len(Belief)),
        know_rooms=array(n, sizes.rooms),
        know_places=array(n, sizes.places),
        know_mates=array(n, n, len(Mate)),
        macro_state=array(n, len(Macro)),
        rng=array(len(Rng)),
    )
    out = Out(
        observations=array(n, sizes.features, kind=np.uint8),
        masks=array(n, n_actions, kind=np.int8),
        reasons=array(n, n_actions),
        rewards=array(n, kind=np.float32),
        terminated=array(kind=np.bool_),
        truncated=array(kind=np.bool_),
        events=array(n, len(EventColumn)),
        fresh=array(kind=np.bool_),
        rects=array(sizes.rooms, 4),
        scratch=array(cells),
    )
    return state, out
