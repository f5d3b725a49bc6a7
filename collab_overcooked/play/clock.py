"""The clock of real-time play: deadlines at fixed times from the start, so that lateness never adds up."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable

JUMP = 1.0  # seconds behind from which the machine is taken to have slept


def in_seconds(text: str, tick: float) -> str:
    """Return a text of a game with seconds in place of steps, which nobody counts in real time.

    Args:
        text: Text such as ``"cooks for 20 steps"`` or ``"delivered in step 40"``.
        tick: Seconds of a step.
    """

    def seconds(steps: re.Match[str]) -> str:
        return re.sub(r"\d+", lambda number: f"{round(int(number[0]) * tick, 1):g}", steps[1]) + " s"

    return re.sub(r"\b(\d+(?: or \d+)*) steps\b", seconds, re.sub(r"\bin step (\d+)", r"after \1 steps", text))


class TickClock:
    """Deadlines ``start + k * tick``.

    Args:
        tick: Seconds of a step.
        now: Returns seconds; another one in tests.
        sleep: Waits for seconds; another one in tests.

    Attributes:
        late: Seconds that each tick was noticed after its deadline.
    """

    def __init__(
        self,
        tick: float,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.tick = tick
        self._now = now
        self._sleep = sleep
        self.late: list[float] = []
        self._start = now()
        self._paused: float | None = None
        self._running = asyncio.Event()
        self._running.set()

    def start(self) -> None:
        """Count from now on."""
        self._start, self.late = self._now(), []

    async def wait(self, number: int) -> None:
        """Wait for the deadline of a tick, 1 for the first; pauses do not count."""
        while True:
            await self._running.wait()
            await self._sleep(max(-self.behind(number), 0.0))  # also when it is late: others must get their turn
            late = self.behind(number)
            if late >= 0 and self._paused is None:
                break
        self.late.append(late)
        if late > JUMP:
            self._start += late

    def behind(self, number: int) -> float:
        """Return the seconds since the deadline of a tick."""
        return self._now() - (self._start + number * self.tick)

    def pause(self) -> None:
        """Stop the clock."""
        if self._paused is None:
            self._paused = self._now()
            self._running.clear()

    def go_on(self) -> None:
        """Resume the clock where it stopped."""
        if self._paused is not None:
            self._start += self._now() - self._paused
            self._paused = None
            self._running.set()
