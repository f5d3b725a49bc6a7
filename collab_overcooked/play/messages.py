"""Messages from pages: read strictly, with limits on sizes and rates."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from collab_overcooked.io.text import harmless

MAX_BYTES, MAX_PLAN, MAX_TEXT = 4096, 2000, 1000
MAX_PER_SECOND, BURST = 30, 60
AGAIN, SWAP = REMATCHES = ("again", "swap")
KEYS = ("up", "down", "left", "right", "act", "stay")

_TURN, _FLAG, _PLAN, _WORDS = (int, 0), (bool, 0), (str, MAX_PLAN), (str, MAX_TEXT)
FIELDS: Mapping[str, Mapping[str, tuple[type, int]]] = {
    "ready": {},
    "practise": {},
    "key": {"key": (str, 8), "down": _FLAG},
    "tap": {"key": (str, 8)},
    "blur": {},
    "act": {"turn": _TURN, "plan": _PLAN, "say": _WORDS},
    "reply": {"turn": _TURN, "plan": _PLAN, "say": _WORDS, "last": _FLAG},
    "say": {"say": _WORDS},
    "text": {"on": _FLAG},
    "pause": {"on": _FLAG},
    "skip": {},
    "window": {"width": (int, 0), "lost": _FLAG},
    "rematch": {"how": (str, 5)},
    "leave": {},
}
"""By type: each field's class and, for texts, greatest length. All fields must be there."""


class MessageError(ValueError):
    """A message that cannot be used.

    Attributes:
        code: ``"size"``, ``"json"``, ``"type"``, ``"field"`` or ``"rate"``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_message(text: str) -> dict[str, Any]:
    """Read a message of a page.

    Raises:
        MessageError: The message is too long, no JSON, or of another form.
    """
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise MessageError("size", f"a message has at most {MAX_BYTES} bytes")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError("json", "a message must be JSON") from None
    kind = message.get("type") if isinstance(message, dict) else None
    if not isinstance(kind, str) or kind not in FIELDS:
        raise MessageError("type", f"a message must be an object whose type is one of {', '.join(FIELDS)}")
    fields = FIELDS[kind]
    if message.keys() != {"type", *fields}:
        raise MessageError("field", f"{kind} has the fields type{''.join(f', {name}' for name in fields)}")
    return {"type": kind, **{name: _read_field(kind, name, message[name]) for name in fields}}


def _read_field(kind: str, name: str, value: object) -> Any:
    expected, most = FIELDS[kind][name]
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        raise MessageError("field", f"{kind}.{name} must be of type {expected.__name__}")
    if name == "key" and value not in KEYS:
        raise MessageError("field", f"{kind}.key must be one of {', '.join(KEYS)}")
    if name == "how" and value not in REMATCHES:
        raise MessageError("field", f"{kind}.how must be one of {', '.join(REMATCHES)}")
    if isinstance(value, str):
        if len(value) > most:
            raise MessageError("size", f"{name} has at most {most} characters")
        return harmless(value).strip()
    return value


class Rate:
    """Rate limit with room for a burst, for messages of a connection or requests of a network.

    Args:
        now: Function that returns seconds.
        a_second: Number allowed per second in the long run.
        burst: Number allowed at once.

    Attributes:
        refused: Number of refused messages or requests.
    """

    def __init__(
        self, now: Callable[[], float] = time.monotonic, a_second: float = MAX_PER_SECOND, burst: int = BURST
    ) -> None:
        self._now, self._at, self._a_second, self._burst = now, now(), a_second, burst
        self._room = float(burst)
        self.refused = 0

    def allows(self) -> bool:
        """Count one more; returns whether it is allowed."""
        now = self._now()
        self._room = min(self._burst, self._room + (now - self._at) * self._a_second)
        self._at = now
        if self._room < 1:
            self.refused += 1
            return False
        self._room -= 1
        return True

    def check(self) -> None:
        """Count a message.

        Raises:
            MessageError: Messages come too fast.
        """
        if not self.allows():
            raise MessageError("rate", f"at most {self._a_second:g} messages a second")
