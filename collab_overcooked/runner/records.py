"""Episode records on disk: one JSON line each, appended as episodes end, and validated when read.

A run folder holds ``config.json``, ``records.jsonl``, and results that are derived from them: ``table.md``,
``table.csv``, ``table.json`` and ``report.html``.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from msgspec import Struct, structs

from collab_overcooked import registry
from collab_overcooked.core.record import SCHEMA, ErrorEntry, MessageEntry, Record, RecordT, Step, history_of
from collab_overcooked.envs.lexicon import Lexicon, load_lexicon
from collab_overcooked.game_record import PLAIN
from collab_overcooked.io import schema
from collab_overcooked.io.checks import check_options, near_matches
from collab_overcooked.io.documents import LayoutError
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.files import read_text, write_atomic
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.io.redaction import is_key_known, redact_values
from collab_overcooked.io.schema import Form, SchemaError, object_of, read_json, unchecked
from collab_overcooked.io.structs import Name, decode, encode

CONFIG, RECORDS, LOCK = "config.json", "records.jsonl", ".lock"
Note = Callable[[str], None]
Key = tuple[str, int]
"""Task and episode number, which identify a record within a run."""


class RecordError(ValueError):
    """Invalid record; the message names file, line and field."""


_ANY_CONFIG = object_of({})
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""Errors that code which reads a record raises for values that no game writes."""


@contextmanager
def about(record: Record) -> Iterator[None]:
    """Convert errors in the content of a record (``UNREADABLE``) to RecordErrors that name the record."""
    try:
        yield
    except RecordError:
        raise
    except UNREADABLE as error:
        where = record.where or f"record of {record.task or record.env_id}"
        reason = str(error) if isinstance(error, (ValueError, TypeError)) else f"{type(error).__name__}: {error}"
        raise RecordError(f"{where}: {reason}") from error


def read_records(path: str | Path) -> list[Any]:
    """Read a file of records. Repeated lines count once.

    Args:
        path: JSONL file, or the run folder that contains it.

    Returns:
        The records in the order of the file, each of its game's subclass of ``Record``.
    """
    path = Path(path)
    return [record for record, _ in _read_lines(path / RECORDS if path.is_dir() else path)]


@contextmanager
def _without_collections() -> Iterator[None]:
    """Pause the garbage collector, which would visit millions of new lists again and again (half of the time)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_without_collections()
def _read_lines(path: Path) -> list[tuple[Any, bytes]]:
    lines: dict[Any, tuple[Record, bytes]] = {}
    identity = key_of if (path.parent / CONFIG).exists() else _identity
    for number, line in enumerate(read_text(path, error=RecordError).split("\n"), start=1):
        if not line:
            continue
        record = parse_record(line, f"{path}, line {number}")
        first, _ = lines.setdefault(identity(record), (record, line.encode() + b"\n"))
        if first != record:
            place = first.where.rpartition(", ")[2]
            raise RecordError(f"{record.where}: contradicts {place} about the same episode; delete one of these lines")
    if not lines:
        raise RecordError(f"{path}: contains no record")
    return list(lines.values())


def _identity(record: Record) -> bytes:
    due_number = getattr(record, "due_number", None)
    kept = record.options, due_number
    return encode([record.suite_name, record.env_kwargs, record.team, record.task, record.episode, record.seed, *kept])


class _Head(Struct):
    schema: Any
    env_id: Name
    suite: Name = ""


def parse_record(line: str, where: str) -> Any:
    """Parse one line.

    Args:
        line: JSON of a record.
        where: File and line, for messages.

    Returns:
        The record, of its game's subclass of ``Record``.
    """
    try:
        record = _decode(line)
    except ValueError as error:
        raise RecordError(f"{where}: {error}") from None
    record.__dict__["where"] = where
    return record


def _decode(line: str | bytes) -> Record:
    head = decode(line, _Head)
    schema.read(schema.one_of((SCHEMA,)), head.schema, "schema")
    if head.suite:
        schema.read(schema.one_of(registry.COMMON_SUITES), head.suite, "suite")
    if head.env_id not in registry.registered():
        raise ValueError(near_matches("environment id", head.env_id, registry.registered()))
    record = decode(line, record_class(head.suite or head.env_id))
    check_record(record)
    return record


@cache
def record_class(suite: str) -> type[Record]:
    """Return the class of the records of a suite, or of a game by its id."""
    if suite in registry.registered() and not registry.find(suite).suites:
        return Record
    kind: type[Record] = registry.load_suite(suite).record_class
    return kind


def check_record(record: Record) -> None:
    """Check what the types of a record leave open: its options, and that its fields agree with each other.

    Raises:
        ValueError: Naming the field, its value and what is allowed.
    """
    _check_options(record.env_id, encode(record.env_kwargs))
    for name in ("env_kwargs", "options", "metrics"):
        schema.read(unchecked, getattr(record, name), name)
    schema.read(_check_team, record.team, "team")
    _check_seats(record, len(record.team))
    if len(record.steps) != record.timesteps:
        raise SchemaError(f"timesteps: says {record.timesteps}, but there are {len(record.steps)} steps")
    if record.history != history_of(record.steps, len(record.team)):
        raise SchemaError("history: differs from the labels of the events in the steps")
    for name, value in derived_fields(record).items():
        if name in ("task", "level") and getattr(record, name) not in (value, None):
            got = getattr(record, name)
            raise SchemaError(f"{name}: got {got!r:.60}, but the options are those of {value!r:.60}")


def _check_team(team: Mapping[str, str]) -> None:
    if not team:
        raise schema.refuse(team, "a mapping with a policy for each seat")
    seats = [f"agent_{i}" for i in range(len(team))]
    if list(team) != seats:
        raise SchemaError(f"has {', '.join(team)}, allowed are {', '.join(seats)}"[:200])


_SEATS = ("actions", "action_texts", "events", "rewards", "tokens")
_SEATS_IF_GIVEN = ("seconds", "exchanges", "turn_order")
_lists_of = attrgetter(*_SEATS, *_SEATS_IF_GIVEN)


def _check_seats(record: Record, seats: int) -> None:
    lengths = {"history": len(record.history), "feedback": len(record.feedback) or seats}
    expected = (seats,) * len(_SEATS) + (0,) * len(_SEATS_IF_GIVEN)
    for t, step in enumerate(record.steps):
        if (counted := tuple(map(len, _lists_of(step)))) != expected:
            named = dict(zip((*_SEATS, *_SEATS_IF_GIVEN), counted, strict=True))
            lengths |= {f"steps[{t}].{name}": n for name, n in named.items() if n or name in _SEATS}
        if step.messages or step.errors:
            _check_agents(step, t, seats)
    for name, length in lengths.items():
        if length != seats:
            raise SchemaError(f"{name} lists {length} entries; it must list {seats}")


def _check_agents(step: Step, t: int, seats: int) -> None:
    mentioned: dict[str, Sequence[MessageEntry | ErrorEntry]] = {"messages": step.messages, "errors": step.errors}
    for name, mentions in mentioned.items():
        for k, mention in enumerate(mentions):
            if mention.agent is not None and mention.agent >= seats:
                refused = schema.refuse(mention.agent, f"an integer from 0 to {seats - 1}")
                refused.path = ["steps", t, name, k, "agent"]
                raise refused


@lru_cache(maxsize=256)
def _check_options(env_id: str, encoded: bytes) -> None:
    options = decode(encoded, dict)
    check_options(options, registry.game_options(env_id))
    object_of({}, {registry.LEXICON: schema.optional(schema.name)})(options)
    registry.game_class(env_id).config_class.read((), {k: v for k, v in options.items() if k != registry.LEXICON})


def derived_fields(record: Record) -> Mapping[str, Any]:
    """Return the fields of a record that follow from its other fields; empty if a file of its game is missing."""
    if record.suite or not registry.find(record.env_id).suites:
        return {}
    try:
        derived: Mapping[str, Any] = registry.load_suite(record.env_id).derived(record)
    except (LayoutError, OSError):
        return {}
    return derived


def without_lexicon(record: RecordT) -> RecordT:
    """Return a record with its messages translated back from the game's lexicon."""
    language = record.env_kwargs.get("lexicon", PLAIN)
    if language == PLAIN:
        return record
    exchange = _lexicon(language).exchange
    steps = [
        structs.replace(
            step,
            messages=[structs.replace(m, say=exchange(m.say), plan=exchange(m.plan)) for m in step.messages],
        )
        for step in record.steps
    ]
    return record.replace(steps=steps)


@lru_cache(maxsize=4)
def _lexicon(language: str) -> Lexicon:
    return load_lexicon(language)


def key_of(record: Record) -> Key:
    """Return task and episode number."""
    return record.task, record.episode


def dump_line(record: Record) -> bytes:
    """Return a record as one line of UTF-8 JSON, with access keys redacted."""
    try:
        line = encode(record)
        if is_key_known():
            line = encode(redact_values(decode(line, dict)))
        decode(line, record_class(record.suite_name))
        check_record(record)  # not what was decoded: numbers that are not finite are written as null
    except SchemaError as error:
        where = f"{record.task or record.env_id}, episode {record.episode}"
        raise RecordError(f"{where}: its record cannot be written: {error}") from None
    return line + b"\n"


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
        self.records: dict[Key, Any] = {}
        self._lines: dict[Key, bytes] = {}
        busy = "another evaluation writes to this folder; wait for it, or choose another folder"
        files = [(self._journal, "its episode is played again")]
        with locked_folder(self.path, busy, self.config, files, note) as self._lock:
            begun = self._journal.path.exists() and self._journal.path.stat().st_size > 0
            for record, line in _read_lines(self._journal.path) if begun else ():
                self.records[key_of(record)], self._lines[key_of(record)] = record, line

    def append(self, record: Record) -> None:
        """Append a record durably."""
        line = dump_line(record)
        self._journal.append_line(line)
        self.records[key_of(record)], self._lines[key_of(record)] = record, line

    def finish(self, order: Iterable[Key]) -> list[Any]:
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
