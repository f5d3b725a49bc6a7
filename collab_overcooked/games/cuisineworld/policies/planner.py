"""List scheduling of CuisineWorld, planned by rollouts of different weights of orders, jobs and agents."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.games.cuisineworld.engine.constants import Clock
from collab_overcooked.games.cuisineworld.engine.step import COMPLETION
from collab_overcooked.games.cuisineworld.policies.assignment_arrays import Array, Knob
from collab_overcooked.games.cuisineworld.policies.greedy import TeammateModel, assigner
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.policies.api import EnvInfo, Seen, simulator_of
from collab_overcooked.policies.search.knob_planner import AssignedPolicy, KnobPlanner

ROLLOUTS = 240  # copies played for one step of the kitchen
HORIZON = 28  # steps that they are played
KEPT = 0.7  # of such a row, what the rows drawn from it keep
DRAWS = {  # values of new ones
    Knob.RANK: (3, 6, 10, 15, 20, 30),
    Knob.TAIL: (0, 1, 2),
    Knob.DELAY: (2, 4, 6, 8, 10),
    Knob.AHEAD: (0, 1, 2, 3, 4),
    Knob.LATE: (0, 1, 2, 3, 4, 100),
    Knob.QUICK: (0, 1),
    Knob.CROWD: (0, 25, 50, 75, 100),
}
BIASES = (-20, -8, -3, 0, 0, 0, 3, 8, 20)


class Lookahead(KnobPlanner):
    """Plans with the list schedules of ``task_assignment``."""

    expired_column, unit, digits = Clock.EXPIRED, COMPLETION, 9

    def __init__(self, game: FullGame, rollouts: int, horizon: int) -> None:
        super().__init__(game, assigner(game), assigner(game).knobs(), rollouts, horizon)

    def draw(self, rng: np.random.Generator, count: int, elites: Array) -> Array:
        knobs = np.zeros((count, Knob.BIAS + self.assigner.n_orders), np.int32)
        for knob, values in DRAWS.items():
            knobs[:, knob] = rng.choice(values, size=count)
        knobs[:, Knob.BIAS :] = rng.choice(BIASES, size=(count, self.assigner.n_orders))
        if len(elites):
            parents = elites[rng.integers(len(elites), size=count)]
            kept = (rng.random(knobs.shape) < KEPT) & (np.arange(count)[:, None] % 2 == 0)
            knobs[kept] = parents[kept]
        return knobs


lookahead: Callable[[Any, int, int], Lookahead] = lru_cache(maxsize=4)(Lookahead)  # copies take some megabytes


class PlannerPolicy(AssignedPolicy):
    """Plans for all seats that use this policy and plays its own; all of them compute the same plan.

    Args:
        rollouts: Copies of the kitchen played for one step.
        horizon: Steps that they are played.
    """

    name = "planner"
    parameters = ("rollouts", "horizon")

    def __init__(self, rollouts: int = ROLLOUTS, horizon: int = HORIZON) -> None:
        self.rollouts, self.horizon = parse_integer("rollouts", rollouts, 1), parse_integer("horizon", horizon, 1)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._lookahead = lookahead(info.game, self.rollouts, self.horizon)
        self._simulator = simulator_of(info, self.name)
        self._teammates = TeammateModel(seat, info.team)
        self._elites = self._lookahead.no_elites
        self._past = b""

    def decide(self, seen: Seen) -> Array:
        state = self._simulator.state
        trust = self._teammates.trust(state, seen.timestep)
        digest = hashlib.blake2b(self._past, digest_size=16)
        for array in (state.agents, state.tools, state.served, state.orders, state.clock, trust):
            digest.update(array.tobytes())
        self._past = digest.digest()
        actions, self._elites = self._lookahead.decide(self._past, self._simulator, self._elites, trust)
        return actions
