"""Requests to a language model and its replies, whoever serves it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple, Protocol

MAX_TOKENS = 10**7  # of one question or answer; no model reads more, so larger counts of an endpoint are mistakes
_CANONICAL: Mapping[str, Any] = {"sort_keys": True, "ensure_ascii": True, "separators": (",", ":")}


class ChatMessage(NamedTuple):
    """One message of a chat: ``"system"``, ``"user"`` or ``"assistant"``, and its words."""

    role: str
    content: str


@dataclass(frozen=True)
class EndpointConfig:
    """Where one model is, if it is not where the others are.

    Attributes:
        base_url: OpenAI-compatible endpoint; empty for the usual one.
        key_variable: Environment variable with its key; empty for the usual one.
        local: GGUF file that is served in this process instead.
        headers: Names and values of further HTTP headers; a value ``$NAME`` is read from the environment, so that no
            secret is written anywhere.
    """

    base_url: str = ""
    key_variable: str = ""
    local: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Request:
    """One question to a model.

    Attributes:
        model: Name by which the endpoint knows it.
        turns: The chat so far.
        temperature: Of sampling; 0 for the likeliest answer.
        max_tokens: Longest answer; 0 for no limit but the endpoint's own.
        schema: JSON schema that the answer should follow, where the endpoint can make sure of it; None for free text.
        sample: Tells equal questions apart whose answers are drawn anew; its hash is sent as the sampling seed.
        body: Further fields of the request's body, such as ``top_p``.
        reach: Where the model is; None for the usual endpoint.
        moment: Which question of which seat in which episode it is; no part of the question.
    """

    model: str
    turns: tuple[ChatMessage, ...]
    temperature: float = 0.0
    max_tokens: int = 0
    schema: Mapping[str, Any] | None = None
    sample: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    reach: EndpointConfig | None = None
    moment: str = ""

    @cached_property
    def key(self) -> str:
        """SHA-256 of the question as canonical JSON: where the store keeps its answer."""
        return hashlib.sha256(json.dumps(self.to_dict(), **_CANONICAL).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the question, without what is left as usual of ``body`` and ``reach``."""
        values = {own.name: getattr(self, own.name) for own in fields(self) if own.name != "moment"}
        values["reach"] = None if self.reach is None else asdict(self.reach)
        return {name: value for name, value in values.items() if value or name not in ("body", "reach")}

    @property
    def link(self) -> str:
        """What steps of records call the exchange: the beginning of its key, and its moment."""
        return make_link(self.key, self.moment)

    @property
    def seed(self) -> int:
        """Sampling seed, 31 bits."""
        return int.from_bytes(hashlib.sha256(self.sample.encode()).digest()[:4], "big") >> 1


def make_link(key: str, moment: str) -> str:
    """Return what an exchange is called."""
    return f"{key[:16]}@{moment}"


@dataclass(frozen=True)
class Reply:
    """What came back.

    Attributes:
        text: The answer; empty if there is none.
        finish: ``"stop"``; ``"length"`` if it was cut off; ``"refused"`` if the model or a filter declined;
            ``"rejected"`` if the endpoint would not take the question, for example because it is too long.
        prompt_tokens: As the endpoint counts them.
        completion_tokens: Likewise.
        seconds: Duration of the successful attempt.
        attempts: Attempts, failed ones included.
        detail: Why it was refused or rejected.
        reasoning: Thoughts that the endpoint sends apart from the answer.
        cached_tokens: Those of ``prompt_tokens`` that the endpoint had in its cache.
    """

    text: str
    finish: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    attempts: int = 1
    detail: str = ""
    reasoning: str = ""
    cached_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of question and answer."""
        return self.prompt_tokens + self.completion_tokens


class Client(Protocol):
    """Whoever answers questions."""

    def complete(self, request: Request) -> Reply:
        """Answer.

        Raises:
            EndpointError: If no answer can be had.
        """


class UnusableReply(Exception):
    """A question got no answer that can be used, however often it was asked."""


class EndpointError(OSError):
    """No answer can be had: the endpoint is down, refuses the key, or does not know the model.

    It ends the evaluation, whose finished episodes are kept: going on without the model would measure nothing.
    """


class Spent(EndpointError):
    """The budget of the run is used up; a comparison ends with it, too."""
