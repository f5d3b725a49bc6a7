"""Results of an evaluation as JSON lines in a folder that it can be continued from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from collab_overcooked.io import schema
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.runner.records import CONFIG, LOCK, append_line, drop_partial_line, use_config


class LineJournal:
    """JSON lines in a folder, one for each result; close it after use.

    Args:
        path: The file; its folder is made if it does not exist.
        what: Name of the evaluation for messages, such as ``"cross-play"``.
        config: What is evaluated, fit for JSON; must be the same when it is continued.
        check: Schema of a line.
        note: Called with what was repaired.

    Attributes:
        lines: Results of earlier runs.
    """

    def __init__(
        self, path: Path, what: str, config: Mapping[str, Any], check: schema.Form, note: Callable[[str], None]
    ) -> None:
        self.path, self._check = path, check
        folder = path.parent
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = FileLock(folder / LOCK)
        except BlockingIOError:
            raise BlockingIOError(f"{folder}: another {what} writes to this folder; wait for it") from None
        try:
            if path.exists() and not (folder / CONFIG).exists():
                raise ValueError(f"{folder}: holds {path.name} but no {CONFIG}; choose another folder")
            use_config(folder, json.loads(json.dumps(config, default=str)))
            drop_partial_line(path, note, "what it stood for is played again")
            self.lines: list[Any] = schema.read_lines(path.read_bytes() if path.exists() else b"", str(path), check)
        except BaseException:
            self._lock.release()
            raise

    def append(self, line: Mapping[str, Any]) -> None:
        """Write a result so that it survives whatever happens next."""
        append_line(self.path, schema.json_line(dict(line), self._check))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()
