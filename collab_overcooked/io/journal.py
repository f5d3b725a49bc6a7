"""Journals: files that grow line by line, so that their content outlives the process."""

from __future__ import annotations

import logging
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collab_overcooked.io.files import MAX_BYTES, MAX_MODEL, open_file
from collab_overcooked.io.schema import Parser, SchemaError, json_line, json_value, parse_json

logger = logging.getLogger(__name__)


def has_lines(path: Path) -> bool:
    """Return whether a journal was begun: there is a file, and it is not empty."""
    return path.exists() and path.stat().st_size > 0


class JournalFile:
    """JSON lines that are appended one at a time. Its writers hold a lock; readers see complete lines only.

    Args:
        path: The file; made with the first line.
        check: Schema of a line.
        durable: Whether a line also outlives the machine, at the price of an fsync.
        mode: Permissions of a new file.
        missing_ok: Whether a file that is not there has no lines, otherwise it cannot be read.
    """

    def __init__(
        self,
        path: Path,
        check: Parser = json_value,
        *,
        durable: bool = True,
        mode: int = 0o666,
        missing_ok: bool = True,
    ) -> None:
        self.path = path
        self.check = check
        self.durable = durable
        self.mode = mode
        self.missing_ok = missing_ok
        self._end = self._count = 0  # bytes and lines that were read, or appended after these

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield place and text of complete lines that were not read yet."""
        if self.missing_ok and not self.path.exists():
            return
        if self._end and self.path.stat().st_size == self._end:  # nothing new
            return
        with open_file(self.path, MAX_MODEL) as file:
            if file.seek(0, os.SEEK_END) < self._end:  # the file was replaced
                self._end = self._count = 0
            file.seek(self._end)
            while (line := file.readline(MAX_BYTES)).endswith(b"\n"):
                yield f"{self.path}, line {self._count + 1}", line
                self._end, self._count = self._end + len(line), self._count + 1

    def read(self) -> Iterator[Any]:
        """Yield the values of ``lines``.

        Raises:
            SchemaError: A line is damaged.
        """
        for where, line in self.lines():
            try:
                value = parse_json(line[:-1])
                self.check(value)
            except SchemaError as error:
                raise SchemaError(f"{where}: {error}") from None
            yield value

    def append(self, value: object) -> None:
        """Append a value that passes the check."""
        self.append_line(json_line(value, self.check))

    def append_line(self, line: bytes) -> None:
        """Append a line that is known to pass the check; if that fails, the file is as before.

        An interrupt leaves the file with the whole line or without it.

        Raises:
            OSError: The line cannot be written, for example because the disk is full; the error names the file.
        """
        with open(self.path, "ab", buffering=0, opener=lambda path, flags: os.open(path, flags, self.mode)) as file:
            begin, written = file.tell(), 0
            try:
                while written < len(line):  # of a file that reaches its limit, a part is written first
                    written += file.write(line[written:])
                if self.durable:
                    os.fsync(file.fileno())
            except BaseException as error:
                if file.tell() < begin + len(line) or isinstance(error, Exception):  # an interrupt leaves a whole line
                    file.truncate(begin)
                if isinstance(error, OSError) and error.filename is None:
                    error.filename = str(self.path)
                raise
        if begin == self._end:
            self._end, self._count = self._end + len(line), self._count + 1

    def cut(self, end: int) -> None:
        """Drop the lines behind a number of bytes."""
        os.truncate(self.path, end)
        self._end = self._count = 0

    def drop_torn_line(self, result: str) -> None:
        """Drop an incomplete last line, left by a process that was stopped while writing, and log a warning.

        Args:
            result: What follows from it, for the warning.
        """
        if not self.path.exists() or self.path.stat().st_size in (0, self._end):
            return
        with open_file(self.path, MAX_MODEL) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            size, end = len(content), content.rfind(b"\n") + 1
        if end < size:
            logger.warning(f"{self.path}: dropped an unfinished last line; {result}")
            os.truncate(self.path, end)
