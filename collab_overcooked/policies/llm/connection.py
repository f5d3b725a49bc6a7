"""Connections to language models: endpoint, store, budget and prices; everything that no spec says."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from collab_overcooked.policies.llm.budget import Budget, Price, UsageMeter, parse_budget, parse_prices
from collab_overcooked.policies.llm.client import Client, Reply, Request
from collab_overcooked.policies.llm.endpoint import KEY_VARIABLE, Endpoint, Patience
from collab_overcooked.policies.llm.local import LocalServer
from collab_overcooked.policies.llm.store import RecordingClient, ReplayClient, Store

KIND = "llm"  # word that begins the specs of language policies


@dataclass(frozen=True)
class Connection:
    """A client with the conditions of its use.

    Attributes:
        client: Answers questions.
        budget: The most that an episode may take.
        prices: By model, see ``budget.parse_prices``.
        owned: What is closed with the connection.
        facts: What an evaluation that is continued must have in common with its beginning, fit for JSON.
        stopped: When set, the client asks nothing more.
    """

    client: Client
    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, Price] = field(default_factory=dict)
    owned: tuple[Any, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)

    def usage_meter(self) -> UsageMeter:
        """Return a new meter for a team."""
        return UsageMeter(self.budget, self.prices)

    def stop(self) -> None:
        """Ask nothing more: whoever plays in another thread is to come to an end."""
        self.stopped.set()

    def close(self) -> None:
        """Close what was opened for it."""
        for thing in self.owned:
            thing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class LazyEndpoint:
    """The usual endpoint, looked for when the first question is asked: listing policies needs no key."""

    def __init__(self) -> None:
        self._client: Any = None

    def complete(self, request: Request) -> Reply:
        """Ask the usual endpoint."""
        if self._client is None:
            self._client = Endpoint()
        reply: Reply = self._client.complete(request)
        return reply


def default_connection() -> Connection:
    """Return the connection of policies made without one: the endpoint that the environment variables name."""
    return Connection(LazyEndpoint())


def connect(
    base_url: str | None = None,
    *,
    local: str | Path | None = None,
    local_threads: int | None = None,
    store: str | Path | None = None,
    replay: str | Path | None = None,
    budget: str = "",
    price: str = "",
    rate: float | None = None,
    timeout: float | None = None,
    key_variable: str | None = None,
) -> Connection:
    """Open a connection.

    Args:
        base_url: OpenAI-compatible endpoint; the environment's, or OpenAI's own, if None.
        local: GGUF file that this process serves to itself, instead of an endpoint.
        local_threads: Processor threads for it; all cores if None.
        store: File that keeps every exchange; what is in it is not asked again.
        replay: Such a file that answers alone, without any endpoint.
        budget: See ``budget.parse_budget``.
        price: See ``budget.parse_prices``.
        rate: Questions a minute.
        timeout: Seconds for one attempt.
        key_variable: Environment variable with the key, OPENAI_API_KEY if None.

    Raises:
        ValueError: For options that exclude each other, a bad number, or a missing extra or key.
        OSError: If a file cannot be read.
    """
    for name, number in (("rate", rate), ("timeout", timeout), ("local-threads", local_threads)):
        if number is not None and not 0 < number < float("inf"):
            raise ValueError(f"{name} must be a number above 0, not {number!r}")
    given = {"base-url": base_url, "local": local, "replay": replay}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) > 1 or (replay is not None and store is not None):
        raise ValueError(f"give only one of {', '.join([*chosen, *(['store'] if replay and store else [])])}")
    limits, prices = parse_budget(budget), parse_prices(price)
    UsageMeter(limits, prices)  # refuses a limit of money without prices
    facts: dict[str, Any] = {"budget": limits.as_json(), "prices": {m: vars(p) for m, p in prices.items()}}
    if replay is not None:
        if not Path(replay).is_file():
            raise ValueError(f"{replay}: no such file of exchanges")
        return Connection(ReplayClient(Store(replay)), limits, prices, (), facts)
    kept = Store(store) if store is not None else None  # refuses a damaged file before anything is started
    stopped = threading.Event()
    patience = Patience() if timeout is None else Patience(timeout=timeout)
    server = None if local is None else LocalServer(local, local_threads)
    if server is None:
        endpoint = Endpoint(base_url, key_variable or KEY_VARIABLE, patience, rate, stopped)
        where = endpoint.address
    else:
        endpoint = Endpoint(server.base_url, "", patience, rate, stopped)
        where = f"{server.path.name} sha256 {_digest(server.path)[:16]}"
    client: Client = endpoint if kept is None else RecordingClient(endpoint, kept)
    owned = (endpoint,) if server is None else (endpoint, server)
    return Connection(client, limits, prices, owned, facts | {"endpoint": where}, stopped)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
