"""Importer of the JSON files that the original project writes, one a run, and its time limit."""

from __future__ import annotations

import gzip
import io
import json
import math
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from collab_overcooked.games.collab_overcooked.suite.collaboration import Conversation, Logged, Message, Run
from collab_overcooked.io.files import open_file

GAMMA = 1.5
"""The paper's factor between the reference time and the time limit."""


MAX_CHARACTERS = 2**27  # of a log


class LogError(ValueError):
    """A log cannot be used; the message names the file and the field."""


def time_limit(reference_time: int, gamma: float = GAMMA) -> int:
    """Return the limit floor(γ·T*) in timesteps.

    Source: the original's time-limit script, T* = 16, 23, 35, 32, 55, 64 for the levels 1 to 6.

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
        history=tuple(tuple(entry for entry in actions if entry[0] < limit) for actions in run.history),
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
    history = tuple(_actions(entries, source, f"total_action_list[{k}]") for k, entries in enumerate(lists))
    steps = _list(_get(log, "content", source, ""), source, "content")
    conversations: list[Conversation] = []
    for i, step in enumerate(steps):
        conversations += _opened(step, len(history), source, f"content[{i}]")
    return Run(history, tuple(conversations), bool(finished), last + 1)


def read_original_log(path: str | Path) -> Run:
    """Read one log file of the original (JSON, optionally gzipped)."""
    return original_run(_load(Path(path)), str(path))


def _opened(step: Any, agents: int, source: str, where: str) -> list[Conversation]:
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
        raise LogError(f"{source}: {where}: got {value!r:.60}, allowed is an integer")
    return value


def _text(value: Any, source: str, where: str) -> str:
    if not isinstance(value, str):
        raise LogError(f"{source}: {where}: got {value!r:.60}, allowed is a text")
    return value
