"""95 % intervals for means over tasks and runs: stratified bootstrap, and Wilson's interval for success."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054  # 97.5 % point of the normal distribution
_RESAMPLES = 2000
_DRAWN = 1 << 17  # numbers that are drawn at once, so that intervals of many runs take little memory
_SEED = 20250101  # any constant: the same runs always get the same interval


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float  # The estimate
    low: float | None = None  # Lower end, None if the data allow no interval (no task with two runs)
    high: float | None = None  # Upper end, None if there is no interval


def mean_ci(values: Sequence[float]) -> Estimate | None:
    """Return the mean of runs with its bootstrap interval, see :func:`mean_of_ratios`; None without runs."""
    return mean_of_groups([values])


def mean_of_groups(groups: Sequence[Sequence[float]]) -> Estimate | None:
    """Return the unweighted mean over groups of the mean of their runs, with its interval.

    Args:
        groups: One number per run of each group, such as a task; empty groups are left out.

    Returns:
        The mean with its interval, see :func:`mean_of_ratios`; None without runs.
    """
    return mean_of_ratios(groups, [[1.0] * len(values) for values in groups])


def mean_of_shares(successes: Sequence[int], trials: Sequence[int]) -> Estimate:
    """Return the unweighted mean of the tasks' success rates, with Wilson's interval.

    Source: Wilson (1927), which keeps its coverage near 0 and 1 and for few runs. Several tasks count as one
    sample of size K² / Σ 1/n_k, the size whose mean varies like the mean of K shares; with equal n_k that is
    the number of all runs. Differences between tasks make the true variance smaller, so the interval errs on
    the wide side.

    Args:
        successes: Successful runs of each of K tasks, at least one.
        trials: All runs of each task, positive.

    Returns:
        The mean share with its interval.
    """
    share = sum(s / n for s, n in zip(successes, trials, strict=True)) / len(trials)
    size = len(trials) ** 2 / sum(1.0 / n for n in trials)
    squared = _Z * _Z / size
    centre = (share + squared / 2.0) / (1.0 + squared)
    half = _Z / (1.0 + squared) * math.sqrt(share * (1.0 - share) / size + squared / (4.0 * size))
    return Estimate(share, max(0.0, centre - half), min(1.0, centre + half))


def mean_of_ratios(numerators: Sequence[Sequence[float]], denominators: Sequence[Sequence[float]]) -> Estimate | None:
    """Return the unweighted mean over tasks of Σ numerator / Σ denominator, with a stratified bootstrap interval.

    Source: percentile bootstrap that resamples the runs within each task, as Agarwal et al. (2021) recommend
    for a few runs of several tasks. A ratio covers means (denominator 1), the pooled IC and RC (denominator
    the conversations of the run) and times of successful runs (denominator 0 or 1) alike. Tasks whose
    denominator is 0 are left out. 2000 resamples from a fixed seed, so equal runs give equal intervals.
    With few runs of a single task the interval is somewhat narrow.

    Args:
        numerators: Per task, one number per run.
        denominators: Same shape, not negative.

    Returns:
        The mean with its interval (2.5 % and 97.5 % points), None if no task has a positive denominator.
    """
    rng = np.random.default_rng(_SEED)
    values, draws, repeated = [], [], False
    for top, bottom in zip(numerators, denominators, strict=True):
        if sum(bottom) == 0:
            continue
        above, below = np.asarray(top, np.float64), np.asarray(bottom, np.float64)
        repeated |= len(above) > 1
        values.append(float(above.sum() / below.sum()))
        draws.append(_resampled_ratios(above, below, rng))
    if not values:
        return None
    value = sum(values) / len(values)
    if not repeated:
        return Estimate(value)
    low, high = _ends(draws)
    return Estimate(value, low, high)


def _resampled_ratios(
    above: NDArray[np.float64], below: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the ratio of each resample, shape [_RESAMPLES]; nan if all its denominators are 0."""
    top, bottom = np.empty(_RESAMPLES), np.empty(_RESAMPLES)
    size = max(1, _DRAWN // len(above))  # resamples at once; the generator's numbers do not depend on it
    for first in range(0, _RESAMPLES, size):
        part = slice(first, min(first + size, _RESAMPLES))
        drawn = rng.integers(len(above), size=(part.stop - first, len(above)))
        top[part], bottom[part] = above[drawn].sum(axis=1), below[drawn].sum(axis=1)
    return np.divide(top, bottom, out=np.full(_RESAMPLES, np.nan), where=bottom > 0)


def _ends(draws: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    table = np.stack(draws)  # (tasks, resamples)
    present = ~np.isnan(table)
    counts = present.sum(axis=0)
    means = np.where(present, table, 0.0).sum(axis=0)[counts > 0] / counts[counts > 0]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
