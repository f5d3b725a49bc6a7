"""What is played: evaluations, the works that they consist of, and the environments and teams that a process keeps."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar

from collab_overcooked import __version__, registry
from collab_overcooked.envs.api import ParallelEnv
from collab_overcooked.evaluation.suites import find_suite, logger_of
from collab_overcooked.policies.registry import LANGUAGE, kind_of, make_policy
from collab_overcooked.runner.episode import Limits, play_episode
from collab_overcooked.runner.records import Key
from collab_overcooked.runner.series import play_series
from collab_overcooked.runner.teaching import Teaching
from collab_overcooked.runner.teams import MakePolicy, Team, make_team


@dataclass(frozen=True, kw_only=True)
class Work(ABC):
    """What is played in one go, by one process: an episode, or several that follow on one another.

    Attributes:
        env_id: Registered id.
        env_kwargs: Options of the environment.
        team: Policy texts in seat order.
        task: What its records are called.
        level: Level of the task, where a game has some.
        seed: Of the environment.
        limits: Bounds of conversations and corrections.
    """

    env_id: str
    env_kwargs: Mapping[str, Any]
    team: tuple[str, ...]
    task: str
    level: int | None = None
    seed: int
    limits: Limits

    @property
    @abstractmethod
    def keys(self) -> Sequence[Key]:
        """What the records will be called."""

    @abstractmethod
    def play(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Return the records, in the order of the keys."""


@dataclass(frozen=True, kw_only=True)
class Episode(Work):
    """One episode.

    Attributes:
        episode: Its number among those of its task.
    """

    episode: int

    @property
    def keys(self) -> tuple[Key]:
        """Task and episode number."""
        return ((self.task, self.episode),)

    def play(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Play the episode."""
        record = self.record(kept_env(self.env_id, self.env_kwargs), kept_team(self.team, make))
        return [record | {"metrics": find_suite(self.env_id).metrics(record)}]

    def record(self, env: ParallelEnv, team: Team) -> dict[str, Any]:
        """Play the episode, and return its record without metrics."""
        return play_episode(
            env,
            team,
            self.seed,
            episode=self.episode,
            task=self.task,
            level=self.level,
            limits=self.limits,
            logger=logger_of(self.env_id),
        )


@dataclass(frozen=True, kw_only=True)
class Series(Work):
    """Episodes that follow on one another: the environment goes on, and the team may learn from each.

    Attributes:
        number: Number of the series among those of its task.
        episodes: How many.
    """

    number: int
    episodes: int

    @property
    def keys(self) -> list[Key]:
        """Task and episode number; the episodes of all series of a task are counted on."""
        return [(self.task, self.number * self.episodes + i) for i in range(self.episodes)]

    def play(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Play all episodes, with lessons in between if somebody teaches."""
        return play_series(
            kept_env(self.env_id, self.env_kwargs),
            kept_team(self.team, make),
            self.seed,
            self.keys,
            level=self.level,
            limits=self.limits,
            logger=partial(logger_of, self.env_id),
            score=find_suite(self.env_id).metrics,
            teaching=self.teaching(make or make_policy),
        )

    def teaching(self, make: MakePolicy) -> Teaching | None:
        """Return who speaks between the episodes; None for nobody."""
        return None


@dataclass(frozen=True, kw_only=True)
class Evaluation(ABC):
    """All that is to be played; every suite adds what it is made of.

    Attributes:
        suite: Name of the suite.
        seed: Of the whole.
        options: Options of the environment that all works have.
        limits: Bounds of conversations and corrections.
    """

    suite: ClassVar[str]
    seed: int
    options: Mapping[str, Any]
    limits: Limits

    @abstractmethod
    def jobs(self) -> Sequence[Work]:
        """Make all work, in the order of the record file."""

    @cached_property
    def works(self) -> tuple[Work, ...]:
        """All work, in the order of the record file; making it may read files."""
        return tuple(self.jobs())

    def config(self) -> dict[str, Any]:
        """Return what must be equal for a run to be continued, fit for JSON."""
        return {"suite": self.suite, "version": __version__, **asdict(self)}

    def teams(self) -> list[tuple[str, ...]]:
        """Return the policy texts of every team that plays."""
        return list(dict.fromkeys(work.team for work in self.works))

    def speaks(self) -> bool:
        """Tell whether language models take part."""
        return any(kind_of(spec) == LANGUAGE for team in self.teams() for spec in team)


# ------------------------------------------------------------------------------------------- what a process keeps


@lru_cache(maxsize=8)
def _registered_team(specs: tuple[str, ...]) -> Team:
    return make_team(specs)


def kept_team(specs: tuple[str, ...], make: MakePolicy | None = None) -> Team:
    """Keep a process's policies: some load models. ``reset`` makes them forget the last episode."""
    return _registered_team(specs) if make is None else make_team(specs, make)


class _Kept(threading.local):
    def __init__(self) -> None:
        self.envs: dict[str, ParallelEnv] = {}  # by id and options


_kept = _Kept()  # of this process and thread


def kept_env(env_id: str, kwargs: Mapping[str, Any]) -> ParallelEnv:
    """Keep environments: compiling a kitchen takes longer than an episode of simple policies."""
    key = json.dumps([env_id, kwargs], sort_keys=True)
    if key not in _kept.envs:
        if len(_kept.envs) >= 64:
            _kept.envs.clear()
        _kept.envs[key] = registry.make(env_id, **kwargs)
    return _kept.envs[key]


def forget_envs() -> None:
    """Drop the environments that are kept: a file that they were made from may have been edited since."""
    _kept.envs.clear()
