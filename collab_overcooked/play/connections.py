"""Limits on the connections of the web server: requests must arrive in time, and sockets must close in time.

Needs the extra ``play``. A client that opens connections and sends nothing, or one byte a second, holds a file of the
process each; without these limits some hundred of them keep everybody else out.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import h11
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MAX_CONNECTIONS = 2_000
MAX_UNREAD = 1 << 18  # bytes sent to an end that does not read them
BACKLOG = 128  # connections that are accepted at once, before the limit on them can act


def max_connections() -> int:
    """Return how many connections may be open, three quarters of the files that this process may have open.

    The limit on files is raised as far as the system allows and the connections need.
    """
    if sys.platform == "win32":
        return MAX_CONNECTIONS
    import resource

    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = MAX_CONNECTIONS * 4 // 3
    if files != resource.RLIM_INFINITY and files < needed:
        files = needed if most == resource.RLIM_INFINITY else min(needed, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, files * 3 // 4)


class RareLines(logging.Filter):
    """Log filter for lines whose number strangers decide: one of each kind in a period, with the number left out.

    A client that goes away in the middle of its request, or ends it with a malformed chunk, is no error of the server.

    Args:
        seconds: The period.
        clock: Monotonic clock in seconds.
    """

    def __init__(self, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds, self._clock = seconds, clock
        self._shown: dict[str, float] = {}  # kind -> time of its last line
        self._left_out: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is shown."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, ClientDisconnect):
            return False
        if record.levelno < logging.WARNING:
            return True
        kind, now = f"{record.msg} {type(error).__name__}", self._clock()
        if now - self._shown.get(kind, -self._seconds) < self._seconds:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return False
        if count := self._left_out.pop(kind, 0):
            record.msg = f"{record.msg} ({count} more like it were left out)"
        self._shown[kind] = now
        return True


@dataclass
class ConnectionLimits:
    """Limits of one server.

    Args:
        most: Connections that may be open; the one that has waited longest for its request makes room for a new one.
        request_within: Seconds in which a request must have arrived completely.
        close_within: Seconds in which the other end must have closed a WebSocket that is over.
    """

    most: int = field(default_factory=max_connections)
    request_within: float = 10.0
    close_within: float = 5.0
    _waiting: dict[Any, asyncio.TimerHandle] = field(default_factory=dict, init=False)

    @property
    def waiting(self) -> int:
        """Number of connections whose next request has not arrived completely."""
        return len(self._waiting)

    def expect(self, connection: Any) -> None:
        """Start the time in which a connection must send its next request."""
        self.forget(connection)
        self._waiting[connection] = connection.loop.call_later(self.request_within, self._drop, connection)

    def forget(self, connection: Any) -> None:
        """Stop the time: the request is there, or the connection is gone."""
        timer = self._waiting.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def make_room(self, newcomer: Any) -> None:
        """Drop the connection that has waited longest for a request; the new one if all others are in use."""
        self._drop(next((waiting for waiting in self._waiting if waiting is not newcomer), newcomer))

    def _drop(self, connection: Any) -> None:
        self.forget(connection)
        connection.transport.abort()


class LimitedHttp(H11Protocol):
    """HTTP connection whose requests must arrive in time."""

    limits: ConnectionLimits

    def connection_made(self, transport: Any) -> None:
        """Expect a request."""
        super().connection_made(transport)
        self.limits.expect(self)
        if len(self.connections) > self.limits.most:
            self.limits.make_room(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self.limits.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Stop the timer when the request is complete."""
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self.limits.expect(self)  # first bytes of a request
        super().data_received(data)
        if not self._is_expecting():
            self.limits.forget(self)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Stop the timer: from now on this is a WebSocket, for which pings are the limit."""
        super().handle_websocket_upgrade(event)
        self.limits.forget(self)

    def on_response_complete(self) -> None:
        """Expect the next request."""
        super().on_response_complete()
        if self._is_expecting() and not self.transport.is_closing():
            self.limits.expect(self)

    def _is_expecting(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """WebSocket that ends when it is over, also if the other end neither reads nor answers."""

    limits: ConnectionLimits

    def handle_ping(self) -> None:
        """Drop an end that sends pings and does not read the answers."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MAX_UNREAD:
            self.transport.abort()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """Give the other end a limited time to close."""
        super().on_task_complete(task)
        self.loop.call_later(self.limits.close_within, self.transport.abort)

    def keepalive_timeout(self) -> None:
        """Drop a connection that does not answer, whatever it has still to read."""
        super().keepalive_timeout()
        self.transport.abort()


def limited_protocols(limits: ConnectionLimits) -> tuple[type, type]:
    """Return the HTTP and the WebSocket protocol of a server, which keep to limits."""
    http, websocket = (
        type(protocol.__name__, (protocol,), {"limits": limits}) for protocol in (LimitedHttp, LimitedWebSocket)
    )
    return http, websocket
