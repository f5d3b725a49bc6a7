"""Tables of paired differences between teams or runs that played the same episodes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.metrics.paired import PairedDifference, paired_difference
from collab_overcooked.metrics.registry import measure
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.runner.env_variants import axis_values

Key = tuple[str, int, int, str]  # task, number and seed of an episode, and what else tells it from others


def paired_differences(played: Mapping[str, Sequence[EpisodeRecord]]) -> dict[str, PairedDifference]:
    """Compare the first team or run with each later one on shared episodes.

    Args:
        played: Name -> records of one game.

    Returns:
        Difference from the first by name, in ``score_metric``; names without shared episodes are missing.
    """
    score = _score_of(played)
    values = {name: episode_values(records, score) for name, records in played.items()}
    first, *others = values
    differences = {}
    for name in others:
        shared: dict[str, list[tuple[float, float]]] = {}
        for key in values[first].keys() & values[name].keys():
            shared.setdefault(key[0], []).append((values[first][key], values[name][key]))
        difference = paired_difference([sorted(pairs) for _, pairs in sorted(shared.items())])
        if difference is not None:
            differences[name] = difference
    return differences


def difference_table(played: Mapping[str, Sequence[EpisodeRecord]]) -> ResultTable | None:
    """Return ``paired_differences`` as a table.

    Args:
        played: Name -> records of one game.

    Returns:
        Mean differences with intervals, and counts with the p value of the sign test; None without shared episodes.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, difference in paired_differences(played).items():
        pairs = difference.higher + difference.equal + difference.lower
        rows.append((name, pairs, difference.mean, difference.higher, difference.equal, difference.lower, difference.p))
    if not rows:
        return None
    heads = ("episodes", "difference", "higher", "equal", "lower", "p")
    columns = (Column(f"{next(iter(played))} less"), *(Column(head, *_FORMS[head]) for head in heads))
    title = f"Paired differences of {_score_of(played)}, on the episodes that both played"
    return ResultTable(columns, tuple(rows), title)


def _score_of(played: Mapping[str, Sequence[EpisodeRecord]]) -> str:
    return score_metric(next(record for records in played.values() for record in records))


_FORMS: Mapping[str, Any] = {
    "episodes": ("number",),
    "difference": ("estimate", 2),
    "higher": ("number",),
    "equal": ("number",),
    "lower": ("number",),
    "p": ("number", 4),
}
NOTE = (
    "Paired differences: the first minus the other on episodes of the same task, number and seed; 95 % interval of a "
    "bootstrap over pairs, p of the two-sided sign test, not corrected for the number of comparisons."
)


def score_metric(record: EpisodeRecord) -> str:
    """Return the name of the metric by which a record's suite compares teams."""
    return str(registry.suite_of(record).score_metric)


def episode_values(records: Sequence[EpisodeRecord], metric: str) -> dict[Key, float]:
    """Return a metric for each episode; metrics with one value per seat are averaged over seats.

    Returns:
        (task, episode number, seed, JSON) -> value. The JSON has options, which distinguish tasks whose files share a
        name, and suite and part, as a question about a task is not a game of it.
    """
    values = {}
    for record in records:
        value = measure(record, [metric])[metric]
        if isinstance(value, list):
            known = [number for number in value if number is not None]
            value = sum(known) / len(known) if known else None
        if value is not None:
            options = record.env_kwargs if record.suite else axis_values(record)
            kind = json.dumps([options, record.suite_name, record.part], sort_keys=True)
            values[record.task, record.episode, record.seed, kind] = float(value)
    return values
