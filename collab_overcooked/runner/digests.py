"""Digests of the lines of a run folder, which reveal later edits of its records but cannot prevent them.

``records.sha256`` has a line for the configuration, one for each record, written before the record itself, and finally
``finished``. The order of records does not matter, because a finished run reorders them. A killed run has at most one
digest whose record was never written.
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
    """Return the line of a record, which includes its newline."""
    return f"{_RECORD} {digest_of(line)}\n".encode()


def digests_file(config: bytes, lines: Iterable[bytes]) -> bytes:
    """Return the digests of a finished run."""
    return b"".join([config_line(config), *map(record_line, lines), f"{_FINISHED}\n".encode()])


@dataclass(frozen=True)
class Digests:
    """Parsed digests of a run folder.

    Attributes:
        config: Digest of the configuration file; empty if there is none.
        records: Digests of the records, in the order of writing.
        finished: Whether the run is finished.
    """

    config: str
    records: tuple[str, ...]
    finished: bool

    @classmethod
    def read(cls, folder: Path) -> Digests | None:
        """Return the digests of a folder, None if it has none; an incomplete last line is ignored.

        Raises:
            ValueError: For a line that is not a digest.
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
                raise ValueError(f"{path}, line {number}: not a digest")
        return cls(config, tuple(records), finished)

    def check_config(self, config: bytes) -> None:
        """Compare the configuration file.

        Raises:
            ValueError: If it differs.
        """
        if self.config and self.config != digest_of(config):
            raise ValueError(f"differs from what the run wrote; {REMEDY}")

    def changed_line(self, lines: Sequence[bytes]) -> int | None:
        """Return the index of the first line not written by the run, None if there is none."""
        known = set(self.records)
        return next((i for i, line in enumerate(lines) if digest_of(line) not in known), None)

    def missing(self, lines: Iterable[bytes]) -> int:
        """Return the number of deleted records, except one that may never have been written."""
        there = set(map(digest_of, lines))
        lost = [digest for digest in self.records if digest not in there]
        killed = not self.finished and lost == [self.records[-1]]
        return 0 if killed else len(lost)


REMEDY = f"restore it, or delete {DIGESTS} to use the records as they are, unverified"
