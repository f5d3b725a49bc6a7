"""Greedy play of CraftKitchen: the usual assignment for the whole team, of which each seat takes its part.

Seats need no messages: all of them see the same state and come to the same decision.
"""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.craft.policies.assignment import USUAL, assigner
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of


class GreedyPolicy(Silent):
    """Takes the command that is worth most now; works ahead when no order needs it."""

    name = "greedy"
    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last episode.

        Raises:
            ValueError: If the game is no CraftKitchen.
        """
        self._assigner = assigner(info.game)
        self._simulator = simulator_of(info, self.name)
        self._knobs = np.array([USUAL], np.int32)
        self._actions = np.zeros((1, info.game.n_agents), np.int32)

    def act(self, seen: Seen) -> int:
        """Return this seat's part of the decision."""
        if seen.error is not None:  # a teammate was given it
            return seen.idle_action
        self._assigner.assign(self._simulator.state, self._knobs, self._actions)
        return int(self._actions[0, seen.seat])
