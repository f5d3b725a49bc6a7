"""Differences between two teams on the same episodes: paired bootstrap and sign test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from collab_overcooked.metrics.intervals import Estimate, mean_of_groups


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Difference between two teams on the same episodes."""

    mean: Estimate  # Mean over tasks of the mean difference, with the 95 % interval of a bootstrap over pairs
    higher: int  # Number of pairs in which the first team scored higher
    equal: int  # Number of pairs with equal scores
    lower: int  # Number of pairs in which the first team scored lower
    p: float  # Two-sided p value of the sign test; 1 if no pair differs


def sign_test(higher: int, lower: int) -> float:
    """Return the two-sided p value of the exact binomial test for numbers of higher and lower pairs, without ties."""
    n = higher + lower
    tail = sum(math.comb(n, k) for k in range(min(higher, lower) + 1)) / 2**n
    return min(1.0, 2 * tail)


def paired_difference(tasks: Sequence[Sequence[tuple[float, float]]]) -> PairedDifference | None:
    """Compare two teams by their score differences in episodes that both played.

    Args:
        tasks: For each task, pairs of scores: first and second team in one episode.

    Returns:
        The difference; None if there is no shared episode.
    """
    differences = [[first - second for first, second in pairs] for pairs in tasks]
    mean = mean_of_groups(differences)
    if mean is None:
        return None
    values = [value for task in differences for value in task]
    higher, lower = sum(value > 0 for value in values), sum(value < 0 for value in values)
    return PairedDifference(mean, higher, len(values) - higher - lower, lower, sign_test(higher, lower))
