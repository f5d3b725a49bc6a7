"""Threads of a batch: the same results by either way, chosen by measured time, and none left behind."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from collab_overcooked.envs import threads
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.threads import Threads
from collab_overcooked.registry import load_game
from collab_overcooked.testing import random_legal


def running() -> set[threading.Thread]:
    """Threads of all batches of this process, those of other tests included."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("batch-env")}


class Clock:
    """A clock that ways of stepping advance by their own cost."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(threads, "perf_counter", lambda: self.now)

    def way(self, name: str, cost: float, taken: list[str]) -> Any:
        def step() -> None:
            self.now += cost
            taken.append(name)

        return step


@pytest.mark.parametrize(
    ("whole", "slices", "chosen"), [(1.0, 0.6, "slice"), (1.0, 1.1, "whole"), (1e-6, 0.0, "whole")]
)
def test_the_faster_way_is_taken(monkeypatch: pytest.MonkeyPatch, whole: float, slices: float, chosen: str) -> None:
    clock = Clock(monkeypatch)
    taken: list[str] = []
    before = running()
    parts = [clock.way("slice", slices, taken), clock.way("other", 0, [])]
    pool = Threads(clock.way("whole", whole, taken), lambda: parts)
    for _ in range(2 * threads.TRIAL):
        pool.step()
    taken.clear()
    for _ in range(threads.FIRST_PERIOD):
        pool.step()
    assert set(taken) == {chosen}
    if chosen == "slice":
        assert len(running() - before) == 1
    pool.close()


def test_the_choice_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "FIRST_PERIOD", 3)
    monkeypatch.setattr(threads, "PERIOD", 5)
    clock = Clock(monkeypatch)
    taken: list[str] = []
    pool = Threads(clock.way("whole", 1.0, taken), lambda: [clock.way("slice", 2.0, taken), lambda: None])
    trials = threads.TRIAL * ["whole"] + threads.TRIAL * ["slice"]
    expected = trials + 3 * ["whole"] + trials + 5 * ["whole"] + trials + 5 * ["whole"]
    for _ in expected:
        pool.step()
    assert taken == expected


def test_threads_that_begin_slowly_are_chosen_within_64_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    taken: list[str] = []
    costs = iter([2.0] * threads.TRIAL)

    def part() -> None:
        clock.now += next(costs, 0.6)
        taken.append("slice")

    pool = Threads(clock.way("whole", 1.0, taken), lambda: [part, lambda: None])
    for _ in range(64):
        pool.step()
    taken.clear()
    for _ in range(50):
        pool.step()
    assert set(taken) == {"slice"}
    pool.close()


def test_errors_of_a_thread_are_raised_and_the_next_step_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "TRIAL", 0)
    steps: list[int] = []

    def other() -> None:
        steps.append(1)
        if len(steps) == 1:
            raise KeyError("first")

    pool = Threads(lambda: None, lambda: [lambda: None, other])
    with pytest.raises(KeyError, match="first"):
        pool._together()
    pool._together()
    assert len(steps) == 2
    pool.close()


@pytest.mark.parametrize("count", [2, 3])
def test_threads_change_no_result(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(threads, "WORTH", 0.0)
    monkeypatch.setattr(threads, "PERIOD", 1)
    game, rng = load_game("Overcooked-v0", layout="cramped_room"), np.random.default_rng(0)
    one, many, before = BatchEnv(game, 7, 1), BatchEnv(game, 7, count), running()
    for batch in (one, many):
        batch.reset(3)
    for _ in range(60):
        actions = random_legal(one, rng)
        for first, second in zip(one.step(actions)[:4], many.step(actions)[:4], strict=True):
            np.testing.assert_array_equal(first, second)
    assert len(running() - before) == count - 1
    many.close()


def test_no_thread_stays_when_a_batch_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "WORTH", 0.0)
    before, pool = running(), Threads(lambda: None, lambda: [lambda: None, lambda: None])
    for _ in range(2 * threads.TRIAL + 1):
        pool.step()
    (thread,) = running() - before
    del pool
    thread.join(60)
    assert not thread.is_alive()
