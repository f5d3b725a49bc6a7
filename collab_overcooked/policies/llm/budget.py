"""Use of language models: tokens, calls, seconds and dollars of an episode, and their limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.llm.client import Reply, UnusableReply


class Exhausted(UnusableReply):
    """Nothing is asked, as the episode's budget is used up; the message names which part of it."""


@dataclass(frozen=True)
class Price:
    """What tokens cost, in dollars per million.

    Attributes:
        prompt: Tokens of questions.
        completion: Tokens of answers.
        cached: Tokens of questions that the endpoint had in its cache; None for the price of others.
    """

    prompt: float
    completion: float
    cached: float | None = None

    def of(self, reply: Reply) -> float:
        """Return the dollars of one exchange."""
        cached = min(reply.cached_tokens, reply.prompt_tokens)
        own = self.prompt if self.cached is None else self.cached
        whole = self.prompt * (reply.prompt_tokens - cached) + own * cached + self.completion * reply.completion_tokens
        return whole / 1e6


@dataclass(frozen=True)
class Budget:
    """The most that one episode may take, all seats together; None for no limit.

    Attributes:
        calls: Questions.
        tokens: Tokens of questions and answers.
        seconds: Time spent waiting for answers.
        dollars: Money; needs prices.
    """

    calls: float | None = None
    tokens: float | None = None
    seconds: float | None = None
    dollars: float | None = None

    def to_dict(self) -> dict[str, float]:
        """Return the limits that are set."""
        return {name: value for name, value in vars(self).items() if value is not None}


def parse_budget(text: str) -> Budget:
    """Read ``"calls=200,tokens=100000,seconds=600,dollars=0.5"``, in any order, any of them.

    Raises:
        ValueError: For an unknown word or a number that is not above 0.
    """
    known = [entry.name for entry in fields(Budget)]
    limits: dict[str, float] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.partition("=")
        if name not in known:
            raise ValueError(f"budget: {near_matches('limit', name, known)}")
        limits[name] = _number(f"budget: {name}", number)
    return Budget(**limits)


def parse_prices(text: str) -> dict[str, Price]:
    """Read prices in dollars per million tokens, ``"2.5/10"`` for every model or ``"gpt-4o=2.5/10,other=0.1/0.4"``.

    A third number is the price of cached tokens of questions: ``"2.5/10/1.25"``.

    Returns:
        Price by model; the name ``""`` stands for every model without one of its own.

    Raises:
        ValueError: If it cannot be read.
    """
    prices: dict[str, Price] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        model, _, numbers = part.rpartition("=")
        parts = numbers.split("/")
        if len(parts) not in (2, 3):
            raise ValueError(f"price: {part!r} should read 2.5/10 or model=2.5/10, dollars per million tokens")
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
    """What one seat took in an episode.

    Attributes:
        calls: Questions.
        prompt_tokens: Tokens of the questions.
        completion_tokens: Tokens of the answers.
        cached_tokens: Those of the questions that the endpoint had in its cache.
        latencies: Seconds of each call.
        dollars: Money; None without prices.
        trouble: How often which kind of unusable answer came: ``"refused"``, ``"rejected"``, ``"length"``,
            ``"unreadable"``.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    latencies: list[float] = field(default_factory=list)
    dollars: float | None = None
    trouble: dict[str, int] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Tokens of questions and answers."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def seconds(self) -> float:
        """Time spent waiting for answers."""
        return sum(self.latencies)

    def add(self, reply: Reply, price: Price | None) -> None:
        """Count one exchange."""
        self.calls += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.cached_tokens += reply.cached_tokens
        self.latencies.append(reply.seconds)
        if price is not None:
            self.dollars = round((self.dollars or 0.0) + price.of(reply), 9)

    def note(self, kind: str) -> None:
        """Count one unusable answer."""
        self.trouble[kind] = self.trouble.get(kind, 0) + 1


class UsageMeter:
    """What each seat of a team used in an episode, against one budget."""

    def __init__(self, budget: Budget | None = None, prices: Mapping[str, Price] | None = None) -> None:
        self.budget, self.prices = budget or Budget(), dict(prices or {})
        self._own: dict[int, Price | None] = {}
        self.seats: dict[int, Usage] = {}
        self.exhausted = ""

    def open(self, seat: int, model: str, price: Price | None = None) -> None:
        """Begin an episode for a seat with a model; the first seat to begin again clears the counts.

        Args:
            seat: Index of the agent.
            model: Name of its model.
            price: Of that seat's model; None for what ``prices`` says.

        Raises:
            ValueError: If money is limited but the model has no price.
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
        """Refuse a further call if a limit is reached.

        Raises:
            Exhausted: Naming the limit.
        """
        for name, limit in self.budget.to_dict().items():
            spent = sum(getattr(usage, name) or 0 for usage in self.seats.values())
            if spent >= limit:
                self.exhausted = name
                raise Exhausted(name)

    def add(self, seat: int, model: str, reply: Reply) -> None:
        """Count one exchange of a seat."""
        self.seats[seat].add(reply, self._price(seat, model))

    def _price(self, seat: int, model: str) -> Price | None:
        return self._own.get(seat) or self.prices.get(model, self.prices.get(""))

    def to_dict(self, seat: int) -> dict[str, Any]:
        """Return a seat's account for the record."""
        usage = self.seats[seat]
        return {
            "calls": usage.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "seconds": round(usage.seconds, 3),
            "latencies": list(usage.latencies),
            "dollars": usage.dollars,
            "trouble": dict(usage.trouble),
            "exhausted": self.exhausted,
        }
