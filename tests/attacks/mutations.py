"""Hostile values and random mutations of JSON-like documents, for attacks on whatever reads them."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from typing import Any

# Wrong kinds, wrong sizes and the edges of int32, int64 and float; what files cannot hold is below.
VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, -2, -5, -1000, -(10**8), 0, 1, 2, 3, 4, 7, 127, 128, 255, 256, 10**6),
    *(2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63, 2**64, 10**30, 10**400),
    *(0.5, -0.0, 1.0, 1e308, float("nan"), float("inf"), -float("inf")),
    *("", " ", "x", "1", "continue", "wait(1)", "\x00", "\u202e", "\ud800", "x" * 5000),
    *(
        [],
        [[]],
        [None],
        {},
        {"a": 1},
        [1, 1],
        [-1, -1],
        [10**9, 10**9],
        [1.0, 1.0],
        ["1", "1"],
        [1, 1, 1],
        [True, True],
    ),
)
PYTHON_VALUES: tuple[Any, ...] = ((), {1: 2}, {None: 1}, b"x", object, object(), 1j, range(3), {3}, lambda: 0)
NUMBERS = (-1, -2, -7, -1000, -(10**6), -(10**8), -(2**31), 0, 1, 2, 5, 99, 1000, 10**5, 2**31 - 1)
KEYS: tuple[Any, ...] = ("limit", "state", "layout", "episode", "zzz", "", 5)

Path = tuple[Any, ...]


def nested(depth: int) -> list[Any]:
    """Return a list in a list, so often; deeper than Python recurses if asked."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def paths(document: Any, at: Path = ()) -> Iterator[Path]:
    """Yield the way to every value of a document, itself first."""
    yield at
    if isinstance(document, dict):
        for key, value in document.items():
            yield from paths(value, (*at, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from paths(value, (*at, index))


def get(document: Any, path: Path) -> Any:
    for key in path:
        document = document[key]
    return document


def put(document: Any, path: Path, value: Any) -> Any:
    """Return the document with another value at a place, changed in place where it can be."""
    if not path:
        return value
    get(document, path[:-1])[path[-1]] = value
    return document


def mutate(rng: random.Random, document: Any, donors: Sequence[Any], values: Sequence[Any] = VALUES) -> Any:
    """Return a copy of a document with one to four mutations, some of them taken from other documents of its kind."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        try:
            document = _mutated_once(rng, document, donors, values)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier mutation took the place away
    return document


def _mutated_once(rng: random.Random, document: Any, donors: Sequence[Any], values: Sequence[Any]) -> Any:
    places = list(paths(document))
    where = rng.choice(places)
    here = get(document, where)
    kind = rng.choice(
        ("value", "value", "value", "number", "number", "delete", "key", "twin", "swap", "clear", "donor")
    )
    if kind == "value":
        return put(document, where, copy.copy(rng.choice(values)))
    if kind == "number":
        numbers = [path for path in places if type(get(document, path)) is int]
        near = rng.choice(NUMBERS), get(document, path := rng.choice(numbers)) + rng.choice((-1, 1, 2, 10))
        return put(document, path, rng.choice(near))
    if kind == "delete":
        del get(document, where[:-1])[where[-1]]
    elif kind == "key" and isinstance(here, dict):
        here[rng.choice(KEYS)] = copy.copy(rng.choice(values))
    elif kind == "twin" and isinstance(here, list):
        here.append(copy.deepcopy(rng.choice(here)))
    elif kind == "swap":
        other = rng.choice(places)
        there, here = copy.deepcopy(get(document, other)), copy.deepcopy(here)
        return put(put(document, where, there), other, here)
    elif kind == "clear":
        here.clear() if isinstance(here, list | dict) else None
    elif kind == "donor":
        return put(document, where, copy.deepcopy(get(rng.choice(donors), where)))
    return document
