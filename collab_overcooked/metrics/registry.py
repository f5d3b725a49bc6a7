"""Registry of metrics: names, descriptions, units, and functions that compute them from one episode's record.

Metrics of every game are computed here; those of one game are registered by ``registry.GameSpec.metrics``. Others
come from plug-ins and `register_metric`; they are computed from records on display and never stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from collab_overcooked import plugins, registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.io.checks import near_matches, quote_value


@dataclass(frozen=True)
class Metric:
    """Description of a metric.

    Attributes:
        name: Name on the command line and in records.
        meaning: Description in one line.
        unit: Unit; empty for a share or a score.
        better: ``"higher"`` or ``"lower"``; empty if neither is better.
    """

    name: str
    meaning: str
    unit: str = ""
    better: Literal["higher", "lower", ""] = ""


@dataclass(frozen=True)
class MetricSet:
    """Metrics that are computed together.

    Attributes:
        metrics: Descriptions of the metrics.
        measure: Function from a record to values by name: a number, a list with one per seat, or None if undefined.
        games: Ids of the games of a custom set; every game if empty.
        outcome: Function from a record with metrics to its outcome from 0 to 1; None for its success.
        progress: The same for a running episode; None for ``outcome``.
    """

    metrics: tuple[Metric, ...]
    measure: Callable[[Any], dict[str, Any]]
    games: tuple[str, ...] = ()
    outcome: Callable[[Any], float] | None = None
    progress: Callable[[Any], float] | None = None


def episode_return(rewards: Sequence[Sequence[float]]) -> float:
    """Return the sum of an episode's rewards, the mean over seats, from the rewards of each step by seat."""
    return float(np.sum(rewards, axis=0).mean())


def measure_any_game(record: EpisodeRecord) -> dict[str, Any]:
    """Compute the metrics of every game from a record."""
    steps, decisions = record.steps, record.decisions.values()
    count = sum(number for number, _ in decisions)
    seconds = sum(seconds for _, seconds in decisions)
    return {
        "success": float(record.success),
        "steps": record.timesteps,
        "return": episode_return([step.rewards for step in steps]),
        "messages": sum(len(step.messages) for step in steps),
        "tokens": sum(tokens or 0 for step in steps for tokens in step.tokens),
        "decision_ms": 1000.0 * seconds / count if count else None,
    }


ANY_GAME = MetricSet(
    (
        Metric("success", "Share of episodes that reached the game's goal.", better="higher"),
        Metric("steps", "Environment steps of an episode.", "steps"),
        Metric("return", "Sum of the rewards of an episode, the mean over seats.", better="higher"),
        Metric("messages", "Messages that agents exchanged in an episode.", "messages"),
        Metric("tokens", "Tokens of language models in an episode, all seats together.", "tokens", "lower"),
        Metric("decision_ms", "Time per decision, if measured (compare).", "ms", "lower"),
    ),
    measure_any_game,
)


def game_metrics(env_id: str) -> MetricSet:
    """Return the metrics of one game."""
    entry = registry.find(env_id).metrics
    metric_set: MetricSet = registry.load_entry(entry) if entry else MetricSet((), lambda record: {})
    return metric_set


_custom: dict[str, MetricSet] = {}  # by the names of their metrics


def register_metric(metric: Metric, measure: Callable[[EpisodeRecord], Any], games: Sequence[str] = ()) -> None:
    """Add a custom metric; registering its name again replaces it.

    A built-in metric of a game takes precedence over a custom one of the same name.

    Args:
        metric: Name, description and unit.
        measure: Function from an episode's record to a number, a list with one per seat, or None if undefined.
        games: Ids of the games that the metric applies to; every game if empty.

    Raises:
        ValueError: If the name is that of a metric of every game, or not an identifier.
    """
    register_metrics(MetricSet((metric,), lambda record: {metric.name: measure(record)}, tuple(games)))


def register_metrics(custom: MetricSet) -> None:
    """Add custom metrics that are computed together; see `register_metric`.

    Raises:
        ValueError: A name is invalid or taken.
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
    """Return the custom metrics by name, including metrics of installed plug-ins."""
    plugins.load(plugins.METRICS, _register_plugin)
    return _custom


def _register_plugin(name: str, metric_set: Any) -> None:
    if not isinstance(metric_set, MetricSet):
        raise ValueError(f"must be a MetricSet, not {quote_value(metric_set)}")
    register_metrics(metric_set)


def metrics_of(env_id: str) -> dict[str, Metric]:
    """Return all metrics of a game by name: common metrics, metrics of the game, then custom ones."""
    game_id = registry.find(env_id).id
    built_in = {metric.name: metric for metric in (*ANY_GAME.metrics, *game_metrics(env_id).metrics)}
    custom = {
        name: next(metric for metric in metric_set.metrics if metric.name == name)
        for name, metric_set in custom_metrics().items()
        if not metric_set.games or game_id in metric_set.games
    }
    return built_in | {name: metric for name, metric in custom.items() if name not in built_in}


def tabulated(record: EpisodeRecord) -> list[str]:
    """Return the metrics that tables of records show; ``success`` only in suites whose episodes can succeed.

    Answers to questions have only ``success``, as no game is played.
    """
    if record.suite:
        return ["success"]
    can_succeed = registry.suite_of(record).has_success
    return [name for name in metrics_of(record.env_id) if name != "success" or can_succeed]


def measure(record: EpisodeRecord, names: Sequence[str]) -> dict[str, Any]:
    """Return metrics of one episode by name: a number, a list with one per seat, or None if undefined.

    Args:
        record: Episode record.
        names: Metrics of its game, of every game, or custom ones.

    Raises:
        ValueError: A metric is unknown.
    """
    known = metrics_of(record.env_id)
    for name in names:
        if name not in known:
            raise ValueError(near_matches("metric", name, known))
    values = measure_any_game(record)
    if not set(names) <= set(values):
        of_game = game_metrics(record.env_id)
        undefined: dict[str, Any] = dict.fromkeys(metric.name for metric in of_game.metrics)
        values = undefined | of_game.measure(record) | values
    for name in names:
        if name not in values:
            values = _measure_custom(name, record) | values
    return {name: values[name] for name in names}


def measure_numbers(record: EpisodeRecord, names: Sequence[str]) -> dict[str, float | None]:
    """Return numeric metrics, None if undefined; metrics with one value per seat become ``NAME_0``, ``NAME_1``, .."""
    numbers: dict[str, float | None] = {}
    for name, value in measure(record, names).items():
        values = {f"{name}_{seat}": one for seat, one in enumerate(value)} if isinstance(value, list) else {name: value}
        numbers |= {key: one for key, one in values.items() if one is None or isinstance(one, (int, float))}
    return numbers


def _measure_custom(name: str, record: EpisodeRecord) -> dict[str, Any]:
    custom = _custom[name]
    missing = dict.fromkeys(metric.name for metric in custom.metrics)
    try:
        return missing | custom.measure(record)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        warnings.warn(f"metric {name!r} cannot be computed: {reason}", plugins.PluginWarning, stacklevel=3)
        return missing
