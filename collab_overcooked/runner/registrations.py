"""Custom games and policies, and imported plug-ins, in worker processes."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from collab_overcooked import plugins, registry
from collab_overcooked.game_spec import GameSpec
from collab_overcooked.io.processes import call_packed, is_importable, is_packable, pack
from collab_overcooked.policies.registry import adopt_policies, custom_policies
from collab_overcooked.policies.specs import PolicySpec

ELSEWHERE = (
    "put it into a module, named as module:Class, by --import or by plugins.import_plugin, or play with workers=1 or "
    "make=, which need no other process"
)


@dataclass(frozen=True)
class JobNeeds:
    """Games, policies and classes that jobs name.

    Attributes:
        env_ids: Ids of games.
        specs: Specs of policies.
        classes: Classes of matches.
    """

    env_ids: frozenset[str] = frozenset()
    specs: frozenset[str] = frozenset()
    classes: frozenset[type] = frozenset()

    @classmethod
    def union(cls, needs: Iterable[JobNeeds]) -> JobNeeds:
        """Return the union of several needs."""
        env_ids = set[str]()
        specs = set[str]()
        classes = set[type]()
        for of_job in needs:
            env_ids |= of_job.env_ids
            specs |= of_job.specs
            classes |= of_job.classes
        return cls(frozenset(env_ids), frozenset(specs), frozenset(classes))


def known_here_only(needs: JobNeeds) -> list[str]:
    """Return games, policies and classes that no other process can load, as texts such as ``"policy 'mine'"``."""
    custom = {policy.name: policy for policy in custom_policies()}
    alone: list[str] = []
    for env_id in sorted(needs.env_ids):
        if not _is_elsewhere(registry.find(env_id)):
            alone.append(f"game {env_id!r}")
    for spec in _players(needs.specs):
        policy = custom.get(spec.name)
        modules = [module for module in spec.modules if not plugins.is_file(module)]
        if policy is not None and not _loads_elsewhere(policy.factory):
            alone.append(f"policy {spec.name!r}")
        elif not all(map(is_importable, modules)):
            alone.append(f"policy {spec.text!r}")
    alone += [
        f"class {kind.__name__}" for kind in sorted(needs.classes, key=repr) if not is_importable(kind.__module__)
    ]
    return list(dict.fromkeys(alone))


def refuse_known_here_only(needs: JobNeeds, how: str = ELSEWHERE) -> None:
    """Raise an error if jobs name a game, policy or class that no other process can load.

    Args:
        needs: Games, policies and classes that the jobs name.
        how: Advice for the message.

    Raises:
        ValueError: Naming the games, policies and classes.
    """
    if alone := known_here_only(needs):
        raise ValueError(f"workers: other processes cannot load {', '.join(alone)}, known to this process alone; {how}")


def _players(specs: Iterable[str]) -> Iterator[PolicySpec]:
    for spec in map(PolicySpec.parse, sorted(specs)):
        if spec.players:
            yield from _players(player.text for player in spec.players)
        else:
            yield spec


def _loads_elsewhere(factory: Any) -> bool:
    return is_importable(factory.partition(":")[0]) if isinstance(factory, str) else is_packable(factory)


def _is_elsewhere(game: GameSpec) -> bool:
    if game.id in registry.BUILTIN_IDS:
        return True
    described = {"id", "summary", "prompts", "presets"}
    values = [getattr(game, field.name) for field in fields(game) if field.name not in described]
    return is_packable(game) and all(is_importable(text.partition(":")[0]) for text in _entries(values))


def _entries(value: Any) -> Iterator[str]:
    """Yield the texts in values, such as ``"module:name"``."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, tuple, list)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _entries(part)


def pack_registrations() -> bytes:
    """Return imported plug-ins and the custom games and policies that other processes can load, packed."""
    games = [game for game in registry.custom_games() if _is_elsewhere(game)]
    policies = [policy for policy in custom_policies() if _loads_elsewhere(policy.factory)]
    return pack((plugins.imported(), pack((games, policies))))


@lru_cache(maxsize=1)
def adopt(packed: bytes) -> None:
    """Register the games, policies and metrics that the process calling ``pack_registrations`` has registered.

    Raises:
        ValueError: If a plug-in, or the module of a game or policy, cannot be imported.
    """
    imported, registered = pickle.loads(packed)
    plugins.begin_worker(imported)
    try:
        games, policies = pickle.loads(registered)
    except Exception as error:  # of any module that is imported
        raise ValueError(f"workers: {type(error).__name__}: {error}; {ELSEWHERE}") from error
    for game in games:
        registry.register_game(game)
    adopt_policies(policies)


def call(registrations: bytes, job: bytes) -> Any:
    """Call a function in a worker process, see ``io.processes.call_packed``."""
    adopt(registrations)
    return call_packed(job)
