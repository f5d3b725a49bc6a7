"""Calls in daemon threads: results, errors, and a future that somebody gives up while the function runs."""

from __future__ import annotations

import asyncio
import threading

import pytest

from collab_overcooked.io.daemon import call_in_daemon

PATIENCE = 60.0  # seconds until a test that hangs fails


def test_a_future_holds_the_result_or_the_error() -> None:
    assert call_in_daemon(lambda: 5).result(PATIENCE) == 5
    with pytest.raises(ZeroDivisionError):
        call_in_daemon(lambda: 1 // 0).result(PATIENCE)
    assert call_in_daemon(lambda: threading.current_thread().daemon).result(PATIENCE)


def test_a_function_that_runs_ends_although_nobody_waits_any_more() -> None:
    """A server that stops cancels what awaits the outcome of a round; the thread goes on and writes its result."""
    began, may_end = threading.Event(), threading.Event()

    def function() -> int:
        began.set()
        assert may_end.wait(PATIENCE)
        return 5

    future = call_in_daemon(function)

    async def give_up() -> None:
        waiting = asyncio.ensure_future(asyncio.wrap_future(future))
        await asyncio.get_running_loop().run_in_executor(None, began.wait, PATIENCE)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(give_up())
    may_end.set()
    assert future.result(PATIENCE) == 5
