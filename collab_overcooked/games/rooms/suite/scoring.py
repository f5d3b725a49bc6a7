"""Scores of the room games' records by setting: success, turns, and turns as the original counts them."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, pstdev
from typing import Any

from collab_overcooked.evaluation.episode_suite import SettingRow
from collab_overcooked.io import schema
from collab_overcooked.io.schema import object_of, optional
from collab_overcooked.metrics.intervals import Estimate, mean_of_shares
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.runner.record_schema import RecordFields

FAILURE_PRINTED = 35  # turns that the original prints if the thief got away after 30; its averages use 30
AXES = ("preset", "map", "adversary")

RECORD_FIELDS = RecordFields(
    event=object_of(
        {
            "event": schema.name,
            "reason": schema.name,
            "room": schema.name,
            "adversary": schema.name,
            "subject": optional(schema.name),
            "caught": schema.boolean,
            "completed": schema.boolean,
            "escaped": schema.boolean,
            "label": schema.text,
        }
    )
)


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``turns`` (the time limit if the episode was truncated), ``success_turns`` (None without success),
        ``turns_left`` (at success, else 0), ``lost`` (1.0 if a capture by the killer ended it), ``repairs`` (generators
        repaired), ``presses`` and ``fixes`` of each seat.
    """
    steps, seats = record["steps"], range(len(record["team"]))
    turns, success = record["timesteps"], bool(record["success"])
    return {
        "turns": turns,
        "success_turns": turns if success else None,
        "turns_left": record["max_cycles"] - turns if success else 0,
        "lost": float(not success and turns < record["max_cycles"]),
        "repairs": sum(event["completed"] for step in steps for event in step["events"]),
        "presses": [sum(step["events"][seat]["event"] == "pressed" for step in steps) for seat in seats],
        "fixes": [sum(step["events"][seat]["event"] == "fixed" for step in steps) for seat in seats],
    }


METRICS = MetricSet(
    (
        Metric("turns", "Turns of an episode; the time limit if it was truncated.", "turns", "lower"),
        Metric("success_turns", "Turns of a successful episode.", "turns", "lower"),
        Metric("turns_left", "Turns left at success, 0 without success.", "turns", "higher"),
        Metric("lost", "Share of episodes that a capture by the killer ended.", better="lower"),
        Metric("repairs", "Generators repaired.", "generators", "higher"),
        Metric("presses", "Buttons pressed by each player.", "presses"),
        Metric("fixes", "Turns that each player worked on a generator.", "turns"),
    ),
    score_record,
)


def rate(row: SettingRow) -> Estimate:
    """Return the share of successes with Wilson's 95 % interval."""
    return mean_of_shares([row.values("success").count(1.0)], [len(row.records)])


def as_published(row: SettingRow, failure: int | None = None) -> str:
    """Return mean and standard error (ddof 0) of all episodes' turns, as the original's scripts write them.

    Args:
        row: Episodes of a setting.
        failure: Turns that a truncated episode counts; None for the turns that it had.
    """
    turns = [
        record["timesteps"]
        if failure is None or record["success"] or record["timesteps"] < row.records[0]["max_cycles"]
        else failure
        for record in row.records
    ]
    return f"{fmean(turns):.2f} ± {pstdev(turns) / len(turns) ** 0.5:.2f}"
