"""Measure real-time play: pairs of people over real sockets, how late their ticks are, and whether they drift.

    python benchmarks/people.py [PAIRS [SECONDS]]

The server and the people are two processes on this machine. People answer every frame with a key and look no closer, so
that it is the server that is measured. Printed are the seconds from a tick's deadline to the moment its frames were
sent, those between frames at a page, and by how much the last frame came too late after the first one.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import statistics
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

KEYS = [json.dumps({"type": "tap", "key": key}) for key in ("up", "down", "left", "right", "act")]
TICK = 0.15
FRAME = b'{"type":"frame"'


def serve_pairs(pairs: int, steps: int, pipe: Any) -> None:
    """Serve sessions, send their links, then how late every tick was."""
    from collab_overcooked.evaluation.suites import plan_evaluation
    from collab_overcooked.play.host import Host
    from collab_overcooked.play.server import make_app, serve
    from collab_overcooked.play.session import Session
    from collab_overcooked.play.settings import PlaySettings
    from collab_overcooked.study.rehearsal import most_memory

    plan = plan_evaluation("overcooked", ["all=person"], layouts="cramped_room", max_cycles=steps)
    settings, host = PlaySettings(tick=TICK, countdown=1.0), Host()
    late: list[float] = []
    busy: list[float] = []

    def session() -> Session:
        result = Session(plan.matches[:1], settings)
        result._on_over = lambda record: late.extend(result.driver.late if result.driver else ())
        return result

    sessions = [session() for _ in range(pairs)]

    def started() -> None:
        for session in sessions:
            host.add(session)
        asyncio.get_running_loop().create_task(watch())

    async def watch() -> None:
        while any(session.state in ("waiting", "ready") for session in sessions):
            await asyncio.sleep(0.1)
        busy.append(time.process_time())
        while any(session.state != "closed" for session in sessions):
            await asyncio.sleep(0.2)
        pipe.send((late, time.process_time() - busy[0], most_memory()))

    def ready(port: int) -> None:
        pipe.send([f"ws://127.0.0.1:{port}/s/{p.token}/socket" for session in sessions for p in session.people])

    serve(make_app(host, started=started), "127.0.0.1", 0, ready)


async def person(link: str) -> tuple[list[float], int]:
    """Play until it is over; returns when each frame of the game came, and the bytes that were received."""
    from websockets.asyncio.client import connect

    came: list[float] = []
    received, ready = 0, False
    async with connect(link, max_size=None, compression=None) as socket:
        async for data in _bytes_of(socket):
            received += len(data)
            if data.startswith(FRAME):
                came.append(time.monotonic())
                await socket.send(random.choice(KEYS))
                continue
            message = json.loads(data)
            if message["type"] == "state" and message["state"] == "ready" and not ready:
                ready = True
                await asyncio.sleep(2 * random.random())  # as people are
                await socket.send(json.dumps({"type": "ready"}))
            elif message["type"] == "over":
                break
    return came[1:], received  # but for the frame before the first step


async def _bytes_of(socket: Any) -> Any:
    while True:
        yield await socket.recv(decode=False)


def main(pairs: int = 20, seconds: float = 60) -> None:
    """Measure and print."""
    steps = round(seconds / TICK)
    actual, reference = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(
        target=serve_pairs, args=(pairs, steps, reference), daemon=True
    )
    server.start()
    links = actual.recv()

    async def all_people() -> Sequence[tuple[list[float], int]]:
        return await asyncio.gather(*map(person, links))

    played = asyncio.run(all_people())
    late, busy, memory = actual.recv()
    server.terminate()
    late.sort()
    p50, p95, worst = (1000 * late[int(share * (len(late) - 1))] for share in (0.5, 0.95, 1))
    frames = [came for came, _ in played]
    gaps = [1000 * (b - a) for came in frames for a, b in pairwise(came)]
    drifts = [1000 * abs(came[-1] - came[0] - (steps - 1) * TICK) for came in frames]
    print(f"{pairs} pairs, {steps} steps of {TICK} s: {len(late)} ticks, {sum(map(len, frames))} frames")
    print(f"late: median {p50:.1f} ms, 95th percentile {p95:.1f} ms, worst {worst:.1f} ms")
    print(f"between frames at a page: mean {statistics.mean(gaps):.1f} ms, worst {max(gaps):.1f} ms")
    print(f"drift from the first frame to the last: {max(drifts):.1f} ms at most")
    print(f"received by a page: {statistics.mean(entry for _, entry in played) / 1024:.0f} KiB")
    print(f"server: {100 * busy / (steps * TICK):.0f} % of a processor while playing, {memory} MiB at most")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:3]))
