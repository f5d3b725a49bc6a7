"""Factors of a study: one cell for each combination of their levels, written once as a condition with placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.documents import Document
from collab_overcooked.study.forms import check_name
from collab_overcooked.study.texts import PLACEHOLDER

CONDITION_KEYS = ("label", "suite", "team", "options", "set", "limits", "episodes", "play", "voice")
FACTORS, CELL, CELLS = "factors", "cell", "cells"
TALK = "talk"
"""Factor whose levels ``on`` and ``off`` need no parts: ``off`` drops all messages."""
TALK_PARTS: Mapping[str, Mapping[str, Any]] = {"on": {}, "off": {"limits": {"max_messages": 0}}}
MAX_CELLS = 64

Levels = Mapping[str, str]
"""Level of each factor, by factor."""


def expand_factors(doc: Document, reserved: Mapping[str, str]) -> tuple[Document, dict[str, Levels]]:
    """Return a study file whose factors have become conditions, and the levels of each cell.

    Args:
        doc: The study file.
        reserved: Names that factors must not have, as tables use them, and the tables.

    Raises:
        DocumentError: A factor, a level or a placeholder cannot be used.
    """
    if doc.at(FACTORS) is None:
        if doc.at(CELL) is not None:
            raise doc.error(f"{CELL} needs factors", CELL)
        return doc, {}
    doc.mapping(CELL, only=CONDITION_KEYS)
    factors = {name: _levels(doc, name, reserved) for name in doc.mapping(FACTORS)}
    conditions = dict(doc.mapping("conditions", default={}))
    levels_of: dict[str, Levels] = {}
    marks = dict(doc.marks)
    for chosen in product(*(levels.items() for levels in factors.values())):
        named = {factor: level for factor, (level, _) in zip(factors, chosen, strict=True)}
        name = "_".join(level if level.isidentifier() else f"{factor}{level}" for factor, level in named.items())
        check_name(doc, name, FACTORS)
        if name in conditions:
            raise doc.error(f"conditions.{name}: is the name of a cell, too", "conditions", name)
        if len(levels_of) == MAX_CELLS:
            raise doc.error(f"{FACTORS} must have at most {MAX_CELLS} cells", FACTORS)
        values = {factor: value for factor, (_, (value, _)) in zip(factors, chosen, strict=True)}
        parts = doc.at(CELL)
        for _, (_, changes) in chosen:
            parts = _merged(parts, changes)
        conditions[name] = _filled(doc, parts, values, (CELL,))
        levels_of[name] = named
        marks |= {("conditions", name, *path[1:]): mark for path, mark in doc.marks.items() if path[:1] == (CELL,)}
        for factor, (level, _) in zip(factors, chosen, strict=True):
            marks |= _marks_of(doc, factor, level, name)
    return Document(doc.source, {**doc.content, "conditions": conditions}, marks, doc.spelled), levels_of


def _levels(doc: Document, name: Any, reserved: Mapping[str, str]) -> dict[str, tuple[Any, Mapping[str, Any]]]:
    """Return the levels of a factor by name: their values in placeholders, and the keys that they change."""
    path = (FACTORS, name)
    check_name(doc, name, *path)
    if name in reserved:
        raise doc.error(f"{FACTORS}.{name}: is a column of the table {reserved[name]}; choose another name", *path)
    listed = doc.at(*path)
    if isinstance(listed, dict):
        levels: dict[str, tuple[Any, Mapping[str, Any]]] = {
            _level_text(doc, level, *path): (level, doc.mapping(*path, level, only=CONDITION_KEYS, default={}))
            for level in listed
        }
    else:
        values = doc.listed("levels", *path)
        levels = {_level_text(doc, value, *path, i): (value, {}) for i, value in enumerate(values)}
        if len(levels) < len(values):
            raise doc.refuse("be levels that differ", *path)
        if name == TALK:
            if set(levels) - set(TALK_PARTS):
                raise doc.refuse(f"be a list of {' and '.join(TALK_PARTS)}, or give each level its keys", *path)
            levels = {level: (level, TALK_PARTS[level]) for level in levels}
    if len(levels) < 2:
        raise doc.refuse("have at least two levels", *path)
    if not any(parts for _, parts in levels.values()) and not _mentions(doc.at(CELL), name):
        remedy = f"write {{{name}}} in {CELL}, or give each level the keys that it changes"
        raise doc.error(f"{FACTORS}.{name} changes nothing: {remedy}", *path)
    return levels


def _level_text(doc: Document, value: Any, *path: Any) -> str:
    text = {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
    if not isinstance(value, (str, int)) or not re.fullmatch(r"\w{1,40}", text, re.ASCII):
        raise doc.error(f"level {value!r:.60} must be a name of at most 40 letters, digits and underscores", *path)
    return text


def _mentions(value: object, factor: str) -> bool:
    if isinstance(value, Mapping):
        return any(_mentions(entry, factor) for entry in value.values())
    if isinstance(value, list):
        return any(_mentions(entry, factor) for entry in value)
    return isinstance(value, str) and factor in PLACEHOLDER.findall(value)


def _merged(parts: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return parts with changes; ``options``, ``set``, ``limits`` and ``play`` are merged key by key."""
    both = {key for key, value in changes.items() if isinstance(value, dict) and isinstance(parts.get(key), dict)}
    return {**parts, **changes, **{key: {**parts[key], **changes[key]} for key in both}}


def _filled(doc: Document, value: Any, levels: Mapping[str, Any], path: tuple[Any, ...]) -> Any:
    """Replace ``{FACTOR}`` by its level; a text that is nothing else becomes the level itself, such as a number."""
    if isinstance(value, dict):
        return {key: _filled(doc, entry, levels, (*path, key)) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(doc, entry, levels, (*path, i)) for i, entry in enumerate(value)]
    if not isinstance(value, str):
        return value
    for name in PLACEHOLDER.findall(value):
        if name not in levels:
            raise doc.error(near_matches("factor", name, levels), *path)
    whole = PLACEHOLDER.fullmatch(value)
    return levels[whole[1]] if whole else PLACEHOLDER.sub(lambda match: str(levels[match[1]]), value)


def _marks_of(doc: Document, factor: str, level: str, cell: str) -> dict[tuple[Any, ...], Any]:
    """Return the line marks of a level's changes, by their paths in a cell."""
    return {
        ("conditions", cell, *path[3:]): mark
        for path, mark in doc.marks.items()
        if path[:2] == (FACTORS, factor) and len(path) > 3 and str(path[2]) == level
    }


def split_cells(cells: Mapping[str, Levels], between: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the names of cells that share their levels of the factors ``between``."""
    together: dict[tuple[str, ...], list[str]] = {}
    for name, levels in cells.items():
        together.setdefault(tuple(levels[factor] for factor in between), []).append(name)
    yield from map(tuple, together.values())
