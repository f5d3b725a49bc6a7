"""Learning curves by family of partners, from a training's log: a CSV file and a picture."""

from __future__ import annotations

from pathlib import Path

from collab_overcooked.baselines.train_logger import read_log
from collab_overcooked.reporting.plots import draw_curves
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.runner.records import write_atomic

PREFIX = "return/"  # of the log's keys with returns beside one family
ALL = "all partners"


def write_curves(folder: Path) -> None:
    """Write ``curves.csv`` and ``curves.svg``: mean return of recent episodes, with all partners and by family."""
    log = read_log(folder)
    families = [key for key in (log[-1] if log else {}) if key.startswith(PREFIX)]
    columns = {ALL: "return", **{key.removeprefix(PREFIX): key for key in families}}
    if len(families) == 1:
        del columns[ALL]
    table = ResultTable(
        (Column("steps", "number", 0), *(Column(name, "number", 2) for name in columns)),
        tuple((line["steps"], *(line.get(key) for key in columns.values())) for line in log),
    )
    write_atomic(folder / "curves.csv", table.csv().encode())
    series = {
        name: [(line["steps"], line[key]) for line in log if line.get(key) is not None] for name, key in columns.items()
    }
    series = {name: points for name, points in series.items() if points}
    if series:
        picture = draw_curves("Return by family of partners", "environment steps", series, ", ".join(series))
        write_atomic(folder / "curves.svg", picture.encode())
