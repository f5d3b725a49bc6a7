"""Workers: run jobs in this process, in other processes, in threads or on Ray, and yield records as jobs finish.

The result of a job depends only on the job, so the records are the same for every kind and number of workers.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.processes import caller_hidden, pack_call
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.registrations import (
    JobNeeds,
    call,
    known_here_only,
    pack_registrations,
    refuse_known_here_only,
)
from collab_overcooked.runner.teams import MakePolicy

RAY = "ray"
START_SECONDS = 10.0  # a process imports the package and loads kernels in 3 to 4 s of CPU, in 10 to 15 s on busy cores
Records = list[Any]


class Runnable(Protocol):
    """Unit of work for one worker; must be picklable for processes and Ray."""

    @property
    def needs(self) -> JobNeeds:
        """Games and policies that it names; a process that does not know all of them is not asked to run it."""

    def run(self, make: MakePolicy | None = None) -> Records:
        """Return the records."""


Chain = Sequence[Sequence[Runnable]]
"""Stages of jobs. The first job of a stage compiles the stage's kernels while the other jobs of its chain wait. These
load the kernels from the cache and run in parallel to each other and to the first job of the next stage."""


@dataclass(frozen=True)
class Workers:
    """Configuration of workers."""

    count: int  # Number of parallel jobs; with Ray the number of its processors
    # Address of a Ray cluster, empty for one that Ray finds or starts on this machine; None without Ray
    address: str | None = None
    # Whether the first jobs run in this process, until they have taken as long as processes take to start; only what is
    # left then runs in processes
    begins_here: bool = False


def read_workers(value: int | str | None, default: int | None = None) -> Workers:
    """Parse a number of workers, ``"ray"`` or ``"ray:ADDRESS"``.

    Args:
        value: Value of the option; None for the default.
        default: Default number of workers; if None the number of processor cores, and short runs start no process.
    """
    if value is None:
        return Workers(_cores(), begins_here=True) if default is None else Workers(default)
    if isinstance(value, str):
        name, _, address = value.strip().partition(":")
        if name == RAY:
            return Workers(1, address)
        if not (name == value.strip() and name.lstrip("-").isdecimal()):
            raise ValueError(f"workers must be an integer of at least 1, ray or ray:ADDRESS, not {value!r}")
        value = int(name)
    return Workers(parse_integer("workers", value, 1))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(
    chains: Sequence[Chain],
    workers: Workers,
    make: MakePolicy | None = None,
    stop: Callable[[], None] | None = None,
    note: Callable[[str], None] = lambda message: None,
) -> Iterator[Any]:
    """Run jobs and yield their records as they finish.

    Where they run is decided before the first of them: jobs that name a game or policy which other processes cannot
    load, such as one registered in a notebook, run in this process, in threads if a number of workers is given.

    Args:
        chains: Jobs; chains are independent of each other, so that different games compile in parallel.
        workers: Configuration of workers; with one worker all jobs run in this process, in the order of the chains.
        make: Factory of policies outside the registry or with shared resources. It cannot be passed to other processes,
            so workers are threads of this process in this case.
        stop: Called if running ends early, so that policies in other threads can stop.
        note: Called if jobs run in threads for want of processes that could run them.

    Raises:
        ValueError: For Ray and jobs that only this process can run.
        OSError: If a process ends before its job.
    """
    left = [[list(stage) for stage in chain if stage] for chain in chains]
    jobs = [job for chain in left for stage in chain for job in stage]
    alone = workers.address is None and (workers.count == 1 or len(jobs) < 2)
    reason = "" if alone else _reason_to_stay(jobs, workers, make)
    if alone or (reason and workers.begins_here):
        for job in jobs:
            yield from job.run(make)
        return
    if reason:
        note(f"workers: threads of this process, as {reason}")
        make = make_policy
    if make is not None:  # threads compile shared kernels only once
        left = [[[job]] for job in jobs]
    elif workers.begins_here and len(left) == 1:  # several games had better compile in parallel
        yield from _run_here(left[0])
    number = sum(len(stage) for chain in left for stage in chain)
    if not number:
        return
    pool, count = open_pool(workers, min(workers.count, number), make is not None)
    try:
        with deaths_reported(lambda: "try again with fewer workers"):
            yield from _schedule(left, lambda job: pool.submit(job.run, make), count)
    except BaseException:
        if stop is not None:
            stop()
        raise
    finally:  # reached early by Ctrl+C and errors: cancel jobs that have not begun; yielded records are on disk
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def deaths_reported(advice: Callable[[], str]) -> Iterator[None]:
    """Raise OSError if a worker process ends before its job, with what to do about it."""
    try:
        yield
    except BrokenProcessPool:
        raise OSError(
            "a worker process ended before its job, as it crashed or was killed, for example for want of memory; "
            + advice()
        ) from None


def _reason_to_stay(jobs: Sequence[Runnable], workers: Workers, make: MakePolicy | None) -> str:
    """Return why no other process can run some jobs, empty if others can or if ``make`` says it already."""
    if make is not None and workers.address is not None:
        raise ValueError("workers: policies that share a connection run in threads of this process; pass a number")
    if make is not None:
        return ""
    needs = JobNeeds.union(job.needs for job in jobs)
    if workers.address is not None:
        refuse_known_here_only(needs)
        return ""
    if multiprocessing.current_process().daemon:
        return "a daemonic process cannot start others"
    alone = known_here_only(needs)
    return f"only it knows {', '.join(alone)}" if alone else ""


def _run_here(chain: list[list[Runnable]]) -> Iterator[Any]:
    began = time.monotonic()
    while chain and time.monotonic() - began < START_SECONDS:
        yield from chain[0].pop(0).run()
        if not chain[0]:
            del chain[0]


def _schedule(chains: Sequence[Chain], submit: Callable[[Runnable], Future[Records]], count: int) -> Iterator[Any]:
    rest = {number: deque(chain) for number, chain in enumerate(chains) if chain}
    first = deque(rest)  # chains whose next stage can start
    ready: deque[Runnable] = deque()
    running: dict[Future[Records], int | None] = {}  # job -> chain whose stage it starts
    while first or ready or running:
        while (first or ready) and len(running) <= count:
            number = first.popleft() if first else None
            job = ready.popleft() if number is None else rest[number][0][0]
            running[submit(job)] = number
        done = wait(running, return_when=FIRST_COMPLETED).done
        for future in sorted(done, key=lambda one: one.exception() is not None):  # yield finished jobs before errors
            records, number = future.result(), running.pop(future)
            if number is not None:
                ready.extend(rest[number].popleft()[1:])
                if rest[number]:
                    first.append(number)
            yield from records


def open_pool(workers: Workers, count: int, threads: bool = False) -> tuple[Executor, int]:
    """Return an executor of jobs and its number of workers."""
    if workers.address is not None:
        pool = _RayPool(workers.address)
        return pool, pool.count
    if threads:
        return ThreadPoolExecutor(count), count
    return _Processes(count), count


class _Processes(ProcessPoolExecutor):
    """Processes that know the registered games and policies, and never run the caller's script or notebook.

    Args:
        count: Number of processes.
    """

    def __init__(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")  # forking a process with compiled threads in it is unsafe
        super().__init__(count, mp_context=context, initializer=_begin_process)
        self._registrations = pack_registrations()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function; a ``NotImportable`` for one that no other process can import."""
        job = pack_call(function, *args, **kwargs)
        with caller_hidden():  # it may start a process
            return super().submit(call, self._registrations, job)


def _begin_process() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)


class _RayPool(Executor):
    """Ray tasks behind the interface of executors.

    Args:
        address: Address of a cluster; empty for the one named by the environment, or a new one on this machine.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ImportError:
            raise ValueError("workers 'ray' needs Ray: pip install 'collab-overcooked[ray]'") from None
        self._ray: Any = ray
        self._started = not ray.is_initialized()
        if self._started:
            try:
                ray.init(address=address or None, include_dashboard=None if address else False, log_to_driver=False)
            except (ConnectionError, ValueError) as error:
                raise ValueError(f"workers: cannot reach Ray at {address!r}: {error}") from None
        self.count = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._call = ray.remote(num_cpus=1)(call)
        self._registrations = pack_registrations()
        self._pending: dict[Future[Any], Any] = {}

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function as a task."""
        reference = self._call.remote(self._registrations, pack_call(function, *args, **kwargs))
        task: Future[Any] = reference.future()
        self._pending[task] = reference
        task.add_done_callback(lambda done: self._pending.pop(done, None))
        return task

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel unfinished tasks; stop Ray if it was started here."""
        for reference in list(self._pending.values()):
            self._ray.cancel(reference, force=True)
        if self._started:
            self._ray.shutdown()
