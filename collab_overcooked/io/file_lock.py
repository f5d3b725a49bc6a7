"""File locks that are released when their process ends, on POSIX systems and on Windows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Self

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FAR = 1 << 62  # Windows blocks access to the locked byte, so it lies beyond all contents


class FileLock:
    """An exclusive lock; the operating system releases it when the process that holds it ends for any reason.

    Args:
        path: File to lock; created if missing, and never deleted. Its contents stay readable and writable.
        wait: Whether to wait until another process releases the lock.
    """

    def __init__(self, path: Path, wait: bool = False) -> None:
        self._file = path.open("ab")
        try:
            if sys.platform == "win32":
                self._file.seek(FAR)
                msvcrt.locking(self._file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self._file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise BlockingIOError(error.errno, "is in use by another process", str(path)) from None

    def release(self) -> None:
        """Release the lock."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()
