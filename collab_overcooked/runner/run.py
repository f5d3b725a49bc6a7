"""Runs: a folder with a configuration and one line for each result, which the same command resumes."""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from collab_overcooked.core.record import compress
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.journal import JournalFile, has_lines
from collab_overcooked.io.text import plural
from collab_overcooked.runner.records import CONFIG, EPISODES, JsonlFormat, read_config, read_lines

logger = logging.getLogger(__name__)

LOCK = ".lock"
VERSION = "version"  # of the package that began a run
T = TypeVar("T")


@contextmanager
def only_writer(folder: Path, busy: str) -> Iterator[None]:
    """Make or open a folder that one process at a time writes to, and hold its lock until the body ends.

    Args:
        folder: Made if it does not exist, and removed again if nothing is written into it.
        busy: Error message if another process holds the lock.

    Raises:
        BlockingIOError: If another process, or another thread of this one, writes to the folder.
    """
    is_new, lock = not folder.exists(), None
    while lock is None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / LOCK, temporary=True)
        except BlockingIOError:
            raise BlockingIOError(f"{folder}: {busy}") from None
        except (FileNotFoundError, FileExistsError):  # another writer made or removed the folder in between
            if folder.is_file():
                raise
    try:
        with lock:
            yield
    finally:
        if is_new:
            with suppress(OSError):  # it holds what the body wrote
                folder.rmdir()


@contextmanager
def locked_folder(
    folder: Path, busy: str, config: Mapping[str, Any], files: Sequence[tuple[JournalFile, str]]
) -> Iterator[FileLock]:
    """Create or open a folder that one process at a time writes to, and yield its lock.

    The lock stays held after the ``with`` block, until the caller releases it; it is released if the body raises.

    Args:
        folder: Made if it does not exist.
        busy: Error message if another process holds the lock.
        config: See ``use_config``.
        files: Files of lines, an incomplete last one of which is dropped, each with what follows from that, for the
            warning.

    Raises:
        BlockingIOError: If another process writes to the folder; the message contains ``busy``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(folder / LOCK)
    except BlockingIOError:
        raise BlockingIOError(f"{folder}: {busy}") from None
    try:
        for journal, _ in files:
            if journal.path.exists() and not (folder / CONFIG).exists():
                raise ValueError(f"{folder}: holds {journal.path.name} but no {CONFIG}; choose another folder")
        use_config(folder, config)
        for journal, result in files:
            journal.drop_torn_line(result)
        yield lock
    except BaseException:
        lock.release()
        raise


class OtherConfigError(ValueError):
    """A folder holds a run with another configuration; ``place`` is the first field that differs."""

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.place = place


def use_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write the configuration of a folder, or compare it with an existing one.

    The package's version may differ, as that of a game's rules is part of its id; a warning says so.

    Raises:
        OtherConfigError: The folder holds a run with another configuration.
        ValueError: A plugin has changed.
    """
    path = folder / CONFIG
    if not path.exists():
        write_atomic(path, json.dumps(config, indent=2).encode() + b"\n")
        return
    there = read_config(folder)
    before, now = (str(values.get(VERSION, "")) for values in (there, config))
    if before != now:
        logger.warning(
            f"{folder}: begun with version {before} of the package, continued with {now}; each record names its own"
        )
    for name in [*config, *(key for key in there if key not in config)]:
        if there.get(name) != config.get(name) and name != VERSION:
            place, was, new = _difference(name, there.get(name), config.get(name))
            if place.startswith("plugins."):
                name = place.removeprefix("plugins.")
                raise ValueError(
                    f"{folder}: holds a run of another {name}, which has changed since; choose another folder"
                )
            raise OtherConfigError(
                f"{folder}: holds a run with another configuration: {place} was {was}, now {new}; "
                "choose another folder or repeat the old command",
                place,
            )


@contextmanager
def resumable(folder: Path, kept: str) -> Iterator[None]:
    """Add a note to an interrupt: whether the same command resumes the folder.

    Args:
        folder: Folder that the interrupted code writes.
        kept: Pattern of the files from which it resumes.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        add_hint(interrupt, folder, kept)
        raise


def add_hint(interrupt: KeyboardInterrupt, folder: Path, kept: str) -> None:
    """Add a note to an interrupt: whether the same command resumes a folder; see ``resumable``."""
    if any(map(has_lines, folder.glob(kept))):
        interrupt.add_note(f"the same command resumes {folder}")
    else:
        interrupt.add_note(f"{folder} holds nothing to resume from; the same command starts again")


class Locked:
    """Base class of objects that hold a folder's lock until ``close``."""

    _lock: FileLock | None = None

    def close(self) -> None:
        """Release the folder's lock."""
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Run(Locked, Generic[T]):
    """Folder of an evaluation, which can be resumed; only one process at a time may write to it. Close it after use.

    Args:
        path: The folder; created if missing. None to keep results in memory alone.
        config: Configuration of the run as JSON values; must be unchanged on resume, except for ``version``.
        lines: Format of the journal's lines; records of episodes by default.

    Attributes:
        results: Results so far, by key.

    Raises:
        ValueError: For a folder with another evaluation in it.
        BlockingIOError: If another process writes to the folder.
    """

    def __init__(self, path: str | Path | None, config: Mapping[str, Any], lines: JsonlFormat[Any] = EPISODES) -> None:
        self.config = json.loads(json.dumps(config, default=str))  # in the form in which it is read back
        self.results: dict[Hashable, T] = {}
        self.path, self._format = None if path is None else Path(path), lines
        self._lines: dict[Hashable, bytes] = {}
        if self.path is None:
            return
        self._journal = JournalFile(self.path / lines.file)
        busy = "another evaluation writes to this folder; wait for it, or choose another folder"
        files = [(self._journal, f"its {lines.noun} is played again")]
        with locked_folder(self.path, busy, self.config, files) as self._lock:
            begun = has_lines(self._journal.path)
            for result, line in read_lines(self._journal.path, lines, pack=True) if begun else ():
                self._keep(result, line)

    def _keep(self, result: T, line: bytes) -> None:
        key = self._format.key(result)
        self.results[key], self._lines[key] = result, line  # the line is compressed, as the result shares it

    def check_planned(self, planned: Iterable[Hashable], episode_text: Callable[[Any], str]) -> None:
        """Check that the folder holds no episodes beyond those of this run.

        Args:
            planned: Keys of the run.
            episode_text: Returns the text of an episode in the message, by its key.

        Raises:
            ValueError: It holds others.
        """
        further: set[Any] = self.results.keys() - set(planned)
        if further:
            raise ValueError(
                f"{self.path}: holds {plural(len(further), 'episode')} beyond those of this run, such as "
                f"{episode_text(min(further))}; ask for as many, or choose another folder"
            )

    def append(self, result: T) -> None:
        """Append a result durably."""
        line = self._format.dump(result)
        if self.path is not None:
            self._journal.append_line(line)
        text = compress(line)
        self._keep(self._format.pack(result, text), text)

    def finish(self, order: Iterable[Hashable]) -> list[T]:
        """Sort all results into their final order, the same for any number of processes, and return them."""
        keys = list(order)
        if self.path is not None:
            write_atomic(self._journal.path, (zlib.decompress(self._lines[key]) for key in keys))
        return [self.results[key] for key in keys]

    def __exit__(self, *error: object) -> None:
        if isinstance(error[1], KeyboardInterrupt) and self.path is not None:
            add_hint(error[1], self.path, self._format.file)
        self.close()


def _difference(place: str, was: Any, now: Any) -> tuple[str, str, str]:
    if isinstance(was, dict) and isinstance(now, dict) and was.keys() == now.keys():
        name = next(name for name in was if was[name] != now[name])
        return _difference(f"{place}.{name}", was[name], now[name])
    if isinstance(was, list) and isinstance(now, list):
        if len(was) == len(now) and any(isinstance(value, dict) for value in was):
            k = next(k for k in range(len(was)) if was[k] != now[k])
            return _difference(f"{place}[{k}]", was[k], now[k])
        if len(was) + len(now) > 8:
            return place, f"{len(was)} entries", f"{len(now)} entries"
    return place, f"{was!r:.80}", f"{now!r:.80}"
