"""Importer of the original project's experiment logs, and its time limit.

Two forms are read: the JSON file that the original writes per run, and the bundle of synthetic cases with
the original evaluation's results, which a parity check compares with ``score_original_case``.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked.games.collab_overcooked.metrics.collaboration import (
    CollaborationEvent,
    Conversation,
    Logged,
    Message,
    References,
    Run,
    collaboration_events,
)
from collab_overcooked.games.collab_overcooked.metrics.scores import TaskScore, score_task
from collab_overcooked.games.collab_overcooked.metrics.vocabulary import Vocabularies
from collab_overcooked.metrics.trajectory import BETA, ites, tes

GAMMA = 1.5
"""The paper's factor between the reference time and the time limit."""


class LogError(ValueError):
    """A log cannot be used; the message names the file and the field."""


def time_limit(reference_time: int, gamma: float = GAMMA) -> int:
    """Return the limit floor(γ·T*) in timesteps.

    Source: the original's time-limit script, T* = 16, 23, 35, 32, 55, 64 for the levels 1 to 6.

    Args:
        reference_time: T* of the level.
        gamma: Factor, positive.

    Returns:
        24, 34, 52, 48, 82 and 96 for the paper's constants.
    """
    return math.floor(gamma * reference_time)


def apply_time_limit(run: Run, limit: int) -> Run:
    """Judge a run by the time limit, as the original does after the run.

    Source: the original's time-limit script. A delivery in the step of 0-based index ``limit`` or earlier is
    a success, which is one step more than ``limit`` steps. Every other run failed and is cut: it keeps the
    steps 0 to limit − 1 and the actions with a timestamp below ``limit``, which loses up to two more labels.

    Args:
        run: The whole run.
        limit: Result of ``time_limit``.

    Returns:
        The same run if it succeeded in time, else the cut one with ``success=False``.
    """
    if run.success and run.timesteps - 1 <= limit:
        return run
    return Run(
        history=tuple(tuple(entry for entry in own if entry[0] < limit) for own in run.history),
        conversations=tuple(c for c in run.conversations if c.timestep < limit),
        success=False,
        timesteps=min(run.timesteps, limit),
    )


def original_run(log: Any, source: str = "log") -> Run:
    """Read one run from the decoded JSON of an original log file.

    Source: the log record of the original's main loop. Used fields: ``total_timestamp``,
    ``total_order_finished``, ``total_action_list`` and, per step, ``timestamp`` and ``content.content`` (per
    agent, the messages of the conversation that it opened).

    Args:
        log: The decoded JSON.
        source: Name of the file for error messages.

    Returns:
        The run without a time limit (see ``apply_time_limit``).

    Raises:
        LogError: A field is missing, has the wrong type, or the file holds several runs.
    """
    stamps = _list(_get(log, "total_timestamp", source, ""), source, "total_timestamp")
    last = -1
    for i, stamp in enumerate(stamps):
        if _int(stamp, source, f"total_timestamp[{i}]") <= last:
            raise LogError(
                f"{source}: total_timestamp[{i}]: {stamp} follows {last}, the file holds several runs; "
                "split it into one file per run"
            )
        last = stamp
    finished = _get(log, "total_order_finished", source, "")
    if not isinstance(finished, list | int):
        raise LogError(f"{source}: total_order_finished: got {finished!r:.60}, allowed is a list or a number")
    lists = _per_agent(_get(log, "total_action_list", source, ""), source, "total_action_list")
    history = tuple(_actions(own, source, f"total_action_list[{k}]") for k, own in enumerate(lists))
    steps = _list(_get(log, "content", source, ""), source, "content")
    conversations: list[Conversation] = []
    for i, step in enumerate(steps):
        conversations += _opened(step, len(history), source, f"content[{i}]")
    return Run(history, tuple(conversations), bool(finished), last + 1)


def read_original_log(path: str | Path) -> Run:
    """Read one log file of the original (JSON, optionally gzipped).

    Args:
        path: The file.

    Returns:
        The run without a time limit.

    Raises:
        LogError: The file is absent, truncated or malformed.
    """
    return original_run(_load(Path(path)), str(path))


def read_original_logs(folder: str | Path) -> list[Run]:
    """Read all log files of one folder: the original keeps one folder per model and order.

    Args:
        folder: The folder; its ``*.json`` and ``*.json.gz`` files are read in the order of their names, which
            carry date and time.

    Returns:
        The runs without a time limit.

    Raises:
        LogError: No such folder, no log in it, or a log that cannot be used.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise LogError(f"{folder}: no such folder")
    paths = sorted(path for path in folder.iterdir() if path.name.endswith((".json", ".json.gz")))
    if not paths:
        raise LogError(f"{folder}: holds no log, expected files ending in .json or .json.gz")
    return [read_original_log(path) for path in paths]


def read_original_cases(path: str | Path) -> list[dict[str, Any]]:
    """Read a bundle of synthetic logs with the original evaluation's results.

    Args:
        path: JSON file, optionally gzipped, with a list ``cases``.

    Returns:
        The cases, as decoded.

    Raises:
        LogError: The file is absent, truncated or malformed.
    """
    path = Path(path)
    cases = _list(_get(_load(path), "cases", str(path), ""), str(path), "cases")
    for i, case in enumerate(cases):
        for field in ("task", "logs"):
            _get(case, field, str(path), f"cases[{i}]")
    return cases


def runs_of_case(case: Mapping[str, Any], source: str = "case") -> list[Run]:
    """Read the runs of one case of a bundle.

    Args:
        case: Mapping with ``logs``, a list of {success, last_t, history, events}.
        source: Name for error messages.

    Returns:
        One run per log.

    Raises:
        LogError: A field is missing or has the wrong type.
    """
    runs = []
    for i, log in enumerate(_list(_get(case, "logs", source, ""), source, "logs")):
        where = f"logs[{i}]"
        lists = _per_agent(_get(log, "history", source, where), source, f"{where}.history")
        history = tuple(_actions(own, source, f"{where}.history[{k}]") for k, own in enumerate(lists))
        conversations = []
        for j, event in enumerate(_list(_get(log, "events", source, where), source, f"{where}.events")):
            at = f"{where}.events[{j}]"
            t = _int(_get(event, "t", source, at), source, f"{at}.t")
            messages = _get(event, "messages", source, at)
            conversations.append(_conversation(t, messages, len(history), source, f"{at}.messages"))
        success = _get(log, "success", source, where)
        if not isinstance(success, bool):
            raise LogError(f"{source}: {where}.success: got {success!r:.60}, allowed are true and false")
        last = _int(_get(log, "last_t", source, where), source, f"{where}.last_t")
        runs.append(Run(history, tuple(conversations), success, last + 1))
    return runs


def score_original_case(case: Mapping[str, Any], references: References, vocabularies: Vocabularies) -> dict[str, Any]:
    """Score a case and return the numbers under the names that the original's evaluation gives them.

    Source: the original's ``Evaluation.evaluate()``. ``redundancy`` is what we call efficiency, ``time_avg``
    counts the 0-based index of the last step, and ``process_result`` lacks runs without events, all as there.

    Args:
        case: One case of a bundle.
        references: Agent -> reference -> actions of the case's task.
        vocabularies: Seat -> known actions.

    Returns:
        Mapping with ``task``, ``error`` (None), ``events`` and ``expected``, comparable field by field.

    Raises:
        LogError: A field of the case is missing or has the wrong type.
    """
    runs = runs_of_case(case, str(case.get("task", "case")))
    per_run = [collaboration_events(run, references, vocabularies) for run in runs]
    events = [event for own in per_run for event in own]
    score = score_task(runs, references, vocabularies)
    expected: dict[str, Any] = {
        "IC": score.ic.value,
        "RC": score.rc.value,
        "confusion_matrix": _confusion_matrix(events),
        "process_result": _process_result(per_run),
    }
    agents = range(len(references))
    expected |= {f"agent_{k}": _agent_means(score, k) for k in agents}
    times = [run.timesteps - 1 for run in runs if run.success]
    expected["success_rate"] = score.success_rate.value
    expected["time_avg"] = sum(times) / len(times) if times else 0
    expected["time_std"] = score.timesteps_std if score.timesteps_std is not None else 0
    expected["per_log"] = {
        f"agent_{k}": [
            {
                "max_f1": run.tes[k],
                "corresponding_similarity": run.completeness[k],
                "corresponding_redundancy": run.efficiency[k],
            }
            for run in score.runs
        ]
        for k in agents
    }
    return {"task": case.get("task"), "error": None, "events": list(map(_event_fields, events)), "expected": expected}


def score_original_tes_row(row: Mapping[str, Any], beta: float = BETA) -> dict[str, float]:
    """Score a recorded call of the original's ``tes()``: one history against one reference.

    Args:
        row: Mapping with ``history`` and ``reference``.
        beta: Weight of the history's length.

    Returns:
        tp (D/m), ea (D/n) and f1 (TES).
    """
    score = tes(row["history"], [row["reference"]], beta)
    return {"tp": score.completeness, "ea": score.efficiency, "f1": score.value}


def score_original_max_row(row: Mapping[str, Any], references: References, beta: float = BETA) -> dict[str, float]:
    """Score a recorded maximum over the references of a task.

    Args:
        row: Mapping with ``history`` and ``agent`` (seat number).
        references: Agent -> reference -> actions of the row's task.
        beta: Weight of the history's length.

    Returns:
        tp, ea and f1 of the best reference.
    """
    score = tes(row["history"], references[row["agent"]], beta)
    return {"tp": score.completeness, "ea": score.efficiency, "f1": score.value}


def score_original_ites_row(row: Mapping[str, Any], references: References, beta: float = BETA) -> dict[str, float]:
    """Score a recorded call of the original's ``ites()``.

    Args:
        row: Mapping with ``history``, ``added`` and ``agent`` (seat number).
        references: Agent -> reference -> actions of the row's task.
        beta: Weight of the history's length.

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


def _agent_means(score: TaskScore, k: int) -> dict[str, float]:
    return {
        "mean_f1": score.tes[k].value,
        "mean_similarity": score.completeness[k],
        "mean_redundancy": score.efficiency[k],
        "std_f1": score.tes_std[k],
        "std_similarity": score.completeness_std[k],
        "std_redundancy": score.efficiency_std[k],
    }


def _confusion_matrix(events: Sequence[CollaborationEvent]) -> list[list[list[int]]]:
    """Count events by sign of c2 (above, equal, below 0), failed response and failed initiation."""
    table = [[[0, 0], [0, 0]] for _ in range(3)]
    for event in events:
        sign = 0 if event.c2 > 0 else (1 if event.c2 == 0 else 2)
        table[sign][not event.responded][not event.initiated] += 1
    return table


def _opened(step: Any, agents: int, source: str, where: str) -> list[Conversation]:
    """The conversations of one step of a log, the first agent's first."""
    t = _int(_get(step, "timestamp", source, where), source, f"{where}.timestamp")
    inner = f"{where}.content.content"
    block = _get(_get(step, "content", source, where), "content", source, f"{where}.content")
    talks = [
        _conversation(t, messages, agents, source, f"{inner}[{k}]")
        for k, messages in enumerate(_per_agent(block, source, inner))
    ]
    return [talk for talk in talks if talk.messages]


def _conversation(t: int, messages: Any, agents: int, source: str, where: str) -> Conversation:
    read = []
    for i, message in enumerate(_list(messages, source, where)):
        at = f"{where}[{i}]"
        agent = _int(_get(message, "agent", source, at), source, f"{at}.agent")
        if not 0 <= agent < agents:
            raise LogError(f"{source}: {at}.agent: got {agent}, allowed are 0 to {agents - 1}")
        texts = [_text(_get(message, field, source, at), source, f"{at}.{field}") for field in ("say", "plan")]
        read.append(Message(agent, texts[0], texts[1]))
    return Conversation(t, tuple(read))


def _actions(entries: Any, source: str, where: str) -> tuple[Logged, ...]:
    logged = []
    for i, entry in enumerate(_list(entries, source, where)):
        at = f"{where}[{i}]"
        stamp = _int(_get(entry, "timestamp", source, at), source, f"{at}.timestamp")
        logged.append((stamp, _text(_get(entry, "action", source, at), source, f"{at}.action")))
    return tuple(logged)


def _load(path: Path) -> Any:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            text = file.read()
    except EOFError as error:
        raise LogError(f"{path}: is truncated: {error}") from error
    except (OSError, UnicodeDecodeError, zlib.error) as error:
        raise LogError(f"{path}: cannot be read: {error}") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise LogError(
            f"{path}: is truncated or no JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        ) from error


def _get(mapping: Any, field: str, source: str, where: str) -> Any:
    if not isinstance(mapping, Mapping):
        raise LogError(f"{source}: {where or 'top level'}: an object is needed, got {type(mapping).__name__}")
    if field not in mapping:
        raise LogError(f"{source}: {where + '.' if where else ''}{field}: is missing")
    return mapping[field]


def _list(value: Any, source: str, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise LogError(f"{source}: {where}: a list is needed, got {type(value).__name__}")
    return value


def _per_agent(value: Any, source: str, where: str) -> list[Any]:
    """A list in agent order, or an object keyed by the agent's number."""
    if isinstance(value, Mapping):
        keys = [str(k) for k in range(len(value))]
        if set(value) != set(keys):
            raise LogError(f"{source}: {where}: got the keys {sorted(value)}, allowed are {keys}")
        value = [value[key] for key in keys]
    agents = _list(value, source, where)
    if len(agents) < 2:
        raise LogError(f"{source}: {where}: has {len(agents)} agents, at least 2 are needed")
    return agents


def _int(value: Any, source: str, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise LogError(f"{source}: {where}: got {value!r:.60}, allowed is a whole number")
    return value


def _text(value: Any, source: str, where: str) -> str:
    if not isinstance(value, str):
        raise LogError(f"{source}: {where}: got {value!r:.60}, allowed is a text")
    return value
