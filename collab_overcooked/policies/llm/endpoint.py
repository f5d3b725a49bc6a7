"""Any OpenAI-compatible endpoint, with patience: retries, backoff, a rate limit, and its dialect found out.

Only plain chat completions are used, without streaming and without tool calls, so that small servers will do.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from collab_overcooked.policies.llm.answers import clean
from collab_overcooked.policies.llm.client import EndpointError, Reply, Request
from collab_overcooked.policies.llm.redaction import redact

OPENAI = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
MAX_ANSWER = 50_000  # characters of an answer that are kept
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)  # statuses that may be better next time
TOO_STRICT = (400, 413, 422)  # statuses of questions that the endpoint does not take as they are


@dataclass(frozen=True)
class Patience:
    """How long to insist.

    Attributes:
        attempts: Attempts for one question.
        timeout: Seconds for one attempt.
        first_wait: Seconds before the second attempt; doubled each time.
        longest_wait: Seconds between two attempts at most.
    """

    attempts: int = 7
    timeout: float = 120.0
    first_wait: float = 1.0
    longest_wait: float = 60.0


class RateLimit:
    """Spreads questions of all threads evenly: at most so many a minute.

    Args:
        per_minute: Questions; None for no limit.
        clock: Seconds, monotonic.
        sleep: Waits for some seconds.
    """

    def __init__(
        self,
        per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._free = 0.0  # when the next question may go out

    def wait(self) -> None:
        """Wait for one's turn."""
        with self._lock:
            now = self._clock()
            start = max(now, self._free)
            self._free = start + self._gap
        if start > now:
            self._sleep(start - now)

    def hold(self, seconds: float) -> None:
        """Let nobody ask for a while: the endpoint said so."""
        with self._lock:
            self._free = max(self._free, self._clock() + seconds)


@dataclass(frozen=True)
class Dialect:
    """What an endpoint understands of a request for one model; found out from its complaints.

    Attributes:
        structure: ``"schema"``, ``"object"`` (any JSON) or ``"text"``.
        limit: Name of the parameter for the longest answer.
        temperature: Whether a temperature may be given.
        seed: Whether a seed may be given.
    """

    structure: str = "schema"
    limit: str = "max_tokens"
    temperature: bool = True
    seed: bool = True

    def after(self, complaint: str, structured: bool) -> Dialect | None:
        """Return a simpler dialect that answers a complaint; None if there is none."""
        words = complaint.lower()
        if "max_tokens" in words and self.limit == "max_tokens" and "max_completion_tokens" in words:
            return replace(self, limit="max_completion_tokens")
        if "temperature" in words and self.temperature:
            return replace(self, temperature=False)
        if "seed" in words and self.seed:
            return replace(self, seed=False)
        about_form = any(word in words for word in ("response_format", "schema", "json", "grammar", "structured"))
        if structured and self.structure != "text" and about_form:
            return replace(self, structure="object" if self.structure == "schema" else "text")
        return None

    def arguments(self, request: Request) -> dict[str, Any]:
        """Return a request in this dialect."""
        arguments: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": turn.role, "content": turn.content} for turn in request.turns],
            self.limit: request.max_tokens,
        }
        if self.temperature:
            arguments["temperature"] = request.temperature
        if self.seed:
            arguments["seed"] = request.seed
        if request.schema is not None and self.structure == "schema":
            form = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": form}
        elif request.schema is not None and self.structure == "object":
            arguments["response_format"] = {"type": "json_object"}
        return arguments


class Endpoint:
    """Asks a server over HTTP. Safe for use from several threads.

    Args:
        base_url: Where it is; None for ``OPENAI_BASE_URL`` from the environment, or OpenAI's own.
        key_variable: Environment variable with the key; the key is never stored or shown.
        patience: How long to insist.
        per_minute: Questions a minute; None for no limit.
        stopped: When set, nothing more is asked.
        sleep: Waits for some seconds; None for waiting until ``stopped`` is set at most.

    Raises:
        ValueError: If the extra ``llm`` is not installed, or OpenAI's own endpoint is meant and no key is set.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key_variable: str = KEY_VARIABLE,
        patience: Patience | None = None,
        per_minute: float | None = None,
        stopped: threading.Event | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise ValueError("language models need the extra llm: pip install 'collab-overcooked[llm]'") from None
        url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        key = os.environ.get(key_variable, "")
        if not key and url == OPENAI:
            raise ValueError(f"set the environment variable {key_variable}, or give --base-url of another endpoint")
        self.address = plain_address(url)
        self.patience = patience or Patience()
        self._openai, self._secrets = openai, [key] if key else []
        self._client = openai.OpenAI(base_url=url, api_key=key or "none", timeout=self.patience.timeout, max_retries=0)
        self._stopped = stopped or threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._rate = RateLimit(per_minute, sleep=self._sleep)
        self._dialects: dict[str, Dialect] = {}
        self._answered: set[str] = set()  # models that have answered at least once

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def complete(self, request: Request) -> Reply:
        """Ask until there is an answer or patience ends.

        Raises:
            EndpointError: If no answer can be had; the message names address and reason, never the key.
        """
        trouble, wait, attempt = "", self.patience.first_wait, 0
        while attempt < self.patience.attempts:
            attempt += 1
            self._rate.wait()
            if self._stopped.is_set():
                raise self._give_up(request, "stopped")
            try:
                reply = replace(self._ask(request), attempts=attempt)
                self._answered.add(request.model)
                return reply
            except self._openai.APIStatusError as error:
                trouble = self._words(error)
                if error.status_code in TOO_STRICT:
                    dialect = self._dialect(request.model).after(trouble, request.schema is not None)
                    if dialect is not None:
                        self._dialects[request.model] = dialect
                        attempt -= 1  # the number of dialects is bounded
                        continue
                    return self._turned_down(request, trouble, attempt)
                if error.status_code not in AGAIN:
                    raise self._give_up(request, trouble) from None
                wait = max(wait, _retry_after(error))
                if error.status_code == 429:
                    self._rate.hold(min(wait, self.patience.longest_wait))
            except (self._openai.APIError, ValueError, AttributeError, TypeError, IndexError) as error:
                trouble = self._words(error)  # timeouts, broken connections, answers that are no chat completion
            if attempt < self.patience.attempts:
                self._sleep(min(wait, self.patience.longest_wait) * random.uniform(0.75, 1.0))
                wait *= 2
        raise self._give_up(request, f"{trouble}; gave up after {attempt} attempts")

    def _ask(self, request: Request) -> Reply:
        begin = time.perf_counter()
        answer = self._client.chat.completions.create(**self._dialect(request.model).arguments(request))
        seconds = round(time.perf_counter() - begin, 3)
        choice = answer.choices[0]
        text = redact(clean(choice.message.content or "")[:MAX_ANSWER], self._secrets)
        refusal = getattr(choice.message, "refusal", None) or ""
        refused = bool(refusal) or choice.finish_reason == "content_filter"
        usage = getattr(answer, "usage", None)
        return Reply(
            text="" if refused else text,
            finish="refused" if refused else "length" if choice.finish_reason == "length" else "stop",
            prompt_tokens=_count(usage, "prompt_tokens", sum(len(turn.content) for turn in request.turns)),
            completion_tokens=_count(usage, "completion_tokens", len(text)),
            seconds=seconds,
            detail=redact(clean(str(refusal))[:500], self._secrets),
        )

    def _dialect(self, model: str) -> Dialect:
        return self._dialects.get(model, Dialect())

    def _turned_down(self, request: Request, trouble: str, attempts: int) -> Reply:
        """Count a question that is too long or filtered as unanswered; but who never answered is set up wrongly."""
        if request.model not in self._answered:
            raise self._give_up(request, trouble)
        return Reply("", "rejected", attempts=attempts, detail=trouble)

    def _give_up(self, request: Request, trouble: str) -> EndpointError:
        return EndpointError(f"{self.address}, model {request.model!r}: {trouble}")

    def _words(self, error: Exception) -> str:
        status = getattr(error, "status_code", None)
        words = " ".join(clean(str(error)).split())[:300] or type(error).__name__
        return redact(f"status {status}: {words}" if status else words, self._secrets)


def _retry_after(error: Any) -> float:
    """Return the seconds that the endpoint asks to wait, 0 if it does not say."""
    try:
        return max(0.0, float(error.response.headers.get("retry-after", 0)))
    except ValueError:  # a date
        return 0.0


def _count(usage: Any, name: str, characters: int) -> int:
    """Return a token count; where the endpoint gives none, four characters are taken for one."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and value >= 0 else -(-characters // 4)


def plain_address(url: str) -> str:
    """Return an address without what may be secret: user, password, query.

    Raises:
        ValueError: If it is no address of a web server.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base-url must be an address such as http://127.0.0.1:8000/v1, not {redact(url)!r}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return urlunsplit((parts.scheme, f"{host}:{parts.port}" if parts.port else host, parts.path, "", ""))
