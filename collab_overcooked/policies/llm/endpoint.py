"""OpenAI-compatible endpoints: retries, backoff, rate limit, and detection of the supported dialect.

Only plain chat completions are used, without streaming and without tool calls, so that small servers suffice.
"""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from email.utils import mktime_tz, parsedate_tz
from functools import partial
from json import JSONDecodeError
from typing import Any
from urllib.parse import urlsplit

from collab_overcooked.io.redaction import READ, redact, remember
from collab_overcooked.io.text import harmless
from collab_overcooked.policies.llm.client import MAX_TOKENS, ChatMessage, EndpointError, Reply, Request

OPENAI = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
MAX_ANSWER = 50_000  # maximum characters of a reply
MAX_BODY = 10_000_000  # bytes of a reply; a hundredth of it if compressed
SILENCE = 30.0  # seconds without a reply before the first notice; doubled for each further one
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)  # status codes of temporary errors
_BROKEN = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    RecursionError,
    TimeoutError,
)  # errors of unexpected bodies
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)  # permanent errors
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
TOO_STRICT = (400, 413, 422)  # status codes of requests that the endpoint does not accept in this form
MALFORMED_ATTEMPTS = 2  # malformed replies before giving up: waiting does not fix a faulty server


class MalformedAnswer(ValueError):
    """Reply that is not a chat completion; the message names the field."""


@dataclass(frozen=True)
class RetryPolicy:
    """Retry policy of requests.

    Attributes:
        attempts: Maximum number of attempts per request.
        timeout: Seconds per attempt until the reply is complete, including its headers.
        first_wait: Seconds before the second attempt; doubled each time.
        longest_wait: Maximum seconds between two attempts.
    """

    attempts: int = 7
    timeout: float = 120.0
    first_wait: float = 1.0
    longest_wait: float = 60.0


class RateLimit:
    """Rate limit that spreads the requests of all threads evenly.

    Args:
        per_minute: Maximum requests per minute; None for no limit.
        clock: Monotonic clock in seconds.
        sleep: Function that waits for a number of seconds.
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
        self._free = 0.0  # time at which the next request may be sent

    def wait(self) -> None:
        """Wait until a request may be sent."""
        with self._lock:
            now = self._clock()
            start = max(now, self._free)
            self._free = start + self._gap
        if start > now:
            self._sleep(start - now)

    def hold(self, seconds: float) -> None:
        """Block all requests for a time requested by the endpoint."""
        with self._lock:
            self._free = max(self._free, self._clock() + seconds)


@dataclass(frozen=True)
class Dialect:
    """Request features that an endpoint supports for one model, detected from its error messages.

    Attributes:
        structure: ``"schema"``, ``"object"`` (any JSON) or ``"text"``.
        limit: Name of the parameter for the maximum reply length.
        temperature: Whether a temperature is supported.
        seed: Whether a seed is supported.
        system: Whether the system role is supported; otherwise its content is prepended to the first user message.
    """

    structure: str = "schema"
    limit: str = "max_tokens"
    temperature: bool = True
    seed: bool = True
    system: bool = True

    def after(self, complaint: str, structured: bool) -> Dialect | None:
        """Return a simpler dialect in response to an error message; None if there is none."""
        complaint_text = complaint.lower()
        if "max_tokens" in complaint_text and self.limit == "max_tokens" and "max_completion_tokens" in complaint_text:
            return replace(self, limit="max_completion_tokens")
        if "temperature" in complaint_text and self.temperature:
            return replace(self, temperature=False)
        if "seed" in complaint_text and self.seed:
            return replace(self, seed=False)
        if _is_about_system_role(complaint_text) and self.system:
            return replace(self, system=False)
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
        content = f"{first.content}\n\n{others[0].content}" if others else first.content
        return ChatMessage("user", content), *others[1:]

    def arguments(self, request: Request) -> dict[str, Any]:
        """Return a request in this dialect."""
        arguments: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": turn.role, "content": turn.content} for turn in self.turns(request)],
        }
        if request.max_tokens:
            arguments[self.limit] = request.max_tokens
        if self.temperature:
            arguments["temperature"] = request.temperature
        if self.seed:
            arguments["seed"] = request.seed
        if request.schema is not None and self.structure == "schema":
            form = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": form}
        elif request.schema is not None and self.structure == "object":
            arguments["response_format"] = {"type": "json_object"}
        if request.body:
            arguments["extra_body"] = dict(request.body)
        return arguments


class Endpoint:
    """Client of a server over HTTP. Thread-safe.

    Args:
        base_url: URL of the server; by default ``OPENAI_BASE_URL`` from the environment, or OpenAI's.
        key_variable: Environment variable with the key; the key is never stored or displayed.
        patience: Retry policy.
        per_minute: Maximum requests per minute; None for no limit.
        stopped: When set, no further requests are sent.
        sleep: Function that waits for a number of seconds; by default it returns early when ``stopped`` is set.
        notify: Called with a message while a request waits.
        headers: Further headers of every request, which are never displayed.

    Raises:
        ValueError: If the extra ``llm`` is not installed, or no key is set for OpenAI's endpoint.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key_variable: str = KEY_VARIABLE,
        patience: RetryPolicy | None = None,
        per_minute: float | None = None,
        stopped: threading.Event | None = None,
        sleep: Callable[[float], object] | None = None,
        headers: Mapping[str, str] | None = None,
        notify: Callable[[str], None] = lambda message: None,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise ValueError("language models need the extra llm: pip install 'collab-overcooked[llm]'") from None
        url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        key = os.environ.get(key_variable, "")
        if not key and url == OPENAI:
            raise ValueError(f"set the environment variable {key_variable}, or pass --base-url of another endpoint")
        self.address = check_address(url)
        self.patience = patience or RetryPolicy()
        headers = dict(headers or {})
        self._openai: Any = openai
        secrets = [value for name, value in headers.items() if _SECRET_HEADER.search(name)]
        for secret in filter(None, (key, *secrets)):
            remember(secret)
        self._client = self._connect(url, key, headers)
        self._stopped = stopped or threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._rate = RateLimit(per_minute, sleep=self._sleep)
        self._lock = threading.Lock()
        self._dialects: dict[str, Dialect] = {}
        self._notify = notify
        self._answered: set[str] = set()  # models that have replied at least once
        self._lost: dict[str, str] = {}  # model that never replied -> reason why it is no longer used

    def _connect(self, url: str, key: str, headers: Mapping[str, str]) -> Any:
        timeout = self.patience.timeout
        web = self._openai.DefaultHttpxClient(base_url=url, event_hooks={"response": [partial(_hasten, timeout)]})
        return self._openai.OpenAI(
            base_url=url,
            api_key=key or "none",
            timeout=timeout,
            max_retries=0,
            http_client=web,
            default_headers={"Accept-Encoding": "identity", **headers},  # compressed bodies have an unknown size
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def complete(self, request: Request) -> Reply:
        """Send a request with retries.

        Raises:
            EndpointError: If there is no reply; the message names address and reason, never the key.
        """
        trouble, wait, attempt = "", self.patience.first_wait, 0
        while attempt < self.patience.attempts:
            attempt += 1
            self._take_turn(request)
            dialect = self._dialect(request.model)
            pause = min(wait, self.patience.longest_wait) * random.uniform(0.75, 1.0)
            try:
                reply = self._ask(request, dialect)
                self._answered.add(request.model)
                return replace(reply, attempts=attempt + reply.attempts - 1)
            except self._openai.APIStatusError as error:
                trouble = self._describe_error(error)
                if error.status_code in TOO_STRICT or (dialect.system and _is_about_system_role(trouble)):
                    if self._simplified(request, dialect, trouble):
                        attempt -= 1  # the number of dialects is bounded
                        continue
                    return self._turned_down(request, trouble, attempt)
                if error.status_code not in AGAIN or _QUOTA.search(trouble):
                    raise self._give_up(request, trouble) from None
                pause = max(pause, min(_retry_after(error), self.patience.longest_wait))
                if error.status_code == 429:
                    self._rate.hold(pause)
            except (self._openai.APIError, *_BROKEN) as error:
                trouble = self._describe_error(error)
            if attempt < self.patience.attempts:
                self._notify(f"{self._name(request)}: {trouble}; asking again in {pause:.0f} s, attempt {attempt + 1}")
                self._sleep(pause)
                wait *= 2
        raise self._give_up(request, f"{trouble}; gave up after {attempt} attempts")

    def _take_turn(self, request: Request) -> None:
        """Wait until a request may be sent; raise an error for a lost model or once stopped."""
        if request.model in self._lost:
            raise EndpointError(self._lost[request.model])
        self._rate.wait()
        if self._stopped.is_set():
            raise self._give_up(request, "stopped")

    def _ask(self, request: Request, dialect: Dialect) -> Reply:
        """Send a request, and repeat it immediately after a malformed reply.

        Raises:
            EndpointError: If replies are malformed.
        """
        for left in reversed(range(MALFORMED_ATTEMPTS)):
            try:
                return replace(self._reply(request, dialect), attempts=MALFORMED_ATTEMPTS - left)
            except MalformedAnswer as error:
                if not left:
                    raise self._give_up(request, f"malformed answer: {self._describe_error(error)}") from None
        raise AssertionError("unreachable")

    def _reply(self, request: Request, dialect: Dialect) -> Reply:
        begin = time.perf_counter()
        answer = self._answer_in_time(request, dialect.arguments(request))
        seconds = round(time.perf_counter() - begin, 3)
        choice = self._choice_of(answer)
        text = self._harmless(_text_of(choice.message), MAX_ANSWER)
        refusal = getattr(choice.message, "refusal", None) or ""
        refused = bool(refusal) or choice.finish_reason == "content_filter"
        usage = getattr(answer, "usage", None)
        return Reply(
            text="" if refused else text,
            finish="refused" if refused else "length" if choice.finish_reason == "length" else "stop",
            prompt_tokens=_count(usage, "prompt_tokens", sum(len(turn.content) for turn in request.turns)),
            completion_tokens=_count(usage, "completion_tokens", len(text)),
            seconds=seconds,
            detail=self._harmless(str(refusal), 500),
            reasoning=self._harmless(_thoughts_of(choice.message), MAX_ANSWER),
            cached_tokens=_count(getattr(usage, "prompt_tokens_details", None), "cached_tokens", 0),
        )

    def _answer_in_time(self, request: Request, arguments: Mapping[str, Any]) -> Any:
        """Return the endpoint's reply, with notices while waiting.

        Raises:
            TimeoutError: If the reply is incomplete at the deadline: the HTTP library's timeout restarts with every
                byte. Its thread is abandoned and ends with the connection.
        """
        reply: Future[Any] = Future()

        def ask() -> None:
            try:
                reply.set_result(self._client.chat.completions.create(**arguments))
            except Exception as error:  # raised again in the waiting thread
                reply.set_exception(error)

        threading.Thread(target=ask, daemon=True).start()
        begin, silence, timeout = time.monotonic(), SILENCE, self.patience.timeout
        while not reply.done():
            waited = time.monotonic() - begin
            if waited >= timeout:
                raise TimeoutError(f"no complete answer within {timeout:g} s")
            if waited >= silence:
                self._notify(f"{self._name(request)}: no answer for {waited:.0f} s; waiting")
                silence *= 2
            wait([reply], min(silence, timeout) - waited)
        return reply.result()

    def _choice_of(self, answer: Any) -> Any:
        """Return the first choice of an answer.

        Raises:
            ValueError: For anything but a chat completion.
            MalformedAnswer: If there is no choice with a message.
        """
        if isinstance(answer, str):  # a page from a proxy
            raise ValueError(f"no chat completion but a text: {' '.join(answer[:MAX_ANSWER].split())}")
        choices, error = getattr(answer, "choices", None), getattr(answer, "error", None)
        if error and not choices:
            message = error.get("message", error) if isinstance(error, dict) else error
            raise ValueError(f"an error instead of an answer: {message}")
        if not choices:
            raise MalformedAnswer("an answer without choices")
        if not isinstance(choices, list):
            raise MalformedAnswer(f"choices must be a list, not {type(choices).__name__}")
        if not hasattr(getattr(choices[0], "message", None), "content"):
            raise MalformedAnswer(f"choices[0].message must be an object with content: {choices[0]!r:.80}")
        return choices[0]

    def _dialect(self, model: str) -> Dialect:
        return self._dialects.get(model, Dialect())

    def _simplified(self, request: Request, dialect: Dialect, complaint: str) -> bool:
        """Return whether to retry: in a simpler dialect, or in one detected by another thread in the meantime."""
        with self._lock:
            if self._dialect(request.model) != dialect:
                return True
            simpler = dialect.after(complaint, request.schema is not None)
            if simpler is not None:
                self._dialects[request.model] = simpler
            return simpler is not None

    def _turned_down(self, request: Request, trouble: str, attempts: int) -> Reply:
        """Return a rejected reply, for example to a request that is too long; raise an error for unconfirmed models."""
        if request.model not in self._answered:
            raise self._give_up(request, trouble)
        return Reply("", "rejected", attempts=attempts, detail=trouble)

    def _give_up(self, request: Request, trouble: str) -> EndpointError:
        problem = f"{self._name(request)}: {trouble}"
        if request.model not in self._answered and not self._stopped.is_set():
            self._lost[request.model] = problem
        return EndpointError(problem)

    def _name(self, request: Request) -> str:
        return f"{self.address}, model {request.model!r}"

    def _describe_error(self, error: Exception) -> str:
        status, cause = getattr(error, "status_code", None), error.__cause__
        while cause is not None and cause.__cause__ is not None:
            cause = cause.__cause__  # holds the operating system's message: refused, unknown host
        because = f" ({cause})" if cause is not None and str(cause) and str(cause) not in str(error) else ""
        because += f": {error.doc}" if isinstance(error, JSONDecodeError) else ""  # the text received instead of JSON
        text = self._harmless(" ".join(f"{error}{because}".split()), 300) or type(error).__name__
        return f"status {status}: {text}" if status else text

    def _harmless(self, text: str, limit: int) -> str:
        """Return a sanitized text; it is truncated last, so that no partial key remains."""
        return redact(harmless(text[: READ * READ * limit]), limit)


def _is_about_system_role(complaint: str) -> bool:
    """Return whether an error message is about the system role; its wording depends on the chat template."""
    complaint_text = complaint.lower()
    return "system" in complaint_text and (
        "role" in complaint_text or "instruction" in complaint_text.partition("system")[2]
    )


def _hasten(seconds: float, response: Any) -> None:
    """Limit time and size of a complete body: the client's own timeout restarts with every byte."""
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


def _text_of(message: Any) -> str:
    """Return the text of a message, which some endpoints send as a list of parts, including reasoning.

    Raises:
        MalformedAnswer: If its content is something else.
    """
    content = message.content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        content = [part.get("text") for part in content if part.get("type") == "text"]
        content = "".join(content) if all(isinstance(text, str) for text in content) else content
    if not isinstance(content, (str, type(None))):
        raise MalformedAnswer(f"choices[0].message.content must be a text, not {content!r:.80}")
    return content or ""


def _thoughts_of(message: Any) -> str:
    """Return the reasoning text of a response; the field name differs between providers."""
    texts = (getattr(message, name, None) for name in ("reasoning_content", "reasoning"))
    return next((text for text in texts if isinstance(text, str)), "")


def _retry_after(error: Any) -> float:
    """Return the seconds of a Retry-After header, which may be a date; 0 without one."""
    value = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        date = parsedate_tz(value)
    try:
        return max(0.0, mktime_tz(date) - time.time()) if date else 0.0
    except (ValueError, OverflowError):
        return 0.0


def _count(usage: Any, name: str, characters: int) -> int:
    """Return a token count; without a valid one, estimate four characters per token."""
    value = getattr(usage, name, None)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS:
        return value
    return -(-characters // 4)


def check_address(url: str) -> str:
    """Validate an address.

    Raises:
        ValueError: If it is not the address of a web server, or contains credentials: addresses are written to run
            folders and to logs of the HTTP library.
    """
    parts = urlsplit(url)
    redacted = redact(url.rpartition("@")[2].partition("?")[0].partition("#")[0])
    try:
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the port
        good = False
    if not good:
        raise ValueError(f"base-url must be an address such as http://127.0.0.1:8000/v1, not {redacted!r}")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(
            f"base-url must not contain user, password or query; keys come from the environment: {redacted!r}"
        )
    return url
