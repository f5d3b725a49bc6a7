"""Threads of a batch, used where its steps are measured to be faster with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any

TRIAL = 5  # steps of each way that are timed before one of them is chosen
WORTH = 2e-4  # seconds of a step below which threads cost more than they can save
# Steps after which the choice is made anew, as the first steps of threads are slow and other work on the machine comes
# and goes: few after the first choice, twice as many after each later one
FIRST_PERIOD, PERIOD = 32, 2048

Step = Callable[[], Any]
Done = SimpleQueue[BaseException | None]


class Threads:
    """Steps a batch as a whole or in slices, one slice per thread, whichever is measured to be faster.

    Results do not depend on the choice. Kernels release the GIL.

    Args:
        batch: Steps the whole batch.
        slices: Returns what steps one slice each, at least two; called when threads are tried for the first time.
    """

    def __init__(self, batch: Step, slices: Callable[[], Sequence[Step]]) -> None:
        self._batch, self._make = batch, slices
        self._slices: Sequence[Step] = ()
        self._todo: SimpleQueue[tuple[Step, Done] | None] = SimpleQueue()
        self._owner = 0  # process of the threads, which do not survive a fork
        self._left, self._period = 0, FIRST_PERIOD  # steps until the next choice, and after it
        self._is_sliced = False  # what was chosen
        self._seconds: tuple[list[float], list[float]] = ([], [])  # as a whole, in slices

    def step(self) -> None:
        """Advance all environments."""
        if self._left:
            self._left -= 1
            self._together() if self._is_sliced else self._batch()
            return
        alone, together = self._seconds
        timed, way = (alone, self._batch) if len(alone) < TRIAL else (together, self._together)
        start = perf_counter()
        way()
        timed.append(perf_counter() - start)
        if len(together) == TRIAL or (len(alone) == TRIAL and median(alone) < WORTH):
            self._is_sliced = len(together) == TRIAL and median(together) < median(alone)
            self._left, self._seconds = self._period, ([], [])
            self._period = min(2 * self._period, PERIOD)

    def _together(self) -> None:
        first, *others = self._slices = self._slices or self._make()
        if self._owner != os.getpid():
            self._todo, self._owner = SimpleQueue(), os.getpid()
            for number in range(len(others)):
                Thread(target=_work, args=(self._todo,), name=f"batch-env-{number}", daemon=True).start()
        done: Done = SimpleQueue()  # of this step: what an interrupted one leaves behind is not taken for it
        for part in others:
            self._todo.put((part, done))
        try:
            first()
        finally:
            errors = [done.get() for _ in others]
        for error in filter(None, errors):
            raise error

    def close(self) -> None:
        """Stop the threads; another step would start them again."""
        if self._owner == os.getpid():
            for _ in self._slices[1:]:
                self._todo.put(None)
        self._owner = 0

    def __del__(self) -> None:
        self.close()


def _work(todo: SimpleQueue[tuple[Step, Done] | None]) -> None:
    while (task := todo.get()) is not None:
        part, done = task
        try:
            part()
        except BaseException as error:  # raised by the step that waits for it
            done.put(error)
        else:
            done.put(None)
