"""Results of matches played elsewhere: outcomes and metrics as numbers, and a run folder that many tasks write to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from collab_overcooked import registry
from collab_overcooked.core.record import Record
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.runner.match import MatchPlan
from collab_overcooked.runner.records import key_of
from collab_overcooked.runner.run import Run


def outcome_of(record: Record, rate: Callable[[Record], float] | None = None) -> float:
    """Return how well an episode went, from 0 to 1.

    Args:
        record: Record with its metrics.
        rate: Of the game's ``MetricSet``; None for its ``outcome``, or the success where it has none.
    """
    rate = rate or game_metrics(record.env_id).outcome
    return float(record.success) if rate is None else min(1.0, max(0.0, rate(record)))


def numeric_metrics(record: Record) -> dict[str, float]:
    """Return the metrics of a record that are a single number."""
    return {name: float(value) for name, value in record.metrics.items() if isinstance(value, int | float)}


def mean_metrics(records: Sequence[Record]) -> dict[str, float]:
    """Return the means of the outcome and of the numeric metrics that all records of a match have.

    Metrics that a record lacks, such as the length of an episode that was not won, are left out.
    """
    rows = [{"outcome": outcome_of(record)} | numeric_metrics(record) for record in records]
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0] if all(name in row for row in rows)}


def parse_suite_options(suite: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that a framework read from YAML or a command line, with the types that the suite declares.

    Args:
        suite: Name of the suite.
        options: Values by name; lists become tuples, or text with commas where the suite declares text.
    """
    declared = get_type_hints(registry.load_suite_options(suite).play)
    plain: dict[str, Any] = {}
    for name, value in options.items():
        if declared.get(name) in (str, str | None):
            plain[name] = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        else:
            plain[name] = tuple(value) if isinstance(value, list) else value
    return plain


class SharedFolder:
    """A run folder that the matches of an evaluation write to, in any order and from any thread.

    Args:
        plan: The evaluation.
        path: Run folder; finished once all episodes of the plan are in it.
    """

    def __init__(self, plan: MatchPlan, path: str) -> None:
        self.config, self.keys = plan.config(), plan.keys
        self._run: Run[Record] = Run(path, self.config)
        self._lock = threading.Lock()
        self.finished = False

    def add(self, records: list[Record]) -> None:
        """Append the records of a match, unless the folder has them."""
        with self._lock:
            for record in records:
                if key_of(record) not in self._run.results:
                    self._run.append(record)
            if not self.finished and all(key in self._run.results for key in self.keys):
                self._run.finish(self.keys)
                self._run.close()
                self.finished = True


_folders: dict[Path, SharedFolder] = {}
_opening = threading.Lock()


def shared_folder(plan: MatchPlan, path: str) -> SharedFolder:
    """Return the run folder of an evaluation; the same object for all callers of this process.

    Args:
        plan: The evaluation.
        path: Run folder.
    """
    place = Path(path).resolve()
    with _opening:
        if place in _folders and (_folders[place].config, _folders[place].keys) != (plan.config(), plan.keys):
            raise ValueError(f"records: {path} is in use for another evaluation; choose another folder")
        if place not in _folders:
            _folders[place] = SharedFolder(plan, path)
        return _folders[place]
