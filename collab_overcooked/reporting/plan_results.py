"""Tables of studies of plan search, from the numbers that ``evaluation.plan_study`` keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Column, ResultTable

COSTS = ("looks", "searches", "plans", "calls", "characters", "depth")


def study_table(game: str, study: Mapping[str, Any]) -> ResultTable:
    """Return scores with their differences to the first way on the same scenes, and what they cost."""
    scale, first = study["scale"], next(iter(study["ways"]))
    heads = (
        Column("Team"),
        Column(study["heading"], "estimate", 1, scale=scale),
        Column(f"more than {first}", "estimate", 1, scale=scale),
        Column("verdict"),
        *(Column(name, "number", 1) for name in COSTS),
    )
    rows = []
    for way, own in study["ways"].items():
        costs = [None if own[name] is None else float(own[name]) for name in COSTS]
        rows.append((way, _estimate(own["score"]), _estimate(own["difference"]), verdict(study, own), *costs))
    return ResultTable(heads, tuple(rows), game)


def verdict(study: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Say whether a way is better or worse than the first one, as far as the interval tells."""
    difference = own["difference"]
    if difference is None or difference["low"] is None:
        return ""
    if difference["low"] <= 0 <= difference["high"]:
        return "no difference shown"
    return "better" if (difference["value"] > 0) == (study["better"] == "higher") else "worse"


def _estimate(ends: Mapping[str, Any] | None) -> Estimate | None:
    return None if ends is None else Estimate(ends["value"], ends["low"], ends["high"])
