"""Host of the sessions in one process: links, tasks that play, limits, and the end of idle sessions."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from collab_overcooked.io import schema
from collab_overcooked.io.files import write_atomic
from collab_overcooked.play.people import Person
from collab_overcooked.play.rooms import Rooms
from collab_overcooked.play.session import Session

logger = logging.getLogger(__name__)

MAX_SESSIONS = 50  # that are played at the same time
MAX_CLOSED = 200  # whose links still say how they ended
IDLE = 2 * 3600.0  # seconds without a message after which a session ends
ABSENCE = 1800.0  # the same if its people are all gone
SWEEP = 60.0


LINKS = "links.json"


def keep_links(folder: Path, host: Host, people: Sequence[Person]) -> None:
    """Reuse the saved links of this folder after a restart if the number of players is unchanged."""
    holders: list[Host | Person] = [host, *people]
    file = folder / LINKS
    kept = schema.read_json(file, schema.list_of(schema.name)) if file.exists() else []
    for holder, token in zip(holders, kept if len(kept) == len(holders) else (), strict=False):
        holder.token = token
    write_atomic(file, schema.json_line([holder.token for holder in holders], schema.json_value), mode=0o600)


class Host:
    """Sessions of one process.

    Args:
        rooms: Opens the sessions that are asked for at the host's page; None to offer none.
        now: Returns seconds.

    Attributes:
        token: Secret of the host's own page.
        sessions: By id, in the order in which they began.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic, rooms: Rooms | None = None) -> None:
        self.rooms = rooms
        self.token = secrets.token_urlsafe(16)
        self.sessions: dict[str, Session] = {}
        self._tasks: dict[str, asyncio.Task[object]] = {}
        self._now = now

    @property
    def is_full(self) -> bool:
        """True if ``MAX_SESSIONS`` sessions are being played."""
        return sum(one.state != "closed" for one in self.sessions.values()) >= MAX_SESSIONS

    def add(self, session: Session) -> None:
        """Begin to play a session; call it in the event loop of the server.

        Raises:
            ValueError: ``MAX_SESSIONS`` sessions are being played.
        """
        if self.is_full:
            raise ValueError(f"at most {MAX_SESSIONS} sessions are played at the same time")
        closed = [one.id for one in self.sessions.values() if one.state == "closed"]
        for old in closed[: max(0, len(closed) - MAX_CLOSED + 1)]:
            del self.sessions[old], self._tasks[old]
        self.sessions[session.id] = session
        if session.rematch is not None:
            session.rematch.begin = self.add
        self._tasks[session.id] = asyncio.create_task(self._run(session))

    async def _run(self, session: Session) -> None:
        try:
            await session.run()
        except Exception as error:
            session.error = error
        if session.error is not None:
            logger.warning(f"session {session.id} has failed: {type(session.error).__name__}: {session.error}")

    async def wait(self, session: Session) -> None:
        """Wait for the end of a session."""
        await asyncio.wait({self._tasks[session.id]})

    def find(self, token: str) -> tuple[Session, Person] | None:
        """Return the session and person of a token; every token is compared, each in constant time."""
        owner = None
        for session in self.sessions.values():
            for person in (*session.people, *session.watchers):
                if hmac.compare_digest(person.token.encode(), token.encode()):
                    owner = session, person
        return owner

    def is_host(self, token: str) -> bool:
        """Tell whether a token is the host's."""
        return hmac.compare_digest(self.token.encode(), token.encode())

    async def sweep(self) -> None:
        """End sessions without messages for ``IDLE`` or ``ABSENCE`` seconds; runs until it is cancelled."""
        while True:
            for session in self.sessions.values():
                limit = ABSENCE if any(person.awaited for person in session.people) else IDLE
                if session.state != "closed" and self._now() - session.used_at > limit:
                    session.stop("The session was ended, as no person was there.")
            await asyncio.sleep(SWEEP)

    async def close(self) -> None:
        """End all sessions, so that their records are written."""
        for session in self.sessions.values():
            session.stop("The server has stopped.")
        tasks = [task for task in self._tasks.values() if not task.done()]
        if tasks:
            await asyncio.wait(tasks, timeout=5)
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
