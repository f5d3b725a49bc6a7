"""Requests to language models and their replies, independent of the server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from collab_overcooked.policies.llm.images import Picture

MAX_TOKENS = 10**7  # of one request or reply; larger counts reported by an endpoint are mistakes
_LATER = ("body", "reach", "tools", "pictures")  # fields that leave keys of requests without them as they were
_CANONICAL: Mapping[str, Any] = {"sort_keys": True, "ensure_ascii": True, "separators": (",", ":")}


class ChatMessage(NamedTuple):
    """Message of a chat: role ``"system"``, ``"user"`` or ``"assistant"``, and content."""

    role: str
    content: str


@dataclass(frozen=True)
class EndpointConfig:
    """Endpoint of one model, if it differs from the default.

    Attributes:
        base_url: OpenAI-compatible endpoint; empty for the default.
        key_variable: Environment variable with its key; empty for the default.
        local: GGUF file that is served in this process instead.
        headers: Names and values of further HTTP headers; a value ``$NAME`` is read from the environment, so that no
            secret is written anywhere.
        api: One of ``transports.APIS``; empty to choose by the model's name, see ``connection.Router``.
    """

    base_url: str = ""
    key_variable: str = ""
    local: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    api: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, without an empty ``api``."""
        values = asdict(self)
        return values if self.api else {name: value for name, value in values.items() if name != "api"}


@dataclass(frozen=True)
class Request:
    """Request to a model.

    Attributes:
        model: Name of the model at the endpoint.
        turns: Messages of the chat.
        temperature: Sampling temperature; 0 for the most likely reply.
        max_tokens: Maximum length of the reply; 0 for the endpoint's limit.
        schema: JSON schema of the reply, enforced if the endpoint supports it; None for free text.
        sample: Distinguishes equal requests with independent samples; its hash is sent as the sampling seed.
        body: Further fields of the request's body, such as ``top_p``.
        reach: Endpoint of the model; None for the default.
        tools: Tools of which the reply must call some: ``name``, ``description`` and ``parameters``, a JSON schema.
        pictures: Pictures, which belong to the first message of the user.
        position: Episode, seat and count of the request; not part of the request itself.
    """

    model: str
    turns: tuple[ChatMessage, ...]
    temperature: float = 0.0
    max_tokens: int = 0
    schema: Mapping[str, Any] | None = None
    sample: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    reach: EndpointConfig | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    pictures: tuple[Picture, ...] = ()
    position: str = ""

    @cached_property
    def key(self) -> str:
        """SHA-256 of the request as canonical JSON: the store's key of its reply."""
        return hashlib.sha256(json.dumps(self.to_dict(), **_CANONICAL).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the request, without default values of later fields; pictures by their digests."""
        values = {field_.name: getattr(self, field_.name) for field_ in fields(self) if field_.name != "position"}
        values["reach"] = None if self.reach is None else self.reach.to_dict()
        values["pictures"] = [picture.digest for picture in self.pictures]
        return {name: value for name, value in values.items() if value or name not in _LATER}

    @property
    def link(self) -> str:
        """Link to the exchange in steps of records: prefix of its key, and its position in the episode."""
        return make_link(self.key, self.position)

    @property
    def seed(self) -> int:
        """Sampling seed, 31 bits."""
        return int.from_bytes(hashlib.sha256(self.sample.encode()).digest()[:4], "big") >> 1


def make_link(key: str, position: str) -> str:
    """Return the link to an exchange."""
    return f"{key[:16]}@{position}"


@dataclass(frozen=True)
class Reply:
    """Reply of a model.

    Attributes:
        text: Text of the reply; may be empty. Calls of tools are written as JSON, see ``tools.calls_text``.
        finish: ``"stop"``; ``"length"`` if truncated; ``"refused"`` if the model or a filter declined; ``"rejected"``
            if the endpoint did not accept the request, for example because it is too long.
        prompt_tokens: Number of prompt tokens, as counted by the endpoint.
        completion_tokens: Number of completion tokens, as counted by the endpoint.
        seconds: Duration of the successful attempt.
        attempts: Number of attempts, including failed ones.
        detail: Reason of a refusal or rejection.
        reasoning: Reasoning text, if the endpoint sends it separately.
        cached_tokens: Number of cached prompt tokens.
        reasoning_tokens: Number of completion tokens that are reasoning, which may not be in ``reasoning``.
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
    reasoning_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Number of prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens


class Client(Protocol):
    """A source of replies."""

    def complete(self, request: Request) -> Reply:
        """Return the reply to a request.

        Raises:
            EndpointError: If there is no reply.
        """


class UnusableReply(Exception):
    """No usable reply to a request after all repetitions."""


class EndpointError(OSError):
    """No reply from the endpoint: it is down, rejects the key, or does not know the model.

    It ends the evaluation, whose finished episodes are kept: continuing without the model would measure nothing.
    """


class Spent(EndpointError):
    """The budget of the run is used up; also ends a comparison."""
