"""Episode records on disk: one JSON line each, appended as episodes end, and validated when read.

A run folder holds ``config.json``, ``records.jsonl``, and results that are derived from them: ``table.md``,
``table.csv``, ``table.json`` and ``report.html``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from collab_overcooked.envs.lexicon import PLAIN, Lexicon, load_lexicon
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.files import read_text, write_atomic
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.io.redaction import redact_values
from collab_overcooked.io.schema import Form, SchemaError, json_line, object_of, parse_json, read_json
from collab_overcooked.runner.record_schema import check_record

CONFIG, RECORDS, LOCK = "config.json", "records.jsonl", ".lock"
Note = Callable[[str], None]
Key = tuple[str, int]
"""Task and episode number, which identify a record within a run."""


class RecordError(ValueError):
    """Invalid record; the message names file, line and field."""


class StoredRecord(dict[str, Any]):
    """A record from a file.

    Attributes:
        where: File and line.
        line: The line with its newline.
    """

    where = ""
    line = b""


_ANY_CONFIG = object_of({})
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""Errors that code which reads a record raises for values that no game writes."""


@contextmanager
def about(record: Mapping[str, Any]) -> Iterator[None]:
    """Convert errors in the content of a record (``UNREADABLE``) to RecordErrors that name the record."""
    try:
        yield
    except RecordError:
        raise
    except UNREADABLE as error:
        where = getattr(record, "where", "") or f"record of {record.get('task') or record['env_id']}"
        reason = str(error) if isinstance(error, (ValueError, TypeError)) else f"{type(error).__name__}: {error}"
        raise RecordError(f"{where}: {reason}") from error


def read_records(path: str | Path) -> list[Any]:
    """Read a file of records. Repeated lines count once.

    Args:
        path: JSONL file, or the run folder that contains it.

    Returns:
        The records in the order of the file.
    """
    path = Path(path)
    if path.is_dir():
        path = path / RECORDS
    lines = read_text(path, error=RecordError).split("\n")
    records: list[Any] = [parse_record(line, f"{path}, line {n}") for n, line in enumerate(lines, start=1) if line]
    if not records:
        raise RecordError(f"{path}: contains no record")
    return _one_of_each(records, key_of if (path.parent / CONFIG).exists() else _identity)


def _one_of_each(records: Iterable[StoredRecord], identity: Callable[[Mapping[str, Any]], Any]) -> list[Any]:
    by_identity: dict[Any, StoredRecord] = {}
    for record in records:
        if by_identity.setdefault(identity(record), record) != record:
            first = by_identity[identity(record)].where.rpartition(", ")[2]
            raise RecordError(f"{record.where}: contradicts {first} about the same episode; delete one of these lines")
    return list(by_identity.values())


def _identity(record: Mapping[str, Any]) -> str:
    names = ("suite", "env_id", "env_kwargs", "team", "task", "episode", "seed", "options", "due_number")
    return json.dumps([record.get(name) for name in names], sort_keys=True)


def parse_record(line: str, where: str) -> StoredRecord:
    """Parse one line.

    Args:
        line: JSON of a record.
        where: File and line, for messages.
    """
    try:
        record = parse_json(line)
        check_record(record)
    except ValueError as error:
        raise RecordError(f"{where}: {error}") from None
    stored = StoredRecord(record)
    stored.where, stored.line = where, line.encode() + b"\n"
    return stored


def without_lexicon(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record with its messages translated back from the game's lexicon."""
    language = record["env_kwargs"].get("lexicon", PLAIN)
    if language == PLAIN:
        return record
    exchange = _lexicon(language).exchange
    steps = [
        step | {"messages": [m | {"say": exchange(m["say"]), "plan": exchange(m["plan"])} for m in step["messages"]]}
        for step in record["steps"]
    ]
    return {**record, "steps": steps}


@lru_cache(maxsize=4)
def _lexicon(language: str) -> Lexicon:
    return load_lexicon(language)


def key_of(record: Mapping[str, Any]) -> Key:
    """Return task and episode number."""
    return record["task"], record["episode"]


def dump_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of UTF-8 JSON, with access keys redacted."""
    try:
        return json_line(redact_values(record), check_record)
    except SchemaError as error:
        where = f"{record.get('task') or record.get('env_id')}, episode {record.get('episode')}"
        raise RecordError(f"{where}: its record cannot be written: {error}") from None


@contextmanager
def locked_folder(
    folder: Path,
    busy: str,
    config: Mapping[str, Any],
    files: Sequence[tuple[JournalFile, str]],
    note: Note,
) -> Iterator[FileLock]:
    """Make or open a folder that one process at a time writes to; what is there is read in the body.

    Incomplete last lines of the files are dropped; each file has the consequence of that beside it, for ``note``.
    Another process that writes to the folder is reported as ``busy``. The lock is released if the body raises.
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
            journal.drop_torn_line(note, result)
        yield lock
    except BaseException:
        lock.release()
        raise


def use_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write the configuration of a folder, or compare it with an existing one."""
    path = folder / CONFIG
    if not path.exists():
        write_atomic(path, json.dumps(config, indent=2).encode() + b"\n")
        return
    there = read_config(folder)
    for name in [*config, *(key for key in there if key not in config)]:
        if there.get(name) != config.get(name):
            place, was, now = _difference(name, there.get(name), config.get(name))
            if place.startswith("plugins."):
                name = place.removeprefix("plugins.")
                raise ValueError(
                    f"{folder}: holds a run of another {name}, which has changed since; choose another folder"
                )
            raise ValueError(
                f"{folder}: holds a run with another configuration: {place} was {was}, now {now}; "
                "choose another folder or repeat the old command"
            )


@contextmanager
def resumable(folder: Path, kept: str) -> Iterator[None]:
    """Add to an interrupt what the same command will do next, as a note of the exception.

    Args:
        folder: Where the interrupted code writes.
        kept: Pattern of the files from which it resumes.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if any(folder.glob(kept)):
            interrupt.add_note(f"the same command resumes {folder}")
        else:
            interrupt.add_note(f"{folder} holds nothing to resume from; the same command starts again")
        raise


class Locked:
    """Holds the lock of a ``locked_folder``, from when it is given until it is closed."""

    _lock: FileLock | None = None

    def close(self) -> None:
        """Release the folder's lock."""
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class RunFolder(Locked):
    """Folder of one run, which can be resumed; only one evaluation at a time may write to it. Close it after use.

    Args:
        path: The folder; created if missing.
        config: Configuration of the run, as JSON values.
        note: Called with a sentence about each repair.
    """

    def __init__(self, path: str | Path, config: Mapping[str, Any], note: Note = print) -> None:
        self.path = Path(path)
        self.config = json.loads(json.dumps(config))  # in the form in which it is read back
        self._journal = JournalFile(self.path / RECORDS)
        self.records: dict[Key, dict[str, Any]] = {}
        self._lines: dict[Key, bytes] = {}
        busy = "another evaluation writes to this folder; wait for it, or choose another folder"
        files = [(self._journal, "its episode is played again")]
        with locked_folder(self.path, busy, self.config, files, note) as self._lock:
            begun = self._journal.path.exists() and self._journal.path.stat().st_size > 0
            for record in read_records(self._journal.path) if begun else ():
                self.records[key_of(record)], self._lines[key_of(record)] = record, record.line

    def append(self, record: dict[str, Any]) -> None:
        """Append a record durably."""
        line = dump_line(record)
        self._journal.append_line(line)
        self.records[key_of(record)], self._lines[key_of(record)] = record, line

    def finish(self, order: Iterable[Key]) -> list[dict[str, Any]]:
        """Sort all records into their final order, the same for any number of processes, and return them."""
        keys = list(order)
        lines = [self._lines[key] for key in keys]
        write_atomic(self._journal.path, b"".join(lines))
        return [self.records[key] for key in keys]


class LineJournal(JournalFile, Locked):
    """JSON lines of an evaluation, in a folder that it can be continued from; ``results`` are those of earlier runs.

    Args:
        path: The file.
        what: Name of the evaluation for messages, such as ``"cross-play"``.
        config: What is evaluated, fit for JSON; must be the same when it is continued.
        check: Schema of a line.
        note: Called with what was repaired.
    """

    def __init__(self, path: Path, what: str, config: Mapping[str, Any], check: Form, note: Note) -> None:
        super().__init__(path, check)
        busy = f"another {what} writes to this folder; wait for it"
        config = json.loads(json.dumps(config, default=str))
        files = [(self, "what it stood for is played again")]
        with locked_folder(path.parent, busy, config, files, note) as self._lock:
            self.results = list(self.read())


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


def read_config(folder: Path, check: Form = _ANY_CONFIG) -> Any:
    """Read the configuration of a run folder."""
    return read_json(folder / CONFIG, check, RecordError)
