"""Connections to language models: endpoint, store, budget and prices; everything that is not part of a spec."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from collab_overcooked.io.files import file_digest
from collab_overcooked.io.redaction import remember
from collab_overcooked.policies.llm.budget import Budget, Price, UsageMeter, parse_budget, parse_prices
from collab_overcooked.policies.llm.chat import ChatTransport
from collab_overcooked.policies.llm.client import Client, EndpointConfig, Reply, Request
from collab_overcooked.policies.llm.local import LocalServer
from collab_overcooked.policies.llm.providers import ProvidersTransport
from collab_overcooked.policies.llm.responses import ResponsesTransport
from collab_overcooked.policies.llm.spend import SpendingClient
from collab_overcooked.policies.llm.store import KeepingClient, RecordingClient, ReplayClient, Store
from collab_overcooked.policies.llm.transport import KEY_VARIABLE, OPENAI, RetryPolicy, Transport, check_address
from collab_overcooked.policies.llm.unusable import Fuse

LOCAL_TIMEOUT = 1800.0  # seconds: a CPU processes only a few tokens per second
CHAT, PROVIDERS = "chat", "providers"
TRANSPORTS = {CHAT: ChatTransport, "responses": ResponsesTransport, PROVIDERS: ProvidersTransport}
KIND = "llm"  # prefix of the specs of language policies


@dataclass(frozen=True)
class Connection:
    """A client with budget and prices."""

    client: Client  # Client for requests
    budget: Budget = field(default_factory=Budget)  # Budget of an episode
    prices: Mapping[str, Price] = field(default_factory=dict)  # Prices by model, see ``budget.parse_prices``
    owned: tuple[Any, ...] = ()  # Resources that are closed with the connection
    # Configuration that must be equal to resume an evaluation, as JSON values
    facts: Mapping[str, Any] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)  # When set, the client sends no further requests
    router: Router | None = None  # Router of endpoints; None for a replay
    spending: SpendingClient | None = None  # Client that counts the cost of the run; None for a replay
    # Prices in settings of models, by model and endpoint
    own_prices: dict[tuple[str, EndpointConfig | None], Price] = field(default_factory=dict)
    replayed: ReplayClient | None = None  # Client of a replay; None without one
    # Ends a run whose models give no usable answers; never for a replay
    fuse: Fuse = field(default_factory=partial(Fuse, 0))

    def usage_meter(self) -> UsageMeter:
        """Return a new meter for a team."""
        return UsageMeter(self.budget, self.prices, self.fuse)

    def check(self, reach: EndpointConfig | None, model: str = "") -> None:
        """Check that a model is reachable, without sending a request."""
        if self.router is not None:
            self.router.client_for(reach, model)

    def stop(self) -> None:
        """Send no further requests, so that episodes in other threads end."""
        self.stopped.set()

    def close(self) -> None:
        """Close the owned resources."""
        for thing in self.owned:
            thing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Router:
    """Client that sends each request to the endpoint of its model; endpoints are opened on first use.

    Args:
        default: Endpoint of models without one in their settings.
        patience: Retry policy; None for the default, with a longer timeout for models on this machine.
        rate: Maximum requests per minute to each endpoint; None for no limit.
        threads: CPU threads of models from files; all cores if None.
        stopped: When set, no further requests are sent.

    Attributes:
        notify: Called with a message while a request waits; does nothing by default.
    """

    def __init__(
        self,
        default: EndpointConfig,
        patience: RetryPolicy | None,
        rate: float | None,
        threads: int | None,
        stopped: threading.Event,
    ) -> None:
        self.default, self._patience, self._rate, self._threads = default, patience, rate, threads
        self._stopped = stopped
        self.notify: Callable[[str], None] = lambda message: None
        self._lock = threading.Lock()
        self._endpoints: dict[EndpointConfig, Transport] = {}
        self._servers: dict[str, LocalServer] = {}  # by file

    def complete(self, request: Request) -> Reply:
        """Send a request to the model's endpoint."""
        return self.client_for(request.reach, request.model).complete(request)

    def client_for(self, reach: EndpointConfig | None, model: str = "") -> Transport:
        """Return the endpoint of a model, opened if necessary.

        A model without an address whose name has a provider's prefix (``anthropic/claude-...``) is the provider's.
        """
        with self._lock:
            reach_ = self.default if reach is None else self._filled(reach)
            if is_provided(model, reach_):
                reach_ = replace(reach_, api=PROVIDERS)
            if reach_ not in self._endpoints:
                self._endpoints[reach_] = self._open(reach_)
            return self._endpoints[reach_]

    def _filled(self, reach: EndpointConfig) -> EndpointConfig:
        if reach.base_url or reach.local:
            return reach
        default = self.default
        key = reach.key_variable or default.key_variable
        return EndpointConfig(default.base_url, key, default.local, (*default.headers, *reach.headers), reach.api)

    def _open(self, reach: EndpointConfig) -> Transport:
        url, key, patience = reach.base_url or None, reach.key_variable or KEY_VARIABLE, self._patience or RetryPolicy()
        if reach.api == PROVIDERS:  # which have variables of their own
            key = reach.key_variable
        if reach.local:
            if reach.local not in self._servers:
                self._servers[reach.local] = LocalServer(reach.local, self._threads)
            url, key = self._servers[reach.local].base_url, ""
            patience = self._patience or RetryPolicy(timeout=LOCAL_TIMEOUT)
        headers = {name: _value_of(name, text) for name, text in reach.headers}
        return TRANSPORTS[reach.api or CHAT](
            url,
            key,
            patience,
            self._rate,
            self._stopped,
            headers=headers,
            notify=lambda message: self.notify(message),
        )

    def close(self) -> None:
        """Close the endpoints, and the models from files after them."""
        for endpoint in self._endpoints.values():
            endpoint.close()
        for server in self._servers.values():
            server.close()


def is_provided(model: str, reach: EndpointConfig) -> bool:
    """Return whether a model is reached through its provider, as its name says, and not at an endpoint."""
    return "/" in model and not (reach.api or reach.base_url or reach.local or os.environ.get("OPENAI_BASE_URL"))


def _value_of(name: str, text: str) -> str:
    if not text.startswith("$"):
        return text
    if text[1:] not in os.environ:
        raise ValueError(f"headers: {name} needs the environment variable {text[1:]}")
    remember(os.environ[text[1:]])
    return os.environ[text[1:]]


class LazyEndpoint:
    """The default endpoint, opened with the first request, so that listing policies needs no key."""

    def __init__(self) -> None:
        self._client: Any = None

    def complete(self, request: Request) -> Reply:
        """Send a request to the default endpoint."""
        if self._client is None:
            self._client = Router(EndpointConfig(), RetryPolicy(), None, None, threading.Event())
        reply: Reply = self._client.complete(request)
        return reply


def default_connection() -> Connection:
    """Return the default connection, to the endpoint named by the environment variables."""
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
        base_url: OpenAI-compatible endpoint; by default that of the environment, or OpenAI's.
        local: GGUF file that is served in this process, instead of an endpoint.
        local_threads: CPU threads of the model; all cores if None.
        store: File of exchanges; requests in it are not sent again.
        replay: File of exchanges that answers all requests without any endpoint.
        budget: Budget of an episode, see ``budget.parse_budget``.
        price: Prices, see ``budget.parse_prices``.
        rate: Maximum requests per minute.
        timeout: Seconds per attempt; by default 120, or 1,800 for a model from a file.
        key_variable: Environment variable with the key; OPENAI_API_KEY if None.
        budget_total: Total budget for the run, in the same syntax as ``budget``.
        keep: File of all exchanges of the run by position, from which a stopped run resumes without repeating requests.
    """
    _check_numbers({"rate": rate, "timeout": timeout, "local-threads": local_threads})
    sources = {"base-url": base_url, "local": local, "replay": replay}
    sources |= {} if replay is None else {"store": store}
    if len(chosen := [name for name, value in sources.items() if value is not None]) > 1:
        raise ValueError(f"give only one of {', '.join(chosen)}")
    limits, prices = parse_budget(budget), parse_prices(price)
    facts: dict[str, Any] = {"budget": limits.to_dict(), "prices": {m: vars(p) for m, p in prices.items()}}
    if replay is not None:
        replayed = _replay_client(Path(replay))
        return Connection(_keeping(replayed, replay, keep), limits, prices, (), facts, replayed=replayed)
    kept = None if store is None else Store(store)  # rejects a damaged file before anything is started
    stopped = threading.Event()
    default = EndpointConfig(base_url or "", key_variable or "", str(local or ""))
    router = Router(default, RetryPolicy(timeout=timeout) if timeout else None, rate, local_threads, stopped)
    facts |= {"endpoint": _where(router)}
    model_prices: dict[tuple[str, EndpointConfig | None], Price] = {}
    spending = SpendingClient(router, parse_budget(budget_total), partial(_price_of, model_prices, prices))
    client = _keeping(spending if kept is None else RecordingClient(spending, kept), store, keep)
    return Connection(client, limits, prices, (router,), facts, stopped, router, spending, model_prices, fuse=Fuse())


def _replay_client(path: Path) -> ReplayClient:
    if not path.is_file():
        raise ValueError(f"{path}: no such file of exchanges")
    return ReplayClient(Store(path))


def _check_numbers(numbers: Mapping[str, float | None]) -> None:
    for name, number in numbers.items():
        if number is not None and not 0 < number < float("inf"):
            raise ValueError(f"{name} must be a number above 0, not {number!r}")


def _keeping(client: Client, store: str | Path | None, keep: str | Path | None) -> Client:
    """Return a client that also keeps replies in a file, unless it is the store itself."""
    if keep is None or (store is not None and Path(store).resolve() == Path(keep).resolve()):
        return client
    return KeepingClient(client, Store(keep))


def _where(router: Router) -> str:
    default = router.default
    if not default.local:
        return check_address(default.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI)
    router.client_for(None)
    return f"{Path(default.local).name} sha256 {file_digest(default.local)[:16]}"


def _price_of(
    model_prices: Mapping[tuple[str, EndpointConfig | None], Price], prices: Mapping[str, Price], request: Request
) -> Price | None:
    return model_prices.get((request.model, request.reach)) or prices.get(request.model, prices.get(""))
