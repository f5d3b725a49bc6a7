"""Play a suite: every task and episode once, over several processes, into a run folder.

What is played depends on the configuration alone. The first episode is played in the parent process, which compiles
the kernels once; the workers, started afresh, load them from the cache.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from collab_overcooked.errors import whole_number
from collab_overcooked.evaluation.suites import find_suite, suite_record
from collab_overcooked.runner.episode import Limits
from collab_overcooked.runner.jobs import Evaluation, forget_envs
from collab_overcooked.runner.records import RunFolder, key_of
from collab_overcooked.runner.teams import MakePolicy, make_team

Progress = Callable[[int, int, int], None]
"""Called with episodes done, episodes in all, and successes among those done."""


class Playable(Protocol):
    """What one process plays in one go."""

    def play(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Return the records."""


def plan_evaluation(
    suite: str,
    team: Sequence[str],
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    **given: Any,
) -> Evaluation:
    """Check everything that a user can get wrong before anything is played.

    Args:
        suite: For example ``"collab-overcooked"``.
        team: ``seat=policy`` words.
        seed: Seed of the suite.
        options: Further options of the environment.
        limits: Bounds of conversations and corrections.
        **given: Whatever the suite takes, see ``suites.SUITES``; what is not given is as in the paper.

    Raises:
        ValueError: For an unknown suite, or one that has no use for something given, and as its ``plan`` says.
    """
    record = suite_record(suite)
    for name in given:
        if name not in record.takes:
            raise ValueError(f"option --{name} means nothing to the suite {record.name}")
    return find_suite(suite).plan(team, seed=seed, options=options or {}, limits=limits or Limits(), **given)


def evaluate(
    plan: Evaluation,
    out: str | Path,
    *,
    jobs: int | None = None,
    make: MakePolicy | None = None,
    facts: Mapping[str, Any] | None = None,
    stop: Callable[[], None] | None = None,
    progress: Progress | None = None,
    note: Callable[[str], None] = print,
) -> list[dict[str, Any]]:
    """Play what is missing in a run folder.

    Args:
        plan: What to play.
        out: Run folder; a run of the same plan that was interrupted there is continued.
        jobs: Processes; the number of processor cores if None.
        make: Turns policy texts into policies, for policies outside the registry or that share something. Other
            processes do not know it, so ``jobs`` are threads of this one then, 1 if None.
        facts: What else must be equal for a run to be continued, fit for JSON.
        stop: Called when the evaluation ends early, so that policies in other threads need not be waited for.
        progress: Told after every episode.
        note: Told what was repaired or continued.

    Returns:
        The records of the whole run, in the order of tasks and episodes, whatever ``jobs`` is.

    Raises:
        ValueError: For an unknown policy, a bad number of jobs, or a folder with another run in it.
        OSError: If the folder cannot be written to.
    """
    jobs = check_jobs(1 if jobs is None and make is not None else jobs)
    for team in plan.teams():
        make_team(team, make)  # refuses unknown policies before the folder is touched
    folder = RunFolder(out, {**plan.config(), **(facts or {})}, note)
    forget_envs()
    wanted = [key for work in plan.works for key in work.keys]
    pending = [work for work in plan.works if any(key not in folder.records for key in work.keys)]
    if folder.records:
        note(f"{folder.path}: continuing, {len(folder.records)} of {len(wanted)} episodes are there")
    successes = sum(record["success"] for record in folder.records.values())
    for record in play_works([pending], jobs, make, stop):
        if key_of(record) in folder.records:  # of work that was stopped half way
            continue
        folder.append(record)
        successes += record["success"]
        if progress is not None:
            progress(len(folder.records), len(wanted), successes)
    return folder.finish(wanted)


def check_jobs(jobs: int | None) -> int:
    """Return a number of processes, that of the processor cores for None.

    Raises:
        ValueError: If it is no whole number above 0.
    """
    if jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole_number("jobs", jobs, 1)


def play_works(
    stages: Sequence[Sequence[Playable]],
    jobs: int,
    make: MakePolicy | None = None,
    stop: Callable[[], None] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield records as they come.

    Args:
        stages: What is played. The first work of each stage is played by this process, which compiles the kernels
            that the stage needs; the others, which load them, are handed to workers meanwhile.
        jobs: Processes, or threads with ``make``.
        make: See ``evaluate``.
        stop: See ``evaluate``.
    """
    if jobs == 1:
        for work in (work for stage in stages for work in stage):
            yield from work.play(make)
        return
    stages = [stage for stage in stages if stage]
    jobs = max(1, min(jobs, sum(len(stage) - 1 for stage in stages)))
    pool = _pool(jobs, make is not None)
    waiting: set[Future[list[dict[str, Any]]]] = set()
    try:
        for stage in stages:
            yield from stage[0].play(make)
            with _interrupts_held_back():
                waiting |= {pool.submit(work.play, make) for work in stage[1:]}
            for future in [future for future in waiting if future.done()]:
                waiting.remove(future)
                yield from future.result()
        for future in as_completed(waiting):
            yield from future.result()
    except BrokenProcessPool:
        raise OSError("a worker process died, perhaps for want of memory; try again with fewer jobs") from None
    except BaseException:
        if stop is not None:
            stop()
        raise
    finally:  # reached early by Ctrl+C and by errors: drop what has not begun; what was yielded is on disk
        pool.shutdown(wait=True, cancel_futures=True)


def _pool(jobs: int, threads: bool) -> Executor:
    if threads:
        return ThreadPoolExecutor(jobs)
    context = multiprocessing.get_context("spawn")  # forking a process with compiled threads in it is unsafe
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let Ctrl+C wait until the workers are started; they inherit that, and so never see it while they import."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker() -> None:
    """Let the parent alone react to Ctrl+C, and end with it: a killed parent would leave workers waiting for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)
