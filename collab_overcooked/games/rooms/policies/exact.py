"""Exact values for policies, computed and cached when a state first occurs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.envs.lexicon import plain

from ..engine.solver import JointValues, Solution, solve

GAMES = ("CollabCapture-v0", "CollabEscape-v0")
HASTE = 1e-4  # cost of a turn in probability of success; small, so that turns only break ties
KEPT = 8  # solutions per game; several are needed for states that cannot be reached from the start


def check_game(name: str, game: Any) -> None:
    """Reject games other than the room games.

    Raises:
        ValueError: If the game is not a room game.
    """
    if game.id not in GAMES:
        raise ValueError(f"policy {name!r} plays {' and '.join(GAMES)} only, not {game.id}")


class ExactValues:
    """Values of all states of a game.

    Args:
        game: Compiled game of rooms.
    """

    def __init__(self, game: Any) -> None:
        self._compiled = plain(game).compiled
        self._found: list[Solution] = []

    def of(self, state: Any, i: int = 0) -> JointValues:
        """Return the values of all legal joint actions of environment ``i``."""
        for solution in self._found:
            try:
                return solution.joint_values(state, i)
            except KeyError:
                continue
        root = type(state)(*(array[i : i + 1] for array in state))
        self._found = [solve(self._compiled, root), *self._found[: KEPT - 1]]
        return self._found[0].joint_values(state, i)


@lru_cache(maxsize=16)
def exact_values(game: Any) -> ExactValues:
    """Return the values of a game, shared by all callers."""
    return ExactValues(game)


def score_actions(values: JointValues) -> np.ndarray:
    """Return a score for each joint action: success first, then turns."""
    turns = np.where(np.isinf(values.turns), 0.0, values.turns)
    score: np.ndarray = values.success - HASTE * turns
    return score
