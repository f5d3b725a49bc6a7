"""Learning curves of training folders: over seeds with intervals, by family of partners, as CSV, SVG, PNG and HTML."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup

from collab_overcooked.baselines.train_logger import LOG, read_log
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.files import read_text, write_atomic
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.reporting import report
from collab_overcooked.reporting.plots import draw_bands, draw_curves, save_figure
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.templates import render

PREFIX = "return/"  # of the log's keys with returns beside one family
ALL = "all partners"
RETURNS = "returns.csv"  # log of the trainers in one file
RETURN = "return"
POINTS = 60  # of an aggregated curve
SEED_FOLDER = re.compile(r"seed[_-](?P<seed>\d+)$")
SEED_ENDING = re.compile(r"(?P<name>.+)[_-](?P<seed>\d+)$")
FORMATS = (".svg", ".png", ".csv")
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Curve:
    """Learning curve of one method over its seeds."""

    name: str  # Name of the folder without the seed
    seeds: int  # Number of trainings
    steps: tuple[float, ...]  # Environment steps, ascending
    values: tuple[Estimate, ...]  # Mean over the trainings at these steps, with its interval where there are several


def write_curves(folder: Path) -> None:
    """Write ``curves.csv`` and ``curves.svg``: mean return of recent episodes, with all partners and by family."""
    log = read_log(folder)
    families = [key for key in (log[-1] if log else {}) if key.startswith(PREFIX)]
    columns = {ALL: "return", **{key.removeprefix(PREFIX): key for key in families}}
    if len(families) == 1:
        del columns[ALL]
    heads = (Column("steps", "number", 0), *(Column(name, "number", 2) for name in columns))
    rows = tuple((line["steps"], *map(line.get, columns.values())) for line in log)
    table = ResultTable(heads, rows)
    write_atomic(folder / "curves.csv", table.csv().encode())
    series = {
        name: [(line["steps"], line[key]) for line in log if line.get(key) is not None] for name, key in columns.items()
    }
    series = {name: points for name, points in series.items() if points}
    if series:
        picture = draw_curves("Return by family of partners", "environment steps", series, ", ".join(series))
        write_atomic(folder / "curves.svg", picture.encode())


def trainings_below(path: Path) -> list[Path]:
    """Return the training folders at or below a path: folders with ``log.jsonl`` or ``returns.csv``."""
    for depths in (("", "*/"), ("*/*/",)):
        files = {file for depth in depths for name in (LOG, RETURNS) for file in path.glob(f"{depth}{name}")}
        if files:
            return sorted({file.parent for file in files})
    return []


def training_folders(paths: Sequence[Path]) -> list[Path]:
    """Return the training folders at or below some paths, each once; see ``trainings_below``.

    Raises:
        ValueError: A path does not exist or holds no training.
    """
    folders: list[Path] = []
    for path in paths:
        if not path.is_dir():
            raise ValueError(f"{path}: no such folder")
        below = trainings_below(path)
        if not below:
            raise ValueError(f"{path}: holds no training ({LOG} or {RETURNS}), also not in its subfolders")
        folders += below
    by_place: dict[Path, Path] = {}
    for folder in folders:
        by_place.setdefault(folder.resolve(), folder)
    return list(by_place.values())


def _with_best(line: Mapping[str, object]) -> Mapping[str, object]:
    scores = line.get("scores")
    return {**line, RETURN: max(scores)} if isinstance(scores, list) and scores else line


def read_points(folder: Path, column: str = RETURN) -> Points:
    """Return the points (steps, value) of a training's log at which a column has a number.

    Raises:
        ValueError: The log has no such column.
    """
    lines: Sequence[Mapping[str, object]] = read_log(folder) if (folder / LOG).exists() else _read_returns(folder)
    if column == RETURN:  # a line of a population has the returns of all its members
        lines = [_with_best(line) for line in lines]
    columns = {name for line in lines for name in line if name != "steps"}
    if lines and column not in columns:
        raise ValueError(f"{folder}: {near_matches('column', column, sorted(columns))}")
    pairs = [(line.get("steps"), line.get(column)) for line in lines]
    return [(float(x), float(y)) for x, y in pairs if isinstance(x, (int, float)) and isinstance(y, (int, float))]


def _read_returns(folder: Path) -> list[dict[str, object]]:
    path = folder / RETURNS
    try:
        rows = list(csv.DictReader(read_text(path).splitlines()))
        return [{name: float(value) for name, value in row.items() if value} for row in rows]
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: is not a CSV file of numbers: {error}") from None


def name_of(folder: Path) -> str:
    """Return the name of a training without its seed: ``ppo-3`` and ``ppo/seed_3`` are trainings of ``ppo``."""
    absolute = folder.resolve()
    if SEED_FOLDER.fullmatch(absolute.name):
        return absolute.parent.name
    match = SEED_ENDING.fullmatch(absolute.name)
    return match["name"] if match else absolute.name


def aggregate(folders: Sequence[Path], column: str = RETURN) -> list[Curve]:
    """Return a curve for each name, over the steps that all its trainings have reached.

    Raises:
        ValueError: No training has finished an episode.
    """
    points: dict[str, list[Points]] = {}
    for folder in folders:
        read = read_points(folder, column)
        if read:
            points.setdefault(name_of(folder), []).append(read)
    if not points:
        raise ValueError(f"{', '.join(map(str, folders))}: no training has finished an episode yet")
    return [_curve(name, runs) for name, runs in points.items()]


def _curve(name: str, runs: Sequence[Points]) -> Curve:
    first = max(run[0][0] for run in runs)
    last = max(min(run[-1][0] for run in runs), first)
    steps = np.unique(np.linspace(first, last, POINTS).round())
    if len(runs) == 1 and len(runs[0]) <= POINTS:
        steps = np.array([x for x, _ in runs[0]])
    rows = np.stack([np.interp(steps, *np.array(run).T) for run in runs])
    estimates = [mean_ci(values.tolist()) for values in rows.T]
    return Curve(name, len(runs), tuple(steps.tolist()), tuple(value for value in estimates if value is not None))


def table_of_curves(curves: Sequence[Curve], column: str = RETURN) -> ResultTable:
    """Return one row for each curve: its seeds, its steps, and the value at its end and at its best step."""
    columns = (
        Column("training"),
        Column("seeds", "number", 0),
        Column("steps", "number", 0),
        Column(f"{column} at the end", "estimate", 1),
        Column(f"best {column}", "estimate", 1),
    )
    best = [max(curve.values, key=lambda value: value.value) for curve in curves]
    rows = [
        (curve.name, curve.seeds, int(curve.steps[-1]), curve.values[-1], top)
        for curve, top in zip(curves, best, strict=True)
    ]
    return ResultTable(columns, tuple(rows))


def plot(curves: Sequence[Curve], path: Path, title: str = "", column: str = RETURN) -> None:
    """Write curves with their intervals as a picture, or as a table of all points.

    Args:
        curves: Curves of ``aggregate``.
        path: File that ends in ``.svg``, ``.png`` or ``.csv``.
        title: Above the picture.
        column: Column of the log; label of the vertical axis.

    Raises:
        ValueError: The suffix of the file is not one of ``FORMATS``.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f"out: {path.name!r} must end in {', '.join(FORMATS)}")
    if path.suffix == ".csv":
        columns = (Column("training"), Column("seeds", "number", 0), Column("steps", "number", 0))
        rows = tuple((curve.name, curve.seeds, *point) for curve in curves for point in _points(curve))
        table = ResultTable((*columns, Column(column, "estimate", 3)), rows)
        write_atomic(path, table.csv().encode())
        return
    bands = {f"{curve.name} ({plural(curve.seeds, 'seed')})": _points(curve) for curve in curves}
    save_figure(draw_bands(bands, title, "environment steps", column), path)


def _points(curve: Curve) -> list[tuple[float, Estimate]]:
    return list(zip(curve.steps, curve.values, strict=True))


def write_report(folder: Path, folders: Sequence[Path]) -> list[str]:
    """Write ``table.md``, ``table.csv``, ``curves.svg`` and ``report.html`` of trainings into a folder.

    Returns:
        The names of the files; the first one is the table of returns.
    """
    files: list[str] = []
    sections = []
    for column, stem in _columns(folders):
        curves = aggregate(folders, column)
        table = table_of_curves(curves, column)
        write_atomic(folder / f"table{stem}.md", table.markdown().encode())
        write_atomic(folder / f"table{stem}.csv", table.csv().encode())
        plot(curves, folder / f"curves{stem}.svg", column=column)
        picture = read_text(folder / f"curves{stem}.svg")
        drawn = Markup(picture[picture.index("<svg") :])
        sections.append(render("curves.html", title=column, picture=drawn, table=table))
        files += [f"table{stem}.md", f"table{stem}.csv", f"curves{stem}.svg"]
    title = f"Training: {', '.join(dict.fromkeys(map(name_of, folders)))}"
    sections.insert(0, render("heading.html", title=title))
    write_atomic(folder / "report.html", report.page(title, sections, []).encode())
    return [*files, "report.html"]


def _columns(folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    yield RETURN, ""
    evaluated = "eval_return"

    def has_evaluations(folder: Path) -> bool:
        return (folder / LOG).exists() and any(line.get(evaluated) is not None for line in read_log(folder))

    if all(map(has_evaluations, folders)):
        yield evaluated, "_evaluation"
