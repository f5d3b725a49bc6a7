"""Transports to language models: retries, backoff, rate limit, and detection of the supported dialect."""

from __future__ import annotations

import logging
import os
import random
import re
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from functools import partial
from json import JSONDecodeError
from typing import Any

from msgspec import structs

from collab_overcooked.io.daemon import call_in_daemon
from collab_overcooked.io.redaction import redact, remember
from collab_overcooked.policies.llm.dialects import (
    PAGE,
    STREAMED,
    TOO_STRICT,
    Dialect,
    MalformedAnswer,
    complaint_of,
    is_about_roles,
    is_page,
    is_streamed,
    sanitize,
)
from collab_overcooked.policies.llm.exchange import EndpointError, Reply, Request
from collab_overcooked.policies.llm.unusable import TOO_LONG

logger = logging.getLogger(__name__)

OPENAI = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
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
_FILTERED = re.compile(r"content[ _-]?(?:filter|management|policy)|responsible.?ai|safety", re.IGNORECASE)
_REFUSED = re.compile(r"refused|Errno (?:61|111)\b", re.IGNORECASE)  # by the system: no process listens at the address
# One reading for all: a backslash, an encoded character or what looks like a port before an @ is part of no host.
_ADDRESS = re.compile(
    r"https?://(?P<user>[^/?#\\\s]*@)?(?:[a-z\d](?:[\w.-]*\w)?\.?|\[[\da-f:.]+\])(?::(?P<port>\d{1,5}))?"
    r"(?:/[^?#\\\s]*)?(?P<query>[?#]\S*)?",
    re.ASCII | re.IGNORECASE,
)
_BATCH = re.compile(r"/(?:\w+_)?batch(?:es)?(?:/|\Z)", re.IGNORECASE)  # in paths of APIs that answer hours later
NO_BATCHES = (
    "batch APIs cannot play: an episode is a conversation, in which each request depends on the answer to the last one"
)
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_DEFAULT = Dialect()
MALFORMED_ATTEMPTS = 2  # malformed replies before giving up: waiting does not fix a faulty server


@dataclass(frozen=True)
class RetryPolicy:
    """Retry policy of requests."""

    attempts: int = 7  # Maximum number of attempts per request
    timeout: float = 120.0  # Seconds per attempt until the reply is complete, including its headers
    first_wait: float = 1.0  # Seconds before the second attempt; doubled each time
    longest_wait: float = 60.0  # Maximum seconds between two attempts that the endpoint does not ask for
    # Seconds after the first failure of a request from which on it is not sent again, and the longest pause that an
    # endpoint may ask for; other waits for the endpoint's rate limit do not count
    give_up: float = 60.0


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


class Transport(ABC):
    """Connection to one endpoint; a subclass for each API writes requests and reads answers. Thread-safe.

    Args:
        base_url: URL of the server; by default ``OPENAI_BASE_URL`` from the environment, or OpenAI's.
        key_variable: Environment variable with the key; the key is never stored or displayed.
        retry_policy: Timeouts, waits and number of attempts; defaults if None.
        per_minute: Maximum requests per minute; None for no limit.
        stopped: When set, no further requests are sent.
        sleep: Function that waits for a number of seconds; by default it returns early when ``stopped`` is set.
        headers: Further headers of every request, which are never displayed.

    Attributes:
        address: Where the models are, for messages.
    """

    default_url = OPENAI  # if the environment has none; empty if models have no address

    def __init__(
        self,
        base_url: str | None = None,
        key_variable: str = KEY_VARIABLE,
        *,
        retry_policy: RetryPolicy | None = None,
        per_minute: float | None = None,
        stopped: threading.Event | None = None,
        sleep: Callable[[float], object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise ValueError("language models need the extra llm: pip install 'collab-overcooked[llm]'") from None
        url = base_url or (self.default_url and (os.environ.get("OPENAI_BASE_URL") or self.default_url))
        url = url and check_address(url)
        key = os.environ.get(key_variable, "")
        if not key and url == OPENAI:
            raise ValueError(f"set the environment variable {key_variable}, or pass --base-url of another endpoint")
        self.retry_policy = retry_policy or RetryPolicy()
        self.headers = dict(headers or {})
        self.address = url
        self._openai: Any = openai
        secrets = [value for name, value in self.headers.items() if _SECRET_HEADER.search(name)]
        for secret in filter(None, (key, *secrets)):
            remember(secret)
        self._stopped = stopped or threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._rate = RateLimit(per_minute, sleep=self._sleep)
        self._lock = threading.Lock()
        self._dialects: dict[str, Dialect] = {}
        self._silences: dict[str, float] = {}  # model -> seconds of the last notice since its last reply
        self._noticed: dict[str, float] = {}  # model -> time at which the pause of its last notice ends
        self._waiting: Counter[str] = Counter()  # requests in flight by model
        self._answered: set[str] = set()  # models that have replied at least once
        self._lost: dict[str, str] = {}  # model that never replied -> reason why it is no longer used
        self._open(url, key)

    @abstractmethod
    def _open(self, url: str, key: str) -> None:
        """Open a client of the API, without sending a request."""

    @abstractmethod
    def send(self, request: Request, dialect: Dialect) -> Any:
        """Send a request and return the answer in the form of the API.

        Raises:
            openai.APIError: If there is none.
        """

    @abstractmethod
    def parse(self, answer: object, request: Request, seconds: float) -> Reply:
        """Return the reply in an answer.

        Raises:
            ValueError: If it is no answer of the API.
        """

    def close(self) -> None:
        """Close the connections; requests in flight end without further attempts."""
        self._stopped.set()

    def complete(self, request: Request) -> Reply:
        """Send a request with retries.

        Raises:
            EndpointError: The server refuses the request, or all retries failed.
        """
        trouble = ""
        wait = self.retry_policy.first_wait
        attempt = 0
        failing = 0.0
        while True:
            attempt += 1
            self._take_turn(request)
            dialect = self._dialects.get(request.model, _DEFAULT)
            pause = min(wait, self.retry_policy.longest_wait) * random.uniform(0.75, 1.0)
            sent, limited = time.monotonic(), False
            try:
                reply = self._ask(request, dialect, attempt)
                self._answered.add(request.model)
                return reply
            except self._openai.APIStatusError as error:
                trouble, complaint = self._describe_error(error), f"{error} {_reason_in(error)}"
                if error.status_code in TOO_STRICT or (dialect.system and is_about_roles(complaint)):
                    if self._simplified(request, dialect, complaint):
                        attempt -= 1  # the number of dialects is bounded
                        continue
                    return self._turned_down(request, trouble, attempt)
                if error.status_code not in AGAIN or _QUOTA.search(trouble):
                    raise self._give_up(request, trouble) from None
                pause = max(pause, self._asked_pause(request, error, trouble))
                limited = error.status_code == 429
                if limited:
                    self._rate.hold(pause)
            except (self._openai.APIError, *_BROKEN) as error:
                trouble = self._describe_error(error)
                if permanent := _permanent_cause(error):
                    raise self._give_up(request, f"{permanent}: {trouble}") from None
            failing += (time.monotonic() - sent) * (attempt > 1) + pause * (not limited)
            if attempt >= self.retry_policy.attempts or failing > self.retry_policy.give_up:
                raise self._give_up(request, f"{trouble}; gave up after {attempt} attempts")
            self._pause(request, pause, f"{trouble}; asking again in {pause:.0f} s, attempt {attempt + 1}")
            wait *= 2

    def _asked_pause(self, request: Request, error: Any, trouble: str) -> float:
        """Return the seconds that an endpoint asks to wait; give up if they are more than allowed."""
        asked, allowed = _retry_after(error), self.retry_policy.give_up
        if asked > allowed:
            too_long = f"it asks to wait {asked:.0f} s, --give-up allows {allowed:g}"
            raise self._give_up(request, f"{trouble}; {too_long}") from None
        return asked

    def _pause(self, request: Request, seconds: float, notice: str) -> None:
        if self._stopped.is_set():
            return
        with self._lock:
            now = time.monotonic()
            if now >= self._noticed.get(request.model, now):  # else another thread's notice holds
                self._noticed[request.model] = now + seconds
                logger.warning(f"{self._name(request)}: {notice}")
        self._sleep(seconds)

    def _take_turn(self, request: Request) -> None:
        if request.model in self._lost:
            raise EndpointError(self._lost[request.model])
        self._rate.wait()
        if self._stopped.is_set():
            raise self._give_up(request, "stopped")

    def _ask(self, request: Request, dialect: Dialect, attempt: int) -> Reply:
        for attempts in range(attempt, attempt + MALFORMED_ATTEMPTS):
            begin = time.perf_counter()
            answer = self._answer_in_time(request, dialect)
            try:
                reply = self.parse(answer, request, round(time.perf_counter() - begin, 3))
                return structs.replace(reply, attempts=attempts)
            except MalformedAnswer as error:
                detail = f"malformed answer: {self._describe_error(error)}"
        return Reply("", "rejected", attempts=attempts, detail=detail)

    def _answer_in_time(self, request: Request, dialect: Dialect) -> Any:
        model = request.model
        with self._lock:
            self._waiting[model] += 1
        reply = call_in_daemon(partial(self.send, request, dialect))
        begin = time.monotonic()
        silence = SILENCE
        timeout = self.retry_policy.timeout
        try:
            while not reply.done():
                waited = time.monotonic() - begin
                if waited >= timeout:
                    raise TimeoutError(f"no complete answer within {timeout:g} s")
                if waited >= silence:
                    self._notify_silence(request, silence)
                    silence *= 2
                wait([reply], min(silence, timeout) - waited)
        finally:
            with self._lock:
                self._waiting[model] -= 1
                if not self._waiting[model]:
                    self._silences.pop(model, None)
        return reply.result()

    def _notify_silence(self, request: Request, seconds: float) -> None:
        with self._lock:
            if self._silences.get(request.model, 0.0) >= seconds:
                return
            self._silences[request.model] = seconds
            logger.warning(
                f"{self._name(request)}: no answer for {seconds:g} s; waiting"
            )  # inside, to keep their order

    def _simplified(self, request: Request, dialect: Dialect, complaint: str) -> bool:
        with self._lock:
            if self._dialects.get(request.model, _DEFAULT) != dialect:
                return True
            simpler = dialect.after(complaint, request.schema is not None)
            if simpler is not None:
                self._dialects[request.model] = simpler
            return simpler is not None

    def _turned_down(self, request: Request, trouble: str, attempts: int) -> Reply:
        """Return a rejected reply; raise an error for models that never replied, if it is not about this request."""
        if request.model not in self._answered and not TOO_LONG.search(trouble) and not _FILTERED.search(trouble):
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
        reason = _reason_in(error)
        because += f": {reason}" if reason and reason not in f"{error}{because}" else ""
        because += f": {error.doc}" if isinstance(error, JSONDecodeError) else ""  # the text received instead of JSON
        text = sanitize(" ".join(f"{error}{because}".split()))[:300] or type(error).__name__
        if not status and _REFUSED.search(text):
            text += f"; does the server run at {self.address}?"
        return f"status {status}: {text}" if status else text


def _reason_in(error: Any) -> str:
    """Return the reason in the body of a refused request; empty for errors of other kinds."""
    body = getattr(error, "body", None)
    if body is None:
        body = getattr(getattr(error, "response", None), "text", None)
    return complaint_of(body)


def _retry_after(error: Any) -> float:
    value = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        date = parsedate_tz(value)
    try:
        return max(0.0, mktime_tz(date) - time.time()) if date else 0.0
    except (ValueError, OverflowError):
        return 0.0


def _permanent_cause(error: BaseException) -> str:
    """Return the cause of an error that a repeated request would meet again; empty for errors of other kinds."""
    if is_streamed(error):
        return STREAMED
    return PAGE if is_page(error) else ""


def check_address(url: str) -> str:
    """Validate the address of an endpoint, because keys are sent to it.

    Raises:
        ValueError: For another scheme than http and https, a host or port that programs could read in several ways, an
            address with user, password, query or fragment, or a batch API.
    """
    redacted = redact(url.rpartition("@")[2].partition("?")[0].partition("#")[0])
    match = _ADDRESS.fullmatch(url)
    if match is None or not 0 < int(match["port"] or 80) < 2**16:
        raise ValueError(f"base-url must be an address such as http://127.0.0.1:8000/v1, not {redacted!r}")
    if match["user"] is not None or match["query"]:
        raise ValueError(
            f"base-url must not contain user, password or query; keys come from the environment: {redacted!r}"
        )
    if _BATCH.search(url):
        raise ValueError(f"base-url {redacted!r}: {NO_BATCHES}")
    return url
