"""OpenAI's Chat Completions API, which most servers speak."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from collab_overcooked.policies.llm.dialects import (
    MAX_ANSWER,
    Dialect,
    MalformedAnswer,
    StreamedAnswer,
    check_not_streamed,
    is_cut_by_server,
    json_of,
    object_at,
    sanitize,
    thoughts_apart,
    token_count,
)
from collab_overcooked.policies.llm.exchange import Reply, Request
from collab_overcooked.policies.llm.tools import calls_text
from collab_overcooked.policies.llm.transport import Transport
from collab_overcooked.policies.llm.unusable import CUT_BY_SERVER, UNASKED_CALLS

MAX_BODY = 10_000_000  # bytes of a reply; a hundredth of it if compressed


class ChatTransport(Transport):
    """Chat completions over HTTP."""

    def _open(self, url: str, key: str) -> None:
        timeout = self.retry_policy.timeout
        web = self._openai.DefaultHttpxClient(base_url=url, event_hooks={"response": [partial(_hasten, timeout)]})
        self._client: Any = self._openai.OpenAI(
            base_url=url,
            api_key=key or "none",
            timeout=timeout,
            max_retries=0,
            http_client=web,
            default_headers={"Accept-Encoding": "identity", **self.headers},  # compressed bodies have an unknown size
        )

    def send(self, request: Request, dialect: Dialect) -> Any:
        return self._client.chat.completions.create(**chat_arguments(request, dialect))

    def parse(self, answer: object, request: Request, seconds: float) -> Reply:
        return parse_completion(answer, request, seconds)

    def close(self) -> None:
        super().close()
        self._client.close()


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


def chat_arguments(request: Request, dialect: Dialect) -> dict[str, Any]:
    """Return a request as arguments of ``chat.completions.create``."""
    messages = dialect.messages(request, url=lambda url: {"url": url})
    arguments: dict[str, Any] = {"model": request.model, "messages": messages}
    if request.max_tokens:
        arguments[dialect.limit] = request.max_tokens
    if dialect.temperature:
        arguments["temperature"] = request.temperature
    if dialect.seed:
        arguments["seed"] = request.seed
    if request.schema is not None and dialect.structure == "schema":
        form = {"name": "answer", "strict": True, "schema": dict(request.schema)}
        arguments["response_format"] = {"type": "json_schema", "json_schema": form}
    elif request.schema is not None and dialect.structure == "object":
        arguments["response_format"] = {"type": "json_object"}
    if request.tools:
        arguments["tools"] = [{"type": "function", "function": dict(tool)} for tool in request.tools]
        arguments |= {"tool_choice": "required"} if dialect.required else {}
    if request.body:
        arguments["extra_body"] = dict(request.body)
    return arguments


def parse_completion(answer: object, request: Request, seconds: float) -> Reply:
    """Return the reply in a chat completion.

    Raises:
        ValueError: The answer is not a chat completion.
    """
    if isinstance(answer, str):  # a page from a proxy
        check_not_streamed(answer)
        raise ValueError(f"no chat completion but a text: {' '.join(answer[:MAX_ANSWER].split())}")
    values = json_of(answer)
    choice, usage = _choice_of(values), object_at(values, "usage")
    message = choice["message"]
    asked = _calls_of(message)
    calls = asked if request.tools else []
    text = sanitize(calls_text(calls) if calls else _text_of(message))[-MAX_ANSWER:]
    refusal, finish = message.get("refusal") or "", choice.get("finish_reason")
    refused = bool(refusal) or finish == "content_filter"
    thoughts = (thought for name in ("reasoning_content", "reasoning") if isinstance(thought := message.get(name), str))
    apart = thoughts_apart(usage)
    return Reply(
        text="" if refused else text,
        finish="refused" if refused else "length" if finish == "length" else "stop",
        prompt_tokens=token_count(usage, "prompt_tokens", sum(len(turn.content) for turn in request.turns)),
        completion_tokens=token_count(usage, "completion_tokens", len(text)) + apart,
        seconds=seconds,
        detail=sanitize(str(refusal))[:500] or _detail(request, str(finish), usage, not text and bool(asked)),
        reasoning=sanitize(next(thoughts, ""))[-MAX_ANSWER:],
        cached_tokens=token_count(object_at(usage, "prompt_tokens_details"), "cached_tokens", 0)
        or token_count(usage, "prompt_cache_hit_tokens", 0),
        reasoning_tokens=token_count(object_at(usage, "completion_tokens_details"), "reasoning_tokens", 0) or apart,
    )


def _detail(request: Request, finish: str, usage: dict[str, Any], is_unasked_call: bool) -> str:
    if is_unasked_call:
        return UNASKED_CALLS
    return CUT_BY_SERVER if is_cut_by_server(request, finish, usage.get("completion_tokens")) else ""


def _choice_of(answer: dict[str, Any]) -> dict[str, Any]:
    choices, error = answer.get("choices"), answer.get("error")
    if error and not choices:
        message = error.get("message", error) if isinstance(error, dict) else error
        raise ValueError(f"an error instead of an answer: {message}")
    if not choices:
        raise MalformedAnswer("an answer without choices")
    if not isinstance(choices, list):
        raise MalformedAnswer(f"choices must be a list, not {type(choices).__name__}")
    choice = choices[0] if isinstance(choices[0], dict) else {}
    if "delta" in choice:
        raise StreamedAnswer("an answer in chunks")
    if "content" not in object_at(choice, "message"):
        raise MalformedAnswer(f"choices[0].message must be an object with content: {choices[0]!r:.80}")
    return choice


def _text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        content = [part.get("text") for part in content if part.get("type") == "text"]
        content = "".join(content) if all(isinstance(text, str) for text in content) else content
    if not isinstance(content, (str, type(None))):
        raise MalformedAnswer(f"choices[0].message.content must be a text, not {content!r:.80}")
    return content or ""


def _calls_of(message: dict[str, Any]) -> list[tuple[str, str]]:
    calls = message.get("tool_calls")
    functions = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [
        (str(function.get("name")), str(function.get("arguments")))
        for function in functions
        if isinstance(function, dict)
    ]
