"""Keeping keys out of everything that is written down."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[hidden]"
_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk|gsk|xai|hf)[-_][\w*-]{8,}|\bAIza[\w-]{8,}|Bearer\s+[\w.~+/*-]{8,}=*")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without given secrets and without anything that looks like an access key."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, HIDDEN)
    return _LOOKS_LIKE_KEY.sub(HIDDEN, text)
