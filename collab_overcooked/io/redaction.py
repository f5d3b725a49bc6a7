"""Redaction of access keys from everything that is written.

A key is known from its first use until the process ends. It is redacted as it is, escaped in JSON and escaped in URLs.
"""

from __future__ import annotations

import json
import logging
import re
from functools import cache
from typing import Any
from urllib.parse import quote

from collab_overcooked.io.text import map_texts

HIDDEN = "[hidden]"
PLACEHOLDERS = frozenset("none null empty dummy fake test unused local".split())
"""Keys that local servers are given because some key is required; records contain these words for other reasons."""
MIN_CHARACTERS = 4  # shorter keys occur in ordinary words
LIBRARIES = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")
_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk|gsk|xai|hf)[-_][\w*-]{8,}|\bAIza[\w-]{8,}|Bearer\s+[\w.~+/*-]{8,}=*")
_spellings: set[str] = set()  # of all keys


def remember(key: str) -> None:
    """Redact a key from now on, in texts and in the logs of client libraries."""
    if key.lower() in PLACEHOLDERS or len(key) < MIN_CHARACTERS:
        return
    _spellings.update((key, json.dumps(key)[1:-1], quote(key, safe="")))
    _quieten()


def redact(text: str) -> str:
    """Return a text without known keys and without anything that looks like an access key."""
    for spelling in sorted(_spellings, key=len, reverse=True):  # a key may contain another
        text = text.replace(spelling, HIDDEN)
    return _LOOKS_LIKE_KEY.sub(HIDDEN, text)


def is_key_known() -> bool:
    """Return whether there is any key to redact."""
    return bool(_spellings)


def redact_values(value: object) -> Any:
    """Return a JSON value with keys redacted from all texts; unchanged while no key is known."""
    return map_texts(redact, value) if _spellings else value


@cache
def _quieten() -> None:
    make = logging.getLogRecordFactory()

    def redacted(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if record.name.partition(".")[0] in LIBRARIES:
            record.msg = redact(record.getMessage())
            record.args = ()
            record.exc_info = None
        return record

    logging.setLogRecordFactory(redacted)
