"""Policies of CuisineWorld: list schedules of the whole kitchen, by default weights or by the best of rollouts.

Of an assigner's decision for the whole kitchen, each seat takes its part. The planner rolls out different weights of
orders, jobs and agents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.policies.api import AgentView, EnvInfo, compiled_of, simulator_of
from collab_overcooked.policies.search.weight_search import AssignedPolicy, WeightSearch

from ..engine.constants import NOTHING, Agent, Clock
from ..engine.step import COMPLETION
from .job_list import HEED, SHARE, Array, Scratch, StaticInfo, Weight, make_scratch, make_static_info
from .task_assignment import assign_batch

GAME = "CuisineWorld-v0"
DEFAULT_WEIGHTS = {  # tuned on orders of other seeds than those of the published tables
    Weight.RANK: 15,
    Weight.TAIL: 1,
    Weight.DELAY: 8,
    Weight.AHEAD: 3,
    Weight.LATE: 2,
    Weight.QUICK: 0,
    Weight.CROWD: 50,
}
PATIENCE = 6  # steps for which an item held by another policy's seat counts as on its way


class TeammateModel:
    """Model of the teammates: seats of the same policy share the work, others are observed.

    Args:
        seat: Seat of this policy.
        team: Policy names by seat.
    """

    def __init__(self, seat: int, team: tuple[str, ...]) -> None:
        self._mates = np.array([name == team[seat] for name in team])
        self._holding = np.full(len(team), NOTHING)
        self._since = np.zeros(len(team), int)

    def trust(self, state: Any, timestep: int) -> Array:
        """Return the trust in each seat, int32 (N,); call it once per step.

        An item held by another policy's seat counts as on its way only for some steps after it was taken.
        """
        held = state.agents[0, :, Agent.ITEM]
        changed = held != self._holding
        self._since[changed] = timestep
        self._holding[changed] = held[changed]
        heeded = np.where(timestep - self._since < PATIENCE, HEED, 0)
        return np.where(self._mates, SHARE, heeded).astype(np.int32)


class Assigner:
    """A game's assigner with its scratch memory."""

    def __init__(self, game: FullGame) -> None:
        compiled = compiled_of(game, GAME)
        self.tables: Any = compiled.tables
        self.static: StaticInfo = make_static_info(compiled)
        self.n_orders = len(self.tables.menu)
        state, _ = game.alloc(1)
        self.scratch: Scratch = make_scratch(self.tables, self.static, state)

    def weights(self, **values: int) -> Array:
        """Return a row of default weights with overrides, without bias."""
        row = np.zeros(Weight.BIAS + self.n_orders, np.int32)
        for weight, value in DEFAULT_WEIGHTS.items():
            row[weight] = values.get(weight.name.lower(), value)
        return row

    def assign(self, state: Any, weights: Array, trust: Array, actions: Array) -> None:
        """Write the decision for every environment of a batch, (B, N) int32."""
        assign_batch(self.tables, self.static, weights, trust, state, self.scratch, actions)


assigner: Callable[[Any], Assigner] = lru_cache(maxsize=16)(Assigner)  # cached by game


class GreedyPolicy(AssignedPolicy):
    """Earliest deadline first, nearest agent first; works ahead when no order needs it."""

    name = "greedy"
    batched = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._assigner = assigner(info.game)
        self._simulator = simulator_of(info, self.name)
        self._teammates = TeammateModel(seat, info.team)
        self._weights = self._assigner.weights()[None]
        self._actions = np.zeros((1, info.game.n_agents), np.int32)

    def decide(self, seen: AgentView) -> Array:
        state = self._simulator.state
        self._assigner.assign(state, self._weights, self._teammates.trust(state, seen.timestep), self._actions)
        team: Array = self._actions[0]
        return team


ROLLOUTS = 240  # copies played for one step of the kitchen
HORIZON = 28  # steps that they are played
KEPT = 0.7  # of such a row, what the rows drawn from it keep
DRAWS = {  # values of new ones
    Weight.RANK: (3, 6, 10, 15, 20, 30),
    Weight.TAIL: (0, 1, 2),
    Weight.DELAY: (2, 4, 6, 8, 10),
    Weight.AHEAD: (0, 1, 2, 3, 4),
    Weight.LATE: (0, 1, 2, 3, 4, 100),
    Weight.QUICK: (0, 1),
    Weight.CROWD: (0, 25, 50, 75, 100),
}
BIASES = (-20, -8, -3, 0, 0, 0, 3, 8, 20)


class Lookahead(WeightSearch):
    """Plans with the list schedules of ``task_assignment``."""

    expired_column, unit, digits = Clock.EXPIRED, COMPLETION, 9

    def __init__(self, game: FullGame, rollouts: int, horizon: int) -> None:
        super().__init__(game, assigner(game), assigner(game).weights(), rollouts, horizon)

    def draw(self, rng: np.random.Generator, count: int, elites: Array) -> Array:
        weights = np.zeros((count, Weight.BIAS + self.assigner.n_orders), np.int32)
        for weight, values in DRAWS.items():
            weights[:, weight] = rng.choice(values, size=count)
        weights[:, Weight.BIAS :] = rng.choice(BIASES, size=(count, self.assigner.n_orders))
        if len(elites):
            parents = elites[rng.integers(len(elites), size=count)]
            kept = (rng.random(weights.shape) < KEPT) & (np.arange(count)[:, None] % 2 == 0)
            weights[kept] = parents[kept]
        return weights


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

    def decide(self, seen: AgentView) -> Array:
        state = self._simulator.state
        trust = self._teammates.trust(state, seen.timestep)
        digest = hashlib.blake2b(self._past, digest_size=16)
        for array in (state.agents, state.tools, state.served, state.orders, state.clock, trust):
            digest.update(array.tobytes())
        self._past = digest.digest()
        actions, self._elites = self._lookahead.decide(self._past, self._simulator, self._elites, trust)
        return actions
