"""Every exchange kept in a file, so that what a model said once can be looked at, and played again without it."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from collab_overcooked.io import schema
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.redaction import redact, redact_values
from collab_overcooked.policies.llm.client import MAX_TOKENS, Client, EndpointError, Reply, Request, make_link

SCHEMA = "collab-overcooked-exchange/1"
_ANY_TEXT = partial(schema.text, longest=schema.MAX_NUMBER)
_REPLY = {
    **dict.fromkeys(("text", "detail", "reasoning"), _ANY_TEXT),
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens"), schema.integer(0, MAX_TOKENS)),
    "attempts": schema.integer(),
    "finish": schema.one_of("stop", "length", "refused", "rejected"),
    "seconds": schema.number(0),
}
_EXCHANGE = schema.object_of(
    {
        "schema": schema.one_of(SCHEMA),
        "key": schema.name,
        "request": schema.object_of(
            {"model": schema.name, "turns": schema.list_of(schema.tuple_of(schema.name, _ANY_TEXT))}
        ),
        "reply": schema.object_of({"text": _ANY_TEXT}, _REPLY),
    },
    {"moment": schema.name},
)


class Store:
    """A JSONL file of exchanges, one line each: ``key`` (hash of the request), ``request``, ``reply``.

    Several runs may fill one file at the same time: each locks it to write, and reads first what others have added.

    Raises:
        ValueError: If a line other than an unfinished last one cannot be read.
        OSError: If the file cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._replies: dict[str, Reply] = {}
        self._by_moment: dict[tuple[str, str], Reply] = {}
        self._whole, self._lines = 0, 0  # bytes up to the end of the last whole line, and lines up to there
        self._read()

    def _read(self) -> None:
        """Read what has been added, by this run or another."""
        size = self.path.stat().st_size if self.path.exists() else 0
        if size < self._whole:  # somebody has taken the file away
            self._whole, self._lines = 0, 0
        if size == self._whole:
            return
        for entry, reply, end in _exchanges(self.path, self._whole, self._lines):
            self._whole, self._lines = end, self._lines + 1
            self._replies[entry["key"]] = reply
            self._by_moment[entry["key"], entry.get("moment", "")] = reply

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, request: Request) -> Reply | None:
        """Return the kept reply, None if there is none."""
        with self._lock:
            if request.key not in self._replies:
                self._read()
            return self._replies.get(request.key)

    def at(self, request: Request) -> Reply | None:
        """Return what was kept of the question at the same moment of its episode; None if there is nothing."""
        with self._lock:
            return self._by_moment.get((request.key, request.moment))

    def put(self, request: Request, reply: Reply, again: bool = False) -> Reply:
        """Keep a reply.

        Args:
            request: The question.
            reply: What came back.
            again: Keep it by its moment, beside others to the same question.

        Returns:
            What counts from now on: the reply kept first, should another thread or run have been faster.
        """
        key = request.key
        moment = {"moment": request.moment} if again else {}
        line = {"schema": SCHEMA, "key": key, **moment, "request": _without_keys(request), "reply": asdict(reply)}
        data = schema.json_line(line, _EXCHANGE)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, FileLock(self.path, wait=True):
            self._read()
            if key in self._replies and not again:
                return self._replies[key]
            with self.path.open("r+b") as file:
                file.seek(self._whole)
                file.truncate()
                file.write(data)
            self._whole, self._lines = self._whole + len(data), self._lines + 1
            self._replies[key] = reply
            return reply


def _without_keys(request: Request) -> dict[str, Any]:
    """Return a question as it is kept: what users wrote into it may hold keys; names of variables are none."""
    asked = request.to_dict()
    if request.body:
        asked["body"] = redact_values(request.body)
    if request.reach is not None:
        named = [(name, text if text.startswith("$") else redact(text)) for name, text in request.reach.headers]
        asked["reach"] = {**asked["reach"], "headers": named}
    return asked


def _exchanges(path: Path, end: int = 0, lines: int = 0) -> Iterator[tuple[dict[str, Any], Reply, int]]:
    """Yield the exchanges of a file, their replies, and how many bytes of the file end with them.

    Args:
        path: JSONL file.
        end: Bytes at its beginning that have been read.
        lines: Lines in them.

    Raises:
        ValueError: If a line other than an unfinished last one cannot be read.
    """
    with path.open("rb") as file:
        file.seek(end)
        for number, line in enumerate(file, start=lines + 1):
            if not line.endswith(b"\n"):  # it was being written when the run was stopped
                return
            end += len(line)
            try:
                entry = schema.parse_json(line)
                _EXCHANGE(entry)
                reply = Reply(**entry["reply"])
            except (ValueError, TypeError) as error:
                raise ValueError(f"{path}, line {number}: is no stored exchange: {error}") from None
            yield entry, reply, end


def read_exchanges(path: Path, links: Collection[str]) -> dict[str, tuple[dict[str, Any], Reply]]:
    """Return questions and answers by the links that steps of records have to them; nothing without such a file.

    Raises:
        ValueError: If it is no file of exchanges.
    """
    if not path.exists():
        return {}
    asked: dict[str, list[str]] = {}  # links by the beginning of their key: what a store keeps has no moment
    for link in links:
        asked.setdefault(link.partition("@")[0], []).append(link)
    found = {}
    for entry, reply, _ in _exchanges(path):
        own = make_link(entry["key"], entry.get("moment", ""))
        for link in asked.get(own.partition("@")[0], ()):
            if link == own or "moment" not in entry:
                found[link] = (entry["request"], reply)
    return found


class RecordingClient:
    """Asks a client only what the store does not know yet."""

    def __init__(self, client: Client, store: Store) -> None:
        self.client, self.store = client, store

    def complete(self, request: Request) -> Reply:
        """Answer from the store, or ask and keep the answer."""
        kept = self.store.get(request)
        return kept if kept is not None else self.store.put(request, self.client.complete(request))


class KeepingClient:
    """Asks a client anew in every episode and keeps what it says, so that a stopped run has not paid for nothing.

    Args:
        client: Asked.
        store: Keeps every exchange.
    """

    def __init__(self, client: Client, store: Store) -> None:
        self.client, self.store = client, store

    def complete(self, request: Request) -> Reply:
        """Ask, and keep the answer; what was asked at this moment before the run was stopped is not asked again."""
        paid = self.store.at(request)
        return paid if paid is not None else self.store.put(request, self.client.complete(request), again=True)


class ReplayClient:
    """Answers from a store alone: no network, no key."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def complete(self, request: Request) -> Reply:
        """Answer from the store.

        Raises:
            EndpointError: If this was never asked, because something differs from the run that filled the store.
        """
        kept = self.store.get(request)
        if kept is None:
            raise EndpointError(
                f"{self.store.path}: holds no answer to a question to {request.model!r} that comes up now "
                f"({_beginning(request)}); replay with the same command, version and prompts that filled it"
            )
        return kept


def _beginning(request: Request) -> Any:
    return repr(request.turns[-1].content[-60:]) if request.turns else "empty"
