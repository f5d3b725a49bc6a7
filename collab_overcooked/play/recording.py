"""Records of games of people: an ordinary run folder, with inputs and abandoned episodes in files beside it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from collab_overcooked import __version__
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.runner.records import Note, RunFolder, dump_line

INPUTS, ABORTED, TUTORIALS = "inputs.jsonl", "aborted.jsonl", "tutorials.jsonl"


class PlayFolder:
    """A run folder that games of people are written to as they happen, in any thread; close it after use.

    ``records.jsonl`` holds what was played to its end, and everything that reads records reads it. ``inputs.jsonl``
    has a line for every key and answer, ``aborted.jsonl`` the episodes that were left, ``tutorials.jsonl`` practice.

    Args:
        path: The folder.
        suite: Name of the suite that scores the records.
        facts: Further JSON values that are equal for all of its episodes.
        note: Called with a sentence about each repair.
    """

    def __init__(
        self, path: str | Path, suite: str, facts: Mapping[str, Any] | None = None, note: Note = print
    ) -> None:
        config = {"suite": suite, "version": __version__, "played_by": "people", **(facts or {})}
        self.run = RunFolder(path, config, note)
        self.path = self.run.path
        self._writing = threading.Lock()
        self._apart = {name: JournalFile(self.path / name, durable=False) for name in (INPUTS, ABORTED, TUTORIALS)}
        for journal in self._apart.values():
            journal.drop_torn_line(note, "nothing depends on it")

    def close(self) -> None:
        """Let others write to the folder."""
        self.run.close()

    def add(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Write the record of an episode that is over; returns it with the number under which it is kept."""
        number = int(record["episode"])
        with self._writing:
            while (record["task"], number) in self.run.records:  # the same task again, or by others
                number += 1
            kept = {**record, "episode": number}
            self.run.append(kept)
        return kept

    def add_apart(self, name: str, record: Mapping[str, Any]) -> None:
        """Write a record that is not scored to ``ABORTED`` or ``TUTORIALS``."""
        self._append(name, dump_line(record))

    def add_input(self, entry: Mapping[str, Any]) -> None:
        """Write what a person did, with the time."""
        self._append(INPUTS, json.dumps({"time": round(time.time(), 3), **entry}, ensure_ascii=False).encode() + b"\n")

    def _append(self, name: str, line: bytes) -> None:
        with self._writing:
            self._apart[name].append_line(line)
