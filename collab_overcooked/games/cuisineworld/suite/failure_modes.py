"""Failure modes of teams at CuisineWorld, which the MindAgent paper names (appendix E.5), counted from records.

The paper describes them informally; the definitions here are our reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

SHARED = ("storage", "servingtable")  # tools at which agents do not get in each other's way


@dataclass(frozen=True, slots=True)
class FailureModes:
    """Counts over some episodes."""

    passed_over: int = 0  # Orders lost while one with more time left was served: the most urgent one was ignored
    occupied: int = 0  # Commands refused because a tool was at work: the agent did not wait for it
    # Agents sent to a tool to which another agent was sent in the same step: goals were badly allocated
    crowded: int = 0

    def __add__(self, other: FailureModes) -> FailureModes:
        """Add the counts of further episodes."""
        return FailureModes(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def failure_modes(record: Mapping[str, Any]) -> FailureModes:
    """Count the failure modes of one episode."""
    steps = record["steps"]
    errors = [error["code"] for step in steps for error in step["errors"]]
    return FailureModes(
        _passed_over(step["orders"] for step in steps),
        sum("OCCUPIED" in code for code in errors),
        sum(_crowded(step["events"]) for step in steps),
    )


def _crowded(events: Sequence[Mapping[str, Any] | None]) -> int:
    goals = Counter(event["place"] for event in events if event is not None and event["event"] == "GOTO")
    return sum(count - 1 for place, count in goals.items() if not place.startswith(SHARED))


def _passed_over(steps: Iterable[Mapping[str, Any]]) -> int:
    lost = 0
    waiting: list[tuple[str, int, bool]] = []  # name, remaining steps, passed over
    for step in steps:
        for name in step["completed"]:
            served = next((order for order in waiting if order[0] == name), None)
            if served is not None:
                waiting.remove(served)
                waiting = [(n, left, passed or left < served[1]) for n, left, passed in waiting]
        for name in step["expired"]:
            gone = next((order for order in waiting if order[0] == name and order[1] == 0), None)
            if gone is not None:
                waiting.remove(gone)
                lost += gone[2]
        before = [(name, left - 1, passed) for name, left, passed in waiting]
        waiting = []
        for name, left in step["open"]:
            if left is None:
                continue
            known = next((order for order in before if order[:2] == (name, left)), (name, left, False))
            if known in before:
                before.remove(known)
            waiting.append(known)
    return lost
