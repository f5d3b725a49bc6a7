"""Files: reading of untrusted files with limits, and atomic writing."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import resources
from itertools import count
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 30  # of a file that is read as a whole
MAX_DOCUMENT = 1 << 24  # of a file that a person writes
MAX_MODEL = 1 << 42  # of a file that a library reads in parts
PACKAGE = Path(__file__).resolve().parent.parent
DRAFT = ".draft-"  # begins the names of unfinished files and folders
_DRAFT = re.compile(re.escape(DRAFT) + r"(\d{1,9})-\d")
_numbers = count()
_only_shipped: ContextVar[bool] = ContextVar("only_shipped", default=False)


@contextmanager
def only_shipped_files() -> Iterator[None]:
    """Refuse to open files that are not part of the package: for the texts of a server's clients."""
    token = _only_shipped.set(True)
    try:
        yield
    finally:
        _only_shipped.reset(token)


@contextmanager
def open_file(
    path: str | Path, limit: int = MAX_BYTES, error: type[ValueError] = ValueError
) -> Iterator[io.BufferedReader]:
    """Open a file that comes from outside for reading; devices, pipes and folders are refused, and links to them.

    Args:
        path: The file.
        limit: Maximum of its size in bytes.
        error: Raised if it cannot be read; the message names file, problem and limit.
    """
    if _only_shipped.get() and not Path(path).resolve().is_relative_to(PACKAGE):
        raise error(f"{path}: cannot be read: is a file of the server; name something that comes with the package")
    try:
        _check_file(_status(path), limit)  # before it is opened, which a device may notice and a pipe waits for
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            _check_file(os.fstat(file.fileno()), limit)
            yield file
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror or problem}") from None


def _status(path: str | Path) -> os.stat_result:
    try:
        return os.stat(path)
    except ValueError as problem:  # a null character, or half of one, in its name
        raise OSError(str(problem)) from None


def _check_file(status: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError("is a folder" if stat.S_ISDIR(status.st_mode) else "is not a regular file")
    if status.st_size > limit:
        raise OSError(f"has {status.st_size:,} bytes, allowed are {limit:,}")


def read_bytes(path: str | Path, limit: int = MAX_BYTES, error: type[ValueError] = ValueError) -> bytes:
    """Return the contents of a file, see ``open_file``."""
    with open_file(path, limit, error) as file:
        return file.read()


def read_text(path: str | Path, limit: int = MAX_BYTES, error: type[ValueError] = ValueError) -> str:
    """Return a text in UTF-8, with or without byte-order mark; its lines end with newlines. See ``open_file``.

    Raises:
        ValueError: Of class ``error``, if the file cannot be read, is too large, or is not UTF-8.
    """
    try:
        with io.TextIOWrapper(io.BytesIO(read_bytes(path, limit, error)), encoding="utf-8-sig") as text:
            return text.read()
    except UnicodeDecodeError as problem:
        where = f"{problem.reason} at byte {problem.start}"
        raise error(f"{path}: not a text file: {where}") from None


def text_lines(path: str | Path, limit: int = MAX_BYTES, error: type[ValueError] = ValueError) -> Iterator[str]:
    """Yield the lines of a UTF-8 text, without newlines; see ``read_text`` for the limits.

    Raises:
        ValueError: Of class ``error``, if the file cannot be read, is too large, or is not UTF-8.
    """
    with open_file(path, limit, error) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as text:
        try:
            for line in text:
                yield line.removesuffix("\n")
        except UnicodeDecodeError:
            read_text(path, limit, error)  # whose error counts bytes from the beginning of the file
            raise


def list_folder(path: str | Path) -> list[Path] | None:
    """Return the entries of a folder sorted by name; None if the path is not a folder."""
    if _only_shipped.get() or not Path(path).is_dir():
        return None
    return sorted(Path(path).iterdir())


def check_distinct_files(option: str, paths: Iterable[str | Path], within: str = "") -> None:
    """Check that no two paths lead to the same file, whose contents would count twice.

    Args:
        option: Name of the option or command that takes the paths, for the message.
        paths: Files and folders.
        within: Name of a file; a folder that contains this file stands for it.

    Raises:
        ValueError: If two paths lead to the same file.
    """
    given: dict[object, str | Path] = {}
    for path in paths:
        inner = os.path.join(path, within)
        place = _identify(inner if within and os.path.exists(inner) else path)
        if place in given:
            other = given[place]
            both = f"{path} is given twice" if str(other) == str(path) else f"{other} and {path} are the same"
            raise ValueError(f"{option}: {both}; name it once, as it would count twice")
        given[place] = path


def _identify(path: str | Path) -> object:
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # whoever reads it says what is wrong
        return os.path.abspath(path)
    return status.st_dev, status.st_ino


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 digest of a file as hexadecimal digits."""
    with open_file(path, MAX_MODEL) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_shipped(path: str) -> str:
    """Return a text of the package; the path is relative to the package."""
    return resources.files("collab_overcooked").joinpath(path).read_text("utf-8")


def read_shipped_yaml(path: str) -> dict[str, Any]:
    """Return the values of a YAML file of the package."""
    import yaml  # slow to import

    return dict(yaml.safe_load(read_shipped(path)))


@contextmanager
def draft(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield a temporary path in the same folder; rename it to ``path`` on success, delete it on error."""
    beside = _name_draft(path.parent, path.suffix)
    try:
        beside.touch(mode)
        yield beside
        _sync(beside)
        beside.replace(path)
    except OSError as error:
        if error.filename not in (None, str(beside)):
            raise
        # A full disk names no file, and the draft's name says nothing to users
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        _remove(beside)


def write_atomic(path: Path, data: bytes | Iterable[bytes], mode: int = 0o666) -> None:
    """Write a file atomically: a crash leaves it as it was, or with all of its new content.

    Args:
        path: The file.
        data: Its content, as a whole or in parts.
        mode: Permissions of a new file, before the umask of the process is applied.
    """
    with draft(path, mode) as beside, beside.open("wb") as file:
        file.writelines([data] if isinstance(data, bytes) else data)


@contextmanager
def draft_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder inside ``folder``; on success its content moves up into ``folder``."""
    beside = _name_draft(folder)
    beside.mkdir()
    try:
        yield beside
        for path in filter(Path.is_file, beside.rglob("*")):
            _sync(path)
        for path in sorted(beside.iterdir()):
            path.replace(folder / path.name)
    finally:
        _remove(beside)


def remove_drafts(folder: Path) -> None:
    """Delete temporary files of processes that no longer run."""
    for path in folder.glob(f"{DRAFT}*"):
        if (match := _DRAFT.match(path.name)) and not _is_running(int(match[1])):
            _remove(path)


def _name_draft(folder: Path, suffix: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    remove_drafts(folder)
    return folder / f"{DRAFT}{os.getpid()}-{next(_numbers)}{suffix}"


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":  # where signal 0 ends the process
        return True
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)  # it may be another user's
    return True
