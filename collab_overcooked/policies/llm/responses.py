"""OpenAI's Responses API."""

from __future__ import annotations

from typing import Any, Literal

from collab_overcooked.policies.llm.chat import ChatTransport
from collab_overcooked.policies.llm.dialects import (
    MAX_ANSWER,
    Dialect,
    MalformedAnswer,
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
from collab_overcooked.policies.llm.unusable import CUT_BY_SERVER


class ResponsesTransport(ChatTransport):
    """Responses over HTTP."""

    def send(self, request: Request, dialect: Dialect) -> Any:
        return self._client.responses.create(**response_arguments(request, dialect))

    def parse(self, answer: object, request: Request, seconds: float) -> Reply:
        return parse_response(answer, request, seconds)


def response_arguments(request: Request, dialect: Dialect) -> dict[str, Any]:
    """Return a request as arguments of ``responses.create``; the API has no seed."""
    arguments: dict[str, Any] = {"model": request.model, "input": dialect.messages(request, "input_"), "store": False}
    if request.max_tokens:
        arguments["max_output_tokens"] = request.max_tokens
    if dialect.temperature:
        arguments["temperature"] = request.temperature
    if request.schema is not None and dialect.structure != "text":
        form = {"type": "json_schema", "name": "answer", "strict": True, "schema": dict(request.schema)}
        arguments["text"] = {"format": form if dialect.structure == "schema" else {"type": "json_object"}}
    if request.tools:
        arguments["tools"] = [{"type": "function", "strict": True, **tool} for tool in request.tools]
        arguments |= {"tool_choice": "required"} if dialect.required else {}
    body = dict(request.body)
    if effort := body.pop("reasoning_effort", None):
        arguments["reasoning"] = {"effort": effort}
    return arguments | ({"extra_body": body} if body else {})


def parse_response(answer: object, request: Request, seconds: float) -> Reply:
    """Return the reply in a response.

    Raises:
        ValueError: The answer is not a response.
        MalformedAnswer: It lacks the list of output items.
    """
    if isinstance(answer, str):  # a page from a proxy
        check_not_streamed(answer)
        raise ValueError(f"no response but a text: {' '.join(answer[:MAX_ANSWER].split())}")
    values = json_of(answer)
    if error := values.get("error"):
        message = error.get("message", error) if isinstance(error, dict) else error
        raise ValueError(f"an error instead of an answer: {message}")
    if not isinstance(values.get("output"), list):
        raise MalformedAnswer("an answer without a list of output items")
    by_type: dict[str, list[dict[str, Any]]] = {}
    for item in _objects(values, "output"):
        for part in (item, *_objects(item, "content")):
            by_type.setdefault(str(part.get("type", "")), []).append(part)
    calls = [(str(call.get("name")), str(call.get("arguments"))) for call in by_type.get("function_call", ())]
    spoken = "".join(str(part.get("text", "")) for part in by_type.get("output_text", ()))
    refusal = "".join(str(part.get("refusal", "")) for part in by_type.get("refusal", ()))
    cut = object_at(values, "incomplete_details").get("reason")
    refused = bool(refusal) or cut == "content_filter"
    text = sanitize(calls_text(calls) if calls else spoken)[-MAX_ANSWER:]
    usage = object_at(values, "usage")
    apart = thoughts_apart(usage, "input_tokens", "output_tokens")
    thoughts = [part.get("text", "") for item in by_type.get("reasoning", ()) for part in _objects(item, "summary")]
    finish: Literal["length", "stop"] = "length" if cut == "max_output_tokens" else "stop"
    ended = CUT_BY_SERVER if is_cut_by_server(request, finish, usage.get("output_tokens")) else ""
    return Reply(
        text="" if refused else text,
        finish="refused" if refused else finish,
        prompt_tokens=token_count(usage, "input_tokens", sum(len(turn.content) for turn in request.turns)),
        completion_tokens=token_count(usage, "output_tokens", len(text)) + apart,
        seconds=seconds,
        detail=sanitize(refusal)[:500] or ended,
        reasoning=sanitize("\n".join(map(str, thoughts)))[-MAX_ANSWER:],
        cached_tokens=token_count(object_at(usage, "input_tokens_details"), "cached_tokens", 0),
        reasoning_tokens=token_count(object_at(usage, "output_tokens_details"), "reasoning_tokens", 0) or apart,
    )


def _objects(values: dict[str, Any], name: str) -> list[dict[str, Any]]:
    listed = values.get(name)
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
