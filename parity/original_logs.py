"""Scores logs of the original Collab-Overcooked, one JSON file a run: ``python -m parity.original_logs PATH``."""

from __future__ import annotations

import argparse
import gzip
import io
import json
import sys
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console

from collab_overcooked.games.collab_overcooked.engine.config import steps_allowed
from collab_overcooked.games.collab_overcooked.suite.collaboration import (
    CollaborationRun,
    PlanConversation,
    PlanMessage,
)
from collab_overcooked.games.collab_overcooked.suite.run_scores import apply_time_limit
from collab_overcooked.games.collab_overcooked.suite.scoring import (
    CollabResult,
    TaskReferences,
    score_team,
    task_of,
    task_references,
)
from collab_overcooked.games.collab_overcooked.suite.tables import scorecard
from collab_overcooked.io import schema
from collab_overcooked.io.files import open_file
from collab_overcooked.runner.records import RECORDS

GAMMA = 1.5
"""The paper's factor between the reference time and the time limit."""


MAX_CHARACTERS = 2**27  # of a log


class LogError(ValueError):
    """A log cannot be used; the message names the file and the field."""


STAMP = schema.integer(None, None)


def _text(value: Any) -> str:
    return schema.text(value, MAX_CHARACTERS)


def _stamps(value: Any) -> list[int]:
    stamps: list[int] = schema.list_of(STAMP)(value)
    for i, (last, stamp) in enumerate(pairwise([-1, *stamps])):
        if stamp <= last:
            error = schema.SchemaError(
                f"{stamp} follows {last}, the file holds several runs; split it into one per run"
            )
            error.path.append(i)
            raise error
    return stamps


def _finished(value: Any) -> bool:
    if not isinstance(value, list | int):
        raise schema.refuse(value, "a list or a number")
    return bool(value)


def _per_agent(parser: schema.Parser) -> schema.Parser:
    """Allow a list with an entry for each agent, or a mapping from their numbers."""
    agents = schema.list_of(parser, 2, None, "agents")

    def read(value: Any) -> Any:
        keys = [str(k) for k in range(len(value))] if isinstance(value, Mapping) else []
        return agents([value[key] for key in keys] if keys and set(keys) == set(value) else value)

    return read


def _steps(agents: int) -> schema.Parser:
    message = schema.object_of({"agent": schema.integer(0, agents - 1), "say": _text, "plan": _text})
    talks = schema.object_of({"content": _per_agent(schema.list_of(message))})
    return schema.list_of(schema.object_of({"timestamp": STAMP, "content": talks}))


LOG = schema.object_of(
    {
        "total_timestamp": _stamps,
        "total_order_finished": _finished,
        "total_action_list": _per_agent(schema.list_of(schema.object_of({"timestamp": STAMP, "action": _text}))),
        "content": lambda steps: steps,  # depends on the number of agents
    }
)


def original_run(log: Any, source: str = "log") -> CollaborationRun:
    """Read one run from the decoded JSON of an original log file.

    Source: the log record of the original's main loop. In ``content.content`` of a step are, per agent, the messages of
    the conversation that it opened.

    Args:
        log: The decoded JSON.
        source: Name of the file for error messages.

    Raises:
        LogError: The content is not that of a log of the original.
    """
    try:
        read = LOG(log)
        steps = schema.read(_steps(len(read["total_action_list"])), read["content"], "content")
    except schema.SchemaError as problem:
        raise LogError(f"{source}: {problem}") from None
    history = tuple(
        tuple((entry["timestamp"], entry["action"]) for entry in entries) for entries in read["total_action_list"]
    )
    conversations = tuple(
        PlanConversation(
            step["timestamp"], tuple(PlanMessage(entry["agent"], entry["say"], entry["plan"]) for entry in talk)
        )
        for step in steps
        for talk in step["content"]["content"]
        if talk
    )
    return CollaborationRun(
        history, conversations, read["total_order_finished"], max(read["total_timestamp"], default=-1) + 1
    )


def read_original_log(path: str | Path) -> CollaborationRun:
    """Read one log file of the original (JSON, optionally gzipped)."""
    return original_run(_load(Path(path)), str(path))


def _load(path: Path) -> Any:
    try:
        with open_file(path, error=LogError) as packed:
            unpacked = gzip.GzipFile(fileobj=packed) if path.suffix == ".gz" else packed
            with io.TextIOWrapper(unpacked, encoding="utf-8-sig") as file:
                text = file.read(MAX_CHARACTERS + 1)
    except EOFError as error:
        raise LogError(f"{path}: is truncated: {error}") from error
    except (UnicodeDecodeError, zlib.error) as error:
        raise LogError(f"{path}: cannot be read: {error}") from error
    if len(text) > MAX_CHARACTERS:
        raise LogError(f"{path}: unpacks to more than {MAX_CHARACTERS} characters, which no log has")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise LogError(
            f"{path}: is truncated or no JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        ) from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits
        problem = "is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise LogError(f"{path}: {problem}") from None


def find_logs(path: Path) -> list[Path]:
    """Return the original's log files at a path; none if it holds records of this package."""
    if path.is_file():
        return [path] if path.name.endswith((".json", ".json.gz")) else []
    if not path.is_dir() or (path / RECORDS).exists():
        return []
    return sorted(file for file in path.rglob("*") if file.name.endswith((".json", ".json.gz")))


def score_logs(
    logs: Sequence[Path], task: str | None = None, kitchen: str = "paper", gamma: float = GAMMA
) -> CollabResult:
    """Score logs of the original together.

    Args:
        logs: JSON files, optionally gzipped.
        task: Task of all logs; by default the one in the name of each file or its folder.
        kitchen: Kitchen that was played.
        gamma: Time limit as a multiple of the reference time.

    Raises:
        ValueError: A log has another number of agents than the kitchen, or no known task in its name.
    """
    known = task_references({"kitchen": kitchen})
    runs = []
    for log in logs:
        name = task_of(known, task).name if task else _task_in_name(log, known)
        run = read_original_log(log)
        if len(run.history) != len(known.display_names):
            raise ValueError(f"{log}: has {len(run.history)} agents, the kitchen {len(known.display_names)}")
        limit = steps_allowed(known.tasks[name].reference_time, gamma)
        runs.append((name, apply_time_limit(run, limit), limit))
    return score_team(f"logs of the original, kitchen {kitchen}, gamma {gamma:g}", {}, known, runs)


def _task_in_name(log: Path, known: TaskReferences) -> str:
    """Return the task whose name is in a log's file or folder name; the original keeps a folder per task."""
    for text in (log.name, log.parent.name):
        names = [name for name in known.tasks if name in text]
        if names:
            return max(names, key=len)  # one name may be a part of another
    raise ValueError(f"{log}: neither file nor folder is named after a task; say which with --task")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="Log files of the original, or folders with them.")
    parser.add_argument("--task", help="Task of all logs. Default: the one in the name of each file or its folder.")
    parser.add_argument("--kitchen", default="paper", help="Kitchen that was played.")
    parser.add_argument("--gamma", type=float, default=GAMMA, help="Time limit as a multiple of the reference time.")
    chosen = parser.parse_args()
    try:
        found = [log for path in chosen.paths for log in find_logs(path)]
        if not found:
            raise ValueError(f"{chosen.paths[0]}: holds no logs of the original")
        card = scorecard(score_logs(found, chosen.task, chosen.kitchen, chosen.gamma))
    except ValueError as error:
        sys.exit(f"error: {error}")
    card.show(Console(soft_wrap=True))
