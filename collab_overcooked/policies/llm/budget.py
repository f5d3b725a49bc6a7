"""Usage of language models: tokens, calls, seconds and dollars of an episode, and their limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from collab_overcooked.io.checks import near_matches, refuse_twice
from collab_overcooked.policies.llm.exchange import Reply, UnusableReply
from collab_overcooked.policies.llm.unusable import UnusableLimit, count_reason


class Exhausted(UnusableReply):
    """The episode's budget is used up; the message names the limit."""


@dataclass(frozen=True)
class Price:
    """Prices of tokens in dollars per million."""

    prompt: float  # Price of prompt tokens
    completion: float  # Price of completion tokens
    cached: float | None = None  # Price of cached prompt tokens; None for the price of others

    def of(self, reply: Reply) -> float:
        """Return the price of one exchange in dollars."""
        cached = min(reply.cached_tokens, reply.prompt_tokens)
        cached_price = self.prompt if self.cached is None else self.cached
        prompt = self.prompt * (reply.prompt_tokens - cached) + cached_price * cached
        return (prompt + self.completion * reply.completion_tokens) / 1e6


@dataclass(frozen=True)
class Budget:
    """Budget of one episode for all seats together; None for no limit."""

    calls: float | None = None  # Maximum number of requests, those that failed included
    tokens: float | None = None  # Maximum number of prompt and completion tokens
    seconds: float | None = None  # Maximum time spent waiting for replies
    dollars: float | None = None  # Maximum cost; requires prices

    def to_dict(self) -> dict[str, float]:
        """Return the limits that are set."""
        return {name: value for name, value in vars(self).items() if value is not None}


def parse_budget(text: str, option: str = "budget") -> Budget:
    """Parse any of the limits in ``"calls=200,tokens=100000,seconds=600,dollars=0.5"``; errors name the option.

    Raises:
        ValueError: A limit is unknown or invalid.
    """
    known = [entry.name for entry in fields(Budget)]
    limits: dict[str, float] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.partition("=")
        if name not in known:
            raise ValueError(f"{option}: {near_matches('limit', name, known)}")
        refuse_twice(option, name, limits)
        limits[name] = _number(f"{option}: {name}", number)
    return Budget(**limits)


def parse_prices(text: str) -> dict[str, Price]:
    """Parse prices in dollars per million tokens, ``"2.5/10"`` for every model or ``"gpt-4o=2.5/10,other=0.1/0.4"``.

    A third number is the price of cached prompt tokens: ``"2.5/10/1.25"``.

    Returns:
        Price by model; the name ``""`` stands for every model without a specific price.

    Raises:
        ValueError: For another form, a negative price, or two prices of a model.
    """
    prices: dict[str, Price] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        model, _, numbers = part.rpartition("=")
        parts = numbers.split("/")
        if len(parts) not in (2, 3):
            raise ValueError(f"price: {part!r} should read 2.5/10 or model=2.5/10, dollars per million tokens")
        if model in prices:
            whose = repr(model) if model else "every model"
            raise ValueError(f"price: that of {whose} is given twice, last as {numbers!r}; keep one of the two")
        prices[model] = Price(*(_number("price", number, 0.0) for number in parts))
    return prices


def _number(what: str, text: str, low: float | None = None) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not (value > 0 or value == low) or value == float("inf"):
        raise ValueError(f"{what} must be a number {'above 0' if low is None else 'of at least 0'}, not {text!r}")
    return value


@dataclass
class Usage:
    """Usage of one seat in an episode."""

    calls: int = 0  # Number of requests with a reply
    attempts: int = 0  # Number of requests that were sent, those that failed included
    prompt_tokens: int = 0  # Number of prompt tokens
    completion_tokens: int = 0  # Number of completion tokens
    cached_tokens: int = 0  # Number of cached prompt tokens
    reasoning_tokens: int = 0  # Number of completion tokens that are reasoning
    latencies: list[float] = field(default_factory=list)  # Seconds of each request
    dollars: float | None = None  # Cost; None without prices
    # Number of unusable replies by kind: ``"refused"``, ``"rejected"``, ``"length"``, ``"unreadable"``
    trouble: dict[str, int] = field(default_factory=dict)
    # Number of answers by how they were read, see ``answers``
    readings: Counter[str] = field(default_factory=Counter)
    # Count and first sample of unusable replies by reason
    unusable: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Number of prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def seconds(self) -> float:
        """Time spent waiting for replies."""
        return sum(self.latencies)

    def spent(self) -> dict[str, float]:
        """Return the amounts that count towards the limits of a ``Budget``, by name of the limit."""
        return {"calls": self.attempts, "tokens": self.tokens, "seconds": self.seconds, "dollars": self.dollars or 0}

    def add(self, reply: Reply, dollars: float | None) -> None:
        """Count one exchange and its price in dollars; None if it has none."""
        self.calls += 1
        self.attempts += reply.attempts
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.cached_tokens += reply.cached_tokens
        self.reasoning_tokens += reply.reasoning_tokens
        self.latencies.append(reply.seconds)
        if dollars is not None:
            self.dollars = round((self.dollars or 0.0) + dollars, 9)

    def count_unusable(self, kind: str, reason: str, sample: str) -> None:
        """Count one unusable reply."""
        count_reason(self.unusable, reason, sample)
        self.trouble[kind] = self.trouble.get(kind, 0) + 1


class UsageMeter:
    """Usage of each seat of a team in an episode, their common budget, and the run's limit of unusable answers."""

    def __init__(
        self,
        budget: Budget | None = None,
        prices: Mapping[str, Price] | None = None,
        unusable_limit: UnusableLimit | None = None,
    ) -> None:
        self.unusable_limit = unusable_limit or UnusableLimit(0)
        self.budget, self.prices = budget or Budget(), dict(prices or {})
        self._own: dict[int, Price | None] = {}
        self.seats: dict[int, Usage] = {}
        self.exhausted = ""

    def open(self, seat: int, model: str, price: Price | None = None) -> None:
        """Begin an episode for a seat; the first seat that begins another episode clears the counts.

        Args:
            seat: Index of the agent.
            model: Name of its model.
            price: Price of the seat's model; None for that in ``prices``.

        Raises:
            ValueError: Dollars are limited, and a model has no price.
        """
        self._own[seat] = price
        if self.budget.dollars is not None and self._price(seat, model) is None:
            raise ValueError(
                f"budget: dollars needs a price of {model!r}, for example --price {model}=2.5/10 (dollars per million "
                "tokens)"
            )
        if seat in self.seats:
            self.seats.clear()
        self.exhausted = ""
        self.seats[seat] = Usage()

    def check(self) -> None:
        """Raise an error if a limit is reached."""
        for name, limit in self.budget.to_dict().items():
            spent = sum(usage.spent()[name] for usage in self.seats.values())
            if spent >= limit:
                self.exhausted = name
                raise Exhausted(name)

    def add(self, seat: int, model: str, reply: Reply) -> None:
        """Count one exchange of a seat."""
        price = self._price(seat, model)
        self.seats[seat].add(reply, None if price is None else price.of(reply))

    def _price(self, seat: int, model: str) -> Price | None:
        return self._own.get(seat) or self.prices.get(model, self.prices.get(""))

    def to_dict(self, seat: int) -> dict[str, Any]:
        """Return a seat's account for the record."""
        usage = self.seats.get(seat, Usage())
        return {
            "calls": usage.calls,
            **({"attempts": usage.attempts} if usage.attempts > usage.calls else {}),
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            **({"reasoning_tokens": usage.reasoning_tokens} if usage.reasoning_tokens else {}),
            "seconds": round(usage.seconds, 3),
            "latencies": list(usage.latencies),
            "dollars": usage.dollars,
            "trouble": dict(usage.trouble),
            **({"readings": dict(usage.readings)} if usage.readings else {}),
            **({"unusable": usage.unusable} if usage.unusable else {}),
            "exhausted": self.exhausted,
        }
