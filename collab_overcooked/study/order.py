"""Balanced orders: which group of people meets the conditions in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from collab_overcooked.runner.episode import derive_seed


def latin_square(n: int) -> list[list[int]]:
    """Return rows in which every condition stands once in each place: each begins one condition later."""
    return [[(row + place) % n for place in range(n)] for row in range(n)]


def balanced_square(n: int) -> list[list[int]]:
    """Return rows in which, besides, every condition follows every other one equally often (Williams, 1949).

    For an even number there are n rows, for an odd one 2n: no n rows do it.
    """
    first = [place // 2 + 1 if place % 2 else (n - place // 2) % n for place in range(n)]  # 0 1 n-1 2 n-2 ...
    rows = [[(own + row) % n for own in first] for row in range(n)]
    return rows if n % 2 == 0 else [*rows, *(row[::-1] for row in rows)]


def _from_square(square: Callable[[int], list[list[int]]]) -> Callable[[int, int, int], list[int]]:
    def order(n: int, group: int, seed: int) -> list[int]:
        rows = square(n)
        return rows[group % len(rows)]

    return order


def _random(n: int, group: int, seed: int) -> list[int]:
    return np.random.default_rng(derive_seed(seed, "order", group)).permutation(n).tolist()


ORDERS: Mapping[str, Callable[[int, int, int], list[int]]] = {
    "balanced": _from_square(balanced_square),
    "latin": _from_square(latin_square),
    "random": _random,
    "fixed": lambda n, group, seed: list(range(n)),
    "between": lambda n, group, seed: [group % n],
}
"""Called with the number of conditions, the row of the group and the study's seed; returns what it plays, in order."""


def rows_of(order: str, n: int) -> int:
    """Return the number of groups after which an order is balanced; 1 if it is the same for all or drawn."""
    if order == "between":
        return n
    return len({"balanced": balanced_square, "latin": latin_square}[order](n)) if order in ("balanced", "latin") else 1
