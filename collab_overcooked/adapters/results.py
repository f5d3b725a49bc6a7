"""Results of matches played elsewhere: outcomes and metrics as numbers, and a run folder that many tasks write to."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.evaluation.suites import plan_known_team
from collab_overcooked.io.checks import quote_value
from collab_overcooked.io.files import only_shipped_files
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.runner.match import MatchPlan, check_seeds
from collab_overcooked.runner.records import Key, key_of
from collab_overcooked.runner.run import Run
from collab_overcooked.runner.teams import SEAT

_PATH = re.compile(r"[/\\]|\.[A-Za-z]\w*\s*$")  # of a file or folder: a separator, or an ending that is no decimal


def outcome_of(record: EpisodeRecord, rate: Callable[[EpisodeRecord], float] | None = None) -> float:
    """Return the outcome of an episode, from 0 to 1.

    Args:
        record: Record with its metrics.
        rate: Function that rates a record; None for ``outcome`` of the game's ``MetricSet``, or success without one.
    """
    if record.suite:  # an answer to a question, for which nothing was played
        return float(record.success)
    rate = rate or game_metrics(record.env_id).outcome
    return float(record.success) if rate is None else min(1.0, max(0.0, rate(record)))


def numeric_metrics(record: EpisodeRecord) -> dict[str, float]:
    """Return the metrics of a record that are a single number."""
    return {name: float(value) for name, value in record.metrics.items() if isinstance(value, int | float)}


def mean_metrics(records: Sequence[EpisodeRecord]) -> dict[str, float]:
    """Return the means of the outcome and of the numeric metrics that all records of a match have.

    Metrics that a record lacks, such as the length of an episode that was not won, are left out.
    """
    rows = [{"outcome": outcome_of(record)} | numeric_metrics(record) for record in records]
    shared = [name for name in rows[0] if all(name in row for row in rows)]
    return {name: sum(row[name] for row in rows) / len(rows) for name in shared}


def request_counts(records: Sequence[EpisodeRecord]) -> dict[str, float]:
    """Return the numbers of ``requests`` to the models of a match, and of ``unusable`` answers, which had no effect."""
    accounts = [account for record in records for account in record.accounts.values()]
    calls = sum(account.calls for account in accounts)
    return {"requests": float(calls), "unusable": float(sum(sum(account.trouble.values()) for account in accounts))}


def plan_for_client(suite: str, team: str, options: Mapping[str, Any]) -> MatchPlan:
    """Plan an evaluation for a remote client, which may name built-in policies and layouts, but no files or modules.

    Args:
        suite: Name of the suite.
        team: ``seat=policy`` pairs separated by spaces.
        options: Other arguments of ``plan_evaluation``.

    Raises:
        ValueError: For a file or module of the server, and as ``plan_evaluation``.
    """
    for entry in team.split():
        seat = SEAT.match(entry)
        spec = PolicySpec.parse(entry[seat.end() :] if seat else entry)
        if spec.files:
            raise ValueError(
                f"team: {spec.text!r} names a file or module of the server, {', '.join(spec.files)}; allowed are "
                "built-in policies"
            )
    for name, value in options.items():
        for text in _texts(value):
            if _PATH.search(text):
                raise ValueError(f"{name}: {quote_value(text)} names a file of the server; allowed are built-in names")
    with only_shipped_files():
        return plan_known_team(suite, team.split(), **options)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split(",")
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from (*_texts(key), *_texts(entry))
    elif isinstance(value, Iterable):
        for entry in value:
            yield from _texts(entry)


class SharedFolder:
    """A run folder that the matches of an evaluation write to, in any order, any number of times and from any thread.

    The first rollout of a match is kept under the numbers of its episodes. Further ones are repetitions, such as those
    of inspect's epochs: each gets numbers after those of the evaluation. Repetition r of episode k, of a task with n
    episodes, is episode ``k + r * n``.

    Args:
        plan: The evaluation.
        path: Run folder; sorted, and free for others, whenever all matches have been played equally often.

    Raises:
        ValueError: For a folder with another evaluation in it.
        BlockingIOError: If another process writes to the folder.
    """

    def __init__(self, plan: MatchPlan, path: str) -> None:
        self.config, self.keys = plan.config(), plan.keys
        self._plan = plan
        self._path = path
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = {}  # number after the last episode, by task
        for task, number in self.keys:
            self._sizes[task] = max(self._sizes.get(task, 0), number + 1)
        self._open()

    def _open(self) -> None:
        self._run: Run[EpisodeRecord] = Run(self._path, self.config)
        try:
            check_seeds(self._path, self._run.results, self._plan)
        except ValueError:
            self._run.close()
            raise
        self.finished = False

    def add(self, records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
        """Append the records of a match, and return them with the numbers under which they are kept."""
        with self._lock:
            if self.finished:
                self._open()
            repetition = 0
            while all(self._key(record, repetition) in self._run.results for record in records):
                repetition += 1
            kept = [record.replace(episode=self._key(record, repetition)[1]) for record in records]
            for record in kept:
                if key_of(record) not in self._run.results:  # of a match that was stopped half way
                    self._run.append(record)
            rounds, left = divmod(len(self._run.results), len(self.keys))
            order = [(task, number + k * self._sizes[task]) for k in range(rounds) for task, number in self.keys]
            if not left and self._run.results.keys() == set(order):
                self._run.finish(order)
                self._run.close()
                self.finished = True
            return kept

    def _key(self, record: EpisodeRecord, repetition: int) -> Key:
        return record.task, record.episode + repetition * self._sizes[record.task]


_folders: dict[Path, SharedFolder] = {}
_opening = threading.Lock()


def shared_folder(plan: MatchPlan, path: str) -> SharedFolder:
    """Return the run folder of an evaluation; the same object for all callers of this process.

    Args:
        plan: The evaluation.
        path: Run folder.

    Raises:
        ValueError: The folder is in use for another evaluation.
    """
    place = Path(path).resolve()
    with _opening:
        if place in _folders and (_folders[place].config, _folders[place].keys) != (plan.config(), plan.keys):
            raise ValueError(f"records: {path} is in use for another evaluation; choose another folder")
        if place not in _folders:
            _folders[place] = SharedFolder(plan, path)
        return _folders[place]
