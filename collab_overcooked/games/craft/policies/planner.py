"""Planning in CraftKitchen: rollouts of assignments, half of whose new weights are drawn near good ones."""

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
from collab_overcooked.policies.search.knob_planner import KnobPlanner
from collab_overcooked.policies.search.simulator import Fork
from collab_overcooked.policies.specs import read_options

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


class Lookahead(KnobPlanner):
    """Plans with the assignments of ``assignment.py``."""

    expired_column, digits = Clock.EXPIRED, 6

    def __init__(self, game: Any, options: PlannerOptions) -> None:
        self._ahead = options.ahead
        default = self._limited(np.array(DEFAULT_WEIGHTS, np.int32))
        super().__init__(game, assigner(game), default, options.rollouts, options.horizon)

    def draw(self, rng: np.random.Generator, count: int, elites: Array) -> Array:
        good = np.concatenate([np.array([DEFAULT_WEIGHTS], np.int32), elites])
        drawn = np.stack([rng.choice(values, count) for values in DRAWS], axis=1)
        kept = (rng.random(drawn.shape) < 0.7) & (np.arange(count)[:, None] % 2 == 0)
        return self._limited(np.where(kept, good[rng.integers(len(good), size=count)], drawn).astype(np.int32))

    def _limited(self, knobs: Array) -> Array:
        knobs[..., Knob.AHEAD] = np.minimum(knobs[..., Knob.AHEAD], self._ahead)
        return knobs

    def gain(self, copies: Fork) -> Array:
        gain: Array = super().gain(copies) + PROGRESS * copies.out.shaped.sum(axis=1)
        return gain


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
        self._lookahead = lookahead(info.game, self._options)
        self._simulator = simulator_of(info, self.name)
        self._elites = self._lookahead.no_elites

    def act(self, seen: Seen) -> int:
        if seen.error is not None:  # a teammate got it first
            return seen.idle_action
        state = self._simulator.state
        arrays = (state.agents, state.bags, state.gone, state.furnaces, state.chest, state.served, state.orders)
        key = b"".join(array.tobytes() for array in (*arrays, state.clock, self._elites))
        actions, self._elites = self._lookahead.decide(key, self._simulator, self._elites)
        return int(actions[seen.seat])


def from_text(text: str) -> PlannerPolicy:
    """Create the policy from the text after the colon of a spec such as ``"planner:rollouts=64,ahead=0"``."""
    return PlannerPolicy(read_options("planner", text, PlannerOptions))
