"""Sanitizing of untrusted texts: control characters of terminals, and characters that disguise the text."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from collab_overcooked.io.schema import MAX_DEPTH

T = TypeVar("T")
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_DROPPED = frozenset(("Cc", "Cf", "Cs"))  # controls; formats such as bidi overrides and invisible tags; surrogates


def harmless(text: str) -> str:
    """Return a text without control and format characters; tabs and newlines stay."""
    if text.isprintable():
        return text
    text = _LINE_END.sub("\n", text)
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _DROPPED)


def one_line(text: str) -> str:
    """Return a harmless text with spaces for newlines and tabs."""
    return re.sub(r"[\n\t]+", " ", harmless(text))


def single_spaced(text: object) -> str:
    """Return a harmless text with single spaces for runs of whitespace."""
    return " ".join(harmless(str(text)).split())


def plural(count: float, noun: str) -> str:
    """Return a count with its noun: ``"1 step"``, ``"2 steps"``, ``"2.5 items"``."""
    return f"{count if count % 1 else int(count)} {noun}{'s' * (count != 1)}"


def join_and(names: Iterable[str]) -> str:
    """Join names with commas and "and"."""
    *rest, last = [*names] or [""]
    return " and ".join(filter(None, (", ".join(rest), last)))


def in_drawn_order(items: Iterable[T], seed: str) -> list[T]:
    """Return items in an order that depends on a text alone, the same on every machine."""
    drawn = list(items)
    random.Random(seed).shuffle(drawn)
    return drawn


def harmless_values(value: object) -> Any:
    """Return a JSON value with harmless texts."""
    return map_texts(harmless, value)


def map_texts(change: Callable[[str], str], value: object, depth: int = 2 * MAX_DEPTH) -> Any:
    """Return a JSON value with a function applied to all texts, including keys.

    Raises:
        ValueError: The value is nested too deep.
    """
    if depth < 0:
        raise ValueError("is nested too deep")
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {map_texts(change, key): map_texts(change, entry, depth - 1) for key, entry in value.items()}
    return [map_texts(change, entry, depth - 1) for entry in value] if isinstance(value, (list, tuple)) else value
