"""Greedy play of CraftKitchen: the default assignment for the whole team, of which each seat takes its part.

Seats need no messages: all of them see the same state and compute the same assignment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collab_overcooked.games.craft.policies.assignment import DEFAULT_WEIGHTS, Knob, assigner
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of
from collab_overcooked.policies.specs import read_options


@dataclass(frozen=True)
class GreedyOptions:
    """Options of the greedy policy."""

    # Dishes of each kind to prepare beyond the orders; 0 to start none before its order
    ahead: int = DEFAULT_WEIGHTS[Knob.AHEAD]

    def __post_init__(self) -> None:
        parse_integer("ahead", self.ahead, 0, most=1000)


class GreedyPolicy(Silent):
    """Takes the command with the highest value now; works ahead if no order needs it.

    Args:
        options: Options.
    """

    name = "greedy"
    needs_simulator = True
    batched = True

    def __init__(self, options: GreedyOptions | None = None) -> None:
        self._options = options or GreedyOptions()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._assigner = assigner(info.game)
        self._simulator = simulator_of(info, self.name)
        self._knobs = np.array([DEFAULT_WEIGHTS], np.int32)
        self._knobs[0, Knob.AHEAD] = self._options.ahead
        self._actions = np.zeros((1, info.game.n_agents), np.int32)

    def act(self, seen: Seen) -> int:
        if seen.error is not None:  # a teammate got it first
            return seen.idle_action
        self._assigner.assign(self._simulator.state, self._knobs, self._actions)
        return int(self._actions[0, seen.seat])


def from_text(text: str) -> GreedyPolicy:
    """Create the policy from the text after the colon of a spec such as ``"greedy:ahead=0"``."""
    return GreedyPolicy(read_options("greedy", text, GreedyOptions))
