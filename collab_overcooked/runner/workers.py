"""Workers: run jobs in this process, in other processes, in threads or on Ray, and yield records as jobs finish.

The result of a job depends only on the job, so the records are the same for every kind and number of workers.
"""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.processes import available_cores, caller_hidden, pack_call
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.runner.registrations import (
    JobNeeds,
    call,
    known_here_only,
    pack_registrations,
    refuse_known_here_only,
)
from collab_overcooked.runner.teams import MakePolicy

logger = logging.getLogger(__name__)

RAY = "ray"
START_SECONDS = 10.0  # a process imports the package and loads kernels in 3 to 4 s of CPU, in 10 to 15 s on busy cores
Records = list[Any]


class Runnable(Protocol):
    """Unit of work for one worker; must be picklable for processes and Ray."""

    @property
    def needs(self) -> JobNeeds:
        """Games and policies that the job names; only processes that know all of them can run the job."""

    def run(self, make: MakePolicy | None = None) -> Records:
        """Return the records."""


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

    Raises:
        ValueError: The value is not a positive integer, ``ray`` or ``ray:ADDRESS``.
    """
    if value is None:
        return Workers(available_cores(), begins_here=True) if default is None else Workers(default)
    if isinstance(value, str):
        name, _, address = value.strip().partition(":")
        if name == RAY:
            return Workers(1, address)
        if not (name == value.strip() and name.lstrip("-").isdecimal()):
            raise ValueError(f"workers must be an integer of at least 1, ray or ray:ADDRESS, not {value!r}")
        value = int(name)
    return Workers(parse_integer("workers", value, 1))


def run_jobs(
    jobs: Sequence[Runnable], workers: Workers, make: MakePolicy | None = None, stop: Callable[[], None] | None = None
) -> Iterator[Any]:
    """Run jobs and yield their records as they finish.

    Where they run is decided before the first of them: jobs that name a game or policy which other processes cannot
    load, such as one registered in a notebook, run in this process, in threads if a number of workers is given.

    Args:
        jobs: Jobs to run.
        workers: Configuration of workers; with one worker all jobs run in this process, in their order.
        make: Factory of policies outside the registry or with shared resources. It cannot be passed to other processes,
            so workers are threads of this process in this case.
        stop: Called if running ends early, so that policies in other threads can stop.

    Raises:
        ValueError: For Ray and jobs that only this process can run.
        OSError: If a process ends before its job.
    """
    alone = workers.address is None and (workers.count == 1 or len(jobs) < 2)
    reason = "" if alone else _reason_to_stay(jobs, workers, make)
    if alone or (reason and workers.begins_here):
        for job in jobs:
            yield from job.run(make)
        return
    if reason:
        logger.info(f"workers: threads of this process, as {reason}")
        make = make_known_policy
    left = deque(jobs)
    if make is None and workers.begins_here:
        began = time.monotonic()
        while left and time.monotonic() - began < START_SECONDS:
            yield from left.popleft().run()
    if not left:
        return
    pool = open_pool(workers, min(workers.count, len(left)), make is not None)
    with deaths_reported(lambda: "try again with fewer workers"):
        yield from _run_in_pool(pool, left, make, stop)
    pool.shutdown()


def _run_in_pool(
    pool: Executor, jobs: Iterable[Runnable], make: MakePolicy | None, stop: Callable[[], None] | None
) -> Iterator[Any]:
    running: set[Future[Records]] = set()
    try:
        running.update(pool.submit(job.run, make) for job in jobs)
        for future in as_completed(tuple(running)):
            records = future.result()
            running.remove(future)
            yield from records
    except BaseException as error:  # also Ctrl+C; what was yielded is on disk
        if stop is not None:
            stop()
        if isinstance(pool, _Processes) and not isinstance(error, Exception):
            pool.terminate()
        pool.shutdown(wait=True, cancel_futures=True)
        if isinstance(error, Exception):
            yield from _finished(running)
        raise


def _finished(futures: Iterable[Future[Records]]) -> Iterator[Any]:
    """Yield the records of the jobs that finished without an error."""
    for future in futures:
        if future.done() and not future.cancelled() and future.exception() is None:
            yield from future.result()


@contextmanager
def deaths_reported(advice: Callable[[], str]) -> Iterator[None]:
    """Raise OSError with advice if a worker process ends before its job."""
    try:
        yield
    except BrokenProcessPool:
        raise OSError(
            "a worker process ended before its job, as it crashed or was killed, for example for want of memory; "
            + advice()
        ) from None


def _reason_to_stay(jobs: Sequence[Runnable], workers: Workers, make: MakePolicy | None) -> str:
    """Return why jobs must stay in this process; empty if other processes can run them or ``make`` is given."""
    if make is not None and workers.address is not None:
        raise ValueError("workers: policies that share a connection run in threads of this process; pass a number")
    if make is not None:
        return ""
    needs = JobNeeds.union(job.needs for job in jobs)
    if workers.address is not None:
        refuse_known_here_only(needs)
        return ""
    if multiprocessing.current_process().daemon:
        return "a daemonic process cannot start other processes"
    alone = known_here_only(needs)
    return f"only it knows {', '.join(alone)}" if alone else ""


def open_pool(workers: Workers, count: int, threads: bool = False) -> Executor:
    """Return an executor of jobs with a number of workers; Ray has its own number."""
    if workers.address is not None:
        return _RayPool(workers.address)
    return ThreadPoolExecutor(count) if threads else _Processes(count)


@contextmanager
def terminating(pool: Executor) -> Iterator[Executor]:
    """Shut an executor down at the end of the block; an error or Ctrl-C in it ends processes that still work."""
    try:
        yield pool
    except BaseException:
        if isinstance(pool, _Processes):
            pool.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


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
        """Run a function in a process; raise ``NotImportable`` if no other process can import the function."""
        job = pack_call(function, *args, **kwargs)
        with caller_hidden():  # it may start a process
            return super().submit(call, self._registrations, job)

    def terminate(self) -> None:
        """End the processes without waiting for what they do."""
        for process in tuple((self._processes or {}).values()):
            process.terminate()


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
