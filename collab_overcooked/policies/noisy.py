"""Noisy variant of a policy with some random decisions: a proxy for people who make mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import Capabilities, EnvInfo, Policy, Seen, Silent
from collab_overcooked.policies.parameters import read_probability


class NoisyPolicy(Silent):
    """Acts like another policy, or at random.

    Args:
        name: Name in teams.
        probability: Probability of a random decision.
        player: The other policy; it must answer with action ids.
    """

    needs_simulator = True

    def __init__(self, name: str, probability: float, player: Policy) -> None:
        self.name, self._probability, self._player = name, probability, player

    @property
    def batched(self) -> bool:
        """Flag of policies that can be played in batches, see ``Policy``."""
        return Capabilities.of(self._player).batched

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the generator and the other policy."""
        self._rng = np.random.default_rng([seed, seat])
        self._player.reset(seat, info, seed)

    def act(self, seen: Seen) -> int:
        """Return a random accepted action, or the other policy's action."""
        if self._rng.random() < self._probability:
            return int(self._rng.choice(np.flatnonzero(seen.mask)))
        return int(self._player.act(seen))  # type: ignore[arg-type]


def noisy_from_text(text: str, kinds: Mapping[str, Callable[[], Policy]]) -> NoisyPolicy:
    """Create the policy of a spec such as ``"noisy:0.2"`` or ``"noisy:0.2,greedy"`` from the text after the colon.

    Args:
        text: Probability, optionally followed by the other policy.
        kinds: Factories of the possible policies; the first is the default.
    """
    probability, comma, kind = text.partition(",")
    p = read_probability("noisy", probability)
    if comma and kind not in kinds:
        raise ValueError(near_matches("policy behind noisy", kind, kinds))
    default = next(iter(kinds))
    return NoisyPolicy(f"noisy:{p:g}" + (f",{kind}" if kind not in ("", default) else ""), p, kinds[kind or default]())
