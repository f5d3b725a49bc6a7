"""Scores of records of the household games: steps, transport rates, efficiency, messages and their characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from collab_overcooked.io import schema
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.runner.record_schema import RecordFields

RECORD_FIELDS = RecordFields(
    event=schema.optional(
        schema.object_of(
            {
                **dict.fromkeys(("event", "reason", "label", "ended"), schema.text),
                **dict.fromkeys(("ticks", "saw", "delivered", "said"), schema.integer()),
            }
        )
    ),
    record={"family": schema.name, "wanted": schema.integer(1), "goal": schema.mapping_of(schema.integer(1))},
)
FRAMES = (500, 1000, 2000, 3000)  # at which published transport rates are known


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``ticks`` (steps or frames), ``wanted`` and ``brought`` things, ``rate`` (their quotient), ``rate_500`` and so
        on (by frame), ``words`` (messages), ``characters``, ``talk_ticks`` (spent on messages) and by agent
        ``delivered`` and ``failures``.
    """
    seats = range(len(record["team"]))
    delivered, failures, brought, ticks, talk = [0 for _ in seats], [0 for _ in seats], 0, 0, 0
    by_frame = dict.fromkeys(FRAMES, 0)
    total = record["wanted"]
    for step in record["steps"]:
        events = [event for event in step["events"] if event is not None]
        ticks += max((event["ticks"] for event in events), default=0)
        brought += round(step["rewards"][0])
        by_frame |= {frame: brought for frame in FRAMES if ticks <= frame}
        talk += sum(event["said"] for event in events)
        for seat, event in enumerate(step["events"]):
            delivered[seat] += event["delivered"] if event else 0
            failures[seat] += event["ended"] == "failed" if event else 0
    by_frame |= {frame: brought for frame in FRAMES if ticks <= frame}
    messages = [message["say"] for step in record["steps"] for message in step["messages"] if message["say"]]
    return {
        "ticks": ticks,
        "wanted": total,
        "brought": brought,
        "rate": brought / total,
        **{f"rate_{frame}": count / total for frame, count in by_frame.items()},
        "words": len(messages),
        "characters": sum(map(len, messages)),
        "talk_ticks": talk,
        "delivered": delivered,
        "failures": failures,
    }


METRICS = MetricSet(
    (
        Metric("ticks", "Steps of Housework, frames of Transport.", "ticks", "lower"),
        Metric("wanted", "Things needed for the goal.", "things"),
        Metric("brought", "Needed things brought to the goal place.", "things", "higher"),
        Metric("rate", "Transport rate: brought things divided by needed things.", better="higher"),
        *(Metric(f"rate_{frame}", f"Transport rate after {frame} ticks.", better="higher") for frame in FRAMES),
        Metric("words", "Messages with text.", "messages"),
        Metric("characters", "Characters of all messages.", "characters"),
        Metric("talk_ticks", "Actions spent on messages.", "actions", "lower"),
        Metric("delivered", "Needed things that each agent put down at the goal place.", "things", "higher"),
        Metric("failures", "Failed actions of each agent.", "actions", "lower"),
    ),
    score_record,
    outcome=lambda record: record["metrics"]["rate"],
)


def step_improvement(single: Sequence[float], team: Sequence[float]) -> Estimate | None:
    """Return the efficiency improvement of steps: the mean over tasks of (single - team) / single (CoELA, C-WAH).

    Args:
        single: Steps of one agent alone, by task.
        team: Steps of the team in the same tasks.
    """
    return mean_ci([(alone - joint) / alone for alone, joint in zip(single, team, strict=True) if alone > 0])


def rate_improvement(single: Sequence[float], team: Sequence[float]) -> Estimate | None:
    """Return the efficiency improvement of rates: the mean over tasks of (team - single) / team (CoELA, TDW-MAT)."""
    return mean_ci([(joint - alone) / joint for alone, joint in zip(single, team, strict=True) if joint > 0])


@cache
def published() -> Mapping[str, Any]:
    """Read the published numbers by suite; they were measured in other simulators."""
    return read_shipped_yaml("games/house/suite/published.yaml")
