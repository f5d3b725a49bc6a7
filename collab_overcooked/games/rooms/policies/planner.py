"""Best play of the room games, by exact values of all joint actions.

A team of planners plays the best joint action. A planner among others plays its part of it, as if they did, too; with
``partner=uniform`` it takes them to act at random in this turn. Where it does not see everything, it takes the action
that is best on average over what it may believe.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collab_overcooked.games.rooms.engine.solver import EPSILON, JointValues
from collab_overcooked.games.rooms.policies.exact import check_game, exact_values, worth
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of
from collab_overcooked.policies.specs import read_options

BELIEFS = 32  # moments that a planner looks at where it does not see everything
PARTNERS = ("best", "uniform")
ADVERSARIES = ("own", "worst")


@dataclass(frozen=True)
class PlannerOptions:
    """What a planner counts on.

    Attributes:
        partner: ``"best"`` or ``"uniform"``: what teammates do in this turn.
        adversary: ``"own"``: as the game's is; ``"worst"``: it does what is worst for the players.
    """

    partner: str = "best"
    adversary: str = "own"

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("partner", self.partner, PARTNERS),
            ("adversary", self.adversary, ADVERSARIES),
        ):
            if value not in allowed:
                raise ValueError(near_matches(name, value, allowed))


class PlannerPolicy(Silent):
    """Plays its part of the best joint action.

    Args:
        options: What it counts on.
    """

    name = "planner"
    needs_simulator = True

    def __init__(self, options: PlannerOptions | None = None) -> None:
        self._options = options or PlannerOptions()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Find the values of the game.

        Raises:
            ValueError: If the game is not one of rooms.
        """
        check_game(self.name, info.game)
        self._simulator = simulator_of(info, self.name)
        self._values = exact_values(info.game, self._options.adversary == "worst")
        self._beliefs = BELIEFS if info.game.kwargs["sight"] == "room" else 1
        self._rng = np.random.default_rng(seed)

    def act(self, seen: Seen) -> int:
        """Return this seat's part of the best joint action."""
        moments = self._simulator.fork(self._beliefs, int(self._rng.integers(2**31)))
        own = np.zeros(len(seen.mask))
        for i in range(self._beliefs):
            own += self._own_worth(self._values.of(moments.state, i), seen.seat, len(seen.mask))
        if self._beliefs > 1:
            own[seen.mask == 0] = -np.inf
        return int(np.argmax(own))

    def _own_worth(self, values: JointValues, seat: int, n_actions: int) -> np.ndarray:
        """Return what each of the seat's actions is worth in one moment; of equally good joint actions the first."""
        worths, actions = worth(values), values.actions[:, seat]
        found = np.full(n_actions, -1.0)  # less than anything
        if self._options.partner == "uniform":
            sums = np.bincount(actions, worths, n_actions)
            counts = np.bincount(actions, minlength=n_actions)
            found[counts > 0] = sums[counts > 0] / counts[counts > 0]
            return found
        np.maximum.at(found, actions, worths)
        found[actions[np.argmax(values.best)]] += EPSILON
        return found


def from_text(text: str) -> PlannerPolicy:
    """Make the policy of a spec such as ``"planner:partner=uniform"``; the text is what follows the colon.

    Raises:
        ValueError: For an unknown parameter or value.
    """
    return PlannerPolicy(read_options("planner", text, PlannerOptions))
