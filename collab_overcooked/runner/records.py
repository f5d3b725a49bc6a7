"""Episode records on disk: one JSON line each, written as they come, read with exact complaints.

A run folder holds ``config.json`` (what is played), ``records.jsonl`` (what happened), and what is made from them:
``table.md``, ``table.csv``, ``table.json`` and ``report.html``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from collab_overcooked.envs.lexicon import PLAIN, Lexicon, load_lexicon
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.redaction import redact_values
from collab_overcooked.io.schema import SchemaError, json_line, parse_json
from collab_overcooked.runner.digests import DIGESTS, REMEDY, Digests, config_line, record_line, whole_file
from collab_overcooked.runner.record_schema import check_record

CONFIG, RECORDS, LOCK = "config.json", "records.jsonl", ".lock"
Key = tuple[str, int]
"""Task and episode number: what identifies a record within a run."""


class RecordError(ValueError):
    """A record cannot be used; the message names file, line and field."""


class StoredRecord(dict[str, Any]):
    """A record from a file.

    Attributes:
        where: File and line.
        line: As it stands there, with its line end.
    """

    where = ""
    line = b""


@contextmanager
def about(record: Mapping[str, Any]) -> Iterator[None]:
    """Turn errors of what a record holds (ValueError, TypeError) into RecordErrors that say which record it is."""
    try:
        yield
    except RecordError:
        raise
    except (ValueError, TypeError) as error:
        where = getattr(record, "where", "") or f"record of {record.get('task') or record['env_id']}"
        raise RecordError(f"{where}: {error}") from error


def read_records(path: str | Path, note: Callable[[str], None] = lambda _: None) -> list[Any]:
    """Read a file of records. A line that is there again counts once.

    Args:
        path: JSONL file, or the run folder that holds it.
        note: Called, in a sentence, with what makes the records less trustworthy.

    Returns:
        The records in the order of the file.

    Raises:
        RecordError: If there is no such file, it holds no record, one of its lines is no whole record, two lines say
            different things of one episode, or a line of a run folder is not what the run wrote.
    """
    path = Path(path)
    if path.is_dir():
        path = path / RECORDS
    with _about_file(path):
        before = _digests_of(path)
        text = path.read_bytes().decode("utf-8")
        after = _digests_of(path)  # of a run that goes on, it has those of all lines that were read
    records: list[Any] = [
        parse_record(line, f"{path}, line {n}") for n, line in enumerate(text.split("\n"), start=1) if line
    ]
    if not records:
        raise RecordError(f"{path}: holds no record")
    if before is None or after is None:
        note(f"{path}: unverified: without {DIGESTS} beside it, an edit would go unnoticed")
    else:
        _verify(path, records, before, after)
    return _one_of_each(records, key_of if (path.parent / CONFIG).exists() else _identity)


@contextmanager
def _about_file(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise RecordError(f"{path}: is no text file: {error.reason} at byte {error.start}") from None
    except ValueError as error:
        raise RecordError(str(error)) from None


def _digests_of(path: Path) -> Digests | None:
    """Return the digests of a file of records; other files of a run folder have none."""
    return Digests.read(path.parent) if path.name == RECORDS else None


def _verify(path: Path, records: Sequence[StoredRecord], before: Digests, after: Digests) -> None:
    """Compare what was read with the digests of the run, which may have gone on meanwhile.

    Raises:
        RecordError: Naming what was edited.
    """
    lines = [record.line for record in records]
    changed = after.changed_line(lines)
    if changed is not None:
        raise RecordError(f"{records[changed].where}: differs from what the run wrote; {REMEDY}")
    missing = before.missing(lines)
    if missing:
        raise RecordError(f"{path}: {missing} of the records that the run wrote are missing; {REMEDY}")
    config = path.parent / CONFIG
    try:
        after.check_config(config.read_bytes())
    except (ValueError, OSError) as error:
        raise RecordError(f"{config}: {getattr(error, 'strerror', None) or error}") from None


def _one_of_each(records: Iterable[StoredRecord], identity: Callable[[Mapping[str, Any]], Any]) -> list[Any]:
    """Return records without lines that are there again.

    Raises:
        RecordError: If two of them say different things of one episode.
    """
    found: dict[Any, StoredRecord] = {}
    for record in records:
        if found.setdefault(identity(record), record) != record:
            first = found[identity(record)].where.rpartition(", ")[2]
            raise RecordError(f"{record.where}: holds the episode of {first} once more, but otherwise; delete one line")
    return list(found.values())


def _identity(record: Mapping[str, Any]) -> str:
    """Return what tells episodes of several runs in one file apart."""
    names = ("suite", "env_id", "env_kwargs", "team", "task", "episode", "seed", "options", "due_number")
    return json.dumps([record.get(name) for name in names], sort_keys=True)


def parse_record(line: str, where: str) -> StoredRecord:
    """Read one line.

    Args:
        line: JSON of a record.
        where: File and line, for messages.

    Raises:
        RecordError: If it is truncated, no JSON, of another schema, or has a field that cannot be.
    """
    try:
        record = parse_json(line)
        check_record(record)
    except ValueError as error:
        raise RecordError(f"{where}: {error}") from None
    found = StoredRecord(record)
    found.where, found.line = where, line.encode() + b"\n"
    return found


def in_plain_words(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record whose messages are in plain words, whatever language its game speaks."""
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
    """Return a record as one line of UTF-8 JSON, without keys of language models.

    Raises:
        RecordError: If ``read_records`` would refuse it.
    """
    try:
        return json_line(redact_values(record), check_record)
    except SchemaError as error:
        where = f"{record.get('task') or record.get('env_id')}, episode {record.get('episode')}"
        raise RecordError(f"{where}: its record cannot be written: {error}") from None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that nobody ever sees a part of it, not even after a power cut."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def append_line(path: Path, line: bytes) -> None:
    """Add a line to a file so that it survives whatever happens next."""
    with path.open("ab") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def drop_partial_line(path: Path, note: Callable[[str], None], result: str) -> None:
    """Cut off a last line that was being written when a process was stopped.

    Args:
        path: The file.
        note: Called with what was done, in a sentence.
        result: What this means for what the line was about.
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
    """Write the configuration of a folder, or compare it with the one that is there.

    Raises:
        ValueError: If they differ; the message names the field.
    """
    path = folder / CONFIG
    if not path.exists():
        write_whole(path, json.dumps(config, indent=2).encode() + b"\n")
        return
    there = read_config(folder)
    for name in [*config, *(key for key in there if key not in config)]:
        if there.get(name) != config.get(name):
            was, now = _difference(there.get(name), config.get(name))
            raise ValueError(
                f"{folder}: holds a run with another configuration: {name} was {was}, now {now}; "
                "choose another folder or repeat the old command"
            )


class RunFolder:
    """A folder that one evaluation at a time writes to, and that can be continued from; close it after use.

    Args:
        path: The folder; made if it does not exist.
        config: What is played, fit for JSON.
        note: Called with what was repaired, in a sentence.

    Raises:
        ValueError: If the folder holds a run of another configuration, or records without one.
        RecordError: If a line other than the last is damaged, or two lines say different things of one episode.
        OSError: If the folder cannot be written to, or another process writes to it.
    """

    def __init__(self, path: str | Path, config: Mapping[str, Any], note: Callable[[str], None] = print) -> None:
        self.path, self.note = Path(path), note
        self.config = json.loads(json.dumps(config))  # as it will be read back
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
        """Let others write to the folder."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read(self) -> None:
        """Read the records, and begin the digests anew with them: one may be of a record that was never written."""
        begun = self.records_path.exists() and self.records_path.stat().st_size > 0
        for record in read_records(self.records_path, self.note) if begun else ():
            self.records[key_of(record)], self._lines[key_of(record)] = record, record.line
        digests = self.path / DIGESTS
        self._verified = digests.exists() or not begun
        found = Digests.read(self.path)
        if found is not None and not begun and len(found.records) > 1:
            raise RecordError(f"{self.records_path}: {len(found.records)} records are missing; {REMEDY}")
        if self._verified and (found is None or not found.finished):
            config = config_line((self.path / CONFIG).read_bytes())
            write_whole(digests, b"".join([config, *map(record_line, self._lines.values())]))

    def append(self, record: dict[str, Any]) -> None:
        """Write a record so that it survives whatever happens next.

        Raises:
            RecordError: If ``read_records`` would refuse it.
        """
        line = dump_line(record)
        if self._verified:  # before the record, so that a record without a digest is an edit
            append_line(self.path / DIGESTS, record_line(line))
        append_line(self.records_path, line)
        self.records[key_of(record)], self._lines[key_of(record)] = record, line

    def finish(self, order: Iterable[Key]) -> list[dict[str, Any]]:
        """Put all records into their final order, the same for any number of processes, and return them."""
        keys = list(order)
        lines = [self._lines[key] for key in keys]
        if self._verified:
            write_whole(self.path / DIGESTS, whole_file((self.path / CONFIG).read_bytes(), lines))
        write_whole(self.records_path, b"".join(lines))
        return [self.records[key] for key in keys]


def _difference(was: Any, now: Any) -> tuple[str, str]:
    """Return two values for a message; long lists are cut down to where they differ."""
    if isinstance(was, list) and isinstance(now, list) and len(was) + len(now) > 8:
        return f"{len(was)} entries", f"{len(now)} entries"
    return f"{was!r:.80}", f"{now!r:.80}"


def read_config(folder: Path) -> dict[str, Any]:
    """Read the configuration of a run folder.

    Raises:
        RecordError: If it is absent or no JSON object.
    """
    path = folder / CONFIG
    try:
        config = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise RecordError(f"{path}: {error}") from None
    if not isinstance(config, dict):
        raise RecordError(f"{path}: an object is needed, got {type(config).__name__}")
    return config
