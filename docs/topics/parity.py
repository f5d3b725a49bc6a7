"""Facts about the replay of recordings of the original games."""

from __future__ import annotations

from pathlib import Path

import collab_overcooked

from .writing import code, read_json, table, write_json


def parity() -> str:
    """Show the counts of the last parity run."""
    kept = read_json("parity.json")
    if kept is None:
        return "Not run yet: `python docs/facts.py --parity DIR` replays the recordings in DIR and writes this table."
    files = kept["files"]
    rows = [
        (code(f["file"]), f["format"], f["episodes"], f["steps"], f"{f['compared'] / f['steps']:.1%}", f["mismatches"])
        for f in files
    ]
    parts = [table(("file", "what", "episodes", "steps", "compared", "mismatches"), rows, right=(2, 3, 4, 5))]
    for key, head in (("stops", "stopped at a listed deviation"), ("passed", "passed over a listed deviation")):
        found = [(kind, code(f["file"]), count) for f in files for kind, count in f[key].items()]
        found.sort(key=lambda row: (row[1], -row[2]))
        parts.append(table((head, "file", "times"), found, right=(2,)))
    return "\n\n".join(parts)


def measure_parity(directory: Path) -> None:
    """Replay all recordings in a folder and keep the counts."""
    from parity import scan

    files = []
    for recording, known in scan(directory):
        if known is None:
            continue
        report = known.replay(recording)
        files.append(
            {
                "file": recording.path.relative_to(directory).as_posix(),
                "format": report.format,
                "episodes": report.episodes,
                "steps": report.steps,
                "compared": report.compared,
                "mismatches": report.mismatches,
                "stops": dict(report.stops.most_common()),
                "passed": dict(report.passed.most_common()),
            }
        )
    write_json("parity.json", {"version": collab_overcooked.__version__, "files": files})


FACTS = (parity,)
