"""Plans of evaluations: groups of episodes, or of series of episodes, that differ in task, options and team alone.

Cells of a matrix of policies, which cross-play and partner pools fill, are games of one team.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from collab_overcooked.runner.batched import play_returns
from collab_overcooked.runner.episode import episode_seed
from collab_overcooked.runner.jobs import EpisodeJob, Evaluation, Job, Series
from collab_overcooked.runner.teams import SWAPPED, MakePolicy

MAX_EPISODES = 1_000_000
"""Maximum number of episodes of an evaluation; jobs and records of more do not fit into memory."""


def check_episodes(count: int) -> None:
    """Refuse evaluations of too many episodes."""
    if count > MAX_EPISODES:
        raise ValueError(f"episodes: this is {count:,} episodes in all, allowed are {MAX_EPISODES:,}")


@dataclass(frozen=True, kw_only=True)
class JobGroup:
    """Episodes of one task, played by one team with the same options."""

    env_id: str  # Registered id
    env_kwargs: Mapping[str, Any]  # All options of the environment
    team: tuple[str, ...]  # Policy texts in seat order
    task: str  # Task of the records
    level: int | None = None  # Level of the task, where a game has levels
    first: int = 0  # Number of the first episode
    fields: Mapping[str, Any] = field(default_factory=dict)  # Further fields of the jobs

    def common(self) -> dict[str, Any]:
        """Return the fields of every job of the group."""
        names = ("env_id", "env_kwargs", "team", "task", "level")
        return {name: getattr(self, name) for name in names} | dict(self.fields)


@dataclass(frozen=True, kw_only=True, repr=False)
class EpisodePlan(Evaluation):
    """Single episodes, each with a seed of its own."""

    job: ClassVar[Any] = EpisodeJob  # class of the jobs
    groups: tuple[JobGroup, ...]  # What is played
    episodes: int | None = None  # Episodes of each group; None if groups say it themselves

    def __post_init__(self) -> None:
        check_episodes(self.size())

    def size(self) -> int:
        """Return the number of episodes of all groups; 0 if groups say it themselves."""
        return len(self.groups) * (self.episodes or 0)

    def config(self) -> dict[str, Any]:
        teams = self.teams()
        return super().config() | ({"team": list(teams[0])} if len(teams) == 1 else {})

    def make_jobs(self) -> list[Job]:
        return [
            self.job(
                **group.common(),
                episode=episode,
                seed=episode_seed(self.seed, group.task.removesuffix(SWAPPED), episode),
                limits=self.limits,
            )
            for group in self.groups
            for episode in range(group.first, group.first + (self.episodes or 0))
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class SeriesPlan(EpisodePlan):
    """Runs of episodes that follow on each other."""

    job: ClassVar[Any] = Series
    runs: int  # Runs of each group, with the seeds ``seed``, ``seed + 1``, ..

    def size(self) -> int:
        return self.runs * sum(group.fields.get("episodes", self.episodes or 0) for group in self.groups)

    def make_jobs(self) -> list[Job]:
        return [
            self.job(
                **{"episodes": self.episodes} | group.common(),
                number=number,
                seed=self.seed + number,
                limits=self.limits,
            )
            for group in self.groups
            for number in range(self.runs)
        ]


@dataclass(frozen=True)
class TeamGames:
    """Games of one team, played at once where its policies allow it, with the same returns as one by one."""

    env_id: str  # Registered id
    env_kwargs: Mapping[str, Any]  # Options of the environment
    team: tuple[str, ...]  # Policy specs in seat order
    seeds: tuple[int, ...]  # Of the environment, by game
    what: Any  # What the games stand for

    def run(self, make: MakePolicy | None = None) -> list[tuple[Any, list[float]]]:
        """Play the games; returns what they stand for and their returns."""
        return [(self.what, play_returns(self.env_id, self.env_kwargs, self.team, self.seeds, make))]
