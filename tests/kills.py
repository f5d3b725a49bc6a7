"""Run folders as they are left when their process is killed."""

from __future__ import annotations

from pathlib import Path

from collab_overcooked.runner.digests import DIGESTS, config_line, record_line
from collab_overcooked.runner.records import CONFIG, RECORDS


def leave_killed(folder: Path, data: bytes) -> None:
    """Write what a run had written when it was killed: records, of which the last may be torn, and their digests."""
    (folder / RECORDS).write_bytes(data)
    lines = [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]
    (folder / DIGESTS).write_bytes(b"".join([config_line((folder / CONFIG).read_bytes()), *map(record_line, lines)]))
