"""Runs of a comparison: every team in a run folder of its own, with the time that its decisions take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from collab_overcooked.core.record import Record
from collab_overcooked.evaluation.compare.leaderboard import Comparison, read_comparison
from collab_overcooked.evaluation.compare.plan import Entry, make_plan
from collab_overcooked.evaluation.run import Progress
from collab_overcooked.kernels.jit import compile_seconds
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.llm.exchange import EndpointError, Spent
from collab_overcooked.policies.specs import PolicySpec, make_policy
from collab_overcooked.runner.jobs import Evaluation, Job
from collab_overcooked.runner.records import RECORDS, Key, key_of
from collab_overcooked.runner.run import Run, resumable
from collab_overcooked.runner.teams import MakePolicy
from collab_overcooked.runner.workers import read_workers, run_jobs


class DecisionClock:
    """Times a policy's decisions and answers, episode by episode.

    What counts is the processor time of whoever decides, less what the compiler took, so that other processes on the
    machine do no harm; for language models, which are waited for, it is the time that passes.

    Args:
        policy: Its methods are replaced by ones that are timed.
        waits: Whether the time that passes counts.
    """

    def __init__(self, policy: Policy, waits: bool) -> None:
        clock = time.perf_counter if waits else time.thread_time
        self.policy = policy
        self.episodes: list[list[float]] = []  # number of decisions, and seconds
        reset, act, reply = policy.reset, policy.act, policy.reply

        def begin(*arguments: Any) -> None:
            self.episodes.append([0, 0.0])
            reset(*arguments)

        def timed(method: Callable[..., Any], counted: int) -> Callable[..., Any]:
            def call(view: Any) -> Any:
                before, compiled = clock(), compile_seconds()
                try:
                    return method(view)
                finally:
                    times = self.episodes[-1]
                    times[0] += counted
                    times[1] += clock() - before - (compile_seconds() - compiled)

            return call

        for name, method in (("reset", begin), ("act", timed(act, 1)), ("reply", timed(reply, 0))):
            setattr(policy, name, method)


@lru_cache(maxsize=256)
def _cached_clock(spec: str, seat: int) -> DecisionClock:
    return _clock(make_policy(spec), spec)


def _clock(policy: Policy, spec: str) -> DecisionClock:
    return DecisionClock(policy, waits=PolicySpec.parse(spec).is_language)


@dataclass(frozen=True)
class TimedJobs:
    """Jobs of one team whose records say how many decisions each seat made, and how long these took together."""

    jobs: tuple[Job, ...]  # Run one after the other
    folder: str  # Which run folder they are for

    def run(self, make: MakePolicy | None = None) -> list[tuple[str, Record | str]]:
        """Run, and return the folder and the record of each episode, with ``decisions`` (number and seconds).

        A model that cannot be asked ends these jobs alone: the last entry has the error's message for a record.
        """
        records: list[tuple[str, Record | str]] = []
        try:
            for job in self.jobs:
                records += self._run(job, make)
        except Spent:
            raise
        except EndpointError as error:
            records.append((self.folder, str(error)))
        return records

    def _run(self, job: Job, make: MakePolicy | None) -> Iterator[tuple[str, Record]]:
        clocks: list[DecisionClock] = []

        def timed(spec: str) -> Policy:
            clock = _cached_clock(spec, len(clocks)) if make is None else _clock(make(spec), spec)
            clock.episodes.clear()
            clocks.append(clock)
            return clock.policy

        for i, record in enumerate(job.run(timed)):
            times = [clock.episodes[i] for clock in clocks]
            decisions = {
                seat: (int(spent[0]), round(spent[1], 6)) for seat, spent in zip(record.team, times, strict=True)
            }
            yield self.folder, record.replace(decisions=decisions)


def play(
    evaluations: Mapping[Entry, Evaluation],
    out: Path,
    *,
    workers: int | str | None = None,
    make: MakePolicy | None = None,
    facts: Mapping[str, Any] | None = None,
    stop: Callable[[], None] | None = None,
    progress: Progress | None = None,
    note: Callable[[str], None] = print,
) -> None:
    """Run what is missing of some entries of a comparison.

    Args:
        evaluations: What each entry plays.
        out: Folder of the comparison.
        workers: See ``workers.read_workers``; threads of this process with ``make``.
        make: Turns policy texts into policies that share something.
        facts: What else must be equal for a run to be continued, fit for JSON.
        stop: Called when running ends early.
        progress: Called after every episode.
        note: Called with what was repaired.
    """
    chosen = read_workers(workers)
    runs: dict[str, Run[Record]] = {}
    expected: dict[str, list[Key]] = {}
    stages: dict[tuple[str, frozenset[str]], list[TimedJobs]] = {}
    failed: dict[str, str] = {}  # why a run is not whole
    with resumable(out, f"**/{RECORDS}"), ExitStack() as opened:
        for entry, plan in evaluations.items():
            run: Run[Record] = Run(out / entry.folder, {**plan.config(), **(facts or {})}, note)
            opened.callback(run.close)
            runs[entry.folder] = run
            expected[entry.folder] = [key for job in plan.jobs for key in job.keys]
            missing = [job for job in plan.jobs if any(key not in run.results for key in job.keys)]
            stages.setdefault((entry.game, frozenset(entry.team)), []).extend(_bundles(plan, missing, entry.folder))
        total, done = sum(map(len, expected.values())), sum(len(run.results) for run in runs.values())
        if done:
            note(f"{out}: continuing, {done} of {total} episodes are there")
        for name, record in run_jobs(_chains(stages), chosen, make, stop):
            run = runs[name]
            if isinstance(record, str):
                _note_failure(failed, name, record, note)
            elif key_of(record) not in run.results:
                run.append(record)
                done += 1
                if progress is not None:
                    progress(done, total, 0)
        for name, run in runs.items():
            run.finish(key for key in expected[name] if key in run.results)
    if failed and len(failed) == len(runs):
        raise EndpointError(next(iter(failed.values())))


def _note_failure(failed: dict[str, str], folder: str, reason: str, note: Callable[[str], None]) -> None:
    if folder not in failed:
        note(f"{folder}: {reason}; the others go on")
    failed[folder] = reason


def _bundles(plan: Evaluation, jobs: Sequence[Job], folder: str) -> list[TimedJobs]:
    if plan.has_language_models():
        return [TimedJobs((job,), folder) for job in jobs]
    return [TimedJobs(tuple(group), folder) for _, group in groupby(jobs, lambda job: job.task)]


def _chains(stages: Mapping[tuple[str, frozenset[str]], list[TimedJobs]]) -> list[list[list[TimedJobs]]]:
    """Return a chain for each game: a stage for each policy, with its pairs behind the later of the two.

    The game with the most steps comes first, so that its kernels are compiled first.
    """
    sizes: dict[str, int] = {}
    for (game, _), bundles in stages.items():
        for job in (bundle.jobs[0] for bundle in bundles[:1]):
            steps = job.env_kwargs.get("max_cycles") or job.load_game().max_cycles
            sizes[game] = sizes.get(game, 0) + steps * sum(len(item.keys) for bundle in bundles for item in bundle.jobs)
    chains = []
    for game in sorted(sizes, key=lambda name: -sizes[name]):
        kinds_of_game = {kinds: bundles for (name, kinds), bundles in stages.items() if name == game}
        order = {min(kinds): list(bundles) for kinds, bundles in kinds_of_game.items() if len(kinds) == 1}
        for kinds, bundles in kinds_of_game.items():
            if len(kinds) > 1:
                order[max((name for name in order if name in kinds), key=list(order).index)] += bundles
        chains.append(list(order.values()))
    return chains


def compare(
    policies: str | Sequence[str] | None = None,
    games: str | Sequence[str] | None = None,
    out: str | Path = "runs/compare",
    *,
    workers: int | str | None = None,
    note: Callable[[str], None] = print,
    **plan_options: Any,
) -> Comparison:
    """Play policies in all games under equal conditions; episodes that the folder holds are not played again.

    Language models are compared on the command line, which connects to their endpoints.

    Args:
        policies: Specs; all that need neither key nor file if None.
        games: Names of suites; all games if None.
        out: Folder of the comparison.
        workers: See ``runner.workers.read_workers``; the number of processor cores if None.
        note: Called with what was repaired, continued or failed.
        **plan_options: ``budget``, ``episodes``, ``seed``, ``crossplay``, ``limits`` and ``options`` of
            ``compare.plan.make_plan``.

    Returns:
        The leaderboards; ``to_pandas()`` has a row for each policy and game.

    Raises:
        ValueError: For an unknown policy, game or option, or a folder with another comparison in it.
    """
    plan, folder = make_plan(policies, games, **plan_options), Path(out)
    evaluations = plan.evaluations()
    if any(evaluation.has_language_models() for evaluation in evaluations.values()):
        raise ValueError("policies: language models are compared by the command 'collab-overcooked compare'")
    plan.write(folder)
    play(evaluations, folder, workers=workers, note=note)
    return read_comparison(plan, folder)
