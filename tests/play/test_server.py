"""The web server: links, headers, sockets, and what is refused."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import resources

import pytest
from play.world import ESCAPE, first_legal
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.play import server
from collab_overcooked.play.host import Host
from collab_overcooked.play.messages import BURST, MAX_BYTES, Rate
from collab_overcooked.play.session import MAX_WATCHERS
from collab_overcooked.runner.replay import first_difference

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("uvicorn", reason="needs the extra play")
NAMES = ("localhost", "testserver")


@contextlib.contextmanager
def client(session, routes=()) -> Iterator[tuple]:
    from starlette.testclient import TestClient

    host = Host()
    app = server.make_app(host, routes, NAMES, started=lambda: host.add(session))
    with TestClient(app, base_url="http://localhost") as entry:
        yield entry, host


def until(socket, kind):
    while (message := socket.receive_json())["type"] != kind:
        if message["type"] == "state" and (answer := first_legal(message)):
            socket.send_json(answer)
    return message


def test_a_game_over_sockets(make_session) -> None:
    session = make_session(["all=person"], **ESCAPE)
    with client(session) as (entry, _):
        one, other = (entry.websocket_connect(f"/s/{person.token}/socket") for person in session.people)

        def play(socket) -> None:
            while (message := socket.receive_json())["type"] != "over":
                if answer := first_legal(message):
                    socket.send_json(answer)

        with one, other, ThreadPoolExecutor(2) as people:
            list(people.map(play, (one, other)))
    assert session.records and first_difference(session.records[0]) is None


def test_pages_load_nothing_from_elsewhere(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    with client(session) as (entry, host):
        for path in (f"/s/{session.people[0].token}", f"/h/{host.token}", *(f"/page/{name}" for name in server.FILES)):
            result = entry.get(path)
            assert result.status_code == 200 and not re.search(
                r"(?:src|href)=\"(?:https?:)?//|@import|url\(", result.text
            )
            for name, value in server.HEADERS.items():
                assert result.headers[name] == value
            assert "set-cookie" not in result.headers
        assert "'unsafe" not in server.POLICY and "style=" not in server.page_file("play.html")


@pytest.mark.parametrize("page", ["play.html", "host.html"])
def test_pages_say_that_they_need_javascript(page: str) -> None:
    (notice,) = re.findall(r"<noscript>.*?JavaScript.*?</noscript>", server.page_file(page))
    assert "Schalte es ein" in notice


def test_strangers_are_refused(make_session) -> None:
    from starlette.websockets import WebSocketDisconnect

    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    token = session.people[0].token
    with client(session) as (entry, host):
        for path in ("/s/x", f"/s/{token[:-1]}", f"/h/{token}", f"/h/{token}/sessions", "/page/server.py", "/"):
            assert entry.get(path).status_code == 404, path
        assert entry.get(f"/s/{token}", headers={"host": "evil.example:80"}).status_code == 403
        act = f"/h/{host.token}/{session.id}/stop"
        assert entry.post(act, headers={"origin": "http://evil.example"}).status_code == 403
        assert entry.get(act).status_code == 405 and entry.post(act.replace("stop", "run")).status_code == 404
        for path, headers in (
            ("/s/x/socket", {}),
            (f"/s/{token}/socket", {"origin": "http://evil.example"}),
            (f"/s/{token}/socket", {"origin": "null"}),
            (f"/s/{token}/socket", {"host": "evil.example"}),
        ):
            with pytest.raises(WebSocketDisconnect), entry.websocket_connect(path, headers=headers):
                pass
        assert session.state == "waiting"


def test_bad_and_many_messages_are_refused_and_the_game_goes_on(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    with client(session) as (entry, _), entry.websocket_connect(f"/s/{session.people[0].token}/socket") as socket:
        question = until(socket, "ask")
        socket.send_text("x" * 5000)
        assert until(socket, "refused")["code"] == "size"
        socket.send_bytes(b"\x00")
        assert until(socket, "refused")["code"] == "json"
        for _ in range(100):
            socket.send_json({"type": "blur"})
        assert until(socket, "refused")["code"] == "rate"
        entry.portal.call(session.receive, session.people[0], first_legal(question))
        assert until(socket, "frame")["timestep"] == 1


def test_a_flood_ends_the_connection(make_session, monkeypatch) -> None:
    from starlette.websockets import WebSocketDisconnect

    monkeypatch.setattr(server, "Rate", lambda: Rate(lambda: 0.0))  # no time passes
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    with client(session) as (entry, _), entry.websocket_connect(f"/s/{session.people[0].token}/socket") as socket:
        for _ in range(BURST + server.MAX_REFUSED + 2):
            socket.send_json({"type": "blur"})
        with pytest.raises(WebSocketDisconnect):
            while True:
                socket.receive_json()


def test_the_server_itself_reads_no_long_messages() -> None:
    entry, listening = server.make_server(server.make_app(Host()), "127.0.0.1", 0, lambda port: None)
    listening.close()
    assert entry.config.ws_max_size <= 4 * MAX_BYTES and not entry.config.access_log and not entry.config.server_header


def test_the_host_sees_and_ends_sessions(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    with client(session) as (entry, host):
        (message,) = entry.get(f"/h/{host.token}/sessions").json()
        assert message["people"][0]["link"] == f"/s/{session.people[0].token}" and not message["people"][0]["here"]
        watch = entry.post(f"/h/{host.token}/{session.id}/watch").json()
        assert entry.get(watch).status_code == 200
        with entry.websocket_connect(f"/s/{session.people[0].token}/socket") as socket:
            until(socket, "ask")
            entry.post(f"/h/{host.token}/{session.id}/stop")
            assert until(socket, "over")["left"]


def test_the_end_of_the_server_keeps_what_was_played(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    with client(session) as (entry, _), entry.websocket_connect(f"/s/{session.people[0].token}/socket") as socket:
        socket.send_json(first_legal(until(socket, "ask")))
        until(socket, "ask")
    (aborted,) = (session.folder.path / "aborted.jsonl").read_text("utf-8").splitlines()
    assert json.loads(aborted)["timesteps"] == 1


def test_routes_of_others_get_the_same_headers(make_session) -> None:
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    with client(session, [Route("/study", lambda request: PlainTextResponse("hello"))]) as (entry, _):
        result = entry.get("/study")
        assert result.text == "hello" and result.headers["Content-Security-Policy"] == server.POLICY
        assert entry.get("/study", headers={"host": "evil.example"}).status_code == 403


def test_watchers_are_limited(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    for _ in range(MAX_WATCHERS):
        session.watch()
    with pytest.raises(ValueError, match="at most"):
        session.watch()


@pytest.mark.parametrize("command", [["play", "collab-escape"], ["study", "run", "cots_partner"]])
def test_other_machines_are_let_in_by_a_word_only(command, tmp_path) -> None:
    done = CliRunner().invoke(app, [*command, "--address", "0.0.0.0", "--out", str(tmp_path / "x")])
    assert done.exit_code == 2 and "--yes" in done.output and "without encryption" in " ".join(done.output.split())


@pytest.mark.parametrize(
    "command", [["play", "rooms", "--no-open"], ["study", "run", "collab_overcooked_pairs", "--preview"]]
)
@pytest.mark.parametrize(
    ("options", "start"),
    [
        ([], "http://127.0.0.1:8123/"),
        (["--public-name", "play.example.org"], "http://play.example.org:8123/"),
        (["--address", "0.0.0.0", "--yes", "--public-name", "192.168.1.20", "mine"], "http://192.168.1.20:8123/"),
        (["--address", "::1"], "http://[::1]:8123/"),
    ],
)
def test_all_servers_print_links_under_the_name_by_which_they_are_reached(
    command, options, start, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(server, "serve", lambda app, address, port, ready: ready(8123))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [*command, *options])
    links = re.findall(r"http://\S+", done.output)
    assert links and all(link.startswith(start) for link in links), done.output


def test_pages_write_words_as_text_and_import_what_is_served() -> None:
    from collab_overcooked.study import server as study_server

    texts = [server.page_file(name) for name in server.FILES if name.endswith(".js")]
    folder = resources.files(study_server.__package__).joinpath("page")
    texts += [folder.joinpath(name).read_text("utf-8") for name in study_server.FILES if name.endswith(".js")]
    for text in texts:
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)
        assert set(re.findall(r'"/page/([\w.]+)"', text)) <= server.FILES.keys(), "a page imports what is not served"


@pytest.mark.parametrize(
    ("address", "result"), [("127.0.0.1", True), ("[::1]", True), ("0.0.0.0", False), ("host", False)]
)
def test_loopback(address: str, result: bool) -> None:
    assert server.is_loopback(address) is result
