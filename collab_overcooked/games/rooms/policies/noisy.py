"""A stand-in for people: another policy of the room games, some of whose decisions are replaced by random ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.errors import near_matches
from collab_overcooked.games.rooms.policies.greedy import GreedyPolicy
from collab_overcooked.games.rooms.policies.planner import PlannerPolicy
from collab_overcooked.policies.api import EnvInfo, Seen, Silent

KINDS: dict[str, Any] = {"planner": PlannerPolicy, "greedy": GreedyPolicy}


class NoisyPolicy(Silent):
    """Acts as another policy does, or at random.

    Args:
        chance: Probability of a random decision.
        kind: The other policy, one of ``KINDS``.
    """

    needs_simulator = True

    def __init__(self, chance: float, kind: str = "planner") -> None:
        self.name = f"noisy:{chance:g}" + ("" if kind == "planner" else f",{kind}")
        self._chance, self._player = chance, KINDS[kind]()

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Start the generator and the other policy anew."""
        self._rng = np.random.default_rng([seed, seat])
        self._player.reset(seat, info, seed)

    def act(self, seen: Seen) -> int:
        """Return an accepted action at random, or what the other policy does."""
        if self._rng.random() < self._chance:
            return int(self._rng.choice(np.flatnonzero(seen.mask)))
        return int(self._player.act(seen))


def from_text(text: str) -> NoisyPolicy:
    """Make the policy of a spec such as ``"noisy:0.2"`` or ``"noisy:0.2,greedy"``; the text is behind the colon.

    Raises:
        ValueError: If the probability is missing or outside 0 to 1, or the other policy is unknown.
    """
    chance, comma, kind = text.partition(",")
    try:
        p = float(chance)
    except ValueError:
        p = -1.0
    if not 0 <= p <= 1:
        raise ValueError(f"policy 'noisy': probability must be a number from 0 to 1 as in noisy:0.2, not {chance!r}")
    if comma and kind not in KINDS:
        raise ValueError(near_matches("policy behind noisy", kind, KINDS))
    return NoisyPolicy(p, kind or "planner")
