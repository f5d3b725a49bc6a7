"""Store of exchanges with language models, for inspection and for replay without the model."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.io.redaction import redact, redact_values
from collab_overcooked.io.schema import SchemaError
from collab_overcooked.io.structs import Name, Number, decode, encode
from collab_overcooked.policies.llm.exchange import Reply, Request, make_link

SCHEMA: Final = "collab-overcooked-exchange/1"
PICTURES = "pictures"  # folder beside a store, with a file for each picture of its requests


class StoredRequest(Struct, kw_only=True):
    """Fields of a request that are read from a store."""

    model: Name
    turns: list[tuple[Name, str]]
    pictures: list[Name] = []  # digests
    tools: list[dict[str, Any]] = []


class Exchange(Struct, kw_only=True):
    """Line of a store.

    Attributes:
        schema: Version of the format.
        key: Hash of the request.
        moment: Position of the request in its episode; empty if the reply is that of all positions.
        request: The request.
        reply: Its reply.
        is_sent: Whether the request was sent; otherwise a store of other runs had the reply.
        dollars: Price of the exchange; None if it is not known.
    """

    schema: Literal["collab-overcooked-exchange/1"]
    key: Name
    moment: Name = ""
    request: StoredRequest
    reply: Reply
    is_sent: bool = True
    dollars: Number | None = None


class Store:
    """A JSONL file of exchanges, one line each: ``key`` (hash of the request), ``request``, ``reply``.

    Several runs may write to one file at the same time: each locks the file and first reads the lines of others.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._replies: dict[str, Reply] = {}
        self._by_position: dict[tuple[str, str], Reply] = {}
        self._journal = JournalFile(self.path, durable=False)
        self._read()

    def _read(self) -> None:
        for exchange in _exchanges(self._journal):
            self._replies[exchange.key] = self._by_position[exchange.key, exchange.moment] = exchange.reply

    def exchanges(self) -> Iterator[Exchange]:
        """Yield all exchanges of the file, in its order.

        Raises:
            ValueError: For a damaged line.
        """
        yield from _exchanges(JournalFile(self.path, durable=False))

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, request: Request) -> Reply | None:
        """Return the stored reply, None if missing."""
        with self._lock:
            if request.key not in self._replies:
                self._read()
            return self._replies.get(request.key)

    def at(self, request: Request) -> Reply | None:
        """Return the stored reply to the request at the same position of its episode; None if missing."""
        with self._lock:
            if (request.key, request.position) not in self._by_position:
                self._read()
            return self._by_position.get((request.key, request.position))

    def put(
        self, request: Request, reply: Reply, again: bool = False, *, is_sent: bool = True, dollars: float | None = None
    ) -> Reply:
        """Store a reply.

        Args:
            request: The request.
            reply: Its reply.
            again: Store it by position, in addition to others to the same request.
            is_sent: See ``Exchange``.
            dollars: See ``Exchange``.

        Returns:
            The stored reply, which is another one if another thread or run was faster.
        """
        key = request.key
        position = {"moment": request.position} if again else {}
        values = {"schema": SCHEMA, "key": key, **position, "request": _without_keys(request), "reply": reply}
        values |= ({} if is_sent else {"is_sent": False}) | ({} if dollars is None else {"dollars": dollars})
        line = encode(values)
        decode(line, Exchange)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for picture in request.pictures:
            path = self.path.parent / PICTURES / f"{picture.digest}.png"
            if not path.exists():
                write_atomic(path, picture.png)
        with self._lock, FileLock(self.path, wait=True):
            self._read()
            kept = self._by_position.get((key, request.position)) if again else self._replies.get(key)
            if kept is not None:
                return kept
            self._journal.drop_torn_line("its exchange is requested again")
            self._journal.append_line(line + b"\n")
            self._replies[key] = self._by_position[key, request.position if again else ""] = reply
            return reply


def _without_keys(request: Request) -> dict[str, Any]:
    asked = request.to_dict()
    if request.body:
        asked["body"] = redact_values(request.body)
    if request.reach is not None:
        named = [(name, text if text.startswith("$") else redact(text)) for name, text in request.reach.headers]
        asked["reach"] = {**asked["reach"], "headers": named}
    return asked


def _exchanges(journal: JournalFile) -> Iterator[Exchange]:
    for where, line in journal.lines():
        try:
            exchange = decode(line, Exchange)
        except SchemaError as error:
            raise ValueError(f"{where}: not a stored exchange: {error}") from None
        yield exchange


def read_exchanges(path: Path, links: Collection[str]) -> dict[str, Exchange]:
    """Return exchanges by the links in steps of records; empty if the file is missing."""
    asked: dict[str, list[str]] = {}  # links by the prefix of their key, as exchanges in a store have no position
    for link in links:
        asked.setdefault(link.partition("@")[0], []).append(link)
    exchanges = {}
    for exchange in read_all_exchanges(path):
        own_link = make_link(exchange.key, exchange.moment)
        for link in asked.get(own_link.partition("@")[0], ()):
            if link == own_link or not exchange.moment:
                exchanges[link] = exchange
    return exchanges


def read_all_exchanges(path: Path) -> Iterator[Exchange]:
    """Yield the exchanges of a file in its order."""
    return _exchanges(JournalFile(path))
