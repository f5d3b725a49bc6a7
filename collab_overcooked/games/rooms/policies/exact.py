"""Exact values for policies: solutions are made when a moment is first met, and kept."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.games.rooms.engine.solver import JointValues, Solution, solve

GAMES = ("CollabCapture-v0", "CollabEscape-v0")
HASTE = 1e-4  # what a turn costs beside a probability of success, so that it decides between equal ones only
KEPT = 8  # solutions of one game: more than one where moments cannot be reached from its start


def check_game(name: str, game: Any) -> None:
    """Refuse other games.

    Raises:
        ValueError: If the game is not one of rooms.
    """
    if game.id not in GAMES:
        raise ValueError(f"policy {name!r} plays {' and '.join(GAMES)} only, not {game.id}")


class ExactValues:
    """Values of all moments of a game.

    Args:
        game: Compiled game of rooms.
        worst: Whether the adversary is taken to choose its ways against the players.
    """

    def __init__(self, game: Any, worst: bool) -> None:
        self._compiled, self._worst = plain(game).compiled, worst
        self._found: list[Solution] = []

    def of(self, state: Any, i: int = 0) -> JointValues:
        """Return the values of all legal joint actions of environment ``i``.

        Raises:
            ValueError: If the map is too large for exact values.
        """
        for solution in self._found:
            try:
                return solution.joint_values(state, i)
            except KeyError:
                continue
        root = type(state)(*(array[i : i + 1] for array in state))
        self._found = [solve(self._compiled, root, worst=self._worst), *self._found[: KEPT - 1]]
        return self._found[0].joint_values(state, i)


@lru_cache(maxsize=16)
def _exact_values(game: Any, worst: bool) -> ExactValues:
    return ExactValues(game, worst)


def exact_values(game: Any, worst: bool = False) -> ExactValues:
    """Return the values of a game, the same for all that ask."""
    return _exact_values(game, worst)


def worth(values: JointValues) -> np.ndarray:
    """Return one number for each joint action: success first, then haste."""
    turns = np.where(np.isinf(values.turns), 0.0, values.turns)
    found: np.ndarray = values.success - HASTE * turns
    return found
