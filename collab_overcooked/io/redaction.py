"""Redaction of access keys from everything that is written, in any spelling.

A key is known from its first use until the process ends. Texts are compared without case and punctuation, after JSON,
URL and HTML escapes are decoded. In this form the key, its reverse, its hexadecimal and base64 encodings and every
longer part of them are found.
"""

from __future__ import annotations

import base64
import html
import logging
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from collab_overcooked.io.text import map_texts

HIDDEN = "[hidden]"
PLACEHOLDERS = frozenset("none null empty dummy fake test unused local".split())
"""Keys that local servers are given because some key is required; records contain these words for other reasons."""
PART = 12  # letters and digits of a part of a key that is redacted by itself; fewer for short keys
READ = 4  # times as many characters are searched as are returned
SHORT = 8  # letters and digits; shorter keys are redacted only where spelled exactly, as they may be ordinary words
LIBRARIES = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")
_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk|gsk|xai|hf)[-_][\w*-]{8,}|\bAIza[\w-]{8,}|Bearer\s+[\w.~+/*-]{8,}=*")
_UNIT = re.compile(  # ignores longer numbers: no character has more than seven digits
    r"\\++(?:u([\da-f]{4})|x([\da-f]{2})|n)?|%(?:25)*([\da-f]{2})|&(?:amp;)*(#x?[\da-f]{1,8}|\w{2,6});|.", re.I | re.S
)
_parts: dict[int, set[str]] = {}  # length -> parts of that length, of all keys
_short: set[str] = set()


def remember(key: str) -> None:
    """Redact a key from now on, in texts and in the logs of client libraries."""
    if key.lower() in PLACEHOLDERS:
        return
    if len(_plain(key)) < SHORT:
        _short.update([key] if len(key) >= SHORT // 2 else [])
    for form in _forms(key) if len(_plain(key)) >= SHORT else ():
        length = max(SHORT, min(PART, 2 * len(form) // 3))
        parts = (form[i : i + length] for i in range(len(form) - length + 1))
        _parts.setdefault(length, set()).update(parts)
    _quieten()


def _forms(key: str) -> Iterator[str]:
    """Yield letters and digits of a key in its encodings."""
    data = key.encode()
    yield from map(_plain, (key, key[::-1], data.hex()))
    yield "".join(letter for _, _, letter in _letters(key))
    for offset in range(3):  # the base64 form of a key depends on the number of bytes before it
        text = base64.b64encode(bytes(offset) + data).decode().rstrip("=")
        yield _plain(text[(0, 2, 3)[offset] : -1 if (offset + len(data)) % 3 else None])


def _plain(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def _letters(text: str) -> list[tuple[int, int, str]]:
    """Return letters and digits of a text in lower case, with escapes decoded, each with its start and end."""
    return [(unit.start(), unit.end(), c) for unit in _UNIT.finditer(text) for c in _decode(unit) if c.isalnum()]


def redact(text: str, limit: int | None = None) -> str:
    """Return a text without known keys and without anything that looks like an access key.

    Args:
        text: Any text.
        limit: Maximum number of characters to return. Only ``READ`` times as many are searched, and a truncated key at
            their end is dropped.
    """
    if limit is not None and len(text) > READ * limit:
        text = redact(text[: READ * limit])[: -READ * PART]
    for key in _short:
        text = text.replace(key, HIDDEN)
    kept, end = [], 0
    for begin, after in _key_spans(text) if _parts else ():
        kept += [text[end:begin], HIDDEN]
        end = after
    return _LOOKS_LIKE_KEY.sub(HIDDEN, "".join([*kept, text[end:]]))[:limit]


def _key_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of keys or parts of them, from left to right, without overlaps."""
    places = _letters(text)
    letters = "".join(c for *_, c in places)
    marked = bytearray(len(letters))
    for length, parts in _parts.items():
        for i in range(len(letters) - length + 1):
            if letters[i : i + length] in parts:
                marked[i : i + length] = b"\1" * length
    for run in re.finditer(b"\1+", marked):
        yield places[run.start()][0], places[run.end() - 1][1]


def _decode(unit: re.Match[str]) -> str:
    """Return the lower-case character of a plain or escaped unit of a text."""
    code = unit[1] or unit[2] or unit[3]
    if code:
        return chr(int(code, 16)).lower()[:1]
    if unit[4]:
        return html.unescape(f"&{unit[4]};").lower()[:1]
    return unit[0].lower()[:1] if len(unit[0]) == 1 else ""


def redact_values(value: Any) -> Any:
    """Return a JSON value with keys redacted from all texts."""
    return map_texts(redact, value) if _parts or _short else value


@cache
def _quieten() -> None:
    """Redact the logs of client libraries, whose own filters cover some request headers but no responses."""
    make = logging.getLogRecordFactory()

    def redacted(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if record.name.partition(".")[0] in LIBRARIES:
            record.msg, record.args, record.exc_info = redact(record.getMessage()), (), None
        return record

    logging.setLogRecordFactory(redacted)
