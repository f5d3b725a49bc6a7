"""File locks that are released when their process ends, on POSIX systems and on Windows."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

WINDOWS_POLL = 0.05  # seconds between two tries
FAR = 1 << 62  # Windows blocks access to the locked byte, so it lies beyond all contents


class FileLock:
    """An exclusive lock; the operating system releases it when the process that holds it ends for any reason.

    Args:
        path: File to lock; created if missing. Its contents stay readable and writable.
        wait: Whether to wait until another process releases the lock.
        temporary: Whether to delete the file when the lock is released; by default it is never deleted.

    Raises:
        BlockingIOError: If another process, or another lock of this one, holds it.
    """

    def __init__(self, path: Path, wait: bool = False, temporary: bool = False) -> None:
        self._path, self._temporary = path, temporary
        self._lock(wait)
        while temporary and not self._is_there():  # whoever held it has deleted the file that was opened
            self._file.close()
            self._lock(wait)

    def _lock(self, wait: bool) -> None:
        self._file = self._path.open("ab")
        try:
            if sys.platform == "win32":
                self._lock_on_windows(wait)
            else:
                fcntl.flock(self._file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise BlockingIOError(error.errno, "is in use by another process", str(self._path)) from None

    def _lock_on_windows(self, wait: bool) -> None:
        if sys.platform == "win32":
            while True:
                self._file.seek(FAR)
                try:
                    msvcrt.locking(self._file.fileno(), msvcrt.LK_NBLCK, 1)
                except OSError:
                    if not wait:
                        raise
                    time.sleep(WINDOWS_POLL)  # its own waiting gives up after ten seconds
                else:
                    return

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), os.stat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Release the lock."""
        if self._temporary:
            with suppress(OSError):  # Windows keeps a file that is open
                self._path.unlink()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()
