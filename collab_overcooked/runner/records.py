"""Episode records on disk: one JSON line each, appended as episodes end, and validated when read.

A run folder holds ``config.json``, ``records.jsonl``, and results that are derived from them: ``table.md``,
``table.csv``, ``table.json`` and ``report.html``.
"""

from __future__ import annotations

import gc
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from operator import attrgetter, eq
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Struct, structs

from collab_overcooked import registry
from collab_overcooked.core.record import (
    SCHEMA,
    EpisodeRecord,
    ErrorEntry,
    MessageEntry,
    RecordT,
    Step,
    compress,
    history_of,
    pack,
    unpack,
)
from collab_overcooked.envs.lexicon import Lexicon, load_lexicon
from collab_overcooked.game_spec import PLAIN
from collab_overcooked.io import schema
from collab_overcooked.io.checks import check_options, near_matches
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.io.files import text_lines
from collab_overcooked.io.redaction import is_key_known, redact_values
from collab_overcooked.io.schema import SchemaError, json_value, read_json
from collab_overcooked.io.structs import Name, convert, decode, encode

CONFIG, RECORDS = "config.json", "records.jsonl"
T = TypeVar("T")
Key = tuple[str, int]
"""Task and episode number, which identify a record within a run."""


class RecordError(ValueError):
    """Invalid record; the message names file, line and field."""


UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""Exceptions that malformed records can trigger while being read."""


@contextmanager
def about(record: EpisodeRecord) -> Iterator[None]:
    """Convert errors in the content of a record (``UNREADABLE``) to RecordErrors that name the record.

    Raises:
        RecordError: The content of the record is invalid.
    """
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
        The records in the order of the file, each of its game's subclass of ``EpisodeRecord``.
    """
    return [record for record, _ in read_lines(*_file_of(path))]


def read_packed(path: str | Path) -> list[Any]:
    """Read a file of records, see ``read_records``, into a fraction of the memory, see ``core.record.pack``."""
    return [record for record, _ in read_lines(*_file_of(path), pack=True)]


def _file_of(path: str | Path) -> tuple[Path, JsonlFormat[Any], Callable[[Any], Hashable] | None]:
    path = Path(path)
    file = path / RECORDS if path.is_dir() else path
    if path.is_dir() and not file.exists():
        below = min(path.rglob(RECORDS), default=None)  # of a study, a comparison, or a folder of runs
        if below is not None:
            raise ValueError(f"{path}: has no {RECORDS} of its own; name a folder that has, such as {below.parent}")
    return file, EPISODES, None if file.name == RECORDS and (file.parent / CONFIG).exists() else _identity


class PackedRecords(Sequence[Any]):
    """Records that are kept packed; each is decoded anew when it is asked for.

    Args:
        records: Packed records, or others.
    """

    def __init__(self, records: Iterable[Any] = ()) -> None:
        self.packed = list(records)

    def __len__(self) -> int:
        return len(self.packed)

    def __getitem__(self, index: int | slice) -> Any:
        return list(map(unpack, self.packed[index])) if isinstance(index, slice) else unpack(self.packed[index])

    def __iter__(self) -> Iterator[Any]:
        return map(unpack, self.packed)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[PackedRecords], tuple[list[Any]]]:
        """Copy and pickle whole records."""
        return type(self), (list(self),)

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return [*other, *self]


def packed(records: Sequence[RecordT]) -> Sequence[RecordT]:
    """Return records as they are kept, for code that holds many of them at once."""
    return records.packed if isinstance(records, PackedRecords) else records


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


@dataclass(frozen=True)
class JsonlFormat(Generic[T]):
    """Lines of JSON that a file holds."""

    file: str  # Its name in a run folder
    noun: str  # What a line stands for, for messages
    parse: Callable[[str, str], T]  # Reads a line; the second text names its place for messages
    dump: Callable[[T], bytes]  # Returns a line
    key: Callable[[T], Hashable]  # Identifies what a line stands for within a run
    # Returns a value in less memory, given its compressed line
    pack: Callable[[T, bytes], T] = lambda value, line: value

    @classmethod
    def of(cls, file: str, noun: str, kind: type[T], key: Callable[[T], Hashable]) -> JsonlFormat[T]:
        """Return lines that hold values of a type.

        Raises:
            SchemaError: The type has no form in JSON.
        """

        def parse(line: str, where: str) -> T:
            try:
                return decode(line, kind)
            except SchemaError as error:
                raise SchemaError(f"{where}: {error}") from None

        def dump(value: T) -> bytes:
            line = encode(value)
            decode(line, kind)  # so that what is written can be read: numbers that are not finite become null
            return line + b"\n"

        return cls(file, noun, parse, dump, key)


@_without_collections()
def read_lines(
    path: Path, lines: JsonlFormat[T], key: Callable[[T], Hashable] | None = None, *, pack: bool = False
) -> list[tuple[T, bytes]]:
    """Return the values of a file's lines, each with its compressed line; repeated lines count once.

    Args:
        path: The file.
        lines: Format of its lines.
        key: Identifies what a line stands for; that of a run if None.
        pack: Whether values are packed, and lines kept.

    Returns:
        Values, each with its compressed line, which is empty unless they are packed.

    Raises:
        RecordError: The file has no lines, or two lines with the same key differ.
    """
    identity, numbers = key or lines.key, dict[Hashable, int]()
    values: dict[Hashable, tuple[T, bytes]] = {}
    for number, line in enumerate(text_lines(path, error=RecordError), start=1):
        if not line:
            continue
        where = f"{path}, line {number}"
        value = lines.parse(line, where)
        one = identity(value)
        if one not in values:
            text = compress(line.encode() + b"\n") if pack else b""
            values[one], numbers[one] = (lines.pack(value, text) if pack else value, text), number
            continue
        first, text = values[one]
        if (lines.parse(zlib.decompress(text).decode(), where) if pack else first) != value:
            raise RecordError(
                f"{where}: contradicts line {numbers[one]} about the same {lines.noun}; delete one of these lines"
            )
    if not values:
        raise RecordError(f"{path}: contains no record")
    return list(values.values())


def _identity(record: EpisodeRecord) -> bytes:
    kept = record.options, record.part
    people = [[person.id, person.session, person.number] for person in record.people.values()]  # may leave, and again
    game = record.suite_name, record.env_kwargs, record.team
    return encode([*game, record.task, record.episode, record.seed, *kept, people])


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
        The record, of its game's subclass of ``EpisodeRecord``.

    Raises:
        RecordError: The line is damaged or of another form.
    """
    try:
        record = _decode(line)
    except ValueError as error:
        raise RecordError(f"{where}: {error}") from None
    record.__dict__["where"] = where
    return record


def _decode(line: str | bytes) -> EpisodeRecord:
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
def record_class(suite: str) -> type[EpisodeRecord]:
    """Return the class of the records of a suite, or of a game by its id."""
    if suite in registry.registered() and not registry.find(suite).suites:
        return EpisodeRecord
    kind: type[EpisodeRecord] = registry.load_suite(suite).record_class
    return kind


def check_record(record: EpisodeRecord) -> None:
    """Check a record beyond its types: its options are valid and its fields agree with each other.

    Raises:
        ValueError: Naming the field, its value and what is allowed.
    """
    _check_options(record.env_id, encode(record.env_kwargs))
    for name in ("env_kwargs", "options", "metrics"):
        schema.read(json_value, getattr(record, name), name)
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


def _check_seats(record: EpisodeRecord, seats: int) -> None:
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
    schema.read(schema.optional(schema.name), options.get(registry.LEXICON), registry.LEXICON)
    registry.read_options(env_id, options)


def derived_fields(record: EpisodeRecord) -> Mapping[str, Any]:
    """Compute the fields of a record that follow from its other fields; empty if a file of its game is missing."""
    if record.suite or not registry.find(record.env_id).suites:
        return {}
    try:
        derived: Mapping[str, Any] = registry.load_suite(record.env_id).derived(record)
    except (DocumentError, OSError):
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
            step, messages=[structs.replace(m, say=exchange(m.say), plan=exchange(m.plan)) for m in step.messages]
        )
        for step in record.steps
    ]
    return record.replace(steps=steps)


@lru_cache(maxsize=4)
def _lexicon(language: str) -> Lexicon:
    return load_lexicon(language)


def key_of(record: EpisodeRecord) -> Key:
    """Return task and episode number."""
    return record.task, record.episode


def dump_line(record: EpisodeRecord) -> bytes:
    """Return a record as one line of UTF-8 JSON, with access keys redacted.

    Raises:
        RecordError: The record has a value that JSON cannot hold.
    """
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


EPISODES: JsonlFormat[Any] = JsonlFormat(RECORDS, "episode", parse_record, dump_line, key_of, pack)
"""Records of episodes."""


def read_config(folder: Path, kind: Any = dict[str, Any]) -> Any:
    """Read the configuration of a run folder.

    Args:
        folder: The run folder.
        kind: Type of the values that the caller reads; the file may hold more.

    Returns:
        The values as they are in the file.

    Raises:
        RecordError: The file cannot be read, or holds a value that the type does not allow.
    """
    return read_json(folder / CONFIG, partial(convert, kind=kind), RecordError)
