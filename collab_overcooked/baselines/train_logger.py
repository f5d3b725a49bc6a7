"""The log of a training: a progress bar, JSON lines, CSV, TensorBoard, and Weights & Biases where asked for."""

from __future__ import annotations

import csv
import io
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from collab_overcooked.io import schema
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.io.structs import Number, convert

LOG, CSV, BOARD = "log.jsonl", "log.csv", "tensorboard"
BUSY = "another training writes to this folder; wait for it, or choose another folder"
SERVICES = ("wandb",)
PROJECT = "collab-overcooked"  # of runs at Weights & Biases; WANDB_PROJECT overrides it


class _Entry(Struct):
    steps: Annotated[int, Meta(ge=0)] = 0
    mean: Number | None = field(default=None, name="return")


_check = partial(convert, kind=_Entry)


class TrainLogger:
    """Writes ``log.jsonl``, ``log.csv`` and TensorBoard files into a folder and draws a bar on standard error.

    Args:
        folder: Folder of the run.
        total: Environment steps of the whole training.
        updates: Lines that belong to the checkpoint that the training goes on from; later ones are dropped.
        bar: Draw the bar if standard error is a terminal.
        services: Services that get the numbers too, some of ``SERVICES``.
        settings: Configuration of the run, for the services.
    """

    def __init__(
        self,
        folder: Path,
        total: int,
        updates: int = 0,
        bar: bool = True,
        services: Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        check_services(services)
        self.path = folder / LOG
        lines = read_log(folder, updates) if self.path.exists() else []
        self._columns = columns_of(lines[0]) if lines else []
        _write_files(folder, lines)
        self._log, self._table = (JournalFile(folder / name, durable=False) for name in (LOG, CSV))
        self._board = _board(folder / BOARD, lines[-1].get("steps", 0) + 1 if lines else 0)
        self._run = _wandb_run(folder, _run_name(folder), settings or {}) if "wandb" in services else None
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("steps"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %"),
            TextColumn("{task.fields[words]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not (bar and console.is_terminal),
        )
        self._task = self._bar.add_task("", total=total, words="")

    def __enter__(self) -> TrainLogger:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()
        if self._run is not None:
            self._run.finish()
        if self._board is not None:
            self._board.close()

    def write(self, entry: Mapping[str, Any]) -> None:
        """Note an update; ``steps`` and ``steps_per_second`` must be in it, ``return`` may be None."""
        self._log.append_line(log_line(entry))
        is_new, self._columns = not self._columns, self._columns or columns_of(entry)
        self._table.append_line(csv_text([entry], self._columns, head=is_new).encode())
        numbers = {name: value for name, value in entry.items() if isinstance(value, (int, float))}
        if self._board is not None:
            _add_scalars(self._board, numbers)
        if self._run is not None:
            self._run.log(numbers, step=entry["steps"])
        mean = "" if entry["return"] is None else f", return {entry['return']:.1f}"
        self._bar.update(self._task, completed=entry["steps"], words=f"{entry['steps_per_second']:,.0f} steps/s{mean}")


def log_line(entry: Mapping[str, Any]) -> bytes:
    """Return a line of a log; numbers that are not finite, as of a training that diverged, become null."""
    finite = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in entry.items()
    }
    return schema.json_line(finite, _check)


def columns_of(entry: Mapping[str, Any]) -> list[str]:
    """Return the columns of a log's CSV file: the numbers of its first line."""
    return [name for name, value in entry.items() if value is None or isinstance(value, (int, float))]


def csv_text(entries: Sequence[Mapping[str, Any]], columns: Sequence[str], head: bool = True) -> str:
    """Return the chosen columns of log lines as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    if head and columns:
        writer.writeheader()
    writer.writerows(entries)
    return out.getvalue()


def write_log(folder: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write a complete log as ``log.jsonl``, ``log.csv`` and TensorBoard files, in place of an earlier one."""
    _write_files(folder, entries)
    shutil.rmtree(folder / BOARD, ignore_errors=True)
    board = _board(folder / BOARD, 0)
    if board is not None:
        for number, entry in enumerate(entries):
            numbers = {name: value for name, value in entry.items() if isinstance(value, (int, float))}
            _add_scalars(board, {"steps": number, **numbers})
        board.close()


def _write_files(folder: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    write_atomic(folder / LOG, b"".join(map(log_line, entries)))
    write_atomic(folder / CSV, csv_text(entries, columns_of(entries[0]) if entries else []).encode())


def _add_scalars(board: Any, numbers: Mapping[str, float]) -> None:
    for name, value in numbers.items():
        if name != "steps":
            board.add_scalar(name, value, numbers["steps"])


def check_services(services: Sequence[str]) -> None:
    """Reject unknown services and services whose package is not installed."""
    for service in services:
        if service not in SERVICES:
            raise ValueError(near_matches("log", service, SERVICES))
        try:
            __import__(service)
        except ImportError:
            raise ValueError(f"log {service!r} needs a package that is not installed: pip install {service}") from None


def send_logs(folder: Path, services: Sequence[str], settings: Mapping[str, Any]) -> None:
    """Send the logs at and below a folder to services, for algorithms that do not do so while they train.

    Args:
        folder: Folder of the run.
        services: Some of ``SERVICES``.
        settings: Configuration of the runs, for the services.
    """
    if "wandb" not in services:
        return
    for path in sorted(folder.rglob(LOG)):
        below = path.parent.relative_to(folder).parts
        run = _wandb_run(path.parent, "-".join((_run_name(folder), *below)), settings)
        for number, entry in enumerate(read_log(path.parent)):
            numbers = {name: value for name, value in entry.items() if isinstance(value, (int, float))}
            run.log(numbers, step=entry.get("steps", number))
        run.finish()


def _run_name(folder: Path) -> str:
    return f"{folder.resolve().parent.name}-{folder.name}"


def _wandb_run(folder: Path, name: str, settings: Mapping[str, Any]) -> Any:
    import wandb  # type: ignore[import-not-found, unused-ignore]

    return wandb.init(
        project=os.environ.get("WANDB_PROJECT", PROJECT),
        name=name,
        id="".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name),
        dir=str(folder),
        config=dict(settings),
        resume="allow",
    )


def _board(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=step)


def read_log(folder: Path, most: int | None = None) -> list[dict[str, Any]]:
    """Return the lines of a run's log.

    Args:
        folder: Folder of the run.
        most: Number of lines to read; later lines may be incomplete.
    """
    return list(islice(JournalFile(folder / LOG, _check, missing_ok=False).read(), most))
