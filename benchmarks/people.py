"""Measure real-time play: pairs of people over real sockets, and how late their ticks are.

    python benchmarks/people.py [PAIRS [SECONDS]]

The server and the people are two processes on this machine. People hold random keys and read everything. Printed are
the seconds from a tick's deadline to the moment its frames were sent, and from there to their arrival.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import statistics
import sys
import time
from typing import Any

KEYS = ("up", "down", "left", "right", "act")
TICK = 0.15


def serve_pairs(pairs: int, steps: int, pipe: Any) -> None:
    """Serve sessions, send their links, then how late every tick was."""
    from collab_overcooked.evaluation.suites import plan_evaluation
    from collab_overcooked.play.host import Host
    from collab_overcooked.play.server import make_app, serve
    from collab_overcooked.play.session import Session
    from collab_overcooked.play.settings import PlaySettings

    plan = plan_evaluation("overcooked", ["all=person"], layouts="cramped_room", horizon=steps)
    settings, host = PlaySettings(tick=TICK, countdown=1.0), Host()
    sessions = [Session(plan.jobs[:1], settings) for _ in range(pairs)]
    late: list[float] = []

    def collect(session: Session) -> Any:
        def over(record: Any) -> None:
            assert session.driver is not None
            late.extend(session.driver.late)

        return over

    for session in sessions:
        session._on_over = collect(session)

    def started() -> None:
        for session in sessions:
            host.add(session)
        asyncio.get_running_loop().create_task(watch())

    async def watch() -> None:
        while any(session.state != "closed" for session in sessions):
            await asyncio.sleep(0.2)
        pipe.send((late, time.process_time()))

    def ready(port: int) -> None:
        pipe.send([f"ws://127.0.0.1:{port}/s/{p.token}/socket" for session in sessions for p in session.people])

    serve(make_app(host, started=started), "127.0.0.1", 0, ready)


async def person(link: str, gaps: list[float]) -> int:
    """Play until it is over; returns the bytes that were received."""
    from websockets.asyncio.client import connect

    received, last, ready = 0, None, False
    async with connect(link, max_size=None) as socket:
        async for text in socket:
            received += len(text)
            message = json.loads(text)
            if message["type"] == "state" and message["state"] == "ready" and not ready:
                ready = True
                await asyncio.sleep(2 * random.random())  # as people are
                await socket.send(json.dumps({"type": "ready"}))
            elif message["type"] == "frame":
                now = time.monotonic()
                if last is not None and message["timestep"] > 1:
                    gaps.append(now - last)
                last = now
                key = random.choice(KEYS)
                await socket.send(json.dumps({"type": "key", "key": key, "down": random.random() < 0.6}))
            elif message["type"] == "over":
                break
    return received


def main(pairs: int = 20, seconds: float = 60) -> None:
    """Measure and print."""
    steps = round(seconds / TICK)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve_pairs, args=(pairs, steps, theirs), daemon=True)
    server.start()
    links, gaps = ours.recv(), []

    async def all_people() -> list[int]:
        return await asyncio.gather(*(person(link, gaps) for link in links))

    received = asyncio.run(all_people())
    late, busy = ours.recv()
    server.terminate()
    late.sort()
    p50, p95, worst = late[len(late) // 2], late[int(len(late) * 0.95)], late[-1]
    print(f"{pairs} pairs, {steps} steps of {TICK} s, {len(late)} ticks; processor time of the server {busy:.1f} s")
    print(f"late: median {1000 * p50:.1f} ms, 95th percentile {1000 * p95:.1f} ms, worst {1000 * worst:.1f} ms")
    print(f"between frames at a page: mean {1000 * statistics.mean(gaps):.1f} ms, worst {1000 * max(gaps):.1f} ms")
    print(f"received by a page: {statistics.mean(received) / 1024:.0f} KiB")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:3]))
