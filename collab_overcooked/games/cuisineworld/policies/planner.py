"""List scheduling of CuisineWorld with rollouts on copies of the current state.

Before every step the planner rolls out the list schedules of ``task_assignment`` with different weights of orders, jobs
and agents: the default weights, those that were best a step ago, mutations of these, and new ones. It takes the first
step of the schedule that serves the most orders. Future orders are unknown: copies draw their own orders, the same ones
for all candidates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.games.cuisineworld.engine.constants import Clock
from collab_overcooked.games.cuisineworld.engine.rewards import COMPLETION
from collab_overcooked.games.cuisineworld.policies.assignment_arrays import Array, Knob
from collab_overcooked.games.cuisineworld.policies.greedy import TeammateModel, assigner
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of
from collab_overcooked.policies.search.simulator import Fork, Simulator, empty_fork

ROLLOUTS = 240  # copies played for one step of the kitchen
HORIZON = 28  # steps that they are played
FUTURES = 4  # sequences of orders that each candidate is tried on
ELITES = 6  # of the priorities tried, those that are tried again in the next step
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
MIN_CANDIDATES = 8  # with fewer, each is tried on fewer sequences
ROOM = 8  # decisions that are remembered, for the other seats
DIGITS = 9  # of a worth; what differs by less is equal


class Choice(NamedTuple):
    """A joint decision, and the priorities to try again in the next step."""

    actions: Array  # (N,)
    elites: Array  # (E, knobs)


class Lookahead:
    """Decides for the whole team; caches the last decisions, as each seat asks for the same one.

    Args:
        game: Compiled CuisineWorld.
        rollouts: Copies played for one decision.
        horizon: Steps that they are played.
    """

    def __init__(self, game: FullGame, rollouts: int, horizon: int) -> None:
        self.assigner = assigner(game)
        self._futures = min(FUTURES, max(rollouts // MIN_CANDIDATES, 1))
        self._rollouts, self._horizon = rollouts, horizon
        self._memory = empty_fork(game, max(rollouts, self._futures))
        self._known: dict[bytes, Choice] = {}

    def decide(self, key: bytes, simulator: Simulator, trust: Array, elites: Array) -> Choice:
        """Return the decision for a state.

        Args:
            key: Key of the state and its history; equal keys get the same decision.
            simulator: Simulator of the state.
            trust: (N,) see ``assignment_arrays``.
            elites: (E, knobs) priorities that were best in the step before.
        """
        if key not in self._known:
            while len(self._known) >= ROOM:
                del self._known[next(iter(self._known))]
            self._known[key] = self._search(np.random.default_rng(list(key)), simulator, trust, elites)
        return self._known[key]

    def _search(self, rng: np.random.Generator, simulator: Simulator, trust: Array, elites: Array) -> Choice:
        futures = simulator.fork(self._futures, int(rng.integers(2**31)))
        count = max(self._rollouts // self._futures, 1)
        tried = np.concatenate([self.assigner.knobs()[None], elites])[:count]
        tried = np.concatenate([tried, self._fresh(rng, count - len(tried), elites)])
        actions = np.zeros((1, len(trust)), np.int32)
        worth = self._play(futures, tried, trust)
        ranking = np.argsort(-np.round(worth, DIGITS), kind="stable")  # stable: ties keep the earlier candidate
        self.assigner.assign(futures.first(1).state, tried[ranking[:1]], trust, actions)
        return Choice(actions[0], tried[ranking[:ELITES]])

    def _play(self, futures: Fork, knobs: Array, trust: Array) -> Array:
        copies = self._memory.take(futures, np.tile(np.arange(len(futures)), len(knobs)))
        actions, weights = np.zeros((len(copies), len(trust)), np.int32), np.repeat(knobs, len(futures), axis=0)
        worth = np.zeros(len(copies))
        for _ in range(self._horizon):
            self.assigner.assign(copies.state, weights, trust, actions)
            copies.advance(actions)
            worth += copies.rewards[:, 0]
        worth /= COMPLETION
        worth -= copies.state.clock[:, Clock.EXPIRED] - futures.state.clock[0, Clock.EXPIRED]
        return worth.reshape(-1, len(futures)).mean(axis=1)

    def _fresh(self, rng: np.random.Generator, count: int, elites: Array) -> Array:
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


class PlannerPolicy(Silent):
    """Plans for all seats that use this policy and plays its own; all of them compute the same plan.

    Args:
        rollouts: Copies of the kitchen played for one step.
        horizon: Steps that they are played.
    """

    name = "planner"
    parameters = ("rollouts", "horizon")
    needs_simulator = True

    def __init__(self, rollouts: int = ROLLOUTS, horizon: int = HORIZON) -> None:
        self.rollouts, self.horizon = parse_integer("rollouts", rollouts, 1), parse_integer("horizon", horizon, 1)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last episode."""
        self._lookahead = lookahead(info.game, self.rollouts, self.horizon)
        self._simulator = simulator_of(info, self.name)
        self._teammates = TeammateModel(seat, info.team)
        self._elites = np.zeros((0, Knob.BIAS + self._lookahead.assigner.n_orders), np.int32)
        self._past = b""

    def act(self, seen: Seen) -> int:
        """Return this seat's command."""
        if seen.error is not None:  # a teammate interfered; a new command would be refused, too
            return seen.idle_action
        state = self._simulator.state
        trust = self._teammates.trust(state, seen.timestep)
        digest = hashlib.blake2b(self._past, digest_size=16)
        for array in (state.agents, state.tools, state.served, state.orders, state.clock, trust):
            digest.update(array.tobytes())
        self._past = digest.digest()
        choice = self._lookahead.decide(self._past, self._simulator, trust, self._elites)
        self._elites = choice.elites
        return int(choice.actions[seen.seat])
