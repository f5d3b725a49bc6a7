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
        (code(f["file"]), f["format"], f["episodes"], f["steps"], f"{f['compared'] / f['steps']:.1%}") for f in files
    ]
    mismatches = sum(f["mismatches"] for f in files)
    known = [
        (kind, treatment, code(Path(f["file"]).name), count)
        for treatment, key in (("stopped", "stops"), ("passed", "passed"))
        for f in files
        for kind, count in f[key].items()
    ]
    return "\n\n".join(
        [
            f"Unexplained differences in the last run: {mismatches}.",
            table(("file", "recordings of", "episodes", "steps", "compared"), rows, right=(2, 3, 4)),
            table(("deviation", "replay", "file", "times"), known, right=(3,)),
        ]
    )


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
