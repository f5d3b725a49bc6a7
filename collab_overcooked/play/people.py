"""People in a session: link, connection, keys and counts of each person."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from collab_overcooked.play.keys import HeldKeys
from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.reporting.pictures import joined

Message = dict[str, Any]
"""Message to a page, with its ``type``."""
SEAT, VOICE, WATCHER = "seat", "voice", "watcher"
FRAME = "frame"
SMALL, MEDIUM = 600, 1024  # pixels of width from which a window is medium, and large
MAX_WAITING = 200  # messages that a connection may be behind


class SendQueue:
    """Messages on their way to one page or screen; of frames that wait only the newest is sent.

    Args:
        interface: Its name in records, ``"browser"`` or ``"terminal"``.

    Attributes:
        ended: Set when no further message follows.
    """

    def __init__(self, interface: str = "browser") -> None:
        self.interface = interface
        self.picture: dict[str, Any] = {}  # that the other end has once it has read all messages
        self.wants_text = False  # with every frame of real time
        self._queue: deque[Message | None] = deque()
        self._ready = asyncio.Event()
        self.ended = asyncio.Event()

    def put(self, message: Message | None) -> None:
        """Send a message; None ends the connection."""
        if message is not None and message["type"] == FRAME and self._queue:
            self._drop_older(message)
        if message is not None and len(self._queue) >= MAX_WAITING:
            self._queue.clear()
            message = None  # the other end does not read
        if message is None:
            self.ended.set()
        self._queue.append(message)
        self._ready.set()

    def _drop_older(self, frame: Message) -> None:
        for old in [message for message in self._queue if message is not None and message["type"] == FRAME]:
            self._queue.remove(old)
            if "whole" in frame:
                continue
            for key in ("said", "news"):
                frame[key] = [*old.get(key, ()), *frame.get(key, ())]
            for key in old.keys() - frame.keys():
                frame[key] = old[key]
            if "picture" in old and "picture" in frame:
                frame["picture"] = joined(old["picture"], frame["picture"])

    @property
    def waiting(self) -> int:
        """Number of messages that are still to be taken."""
        return len(self._queue)

    async def get(self) -> Message | None:
        """Wait for the next message; None at the end."""
        while not self._queue:
            self._ready.clear()
            await self._ready.wait()
        return self._queue.popleft()


class Person:
    """Holder of a link: a seat, a voice without a seat, or a watcher.

    Args:
        role: ``SEAT``, ``VOICE`` or ``WATCHER``.
        seat: Index of the agent, None without one.

    Attributes:
        id: Drawn at random; records name it, and nothing else of a person.
        token: The secret of the link.
        leaving_text: What the page asks before the person leaves; empty for its own question.
        next: Address that follows when everything is over; empty for none.
        following: Address of the person at the session that follows this one; empty for none.
        send_queue: The connection, None while there is none.
        sockets: Number of open sockets, those that are being closed included.
        ready: Whether the person wants the next episode to begin.
        keys: In real time.
        speech: Messages in real time, or of a voice, that are not yet delivered.
        turn: Number of the question that is open, or was last.
        question: The open question as it was sent, None without one.
        answered: Is given the answer of the open question.
        asked_at: When the open question was sent.
        rematch: One of ``messages.REMATCHES`` that the person has chosen; None before that.
        ahead: Whether the open question was sent before it was the seat's turn, as everybody chooses at once.
        counts: ``decisions``, ``messages`` of real time, ``timeouts``, ``disconnects``, ``refused`` and
            ``focus_losses`` of this episode.
        seconds: Time of the decisions of this episode.
        started: When this episode began, in seconds since 1970.
        window: Size of the window, see ``window_size``; empty until the page reports it.
        left_at: When the connection was lost; None while there is one, or there was none yet.
        gone: Whether the person has left on purpose.
    """

    def __init__(self, role: str = SEAT, seat: int | None = None) -> None:
        self.role, self.seat = role, seat
        self.id, self.token = f"p-{secrets.token_hex(4)}", secrets.token_urlsafe(16)
        self.next = self.following = self.leaving_text = ""
        self.send_queue: SendQueue | None = None
        self.sockets = 0
        self.interface = "none"
        self.ready = self.gone = self.was_here = False
        self.awaited = False  # Whether the game waits, as all people are gone
        self.keys = HeldKeys()
        self.speech: deque[str] = deque(maxlen=8)
        self.turn = 0
        self.question: Message | None = None
        self.answered: asyncio.Future[Any] | None = None
        self.left_at: float | None = None
        self.counts: Counter[str] = Counter()
        self.seconds = self.started = 0.0
        self.window = ""
        self.asked_at = 0.0
        self.ahead = False
        self.rematch: str | None = None

    @property
    def agent(self) -> str:
        """Name of the seat in records."""
        return self.role if self.seat is None else f"agent_{self.seat}"

    @property
    def here(self) -> bool:
        """True while the person is connected."""
        return self.send_queue is not None

    @property
    def took_part(self) -> bool:
        """True if the person has decided or said anything in this episode."""
        return bool(self.counts["decisions"] or self.counts["messages"])

    def send(self, message: Message) -> None:
        """Send a message if there is a connection."""
        if self.send_queue is not None:
            self.send_queue.put(message)

    def connect(self, send_queue: SendQueue) -> None:
        """Take a connection; an older one is notified and ended."""
        if self.send_queue is not None:
            self.send_queue.put({"type": "taken_over"})
            self.send_queue.put(None)
        self.send_queue = send_queue
        self.interface = send_queue.interface
        self.was_here = True
        self.left_at = None

    def disconnect(self, send_queue: SendQueue, now: Callable[[], float] = time.monotonic) -> bool:
        """Lose a connection; returns whether it was the present one."""
        if self.send_queue is not send_queue:
            return False
        self.send_queue = None
        self.left_at = now()
        self.keys.clear()
        self.counts["disconnects"] += 1
        return True

    def is_lost(self, settings: PlaySettings, now: float) -> bool:
        """Return whether the connection has been lost for so long that ``settings.on_leave`` counts.

        A game whose people are all gone waits instead.
        """
        if settings.on_leave == "pause" or self.awaited:
            return False
        return self.left_at is not None and now - self.left_at >= settings.grace

    def begin(self) -> None:
        """Clear the state of the previous episode."""
        self.counts = Counter()
        self.seconds = self.started = 0.0
        self.question = self.answered = None
        self.ahead = False
        self.keys.clear()
        self.speech.clear()

    def entry(self) -> dict[str, Any]:
        """Return the person's entry in records."""
        names = ("decisions", "timeouts", "disconnects", "refused", "focus_losses")
        counted = {name: self.counts[name] for name in names}
        times = {"seconds": self.seconds, "started": self.started, "answered": time.time() if self.started else 0}
        rounded = {name: round(value, 3) for name, value in times.items()}
        return {"id": self.id, "interface": self.interface, "window": self.window, **counted, **rounded}

    def note_window(self, width: int, lost: bool) -> None:
        """Record the width of the window in pixels, and whether the window has just lost the focus."""
        self.window = window_size(width)
        self.counts["focus_losses"] += lost


def window_size(width: int) -> str:
    """Return the size of a window by its width in pixels: ``"small"``, ``"medium"`` or ``"large"``."""
    if width < SMALL:
        return "small"
    return "medium" if width < MEDIUM else "large"
