"""What a recording is, what a format does with it, and what a replay found."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any


class Mismatch(Exception):
    """A difference that no listed deviation explains."""


class Deviation(Exception):
    """A listed deviation after which the games differ on purpose; its kind is the message."""


@dataclass(frozen=True)
class Recording:
    """A recording file: ``episodes`` of a JSON-lines file, or the one ``document`` of a JSON file."""

    path: Path
    episodes: list[Any]

    @property
    def first(self) -> Any:
        """What tells the format."""
        return self.episodes[0] if self.episodes else None


@dataclass
class FileReport:
    """What a replay of one file found.

    Attributes:
        path: The file.
        format: Name of its format.
        episodes: Episodes or tables of rows.
        steps: Recorded steps or rows.
        compared: Steps or rows that were compared.
        stops: Listed deviations at which an episode's replay ended, by kind.
        passed: Listed deviations that leave the state alone, by kind; the replay went on.
        mismatches: Episodes with an unexplained difference.
        first: The first difference in full.
    """

    path: Path
    format: str
    episodes: int = 0
    steps: int = 0
    compared: int = 0
    stops: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    mismatches: int = 0
    first: str = ""

    @property
    def share(self) -> float:
        """Share of recorded steps that were compared."""
        return self.compared / self.steps if self.steps else 1.0

    def run(self, label: str, replay: Callable[[], None]) -> None:
        """Run one episode's replay and count how it ended."""
        self.episodes += 1
        try:
            replay()
        except Deviation as deviation:
            self.stops[str(deviation)] += 1
        except (Mismatch, KeyError, TypeError, IndexError, ValueError) as problem:
            self.mismatches += 1
            kind = "" if isinstance(problem, Mismatch) else f"unreadable ({type(problem).__name__}): "
            self.first = self.first or f"{label}: {kind}{problem}"

    def run_all(
        self,
        cases: Iterable[tuple[str, Any]],
        replay: Callable[[Any, FileReport], None],
        steps: Callable[[Any], int] = lambda case: len(case["steps"]),
    ) -> None:
        """Run the replays of all episodes, or of what a recording has instead.

        Args:
            cases: Pairs of a label, by which the first difference is called, and an episode.
            replay: Replays one and counts in this report what it compared.
            steps: Recorded steps or rows of one.
        """
        for label, case in cases:
            self.steps += steps(case)
            self.run(label, partial(replay, case, self))


@dataclass(frozen=True)
class Format:
    """A kind of recording.

    Attributes:
        name: As reports print it.
        recognises: Whether the first episode of a file looks like it.
        compare: Replays a recording and writes into the report what was found.
    """

    name: str
    recognises: Callable[[Any], bool]
    compare: Callable[[Recording, FileReport], None]

    def replay(self, recording: Recording) -> FileReport:
        """Replay a recording and say what was found."""
        report = FileReport(recording.path, self.name)
        self.compare(recording, report)
        return report


def one(case: Any) -> int:
    """Count what is compared as a whole."""
    return 1


def has(*names: str) -> Callable[[Any], bool]:
    """Return a function that tells mappings with these keys."""
    return lambda first: isinstance(first, dict) and set(names) <= set(first)


def starts_with(recognises: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a function that tells lists by their first entry."""
    return lambda first: isinstance(first, list) and bool(first) and recognises(first[0])


@contextmanager
def at(place: str) -> Iterator[None]:
    """Say of a difference where it is."""
    try:
        yield
    except Mismatch as difference:
        raise Mismatch(f"{place}: {difference}") from None


def expect(what: str, ours: Any, recorded: Any) -> None:
    """Compare one thing.

    Raises:
        Mismatch: If they differ; the message shows both.
    """
    if ours != recorded:
        raise Mismatch(f"{what}: ours {ours!r}, recorded {recorded!r}")


def read_recording(path: Path) -> Recording | None:
    """Read a ``.json``, ``.jsonl``, ``.json.gz`` or ``.jsonl.gz`` file; None for anything else.

    Raises:
        ValueError: If it cannot be read; the message names file and line.
    """
    name = path.name.removesuffix(".gz")
    if not name.endswith((".json", ".jsonl")):
        return None
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.name.endswith(".gz") else raw).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read recording {path}: {error}") from None
    lines = text.splitlines() if name.endswith(".jsonl") else [text]
    episodes = []
    for number, line in enumerate(lines, start=1):
        try:
            episodes.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}, line {number}: not valid JSON ({error.msg}); the file may be cut off") from None
    return Recording(path, episodes)


def describe(report: FileReport, name: str) -> list[str]:
    """Return the lines that are printed of a file."""
    lines = [
        f"{name}: {report.format}",
        f"  episodes {report.episodes}, steps {report.steps}, compared {report.compared} ({report.share:.1%}), "
        f"mismatches {report.mismatches}",
    ]
    for title, counts in (("stopped at", report.stops), ("passed over", report.passed)):
        lines += [f"  {title} listed deviation {kind}: {count}" for kind, count in counts.most_common()]
    if report.mismatches:
        lines.append(f"  first difference: {report.first}")
    return lines
