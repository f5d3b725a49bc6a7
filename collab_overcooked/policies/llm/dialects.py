"""Requests to and responses of OpenAI-compatible endpoints: missing features, and chat completions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from json import JSONDecodeError
from typing import Any

from collab_overcooked.io.redaction import redact
from collab_overcooked.io.text import harmless
from collab_overcooked.policies.llm.exchange import MAX_TOKENS, ChatMessage, Request

MAX_ANSWER = 50_000  # maximum characters of a reply, of a longer one those at its end
TOO_STRICT = (400, 413, 422)  # status codes of requests that the endpoint does not accept in this form
STREAMED = "the endpoint streams its answers, which was not asked for (text/event-stream); turn streaming off there"
_EVENTS = re.compile(r"\s*(?:(?:event|id|retry|data)\s?:|:)[^\n]*(?:\n|\Z)")  # first line of a stream


PAGE = "the address answers with a page of HTML; the base-url of an OpenAI-compatible endpoint often ends in /v1"
_PAGE = re.compile(r"<!doctype html|<html\b", re.IGNORECASE)


class StreamedAnswer(ValueError):
    """Reply that is streamed although this was not requested."""


class MalformedAnswer(ValueError):
    """Reply that is not a chat completion; the message names the field."""


@dataclass(frozen=True)
class Dialect:
    """Request features that an endpoint supports for one model, detected from its error messages."""

    structure: str = "schema"  # ``"schema"``, ``"object"`` (any JSON) or ``"text"``
    limit: str = "max_tokens"  # Name of the parameter for the maximum reply length
    temperature: bool = True  # Whether a temperature is supported
    seed: bool = True  # Whether a seed is supported
    # Whether the system role is supported; otherwise its content is prepended to the first user message, and the roles
    # of user and assistant alternate
    system: bool = True
    required: bool = True  # Whether calls of tools can be required

    def after(self, complaint: str, structured: bool) -> Dialect | None:
        """Return a simpler dialect in response to an error message; None if there is none."""
        complaint_text = complaint.lower()
        if "max_tokens" in complaint_text and self.limit == "max_tokens" and "max_completion_tokens" in complaint_text:
            return replace(self, limit="max_completion_tokens")
        if "temperature" in complaint_text and self.temperature:
            return replace(self, temperature=False)
        if "seed" in complaint_text and self.seed:
            return replace(self, seed=False)
        if is_about_roles(complaint_text) and self.system:
            return replace(self, system=False)
        if "tool_choice" in complaint_text and self.required:
            return replace(self, required=False)
        about_form = any(
            word in complaint_text for word in ("response_format", "schema", "json", "grammar", "structured")
        )
        if structured and self.structure != "text" and about_form:
            return replace(self, structure="object" if self.structure == "schema" else "text")
        return None

    def turns(self, request: Request) -> Sequence[ChatMessage]:
        """Return the chat, without a system role if unsupported."""
        first, *others = request.turns
        if self.system or first.role != "system":
            return request.turns
        merged = [ChatMessage("user", first.content)]
        for turn in others:
            if turn.role == merged[-1].role:
                merged[-1] = ChatMessage(turn.role, f"{merged[-1].content}\n\n{turn.content}")
            else:
                merged.append(turn)
        return merged

    def messages(self, request: Request, kind: str = "", url: Callable[[str], Any] = str) -> list[dict[str, Any]]:
        """Return the chat as JSON values, with pictures in the first message of the user.

        Args:
            request: The request.
            kind: Prefix of the types of its parts.
            url: Function from the URL of a picture to its value in a part.
        """
        messages = [{"role": turn.role, "content": turn.content} for turn in self.turns(request)]
        if request.pictures:
            first = next(message for message in messages if message["role"] == "user")
            pictures = [
                {"type": f"{kind}image{'' if kind else '_url'}", "image_url": url(p.url)} for p in request.pictures
            ]
            first["content"] = [{"type": f"{kind}text", "text": first["content"]}, *pictures]  # type: ignore[assignment]
        return messages


def json_of(answer: object) -> dict[str, Any]:
    """Return an answer of a client, a model of pydantic, as JSON values; empty if it is no object."""
    from pydantic import BaseModel  # comes with the clients

    values = answer.model_dump(warnings=False) if isinstance(answer, BaseModel) else answer
    return values if isinstance(values, dict) else {}


def object_at(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object in an answer; empty if it is missing or none."""
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def thoughts_apart(
    usage: Mapping[str, Any], prompt_name: str = "prompt_tokens", name: str = "completion_tokens"
) -> int:
    """Return the tokens of the total that are in neither of the two counts: reasoning, which is billed as well."""
    total, prompt, completion = (usage.get(field) for field in ("total_tokens", prompt_name, name))
    if not (isinstance(total, int) and isinstance(prompt, int) and isinstance(completion, int)):
        return 0
    return min(max(0, total - prompt - completion), MAX_TOKENS)


def is_page(error: BaseException | None) -> bool:
    """Return whether an error or its cause is an answer that is an HTML page."""
    while error is not None:
        text = error.doc if isinstance(error, JSONDecodeError) else str(error)
        if _PAGE.search(text):
            return True
        error = error.__cause__
    return False


def check_not_streamed(text: str) -> None:
    """Raise an error if a body is a stream of events."""
    if _EVENTS.match(text):
        raise StreamedAnswer(" ".join(text[:MAX_ANSWER].split()))


def is_streamed(error: BaseException | None) -> bool:
    """Return whether an error or its cause is a streamed answer."""
    while error is not None and not isinstance(error, StreamedAnswer):
        if isinstance(error, JSONDecodeError) and _EVENTS.match(error.doc):
            return True
        error = error.__cause__
    return error is not None


def is_about_roles(complaint: str) -> bool:
    """Return whether an error message is about the roles of a chat; its wording depends on the chat template."""
    complaint_text = complaint.lower()
    if re.search(r"roles? must alternate|must start with (?:a )?user|unexpected (?:message )?role", complaint_text):
        return True
    return "system" in complaint_text and (
        "role" in complaint_text or "instruction" in complaint_text.partition("system")[2]
    )


def complaint_of(body: object) -> str:
    """Return the reason in the body of a refused request, whose shape depends on the server.

    Args:
        body: The body or a part of it: ``{"error": {"message": ...}}`` (OpenAI), ``{"error": text}`` (TGI),
            ``{"detail": [{"loc": ..., "msg": ...}]}`` (FastAPI), or a text.
    """
    if isinstance(body, list):
        return "; ".join(filter(None, map(complaint_of, body)))
    if not isinstance(body, dict):
        return "" if body is None else str(body)
    place = body.get("loc")
    where = ".".join(map(str, place)) + ": " if isinstance(place, list) else ""
    for name in ("message", "msg", "error", "detail", "errors", "title"):
        if reason := complaint_of(body.get(name)):
            return where + reason
    return json.dumps(body, ensure_ascii=False) if body else ""


def is_cut_by_server(request: Request, finish: str, tokens: object) -> bool:
    """Return whether an answer ends with the context or a limit of the server, before the limit of the request.

    Args:
        request: The request.
        finish: Why the answer ends.
        tokens: Tokens of the answer that the server has counted.
    """
    if finish != "length":
        return False
    counted = isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0
    return not request.max_tokens or (counted and tokens < 0.9 * request.max_tokens)  # type: ignore[operator]


def token_count(usage: Mapping[str, Any], name: str, characters: int) -> int:
    """Parse a token count, a number or text; if it is invalid, estimate four characters per token."""
    value = usage.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:20])
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS:
        return value
    return -(-characters // 4)


def sanitize(text: str) -> str:
    """Return a sanitized text; truncate it after this, so that no partial key remains."""
    return redact(harmless(text))
