"""Episode records on disk: one JSON line each, appended as episodes end, and validated when read.

A run folder holds ``config.json``, ``records.jsonl``, and results that are derived from them: ``table.md``,
``table.csv``, ``table.json`` and ``report.html``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from collab_overcooked.envs.lexicon import PLAIN, Lexicon, load_lexicon
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.redaction import redact_values
from collab_overcooked.io.schema import SchemaError, json_line, parse_json
from collab_overcooked.runner.record_schema import check_record

CONFIG, RECORDS, LOCK = "config.json", "records.jsonl", ".lock"
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
    with _about_file(path):
        text = path.read_bytes().decode("utf-8")
    records: list[Any] = [
        parse_record(line, f"{path}, line {n}") for n, line in enumerate(text.split("\n"), start=1) if line
    ]
    if not records:
        raise RecordError(f"{path}: contains no record")
    return _one_of_each(records, key_of if (path.parent / CONFIG).exists() else _identity)


@contextmanager
def _about_file(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: not a text file: {error.reason} at byte {error.start}") from None


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


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file atomically and durably."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a file durably (fsync)."""
    with path.open("ab") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def drop_partial_line(path: Path, note: Callable[[str], None], result: str) -> None:
    """Truncate an incomplete last line, left by a process that was stopped while writing.

    Args:
        path: The file.
        note: Called with a sentence about the repair.
        result: Consequence for the reader, for the sentence.
    """
    if not path.exists():
        return
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        note(f"{path}: dropped an unfinished last line; {result}")
        with path.open("r+b") as file:
            file.truncate(end)


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


class RunFolder:
    """Folder of one run, which can be resumed; only one evaluation at a time may write to it. Close it after use.

    Args:
        path: The folder; created if missing.
        config: Configuration of the run, as JSON values.
        note: Called with a sentence about each repair.
    """

    def __init__(self, path: str | Path, config: Mapping[str, Any], note: Callable[[str], None] = print) -> None:
        self.path = Path(path)
        self.config = json.loads(json.dumps(config))  # in the form in which it is read back
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = FileLock(self.path / LOCK)
        except BlockingIOError:
            raise BlockingIOError(
                f"{self.path}: another evaluation writes to this folder; wait for it, or choose another folder"
            ) from None
        self.records_path = self.path / RECORDS
        try:
            if self.records_path.exists() and not (self.path / CONFIG).exists():
                raise ValueError(f"{self.path}: holds {RECORDS} but no {CONFIG}; choose another folder")
            use_config(self.path, self.config)
            drop_partial_line(self.records_path, note, "its episode is played again")
            self.records: dict[Key, dict[str, Any]] = {}
            self._lines: dict[Key, bytes] = {}
            self._read()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the folder's lock."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read(self) -> None:
        begun = self.records_path.exists() and self.records_path.stat().st_size > 0
        for record in read_records(self.records_path) if begun else ():
            self.records[key_of(record)], self._lines[key_of(record)] = record, record.line

    def append(self, record: dict[str, Any]) -> None:
        """Append a record durably."""
        line = dump_line(record)
        append_line(self.records_path, line)
        self.records[key_of(record)], self._lines[key_of(record)] = record, line

    def finish(self, order: Iterable[Key]) -> list[dict[str, Any]]:
        """Sort all records into their final order, the same for any number of processes, and return them."""
        keys = list(order)
        lines = [self._lines[key] for key in keys]
        write_atomic(self.records_path, b"".join(lines))
        return [self.records[key] for key in keys]


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


def read_config(folder: Path) -> dict[str, Any]:
    """Read the configuration of a run folder."""
    path = folder / CONFIG
    try:
        config = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise RecordError(f"{path}: {error}") from None
    if not isinstance(config, dict):
        raise RecordError(f"{path}: must be an object, not {type(config).__name__}")
    return config
