"""Digests of the lines of a run folder, so that a later edit of its records is noticed; nobody is kept from one.

``records.sha256`` has a line for the configuration, one for each record, written before the record itself, and at last
``finished``. The order of records does not matter, because a finished run puts them into another one. A run that was
killed has at most one digest whose record was never written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

DIGESTS = "records.sha256"
_CONFIG, _RECORD, _FINISHED = "config", "record", "finished"


def digest_of(data: bytes) -> str:
    """Return SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def config_line(config: bytes) -> bytes:
    """Return the line of a configuration file."""
    return f"{_CONFIG} {digest_of(config)}\n".encode()


def record_line(line: bytes) -> bytes:
    """Return the line of a record, which is given with its line end."""
    return f"{_RECORD} {digest_of(line)}\n".encode()


def whole_file(config: bytes, lines: Iterable[bytes]) -> bytes:
    """Return the digests of a finished run."""
    return b"".join([config_line(config), *map(record_line, lines), f"{_FINISHED}\n".encode()])


@dataclass(frozen=True)
class Digests:
    """Digests that were read.

    Attributes:
        config: Of the configuration file; empty if there is none.
        records: Of the records, in the order in which they were written.
        finished: Whether the run was finished.
    """

    config: str
    records: tuple[str, ...]
    finished: bool

    @classmethod
    def read(cls, folder: Path) -> Digests | None:
        """Return the digests of a folder, None if it has none; a last line that was being written does not count.

        Raises:
            ValueError: For a line that is none.
        """
        path = folder / DIGESTS
        if not path.exists():
            return None
        config, records, finished = "", [], False
        data = path.read_bytes()
        for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
            kind, _, value = line.decode("ascii", "replace").partition(" ")
            if kind == _CONFIG and number == 1:
                config = value
            elif kind == _RECORD and len(value) == 64:
                records.append(value)
            elif kind == _FINISHED:
                finished = True
            else:
                raise ValueError(f"{path}, line {number}: is no digest")
        return cls(config, tuple(records), finished)

    def check_config(self, config: bytes) -> None:
        """Compare the configuration file.

        Raises:
            ValueError: If it is another.
        """
        if self.config and self.config != digest_of(config):
            raise ValueError(f"differs from what the run wrote; {REMEDY}")

    def changed_line(self, lines: Sequence[bytes]) -> int | None:
        """Return the index of the first line that the run did not write, None if it wrote all of them."""
        known = set(self.records)
        return next((i for i, line in enumerate(lines) if digest_of(line) not in known), None)

    def missing(self, lines: Iterable[bytes]) -> int:
        """Return how many records are not there any more, other than one that may not have been written."""
        there = set(map(digest_of, lines))
        lost = [digest for digest in self.records if digest not in there]
        killed = not self.finished and lost == [self.records[-1]]
        return 0 if killed else len(lost)


REMEDY = f"restore it, or delete {DIGESTS} to use the records as they are, unverified"
