"""Records of games of people: an ordinary run folder, with inputs and abandoned episodes in files beside it."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from collab_overcooked import __version__
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.io.files import MAX_MODEL, read_bytes, write_atomic
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.runner.records import RECORDS, dump_line
from collab_overcooked.runner.run import Run

logger = logging.getLogger(__name__)

INPUTS, ABORTED, TUTORIALS = "inputs.jsonl", "aborted.jsonl", "tutorials.jsonl"


class PlayFolder:
    """A run folder that games of people are written to as they happen, in any thread; close it after use.

    ``records.jsonl`` holds what was played to its end, and everything that reads records reads it. ``inputs.jsonl``
    has a line for every key and answer, ``aborted.jsonl`` the episodes that were left, ``tutorials.jsonl`` practice.

    Args:
        path: The folder.
        suite: Name of the suite that scores the records.
        facts: Further JSON values that are equal for all of its episodes.
    """

    def __init__(self, path: str | Path, suite: str, facts: Mapping[str, Any] | None = None) -> None:
        config = {"suite": suite, "version": __version__, "played_by": "people", **(facts or {})}
        self.run: Run[EpisodeRecord] = Run(path, config)
        self.path = Path(path)
        self._writing = threading.Lock()
        self._unsaved: deque[Callable[[], None]] = deque()  # in order; what cannot be written is tried again
        self._taken = set(self.run.results)
        self._apart = {name: JournalFile(self.path / name, durable=False) for name in (INPUTS, ABORTED, TUTORIALS)}
        for journal in self._apart.values():
            journal.drop_torn_line("nothing depends on it")

    def close(self) -> None:
        """Write all pending lines and release the folder."""
        with self._writing:
            self._write()
        if self._unsaved:
            logger.warning(f"{self.path}: {len(self._unsaved)} lines were lost, as they could not be written")
        self.run.close()

    def add(self, record: EpisodeRecord) -> EpisodeRecord:
        """Write the record of an episode that is over; returns it with the number under which it is kept."""
        number = int(record.episode)
        with self._writing:
            while (record.task, number) in self._taken:  # the same task again, or by others
                number += 1
            self._taken.add((record.task, number))
            kept = record.replace(episode=number)
            self._write(partial(self.run.append, kept))
        return kept

    def add_apart(self, name: str, record: EpisodeRecord) -> None:
        """Write a record that is not scored to ``ABORTED`` or ``TUTORIALS``."""
        self._append(name, dump_line(record))

    def add_input(self, entry: Mapping[str, Any]) -> None:
        """Write an input of a person, with the time."""
        self._append(INPUTS, json.dumps({"time": round(time.time(), 3), **entry}, ensure_ascii=False).encode() + b"\n")

    def rename(self, ids: Mapping[str, str]) -> None:
        """Replace ids of people in all files; see ``rename_people``."""
        with self._writing:
            rename_people(self.path, ids)

    def _append(self, name: str, line: bytes) -> None:
        with self._writing:
            self._write(partial(self._apart[name].append_line, line))

    def _write(self, *lines: Callable[[], None]) -> None:
        """Write lines; while the disk is full, they are kept in memory."""
        was_full = bool(self._unsaved)
        self._unsaved.extend(lines)
        while self._unsaved:
            try:
                self._unsaved[0]()
            except OSError as error:
                if not was_full:
                    logger.warning(f"{error}; games go on, and it is written as soon as that is possible")
                return
            self._unsaved.popleft()


def rename_people(folder: Path, ids: Mapping[str, str]) -> None:
    """Replace ids of people in all files of a folder.

    Args:
        folder: Folder of games of people; nobody may write to it meanwhile.
        ids: New ids by the old ones.
    """
    for name in (RECORDS, INPUTS, ABORTED, TUTORIALS):
        file = folder / name
        before = read_bytes(file, MAX_MODEL) if file.exists() else b""
        after = replace_ids(before, ids)
        if after != before:
            write_atomic(file, after)


def replace_ids(text: bytes, ids: Mapping[str, str]) -> bytes:
    """Replace ids of people in JSON lines; texts that contain more than an id are unchanged."""
    for old, new in ids.items():
        text = text.replace(json.dumps(old).encode(), json.dumps(new).encode())
    return text
