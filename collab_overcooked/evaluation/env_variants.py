"""Variants of a game, and the records of each team on each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from collab_overcooked.runner.teams import team_words

Record = Mapping[str, Any]


def unusual_options(env_kwargs: Mapping[str, Any], usual: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the options that make an environment a variant of its game.

    Args:
        env_kwargs: Its options.
        usual: Those that do, with their usual values; others, such as axes of tables, do not.
    """
    return [(name, env_kwargs[name]) for name in usual if env_kwargs.get(name, usual[name]) != usual[name]]


def by_team(records: Iterable[Record], usual: Mapping[str, Any]) -> list[list[Record]]:
    """Return the records of each team on each variant of the game, in the order in which these first appear."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        key = repr((unusual_options(record["env_kwargs"], usual), team_words(record["team"].values())))
        groups.setdefault(key, []).append(record)
    return list(groups.values())
