"""Files of results for hosted leaderboards: a line of JSON for each team and setting, which anyone can check.

A row holds its numbers and the digests of the configuration and of the records that they come from. Whoever has the run
folders beside the file recomputes the numbers and replays a sample of the episodes.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from collab_overcooked import __version__, registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.io.files import file_digest, write_atomic
from collab_overcooked.io.structs import Count, Name, Number
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.reporting.record_scoring import RecordScoring
from collab_overcooked.reporting.results import measure_all
from collab_overcooked.reporting.sample_sizes import counted
from collab_overcooked.runner.env_variants import axis_values, by_variant, variant_of
from collab_overcooked.runner.records import CONFIG, RECORDS, JsonlFormat, read_config, read_lines, read_packed
from collab_overcooked.runner.replay import first_difference

CLOSE = 1e-9  # relative difference of numbers that count as equal: sums depend on the order in which they are taken


class Measure(Struct, frozen=True, forbid_unknown_fields=True):
    """Mean over the episodes of a row, with its 95 % interval where there are several."""

    mean: Number
    low: Number | None = None
    high: Number | None = None


class ResultRow(Struct, frozen=True, forbid_unknown_fields=True):
    """Result of one team in one setting of a game."""

    suite: Name
    env_id: Name
    variant: Name  # Options that differ from their defaults, without those of the setting; empty for none
    setting: Mapping[Name, Any]  # The options that the suite varies, such as layouts and tasks
    team: tuple[Name, ...]  # Policy specs in seat order
    seed: Count | None  # Of the run; None for one that has none
    episodes: Count  # That count: without those a budget cut short, and without repetitions
    measures: Mapping[Name, Measure]  # By metric
    version: Name  # Of the package that writes the row
    run: Name  # Folder of the run, from that of the file
    config: Name  # SHA-256 of its configuration
    records: Name  # SHA-256 of its records
    plugins: Mapping[Name, Name] = {}  # Digests of weights and code of users that played
    format: Literal["collab-overcooked-results/1"] = "collab-overcooked-results/1"


def _place(row: ResultRow) -> tuple[str, ...]:
    return row.run, row.env_id, row.variant, json.dumps(row.setting, sort_keys=True), *row.team


ROWS = JsonlFormat.of("results.jsonl", "row", ResultRow, _place)


def run_folders(paths: Sequence[Path]) -> list[Path]:
    """Return the run folders with records among these folders and below them, each once, in order of their names.

    Raises:
        ValueError: A path holds no run.
    """
    folders = []
    for path in paths:
        below = sorted(file.parent for file in path.rglob(RECORDS) if (file.parent / CONFIG).exists())
        if not below:
            raise ValueError(f"{path}: holds no run with {RECORDS} and {CONFIG}")
        folders += below
    by_place: dict[Path, Path] = {}
    for folder in folders:
        by_place.setdefault(folder.resolve(), folder)
    return list(by_place.values())


def rows_of(folder: Path, base: Path) -> list[ResultRow]:
    """Return the rows of a run folder, for a file in the folder ``base``."""
    config = read_config(folder)
    digests = [file_digest(folder / name) for name in (CONFIG, RECORDS)]
    played = counted(read_packed(folder), RecordScoring())
    return [
        ResultRow(
            suite=registry.suite_of(records[0]).name,
            env_id=records[0].env_id,
            variant=variant_of(records[0]).label,
            setting=axis_values(records[0]),
            team=tuple(records[0].specs),
            seed=config.get("seed"),
            episodes=len(records),
            measures=_measures(records),
            version=__version__,
            run=Path(os.path.relpath(folder, base)).as_posix(),
            config=digests[0],
            records=digests[1],
            plugins=config.get("plugins") or {},
        )
        for records in by_variant(played, team=_where)
    ]


def _where(record: EpisodeRecord) -> tuple[str, ...]:
    return record.env_id, variant_of(record).label, json.dumps(axis_values(record), sort_keys=True), *record.specs


def _measures(records: Sequence[EpisodeRecord]) -> dict[str, Measure]:
    values: dict[str, list[float]] = {}
    for record in records:
        for name, number in measure_all(record).items():
            values.setdefault(name, []).append(number)
    means = {name: mean_ci(numbers) for name, numbers in values.items()}
    return {name: Measure(mean.value, mean.low, mean.high) for name, mean in means.items() if mean is not None}


def write(paths: Sequence[Path], out: Path) -> list[ResultRow]:
    """Write the rows of all runs in some folders to a file, and return them."""
    rows = [row for folder in run_folders(paths) for row in rows_of(folder, out.parent)]
    write_atomic(out, b"".join(map(ROWS.dump, rows)))
    return rows


def read(file: Path) -> list[ResultRow]:
    """Read a file of results."""
    return [row for row, _ in read_lines(file, ROWS)]


def check(file: Path, sample: int, seed: int) -> Iterator[tuple[ResultRow, list[str]]]:
    """Yield each row of a file with its problems.

    Args:
        file: File of results; run folders are named from its folder.
        sample: Episodes of each row that are replayed; all if there are not more.
        seed: Seed of the sample.
    """
    rng = np.random.default_rng(seed)
    for row in read(file):
        yield row, list(_faults(row, file.parent / row.run, sample, rng))


def _faults(row: ResultRow, folder: Path, sample: int, rng: np.random.Generator) -> Iterator[str]:
    for name, digest in ((CONFIG, row.config), (RECORDS, row.records)):
        if not (folder / name).exists():
            yield f"{folder / name} is missing"
            return
        if file_digest(folder / name) != digest:
            yield f"{folder / name} has changed since the row was written"
    played = counted(read_packed(folder), RecordScoring())
    records = [record for record in played if (row.run, *_where(record)) == _place(row)]
    if len(records) != row.episodes:
        yield f"episodes: {row.episodes} in the row, {len(records)} in the records"
    again = _measures(records)
    for name in sorted({*again, *row.measures}):
        before, now = (_numbers(measures.get(name)) for measures in (row.measures, again))
        if not np.allclose(before, now, rtol=CLOSE, atol=0, equal_nan=True):
            yield f"measures.{name}: {_text(before)} in the row, {_text(now)} by the records"
    for k in sorted(rng.permutation(len(records))[:sample]):
        record = records[k]
        if difference := first_difference(record):
            yield f"{record.task}, episode {record.episode}: {difference}"


def _numbers(measure: Measure | None) -> tuple[float, ...]:
    numbers = (None,) * 3 if measure is None else (measure.mean, measure.low, measure.high)
    return tuple(math.nan if number is None else number for number in numbers)


def _text(numbers: Sequence[float]) -> str:
    mean, low, high = numbers
    if math.isnan(mean):
        return "none"
    interval = "" if math.isnan(low) else f" ({low:.6g} to {high:.6g})"
    return f"{mean:.6g}{interval}"
