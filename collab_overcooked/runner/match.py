"""Matches (units of play), plans that consist of matches, and caches of environments and teams."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from collab_overcooked import __version__, plugins, registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.envs.wrappers import split_options
from collab_overcooked.game_spec import NO_TEACHER
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.policies.specs import PolicySpec, make_known_policy
from collab_overcooked.runner.env_variants import env_key
from collab_overcooked.runner.episode import Episode, Limits
from collab_overcooked.runner.records import Key
from collab_overcooked.runner.teaching import Teaching, make_teaching, play_series
from collab_overcooked.runner.teams import SWAPPED, MakePolicy, Team, make_team, team_text


@dataclass(frozen=True, kw_only=True)
class Match:
    """A team in an environment: one episode, or a series of consecutive ones.

    The environment is seeded before the first episode of a series only, and the team may learn from each episode.

    Attributes:
        env_id: Registered id.
        env_kwargs: Options of the environment.
        team: Policy specs in seat order.
        task: Name of the task in the records.
        level: Level of the task, in games with levels.
        seed: Seed of the environment.
        first: Number of the first episode within its task.
        episodes: Number of episodes.
        limits: Limits of conversations and corrections.
        playable: Whether people can play it: all episodes, from start to end.
    """

    playable: ClassVar[bool] = True
    env_id: str
    env_kwargs: Mapping[str, Any]
    team: tuple[str, ...]
    task: str
    level: int | None = None
    seed: int = 0
    first: int = 0
    episodes: int = 1
    limits: Limits = field(default_factory=Limits)

    def config(self) -> dict[str, Any]:
        """Return the fields, without seeds, that distinguish the match in its plan, as JSON values."""
        return {name: value for name, value in asdict(self).items() if name not in ("seed", "limits")}

    def load_game(self) -> FullGame[Any, Any]:
        """Load the game without an environment, which would compile kernels."""
        return registry.load_game(self.env_id, **split_options(self.env_kwargs)[1])

    def speakers(self) -> list[str]:
        """Return the specs of the language models in seats, one per seat."""
        return [spec for spec in self.team if PolicySpec.parse(spec).is_language]

    def teachers(self) -> list[str]:
        """Return the specs of the language models that teach between episodes."""
        return []

    def teaching(self, make: MakePolicy) -> Teaching:
        """Return the teaching between the episodes; without a teacher by default."""
        return make_teaching(NO_TEACHER)

    @property
    def longest(self) -> int:
        """Maximum number of steps of an episode."""
        return cached_env(self.env_id, self.env_kwargs).max_cycles

    @property
    def seed_name(self) -> str:
        """Name from which a suite derives the seeds of episodes, the same for both orders of seats."""
        return self.task.removesuffix(SWAPPED)

    @property
    def keys(self) -> list[Key]:
        """Keys of the records."""
        return [(self.task, number) for number in range(self.first, self.first + self.episodes)]

    def run(self, make: MakePolicy | None = None, actions: Sequence[Sequence[int]] | None = None) -> list[Any]:
        """Play, and return the records with their metrics, in the order of the keys.

        Args:
            make: Factory of policies; those of the registry, cached in this process, if None.
            actions: Action ids by timestep and seat that policies have decided before, for a single episode.
        """
        env, measure = cached_env(self.env_id, self.env_kwargs), game_metrics(self.env_id).measure
        if actions is None:
            return play_series(
                env,
                cached_team(self.team, make),
                self.seed,
                self.keys,
                score=measure,
                teaching=self.teaching(make or make_known_policy),
                level=self.level,
                limits=self.limits,
            )
        decided = Episode(
            env, self.team, self.seed, task=self.task, episode=self.first, level=self.level, limits=self.limits
        )
        record = decided.take(actions)
        return [record.replace(metrics=measure(record))]


@dataclass(frozen=True, kw_only=True, repr=False)
class MatchPlan:
    """All matches of one run.

    Attributes:
        suite: Name of the suite.
        seed: Seed of the run.
        options: Environment options of all matches.
        limits: Limits of conversations and corrections.
        templates: The first match of each kind: task, options and team.
        matches: All matches, in the order of the record file.
    """

    suite: str
    seed: int
    options: Mapping[str, Any]
    limits: Limits
    templates: tuple[Match, ...]
    matches: tuple[Match, ...]

    def __repr__(self) -> str:
        teams = "; ".join(dict.fromkeys(map(team_text, self.teams())))
        return f"<MatchPlan: {self.suite}, {self.n_episodes} episodes, {teams}>"

    @property
    def keys(self) -> list[Key]:
        """Keys of all records, in the order of the record file."""
        return [key for match in self.matches for key in match.keys]

    @property
    def n_episodes(self) -> int:
        """Number of episodes of all matches."""
        return sum(match.episodes for match in self.matches)

    def config(self) -> dict[str, Any]:
        """Return the configuration that must be unchanged when a run continues, as JSON values.

        Settings files are included by content. The number of repetitions is not part of it: a run can be extended.
        """
        config: dict[str, Any] = {"suite": self.suite, "version": __version__, "seed": self.seed}
        config |= {"options": dict(self.options), "limits": self.limits.to_dict()}
        teams = self.teams()
        if len(teams) == 1:
            config["team"] = list(teams[0])
        config["matches"] = [template.config() for template in self.templates]
        specs = self.language_specs()
        if specs:
            from collab_overcooked.policies.llm.settings import parse_settings

            config["models"] = {spec: parse_settings(PolicySpec.parse(spec).parameters).to_dict() for spec in specs}
        if plugins_used := self.plugins():
            config["plugins"] = plugins_used
        return config

    def plugins(self) -> dict[str, str]:
        """Return the versions or digests of plug-in games, policies and modules; see ``plugins.identity``."""
        return plugins_of(
            [template.env_id for template in self.templates], [spec for team in self.teams() for spec in team]
        )

    def teams(self) -> list[tuple[str, ...]]:
        """Return the policy specs of every team."""
        return list(dict.fromkeys(template.team for template in self.templates))

    def language_specs(self) -> list[str]:
        """Return the specs of all language models of the run."""
        return list(
            dict.fromkeys(spec for template in self.templates for spec in (*template.speakers(), *template.teachers()))
        )

    def has_language_models(self) -> bool:
        """Return whether the run uses language models."""
        return bool(self.language_specs())


def check_seeds(folder: str | Path, results: Mapping[Any, Any], plan: MatchPlan) -> None:
    """Check that the records of a run folder are the episodes of a plan, and not repetitions that took their numbers.

    Args:
        folder: Run folder, for the message.
        results: Records by key.
        plan: Plan of the matches.

    Raises:
        ValueError: For a record with another seed than its match.
    """
    for match in plan.matches:
        task, number = match.keys[0]
        record = results.get((task, number))
        if record is not None and record.seed != match.seed:
            raise ValueError(
                f"{folder}: holds episode {number} of {task} with the seed {record.seed}, which has the seed "
                f"{match.seed} in this run: it is a repetition of another episode; choose another folder"
            )


def plugins_of(env_ids: Iterable[str], specs: Iterable[str]) -> dict[str, str]:
    """Return the versions or digests of plug-in games and policies, and of imported modules."""
    known = [spec for spec in map(PolicySpec.parse, specs) if spec.is_known]
    games = {(plugins.GAMES, registry.find(env_id).id) for env_id in env_ids}
    policies = {(plugins.POLICIES, spec.record.name) for spec in known}
    return plugins.identity(
        games | policies,
        [module for spec in known for module in spec.modules],
        [path for spec in known for path in spec.weight_files],
    )


@lru_cache(maxsize=8)
def _cached_team(specs: tuple[str, ...]) -> Team:
    return make_team(specs, make_known_policy)


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
    key = env_key(env_id, kwargs)
    if key not in _cache.envs:
        if len(_cache.envs) >= 64:
            _cache.envs.clear()
        _cache.envs[key] = registry.make(env_id, **kwargs)
    return _cache.envs[key]


def clear_env_cache() -> None:
    """Drop the cached environments, for example because their layout files may have been edited."""
    _cache.envs.clear()
