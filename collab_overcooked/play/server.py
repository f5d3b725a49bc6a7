"""The web server: pages, sockets and access checks. Needs the extra ``play``.

``make_app`` returns an ordinary Starlette application; further routes can be given, which get the same headers and the
same checks.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ipaddress
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from functools import lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.files import read_shipped
from collab_overcooked.io.schema import parse_json
from collab_overcooked.io.structs import convert
from collab_overcooked.play.host import Host
from collab_overcooked.play.messages import MAX_BYTES, MessageError, Rate, read_message
from collab_overcooked.play.people import Person, SendQueue
from collab_overcooked.play.session import Session
from collab_overcooked.play.settings import LANGUAGES

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket


MISSING = "people play in the browser with the extra play: pip install 'collab-overcooked[play]'"
UNKNOWN = "This link is not known here, or not any more."
MAX_CONNECTIONS = 500
MAX_REFUSED = 300  # messages above the rate after which a connection is closed
MAX_SOCKETS = 4  # of one link that are open, those that are being closed included
CLOSE_WITHIN = 2.0  # seconds for the last messages of a connection that another one has taken over
PARTS = ("play", "page", "connection", "board", "cards", "turn", "news", "keys", "talk")  # of a person's page
DRAWING = ("picture.js", "picture.css", "wording.js", "labels.json")  # those of reports
FILES = {
    **dict.fromkeys((f"{name}.js" for name in (*PARTS, "picture", "wording", "language", "host")), "text/javascript"),
    **dict.fromkeys(("play.css", "picture.css"), "text/css"),
    **dict.fromkeys(("labels.json", *(f"words.{language}.json" for language in LANGUAGES)), "application/json"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_PORT = re.compile(r":\d{1,5}$", re.ASCII)  # of a host; anything else behind a colon makes another host of it
ANIMATIONS = Path(__file__).parent / "films"
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def page_file(name: str) -> str:
    """Return a file of the page."""
    return read_shipped(f"{'reporting' if name in DRAWING else 'play'}/page/{name}")


def is_loopback(address: str) -> bool:
    """Return whether only programs of this machine reach an address."""
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address == "localhost"


class Guard:
    """Refuses requests under another name or from another page, and adds the headers that keep pages to themselves.

    Args:
        app: ASGI application.
        names: Host names under which the server is known; a page elsewhere that points a name of its own to this
            machine is refused by it.
    """

    def __init__(self, app: Any, names: Sequence[str]) -> None:
        self._app, self._names = app, {name.lower() for name in names}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request or socket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if not self._allowed(scope):
            await _refuse(scope, receive, send)
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in added if pair[0] not in present)]
            await send(message)

        await self._app(scope, receive, guarded)

    def _allowed(self, scope: Any) -> bool:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        named = headers.get("host", "").lower()
        hosts = sum(name == b"host" for name, _ in scope["headers"])  # of two, readers may take either
        if hosts != 1 or _PORT.sub("", named) not in self._names:
            return False
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            return True
        origin = headers.get("origin")  # programs send none, pages always do
        return origin is None or origin.lower().partition("://")[2] == named


async def _refuse(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4403})
        return
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"Refused: unknown host name or foreign page."})


def make_app(
    host: Host,
    routes: Sequence[Any] = (),
    names: Sequence[str] = LOOPBACK,
    started: Callable[[], Any] | None = None,
    beside: Sequence[Callable[[], Coroutine[Any, Any, None]]] = (),
) -> Any:
    """Return the web application of a host.

    Args:
        host: Host of the sessions.
        routes: Further Starlette routes.
        names: Allowed host names; see ``Guard``.
        started: Called once in the event loop before the first request, for example to add sessions.
        beside: Coroutine functions that run beside the server until it stops.

    Raises:
        ValueError: The extra ``play`` is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.requests import ClientDisconnect
        from starlette.routing import Route, WebSocketRoute
    except ImportError:
        raise ValueError(MISSING) from None

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(start()) for start in (host.sweep, *beside)]
        if started is not None:
            started()
        yield
        for task in tasks:
            task.cancel()
        await host.close()

    app_routes = [
        Route("/health", _health),
        Route("/page/{name}", _file),
        Route("/s/{token}", for_person(_play_page)),
        Route("/s/{token}/replay/{number:int}", for_person(_replay_page)),
        WebSocketRoute("/s/{token}/socket", _socket),
        Route("/h/{token}", for_host(_host_page)),
        Route("/h/{token}/sessions", for_host(_host_sessions)),
        Route("/page/films/{name}.gif", _animation),
        Route("/h/{token}/games", for_host(_host_games)),
        Route("/h/{token}/games/{game}", for_host(_host_game)),
        Route("/h/{token}/rooms", for_host(_host_rooms), methods=["POST"]),
        Route("/h/{token}/{session}/{what}", for_host(_host_act), methods=["POST"]),
    ]
    app = Starlette(
        routes=[*app_routes, *routes],
        middleware=[Middleware(Guard, names=names)],
        exception_handlers={OSError: _not_saved, ClientDisconnect: _cut_off},
        lifespan=lifespan,
    )
    app.state.host, app.state.drawing = host, asyncio.Lock()
    return app


def _response(text: str | bytes, kind: str = "text/html", status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(text, status, media_type=kind)


def _unknown() -> Response:
    return _response(UNKNOWN, "text/plain", 404)


def for_host(handler: Callable[[Request, Host], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return a request handler that calls ``handler`` with the host if the token of the address is the host's.

    All other requests are answered with 404. The address has the parameter ``token``.
    """

    @wraps(handler)
    async def handle(request: Request) -> Response:
        host: Host = request.app.state.host
        if not host.is_host(request.path_params["token"]):
            return _unknown()
        return await handler(request, host)

    return handle


def for_person(
    handler: Callable[[Request, Session, Person], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Return a request handler that calls ``handler`` with the session and the person of the address's token.

    Requests with an unknown token are answered with 404. The address has the parameter ``token``.
    """

    @wraps(handler)
    async def handle(request: Request) -> Response:
        owner = request.app.state.host.find(request.path_params["token"])
        if owner is None:
            return _unknown()
        return await handler(request, *owner)

    return handle


async def read_body(request: Request, limit: int) -> bytes | None:
    """Return the body of a request; None if it has more than ``limit`` bytes, of which no more are read."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            return None
    return body


async def _not_saved(request: Request, error: Exception) -> Response:
    """Ask to send an answer again that could not be written, for example because the disk is full."""
    print(f"{error}; the answer was refused, all before it is kept", file=sys.stderr)
    text = "This could not be saved. Please wait a minute, go back and send it again."
    return _response(text, "text/plain", 503)


async def _cut_off(request: Request, error: Exception) -> Response:
    """Answer a client that disconnected during its request; this is no server error, so nothing is logged."""
    return _response("The request is incomplete.", "text/plain", 400)


async def _health(request: Request) -> Response:
    return _response("ok", "text/plain")


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in FILES:
        return _unknown()
    return _response(page_file(name), FILES[name])


async def _animation(request: Request) -> Response:
    """Send the animated picture of a game; games of plug-ins have none."""
    from collab_overcooked.play.rooms import playable

    name = request.path_params["name"]
    picture = ANIMATIONS / f"{name}.gif"
    if name not in playable() or not picture.is_file():
        return _unknown()
    return _response(await asyncio.to_thread(picture.read_bytes), "image/gif")


async def _play_page(request: Request, session: Session, person: Person) -> Response:
    if person.following:
        from starlette.responses import RedirectResponse

        return RedirectResponse(f"{person.following}?{request.url.query}".rstrip("?"), 303)
    return _response(page_file("play.html"))


async def _replay_page(request: Request, session: Session, person: Person) -> Response:
    from collab_overcooked.play.replays import replay_page

    async with request.app.state.drawing:
        page = await asyncio.to_thread(replay_page, session, person, request.path_params["number"])
    if page is None:
        return _unknown()
    response = _response(page[0])
    response.headers["Content-Security-Policy"] = page[1]
    return response


async def _host_page(request: Request, host: Host) -> Response:
    return _response(page_file("host.html"))


async def _host_sessions(request: Request, host: Host) -> Response:
    base = str(request.base_url).rstrip("/")
    return _response(json.dumps([_listing(session, base) for session in host.sessions.values()]), "application/json")


async def _host_games(request: Request, host: Host) -> Response:
    from collab_overcooked.play.rooms import listing

    return _response(json.dumps([] if host.rooms is None else listing()), "application/json")


async def _host_game(request: Request, host: Host) -> Response:
    from collab_overcooked.play.rooms import details

    if host.rooms is None:
        return _unknown()
    try:
        answer = await asyncio.to_thread(details, request.path_params["game"])
    except (ValueError, ImportError) as error:  # the card of the game shows it
        return _response(json.dumps({"error": str(error)}), "application/json", 404)
    return _response(json.dumps(answer), "application/json")


async def _host_rooms(request: Request, host: Host) -> Response:
    from collab_overcooked.play.rooms import RoomOrder

    if host.rooms is None:
        return _unknown()
    body = await read_body(request, MAX_BYTES)
    if body is None:
        return _response(json.dumps({"error": f"at most {MAX_BYTES} bytes"}), "application/json", 413)
    try:
        order = await asyncio.to_thread(convert, parse_json(body), RoomOrder)
        session = await asyncio.to_thread(host.rooms.open, order)
        host.add(session)
    except (ValueError, TypeError) as error:
        return _response(json.dumps({"error": str(error)}), "application/json", 409)
    return _response(json.dumps({"id": session.id, "link": f"/s/{session.people[0].token}"}), "application/json")


@lru_cache(maxsize=512)
def qr_code(link: str) -> str:
    """Return the QR code of a link as SVG markup; empty if the package ``segno`` is missing."""
    try:
        import segno
    except ImportError:
        return ""
    markup: str = segno.make(link, micro=False).svg_inline(scale=1, border=2, omitsize=True, light="#fff")
    return markup


def _listing(session: Session, base: str) -> dict[str, Any]:
    people = [
        {
            "agent": session.name_of(p),
            "link": f"/s/{p.token}",
            "here": p.here,
            "id": p.id,
            "qr": qr_code(f"{base}/s/{p.token}"),
        }
        for p in session.people
    ]
    driver = session.driver
    timestep = None if driver is None or driver.clock is not None else driver.timestep  # seconds mean more in real time
    return {
        "id": session.id,
        "game": session.title,
        "state": session.state,
        "timestep": timestep,
        "played": len(session.records),
        "episodes": session.episodes,
        "people": people,
    }


async def _host_act(request: Request, host: Host) -> Response:
    session = host.sessions.get(request.path_params["session"])
    what = request.path_params["what"]
    if session is None or what not in HOST_ACTS:
        return _unknown()
    try:
        return _response(json.dumps(HOST_ACTS[what](session)), "application/json")
    except ValueError as error:
        return _response(json.dumps({"error": str(error)}), "application/json", 409)


HOST_ACTS: dict[str, Callable[[Session], Any]] = {
    "stop": lambda session: session.stop(),
    "pause": lambda session: session.pause(True),
    "continue": lambda session: session.pause(False),
    "watch": lambda session: f"/s/{session.watch().token}",
}


async def _socket(socket: WebSocket) -> None:
    owner = socket.app.state.host.find(socket.path_params["token"])
    if owner is None:
        await socket.close(4404)
        return
    session, person = owner
    if person.sockets >= MAX_SOCKETS:
        await socket.close(4429)
        return
    person.sockets += 1
    try:
        await socket.accept()
        await _talk(socket, session, person)
    finally:
        person.sockets -= 1


async def _talk(socket: WebSocket, session: Session, person: Person) -> None:
    send_queue = SendQueue()
    session.connect(person, send_queue)
    sending = asyncio.create_task(_send_all(socket, send_queue))
    receiving = asyncio.create_task(_receive_all(socket, session, person, send_queue))
    ended = asyncio.create_task(send_queue.ended.wait())
    try:
        await asyncio.wait({receiving, ended}, return_when=asyncio.FIRST_COMPLETED)
        if receiving.done():
            receiving.result()
    finally:
        session.disconnect(person, send_queue)
        send_queue.put(None)
        await asyncio.wait({sending}, timeout=CLOSE_WITHIN)  # the other end may not read any more
        for task in (sending, receiving, ended):
            task.cancel()
        await asyncio.gather(sending, receiving, ended, return_exceptions=True)  # the other end may be gone


async def _send_all(socket: WebSocket, send_queue: SendQueue) -> None:
    while (message := await send_queue.get()) is not None:
        await socket.send_text(json.dumps(message, ensure_ascii=False, separators=(",", ":")))
    await socket.close(1000)


async def _receive_all(socket: WebSocket, session: Session, person: Person, send_queue: SendQueue) -> None:
    rate = Rate()
    while True:
        received = await socket.receive()
        if received["type"] == "websocket.disconnect" or rate.refused > MAX_REFUSED:
            return
        try:
            rate.check()
            text = received.get("text")
            message = read_message(text if text is not None else "")
        except MessageError as error:
            send_queue.put({"type": "refused", "code": error.code, "message": str(error)})
            continue
        if person.send_queue is send_queue:
            session.receive(person, message)


def make_server(app: Any, address: str, port: int, ready: Callable[[int], None]) -> tuple[Any, Any]:
    """Return a server for an application, and the socket that it is to listen on: ``server.run([listening])``.

    Args:
        app: See ``make_app``.
        address: Of the network interface.
        port: Port, 0 for a free one.
        ready: Called with the port as soon as pages can be opened.

    Raises:
        ValueError: The extra ``play`` is not installed, or the port cannot be listened on.
    """
    import socket

    parse_integer("port", port, 0, most=65_535)
    try:
        import uvicorn
        import websockets  # noqa: F401  (uvicorn's sockets)
    except ImportError:
        raise ValueError(MISSING) from None
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        listening = socket.create_server((address.strip("[]"), port), family=family)
    except OSError as error:
        raise ValueError(
            f"port: {port} of {address} cannot be listened on: {error.strerror}; try another, or 0"
        ) from None

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            gc.collect()
            gc.freeze()  # what is loaded now stays; each look through it would make a tick late
            ready(listening.getsockname()[1])

    config = uvicorn.Config(
        app,
        ws="websockets-sansio",
        limit_concurrency=MAX_CONNECTIONS,  # further ones get 503; a proxy limits slow requests
        ws_max_size=4 * MAX_BYTES,
        ws_per_message_deflate=False,  # takes longer than all the rest of a frame, which is small
        timeout_graceful_shutdown=2,  # seconds
        log_level="warning",
        access_log=False,  # addresses of pages are secrets
        server_header=False,
    )
    return Server(config), listening


def serve(app: Any, address: str, port: int, ready: Callable[[int], None]) -> None:
    """Serve an application until it is interrupted; see ``make_server``."""
    server, listening = make_server(app, address, port, ready)
    server.run(sockets=[listening])
