"""Planning by rollouts of an assignment with many rows of weights on copies of the current state.

Tried are the default row, those that were best a step ago, and new ones; the first step of the best rollout is played.
Future orders are unknown: copies draw their own orders, the same ones for all candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.policies.api import AgentView, PolicyBase
from collab_overcooked.policies.search.plan_search import PlanMemory
from collab_overcooked.policies.search.simulator import Fork, Simulator, empty_fork

Array = np.ndarray
FUTURES = 4  # order sequences per candidate
MIN_CANDIDATES = 8  # with fewer, each is tried on fewer sequences
ELITES = 6  # rows that are tried again in the next step
ROOM = 8  # decisions that are remembered, as each seat asks for the same one


class AssignedPolicy(PolicyBase):
    """A seat of a team whose members see the same state and compute the same commands for all, without messages."""

    needs_simulator = True

    def act(self, seen: AgentView) -> int:
        if seen.error is not None:  # a teammate interfered; a new command would be refused, too
            return seen.idle_action
        return int(self.decide(seen)[seen.seat])

    def decide(self, seen: AgentView) -> Array:
        """Return the commands of all seats, (N,)."""
        raise NotImplementedError


class WeightSearch:
    """Decides for the whole team of a game of orders by ``assigner.assign(state, weights, *shared, actions)``."""

    expired_column: int  # of ``state.clock``: the number of expired orders, each of which costs 1
    unit = 1.0  # gain that is worth one order
    digits: int  # of a worth; candidates that differ by less are equal

    def __init__(self, game: Any, assigner: Any, default: Array, rollouts: int, horizon: int) -> None:
        self.assigner, self._default, self._horizon = assigner, default, horizon
        self._futures = min(FUTURES, max(rollouts // MIN_CANDIDATES, 1))
        self._candidates = max(rollouts // self._futures, 1)
        self._memory = empty_fork(game, self._candidates * self._futures)
        self._known = PlanMemory(ROOM)
        self.no_elites = np.zeros((0, len(default)), np.int32)

    def draw(self, rng: np.random.Generator, count: int, elites: Array) -> Array:
        """Return new rows, (count, weights) int32."""
        raise NotImplementedError

    def gain(self, copies: Fork) -> Array:
        """Return the value of the last step in each copy, (B,)."""
        gain: Array = copies.rewards[:, 0]
        return gain

    def decide(self, key: bytes, simulator: Simulator, elites: Array, *shared: Array) -> tuple[Array, Array]:
        """Return the actions in a state, (N,), and the rows to try in the next one; equal keys get the same."""
        choice: tuple[Array, Array] = self._known.recall(key, lambda: self._search(key, simulator, elites, shared))
        return choice

    def _search(self, key: bytes, simulator: Simulator, elites: Array, shared: tuple[Array, ...]) -> Any:
        rng = np.random.default_rng(list(key))
        futures = simulator.fork(self._futures, int(rng.integers(2**31)))
        tried = np.concatenate([self._default[None], elites])[: self._candidates]
        tried = np.concatenate([tried, self.draw(rng, self._candidates - len(tried), elites)])
        copies = self._memory.take(futures, np.tile(np.arange(len(futures)), len(tried)))
        weights, worth = np.repeat(tried, len(futures), axis=0), np.zeros(len(copies))
        planned = np.zeros((self._horizon, len(copies), simulator.game.n_agents), np.int32)
        for actions in planned:
            self.assigner.assign(copies.state, weights, *shared, actions)
            copies.advance(actions)
            worth += self.gain(copies)
        worth /= self.unit
        worth -= copies.state.clock[:, self.expired_column] - futures.state.clock[0, self.expired_column]
        means = worth.reshape(-1, len(futures)).mean(axis=1)
        ranking = np.argsort(-np.round(means, self.digits), kind="stable")  # stable: ties keep the earlier candidate
        return planned[0, ranking[0] * len(futures)].copy(), tried[ranking[:ELITES]]
