"""Names of people on pages: proper names, also where a game only numbers its agents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

PEOPLE = ("Alice", "Bob", "Carol", "David", "Erin", "Frank", "Grace", "Heidi")


def page_names(game: Any) -> tuple[str, ...]:
    """Return the names of the seats on pages: proper names instead of the game's numbered names."""
    names = game.display_names
    return PEOPLE[: len(names)] if all(name[-1:].isdecimal() for name in names[: len(PEOPLE)]) else names


def single_names(view: Any) -> list[str]:
    """Return numbered names that are unique in a seat's view, such as ``pot0`` if there is no ``pot1``."""
    numbers: dict[str, set[str]] = {}
    labels = "\n".join(view.action_labels.values())
    names = re.findall(r"\b([A-Za-z_]{2,}?)(\d+)\b", f"{labels}\n{view.surroundings}")
    for name, number in (*names, *re.findall(r"\bat ([^\W\d]+ )(\d+)$", labels, re.MULTILINE)):
        numbers.setdefault(name, set()).add(number)
    return [name + number for name, (number, *others) in numbers.items() if not others]


def renaming(game: Any) -> Callable[[str], str]:
    """Return a function that replaces the game's seat names in a text by the names on pages."""
    return _renaming(game.display_names, page_names(game))


@lru_cache(maxsize=64)
def _renaming(names: tuple[str, ...], pages: tuple[str, ...]) -> Callable[[str], str]:
    changed: Mapping[str, str] = {old: new for old, new in zip(names, pages, strict=False) if old != new}
    if not changed:
        return str
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, changed))})\b")
    return lambda text: pattern.sub(lambda match: changed[match[0]], text)
