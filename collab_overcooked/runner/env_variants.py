"""Identity of results: the game that was played, and every option of it that differs from its default.

A suite names the options that are axes of its tables (``Suite.axes``). All others are part of the name of a result,
unless the game's ``Config.presentation`` says that an option changes an encoding and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.envs.lexicon import PLAIN
from collab_overcooked.envs.shells import split_options
from collab_overcooked.runner.teams import team_words

Record = Mapping[str, Any]
MAX_VALUE_LENGTH = 60  # characters of an option's value in a name


@dataclass(frozen=True)
class Variant:
    """A game with the options that make it another one than published numbers were measured in.

    Attributes:
        game: Name of the game.
        changed: Options that differ from their defaults, without axes, as ``canonical`` returns them.
    """

    game: str
    changed: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Text that is the same for equal variants only."""
        return json.dumps([self.game, self.changed], sort_keys=True)

    @property
    def words(self) -> str:
        """Changed options, for example ``"lexicon alien, players 3"``; empty if there are none."""
        return ", ".join(option_text(name, value) for name, value in self.changed.items())

    @property
    def title(self) -> str:
        """Game and changed options, for example ``"Soup-v0, lexicon alien"``."""
        return ", ".join(filter(None, (self.game, self.words)))


def variant_of(record: Record, axes: Collection[str] | None = None, game: str = "") -> Variant:
    """Return the variant that a record was played in.

    Args:
        record: Of an episode, or of an answer to a question.
        axes: Options that are no part of it; those of the game's suite if None.
        game: Its name; the id of the environment if empty.
    """
    suite = registry.load_suite(record["env_id"])
    changed = changed_options(
        record["env_id"],
        record["env_kwargs"],
        suite.axes if axes is None else axes,
        suite.usual_options(tuple(record["team"].values())),
    )
    if "suite" not in record and record["max_cycles"] != suite.step_limit(record):
        changed["max_cycles"] = record["max_cycles"]
    for name, value in record.get("limits", {}).items():
        changed[f"limits.{name}"] = value
    return Variant(game or record["env_id"], changed)


def changed_options(
    env_id: str,
    env_kwargs: Mapping[str, Any],
    axes: Collection[str] = (),
    usual: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the options that differ from their defaults, in the order in which the game declares them.

    Args:
        env_id: Registered id.
        env_kwargs: Options of the environment.
        axes: Options to leave out.
        usual: Values that count as defaults instead of the game's.
    """
    skipped = {*axes, *registry.game_class(env_id).config_class.presentation}
    defaults = default_options(env_id) | {name: canonical(value) for name, value in (usual or {}).items()}
    options = effective_options(env_id, env_kwargs)
    return {name: options[name] for name in options if name not in skipped and options[name] != defaults.get(name)}


def default_options(env_id: str) -> dict[str, Any]:
    """Return the default values of all options of a game, its lexicon among them."""
    cls = registry.game_class(env_id)
    values = {name: canonical(value) for name, value in cls.config_class().to_dict().items()}
    return values | {registry.LEXICON: getattr(cls, "language", PLAIN)}


def effective_options(env_id: str, env_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all options of a game, defaults where none are given."""
    given = {name: canonical(value) for name, value in env_kwargs.items()}
    if given.get(registry.LEXICON) is None:  # the game's own language
        given.pop(registry.LEXICON, None)
    return default_options(env_id) | given


def canonical(value: Any) -> Any:
    """Return an option's value as it is in JSON, with one form for numbers that are equal."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): canonical(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def option_text(name: str, value: Any) -> str:
    """Return an option as names of results show it; a long value is cut, with a digest that tells it from others."""
    text = json.dumps(value, sort_keys=True) if isinstance(value, (Mapping, list)) else str(value)
    if len(text) > MAX_VALUE_LENGTH:
        text = f"{text[:MAX_VALUE_LENGTH]}... ({hashlib.sha256(text.encode()).hexdigest()[:8]})"
    return f"{name} {text}"


def step_limit(env_id: str, env_kwargs: Mapping[str, Any]) -> int | None:
    """Return the steps that a game's own rules allow an episode; None if its files are gone."""
    return _step_limit(env_id, json.dumps(env_kwargs, sort_keys=True, default=str))


@lru_cache(maxsize=4096)
def _step_limit(env_id: str, env_kwargs: str) -> int | None:
    try:
        return int(registry.load_game(env_id, **split_options(json.loads(env_kwargs))[1]).max_cycles)
    except (ValueError, TypeError, OSError):
        return None


# ------------------------------------------------------------------------------------------- records


def by_variant(
    records: Iterable[Record],
    team: Callable[[Record], Hashable] = lambda record: team_words(record["team"].values()),
    variant: Callable[[Record], Variant] = variant_of,
) -> list[list[Record]]:
    """Return the records of each team on each variant, in the order in which these first appear.

    Args:
        records: Episodes.
        team: Returns what teams are told apart by.
        variant: Returns the variant of a record.
    """
    groups: dict[Hashable, list[Record]] = {}
    for record in records:
        groups.setdefault((variant(record).key, team(record)), []).append(record)
    return list(groups.values())


def split_runs(played: Mapping[str, Sequence[Record]]) -> dict[str, list[Record]]:
    """Return the records of runs with a name for each variant: the run's, and the options that are not as by default.

    Answers to questions stay together: the items of one set are about several variants.

    Args:
        played: Records of one game by run.
    """
    found: dict[str, list[Record]] = {}
    for run, records in played.items():
        for own in by_variant(records, lambda record: None, _variant_of_run):
            words = _variant_of_run(own[0]).words
            found[f"{run}: {words}" if words else run] = own
    return found


def _variant_of_run(record: Record) -> Variant:
    return Variant(record["suite"], {}) if "suite" in record else variant_of(record)


def axis_values(record: Record, axes: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the values of the options that are axes of a suite's tables.

    Args:
        record: Of an episode.
        axes: Their names; those of the game's suite if None.
    """
    names = registry.load_suite(record["env_id"]).axes if axes is None else axes
    options = effective_options(record["env_id"], record["env_kwargs"])
    return {name: options.get(name) for name in names}


def setting_names(
    records: Sequence[Record],
    axes: Sequence[str],
    name: Callable[[Record], str],
    shipped: Collection[str] = (),
) -> list[str]:
    """Name the settings of records so that equal names mean equal values of all axes.

    Settings of one name, such as a file that is called like another, are told apart by the axes that differ.

    Args:
        records: Of one game.
        axes: Options that make a setting.
        name: Returns what a record's setting is called.
        shipped: Names of files that come with the package; no other file is called by one of them alone.
    """
    named: dict[str, dict[str, dict[str, Any]]] = {}
    values = [axis_values(record, axes) for record in records]
    for record, own in zip(records, values, strict=True):
        named.setdefault(name(record), {})[json.dumps(own, sort_keys=True)] = own

    def text(label: str, own: Mapping[str, Any]) -> str:
        others = list(named[label].values())
        differing = [axis for axis in axes if any(other[axis] != own[axis] for other in others)]
        files = [axis for axis in axes if label in shipped and own[axis] != label]
        told = [axis for axis in (differing or files) if own[axis] != label]
        return f"{label} ({', '.join(option_text(axis, own[axis]) for axis in told)})".lstrip() if told else label

    return [text(name(record), own) for record, own in zip(records, values, strict=True)]
