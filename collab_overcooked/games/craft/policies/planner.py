"""Planning in CraftKitchen: assignments by many priorities, played ahead on copies of the present moment.

Before every step the planner plays the assignments of ``assignment.py`` some steps ahead, by the usual priorities, by
those that were best a step ago, and by new ones, half of them drawn near good ones. It takes the best one's first step.
What will be ordered is not known: copies draw orders of their own, the same ones for all candidates.
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

FUTURES = 4  # sequences of orders that each candidate is tried on
ELITES = 6  # priorities that are tried again in the next step
PROGRESS = 0.05  # worth of shaped rewards beside served orders
DRAWS = (  # values of new priorities, by knob
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
    """How to plan.

    Attributes:
        rollouts: Copies played for one decision.
        horizon: Steps that they are played.
        ahead: Most dishes of each kind to have beyond what is ordered; 0 to begin none before its order.
    """

    rollouts: int = 128
    horizon: int = 24
    ahead: int = 8

    def __post_init__(self) -> None:
        for name, least in (("rollouts", 1), ("horizon", 1), ("ahead", 0)):
            parse_integer(name, getattr(self, name), least)


class Lookahead:
    """Decides for a whole team; remembers the last decisions, as each seat asks for the same one.

    Args:
        game: Compiled CraftKitchen.
        options: How to plan.
    """

    def __init__(self, game: Any, options: PlannerOptions) -> None:
        self._assigner, self._horizon, self._ahead = assigner(game), options.horizon, options.ahead
        self._futures = max(1, min(FUTURES, options.rollouts // 8))
        self._candidates = max(1, options.rollouts // self._futures)
        self._memory = empty_fork(game, self._candidates * self._futures)
        self._known = PlanMemory(8)

    def decide(self, simulator: Simulator, elites: Array) -> tuple[Array, Array]:
        """Return the decision for a moment (N,), and the priorities to try again (E, knobs)."""
        state = simulator.state
        moment = (state.agents, state.bags, state.gone, state.furnaces, state.chest, state.served, state.orders)
        key = b"".join(array.tobytes() for array in (*moment, state.clock, elites))
        found: tuple[Array, Array] = self._known.recall(key, lambda: self._search(key, simulator, elites))
        return found

    def _search(self, key: bytes, simulator: Simulator, elites: Array) -> tuple[Array, Array]:
        rng = np.random.default_rng(list(key))
        futures = simulator.fork(self._futures, int(rng.integers(2**31)))
        tried = np.concatenate([np.array([DEFAULT_WEIGHTS], np.int32), elites])[: self._candidates]
        tried = np.concatenate([tried, self._fresh(rng, self._candidates - len(tried), tried)])
        tried[:, Knob.AHEAD] = np.minimum(tried[:, Knob.AHEAD], self._ahead)
        copies = self._memory.take(futures, np.tile(np.arange(len(futures)), len(tried)))
        own, worth = np.repeat(tried, len(futures), axis=0), np.zeros(len(copies))
        actions = np.zeros((len(copies), simulator.game.n_agents), np.int32)
        first = actions.copy()
        for step in range(self._horizon):
            self._assigner.assign(copies.state, own, actions)
            if step == 0:
                first[:] = actions
            copies.advance(actions)
            worth += copies.rewards[:, 0] + PROGRESS * copies.out.shaped.sum(axis=1)
        worth -= copies.state.clock[:, Clock.EXPIRED] - futures.state.clock[0, Clock.EXPIRED]
        means = worth.reshape(-1, len(futures)).mean(axis=1)
        ranking = np.argsort(-np.round(means, 6), kind="stable")  # nothing is changed without gain
        return first[ranking[0] * len(futures)].copy(), tried[ranking[:ELITES]]

    def _fresh(self, rng: np.random.Generator, count: int, good: Array) -> Array:
        """Draw new priorities, every other row with much of a good one."""
        drawn = np.stack([rng.choice(values, count) for values in DRAWS], axis=1).astype(np.int32)
        kept = (rng.random(drawn.shape) < 0.7) & (np.arange(count)[:, None] % 2 == 0)
        return np.where(kept, good[rng.integers(len(good), size=count)], drawn).astype(np.int32)


lookahead: Callable[[Any, PlannerOptions], Lookahead] = lru_cache(maxsize=4)(Lookahead)  # copies take memory


class PlannerPolicy(Silent):
    """Plans for all seats and plays its own part; all planners come to the same plan.

    Args:
        options: How to plan.
    """

    name = "planner"
    needs_simulator = True

    def __init__(self, options: PlannerOptions | None = None) -> None:
        self._options = options or PlannerOptions()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last episode.

        Raises:
            ValueError: If the game is no CraftKitchen.
        """
        self._lookahead = lookahead(info.game, self._options)
        self._simulator = simulator_of(info, self.name)
        self._elites = np.zeros((0, len(DEFAULT_WEIGHTS)), np.int32)

    def act(self, seen: Seen) -> int:
        """Return this seat's part of the decision."""
        if seen.error is not None:  # a teammate was given it
            return seen.idle_action
        actions, self._elites = self._lookahead.decide(self._simulator, self._elites)
        return int(actions[seen.seat])


def from_text(text: str) -> PlannerPolicy:
    """Make the policy of a spec such as ``"planner:rollouts=64,ahead=0"``; the text is what follows the colon.

    Raises:
        ValueError: For an unknown parameter or value.
    """
    return PlannerPolicy(read_options("planner", text, PlannerOptions))
