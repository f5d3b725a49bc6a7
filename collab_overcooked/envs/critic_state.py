"""Inputs of centralised critics: the global state of each environment of a batch, as floats with true bounds."""

from __future__ import annotations

import gymnasium
import numpy as np

from collab_overcooked.envs.api import Game, Out, State
from collab_overcooked.io.checks import near_matches

Array = np.ndarray
STATE_KINDS = ("global", "concat")
MAX_SYMLOG = float(np.nextafter(np.float32(np.log1p(2.0**31)), np.float32(np.inf)))


def symlog(values: Array) -> Array:
    """Return sign(x) log(1 + |x|), float32: small numbers stay apart, clocks and scores stay small."""
    wide = values.astype(np.float64)
    return (np.sign(wide) * np.log1p(np.abs(wide))).astype(np.float32)


class CriticState:
    """Encodes the states of a batch for a centralised critic.

    Neither kind holds the state of the random generator.

    Args:
        game: Compiled game.
        kind: ``"concat"`` for the observations of all agents by seat, each number scaled to 0..1 by its bounds;
            ``"global"`` for the same, followed by the arrays of the game's state by ``symlog``, what no agent knows
            included.

    Attributes:
        space: Box of one environment's state, float32 (S,).
    """

    def __init__(self, game: Game, kind: str = "global") -> None:
        if not isinstance(kind, str) or kind not in STATE_KINDS:
            raise ValueError(near_matches("state", kind, STATE_KINDS))
        self.game, self.kind = game, kind
        box = game.single_observation_space
        self._low = box.low.reshape(-1).astype(np.float32)
        self._span = np.maximum(box.high.reshape(-1).astype(np.float32) - self._low, 1.0)
        observed = game.n_agents * self._low.size
        hidden = game.state_space.shape[0] if kind == "global" else 0
        bounds = np.array([[0, -MAX_SYMLOG], [1, MAX_SYMLOG]], np.float32)
        low, high = np.repeat(bounds, [observed, hidden], axis=1)
        self.space = gymnasium.spaces.Box(low, high, dtype=np.float32)

    def of(self, state: State, out: Out) -> Array:
        """Return the states of a batch, a fresh float32 array (E, S)."""
        observations = out.observations.reshape(*out.observations.shape[:2], -1).astype(np.float32)
        scaled: Array = ((observations - self._low) / self._span).reshape(len(observations), -1)
        if self.kind == "concat":
            return scaled
        return np.concatenate([scaled, symlog(self.game.state_vectors(state))], axis=1)
