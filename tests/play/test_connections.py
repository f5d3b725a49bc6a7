"""Connections that nobody uses: the server holds a bounded number of them, and seats are not lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from play.world import ESCAPE

from collab_overcooked.play import server
from collab_overcooked.play.host import Host
from collab_overcooked.play.rooms import Rooms
from collab_overcooked.play.settings import PlaySettings

pytest.importorskip("uvicorn", reason="needs the extra play")
PATIENCE = 120.0


@contextlib.contextmanager
def serving(session=None, host=None) -> Iterator[int]:
    """Serve pages; yields the port."""
    host, ready = host or Host(), threading.Event()
    port: list[int] = []
    app = server.make_app(host, started=lambda: session and host.add(session))
    entry, listening = server.make_server(app, "127.0.0.1", 0, lambda number: (port.append(number), ready.set()))
    thread = threading.Thread(target=entry.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    yield port[0]
    entry.should_exit = True
    thread.join(PATIENCE)


def test_a_port_in_use_is_named() -> None:
    with serving() as port, pytest.raises(ValueError, match=rf"port: {port} of 127.0.0.1 cannot be listened on: .*try"):
        server.make_server(None, "127.0.0.1", port, lambda number: None)


def half_open(port: int, data: bytes) -> socket.socket:
    created = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    created.sendall(data)
    return created


def upgrade(port: int, token: str) -> bytes:
    """Return the request for a person's WebSocket."""
    key = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + "A" * 22
    return f"GET /s/{token}/socket HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{key}==\r\n\r\n".encode()


def test_more_connections_than_the_limit_are_answered_by_503(monkeypatch) -> None:
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 5)
    with serving() as port:
        page = f"http://127.0.0.1:{port}/page/play.css"
        waiting = [half_open(port, b"GET /page/play.css HT") for _ in range(5)]
        with pytest.raises(HTTPError, match="503"):
            for _ in range(1000):  # until the server has accepted the five
                urlopen(page, timeout=PATIENCE).close()
        for entry in waiting:
            entry.close()
        for _ in range(1000):  # until it has noticed that they are gone
            with contextlib.suppress(HTTPError), urlopen(page, timeout=PATIENCE) as answer:
                assert answer.status == 200
                break
        else:
            pytest.fail("the server stays full")


def test_one_link_holds_a_few_sockets(make_session) -> None:
    """Connections that never answer are taken over; whatever one link opens, the server holds a few sockets."""
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    (person,) = session.people
    with serving(session) as port:
        items = []
        for _ in range(20):
            items.append(half_open(port, upgrade(port, person.token)))
            assert items[-1].recv(12) in (b"HTTP/1.1 101", b"HTTP/1.1 403", b"")
            assert person.sockets <= server.MAX_SOCKETS
        for entry in items:
            entry.close()


def test_a_taken_over_connection_that_nobody_reads_is_given_up(make_session, monkeypatch) -> None:
    monkeypatch.setattr(server, "CLOSE_WITHIN", 0.05)
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    (person,) = session.people

    class Stuck:
        """A socket whose other end neither reads nor writes."""

        async def send_text(self, *text: str) -> None:
            await asyncio.Event().wait()

        receive = close = send_text

    async def story() -> None:
        talking = asyncio.create_task(server._talk(Stuck(), session, person))
        while person.send_queue is None:
            await asyncio.sleep(0)
        person.send_queue.put({"type": "notice"})
        session.connect(person, server.SendQueue())
        await asyncio.wait_for(talking, PATIENCE)
        assert person.here

    asyncio.run(story())


def test_a_client_that_goes_away_is_no_error_of_the_server(caplog):
    host = Host(rooms=Rooms(None, PlaySettings()))
    head = f"POST /h/{host.token}/rooms HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunked = head.encode() + b"3\r\nabc"
    with serving(host=host) as port, caplog.at_level(logging.ERROR, "uvicorn.error"):
        for _ in range(3):
            half_open(port, chunked).close()
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=PATIENCE) as answer:
            assert answer.read() == b"ok"
    assert [record for record in caplog.records if record.name == "uvicorn.error"] == []
