"""Result tables of plan-search studies run by ``evaluation.plan_study``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Column, ResultTable

COSTS = ("looks", "searches", "plans", "calls", "characters", "depth")


def study_table(game: str, study: Mapping[str, Any]) -> ResultTable:
    """Return scores, differences to the first method on the same scenes, and costs."""
    scale, first = study["scale"], next(iter(study["ways"]))
    heads = (
        Column("Team"),
        Column(study["heading"], "estimate", 1, scale=scale),
        Column(f"more than {first}", "estimate", 1, scale=scale),
        Column("verdict"),
        *(Column(name, "number", 1) for name in COSTS),
    )
    rows = []
    for way, result in study["ways"].items():
        costs = [None if result[name] is None else float(result[name]) for name in COSTS]
        rows.append((way, _estimate(result["score"]), _estimate(result["difference"]), verdict(study, result), *costs))
    return ResultTable(heads, tuple(rows), game)


def verdict(study: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Return whether a method is better or worse than the first one, judged by the interval of the difference."""
    difference = result["difference"]
    if difference is None or difference["low"] is None:
        return ""
    if difference["low"] <= 0 <= difference["high"]:
        return "no difference shown"
    return "better" if (difference["value"] > 0) == (study["better"] == "higher") else "worse"


def _estimate(ends: Mapping[str, Any] | None) -> Estimate | None:
    return None if ends is None else Estimate(ends["value"], ends["low"], ends["high"])
