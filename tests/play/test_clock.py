"""The clock of games in real time, with a time of its own."""

from __future__ import annotations

import asyncio

import pytest
from play.world import Time

from collab_overcooked.play.clock import TickClock


@pytest.mark.parametrize("late", [0.0, 0.004, 0.04])
def test_ticks_do_not_drift(late: float) -> None:
    time = Time(late)
    clock = TickClock(0.15, time.now, time.sleep)
    clock.start()

    async def run() -> None:
        for tick in range(1, 401):
            await clock.wait(tick)
            time.seconds += 0.02  # what a step takes

    asyncio.run(run())
    assert abs(time.seconds - (100 + 400 * 0.15)) < 0.15 and max(clock.late) < 0.05


def test_a_pause_moves_all_deadlines() -> None:
    time = Time()
    clock = TickClock(0.1, time.now, time.sleep)
    clock.start()
    clock.pause()
    time.seconds += 60
    clock.go_on()
    asyncio.run(clock.wait(3))
    assert time.seconds == pytest.approx(160.3)


def test_after_a_sleep_of_the_machine_ticks_do_not_rush() -> None:
    time = Time()
    clock = TickClock(0.1, time.now, time.sleep)
    clock.start()
    time.seconds += 30
    asyncio.run(clock.wait(1))
    asyncio.run(clock.wait(2))
    assert time.seconds == pytest.approx(130.1)
