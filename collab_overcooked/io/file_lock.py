"""Locks on files that end with the process that holds them, on POSIX systems and on Windows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Self

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FAR = 1 << 62  # Windows keeps others from the locked byte, so it lies behind all contents


class FileLock:
    """An exclusive lock; the operating system releases it when its holder ends, however that happens.

    Args:
        path: File to lock; made if it does not exist, and left there. Its contents can be read and written meanwhile.
        wait: Whether to wait for another holder.

    Raises:
        BlockingIOError: If another holds it and ``wait`` is False.
        OSError: If the file cannot be opened.
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
