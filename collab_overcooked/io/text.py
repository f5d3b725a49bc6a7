"""Texts of others: without characters that a terminal obeys, or that show a reader something else than is there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from collab_overcooked.io.schema import MAX_DEPTH

_LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_DROPPED = frozenset(("Cc", "Cf", "Cs"))  # controls; formats such as bidi overrides and invisible tags; half characters


def harmless(text: str) -> str:
    """Return a text without control and format characters; tabs and line ends stay."""
    if text.isprintable():
        return text
    text = _LINE_END.sub("\n", text)
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _DROPPED)


def one_line(text: str) -> str:
    """Return a harmless text whose line ends and tabs are spaces."""
    return re.sub(r"[\n\t]+", " ", harmless(text))


def harmless_values(value: Any) -> Any:
    """Return a value fit for JSON whose texts are harmless.

    Raises:
        ValueError: If it is nested more than twice as deep as JSON that is read may be.
    """
    return map_texts(harmless, value)


def map_texts(change: Callable[[str], str], value: Any, depth: int = 2 * MAX_DEPTH) -> Any:
    """Return a value fit for JSON whose texts, keys too, are changed by a function.

    Raises:
        ValueError: If it is nested more than ``depth`` deep.
    """
    if depth < 0:
        raise ValueError("is nested too deep")
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {map_texts(change, key): map_texts(change, own, depth - 1) for key, own in value.items()}
    return [map_texts(change, own, depth - 1) for own in value] if isinstance(value, (list, tuple)) else value
