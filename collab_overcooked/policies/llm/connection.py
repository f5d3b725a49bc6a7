"""Connections to language models: endpoint, store, budget and prices; everything that no spec says."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from collab_overcooked.io.redaction import remember
from collab_overcooked.policies.llm.budget import Budget, Price, UsageMeter, parse_budget, parse_prices
from collab_overcooked.policies.llm.client import Client, EndpointConfig, Reply, Request
from collab_overcooked.policies.llm.endpoint import KEY_VARIABLE, OPENAI, Endpoint, RetryPolicy, check_address
from collab_overcooked.policies.llm.local import LocalServer
from collab_overcooked.policies.llm.spend import SpendingClient
from collab_overcooked.policies.llm.store import KeepingClient, RecordingClient, ReplayClient, Store

LOCAL_TIMEOUT = 1800.0  # seconds: a processor reads and writes a few tokens a second
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
        router: What opens endpoints; None if questions take another way.
        spending: What counts the whole run; None if nothing is paid.
        own_prices: Of models that say theirs, by model and place.
    """

    client: Client
    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, Price] = field(default_factory=dict)
    owned: tuple[Any, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)
    router: Router | None = None
    spending: SpendingClient | None = None
    own_prices: dict[tuple[str, EndpointConfig | None], Price] = field(default_factory=dict)

    def usage_meter(self) -> UsageMeter:
        """Return a new meter for a team."""
        return UsageMeter(self.budget, self.prices)

    def check(self, reach: EndpointConfig | None) -> None:
        """Make sure that a model can be reached, as far as that is known without asking.

        Raises:
            ValueError: If its endpoint has no key, or its file cannot be served.
            OSError: If its file cannot be read.
        """
        if self.router is not None:
            self.router.client_for(reach)

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


class Router:
    """Asks every model where it is; endpoints are opened when they are first needed.

    Args:
        usual: Where models are that say nothing else, as they say it.
        patience: How long to insist; None for as long as is usual, longer where this machine itself computes.
        rate: Questions a minute to each endpoint; None for no limit.
        threads: Processor threads of models from files; all cores if None.
        stopped: When set, nothing more is asked.

    Attributes:
        notify: Called with a message while a request waits; does nothing by default.
    """

    def __init__(
        self,
        usual: EndpointConfig,
        patience: RetryPolicy | None,
        rate: float | None,
        threads: int | None,
        stopped: threading.Event,
    ) -> None:
        self.usual, self._patience, self._rate, self._threads, self._stopped = usual, patience, rate, threads, stopped
        self.notify: Callable[[str], None] = lambda message: None
        self._lock = threading.Lock()
        self._endpoints: dict[EndpointConfig, Endpoint] = {}
        self._servers: dict[str, LocalServer] = {}  # by file

    def complete(self, request: Request) -> Reply:
        """Ask the model's endpoint."""
        return self.client_for(request.reach).complete(request)

    def client_for(self, reach: EndpointConfig | None) -> Endpoint:
        """Return the endpoint of a model, opened if need be.

        Raises:
            ValueError: If a key or an extra is missing.
            OSError: If a file cannot be read.
        """
        with self._lock:
            own = self.usual if reach is None else self._filled(reach)
            if own not in self._endpoints:
                self._endpoints[own] = self._open(own)
            return self._endpoints[own]

    def _filled(self, reach: EndpointConfig) -> EndpointConfig:
        """Return what a model says of its endpoint, with the usual one for what it leaves out."""
        if reach.base_url or reach.local:
            return reach
        usual = self.usual
        key = reach.key_variable or usual.key_variable
        return EndpointConfig(usual.base_url, key, usual.local, (*usual.headers, *reach.headers))

    def _open(self, reach: EndpointConfig) -> Endpoint:
        url, key, patience = reach.base_url or None, reach.key_variable or KEY_VARIABLE, self._patience or RetryPolicy()
        if reach.local:
            if reach.local not in self._servers:
                self._servers[reach.local] = LocalServer(reach.local, self._threads)
            url, key = self._servers[reach.local].base_url, ""
            patience = self._patience or RetryPolicy(timeout=LOCAL_TIMEOUT)
        headers = {name: _value_of(name, text) for name, text in reach.headers}
        return Endpoint(
            url, key, patience, self._rate, self._stopped, headers=headers, tell=lambda message: self.notify(message)
        )

    def close(self) -> None:
        """Close the endpoints, and the models from files after them."""
        for endpoint in self._endpoints.values():
            endpoint.close()
        for server in self._servers.values():
            server.close()


def _value_of(name: str, text: str) -> str:
    """Return the value of a header, from the environment if it is written ``$NAME``."""
    if not text.startswith("$"):
        return text
    if text[1:] not in os.environ:
        raise ValueError(f"headers: {name} needs the environment variable {text[1:]}")
    remember(os.environ[text[1:]])
    return os.environ[text[1:]]


class LazyEndpoint:
    """The usual endpoint, looked for when the first question is asked: listing policies needs no key."""

    def __init__(self) -> None:
        self._client: Any = None

    def complete(self, request: Request) -> Reply:
        """Ask the usual endpoint."""
        if self._client is None:
            self._client = Router(EndpointConfig(), RetryPolicy(), None, None, threading.Event())
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
    budget_total: str = "",
    keep: str | Path | None = None,
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
        timeout: Seconds for one attempt; 120, or 1,800 for a model from a file, if None.
        key_variable: Environment variable with the key, OPENAI_API_KEY if None.
        budget_total: The most that all episodes together may take, likewise.
        keep: File that keeps every exchange of a run, by its moment: all is asked anew, or taken from the store, but
            for what the run had before it was stopped.

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
    facts: dict[str, Any] = {"budget": limits.to_dict(), "prices": {m: vars(p) for m, p in prices.items()}}
    if replay is not None:
        if not Path(replay).is_file():
            raise ValueError(f"{replay}: no such file of exchanges")
        return Connection(_keeping(ReplayClient(Store(replay)), replay, keep), limits, prices, (), facts)
    kept = None if store is None else Store(store)  # refuses a damaged file before anything is started
    stopped = threading.Event()
    patience = None if timeout is None else RetryPolicy(timeout=timeout)
    router = Router(
        EndpointConfig(base_url or "", key_variable or "", str(local or "")), patience, rate, local_threads, stopped
    )
    facts |= {"endpoint": _where(router)}
    own: dict[tuple[str, EndpointConfig | None], Price] = {}
    spending = SpendingClient(router, parse_budget(budget_total), partial(_price_of, own, prices))
    client = _keeping(spending if kept is None else RecordingClient(spending, kept), store, keep)
    return Connection(client, limits, prices, (router,), facts, stopped, router, spending, own)


def _keeping(client: Client, store: str | Path | None, keep: str | Path | None) -> Client:
    """Return a client that keeps what it says in a file, unless that is the one that its answers are in anyway."""
    if keep is None or (store is not None and Path(store).resolve() == Path(keep).resolve()):
        return client
    return KeepingClient(client, Store(keep))


def _where(router: Router) -> str:
    """Return where models are that say nothing else; refuses an address or a file that is none."""
    usual = router.usual
    if not usual.local:
        return check_address(usual.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI)
    router.client_for(None)
    return f"{Path(usual.local).name} sha256 {_digest(Path(usual.local))[:16]}"


def _price_of(
    own: Mapping[tuple[str, EndpointConfig | None], Price], prices: Mapping[str, Price], request: Request
) -> Price | None:
    return own.get((request.model, request.reach)) or prices.get(request.model, prices.get(""))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
