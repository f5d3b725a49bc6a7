"""Find recordings below a directory, replay each in its format, and print what was found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from parity import collab_overcooked, cuisineworld, overcooked, overcooked_agent, overcooked_v2, rooms
from parity.report import Format, Recording, describe, read_recording

# A new game adds its own here.
FORMATS = (
    collab_overcooked.FORMATS
    + cuisineworld.FORMATS
    + overcooked.FORMATS
    + overcooked_agent.FORMATS
    + overcooked_v2.FORMATS
    + rooms.FORMATS
)


def scan(directory: Path) -> Iterator[tuple[Recording, Format | None]]:
    """Yield every recording below a directory with its format, None for an unknown one.

    Raises:
        ValueError: If the directory does not exist or holds no recording.
    """
    if not directory.is_dir():
        raise ValueError(f"{directory} is not a directory with recordings")
    found = False
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        recording = read_recording(path)
        if recording is not None:
            found = True
            known = (known for known in FORMATS if recording.first is not None and known.recognises(recording.first))
            yield recording, next(known, None)
    if not found:
        raise ValueError(f"{directory} holds no recording (.json, .jsonl, .json.gz or .jsonl.gz)")


def run_parity(directory: Path, console: Console) -> int:
    """Replay every recording below a directory and print what was found.

    Args:
        directory: Where to look, at any depth.
        console: Where to print.

    Returns:
        0 if nothing differs beyond the listed deviations, 1 otherwise.
    """
    reports = []
    for recording, known in scan(directory):
        name = recording.path.relative_to(directory)
        if known is None:
            console.print(f"{name}: not compared, a format that this version does not know", highlight=False)
            continue
        report = known.replay(recording)
        reports.append(report)
        for line in describe(report, str(name)):
            console.print(line, markup=False, highlight=False)
    if not reports:
        console.print("no recording in a known format")
        return 1
    return int(any(report.mismatches for report in reports))
