"""Orders of conditions: squares are balanced, drawn orders depend on group and seed."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from collab_overcooked.study.order import ORDERS, balanced_square, latin_square, rows_of


@pytest.mark.parametrize("n", range(1, 8))
def test_in_a_latin_square_every_condition_has_every_place_once(n: int) -> None:
    assert all(sorted(column) == list(range(n)) for column in zip(*latin_square(n), strict=True))


@pytest.mark.parametrize("n", range(2, 8))
def test_in_a_balanced_square_every_condition_follows_every_other_equally_often(n: int) -> None:
    rows = balanced_square(n)
    assert len(rows) == rows_of("balanced", n) == (n if n % 2 == 0 else 2 * n)
    follow = Counter(pair for row in rows for pair in itertools.pairwise(row))
    assert set(follow.values()) == {len(rows) * (n - 1) // (n * (n - 1))} and len(follow) == n * (n - 1)
    assert all(len(set(Counter(column).values())) == 1 for column in zip(*rows, strict=True))


def test_drawn_orders_depend_on_group_and_seed_alone() -> None:
    drawn = [ORDERS["random"](6, group, 3) for group in range(20)]
    assert drawn == [ORDERS["random"](6, group, 3) for group in range(20)]
    assert len(set(map(tuple, drawn))) > 15 and all(sorted(entry) == list(range(6)) for entry in drawn)
