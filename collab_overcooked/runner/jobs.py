"""Jobs (units of work for one worker), evaluations that consist of jobs, and caches of environments and teams."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from collab_overcooked import __version__, plugins, registry
from collab_overcooked.core.record import Record
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.envs.shells import split_options
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.policies.specs import PolicySpec, make_policy
from collab_overcooked.runner.episode import Limits, episode, play_episode
from collab_overcooked.runner.records import Key
from collab_overcooked.runner.series import play_series
from collab_overcooked.runner.teaching import Teaching
from collab_overcooked.runner.teams import MakePolicy, Team, make_team, team_text


@dataclass(frozen=True, kw_only=True)
class Job(ABC):
    """Unit of work for one worker: an episode, or a series of consecutive ones.

    Attributes:
        env_id: Registered id.
        env_kwargs: Options of the environment.
        team: Policy specs in seat order.
        task: Name of the task in the records.
        level: Level of the task, in games with levels.
        seed: Seed of the environment.
        limits: Limits of conversations and corrections.
        longest: Maximum steps of an episode; None for the environment's limit.
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
        """Return the compiled game, without an environment, which would compile the game's kernels."""
        return registry.load_game(self.env_id, **split_options(self.env_kwargs)[1])

    def speakers(self) -> list[str]:
        """Return the specs of the language models in seats, one per seat."""
        return [spec for spec in self.team if PolicySpec.parse(spec).is_language]

    def teachers(self) -> list[str]:
        """Return the specs of the language models that teach between episodes."""
        return []

    @property
    @abstractmethod
    def keys(self) -> Sequence[Key]:
        """Keys of the records."""

    @abstractmethod
    def run(self, make: MakePolicy | None = None) -> list[Any]:
        """Return the records, in the order of the keys."""


@dataclass(frozen=True, kw_only=True)
class EpisodeJob(Job):
    """Job of a single episode."""

    episode: int  # Number of the episode within its task

    @property
    def keys(self) -> tuple[Key]:
        return ((self.task, self.episode),)

    def run(self, make: MakePolicy | None = None, actions: Sequence[Sequence[int]] | None = None) -> list[Any]:
        env = cached_env(self.env_id, self.env_kwargs)
        if actions is None:
            record = self.record(env, cached_team(self.team, make))
        else:
            record = episode(env, self.team, self.seed, **self._options()).take(actions)
        return [record.replace(metrics=game_metrics(self.env_id).measure(record))]

    def record(self, env: ParallelEnv, team: Team, ends_after: int | None = None) -> Record:
        """Play the episode, or its first ``ends_after`` steps, and return its record without metrics."""
        return play_episode(env, team, self.seed, ends_after=ends_after, **self._options())

    def _options(self) -> dict[str, Any]:
        return {
            "episode": self.episode,
            "task": self.task,
            "level": self.level,
            "limits": self.limits,
        }


@dataclass(frozen=True, kw_only=True)
class Series(Job):
    """Job of consecutive episodes: the environment is not reseeded, and the team may learn from each episode."""

    number: int  # Number of the series within its task
    episodes: int  # Number of episodes

    @property
    def keys(self) -> list[Key]:
        return [(self.task, self.number * self.episodes + i) for i in range(self.episodes)]

    def run(self, make: MakePolicy | None = None) -> list[Any]:
        return play_series(
            cached_env(self.env_id, self.env_kwargs),
            cached_team(self.team, make),
            self.seed,
            self.keys,
            level=self.level,
            limits=self.limits,
            score=game_metrics(self.env_id).measure,
            teaching=self.teaching(make or make_policy),
        )

    def teaching(self, make: MakePolicy) -> Teaching | None:
        """Return the teaching between the episodes; None without a teacher."""
        return None


@dataclass(frozen=True, kw_only=True)
class Evaluation(ABC):
    """All jobs of one run. Suites add the fields from which jobs are made.

    Attributes:
        suite: Name of the suite.
        seed: Seed of the run.
        options: Environment options of all jobs.
        limits: Limits of conversations and corrections.
    """

    suite: str
    seed: int
    options: Mapping[str, Any]
    limits: Limits

    def __repr__(self) -> str:
        teams = "; ".join(dict.fromkeys(map(team_text, self.teams())))
        return f"<{type(self).__name__}: {self.suite}, {self.n_episodes} episodes, {teams}>"

    @abstractmethod
    def make_jobs(self) -> Sequence[Job]:
        """Make all jobs, in the order of the record file; this may read files."""

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """All jobs, in the order of the record file."""
        return tuple(self.make_jobs())

    @property
    def n_episodes(self) -> int:
        """Number of episodes of all jobs."""
        return sum(len(job.keys) for job in self.jobs)

    def config(self) -> dict[str, Any]:
        """Return the configuration that must be equal to continue a run, as JSON values; includes files of settings."""
        config = {"suite": self.suite, "version": __version__, **asdict(self)}
        specs = self.language_specs()
        if specs:
            from collab_overcooked.policies.llm.settings import parse_settings

            config["models"] = {spec: parse_settings(PolicySpec.parse(spec).parameters).to_dict() for spec in specs}
        if plugins_used := self.plugins():
            config["plugins"] = plugins_used
        return config

    def plugins(self) -> dict[str, str]:
        """Return version or digest of what takes part from outside the package, see ``plugins.identity``."""
        return plugins_of([job.env_id for job in self.jobs], [spec for team in self.teams() for spec in team])

    def teams(self) -> list[tuple[str, ...]]:
        """Return the policy specs of every team."""
        return list(dict.fromkeys(job.team for job in self.jobs))

    def language_specs(self) -> list[str]:
        """Return the specs of all language models of the run."""
        return list(dict.fromkeys(spec for job in self.jobs for spec in (*job.speakers(), *job.teachers())))

    def has_language_models(self) -> bool:
        """Return whether the run uses language models."""
        return bool(self.language_specs())


def plugins_of(env_ids: Iterable[str], specs: Iterable[str]) -> dict[str, str]:
    """Return version or digest of the plug-ins among games and policies, and of what was imported."""
    known = [spec for spec in map(PolicySpec.parse, specs) if spec.is_known]
    return plugins.identity(
        {(plugins.GAMES, registry.find(env_id).id) for env_id in env_ids}
        | {(plugins.POLICIES, spec.record.name) for spec in known},
        [module for spec in known for module in spec.modules],
        [path for spec in known for path in spec.weight_files],
    )


@lru_cache(maxsize=8)
def _cached_team(specs: tuple[str, ...]) -> Team:
    return make_team(specs)


def cached_team(specs: tuple[str, ...], make: MakePolicy | None = None) -> Team:
    """Return a team with policies cached in this process, as some load models; with ``make`` the team is new.

    Args:
        specs: Policy specs in seat order.
        make: Factory of policies that must not be shared.
    """
    return _cached_team(specs) if make is None else make_team(specs, make)


class _EnvCache(threading.local):
    def __init__(self) -> None:
        self.envs: dict[str, ParallelEnv] = {}  # by id and options


_cache = _EnvCache()  # of this process and thread


def cached_env(env_id: str, kwargs: Mapping[str, Any]) -> ParallelEnv:
    """Return a cached environment: compiling a layout takes longer than an episode of simple policies."""
    key = json.dumps([env_id, kwargs], sort_keys=True)
    if key not in _cache.envs:
        if len(_cache.envs) >= 64:
            _cache.envs.clear()
        _cache.envs[key] = registry.make(env_id, **kwargs)
    return _cache.envs[key]


def clear_env_cache() -> None:
    """Drop the cached environments, for example because their layout files may have been edited."""
    _cache.envs.clear()
