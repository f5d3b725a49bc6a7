"""Plans of evaluations: groups of episodes, or of series of episodes, that differ in task, options and team alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from collab_overcooked.runner.episode import episode_seed
from collab_overcooked.runner.jobs import EpisodeJob, Evaluation, Job, Series
from collab_overcooked.runner.teams import SWAPPED

MAX_EPISODES = 1_000_000
"""Maximum number of episodes of an evaluation; jobs and records of more do not fit into memory."""


def check_episodes(count: int) -> None:
    """Refuse evaluations of too many episodes.

    Raises:
        ValueError: If there are more than ``MAX_EPISODES``.
    """
    if count > MAX_EPISODES:
        raise ValueError(f"episodes: this is {count:,} episodes in all, allowed are {MAX_EPISODES:,}")


@dataclass(frozen=True, kw_only=True)
class JobGroup:
    """Episodes of one task, played by one team with the same options.

    Attributes:
        env_id: Registered id.
        env_kwargs: All options of the environment.
        team: Policy texts in seat order.
        task: Task of the records.
        level: Level of the task, where a game has levels.
        first: Number of the first episode.
        fields: Further fields of the jobs.
    """

    env_id: str
    env_kwargs: Mapping[str, Any]
    team: tuple[str, ...]
    task: str
    level: int | None = None
    first: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)

    def common(self) -> dict[str, Any]:
        """Return the fields of every job of the group."""
        names = ("env_id", "env_kwargs", "team", "task", "level")
        return {name: getattr(self, name) for name in names} | dict(self.fields)


@dataclass(frozen=True, kw_only=True)
class EpisodePlan(Evaluation):
    """Single episodes, each with a seed of its own.

    Attributes:
        groups: What is played.
        episodes: Episodes of each group; None if groups say it themselves.
    """

    job: ClassVar[Any] = EpisodeJob  # class of the jobs
    groups: tuple[JobGroup, ...]
    episodes: int | None = None

    def __post_init__(self) -> None:
        check_episodes(self.size())

    def size(self) -> int:
        """Return the number of episodes of all groups; 0 if groups say it themselves."""
        return len(self.groups) * (self.episodes or 0)

    def config(self) -> dict[str, Any]:
        """Return what must be equal for a run to be continued; ``team`` if one team plays all of it."""
        teams = self.teams()
        return super().config() | ({"team": list(teams[0])} if len(teams) == 1 else {})

    def make_jobs(self) -> list[Job]:
        """Return all episodes in the order of the record file; both orders of a team's seats have the same seeds."""
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


@dataclass(frozen=True, kw_only=True)
class SeriesPlan(EpisodePlan):
    """Runs of episodes that follow on each other.

    Attributes:
        runs: Runs of each group, with the seeds ``seed``, ``seed + 1``, ...
    """

    job: ClassVar[Any] = Series
    runs: int

    def size(self) -> int:
        """Return the number of episodes of all runs of all groups."""
        return self.runs * sum(group.fields.get("episodes", self.episodes or 0) for group in self.groups)

    def make_jobs(self) -> list[Job]:
        """Return all runs in the order of the record file."""
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
