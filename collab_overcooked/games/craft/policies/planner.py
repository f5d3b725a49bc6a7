"""Planning in CraftKitchen: rollouts of assignments with many weights on copies of the current state.

Before every step the planner rolls out the assignments of ``assignment.py`` with the default weights, with those that
were best a step ago, and with new ones, half of them drawn near good ones. It takes the first step of the best rollout.
Future orders are unknown: copies draw their own orders, the same ones for all candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.games.craft.engine.constants import Clock
from collab_overcooked.games.craft.policies.assignment import DEFAULT_WEIGHTS, Array, Knob, assigner
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of
from collab_overcooked.policies.search.plan_search import PlanMemory
from collab_overcooked.policies.search.simulator import Simulator, empty_fork
from collab_overcooked.policies.specs import read_options

FUTURES = 4  # order sequences per candidate
ELITES = 6  # weights that are tried again in the next step
PROGRESS = 0.05  # weight of shaped rewards relative to served orders
DRAWS = (  # values of new weights, by knob
    (20, 40, 60, 80, 90),
    (1, 2, 3, 4, 6, 8, 12),
    (0, 1, 2, 3, 5, 8),
    (0, 1, 2, 4),
    (0, 10, 30, 60),
    (20, 30, 40, 60),
    (15, 25, 35, 50),
    (30, 55, 80),
    (40, 60, 80),
    (30, 60, 80),
    (40, 70, 90),
    (0, 1),
)


@dataclass(frozen=True)
class PlannerOptions:
    """Options of the planner."""

    rollouts: int = 128  # Number of rollouts per decision
    horizon: int = 24  # Length of a rollout in steps
    # Maximum number of dishes of each kind to prepare beyond the orders; 0 to start none before its order
    ahead: int = 8

    def __post_init__(self) -> None:
        for name, least in (("rollouts", 1), ("horizon", 1), ("ahead", 0)):
            parse_integer(name, getattr(self, name), least)


class Lookahead:
    """Decides for the whole team; caches the last decisions, as each seat asks for the same one.

    Args:
        game: Compiled CraftKitchen.
        options: Options.
    """

    def __init__(self, game: Any, options: PlannerOptions) -> None:
        self._assigner, self._horizon, self._ahead = assigner(game), options.horizon, options.ahead
        self._futures = max(1, min(FUTURES, options.rollouts // 8))
        self._candidates = max(1, options.rollouts // self._futures)
        self._memory = empty_fork(game, self._candidates * self._futures)
        self._known = PlanMemory(8)

    def decide(self, simulator: Simulator, elites: Array) -> tuple[Array, Array]:
        """Return the commands for the current state (N,), and the weights to try again (E, knobs)."""
        state = simulator.state
        arrays = (state.agents, state.bags, state.gone, state.furnaces, state.chest, state.served, state.orders)
        key = b"".join(array.tobytes() for array in (*arrays, state.clock, elites))
        decision: tuple[Array, Array] = self._known.recall(key, lambda: self._search(key, simulator, elites))
        return decision

    def _search(self, key: bytes, simulator: Simulator, elites: Array) -> tuple[Array, Array]:
        rng = np.random.default_rng(list(key))
        futures = simulator.fork(self._futures, int(rng.integers(2**31)))
        tried = np.concatenate([np.array([DEFAULT_WEIGHTS], np.int32), elites])[: self._candidates]
        tried = np.concatenate([tried, self._fresh(rng, self._candidates - len(tried), tried)])
        tried[:, Knob.AHEAD] = np.minimum(tried[:, Knob.AHEAD], self._ahead)
        copies = self._memory.take(futures, np.tile(np.arange(len(futures)), len(tried)))
        weights, worth = np.repeat(tried, len(futures), axis=0), np.zeros(len(copies))
        actions = np.zeros((len(copies), simulator.game.n_agents), np.int32)
        first = actions.copy()
        for step in range(self._horizon):
            self._assigner.assign(copies.state, weights, actions)
            if step == 0:
                first[:] = actions
            copies.advance(actions)
            worth += copies.rewards[:, 0] + PROGRESS * copies.out.shaped.sum(axis=1)
        worth -= copies.state.clock[:, Clock.EXPIRED] - futures.state.clock[0, Clock.EXPIRED]
        means = worth.reshape(-1, len(futures)).mean(axis=1)
        ranking = np.argsort(-np.round(means, 6), kind="stable")  # stable: ties keep the earlier candidate
        return first[ranking[0] * len(futures)].copy(), tried[ranking[:ELITES]]

    def _fresh(self, rng: np.random.Generator, count: int, good: Array) -> Array:
        drawn = np.stack([rng.choice(values, count) for values in DRAWS], axis=1).astype(np.int32)
        kept = (rng.random(drawn.shape) < 0.7) & (np.arange(count)[:, None] % 2 == 0)
        return np.where(kept, good[rng.integers(len(good), size=count)], drawn).astype(np.int32)


lookahead: Callable[[Any, PlannerOptions], Lookahead] = lru_cache(maxsize=4)(Lookahead)  # small, as copies take memory


class PlannerPolicy(Silent):
    """Plans for all seats and plays its own; all planners compute the same plan.

    Args:
        options: Options.
    """

    name = "planner"
    needs_simulator = True

    def __init__(self, options: PlannerOptions | None = None) -> None:
        self._options = options or PlannerOptions()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last episode."""
        self._lookahead = lookahead(info.game, self._options)
        self._simulator = simulator_of(info, self.name)
        self._elites = np.zeros((0, len(DEFAULT_WEIGHTS)), np.int32)

    def act(self, seen: Seen) -> int:
        """Return this seat's command."""
        if seen.error is not None:  # a teammate got it first
            return seen.idle_action
        actions, self._elites = self._lookahead.decide(self._simulator, self._elites)
        return int(actions[seen.seat])


def from_text(text: str) -> PlannerPolicy:
    """Create the policy from the text after the colon of a spec such as ``"planner:rollouts=64,ahead=0"``."""
    return PlannerPolicy(read_options("planner", text, PlannerOptions))
