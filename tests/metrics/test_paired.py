"""Differences on shared episodes: the numbers, the table, and the commands that print it."""

from __future__ import annotations

import pytest

from collab_overcooked.metrics.paired import paired_difference, sign_test


@pytest.mark.parametrize(("higher", "lower", "p"), [(0, 0, 1.0), (5, 0, 0.0625), (8, 1, 20 / 512), (3, 3, 1.0)])
def test_the_sign_test_is_the_exact_binomial_one(higher: int, lower: int, p: float) -> None:
    assert sign_test(higher, lower) == sign_test(lower, higher) == pytest.approx(p)


def test_pairing_finds_what_means_cannot() -> None:
    """One team is always one better, while episodes differ much more."""
    easy, hard = [(float(k + 1), float(k)) for k in range(0, 40, 4)], [(101.0, 100.0)] * 3
    result = paired_difference([easy, hard])
    assert result is not None and (result.mean.value, result.mean.low, result.mean.high) == (1.0, 1.0, 1.0)
    assert (result.higher, result.equal, result.lower) == (13, 0, 0) and result.p == 2 / 2**13
    assert paired_difference([]) is None
