"""Any OpenAI-compatible endpoint, with patience: retries, backoff, a rate limit, and its dialect found out.

Only plain chat completions are used, without streaming and without tool calls, so that small servers will do.
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
MAX_ANSWER = 50_000  # characters of an answer that are kept
MAX_BODY = 10_000_000  # bytes of an answer; a hundredth of it if it is packed
SILENCE = 30.0  # seconds without an answer after which it is told that one is waited for, and after twice as many again
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)  # statuses that may be better next time
_BROKEN = (ValueError, TypeError, AttributeError, LookupError, RecursionError, TimeoutError)  # of unexpected bodies
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)  # waiting does not help
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
TOO_STRICT = (400, 413, 422)  # statuses of questions that the endpoint does not take as they are
MALFORMED_ATTEMPTS = 2  # answers of a wrong form after which the endpoint is given up: waiting does not mend a program


class MalformedAnswer(ValueError):
    """An answer is not of the form of chat completions; the message names the field."""


@dataclass(frozen=True)
class RetryPolicy:
    """How long to insist.

    Attributes:
        attempts: Attempts for one question.
        timeout: Seconds of one attempt until the whole answer is there, its headers included.
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
        system: Whether there is a system role; its words begin the user's first turn if not.
    """

    structure: str = "schema"
    limit: str = "max_tokens"
    temperature: bool = True
    seed: bool = True
    system: bool = True

    def after(self, complaint: str, structured: bool) -> Dialect | None:
        """Return a simpler dialect that answers a complaint; None if there is none."""
        words = complaint.lower()
        if "max_tokens" in words and self.limit == "max_tokens" and "max_completion_tokens" in words:
            return replace(self, limit="max_completion_tokens")
        if "temperature" in words and self.temperature:
            return replace(self, temperature=False)
        if "seed" in words and self.seed:
            return replace(self, seed=False)
        if _is_about_system_role(words) and self.system:
            return replace(self, system=False)
        about_form = any(word in words for word in ("response_format", "schema", "json", "grammar", "structured"))
        if structured and self.structure != "text" and about_form:
            return replace(self, structure="object" if self.structure == "schema" else "text")
        return None

    def turns(self, request: Request) -> Sequence[ChatMessage]:
        """Return the chat, without a system role where there is none."""
        first, *others = request.turns
        if self.system or first.role != "system":
            return request.turns
        words = f"{first.content}\n\n{others[0].content}" if others else first.content
        return ChatMessage("user", words), *others[1:]

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
    """Asks a server over HTTP. Safe for use from several threads.

    Args:
        base_url: Where it is; None for ``OPENAI_BASE_URL`` from the environment, or OpenAI's own.
        key_variable: Environment variable with the key; the key is never stored or shown.
        patience: How long to insist.
        per_minute: Questions a minute; None for no limit.
        stopped: When set, nothing more is asked.
        sleep: Waits for some seconds; None for waiting until ``stopped`` is set at most.
        tell: Called with what is waited for, in a sentence.
        headers: Further headers of every request, which are never shown.

    Raises:
        ValueError: If the extra ``llm`` is not installed, or OpenAI's own endpoint is meant and no key is set.
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
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise ValueError("language models need the extra llm: pip install 'collab-overcooked[llm]'") from None
        url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        key = os.environ.get(key_variable, "")
        if not key and url == OPENAI:
            raise ValueError(f"set the environment variable {key_variable}, or give --base-url of another endpoint")
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
        self._tell = tell
        self._answered: set[str] = set()  # models that have answered at least once
        self._lost: dict[str, str] = {}  # why a model that has never answered is not asked any more

    def _connect(self, url: str, key: str, headers: Mapping[str, str]) -> Any:
        timeout = self.patience.timeout
        web = self._openai.DefaultHttpxClient(base_url=url, event_hooks={"response": [partial(_hasten, timeout)]})
        return self._openai.OpenAI(
            base_url=url,
            api_key=key or "none",
            timeout=timeout,
            max_retries=0,
            http_client=web,
            default_headers={"Accept-Encoding": "identity", **headers},  # a packed body has no size that is known
        )

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
            self._take_turn(request)
            dialect = self._dialect(request.model)
            pause = min(wait, self.patience.longest_wait) * random.uniform(0.75, 1.0)
            try:
                reply = self._ask(request, dialect)
                self._answered.add(request.model)
                return replace(reply, attempts=attempt + reply.attempts - 1)
            except self._openai.APIStatusError as error:
                trouble = self._words(error)
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
                trouble = self._words(error)
            if attempt < self.patience.attempts:
                self._tell(f"{self._name(request)}: {trouble}; asking again in {pause:.0f} s, attempt {attempt + 1}")
                self._sleep(pause)
                wait *= 2
        raise self._give_up(request, f"{trouble}; gave up after {attempt} attempts")

    def _take_turn(self, request: Request) -> None:
        """Wait until another question may go out; nothing is asked of a model that is not there, or once stopped."""
        if request.model in self._lost:
            raise EndpointError(self._lost[request.model])
        self._rate.wait()
        if self._stopped.is_set():
            raise self._give_up(request, "stopped")

    def _ask(self, request: Request, dialect: Dialect) -> Reply:
        """Ask once, and at once again after a malformed answer.

        Raises:
            EndpointError: If answers are malformed.
        """
        for left in reversed(range(MALFORMED_ATTEMPTS)):
            try:
                return replace(self._reply(request, dialect), attempts=MALFORMED_ATTEMPTS - left)
            except MalformedAnswer as error:
                if not left:
                    raise self._give_up(request, f"malformed answer: {self._words(error)}") from None
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
        """Return what the endpoint sends, and tell now and then that it is waited for.

        Raises:
            TimeoutError: If it is not whole in time: the HTTP library's own timeout begins again with every byte. Its
                thread is left behind; it ends with the connection.
        """
        found: Future[Any] = Future()

        def ask() -> None:
            try:
                found.set_result(self._client.chat.completions.create(**arguments))
            except Exception as error:  # raised again where it is waited for
                found.set_exception(error)

        threading.Thread(target=ask, daemon=True).start()
        begin, silence, timeout = time.monotonic(), SILENCE, self.patience.timeout
        while not found.done():
            waited = time.monotonic() - begin
            if waited >= timeout:
                raise TimeoutError(f"no whole answer within {timeout:g} s")
            if waited >= silence:
                self._tell(f"{self._name(request)}: no answer for {waited:.0f} s; waiting")
                silence *= 2
            wait([found], min(silence, timeout) - waited)
        return found.result()

    def _choice_of(self, answer: Any) -> Any:
        """Return the first choice of an answer.

        Raises:
            ValueError: If something else came; the message says what.
            MalformedAnswer: If there is no choice with a message.
        """
        if isinstance(answer, str):  # a page, from something between here and the model
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
        """Return whether to ask again: in a simpler dialect, or in the one that another thread has found meanwhile."""
        with self._lock:
            if self._dialect(request.model) != dialect:
                return True
            simpler = dialect.after(complaint, request.schema is not None)
            if simpler is not None:
                self._dialects[request.model] = simpler
            return simpler is not None

    def _turned_down(self, request: Request, trouble: str, attempts: int) -> Reply:
        """Count a question that is too long or filtered as unanswered; but who never answered is set up wrongly."""
        if request.model not in self._answered:
            raise self._give_up(request, trouble)
        return Reply("", "rejected", attempts=attempts, detail=trouble)

    def _give_up(self, request: Request, trouble: str) -> EndpointError:
        words = f"{self._name(request)}: {trouble}"
        if request.model not in self._answered and not self._stopped.is_set():
            self._lost[request.model] = words
        return EndpointError(words)

    def _name(self, request: Request) -> str:
        return f"{self.address}, model {request.model!r}"

    def _words(self, error: Exception) -> str:
        status, cause = getattr(error, "status_code", None), error.__cause__
        while cause is not None and cause.__cause__ is not None:
            cause = cause.__cause__  # the operating system's words stand there: refused, unknown host
        because = f" ({cause})" if cause is not None and str(cause) and str(cause) not in str(error) else ""
        because += f": {error.doc}" if isinstance(error, JSONDecodeError) else ""  # what came instead of JSON
        words = self._harmless(" ".join(f"{error}{because}".split()), 300) or type(error).__name__
        return f"status {status}: {words}" if status else words

    def _harmless(self, text: str, limit: int) -> str:
        """Return a text that can be shown and kept; it is cut last, so that half a key is not left over."""
        return redact(harmless(text[: READ * READ * limit]), limit)


def _is_about_system_role(complaint: str) -> bool:
    """Tell whether an endpoint complains of the system role; chat templates do so in their own words."""
    words = complaint.lower()
    return "system" in words and ("role" in words or "instruction" in words.partition("system")[2])


def _hasten(seconds: float, response: Any) -> None:
    """Bound time and size of a whole body: the client's own timeout begins again with every byte."""
    stream, end = response.stream, time.monotonic() + seconds
    packed = response.headers.get("content-encoding", "identity") != "identity"
    kind: Any = type(stream)  # versions of the client differ in the package that it comes from

    class InTime(kind):
        def __init__(self) -> None:
            """Hold nothing but what is around it."""

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
    """Return the text of a message, which some endpoints send as a list of parts, thoughts among them.

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
    """Return what a model thought before it answered, under the names that endpoints have for it."""
    found = (getattr(message, name, None) for name in ("reasoning_content", "reasoning"))
    return next((text for text in found if isinstance(text, str)), "")


def _retry_after(error: Any) -> float:
    """Return the seconds that the endpoint asks to wait, given as such or as a date; 0 if it does not say."""
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
    """Return a token count; where the endpoint gives none that can be, four characters are taken for one."""
    value = getattr(usage, name, None)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS:
        return value
    return -(-characters // 4)


def check_address(url: str) -> str:
    """Return an address.

    Raises:
        ValueError: If it is no address of a web server, or holds what belongs nowhere but in the environment: addresses
            are written into runs, and into logs of the HTTP library.
    """
    parts = urlsplit(url)
    shown = redact(url.rpartition("@")[2].partition("?")[0].partition("#")[0])
    try:
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the port
        good = False
    if not good:
        raise ValueError(f"base-url must be an address such as http://127.0.0.1:8000/v1, not {shown!r}")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(f"base-url must hold no user, password or query; keys come from the environment: {shown!r}")
    return url
