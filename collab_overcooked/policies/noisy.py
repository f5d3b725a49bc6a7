"""Another policy, some of whose decisions are replaced by random ones: a stand-in for people who make mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import EnvInfo, Policy, Seen, Silent
from collab_overcooked.policies.specs import read_probability


class NoisyPolicy(Silent):
    """Acts as another policy does, or at random.

    Args:
        name: How teams call it.
        chance: Probability of a random decision.
        player: The other policy; it answers with action ids.
    """

    needs_simulator = True

    def __init__(self, name: str, chance: float, player: Policy) -> None:
        self.name, self._chance, self._player = name, chance, player

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Start the generator and the other policy anew."""
        self._rng = np.random.default_rng([seed, seat])
        self._player.reset(seat, info, seed)

    def act(self, seen: Seen) -> int:
        """Return an accepted action at random, or what the other policy does."""
        if self._rng.random() < self._chance:
            return int(self._rng.choice(np.flatnonzero(seen.mask)))
        return int(self._player.act(seen))  # type: ignore[arg-type]


def noisy_from_text(text: str, kinds: Mapping[str, Callable[[], Policy]]) -> NoisyPolicy:
    """Make the policy of a spec such as ``"noisy:0.2"`` or ``"noisy:0.2,greedy"``; the text is behind the colon.

    Args:
        text: Probability, and the other policy if it is not the usual one.
        kinds: Makes the policies that there are; the first is the usual one.

    Raises:
        ValueError: If the probability is missing or outside 0 to 1, or the other policy is unknown.
    """
    chance, comma, kind = text.partition(",")
    p = read_probability("noisy", chance)
    if comma and kind not in kinds:
        raise ValueError(near_matches("policy behind noisy", kind, kinds))
    usual = next(iter(kinds))
    return NoisyPolicy(f"noisy:{p:g}" + (f",{kind}" if kind not in ("", usual) else ""), p, kinds[kind or usual]())
