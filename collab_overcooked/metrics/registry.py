"""The registry of metrics: what each is called, means and is measured in, and its value for one episode's record.

Some metrics are of every game and computed here; those of one game are registered by ``registry.GameRecord.metrics``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from collab_overcooked import registry
from collab_overcooked.errors import near_matches

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: As on the command line.
        meaning: One line for users.
        unit: What it is measured in; empty for a share or a score.
        better: Whether more or less of it is better; empty if neither is.
    """

    name: str
    meaning: str
    unit: str = ""
    better: Literal["higher", "lower", ""] = ""


@dataclass(frozen=True)
class MetricSet:
    """Metrics that are computed together.

    Attributes:
        metrics: What they are.
        measure: Returns their values for a record by name: a number, one for each seat, or None where there is none.
    """

    metrics: tuple[Metric, ...]
    measure: Callable[[Record], dict[str, Any]]


def measure_any_game(record: Record) -> dict[str, Any]:
    """Return the metrics that every game has, computed from a record alone."""
    steps, decisions = record["steps"], record.get("decisions", {}).values()
    count = sum(own for own, _ in decisions)
    return {
        "success": float(record["success"]),
        "steps": record["timesteps"],
        "return": float(np.sum([step["rewards"] for step in steps], axis=0).mean()),
        "messages": sum(len(step["messages"]) for step in steps),
        "tokens": sum(own or 0 for step in steps for own in step["tokens"]),
        "decision_ms": 1000.0 * sum(seconds for _, seconds in decisions) / count if count else None,
    }


ANY_GAME = MetricSet(
    (
        Metric("success", "Share of episodes that reached the game's goal.", better="higher"),
        Metric("steps", "Environment steps of an episode.", "steps"),
        Metric("return", "Sum of the rewards of an episode, the mean over seats.", better="higher"),
        Metric("messages", "Messages that agents exchanged in an episode.", "messages"),
        Metric("tokens", "Tokens of language models in an episode, all seats together.", "tokens", "lower"),
        Metric("decision_ms", "Time of a decision, where it was measured (compare).", "ms", "lower"),
    ),
    measure_any_game,
)


def game_metrics(env_id: str) -> MetricSet:
    """Return the metrics of one game.

    Raises:
        ValueError: For an unknown id.
    """
    module, _, name = registry.find(env_id).metrics.partition(":")
    found: MetricSet = getattr(importlib.import_module(module), name) if module else MetricSet((), lambda record: {})
    return found


def metrics_of(env_id: str) -> dict[str, Metric]:
    """Return all metrics of a game by name: those of every game, then its own; names are not used twice.

    Raises:
        ValueError: For an unknown id.
    """
    return {metric.name: metric for metric in (*ANY_GAME.metrics, *game_metrics(env_id).metrics)}


def measure(record: Record, names: Sequence[str]) -> dict[str, Any]:
    """Return metrics of one episode by name; a number, one for each seat, or None where there is none.

    Args:
        record: Episode record.
        names: Metrics of its game or of every game.

    Raises:
        ValueError: For a metric that the game does not have; the message lists near matches.
    """
    known = metrics_of(record["env_id"])
    for name in names:
        if name not in known:
            raise ValueError(near_matches("metric", name, known))
    general = {metric.name for metric in ANY_GAME.metrics}
    values = measure_any_game(record)
    if not set(names) <= general:
        values = game_metrics(record["env_id"]).measure(record) | values
    return {name: values[name] for name in names}
