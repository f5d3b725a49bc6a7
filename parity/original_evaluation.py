"""Scores of recorded cases and calls of the original's evaluation, under the names that it gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.games.collab_overcooked.suite.collaboration import (
    CollaborationEvent,
    CollaborationRun,
    PlanConversation,
    PlanMessage,
    References,
    Vocabularies,
    collaboration_events,
)
from collab_overcooked.games.collab_overcooked.suite.run_scores import CollabRow, Episode, score_run
from collab_overcooked.metrics.trajectory import BETA, ites, tes


def references_by_agent(
    trajectories: Sequence[Mapping[str, Any]], agents: int = 2
) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Turn reference trajectories, each with one list per agent, into the form that the metrics read.

    Args:
        trajectories: Per reference a mapping with the keys ``agent_0``, ``agent_1``, ...; it may have
            others.
        agents: Number of agents.
    """
    for i, trajectory in enumerate(trajectories):
        for k in range(agents):
            if not trajectory.get(f"agent_{k}"):
                raise ValueError(f"references[{i}].agent_{k}: is missing or empty; each agent needs actions")
    return tuple(tuple(tuple(t[f"agent_{k}"]) for t in trajectories) for k in range(agents))


def runs_of_case(case: Mapping[str, Any]) -> list[CollaborationRun]:
    """Return the runs of a case, whose ``logs`` are mappings with success, last_t, history and events."""
    runs = []
    for log in case["logs"]:
        history = log["history"]
        by_agent = [history[str(k)] for k in range(len(history))] if isinstance(history, Mapping) else history
        actions = tuple(tuple((entry["timestamp"], entry["action"]) for entry in own) for own in by_agent)
        talks = [
            PlanConversation(
                event["t"], tuple(PlanMessage(said["agent"], said["say"], said["plan"]) for said in event["messages"])
            )
            for event in log["events"]
        ]
        runs.append(CollaborationRun(actions, tuple(talks), log["success"], log["last_t"] + 1))
    return runs


def score_original_case(case: Mapping[str, Any], references: References, vocabularies: Vocabularies) -> dict[str, Any]:
    """Score a case and return the numbers under the names that the original's evaluation gives them.

    Source: the original's ``Evaluation.evaluate()``. ``redundancy`` is what we call efficiency, ``time_avg``
    counts the 0-based index of the last step, and ``process_result`` lacks runs without events, all as there.

    Returns:
        Mapping with ``task``, ``error`` (None), ``events`` and ``expected``, comparable field by field.
    """
    runs = runs_of_case(case)
    per_run = [collaboration_events(run, references, vocabularies) for run in runs]
    events = [event for own in per_run for event in own]
    scored = [score_run(run, references, vocabularies) for run in runs]
    row = CollabRow("", {"": scored})
    pooled = {name: row.value(name) for name in ("ic", "rc", "success_rate")}
    values = {name: estimate.value for name, estimate in pooled.items() if estimate is not None}
    expected: dict[str, Any] = {
        "IC": values["ic"],
        "RC": values["rc"],
        "confusion_matrix": _confusion_matrix(events),
        "process_result": _process_result(per_run),
    }
    agents = range(len(references))
    expected |= {f"agent_{k}": _agent_means(scored, k) for k in agents}
    times = [run.timesteps - 1 for run in runs if run.success]
    expected["success_rate"] = values["success_rate"]
    expected["time_avg"] = sum(times) / len(times) if times else 0
    expected["time_std"] = float(np.std(times)) if times else 0
    expected["per_log"] = {
        f"agent_{k}": [
            {
                "max_f1": episode["tes"][k],
                "corresponding_similarity": episode["completeness"][k],
                "corresponding_redundancy": episode["efficiency"][k],
            }
            for episode in scored
        ]
        for k in agents
    }
    return {"task": case.get("task"), "error": None, "events": list(map(_event_fields, events)), "expected": expected}


def score_original_tes_row(row: Mapping[str, Any], beta: float = BETA) -> dict[str, float]:
    """Score a recorded call of the original's ``tes()``: one history against one reference.

    Returns:
        tp (D/m), ea (D/n) and f1 (TES).
    """
    score = tes(row["history"], [row["reference"]], beta)
    return {"tp": score.completeness, "ea": score.efficiency, "f1": score.value}


def score_original_max_row(row: Mapping[str, Any], references: References, beta: float = BETA) -> dict[str, float]:
    """Score a recorded maximum over the references of a task.

    Returns:
        tp, ea and f1 of the best reference.
    """
    score = tes(row["history"], references[row["agent"]], beta)
    return {"tp": score.completeness, "ea": score.efficiency, "f1": score.value}


def score_original_ites_row(row: Mapping[str, Any], references: References, beta: float = BETA) -> dict[str, float]:
    """Score a recorded call of the original's ``ites()``.

    Returns:
        ites, tes_before and tes_after.
    """
    own = references[row["agent"]]
    return {
        "ites": ites(row["history"], row["added"], own, beta),
        "tes_before": tes(row["history"], own, beta).value,
        "tes_after": tes([*row["history"], *row["added"]], own, beta).value,
    }


def _process_result(per_run: Sequence[Sequence[CollaborationEvent]]) -> list[list[int]]:
    """Return the codes of events by run, as the original shifts them (deviation M6).

    It begins with one empty list and starts another whenever the run's number changes, from 0: runs without events have
    none, but for the first one, whose empty list stays in front.
    """
    codes = [[event.code for event in own] for own in per_run]
    return [*(codes[:1] or [[]]), *filter(None, codes[1:])]


def _event_fields(event: CollaborationEvent) -> dict[str, Any]:
    """Return an event under the names of the original."""
    lists = {"H": list(event.history), "R": list(event.requested), "R_hat": list(event.response)}
    return {"responder": event.responder, **lists, "c_1": event.c1, "c_2": event.c2, "c_3": event.c3}


def _agent_means(scored: Sequence[Episode], k: int) -> dict[str, float]:
    """Return means and population deviations of an agent's scores over the runs of a task."""
    columns = {"f1": "tes", "similarity": "completeness", "redundancy": "efficiency"}
    values = {theirs: np.array([episode[ours][k] for episode in scored]) for theirs, ours in columns.items()}
    means = {f"mean_{name}": float(own.mean()) for name, own in values.items()}
    return means | {f"std_{name}": float(own.std()) for name, own in values.items()}


def _confusion_matrix(events: Sequence[CollaborationEvent]) -> list[list[list[int]]]:
    """Count events by sign of c2 (above, equal, below 0), failed response and failed initiation."""
    table = [[[0, 0], [0, 0]] for _ in range(3)]
    for event in events:
        sign = 0 if event.c2 > 0 else (1 if event.c2 == 0 else 2)
        table[sign][not event.responded][not event.initiated] += 1
    return table
