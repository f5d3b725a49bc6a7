"""Ways to reach a model: OpenAI's Chat Completions and Responses APIs; other providers are in ``providers``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from collab_overcooked.policies.llm.client import Reply, Request
from collab_overcooked.policies.llm.dialects import Dialect, StreamedAnswer, parse_completion
from collab_overcooked.policies.llm.responses import parse_response, response_arguments

APIS = CHAT, RESPONSES, PROVIDERS = "chat", "responses", "providers"
MAX_BODY = 10_000_000  # bytes of a reply; a hundredth of it if compressed


class Transport(Protocol):
    """Sends one request, without retries."""

    address: str  # Where the model is, for messages

    def send(self, request: Request, dialect: Dialect) -> Any:
        """Send a request and return the answer in the form of the API.

        Raises:
            openai.APIError: If there is none.
        """

    def parse(self, answer: Any, request: Request, seconds: float) -> Reply:
        """Return the reply in an answer.

        Raises:
            ValueError: If it is no answer of the API.
        """

    def close(self) -> None:
        """Close the connections."""


class ChatTransport:
    """OpenAI's Chat Completions API, which most servers speak."""

    def __init__(self, url: str, key: str, headers: Mapping[str, str], timeout: float) -> None:
        import openai

        web = openai.DefaultHttpxClient(base_url=url, event_hooks={"response": [partial(_hasten, timeout)]})
        self.address = url
        self._client: Any = openai.OpenAI(
            base_url=url,
            api_key=key or "none",
            timeout=timeout,
            max_retries=0,
            http_client=web,
            default_headers={"Accept-Encoding": "identity", **headers},  # compressed bodies have an unknown size
        )

    def send(self, request: Request, dialect: Dialect) -> Any:
        """Send a request."""
        return self._client.chat.completions.create(**dialect.arguments(request))

    def parse(self, answer: Any, request: Request, seconds: float) -> Reply:
        """Return the reply in a chat completion."""
        return parse_completion(answer, request, seconds)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class ResponsesTransport(ChatTransport):
    """OpenAI's Responses API."""

    def send(self, request: Request, dialect: Dialect) -> Any:
        return self._client.responses.create(**response_arguments(request, dialect))

    def parse(self, answer: Any, request: Request, seconds: float) -> Reply:
        return parse_response(answer, request, seconds)


def _hasten(seconds: float, response: Any) -> None:
    if "text/event-stream" in response.headers.get("content-type", ""):
        raise StreamedAnswer("an answer of the type text/event-stream")
    stream, end = response.stream, time.monotonic() + seconds
    packed = response.headers.get("content-encoding", "identity") != "identity"
    kind: Any = type(stream)  # defined in different packages by versions of the client

    class InTime(kind):
        def __init__(self) -> None:
            """Skip the parent's initialisation; all state is in the closure."""

        def __iter__(self) -> Iterator[bytes]:
            left = MAX_BODY // 100 if packed else MAX_BODY
            for piece in stream:
                left -= len(piece)
                if left < 0:
                    raise ValueError("the answer is too long")
                if time.monotonic() > end:
                    raise TimeoutError("the answer takes too long")
                yield piece

        def close(self) -> None:
            stream.close()

    response.stream = InTime()
