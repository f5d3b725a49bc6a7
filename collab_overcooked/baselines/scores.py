"""Say how well trained policies play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collab_overcooked.envs.api import FullGame
from collab_overcooked.evaluation.batch_games import Games, play_games
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.policies.policy_file import PolicyFile

__all__ = ["GAMES", "Games", "play_games", "score"]
GAMES = 100  # the protocol of Carroll et al. 2019 for every number in its tables


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
    measured = {"return": round(estimate.value, 3), "interval": interval, "games": games, "seed": seed}
    if played.completed is not None and played.expired is not None:
        resolved = int(played.completed.sum() + played.expired.sum())
        measured["success"] = round(int(played.completed.sum()) / max(resolved, 1), 4)
    return measured
