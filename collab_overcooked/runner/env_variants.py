"""Identity of results: the game that was played, and every option of it that differs from its default.

A suite names the options that are axes of its tables (``Suite.axes``). All others are part of the name of a result,
unless the game's ``Config.presentation`` says that an option changes an encoding and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord, RecordT
from collab_overcooked.envs.wrappers import split_options
from collab_overcooked.game_spec import PLAIN
from collab_overcooked.runner.teams import team_text

if TYPE_CHECKING:
    from collab_overcooked.runner.match import Match

MAX_VALUE_LENGTH = 60  # characters of an option's value in a name


@dataclass(frozen=True)
class Variant:
    """A game with the options that distinguish it from the variant of published numbers."""

    game: str  # Name of the game
    changed: Mapping[str, Any]  # Options that differ from their defaults, without axes, in the form of ``canonical``

    @property
    def key(self) -> str:
        """Unique text of the variant."""
        return json.dumps([self.game, self.changed], sort_keys=True)

    @property
    def label(self) -> str:
        """Changed options, for example ``"lexicon alien, players 3"``; empty if there are none."""
        return ", ".join(option_text(name, value) for name, value in self.changed.items())

    @property
    def title(self) -> str:
        """Game and changed options, for example ``"Soup-v0, lexicon alien"``."""
        return ", ".join(filter(None, (self.game, self.label)))


def variant_of(record: EpisodeRecord, axes: Collection[str] | None = None, game: str = "") -> Variant:
    """Return the variant of a record.

    Args:
        record: Record of an episode or of an answer to a question.
        axes: Options that are not part of the variant; those of the game's suite if None.
        game: Name of the game; the id of the environment if empty.
    """
    length = None if record.suite else record.max_cycles
    variant = variant_of_play(record.env_id, record.env_kwargs, record.specs, length, record.limits, axes)
    return replace(variant, game=game or record.env_id)


def variant_of_match(match: Match) -> Variant:
    """Return the variant of a match, which need not have been played."""
    wrapper, options = split_options(match.env_kwargs)
    return variant_of_play(match.env_id, options, match.team, wrapper.get("max_cycles"), match.limits.changed())


def variant_of_play(
    env_id: str,
    env_kwargs: Mapping[str, Any],
    team: tuple[str, ...],
    max_cycles: int | None,
    limits: Mapping[str, Any],
    axes: Collection[str] | None = None,
) -> Variant:
    """Return the variant of episodes, which need not have been played.

    Args:
        env_id: Registered id.
        env_kwargs: Options of the game.
        team: Policy specs in seat order.
        max_cycles: Maximum number of steps; None for the game's.
        limits: Limits of conversations and corrections that differ from their defaults.
        axes: Options that are not part of the variant; those of the game's suite if None.
    """
    suite = registry.load_suite(env_id)
    defaults = {name: default(team) for name, default in suite.team_defaults.items()}
    changed = changed_options(env_id, env_kwargs, suite.axes if axes is None else axes, defaults)
    if max_cycles not in (None, step_limit(env_id, env_kwargs)):
        changed["max_cycles"] = max_cycles
    return Variant(env_id, changed | {f"limits.{name}": value for name, value in limits.items()})


def changed_options(
    env_id: str, env_kwargs: Mapping[str, Any], axes: Collection[str] = (), defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the options that differ from their defaults, in the game's order.

    Args:
        env_id: Registered id.
        env_kwargs: Options of the environment.
        axes: Options to leave out.
        defaults: Values that replace the game's defaults.
    """
    skipped = {*axes, *registry.game_class(env_id).config_class.presentation}
    defaults = default_options(env_id) | {name: canonical(value) for name, value in (defaults or {}).items()}
    options = effective_options(env_id, env_kwargs)
    return {name: options[name] for name in options if name not in skipped and options[name] != defaults.get(name)}


def deviations(record: EpisodeRecord, variant: Variant) -> dict[str, Any]:
    """Return the options in which a record differs from published numbers: neither defaults nor of its presets.

    Args:
        record: Record of an episode.
        variant: Its variant.
    """
    from collab_overcooked.policies.llm.settings import settings_of  # loads clients of endpoints

    known = registry.find(record.env_id).presets
    preset_options: dict[str, Any] = {}
    for settings in filter(None, map(settings_of, record.team.values())):
        if settings.preset in known:
            preset_options |= {name: canonical(value) for name, value in known[settings.preset].options.items()}
    return {
        name: value
        for name, value in variant.changed.items()
        if name not in preset_options or preset_options[name] != value
    }


def default_options(env_id: str) -> dict[str, Any]:
    """Return the default values of all options of a game, including those of its channel and its lexicon."""
    cls = registry.game_class(env_id)
    known = {**cls.config_class().to_dict(), **registry.default_channel()}
    values = {name: canonical(value) for name, value in known.items()}
    return values | {registry.LEXICON: getattr(cls, "language", PLAIN)}


def effective_options(env_id: str, env_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all options of a game, including defaults."""
    changed = {name: canonical(value) for name, value in env_kwargs.items()}
    if changed.get(registry.LEXICON) is None:  # the game's default language
        changed.pop(registry.LEXICON, None)
    return default_options(env_id) | changed


def canonical(value: Any) -> Any:
    """Return an option's value as in JSON, with one form for equal numbers."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): canonical(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def env_key(env_id: str, env_kwargs: Mapping[str, Any]) -> str:
    """Return a key that is equal for environments with the same id and options."""
    return json.dumps([env_id, canonical(env_kwargs)], sort_keys=True)


def option_text(name: str, value: Any) -> str:
    """Return an option for the name of a result; a long value is truncated and gets a digest."""
    text = json.dumps(value, sort_keys=True) if isinstance(value, (Mapping, list)) else str(value)
    if len(text) > MAX_VALUE_LENGTH:
        text = f"{text[:MAX_VALUE_LENGTH]}... ({hashlib.sha256(text.encode()).hexdigest()[:8]})"
    return f"{name} {text}"


def step_limit(env_id: str, env_kwargs: Mapping[str, Any]) -> int | None:
    """Return the game's default limit of steps; None if its files are missing."""
    return _step_limit(env_key(env_id, env_kwargs))


@lru_cache(maxsize=4096)
def _step_limit(key: str) -> int | None:
    env_id, env_kwargs = json.loads(key)
    try:
        return int(registry.load_game(env_id, **split_options(env_kwargs)[1]).max_cycles)
    except (ValueError, TypeError, OSError):
        return None


def by_variant(
    records: Iterable[RecordT],
    team: Callable[[RecordT], Hashable] = lambda record: team_text(record.team.values()),
    variant: Callable[[RecordT], Variant] = variant_of,
) -> list[list[RecordT]]:
    """Group records by team and variant, in order of first appearance.

    Args:
        records: Records of episodes.
        team: Function that returns the key of a record's team.
        variant: Function that returns the variant of a record.
    """
    groups: dict[Hashable, list[RecordT]] = {}
    for record in records:
        groups.setdefault((variant(record).key, team(record)), []).append(record)
    return list(groups.values())


def split_runs(played: Mapping[str, Sequence[EpisodeRecord]]) -> dict[str, list[EpisodeRecord]]:
    """Split runs by variant; a part is named by its run and non-default options.

    Answers to questions stay together: the items of one set are about several variants.

    Args:
        played: Records of one game by run.
    """
    parts: dict[str, list[EpisodeRecord]] = {}
    for run, records in played.items():
        for part in by_variant(records, lambda record: None, run_variant):
            label = run_variant(part[0]).label
            parts[f"{run}: {label}" if label else run] = part
    return parts


def run_variant(record: EpisodeRecord) -> Variant:
    """Return the variant by which ``split_runs`` assigns a record to a part."""
    return Variant(record.suite, {}) if record.suite else variant_of(record)


def axis_values(record: EpisodeRecord, axes: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the values of the options that are axes of a suite's tables.

    Args:
        record: Record of an episode.
        axes: Names of the options; those of the game's suite if None.
    """
    names = registry.load_suite(record.env_id).axes if axes is None else axes
    options = effective_options(record.env_id, record.env_kwargs)
    return {name: options.get(name) for name in names}


def setting_names(
    records: Sequence[RecordT], axes: Sequence[str], name: Callable[[RecordT], str], builtin: Collection[str] = ()
) -> list[str]:
    """Name the settings of records so that equal names mean equal values of all axes.

    Settings of the same name, such as two files of one name, are distinguished by the axes that differ.

    Args:
        records: Records of one game.
        axes: Options that define a setting.
        name: Function that returns the base name of a record's setting.
        builtin: Names of built-in files; other files of these names are always qualified.
    """
    named: dict[str, dict[str, dict[str, Any]]] = {}
    settings = [axis_values(record, axes) for record in records]
    for record, setting in zip(records, settings, strict=True):
        named.setdefault(name(record), {})[json.dumps(setting, sort_keys=True)] = setting

    def text(label: str, setting: Mapping[str, Any]) -> str:
        others = list(named[label].values())
        differing = [axis for axis in axes if any(other[axis] != setting[axis] for other in others)]
        files = [axis for axis in axes if label in builtin and setting[axis] != label]
        qualifiers = [option_text(axis, setting[axis]) for axis in (differing or files) if setting[axis] != label]
        return f"{label} ({', '.join(qualifiers)})".lstrip() if qualifiers else label

    return [text(name(record), setting) for record, setting in zip(records, settings, strict=True)]
