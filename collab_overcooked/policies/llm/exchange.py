"""Exchanges with language models: requests and replies, independent of the server, and their errors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta, Struct

from collab_overcooked.io.structs import Count, Seconds
from collab_overcooked.policies.llm.images import Picture

MAX_TOKENS = 10**7  # of one request or reply; larger counts reported by an endpoint are mistakes
Tokens = Annotated[int, Meta(ge=0, le=MAX_TOKENS)]
_LATER = ("body", "reach", "tools", "pictures")  # fields that leave keys of requests without them as they were
_APART = ("position", "fixed")  # fields that are not part of the request itself
_CANONICAL: Mapping[str, Any] = {"sort_keys": True, "ensure_ascii": True, "separators": (",", ":")}


class ChatMessage(NamedTuple):
    """Message of a chat: role ``"system"``, ``"user"`` or ``"assistant"``, and content."""

    role: str
    content: str


@dataclass(frozen=True)
class EndpointConfig:
    """Endpoint of one model, if it differs from the default."""

    base_url: str = ""  # OpenAI-compatible endpoint; empty for the default
    key_variable: str = ""  # Environment variable with its key; empty for the default
    local: str = ""  # GGUF file that is served in this process instead
    # Names and values of further HTTP headers; a value ``$NAME`` is read from the environment, so that no secret is
    # written anywhere
    headers: tuple[tuple[str, str], ...] = ()
    api: str = ""  # One of ``client.TRANSPORTS``; empty to choose by the model's name, see ``client.is_provided``

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, without an empty ``api``."""
        values = asdict(self)
        return values if self.api else {name: value for name, value in values.items() if name != "api"}


@dataclass(frozen=True)
class Request:
    """Request to a model."""

    model: str  # Name of the model at the endpoint
    turns: tuple[ChatMessage, ...]  # Messages of the chat
    temperature: float = 0.0  # Sampling temperature; 0 for the most likely reply
    max_tokens: int = 0  # Maximum length of the reply; 0 for the endpoint's limit
    # JSON schema of the reply, enforced if the endpoint supports it; None for free text
    schema: Mapping[str, Any] | None = None
    sample: str = ""  # Distinguishes equal requests with independent samples; its hash is sent as the sampling seed
    body: Mapping[str, Any] = field(default_factory=dict)  # Further fields of the request's body, such as ``top_p``
    reach: EndpointConfig | None = None  # Endpoint of the model; None for the default
    # Tools of which the reply must call some: ``name``, ``description`` and ``parameters``, a JSON schema
    tools: tuple[Mapping[str, Any], ...] = ()
    pictures: tuple[Picture, ...] = ()  # Pictures, which belong to the first message of the user
    position: str = ""  # Episode, seat and count of the request; not part of the request itself
    # Number of the first messages that are the same in all requests of the episode, for the caches of providers; not
    # part of the request itself
    fixed: int = 0

    @cached_property
    def key(self) -> str:
        """SHA-256 of the request as canonical JSON: the store's key of its reply."""
        return hashlib.sha256(json.dumps(self.to_dict(), **_CANONICAL).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the request, without default values of later fields; pictures by their digests."""
        values = {field_.name: vars(self)[field_.name] for field_ in fields(self) if field_.name not in _APART}
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


class Reply(Struct, frozen=True, forbid_unknown_fields=True):
    """Reply of a model."""

    text: str  # Text of the reply; may be empty. Calls of tools are written as JSON, see ``tools.calls_text``.
    # ``"stop"``; ``"length"`` if truncated; ``"refused"`` if the model or a filter declined; ``"rejected"`` if the
    # endpoint did not accept the request, for example because it is too long
    finish: Literal["stop", "length", "refused", "rejected"] = "stop"
    prompt_tokens: Tokens = 0  # Number of prompt tokens, as counted by the endpoint
    completion_tokens: Tokens = 0  # Number of completion tokens, as counted by the endpoint
    seconds: Seconds = 0.0  # Duration of the successful attempt
    attempts: Count = 1  # Number of attempts, including failed ones
    detail: str = ""  # Reason of a refusal or rejection
    reasoning: str = ""  # Reasoning text, if the endpoint sends it separately
    cached_tokens: Tokens = 0  # Number of cached prompt tokens
    reasoning_tokens: Tokens = 0  # Number of completion tokens that are reasoning, which may not be in ``reasoning``

    @property
    def tokens(self) -> int:
        """Number of prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens


class UnusableReply(Exception):
    """No usable reply to a request after all repetitions."""


class EndpointError(OSError):
    """No reply from the endpoint: it is down, rejects the key, or does not know the model.

    It ends the evaluation, whose finished episodes are kept: continuing without the model would measure nothing.
    """


class Spent(EndpointError):
    """The budget of the run is used up; also ends a comparison."""
