"""Robust statistics of scores beside many partners, with intervals that resample training seeds, partners and games.

Source: Agarwal et al. (2021) for the interquartile mean, performance profiles and the probability of improvement; the
worst tenth is the conditional value at risk at 10 %. Scores are matrices: one row for each training seed of a method,
one column for each partner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from collab_overcooked.metrics.intervals import Estimate

Array = np.ndarray
RESAMPLES = 1_000
WORST = 0.1  # share of scores that the worst tenth averages
_SEED = 20250102  # any constant: the same games always get the same interval


def iqm(scores: Array) -> float:
    """Return the interquartile mean: the mean of the middle half, without a quarter of the scores at each end."""
    ordered = np.sort(scores, axis=None)
    cut = len(ordered) // 4
    return float(ordered[cut : len(ordered) - cut].mean())


def worst_tenth(scores: Array) -> float:
    """Return the mean of the lowest tenth of the scores, at least of one."""
    ordered = np.sort(scores, axis=None)
    return float(ordered[: math.ceil(WORST * len(ordered))].mean())


def best_response_proximity(shares: Array) -> float:
    """Return BR-Prox of ZSC-Eval: the interquartile mean of scores that are clipped at the best response's."""
    return iqm(np.minimum(shares, 1.0))


def group_means(scores: Array, groups: Sequence[str]) -> dict[str, float]:
    """Return the mean score of each group of columns, in the order of their first columns."""
    names = np.array(groups)
    return {name: float(scores[:, names == name].mean()) for name in dict.fromkeys(groups)}


def lowest_group(scores: Array, groups: Sequence[str]) -> float:
    """Return the lowest of the groups' mean scores."""
    return min(group_means(scores, groups).values())


def performance_profile(scores: Array, thresholds: Array) -> Array:
    """Return the share of scores above each threshold, float64 (T,)."""
    return np.asarray((scores.reshape(-1)[:, None] > thresholds).mean(0))


def improvement(first: Array, second: Array) -> float:
    """Return the probability that a seed of the first method scores higher than one of the second beside a partner.

    Args:
        first: (S1, P).
        second: (S2, P), with the same partners.

    Returns:
        Mean over partners of the share of pairs of seeds in which the first is higher; ties count half.
    """
    differences = first[:, None, :] - second[None, :, :]
    return float(((differences > 0) + 0.5 * (differences == 0)).mean())


Games = Sequence[Sequence[Array]]
"""Score of every game, (games,), by training seed and partner."""


def cell_means(games: Games) -> Array:
    """Return the mean score of each seed beside each partner, float64 (S, P)."""
    return np.array([[cell.mean() for cell in row] for row in games])


def resampled(games: Games, rng: np.random.Generator, columns: Array) -> Array:
    """Return the mean scores of R resamples, float64 (R, S, P'): seeds first, then the games of each cell.

    The games of a cell are resampled R times in all, and each resample takes any of these means.

    Args:
        games: Scores of all games.
        rng: Source of the resamples.
        columns: (R, P'), numbers of the partners that were drawn; the same ones for all seeds of a resample.
    """
    count, seeds = len(columns), len(games)
    means = np.array([[rng.choice(cell, (count, len(cell))).mean(1) for cell in row] for row in games])
    rows = rng.integers(seeds, size=(count, seeds))
    which = rng.integers(count, size=(count, seeds, columns.shape[1]))
    return np.asarray(means[rows[:, :, None], columns[:, None, :], which])


def _draw_partners(groups: Sequence[str], resamples: int) -> tuple[np.random.Generator, Array]:
    """Return a generator and R draws of as many partners of each group as there are, in their places, int64 (R, P)."""
    rng = np.random.default_rng(_SEED)
    names = np.array(groups)
    columns = np.empty((resamples, len(groups)), np.int64)
    for name in dict.fromkeys(groups):
        members = np.flatnonzero(names == name)
        columns[:, members] = rng.choice(members, (resamples, len(members)))
    return rng, columns


def nested_intervals(
    games: Games, groups: Sequence[str], statistics: Mapping[str, Callable[[Array], float]], resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Return statistics of scores with their 95 % intervals.

    The bootstrap resamples training seeds first, then the partners of each group, then the games of each seed with each
    partner, so that intervals speak of further training runs and further partners of the same kinds. With a single
    seed, of a program or of one training, they speak of partners and games alone.

    Args:
        games: Scores of all games.
        groups: Group of each partner (P,); a drawn partner takes the place of one of its group.
        statistics: Functions of the mean scores (S, P).
        resamples: Number of resamples.
    """
    rng, columns = _draw_partners(groups, resamples)
    scores, draws = cell_means(games), resampled(games, rng, columns)
    return {
        name: _estimate(statistic(scores), [statistic(draw) for draw in draws])
        for name, statistic in statistics.items()
    }


def improvement_intervals(
    games: Sequence[Games], groups: Sequence[str], resamples: int = RESAMPLES
) -> list[list[Estimate]]:
    """Return the probability of improvement of each method (row) over each method (column), with intervals.

    Args:
        games: Scores of all games by method; methods share the partners, which are resampled jointly.
        groups: Group of each partner (P,), within which partners are resampled.
        resamples: Number of resamples.
    """
    rng, columns = _draw_partners(groups, resamples)
    methods = [(cell_means(method), resampled(method, rng, columns)) for method in games]

    def interval(first: tuple[Array, Array], second: tuple[Array, Array]) -> Estimate:
        draws = list(map(improvement, first[1], second[1]))
        return _estimate(improvement(first[0], second[0]), draws)

    return [[interval(first, second) for second in methods] for first in methods]


def profile_intervals(games: Games, groups: Sequence[str], thresholds: Array, resamples: int = RESAMPLES) -> Array:
    """Return the performance profile and the lower and upper ends of its 95 % intervals, float64 (3, T).

    Args:
        games: Scores of all games.
        groups: Group of each partner (P,), within which partners are resampled.
        thresholds: (T,).
        resamples: Number of resamples.
    """
    rng, columns = _draw_partners(groups, resamples)
    draws = [performance_profile(draw, thresholds) for draw in resampled(games, rng, columns)]
    return np.array([performance_profile(cell_means(games), thresholds), *np.quantile(draws, [0.025, 0.975], 0)])


def _estimate(value: float, draws: Sequence[float]) -> Estimate:
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(value, float(low), float(high))
