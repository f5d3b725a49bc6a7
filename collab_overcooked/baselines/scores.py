"""Play many whole games at once with trained policies, and say how well they went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs.api import Game
from collab_overcooked.envs.vector import BatchEnv
from collab_overcooked.metrics.intervals import mean_of_ratios
from collab_overcooked.policies.trained import PolicyFile

GAMES = 100  # the protocol of Carroll et al. 2019 for every number in its tables


def play_games(
    game: Game, team: Sequence[PolicyFile], games: int = GAMES, seed: int = 0, mode: str | None = None
) -> np.ndarray:
    """Play whole games with trained policies.

    Args:
        game: Compiled game, with the observations that the policies were trained on.
        team: Policy of each seat.
        games: Played at once.
        seed: Of environments and policies.
        mode: How all play; each policy's own mode if None.

    Returns:
        Returns, float64 (games,): the seats' mean sum of rewards.
    """
    batch = BatchEnv(game, games)
    observations, infos = batch.reset(seed)
    rng = np.random.default_rng([seed, 2])
    sums = np.zeros(games)
    while not batch.over.all():
        masks, running = infos["action_mask"], ~batch.over
        actions = [
            file.network.act(observations[:, seat], masks[:, seat], rng, mode or file.mode)
            for seat, file in enumerate(team)
        ]
        observations, rewards, _, _, infos = batch.step(np.stack(actions, 1))
        sums += rewards.mean(1) * running
    return sums


def score(
    game: Game, team: Sequence[PolicyFile], games: int = GAMES, seed: int = 0, mode: str | None = None
) -> dict[str, Any]:
    """Return mean return, its 95 % interval, and how it was measured, fit for JSON; see ``play_games``."""
    returns = play_games(game, team, games, seed, mode)
    estimate = mean_of_ratios([returns.tolist()], [[1.0] * games])
    assert estimate is not None
    interval = (
        None if estimate.low is None or estimate.high is None else [round(estimate.low, 3), round(estimate.high, 3)]
    )
    return {"return": round(estimate.value, 3), "interval": interval, "games": games, "seed": seed}
