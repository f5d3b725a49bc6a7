"""Store of exchanges with language models, for inspection and for replay without the model."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from collab_overcooked.io import schema
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.io.redaction import redact, redact_values
from collab_overcooked.policies.llm.client import MAX_TOKENS, Client, EndpointError, Reply, Request, make_link

SCHEMA = "collab-overcooked-exchange/1"
PICTURES = "pictures"  # folder beside a store, with a file for each picture of its requests
_ANY_TEXT = partial(schema.text, longest=schema.MAX_NUMBER)
_REPLY = {
    **dict.fromkeys(("text", "detail", "reasoning"), _ANY_TEXT),
    **dict.fromkeys(
        ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"), schema.integer(0, MAX_TOKENS)
    ),
    "attempts": schema.integer(),
    "finish": schema.one_of(("stop", "length", "refused", "rejected")),
    "seconds": schema.number(0),
}
_EXCHANGE = schema.object_of(
    {
        "schema": schema.one_of((SCHEMA,)),
        "key": schema.name,
        "request": schema.object_of(
            {"model": schema.name, "turns": schema.list_of(schema.tuple_of([schema.name, _ANY_TEXT]))}
        ),
        "reply": schema.object_of({"text": _ANY_TEXT}, _REPLY),
    },
    {"moment": schema.name},
)


class Store:
    """A JSONL file of exchanges, one line each: ``key`` (hash of the request), ``request``, ``reply``.

    Several runs may write to one file at the same time: each locks the file and first reads the lines of others.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._replies: dict[str, Reply] = {}
        self._by_position: dict[tuple[str, str], Reply] = {}
        self._journal = JournalFile(self.path, _EXCHANGE, durable=False)
        self._read()

    def _read(self) -> None:
        for entry, reply in _exchanges(self._journal):
            self._replies[entry["key"]] = reply
            self._by_position[entry["key"], entry.get("moment", "")] = reply

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

    def put(self, request: Request, reply: Reply, again: bool = False) -> Reply:
        """Store a reply.

        Args:
            request: The request.
            reply: Its reply.
            again: Store it by position, in addition to others to the same request.

        Returns:
            The stored reply, which is another one if another thread or run was faster.
        """
        key = request.key
        position = {"moment": request.position} if again else {}
        line = {"schema": SCHEMA, "key": key, **position, "request": _without_keys(request), "reply": asdict(reply)}
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
            self._journal.drop_torn_line()
            self._journal.append(line)
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


def _exchanges(journal: JournalFile) -> Iterator[tuple[dict[str, Any], Reply]]:
    for where, line in journal.lines():
        try:
            entry = schema.parse_json(line)
            _EXCHANGE(entry)
            reply = Reply(**entry["reply"])
        except (ValueError, TypeError) as error:
            raise ValueError(f"{where}: not a stored exchange: {error}") from None
        yield entry, reply


def read_exchanges(path: Path, links: Collection[str]) -> dict[str, tuple[dict[str, Any], Reply]]:
    """Return requests and replies by the links in steps of records; empty if the file is missing."""
    asked: dict[str, list[str]] = {}  # links by the prefix of their key, as exchanges in a store have no position
    for link in links:
        asked.setdefault(link.partition("@")[0], []).append(link)
    exchanges = {}
    for entry, reply in _exchanges(JournalFile(path)):
        own_link = make_link(entry["key"], entry.get("moment", ""))
        for link in asked.get(own_link.partition("@")[0], ()):
            if link == own_link or "moment" not in entry:
                exchanges[link] = (entry["request"], reply)
    return exchanges


def read_all_exchanges(path: Path) -> Iterator[tuple[dict[str, Any], Reply]]:
    """Yield requests and replies of a file in its order."""
    for entry, reply in _exchanges(JournalFile(path)):
        yield entry["request"], reply


class RecordingClient:
    """Client that answers from a store and sends only new requests."""

    def __init__(self, client: Client, store: Store) -> None:
        self.client, self.store = client, store

    def complete(self, request: Request) -> Reply:
        """Return the stored reply, or send the request and store the reply."""
        kept = self.store.get(request)
        return kept if kept is not None else self.store.put(request, self.client.complete(request))


class KeepingClient(RecordingClient):
    """Client that sends all requests and stores the replies by position, so that a stopped run can resume."""

    def complete(self, request: Request) -> Reply:
        """Return the reply stored at this position, or send the request and store the reply."""
        paid = self.store.at(request)
        return paid if paid is not None else self.store.put(request, self.client.complete(request), again=True)


class ReplayClient:
    """Client that answers only from a store, without network or key.

    A server that varies gives several replies to one request, so replies are found by their position in the episode
    first; a store without that position has one reply for all positions, or others to choose from.

    Attributes:
        by_position: Number of replies found by position.
        by_request: Number of other replies.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.by_position = self.by_request = 0

    def summary(self) -> str:
        """Say how replies were found."""
        rest = f", {self.by_request:,} by their request alone" if self.by_request else ""
        return f"Replay: {self.by_position:,} replies found by their position in the episode{rest}"

    def complete(self, request: Request) -> Reply:
        """Return the reply stored at this position, or else the last one to this request."""
        at_position = self.store.at(request)
        kept = self.store.get(request) if at_position is None else at_position
        if kept is None:
            raise EndpointError(
                f"{self.store.path}: contains no reply to a request to {request.model!r} of this run "
                f"({_beginning(request)}); replay with the same command, version and prompts that filled it"
            )
        self.by_position += at_position is not None
        self.by_request += at_position is None
        return kept


def _beginning(request: Request) -> Any:
    return repr(request.turns[-1].content[-60:]) if request.turns else "empty"
