"""Client of language models: choice of the transport, spending limits, and storage of replies."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from collab_overcooked.io.files import file_digest
from collab_overcooked.io.redaction import remember
from collab_overcooked.policies.llm.budget import Budget, Price, Usage, UsageMeter, parse_budget, parse_prices
from collab_overcooked.policies.llm.chat import ChatTransport
from collab_overcooked.policies.llm.exchange import EndpointConfig, EndpointError, Reply, Request, Spent
from collab_overcooked.policies.llm.local import LocalServer
from collab_overcooked.policies.llm.providers import ProvidersTransport
from collab_overcooked.policies.llm.responses import ResponsesTransport
from collab_overcooked.policies.llm.store import Store
from collab_overcooked.policies.llm.transport import KEY_VARIABLE, OPENAI, RetryPolicy, Transport, check_address
from collab_overcooked.policies.llm.unusable import UnusableLimit

LOCAL_TIMEOUT = 1800.0  # seconds: a CPU processes only a few tokens per second
RESERVED = 8_192  # tokens that a budget of the run reserves for an answer without a maximum length
PICTURE = 2_000  # tokens that it reserves for a picture
CHAT, PROVIDERS = "chat", "providers"
TRANSPORTS = {CHAT: ChatTransport, "responses": ResponsesTransport, PROVIDERS: ProvidersTransport}
KIND = "llm"  # prefix of the specs of language policies


@dataclass
class Client:
    """Answer requests: from a store, or by the transport of the model, within the budget of the run. Thread-safe.

    A server that varies gives several replies to one request, so a replay finds replies by their position in the
    episode first; a store without that position has one reply for all positions, or others to choose from.

    Attributes:
        model: Function that answers every request in place of endpoints; None to send requests to these.
        default: Endpoint of models without one in their settings; None for that of the environment variables, which is
            not opened before the first request, so that listing policies needs no key.
        timeout: Seconds per attempt; None for 120, or ``LOCAL_TIMEOUT`` for a model from a file.
        give_up: Seconds after which retries end; see ``RetryPolicy``.
        rate: Maximum requests per minute to each endpoint; None for no limit.
        threads: CPU threads of models from files; all cores if None.
        budget: Budget of an episode.
        total: Budget of the run, which includes what it spent before it was stopped.
        prices: Prices by model, see ``budget.parse_prices``.
        store: Exchanges; requests in it are not sent again.
        replay: Exchanges that answer all requests without any endpoint.
        keep: All exchanges of the run by position, from which a stopped run resumes without repeating requests.
        run_config: Configuration that must be equal to resume an evaluation, as JSON values.
        unusable_limit: Ends a run whose models give no usable answers.
        model_prices: Prices in settings of models, by model and endpoint.
        usage: Usage of the requests sent, excluding those answered from a store.
        earlier: Usage of the run before it was stopped, which counts towards ``total``.
        replayed_by_position: Number of replies that a replay found by position.
        replayed_by_request: Number of its other replies.
    """

    model: Callable[[Request], Reply] | None = None
    default: EndpointConfig | None = None
    timeout: float | None = None
    give_up: float = RetryPolicy.give_up
    rate: float | None = None
    threads: int | None = None
    budget: Budget = field(default_factory=Budget)
    total: Budget = field(default_factory=Budget)
    prices: Mapping[str, Price] = field(default_factory=dict)
    store: Store | None = None
    replay: Store | None = None
    keep: Store | None = None
    run_config: Mapping[str, Any] = field(default_factory=dict)
    unusable_limit: UnusableLimit = field(default_factory=lambda: UnusableLimit(0))
    model_prices: dict[tuple[str, EndpointConfig | None], Price] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    earlier: Usage = field(default_factory=Usage)
    replayed_by_position: int = 0
    replayed_by_request: int = 0

    def __post_init__(self) -> None:
        self._stopped = threading.Event()  # when set, no further requests are sent
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)  # a request in flight has ended
        self._reserved: Counter[str] = Counter()  # bounds of the requests in flight, by limit
        self._in_flight = 0
        self._transports: dict[EndpointConfig, Transport] = {}
        self._servers: dict[str, LocalServer] = {}  # by file

    def complete(self, request: Request) -> Reply:
        """Return the reply to a request, and keep it.

        Raises:
            EndpointError: If there is no reply.
        """
        reply = None if self.keep is None else self.keep.at(request)
        if reply is not None:
            return reply
        if self.replay is not None:
            reply = self._replayed(request, self.replay)
        elif self.store is not None:
            reply = self.store.get(request)
        is_sent, dollars = reply is None, None
        if reply is None:
            reply, dollars = self._send(request)
            reply = reply if self.store is None else self.store.put(request, reply, dollars=dollars)
        if self.keep is None:
            return reply
        return self.keep.put(request, reply, again=True, is_sent=is_sent, dollars=dollars)

    def _replayed(self, request: Request, replay: Store) -> Reply:
        at_position = replay.at(request)
        reply = replay.get(request) if at_position is None else at_position
        if reply is None:
            beginning = repr(request.turns[-1].content[-60:]) if request.turns else "empty"
            raise EndpointError(
                f"{replay.path}: contains no reply to a request to {request.model!r} of this run ({beginning}); "
                "replay with the same command, version and prompts that filled it"
            )
        with self._lock:
            self.replayed_by_position += at_position is not None
            self.replayed_by_request += at_position is None
        return reply

    def _send(self, request: Request) -> tuple[Reply, float | None]:
        """Return the reply of a model and its cost in dollars; None without a price."""
        price = self.model_prices.get((request.model, request.reach))
        price = price or self.prices.get(request.model, self.prices.get(""))
        if self.total.dollars is not None and price is None:
            raise Spent(f"budget-total: dollars needs a price of {request.model!r}")
        bound = bound_of(request, price)
        self._reserve(bound, request.max_tokens > 0)
        try:
            reply = (self.model or self.transport_for(request.reach, request.model).complete)(request)
            dollars = None if price is None else price.of(reply)
            with self._lock:
                self.usage.add(reply, dollars)
            return reply, dollars
        finally:
            with self._changed:
                self._reserved.subtract(bound)
                self._in_flight -= 1
                self._changed.notify_all()

    def _reserve(self, bound: Mapping[str, float], is_bounded: bool) -> None:
        """Wait until a request fits into the total budget, assuming maximum costs of requests in flight.

        Raises:
            Spent: If it does not fit.
        """
        with self._changed:
            while (name := self._short_of(bound)) is not None:
                if not self._in_flight:
                    limit = self.total.to_dict()[name]
                    left = limit - self.earlier.spent()[name] - self.usage.spent()[name]
                    problem = f"{name} of this run are used up ({limit:g})"
                    if left > 0:
                        problem = f"the next request may take {bound[name]:g} {name}, {left:g} of {limit:g} are left"
                        problem += "" if is_bounded else f"; without `tokens` it reserves {RESERVED:,} for its answer"
                    raise Spent(f"budget-total: {problem}; the same command with a larger --budget-total goes on")
                self._changed.wait()
            self._reserved.update(bound)
            self._in_flight += 1

    def _short_of(self, bound: Mapping[str, float]) -> str | None:
        """Return the limit into which a request does not fit; None if there is none."""
        earlier, now = self.earlier.spent(), self.usage.spent()
        for name, limit in self.total.to_dict().items():
            spent = earlier[name] + now[name]
            if spent >= limit or spent + self._reserved[name] + bound[name] > limit * (1 + 1e-9):  # sums are rounded
                return name
        return None

    def transport_for(self, reach: EndpointConfig | None, model: str = "") -> Transport:
        """Return the transport of a model, opened if necessary.

        A model without an address whose name has a provider's prefix (``anthropic/claude-...``) is the provider's.
        """
        default = self.default or EndpointConfig()
        with self._lock:
            if reach is None:
                reach = default
            elif not (reach.base_url or reach.local):
                key = reach.key_variable or default.key_variable
                headers = (*default.headers, *reach.headers)
                reach = EndpointConfig(default.base_url, key, default.local, headers, reach.api)
            if is_provided(model, reach):
                reach = replace(reach, api=PROVIDERS)
            if reach not in self._transports:
                self._transports[reach] = self._open(reach)
            return self._transports[reach]

    def _open(self, reach: EndpointConfig) -> Transport:
        url, key = reach.base_url or None, reach.key_variable or KEY_VARIABLE
        if reach.api == PROVIDERS:  # which have variables of their own
            key = reach.key_variable
        if reach.local:
            if reach.local not in self._servers:
                self._servers[reach.local] = LocalServer(reach.local, self.threads)
            url, key = self._servers[reach.local].base_url, ""
        timeout = self.timeout or (LOCAL_TIMEOUT if reach.local else RetryPolicy.timeout)
        headers = {name: _value_of(name, text) for name, text in reach.headers}
        return TRANSPORTS[reach.api or CHAT](
            url,
            key,
            retry_policy=RetryPolicy(timeout=timeout, give_up=self.give_up),
            per_minute=self.rate,
            stopped=self._stopped,
            headers=headers,
        )

    def check(self, reach: EndpointConfig | None, model: str = "") -> None:
        """Check that a model is reachable, without sending a request."""
        if self.default is not None:
            self.transport_for(reach, model)

    def usage_meter(self) -> UsageMeter:
        """Return a new meter for a team."""
        return UsageMeter(self.budget, self.prices, self.unusable_limit)

    def expected(self, share: float) -> str:
        """Return the expected spending of the whole run after a share of its episodes."""
        usage = self.usage
        money = "" if usage.dollars is None else f", {usage.dollars / share:.4f} dollars"
        return f"about {usage.calls / share:,.0f} questions, {usage.tokens / share:,.0f} tokens{money} in all"

    def summary(self) -> str:
        """Return the spending, or how a replay found replies, in one line; empty if no request was sent."""
        usage = self.usage
        if self.replay is not None:
            others = self.replayed_by_request
            rest = f", {others:,} by their request alone" if others else ""
            return f"Replay: {self.replayed_by_position:,} replies found by their position in the episode{rest}"
        if not usage.calls:
            return ""
        money = "" if usage.dollars is None else f", {usage.dollars:.4f} dollars"
        thought = f" ({usage.reasoning_tokens} of them reasoning)" if usage.reasoning_tokens else ""
        cached = f" ({usage.cached_tokens} of them cached)" if usage.cached_tokens else ""
        return (
            f"language models: {usage.calls} questions asked, {usage.prompt_tokens} tokens in{cached}, "
            f"{usage.completion_tokens} out{thought}{money}"
        )

    def stop(self) -> None:
        """Reject all later requests, so that episodes in other threads end."""
        self._stopped.set()

    def close(self) -> None:
        """Close the transports, and the models from files after them."""
        for transport in self._transports.values():
            transport.close()
        for server in self._servers.values():
            server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def bound_of(request: Request, price: Price | None) -> dict[str, float]:
    """Return upper bounds on the cost of a request, by limit of a ``Budget``; a token has at least three characters.

    ``RESERVED`` tokens are taken for an answer without a maximum length; a longer one counts once it is there, and so
    do attempts after the first and seconds.
    """
    forms = json.dumps([request.schema, *request.tools]) if request.schema or request.tools else ""
    prompt = -(-sum(len(turn.content) for turn in request.turns) // 3) + -(-len(forms) // 3)
    prompt += PICTURE * len(request.pictures)
    reply = Reply("", prompt_tokens=prompt, completion_tokens=request.max_tokens or RESERVED)
    dollars = 0.0 if price is None else price.of(reply)
    return {"calls": 1, "tokens": prompt + reply.completion_tokens, "seconds": 0, "dollars": dollars}


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
    give_up: float | None = None,
    key_variable: str | None = None,
    budget_total: str = "",
    keep: str | Path | None = None,
) -> Client:
    """Validate options in the form of the command line and return a client.

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
        give_up: Seconds after the first failure of a request from which on it is not sent again, and the longest pause
            that an endpoint may ask for; by default 60.
        key_variable: Environment variable with the key; OPENAI_API_KEY if None.
        budget_total: Total budget for the run, in the same syntax as ``budget``.
        keep: File of all exchanges of the run by position, from which a stopped run resumes without repeating requests.
    """
    check_positive(rate=rate, timeout=timeout, give_up=give_up, local_threads=local_threads)
    sources = {"base-url": base_url, "local": local, "replay": replay}
    sources |= {} if replay is None else {"store": store}
    if len(chosen := [name for name, value in sources.items() if value is not None]) > 1:
        raise ValueError(f"give only one of {', '.join(chosen)}")
    limits, prices = parse_budget(budget), parse_prices(price)
    run_config = {"budget": limits.to_dict(), "prices": {model: vars(price) for model, price in prices.items()}}
    client = Client(
        budget=limits, total=parse_budget(budget_total, "budget-total"), prices=prices, run_config=run_config
    )
    if replay is not None:
        if not Path(replay).is_file():
            raise ValueError(f"{replay}: no such file of exchanges")
        client.replay = Store(replay)
    else:
        client.store = None if store is None else Store(store)  # rejects a damaged file before anything is started
        client.unusable_limit = UnusableLimit()
        client.default = EndpointConfig(base_url or "", key_variable or "", str(local or ""))
        client.timeout, client.give_up = timeout, give_up or RetryPolicy.give_up
        client.rate, client.threads = rate, local_threads
        client.run_config = {**run_config, "endpoint": _where(client, client.default)}
    source = store if replay is None else replay
    if keep is not None and (source is None or Path(source).resolve() != Path(keep).resolve()):
        client.keep = Store(keep)
    if keep is not None and Path(keep).is_file():
        for exchange in Store(keep).exchanges():  # a run that goes on has spent this already
            dollars, given = exchange.dollars, prices.get(exchange.request.model, prices.get(""))
            if dollars is None and given is not None:
                dollars = given.of(exchange.reply)
            if exchange.is_sent:
                client.earlier.add(exchange.reply, dollars)
    return client


def check_positive(**numbers: float | None) -> None:
    """Check that numbers are finite and above 0, or None.

    Raises:
        ValueError: If one is not; the message has its name on the command line.
    """
    for name, number in numbers.items():
        if number is not None and not 0 < number < float("inf"):
            raise ValueError(f"{name.replace('_', '-')} must be a number above 0, not {number!r}")


def _where(client: Client, default: EndpointConfig) -> str:
    if not default.local:
        return check_address(default.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI)
    client.transport_for(None)
    return f"{Path(default.local).name} sha256 {file_digest(default.local)[:16]}"
