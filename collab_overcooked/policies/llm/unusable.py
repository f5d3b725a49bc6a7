"""Unusable answers of models: their reasons, and the limit that ends a run which measures nothing."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from collab_overcooked.io.redaction import redact
from collab_overcooked.io.text import one_line
from collab_overcooked.policies.llm.exchange import EndpointError, Reply
from collab_overcooked.policies.llm.markup import visible

MAX_UNUSABLE = 12  # unusable answers of a model in a row that end a run
MAX_SAMPLE = 200  # characters of a sample
TOO_LONG = re.compile(  # error messages about the length of a request, which say nothing about the model
    r"context.{0,20}(?:length|size|window)|too (?:long|large|many tokens)|maximum.{0,20}tokens|status 413",
    re.IGNORECASE,
)
UNASKED_CALLS = "calls of tools"  # detail of a reply
CUT_BY_SERVER = (
    "the end of the server's context or its own limit of tokens; the request allows more"  # detail of a reply
)
LIMIT = "the limit of tokens (tokens=N in llm:MODEL?tokens=N, thoughts count)"
_CALLS = re.compile(
    r"tool_calls?\b|\"arguments\"\s?:|<function[=\s]|<\|python_tag\|>|<invoke\b|to=functions\.", re.IGNORECASE
)
Reasons = Mapping[str, Mapping[str, Any]]  # reason -> count and sample


def reason_of(reply: Reply, tools: bool) -> tuple[str, str]:
    """Return why a reply cannot be used, and a sample of it.

    Args:
        reply: The reply.
        tools: Whether calls of tools were requested.
    """
    sample = redact(one_line(reply.text.strip() or reply.detail or reply.reasoning.strip()))[:MAX_SAMPLE]
    end = CUT_BY_SERVER if reply.detail == CUT_BY_SERVER else LIMIT
    thinks = reply.text.strip() or reply.reasoning.strip() or reply.reasoning_tokens
    if reply.finish == "rejected":
        reason = (
            "the context limit" if TOO_LONG.search(reply.detail) else "the endpoint accepts or answers no such request"
        )
    elif reply.finish == "refused":
        reason = "the model or a filter refuses"
    elif not tools and (reply.detail == UNASKED_CALLS or _CALLS.search(visible(reply.text))):
        reason = "calls of tools where text is asked for (channel=tools asks for calls)"
    elif thinks and not visible(reply.text):
        cut = f", cut off at {end}" if reply.finish == "length" else ""
        reason = f"reasoning only, without an answer{cut}"
    elif reply.finish == "length":
        reason = f"cut off at {end}"
    else:
        reason = "cannot be read" if reply.text.strip() else "empty"
    return reason, sample


def count_reason(reasons: dict[str, dict[str, Any]], reason: str, sample: str) -> None:
    """Count a reason; the first sample stays."""
    entry = reasons.setdefault(reason, {"count": 0, "sample": sample})
    entry["count"] += 1


def commonest(reasons: Iterable[Reasons]) -> str:
    """Return the commonest reason with one sample, empty without any."""
    total: dict[str, dict[str, Any]] = {}
    for entries in reasons:
        for reason, entry in entries.items():
            count_reason(total, reason, entry["sample"])
            total[reason]["count"] += entry["count"] - 1
    if not total:
        return ""
    reason = max(total, key=lambda name: int(total[name]["count"]))
    sample = f", for example: {total[reason]['sample']}" if total[reason]["sample"] else ""
    return f"{total[reason]['count']} x {reason}{sample}"


class UnusableLimit:
    """Counts unusable answers in a row of each model of a run. Thread-safe.

    Args:
        limit: Number that ends the run; 0 for no limit.
    """

    def __init__(self, limit: int = MAX_UNUSABLE) -> None:
        if limit < 0:
            raise ValueError(f"max-unusable must be at least 0, not {limit}")
        self.limit = limit
        self._lock = threading.Lock()
        self._reasons: dict[str, dict[str, dict[str, Any]]] = {}  # by model, since its last usable answer

    def note_usable(self, model: str) -> None:
        """Begin to count anew."""
        with self._lock:
            self._reasons.pop(model, None)

    def note_unusable(self, model: str, reason: str, sample: str) -> None:
        """Count an unusable answer.

        Raises:
            EndpointError: So many answers in a row were unusable that the run should stop.
        """
        with self._lock:
            reasons = self._reasons.setdefault(model, {})
            count_reason(reasons, reason, sample)
            count = sum(int(entry["count"]) for entry in reasons.values())
            if self.limit and count >= self.limit:
                raise EndpointError(
                    f"model {model!r}: {count} answers in a row could not be used: {commonest([reasons])}; "
                    "--max-unusable 0 goes on all the same"
                )
