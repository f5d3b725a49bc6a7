"""Play many whole games at once with trained policies, and say how well they went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.policies.policy_file import PolicyFile

GAMES = 100  # the protocol of Carroll et al. 2019 for every number in its tables


@dataclass(frozen=True)
class Games:
    """What many games came to.

    Attributes:
        returns: float64 (games,): the seats' mean sum of rewards.
        shaped: float64 (games,): the same of shaped rewards, 0 in games that have none.
        completed: int64 (games,): orders served; None for games that do not count them by themselves.
        expired: Likewise, orders that nobody served in time.
    """

    returns: np.ndarray
    shaped: np.ndarray
    completed: np.ndarray | None = None
    expired: np.ndarray | None = None


def play_games(
    game: FullGame, team: Sequence[PolicyFile], games: int = GAMES, seed: int = 0, mode: str | None = None
) -> Games:
    """Play whole games with trained policies.

    Args:
        game: Compiled game, with the observations that the policies were trained on.
        team: Policy of each seat.
        games: Played at once.
        seed: Of environments and policies.
        mode: How all play; each policy's own mode if None.
    """
    batch = BatchEnv(game, games)
    observations, infos = batch.reset(seed)
    rng = np.random.default_rng([seed, 2])
    sums, shaped = np.zeros(games), np.zeros(games)
    count = getattr(game, "order_counts", None)
    orders = None if count is None else np.zeros((2, games), np.int64)
    while not batch.over.all():
        masks, running = infos["action_mask"], ~batch.over
        actions = [
            file.network.act(observations[:, seat], masks[:, seat], rng, mode or file.mode)
            for seat, file in enumerate(team)
        ]
        observations, rewards, _, _, infos = batch.step(np.stack(actions, 1))
        sums += rewards.mean(1) * running
        if "shaped_reward" in infos:
            shaped += infos["shaped_reward"].mean(1) * running
        if count is not None and orders is not None:
            orders += count(batch.out) * running
    return Games(sums, shaped) if orders is None else Games(sums, shaped, orders[0], orders[1])


def score(
    game: FullGame, team: Sequence[PolicyFile], games: int = GAMES, seed: int = 0, mode: str | None = None
) -> dict[str, Any]:
    """Return mean return, its 95 % interval, and how it was measured, fit for JSON; see ``play_games``.

    Games with ``order_counts`` have ``success`` as well: orders served, as a share of those served or expired.
    """
    played = play_games(game, team, games, seed, mode)
    estimate = mean_ci(played.returns.tolist())
    assert estimate is not None
    interval = None
    if estimate.low is not None and estimate.high is not None:
        interval = [round(estimate.low, 3), round(estimate.high, 3)]
    found = {"return": round(estimate.value, 3), "interval": interval, "games": games, "seed": seed}
    if played.completed is not None and played.expired is not None:
        resolved = int(played.completed.sum() + played.expired.sum())
        found["success"] = round(int(played.completed.sum()) / max(resolved, 1), 4)
    return found
