"""Random policy: uniform over accepted actions."""

from __future__ import annotations

import numpy as np

from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase


class RandomPolicy(PolicyBase):
    """Samples uniformly from the action mask of any game, with its own generator."""

    name = "random"
    batched = True

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the generator; seats with the same seed draw differently."""
        self._rng = np.random.default_rng([seed, seat])

    def act(self, seen: AgentView) -> int:
        """Return one of the accepted actions."""
        return int(self._rng.choice(np.flatnonzero(seen.mask)))
