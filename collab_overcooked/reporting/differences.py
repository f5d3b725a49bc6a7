"""Tables of the differences between teams, or runs, that played the same episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked import registry
from collab_overcooked.metrics.paired import paired_difference
from collab_overcooked.metrics.registry import measure
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable

Record = Mapping[str, Any]
Key = tuple[str, int, int]


def difference_table(played: Mapping[str, Sequence[Record]]) -> ResultTable | None:
    """Compare the first of several teams or runs with each of the others, on the episodes that both played.

    Args:
        played: Records of one game by name.

    Returns:
        Mean differences with intervals, and counts with the p value of the sign test; None if nobody shares an episode.
    """
    values = {name: _values(records) for name, records in played.items()}
    first, *others = values
    rows: list[tuple[Cell, ...]] = []
    for name in others:
        shared: dict[str, list[tuple[float, float]]] = {}
        for key in values[first].keys() & values[name].keys():
            shared.setdefault(key[0], []).append((values[first][key], values[name][key]))
        found = paired_difference([sorted(pairs) for _, pairs in sorted(shared.items())])
        if found is not None:
            pairs = found.higher + found.equal + found.lower
            rows.append((name, pairs, found.mean, found.higher, found.equal, found.lower, found.p))
    if not rows:
        return None
    heads = ("episodes", "difference", "higher", "equal", "lower", "p")
    columns = (Column(f"{first} less"), *(Column(head, *_FORMS[head]) for head in heads))
    score = _score_of(next(record for records in played.values() for record in records))
    return ResultTable(columns, tuple(rows), f"Paired differences of {score}, on the episodes that both played")


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


def _score_of(record: Record) -> str:
    return str(registry.suite_of(record).score_metric)


def _values(records: Sequence[Record]) -> dict[Key, float]:
    """Return the game's score of each episode by task, number and seed."""
    found = {}
    for record in records:
        value = measure(record, [_score_of(record)])[_score_of(record)]
        if value is not None:
            found[record["task"], record["episode"], record["seed"]] = float(value)
    return found
