"""The log of a training: a progress bar, TensorBoard, and a JSON line for each update."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from collab_overcooked.io import schema

LOG = "log.jsonl"
_ENTRY = schema.object_of({}, {"steps": schema.integer(high=None), "return": schema.nullable(schema.number())})


class TrainLogger:
    """Writes ``log.jsonl`` and TensorBoard files into a folder and draws a bar on standard error.

    Args:
        folder: Of the run.
        total: Environment steps of the whole training.
        updates: Lines that belong to the checkpoint that the training goes on from; later ones are dropped.
        bar: Draw it, where somebody watches.
    """

    def __init__(self, folder: Path, total: int, updates: int = 0, bar: bool = True) -> None:
        self.path = folder / LOG
        lines = read_log(folder, updates) if self.path.exists() else []
        self._file = self.path.open("wb")
        for line in lines:
            self._file.write(log_line(line))
        self._board = _board(folder / "tensorboard", lines[-1].get("steps", 0) + 1 if lines else 0)
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
        self._file.close()
        if self._board is not None:
            self._board.close()

    def write(self, entry: Mapping[str, Any]) -> None:
        """Note an update; ``steps`` and ``steps_per_second`` must be in it, ``return`` may be None."""
        self._file.write(log_line(entry))
        self._file.flush()
        if self._board is not None:
            for name, value in entry.items():
                if isinstance(value, (int, float)) and name != "steps":
                    self._board.add_scalar(name, value, entry["steps"])
        mean = "" if entry["return"] is None else f", return {entry['return']:.1f}"
        self._bar.update(self._task, completed=entry["steps"], words=f"{entry['steps_per_second']:,.0f} steps/s{mean}")


def log_line(entry: Mapping[str, Any]) -> bytes:
    """Return a line of a log; numbers that are not finite, as of a training that diverged, become null."""
    finite = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in entry.items()
    }
    return schema.json_line(finite, _ENTRY)


def _board(folder: Path, step: int) -> Any:
    """Return a TensorBoard writer that forgets a step and what came after; None where TensorBoard is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=step)


def read_log(folder: Path, most: int | None = None) -> list[dict[str, Any]]:
    """Return the lines of a run's log.

    Args:
        folder: Of the run.
        most: Only so many, from the first on; what comes after may be torn.

    Raises:
        ValueError: If there is none, or a line is damaged.
    """
    path = folder / LOG
    try:
        lines = path.read_bytes().splitlines(keepends=True)
        return schema.read_lines(b"".join(lines[:most]), str(path), _ENTRY)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror or error}") from None
