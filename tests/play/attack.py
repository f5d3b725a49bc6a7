"""Random and malformed messages over real sockets, and what a server must be like after them."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from play.world import first_legal

from collab_overcooked.play.host import Host
from collab_overcooked.play.messages import FIELDS, KEYS, REMATCHES
from collab_overcooked.play.server import make_app, make_server
from collab_overcooked.play.session import Session

VALUES = (None, True, False, -1, 0, 1, 2, 10**30, 1.5, "", "up", "wait", "x" * 1500, [], {}, ["act"], "\x1b[2J\u202e")
PATHS = ("", "s", "h", "page", "study", "..", "%00", "%2e%2e", "socket", "sessions", "stop", "x" * 3000, "\u00e9")
PAUSE = 50  # messages after which an attacker lets others have the loop


def junk(draw: random.Random, turn: int, phrase: Sequence[str]) -> str | bytes:
    """Return a message that may be right, wrong in a field, or no message at all; nobody leaves."""
    if draw.random() < 0.03:
        return draw.randbytes(draw.randrange(5000))
    if draw.random() < 0.02:
        return "[" * draw.randrange(6000)
    kind = draw.choice([*(name for name in FIELDS if name != "leave"), "x", None])
    right = {"turn": turn, "plan": draw.choice(phrase), "say": "hello", "last": True, "key": draw.choice(KEYS)}
    right |= {"down": draw.random() < 0.5, "on": False, "width": 1280, "lost": True, "how": draw.choice(REMATCHES)}
    message = {"type": kind, **{name: right[name] for name in FIELDS.get(kind or "", ())}}
    while draw.random() < 0.3:
        message[draw.choice([*message, "seed", "turn", "agent"])] = draw.choice(VALUES)
    text = json.dumps(message)
    return text[: draw.randrange(len(text))] if draw.random() < 0.1 else text


async def attack(link: str, draw: random.Random, count: int) -> int:
    """Send messages over connections that come and go; returns how many were answered by a refusal."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed

    refused = sent = turn = 0
    while sent < count:
        texts = ["wait", "north; south", "request('wait')", "fly", ""]
        try:
            async with connect(link, max_size=None) as socket:
                await socket.recv()  # kernels are loaded
                for _ in range(draw.randrange(1, 2000)):
                    if sent >= count:
                        break
                    await socket.send(junk(draw, turn, texts))
                    sent += 1
                    if sent % PAUSE:
                        continue
                    while True:
                        try:
                            message = json.loads(await asyncio.wait_for(socket.recv(), 0.005))
                        except TimeoutError:
                            break
                        refused += message["type"] == "refused"
                        if message["type"] == "ask":
                            turn, texts = message["turn"], [*texts[:5], *message.get("actions", ())]
                await socket.send("no message")  # whose refusal comes, however busy the machine is
                while json.loads(await socket.recv())["type"] != "refused":
                    pass
                refused += 1
        except ConnectionClosed:  # too large, or taken over by another one
            pass
    return refused


async def play_on(link: str) -> None:
    """Play on as an honest person, to the end of an episode."""
    from websockets.asyncio.client import connect

    async with connect(link, max_size=None) as socket:
        async for text in socket:
            message = json.loads(text)
            if message["type"] in ("over", "closing"):
                return
            paused = message["type"] == "state" and message["state"] == "paused"
            answer = {"type": "pause", "on": False} if paused else first_legal(message)
            if answer is not None:
                await socket.send(json.dumps(answer))


def visit(base: str, draw: random.Random, count: int) -> list[str]:
    """Request addresses that mean nothing; returns those that broke the server."""
    broken = []
    for _ in range(count):
        path = "/".join(draw.choice(PATHS) for _ in range(draw.randrange(1, 6)))
        data = draw.choice([None, b"", draw.randbytes(300)])
        try:
            urlopen(Request(f"{base}/{path}".encode().decode("ascii", "ignore"), data), timeout=30).close()
        except HTTPError as error:
            if error.code >= 500:
                broken.append(path)
    return broken


async def attacked(sessions: Sequence[Session], messages: int, seed: int) -> tuple[int, list[str]]:
    """Attack sessions on a server of their own, then play an episode of each to its end, and end them.

    Returns:
        How many messages were refused and addresses that broke the server.
    """
    host = Host()
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    app = make_app(host, started=lambda: [host.add(session) for session in sessions])
    server, listening = make_server(app, "127.0.0.1", 0, started.set_result)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    base = f"127.0.0.1:{await started}"
    people = [person for session in sessions for person in session.people]
    links = [f"ws://{base}/s/{person.token}/socket" for person in people]
    draws = [random.Random(f"{seed}/{n}") for n in range(len(links) + 1)]
    refused = await asyncio.gather(
        *(attack(link, draw, messages // len(links)) for link, draw in zip(links, draws, strict=False))
    )
    broken = await asyncio.to_thread(visit, f"http://{base}", draws[-1], 100)
    assert all(person.send_queue is None or person.send_queue.waiting <= 200 for person in people)
    await asyncio.wait_for(asyncio.gather(*map(play_on, links)), 120)
    for session in sessions:
        session.stop()
    await asyncio.wait_for(asyncio.gather(*map(host.wait, sessions)), 30)
    server.should_exit = True
    await serving
    return sum(refused), broken
