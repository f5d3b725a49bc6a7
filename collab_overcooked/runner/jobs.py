"""Jobs (what one worker runs in one go), evaluations that consist of jobs, and caches of environments and teams."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar

from collab_overcooked import __version__, plugins, registry
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.envs.shells import split_options
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.policies.registry import (
    find_policy,
    is_known,
    is_language,
    make_policy,
    outside_modules,
    weight_files,
)
from collab_overcooked.runner.episode import EpisodeLogger, Limits, play_episode
from collab_overcooked.runner.records import Key
from collab_overcooked.runner.series import play_series
from collab_overcooked.runner.teaching import Teaching
from collab_overcooked.runner.teams import MakePolicy, Team, make_team


def make_logger(env_id: str) -> EpisodeLogger | None:
    """Return a new logger for an episode of a game; None where records need nothing more."""
    if not registry.find(env_id).suites:
        return None
    logger: EpisodeLogger | None = registry.load_suite(env_id).make_logger()
    return logger


@dataclass(frozen=True, kw_only=True)
class Job(ABC):
    """What one worker runs in one go: an episode, or several that follow on one another.

    Attributes:
        env_id: Registered id.
        env_kwargs: Options of the environment.
        team: Policy texts in seat order.
        task: What its records are called.
        level: Level of the task, where a game has some.
        seed: Of the environment.
        limits: Bounds of conversations and corrections.
        longest: Steps of an episode at most; None for as many as the environment has.
    """

    longest: ClassVar[int | None] = None
    env_id: str
    env_kwargs: Mapping[str, Any]
    team: tuple[str, ...]
    task: str
    level: int | None = None
    seed: int
    limits: Limits

    def load_game(self) -> Any:
        """Return the compiled game, without an environment: making one compiles the game's kernels."""
        return registry.load_game(self.env_id, **split_options(self.env_kwargs)[1])

    def speakers(self) -> list[str]:
        """Return the texts of the language models that have seats, one for each seat."""
        return [spec for spec in self.team if is_language(spec)]

    def teachers(self) -> list[str]:
        """Return the texts of the language models that speak between episodes."""
        return []

    @property
    @abstractmethod
    def keys(self) -> Sequence[Key]:
        """What the records will be called."""

    @abstractmethod
    def run(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Return the records, in the order of the keys."""


@dataclass(frozen=True, kw_only=True)
class EpisodeJob(Job):
    """One episode.

    Attributes:
        episode: Its number among those of its task.
    """

    episode: int

    @property
    def keys(self) -> tuple[Key]:
        """Task and episode number."""
        return ((self.task, self.episode),)

    def run(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Play the episode."""
        record = self.record(cached_env(self.env_id, self.env_kwargs), cached_team(self.team, make))
        return [record | {"metrics": game_metrics(self.env_id).measure(record)}]

    def record(self, env: ParallelEnv, team: Team, ends_after: int | None = None) -> dict[str, Any]:
        """Play the episode, or its first steps, and return its record without metrics."""
        return play_episode(
            env,
            team,
            self.seed,
            episode=self.episode,
            task=self.task,
            level=self.level,
            limits=self.limits,
            logger=make_logger(self.env_id),
            ends_after=ends_after,
        )


@dataclass(frozen=True, kw_only=True)
class Series(Job):
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

    def run(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Play all episodes, with lessons in between if somebody teaches."""
        return play_series(
            cached_env(self.env_id, self.env_kwargs),
            cached_team(self.team, make),
            self.seed,
            self.keys,
            level=self.level,
            limits=self.limits,
            logger=partial(make_logger, self.env_id),
            score=game_metrics(self.env_id).measure,
            teaching=self.teaching(make or make_policy),
        )

    def teaching(self, make: MakePolicy) -> Teaching | None:
        """Return who speaks between the episodes; None for nobody."""
        return None


@dataclass(frozen=True, kw_only=True)
class Evaluation(ABC):
    """All jobs of one run; every suite adds what they are made of.

    Attributes:
        suite: Name of the suite.
        seed: Of the whole.
        options: Options of the environment that all jobs have.
        limits: Bounds of conversations and corrections.
    """

    suite: str
    seed: int
    options: Mapping[str, Any]
    limits: Limits

    @abstractmethod
    def make_jobs(self) -> Sequence[Job]:
        """Make all jobs, in the order of the record file; this may read files."""

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """All jobs, in the order of the record file."""
        return tuple(self.make_jobs())

    def config(self) -> dict[str, Any]:
        """Return what must be equal for a run to be continued, fit for JSON; settings of models may be in files."""
        config = {"suite": self.suite, "version": __version__, **asdict(self)}
        specs = self.language_specs()
        if specs:
            from collab_overcooked.policies.llm.settings import parse_settings

            config["models"] = {spec: parse_settings(spec.partition(":")[2]).to_dict() for spec in specs}
        if found := self.plugins():
            config["plugins"] = found
        return config

    def plugins(self) -> dict[str, str]:
        """Return version or digest of what takes part from outside the package, see ``plugins.identity``."""
        return plugins_of([job.env_id for job in self.jobs], [spec for team in self.teams() for spec in team])

    def teams(self) -> list[tuple[str, ...]]:
        """Return the policy texts of every team that plays."""
        return list(dict.fromkeys(job.team for job in self.jobs))

    def language_specs(self) -> list[str]:
        """Return the texts of the language models that take part."""
        return list(dict.fromkeys(spec for job in self.jobs for spec in (*job.speakers(), *job.teachers())))

    def has_language_models(self) -> bool:
        """Tell whether language models take part."""
        return bool(self.language_specs())


def plugins_of(env_ids: Iterable[str], specs: Iterable[str]) -> dict[str, str]:
    """Return version or digest of the plug-ins among games and policies, and of what was imported."""
    specs = [spec for spec in specs if is_known(spec)]
    return plugins.identity(
        {(plugins.GAMES, registry.find(env_id).id) for env_id in env_ids}
        | {(plugins.POLICIES, find_policy(spec)[0].name) for spec in specs},
        [module for spec in specs for module in outside_modules(spec)],
        [path for spec in specs for path in weight_files(spec)],
    )


# ------------------------------------------------------------------------------------------- caches of a process


@lru_cache(maxsize=8)
def _cached_team(specs: tuple[str, ...]) -> Team:
    return make_team(specs)


def cached_team(specs: tuple[str, ...], make: MakePolicy | None = None) -> Team:
    """Return a team whose policies are made once in a process, as some load models; with ``make`` it is a new one.

    Args:
        specs: Policy texts in seat order.
        make: Turns policy texts into policies that must not be shared.
    """
    return _cached_team(specs) if make is None else make_team(specs, make)


class _EnvCache(threading.local):
    def __init__(self) -> None:
        self.envs: dict[str, ParallelEnv] = {}  # by id and options


_cache = _EnvCache()  # of this process and thread


def cached_env(env_id: str, kwargs: Mapping[str, Any]) -> ParallelEnv:
    """Return an environment that is made once: compiling a layout takes longer than an episode of simple policies."""
    key = json.dumps([env_id, kwargs], sort_keys=True)
    if key not in _cache.envs:
        if len(_cache.envs) >= 64:
            _cache.envs.clear()
        _cache.envs[key] = registry.make(env_id, **kwargs)
    return _cache.envs[key]


def clear_env_cache() -> None:
    """Drop the cached environments: a file that they were made from may have been edited since."""
    _cache.envs.clear()
