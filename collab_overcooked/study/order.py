"""Balanced orders of conditions, one row per group."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from collab_overcooked.runner.episode import derive_seed


def latin_square(n: int) -> list[list[int]]:
    """Return a Latin square: every condition occurs once in each place."""
    return [[(row + place) % n for place in range(n)] for row in range(n)]


def balanced_square(n: int) -> list[list[int]]:
    """Return a Latin square in which every condition follows every other one equally often (Williams, 1949).

    It has n rows for even n and 2n rows for odd n, for which no such square with n rows exists.
    """
    first = [place // 2 + 1 if place % 2 else (n - place // 2) % n for place in range(n)]  # 0 1 n-1 2 n-2 ...
    rows = [[(value + row) % n for value in first] for row in range(n)]
    return rows if n % 2 == 0 else [*rows, *(row[::-1] for row in rows)]


Square = Callable[[int], list[list[int]]]
Order = Callable[[int, int, int], list[int]]
SQUARES: Mapping[str, Square] = {"balanced": balanced_square, "latin": latin_square}
"""Functions of the number of conditions that return a square, whose rows are orders."""


def _from_square(square: Square) -> Order:
    def order(n: int, row: int, seed: int) -> list[int]:
        rows = square(n)
        return rows[row % len(rows)]

    return order


def _random(n: int, row: int, seed: int) -> list[int]:
    return np.random.default_rng(derive_seed(seed, "order", row)).permutation(n).tolist()


ORDERS: Mapping[str, Order] = {
    **{name: _from_square(square) for name, square in SQUARES.items()},
    "random": _random,
    "fixed": lambda n, row, seed: list(range(n)),
    "between": lambda n, row, seed: [row % n],
}
"""Functions of the number of conditions, the group's row and the study's seed that return the order of conditions."""


def rows_of(order: str, n: int) -> int:
    """Return the number of groups after which an order is balanced; 1 if it is fixed or random."""
    if order == "between":
        return n
    return len(SQUARES[order](n)) if order in SQUARES else 1
