"""Recordings that tests of parity replay, whole or tampered with."""

from __future__ import annotations

import copy
import functools
import gzip
import io
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from parity import FileReport, run_parity
from parity.report import read_recording
from parity.run import FORMATS

Tamper = Callable[[Any], None]


def replay(path: Path) -> FileReport:
    """Replay a file, which exactly one format recognises."""
    recording = read_recording(path)
    assert recording is not None
    (known,) = [known for known in FORMATS if known.recognises(recording.first)]
    return known.replay(recording)


def write(folder: Path, name: str, episodes: list[Any]) -> None:
    """Write a recording, packed if its name says so."""
    text = "\n".join(json.dumps(episode) for episode in episodes)
    (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


def parity(folder: Path) -> tuple[int, str]:
    """Return the exit code of the parity command, and what it prints."""
    printed = io.StringIO()
    return run_parity(folder, Console(file=printed, width=400)), printed.getvalue()


def changed(path: Sequence[Any], change: Callable[[Any], Any]) -> Tamper:
    """Return a function that changes one entry of an episode."""

    def tamper(episode: Any) -> None:
        for key in path[:-1]:
            episode = episode[key]
        episode[path[-1]] = change(episode[path[-1]])

    return tamper


def up(value: float) -> float:
    return value + 1


@functools.cache
def first_episode(source: Path) -> str:
    """Return the first episode of a recording as JSON, which replays without a difference."""
    episode = read_recording(source).episodes[0]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), source.name, [episode])
        assert parity(Path(folder))[0] == 0, "the recording is fine before it is tampered with"
    return json.dumps(episode)


def assert_found_out(source: Path, folder: Path, tamper: Tamper) -> None:
    """Tamper with the first episode of a file: it replays before that, and not afterwards."""
    episode = json.loads(first_episode(source))
    before = copy.deepcopy(episode)
    tamper(episode)
    assert episode != before
    write(folder, source.name, [episode])
    code, printed = parity(folder)
    assert code == 1
    assert "first difference" in printed
