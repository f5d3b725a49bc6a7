"""Say how well trained policies play, by many games at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.kernels.rng import derive_seeds
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.policies.policy_file import PolicyFile, TeamNetwork
from collab_overcooked.policies.trained import TrainedPolicy
from collab_overcooked.runner.batched import play_steps

Array = np.ndarray
GAMES = 100  # the protocol of Carroll et al. 2019 for every number in its tables


@dataclass(frozen=True)
class Games:
    """Results of many games."""

    returns: Array  # float64 (games,): the seats' mean sum of rewards
    shaped: Array  # float64 (games,): the same of shaped rewards, 0 in games that have none
    completed: Array | None = None  # int64 (games,): orders served; None for games that do not count them by themselves
    # int64 (games,): orders that were not served in time; None for games that do not count them
    expired: Array | None = None
    # int64 (games, seats, events): how often each event happened; None for games that do not count them
    events: Array | None = None


def play_games(
    game: FullGame,
    team: Sequence[PolicyFile],
    games: int = GAMES,
    seed: int = 0,
    mode: str | None = None,
    watch: Callable[[int, Any, Array], None] = lambda t, state, over: None,
) -> Games:
    """Play whole games with trained policies, each with the observations that it was trained on.

    Args:
        game: Compiled game.
        team: Policy of each seat.
        games: Played at once.
        seed: Seed of the batch; game k is the episode of ``play_episode`` with seed ``derive_seeds(seed, games)[k]``,
            in games that are not played turn by turn.
        mode: How all play; each policy's own mode if None.
        watch: See ``runner.batched.play_steps``.
    """
    batch = BatchEnv(game, games)
    tally = _Tally(game, batch)
    kind: Any = TrainedPolicy
    if isinstance(team[0].network, TeamNetwork):
        from collab_overcooked.baselines.mat import TransformerPolicy as kind  # needs torch
    policies = [partial(kind, file, mode) for file in team]
    for step in play_steps(batch, policies, (kind.name,) * len(team), derive_seeds(seed, games), watch):
        tally.add(step.rewards, step.infos, step.running)
    return tally.games()


class _Tally:
    """Sums over the steps of many games.

    Args:
        game: Compiled game.
        batch: The games.
    """

    def __init__(self, game: FullGame, batch: BatchEnv) -> None:
        self._out = batch.out
        self._returns = np.zeros(batch.num_envs)
        self._shaped = np.zeros(batch.num_envs)
        self._count_orders: Callable[[Any], Array] | None = getattr(game, "order_counts", None)
        self._count_events: Callable[[Any], Array] | None = (
            getattr(game, "event_counts", None) if getattr(game, "event_names", ()) else None
        )
        self._orders = np.zeros((2, batch.num_envs), np.int64)
        self._events = None if self._count_events is None else np.zeros_like(self._count_events(batch.out), np.int64)

    def add(self, rewards: Array, infos: Mapping[str, Array], running: Array) -> None:
        """Add a step of the games that were running before it, bool (games,)."""
        self._returns += rewards.mean(1) * running
        if "shaped_reward" in infos:
            self._shaped += infos["shaped_reward"].mean(1) * running
        if self._count_orders is not None:
            self._orders += self._count_orders(self._out) * running
        if self._count_events is not None and self._events is not None:
            self._events += self._count_events(self._out) * running[:, None, None]

    def games(self) -> Games:
        """Return the metrics summed over games; None for metrics that the game does not count."""
        completed, expired = (None, None) if self._count_orders is None else self._orders
        return Games(self._returns, self._shaped, completed, expired, self._events)


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
