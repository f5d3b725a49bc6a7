"""Jobs of cross-play: the episodes of every ordered pair of a pool, of which the return alone is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from collab_overcooked.runner.batched import play_returns
from collab_overcooked.runner.episode import derive_seed
from collab_overcooked.runner.teams import MakePolicy


@dataclass(frozen=True, kw_only=True)
class PairEpisode:
    """Episode of a pair, of which only the return is kept."""

    env_id: str  # Registered id
    env_kwargs: Mapping[str, Any]  # Options of the environment
    team: tuple[str, ...]  # Policy specs in seat order
    seed: int  # Seed of the environment
    episode: int  # Number of the episode
    pair: tuple[int, int]  # Numbers of the policy in seat 0 and of the one in the other seats


@dataclass(frozen=True)
class PairBatch:
    """Episodes of one pair, played at once where its policies allow it, with the same returns as one by one."""

    jobs: tuple[PairEpisode, ...]  # The episodes; they differ in seed and number only

    def run(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Play the episodes, and say who earned what."""
        first = self.jobs[0]
        returns = play_returns(first.env_id, first.env_kwargs, first.team, [job.seed for job in self.jobs], make)
        cells = [(*job.pair, job.episode) for job in self.jobs]
        return [{"cell": cell, "return": value} for cell, value in zip(cells, returns, strict=True)]


def plan_pairs(
    env_id: str, specs: Sequence[str], n_agents: int, options: Mapping[str, Any], episodes: int, seed: int
) -> list[list[PairEpisode]]:
    """Return the episodes of all pairs, by the policy in seat 0."""
    size = range(len(specs))
    return [
        [
            PairEpisode(
                env_id=env_id,
                env_kwargs=dict(options),
                team=(specs[i], *[specs[j]] * (n_agents - 1)),
                seed=derive_seed(seed, "crossplay", k),
                episode=k,
                pair=(i, j),
            )
            for j in size
            for k in range(episodes)
        ]
        for i in size
    ]


def batch_pairs(jobs: Sequence[PairEpisode], size: int) -> list[PairBatch]:
    """Return jobs in their order, up to ``size`` of a pair together."""
    by_pair = [list(group) for _, group in groupby(jobs, lambda job: job.pair)]
    return [
        PairBatch(tuple(jobs_of_pair[k : k + size]))
        for jobs_of_pair in by_pair
        for k in range(0, len(jobs_of_pair), size)
    ]
