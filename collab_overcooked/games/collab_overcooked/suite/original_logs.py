"""Importer of the JSON files that the original project writes, one a run, and how it applies its time limit."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from collab_overcooked.io import schema
from collab_overcooked.io.files import open_file

from .collaboration import CollaborationRun, PlanConversation, PlanMessage

GAMMA = 1.5
"""The paper's factor between the reference time and the time limit."""


MAX_CHARACTERS = 2**27  # of a log


class LogError(ValueError):
    """A log cannot be used; the message names the file and the field."""


def apply_time_limit(run: CollaborationRun, limit: int) -> CollaborationRun:
    """Judge a run by the time limit, as the original does after the run.

    Source: the original's time-limit script. A delivery in the step of 0-based index ``limit`` or earlier is
    a success, which is one step more than ``limit`` steps. Every other run failed and is cut: it keeps the
    steps 0 to limit − 1 and the actions with a timestamp below ``limit``, which loses up to two more labels.

    Args:
        run: The whole run.
        limit: Steps allowed, see ``config.steps_allowed``.

    Returns:
        The same run if it succeeded in time, else the cut one with ``success=False``.
    """
    if run.success and run.timesteps - 1 <= limit:
        return run
    return CollaborationRun(
        history=tuple(tuple(entry for entry in actions if entry[0] < limit) for actions in run.history),
        conversations=tuple(c for c in run.conversations if c.timestep < limit),
        success=False,
        timesteps=min(run.timesteps, limit),
    )


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
