"""Batches in OpenAI's format: requests written to a file, and replies read from the file that a provider returns.

A request is one line with ``custom_id``, ``method``, ``url`` and ``body``; a reply one with ``custom_id``, and either
``response`` with ``status_code`` and ``body``, or ``error``. Source: OpenAI's batch API.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from collab_overcooked.io import schema
from collab_overcooked.policies.llm.client import EndpointError, Reply, Request
from collab_overcooked.policies.llm.dialects import TOO_STRICT, Dialect, parse_completion, sanitize

URL = "/v1/chat/completions"
OK = 200
_LINE = schema.object_of(
    {"custom_id": schema.name},
    {
        "response": schema.nullable(
            schema.object_of({"status_code": schema.integer(0, 999), "body": schema.mapping_of(schema.unchecked)})
        ),
    },
)


class Unanswered(EndpointError):
    """The batch has no reply to a request."""


class BatchClient:
    """Client that replies from the file of a batch, and collects the requests that it cannot reply to. Thread-safe.

    Features that a model turned out not to support are left out of the requests that are written, as ``Endpoint``
    does: a request that was rejected because of one of them counts as unanswered.

    Args:
        answers: JSONL file of replies; None for none.

    Attributes:
        missing: Requests without a reply, by link, in the order in which they were asked for.
        used: Links of the replies that were used.

    Raises:
        ValueError: If a line cannot be read.
        OSError: If the file cannot be read.
    """

    def __init__(self, answers: Path | None = None) -> None:
        self.path = answers
        self.missing: dict[str, Request] = {}
        self.used: set[str] = set()
        self._answers: dict[str, list[Mapping[str, Any]]] = {}
        self._dialects: dict[str, Dialect] = {}
        self._lock = threading.Lock()
        if answers is not None:
            for line in _read(answers):
                self._answers.setdefault(line["custom_id"], []).append(line.get("response") or {})

    def complete(self, request: Request) -> Reply:
        """Return the reply of the batch.

        Raises:
            Unanswered: If there is none yet; the request is collected.
        """
        with self._lock:
            reply = None
            for response in self._answers.get(request.link, ()):  # later batches follow earlier ones
                self.used.add(request.link)
                reply = self._reply(request, response)
            if reply is not None:
                return reply
            self.missing[request.link] = request
        raise Unanswered(f"{self.path or 'batch'}: no reply to the request {request.link} to {request.model!r}")

    def _reply(self, request: Request, response: Mapping[str, Any]) -> Reply | None:
        """Return the reply of one response; None if the request has to be sent again."""
        status, body = response.get("status_code"), response.get("body", {})
        if status == OK:
            from openai.types.chat import ChatCompletion

            try:
                return parse_completion(ChatCompletion.construct(**body), request, 0.0)
            except ValueError as error:
                raise EndpointError(f"{self.path}, {request.link}: {error}") from None
        if status not in TOO_STRICT:
            return None
        complaint = sanitize(json.dumps(body.get("error", body)), 300)
        dialect = self._dialects.get(request.model, Dialect())
        if Dialect().after(complaint, request.schema is not None) is None:
            return Reply("", "rejected", detail=complaint)
        self._dialects[request.model] = dialect.after(complaint, request.schema is not None) or dialect
        return None

    def check(self) -> None:
        """Check that the replies belong to this run.

        Raises:
            ValueError: If requests are left and none of the replies was used.
        """
        if self._answers and self.missing and not self.used:
            raise ValueError(
                f"{self.path}: none of the {len(self._answers)} replies belongs to a request of this run; use the "
                "options, version and prompts with which the requests were written"
            )

    def write(self, path: Path) -> None:
        """Write the collected requests.

        Raises:
            OSError: If the file cannot be written.
        """
        with path.open("w", encoding="utf-8") as file:
            for link, request in self.missing.items():
                arguments = self._dialects.get(request.model, Dialect()).arguments(request)
                body = {**arguments, **arguments.pop("extra_body", {})}
                line = {"custom_id": link, "method": "POST", "url": URL, "body": body}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _read(path: Path) -> list[dict[str, Any]]:
    lines = []
    with path.open("rb") as file:
        for number, data in enumerate(file, start=1):
            try:
                line = schema.parse_json(data)
                _LINE(line)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: not a reply of a batch: {error}") from None
            lines.append(line)
    return lines
