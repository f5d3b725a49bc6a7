"""Spending of a run on language models: counted where requests leave the process, with an optional limit."""

from __future__ import annotations

import threading
from collections.abc import Callable

from collab_overcooked.policies.llm.budget import Budget, Price, Usage
from collab_overcooked.policies.llm.client import Client, Reply, Request, Spent


class SpendingClient:
    """Client that counts the requests sent, excluding those answered from a store, and enforces the run's budget.

    Args:
        client: Wrapped client.
        budget: Budget of the run; requests in progress may exceed it.
        price_of: Function from a request to its price; None if unknown.
    """

    def __init__(self, client: Client, budget: Budget, price_of: Callable[[Request], Price | None]) -> None:
        self.client, self.budget, self._price_of = client, budget, price_of
        self.usage = Usage()
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        """Return the reply to a request."""
        price = self._price_of(request)
        if self.budget.dollars is not None and price is None:
            raise Spent(f"budget-total: dollars needs a price of {request.model!r}")
        with self._lock:
            for name, limit in self.budget.to_dict().items():
                if (getattr(self.usage, name) or 0) >= limit:
                    raise Spent(
                        f"budget-total: {name} of this run are used up ({limit:g}); the same command with a larger "
                        "--budget-total goes on"
                    )
        reply = self.client.complete(request)
        with self._lock:
            self.usage.add(reply, price)
        return reply

    def expected(self, share: float) -> str:
        """Return the expected spending of the whole run, of which a share has been played."""
        usage = self.usage
        money = "" if usage.dollars is None else f", {usage.dollars / share:.4f} dollars"
        return f"about {usage.calls / share:,.0f} questions, {usage.tokens / share:,.0f} tokens{money} in all"

    def summary(self) -> str:
        """Return a summary of the spending in one line."""
        usage = self.usage
        money = "" if usage.dollars is None else f", {usage.dollars:.4f} dollars"
        thought = f" ({usage.reasoning_tokens} of them reasoning)" if usage.reasoning_tokens else ""
        cached = f" ({usage.cached_tokens} of them cached)" if usage.cached_tokens else ""
        return (
            f"language models: {usage.calls} questions asked, {usage.prompt_tokens} tokens in{cached}, "
            f"{usage.completion_tokens} out{thought}{money}"
        )
