"""Calls in daemon threads, which do not keep the program alive as those of an executor do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def call_in_daemon(function: Callable[[], T]) -> Future[T]:
    """Call a function in a daemon thread of its own; the future holds its result or its error."""
    future: Future[T] = Future()

    def call() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(function())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    return future
