"""Facts about the replay of recordings of the original games."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .writing import read_json, table, write_json


def parity() -> str:
    """Show the counts of the last parity run."""
    kept = read_json("parity.json")
    if kept is None:
        return "Not run yet: `python docs/facts.py --parity DIR` replays the recordings in DIR and writes this table."
    files = kept["files"]
    totals: dict[str, Counter[str]] = {}
    known: dict[tuple[str, str], int] = {}
    for file in files:
        counts = {name: file[name] for name in ("episodes", "steps", "compared", "mismatches")}
        totals.setdefault(file["format"], Counter()).update(counts)
        for treatment, key in (("stopped", "stops"), ("passed", "passed")):
            for kind, count in file[key].items():
                known[kind, treatment] = known.get((kind, treatment), 0) + count
    rows = [(kind, n["episodes"], n["steps"], f"{n['compared'] / n['steps']:.1%}") for kind, n in totals.items()]
    mismatches = sum(each["mismatches"] for each in totals.values())
    return "\n\n".join(
        [
            f"Unexplained differences in the last run, of version {kept['version']}: {mismatches}.",
            table(("recordings of", "episodes", "steps", "compared"), rows, right=(1, 2, 3)),
            table(("deviation", "replay", "times"), [(*key, count) for key, count in known.items()], right=(2,)),
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
    write_json("parity.json", {"files": files})


FACTS = (parity,)
