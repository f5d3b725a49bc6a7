"""The registry of metrics: what each is called, means and is measured in, and its value for one episode's record.

Some metrics are of every game and computed here; those of one game are registered by ``registry.GameRecord.metrics``.
Others come from plug-ins and `register_metric`; these are computed from records where they are shown, and not stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from collab_overcooked import plugins, registry
from collab_overcooked.io.checks import near_matches, quote_value

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
        games: Ids of the games that a custom set is for; every game if empty.
        outcome: Returns how well an episode went, from 0 to 1, for a record with its metrics; None for its success.
        progress: The same for an episode that is still running; None for ``outcome``.
    """

    metrics: tuple[Metric, ...]
    measure: Callable[[Record], dict[str, Any]]
    games: tuple[str, ...] = ()
    outcome: Callable[[Record], float] | None = None
    progress: Callable[[Record], float] | None = None


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
    entry = registry.find(env_id).metrics
    found: MetricSet = registry.load_entry(entry) if entry else MetricSet((), lambda record: {})
    return found


_custom: dict[str, MetricSet] = {}  # by the names of their metrics


def register_metric(metric: Metric, measure: Callable[[Record], Any], games: Sequence[str] = ()) -> None:
    """Add a custom metric; registering its name again replaces it.

    A metric of the game at hand that has the same name takes precedence.

    Args:
        metric: Name, meaning and unit.
        measure: Returns the value for an episode's record: a number, one for each seat, or None where there is none.
        games: Ids of the games that it is for; every game if empty.

    Raises:
        ValueError: If every game has a metric of this name already, or the name is no identifier.
    """
    register_metrics(MetricSet((metric,), lambda record: {metric.name: measure(record)}, tuple(games)))


def register_metrics(custom: MetricSet) -> None:
    """Add custom metrics that are computed together; otherwise as `register_metric`.

    Raises:
        ValueError: As `register_metric`; none of them is added then.
    """
    built_in = {metric.name for metric in ANY_GAME.metrics}
    for metric in custom.metrics:
        if not metric.name.isidentifier():
            raise ValueError(
                f"name of a metric must be letters, digits and underscores, not {quote_value(metric.name)}"
            )
        if metric.name in built_in:
            raise ValueError(f"metric {metric.name!r} is a metric of every game; choose another name")
    _custom.update({metric.name: custom for metric in custom.metrics})


def custom_metrics() -> dict[str, MetricSet]:
    """Return the sets of custom metrics by the names of the metrics, those of installed plug-ins too."""
    plugins.load(plugins.METRICS, _register_plugin)
    return _custom


def _register_plugin(name: str, found: Any) -> None:
    if not isinstance(found, MetricSet):
        raise ValueError(f"must be a MetricSet, not {quote_value(found)}")
    register_metrics(found)


def metrics_of(env_id: str) -> dict[str, Metric]:
    """Return all metrics of a game by name: those of every game, then its own, then custom ones.

    Raises:
        ValueError: For an unknown id.
    """
    game_id = registry.find(env_id).id
    own = {metric.name: metric for metric in (*ANY_GAME.metrics, *game_metrics(env_id).metrics)}
    custom = {
        name: next(metric for metric in found.metrics if metric.name == name)
        for name, found in custom_metrics().items()
        if not found.games or game_id in found.games
    }
    return own | {name: metric for name, metric in custom.items() if name not in own}


def measure(record: Record, names: Sequence[str]) -> dict[str, Any]:
    """Return metrics of one episode by name; a number, one for each seat, or None where there is none.

    Args:
        record: Episode record.
        names: Metrics of its game or of every game, or custom ones.

    Raises:
        ValueError: For a metric that the game does not have; the message lists near matches.
    """
    known = metrics_of(record["env_id"])
    for name in names:
        if name not in known:
            raise ValueError(near_matches("metric", name, known))
    values = measure_any_game(record)
    if not set(names) <= set(values):
        values = game_metrics(record["env_id"]).measure(record) | values
    for name in names:
        if name not in values:
            values = _measure_custom(name, record) | values
    return {name: values[name] for name in names}


def _measure_custom(name: str, record: Record) -> dict[str, Any]:
    """Return the values of the set of a custom metric; a set that fails has none, and gives a warning."""
    custom = _custom[name]
    missing = dict.fromkeys(metric.name for metric in custom.metrics)
    try:
        return missing | custom.measure(record)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(f"metric {name!r} cannot be computed: {reason}", plugins.PluginWarning, stacklevel=3)
        return missing
