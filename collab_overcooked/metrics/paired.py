"""Differences between two teams that played the same episodes: paired bootstrap, and the sign test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from collab_overcooked.metrics.intervals import Estimate, mean_of_groups


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much more one team reached than another on the same episodes.

    Attributes:
        mean: Mean over tasks of the mean difference, with the 95 % interval of a bootstrap over pairs.
        higher: Pairs in which the first team reached more.
        equal: Pairs in which both reached the same.
        lower: Pairs in which the first team reached less.
        p: Two-sided p value of the sign test; 1 where no pair differs.
    """

    mean: Estimate
    higher: int
    equal: int
    lower: int
    p: float


def sign_test(higher: int, lower: int) -> float:
    """Return the two-sided p value of so many pairs above and below, ties left out: the exact binomial test."""
    n = higher + lower
    tail = sum(math.comb(n, k) for k in range(min(higher, lower) + 1)) / 2**n
    return min(1.0, 2 * tail)


def paired_difference(tasks: Sequence[Sequence[tuple[float, float]]]) -> PairedDifference | None:
    """Compare two teams.

    Args:
        tasks: For each task, what the first and the second team reached in each episode that both played.

    Returns:
        The difference; None if they share no episode.
    """
    differences = [[one - other for one, other in pairs] for pairs in tasks]
    mean = mean_of_groups(differences)
    if mean is None:
        return None
    every = [value for own in differences for value in own]
    higher, lower = sum(value > 0 for value in every), sum(value < 0 for value in every)
    return PairedDifference(mean, higher, len(every) - higher - lower, lower, sign_test(higher, lower))
