"""Optimal play of the room games, by exact values of all joint actions.

A team of planners plays the best joint action. A planner with other partners plays its part of it, assuming that they
do, too; with ``partner=uniform`` it assumes that they act at random in this turn. With limited sight, it takes the
action that is best on average over sampled beliefs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase, simulator_of
from collab_overcooked.policies.parameters import PolicyOptions

from ..engine.solver import EPSILON, JointValues
from .exact import check_game, exact_values, score_actions

BELIEFS = 32  # states sampled per decision with limited sight


@dataclass(frozen=True)
class PlannerOptions(PolicyOptions):
    """Assumptions of the planner."""

    partner: Literal["best", "uniform"] = "best"  # Teammates' behaviour in this turn: ``"best"`` or ``"uniform"``


class PlannerPolicy(PolicyBase):
    """Plays its part of the best joint action; its ``intent`` is the room in which it will be."""

    name = "planner"
    intent: int | None = None
    options_class = PlannerOptions
    needs_simulator = True

    def __init__(self, options: PlannerOptions | None = None) -> None:
        self._options = options or PlannerOptions()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        check_game(self.name, info.game)
        self._simulator = simulator_of(info, self.name)
        game: Any = info.game
        self._values = exact_values(game)
        self._beliefs = BELIEFS if info.game.kwargs["sight"] == "room" else 1
        self._rooms = game.level.rooms
        self._rng = np.random.default_rng(seed)

    def act(self, seen: AgentView) -> int:
        beliefs = self._simulator.fork(self._beliefs, int(self._rng.integers(2**31)))
        scores = np.zeros(len(seen.mask))
        for i in range(self._beliefs):
            scores += self._score_by_action(self._values.of(beliefs.state, i), seen.seat, len(seen.mask))
        if self._beliefs > 1:
            scores[seen.mask == 0] = -np.inf
        action = int(np.argmax(scores))
        moves = 1 <= action < len(scores) - 1
        self.intent = action - 1 if moves else self._rooms.index(seen.scene["players"][seen.seat]["room"])
        return action

    def _score_by_action(self, values: JointValues, seat: int, n_actions: int) -> np.ndarray:
        joint, actions = score_actions(values), values.actions[:, seat]
        best = np.full(n_actions, -1.0)  # below all values
        if self._options.partner == "uniform":
            sums = np.bincount(actions, joint, n_actions)
            counts = np.bincount(actions, minlength=n_actions)
            best[counts > 0] = sums[counts > 0] / counts[counts > 0]
            return best
        np.maximum.at(best, actions, joint)
        best[actions[np.argmax(values.best)]] += EPSILON
        return best
