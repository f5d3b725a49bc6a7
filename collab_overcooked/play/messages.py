"""Messages from pages: read strictly, with limits on sizes and rates."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, get_args, get_type_hints

from msgspec import Meta, Struct, to_builtins

from collab_overcooked.io.schema import SchemaError
from collab_overcooked.io.structs import Count, convert
from collab_overcooked.io.text import harmless

MAX_BYTES, MAX_PLAN, MAX_TEXT = 4096, 2000, 1000
MAX_PER_SECOND, BURST = 30, 60
AGAIN, SWAP = REMATCHES = ("again", "swap")

Plan = Annotated[str, Meta(max_length=MAX_PLAN)]
Words = Annotated[str, Meta(max_length=MAX_TEXT)]


class Message(Struct, tag_field="type", tag=str.lower, forbid_unknown_fields=True):
    """Message of a page; its ``type`` is the name of the class in lower case. All fields must be there."""


class Ready(Message):
    """A person is ready for the game."""


class Practise(Message):
    """A person is ready, and wishes to practise first."""


class Key(Message):
    """A key of the keyboard goes down or up."""

    key: Literal["up", "down", "left", "right", "act", "stay"]
    down: bool


class Tap(Message):
    """A key is pressed for one step."""

    key: Literal["up", "down", "left", "right", "act", "stay"]


class Blur(Message):
    """The page loses the focus: all keys are up."""


class Act(Message):
    """A person chooses actions, and may say something."""

    turn: Count
    plan: Plan
    say: Words


class Reply(Message):
    """A person answers a message of others, or ends the conversation with ``last``."""

    turn: Count
    plan: Plan
    say: Words
    last: bool


class Say(Message):
    """A person says something in real time."""

    say: Words


class Text(Message):
    """A page wants the text of what its picture shows, or no longer."""

    on: bool


class Pause(Message):
    """A person who plays alone pauses the game, or goes on."""

    on: bool


class Skip(Message):
    """A person skips what is left of a practice."""


class Window(Message):
    """A page reports the width of its window in pixels, and whether it lost the focus."""

    width: Count
    lost: bool


class Rematch(Message):
    """A person wishes to play again, or with swapped seats."""

    how: Literal["again", "swap"]


class Leave(Message):
    """A person leaves the game."""


KINDS = tuple(Message.__subclasses__())
_ANY_KIND: Any = reduce(or_, KINDS)
FIELDS: Mapping[str, tuple[str, ...]] = {kind.__name__.lower(): kind.__struct_fields__ for kind in KINDS}
"""Names of the fields by type."""
KEYS = get_args(get_type_hints(Key)["key"])


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
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError("json", "a message must be JSON") from None
    try:
        message = to_builtins(convert(value, _ANY_KIND))
    except SchemaError as error:
        raise MessageError(_code_of(error, value), f"message: {error}") from None
    return {name: harmless(part).strip() if isinstance(part, str) else part for name, part in message.items()}


def _code_of(error: SchemaError, value: object) -> str:
    if error.path == ["type"] or not isinstance(value, dict):
        return "type"
    return "size" if error.allowed.startswith("a text of at most") else "field"


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
        self._now = now
        self._at = now()
        self._a_second = a_second
        self._burst = burst
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

    @property
    def seconds_left(self) -> float:
        """Seconds from the last one until another one is allowed."""
        return max(0.0, (1 - self._room) / self._a_second)

    def check(self) -> None:
        """Count a message.

        Raises:
            MessageError: Messages come too fast.
        """
        if not self.allows():
            raise MessageError("rate", f"at most {self._a_second:g} messages a second")
