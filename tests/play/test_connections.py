"""Half-open connections and sockets that nobody reads: they end by themselves, and keep nobody else out."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import threading
from collections.abc import Iterator
from urllib.request import urlopen

import pytest
from play.world import ESCAPE

from collab_overcooked.play import server
from collab_overcooked.play.host import Host, keep_links

pytest.importorskip("uvicorn", reason="needs the extra play")
connections = pytest.importorskip("collab_overcooked.play.connections", reason="needs the extra play")
NEVER, PATIENCE = 3600.0, 120.0
HALF = (b"", b"GET /page/play.css HT", b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf")


@contextlib.contextmanager
def serving(session=None, result=None, **limits) -> Iterator[int]:
    """Serve pages under limits, which ``found`` is given; yields the port."""
    limits = connections.ConnectionLimits(**{"most": 500, "request_within": NEVER, "close_within": NEVER, **limits})
    if result is not None:
        result.append(limits)
    host, ready = Host(lambda text: None), threading.Event()
    port: list[int] = []
    app = server.make_app(host, started=lambda: session and host.add(session))
    entry, listening = server.make_server(
        app, "127.0.0.1", 0, lambda number: (port.append(number), ready.set()), limits
    )
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


def is_closed(created: socket.socket) -> bool:
    """Wait until the server has closed a connection."""
    with created, contextlib.suppress(ConnectionResetError):
        while created.recv(4096):
            pass
    return True


@pytest.mark.parametrize("data", HALF)
def test_connections_without_a_whole_request_are_closed(data: bytes) -> None:
    with serving(request_within=0.2) as port:
        items = [half_open(port, data) for _ in range(60)]
        assert all(map(is_closed, items))


def test_a_byte_now_and_then_gains_no_time() -> None:
    """Each connection sends on until it is cut; if every byte gained time, this would go on for ever."""
    with serving(request_within=0.2) as port:
        created = half_open(port, b"GET / HTTP/1.1\r\nX: ")
        created.settimeout(0.02)
        for _ in range(int(PATIENCE / 0.02)):
            try:
                created.sendall(b"x")
                if not created.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            pytest.fail("the connection is still open")
        created.close()


def test_half_open_connections_keep_nobody_out() -> None:
    """The limit on connections is reached many times over; those that wait longest for a request make room."""
    with serving(most=20) as port:
        items = [half_open(port, HALF[n % 3]) for n in range(100)]
        for _ in range(5):
            with urlopen(f"http://127.0.0.1:{port}/page/play.css", timeout=PATIENCE) as result:
                assert result.status == 200
        assert all(map(is_closed, items[:60]))
        for entry in items:
            entry.close()


def test_a_connection_is_kept_between_requests_and_in_time() -> None:
    request = b"GET /page/play.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serving() as port, half_open(port, request[:20]) as created:
        created.sendall(request[20:])
        for _ in range(3):
            assert created.recv(12) == b"HTTP/1.1 200"
            while not created.recv(65536).endswith(b"}\n"):
                pass
            created.sendall(request)


def test_a_socket_that_is_open_waits_for_no_request(make_session) -> None:
    connect = pytest.importorskip("websockets.sync.client").connect
    session, result = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE), []
    with serving(session, result) as port:
        link = f"ws://127.0.0.1:{port}/s/{session.people[0].token}/socket"
        with connect(link, open_timeout=PATIENCE) as single:
            assert json.loads(single.recv(PATIENCE)) and result[0].waiting == 0


def test_limits_stay_below_the_files_of_the_process() -> None:
    resource = pytest.importorskip("resource", reason="this system has no limits of this kind")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = connections.max_connections()
    now = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 0 < most <= connections.MAX_CONNECTIONS and now[1] == before[1]
    assert now[0] == resource.RLIM_INFINITY or most < now[0]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_one_link_holds_a_few_sockets(make_session) -> None:
    """Connections that never answer are taken over; whatever one link opens, the server holds a few sockets."""
    connect = pytest.importorskip("websockets.sync.client").connect
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    (person,) = session.people
    with serving(session, close_within=0.1) as port:
        link = f"ws://127.0.0.1:{port}/s/{person.token}/socket"
        items = []
        for _ in range(60):
            items.append(half_open(port, upgrade(port, person.token)))
            assert items[-1].recv(12) in (b"HTTP/1.1 101", b"HTTP/1.1 403", b"")
            assert person.sockets <= server.MAX_SOCKETS
        assert all(map(is_closed, items[:-10]))
        for entry in items:
            entry.close()
        for _ in range(1000):  # refused as long as the ones before are being closed
            with contextlib.suppress(Exception), connect(link, open_timeout=PATIENCE) as entry:
                assert json.loads(entry.recv(PATIENCE))
                break
            threading.Event().wait(0.05)
        else:
            pytest.fail("the seat is lost")


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
        while person.outbox is None:
            await asyncio.sleep(0)
        person.outbox.put({"type": "notice"})
        session.connect(person, server.Outbox())
        await asyncio.wait_for(talking, PATIENCE)
        assert person.here

    asyncio.run(story())


def test_an_end_that_sends_pings_and_never_reads_is_dropped(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    (person,) = session.people
    with serving(session) as port, half_open(port, upgrade(port, person.token)) as created:
        assert created.recv(12) == b"HTTP/1.1 101"
        pings = (b"\x89\xfd" + bytes(4 + 125)) * 1_000
        with pytest.raises(OSError, match=r"reset|[Bb]roken|abort"):
            while True:
                created.sendall(pings)


def test_links_are_kept_for_a_restart(make_session, tmp_path) -> None:
    hosts = [(Host(), make_session(["all=person"], **ESCAPE).people) for _ in range(2)]
    links = [keep_links(tmp_path, *entry) or [holder.token for holder in (entry[0], *entry[1])] for entry in hosts]
    assert links[0] == links[1] and len(set(links[0])) == 3
    assert (tmp_path / "links.json").stat().st_mode & 0o077 == 0


def test_hostile_requests_fill_no_log():
    """What strangers send decides how many lines there are, not what the log holds."""
    now, shown = [0.0], []
    rare = connections.RareLines(60.0, clock=lambda: now[0])

    def log(message, error=None):
        record = logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, message, (), (type(error), error, None))
        if rare.filter(record):
            shown.append(record.getMessage())

    for second in range(100):
        now[0] = float(second)
        log("Invalid HTTP request received.")
        log("Exception in ASGI application", connections.ClientDisconnect())
        log("Exception in ASGI application", KeyError("ours"))
    invalid = [line for line in shown if line.startswith("Invalid")]
    assert invalid == [
        "Invalid HTTP request received.",
        "Invalid HTTP request received. (59 more like it were left out)",
    ]
    assert len(shown) == 4, "errors of the server are shown as often"


def test_servers_leave_malformed_requests_out_of_the_log(caplog):
    chunked = b"POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with serving() as port, caplog.at_level(logging.WARNING, "uvicorn.error"):
        for end in (b"ZZ\r\n", b"3\r\nabcXX0\r\n\r\n", b"0\r\nno trailer\r\n\r\n", b"F" * 40 + b"\r\n") * 3:
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(chunked + end)
                stranger.settimeout(PATIENCE)
                with contextlib.suppress(ConnectionError):
                    while stranger.recv(1000):
                        pass
    assert len([record for record in caplog.records if record.name == "uvicorn.error"]) <= 2
