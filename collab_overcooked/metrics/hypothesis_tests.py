"""Tests of means with effect sizes: pairs, two independent samples, several groups. Requires the extra SciPy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collab_overcooked.metrics.intervals import Estimate

Values = Sequence[float]
_MAX_NONCENTRALITY = 1e3  # upper end of the search interval


@dataclass(frozen=True, slots=True)
class TwoSampleTest:
    """A comparison of two means."""

    difference: Estimate  # First mean minus second, with the 95 % interval of its t distribution
    # Cohen's d of the differences of pairs (d_z), or Hedges' g of independent samples, with its 95 % interval; None
    # without variance
    effect: Estimate | None
    t: float | None  # Statistic of the paired t test or Welch's t test; None without variance
    df: float | None  # Degrees of freedom of the t test
    p: float | None  # Two-sided p value of the t test
    rank_p: float  # Two-sided p value of Wilcoxon's signed-rank test, or of the Mann-Whitney test


@dataclass(frozen=True, slots=True)
class Anova:
    """An analysis of variance with one factor."""

    f: float | None  # Ratio of the variances between and within groups; None without variance within groups
    between: int  # Degrees of freedom of the groups
    within: int  # Degrees of freedom of the error
    p: float | None  # p value of F, with the Greenhouse-Geisser correction for repeated measures
    # Share of the variance explained by the groups (η², partial η² of repeated measures), with its 95 % interval
    effect: Estimate | None
    epsilon: float | None = None  # Greenhouse-Geisser estimate of sphericity for repeated measures, 1 if it holds


@dataclass(frozen=True, slots=True)
class TukeyComparison:
    """A comparison of two of several groups."""

    first: str  # Name of the first group
    second: str  # Name of the second group
    difference: Estimate  # First mean minus second, with a simultaneous 95 % interval for all pairs of groups
    p: float | None  # p value corrected for all pairs of groups; None without variance within groups
    effect: float | None  # Hedges' g; None without variance within groups


def scipy_stats() -> Any:
    """Return the module ``scipy.stats``, which only the extra ``stats`` installs.

    Raises:
        ValueError: SciPy is not installed.
    """
    try:
        from scipy import stats
    except ImportError:
        raise ValueError("tests of significance need the extra stats: pip install 'collab-overcooked[stats]'") from None
    return stats


def paired_test(differences: Values) -> TwoSampleTest | None:
    """Test whether the differences of pairs have a mean other than 0.

    Returns:
        Paired t test, Wilcoxon's signed-rank test (zeros left out) and d_z; None for fewer than two pairs.
    """
    values = np.asarray(differences, np.float64)
    n = len(values)
    if n < 2:
        return None
    stats = scipy_stats()
    mean = float(values.mean())
    deviation = _deviation(values)
    nonzero = values[values != 0.0]
    exact = len(nonzero) <= 50 and len(np.unique(np.abs(nonzero))) == len(nonzero)
    rank_p = float(stats.wilcoxon(nonzero, method="exact" if exact else "asymptotic").pvalue) if len(nonzero) else 1.0
    if deviation == 0.0:
        return TwoSampleTest(Estimate(mean), None, None, None, None, rank_p)
    test = stats.ttest_1samp(values, 0.0)
    effect = _t_effect(float(test.statistic), n - 1, 1.0 / math.sqrt(n))
    return _two_sample(mean, test, effect, rank_p)


def independent_test(first: Values, second: Values) -> TwoSampleTest | None:
    """Test whether two independent samples have different means.

    Returns:
        Welch's t test, the Mann-Whitney test and Hedges' g (pooled deviation, corrected for small samples); None if
        one of the samples has fewer than two values.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    n, m = len(one), len(other)
    if min(n, m) < 2:
        return None
    stats, mean = scipy_stats(), float(one.mean() - other.mean())
    rank_p = float(stats.mannwhitneyu(one, other).pvalue)
    if _deviation(one) == _deviation(other) == 0.0:
        return TwoSampleTest(Estimate(mean), None, None, None, None, 1.0 if mean == 0.0 else rank_p)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # one of the samples may have no variance
        test = stats.ttest_ind(one, other, equal_var=False)
    scale = math.sqrt(1 / n + 1 / m)
    effect = _t_effect(mean / (_pooled(one, other) * scale), n + m - 2, scale * _small_sample(n + m - 2))
    return _two_sample(mean, test, effect, rank_p)


def _two_sample(mean: float, test: Any, effect: Estimate, rank_p: float) -> TwoSampleTest:
    interval = test.confidence_interval(0.95)
    difference = Estimate(mean, float(interval.low), float(interval.high))
    return TwoSampleTest(difference, effect, float(test.statistic), float(test.df), float(test.pvalue), rank_p)


def _deviation(values: NDArray[np.float64]) -> float:
    deviation = float(values.std(ddof=1))
    return 0.0 if deviation <= 1e-12 * max(1.0, float(np.abs(values).max())) else deviation


def _pooled(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    n, m = len(one), len(other)
    return math.sqrt(((n - 1) * _deviation(one) ** 2 + (m - 1) * _deviation(other) ** 2) / (n + m - 2))


def _small_sample(df: int) -> float:
    return 1.0 - 3.0 / (4.0 * df - 1.0)


def _t_effect(t: float, df: int, scale: float) -> Estimate:
    """Return ``t * scale`` with the interval of the noncentral t distribution."""
    if abs(t) > _MAX_NONCENTRALITY / 2:
        return Estimate(t * scale)
    distribution = scipy_stats().nct

    def share_below(value: float) -> float:
        share = float(distribution.cdf(t, df, value))
        if math.isnan(share):  # scipy's tails far out
            return 1.0 if value < t else 0.0
        return share

    def noncentrality(target: float) -> float:
        reach = 60.0 + 3.0 * abs(t)  # with one degree of freedom an end is 2.3 times as far as t
        return _root(lambda value: share_below(value) - target, t - reach, t + reach)

    return Estimate(t * scale, noncentrality(0.975) * scale, noncentrality(0.025) * scale)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a falling function by bisection."""
    if function(low) <= 0.0:
        return low
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if function(middle) > 0.0 else (low, middle)
    return (low + high) / 2.0


def holm(p_values: Values) -> list[float]:
    """Return p values corrected for the number of tests by Holm's step-down method (1979), in the given order."""
    corrected, least = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = least
    return corrected


def one_way_anova(groups: Mapping[str, Values]) -> Anova | None:
    """Compare the means of several independent groups.

    Args:
        groups: Values by group.

    Returns:
        F with η²; None for fewer than two groups, or if no group has two values.
    """
    samples = [np.asarray(sample, np.float64) for sample in groups.values() if len(sample)]
    within, between = sum(map(len, samples)) - len(samples), len(samples) - 1
    if between < 1 or within < 1:
        return None
    grand = float(np.concatenate(samples).mean())
    explained = sum(len(sample) * float(sample.mean() - grand) ** 2 for sample in samples)
    rest = sum(float(((sample - sample.mean()) ** 2).sum()) for sample in samples)
    if not _varies(explained, rest):
        return Anova(None, between, within, None, None)
    test = scipy_stats().f_oneway(*samples)
    f, effect = float(test.statistic), explained / (explained + rest)
    return Anova(f, between, within, float(test.pvalue), f_effect(f, between, within, effect))


def repeated_anova(table: Sequence[Values]) -> Anova | None:
    """Compare the means of several conditions measured on the same subjects.

    Args:
        table: One row per subject, with one value per condition.

    Returns:
        F with partial η², p with the correction of Greenhouse and Geisser (1959); None for fewer than two rows or
        columns.
    """
    values = np.asarray(table, np.float64)
    if values.ndim != 2 or min(values.shape) < 2:
        return None
    n, k = values.shape
    centred = values - values.mean(axis=1, keepdims=True)  # without the means of subjects
    means = centred.mean(axis=0)
    explained = n * float((means**2).sum())
    rest = float(((centred - means) ** 2).sum())
    covariance = np.cov(centred, rowvar=False)
    squares = float((covariance**2).sum())
    epsilon = min(1.0, float(np.trace(covariance)) ** 2 / ((k - 1) * squares)) if squares > 0.0 else 1.0
    between, within = k - 1, (k - 1) * (n - 1)
    if not _varies(explained, rest):
        return Anova(None, between, within, None, None, epsilon)
    f, effect = explained / between / (rest / within), explained / (explained + rest)
    p = float(scipy_stats().f.sf(f, between * epsilon, within * epsilon))
    return Anova(f, between, within, p, f_effect(f, between, within, effect), epsilon)


def _varies(explained: float, rest: float) -> bool:
    return rest > 1e-12 * max(explained, 1.0)


def f_effect(f: float, between: int, within: int, effect: float) -> Estimate:
    """Return a share of the variance with the interval of the noncentral F distribution."""
    if f * between >= _MAX_NONCENTRALITY / 4:
        return Estimate(effect)
    distribution = scipy_stats().ncf

    def share(target: float) -> float:
        value = _root(lambda nc: float(distribution.cdf(f, between, within, nc)) - target, 0.0, _MAX_NONCENTRALITY)
        return value / (value + between + within + 1)

    return Estimate(effect, share(0.975), share(0.025))


def tukey_comparisons(groups: Mapping[str, Values]) -> list[TukeyComparison]:
    """Compare each pair of several groups by Tukey's honest significance test, for groups of any sizes (Kramer).

    Args:
        groups: Values by group, with at least two values in one of them.
    """
    samples = {name: np.asarray(values, np.float64) for name, values in groups.items() if len(values)}
    df = sum(map(len, samples.values())) - len(samples)
    if len(samples) < 2 or df < 1:
        return []
    names, values = list(samples), list(samples.values())
    error = sum((len(sample) - 1) * _deviation(sample) ** 2 for sample in values if len(sample) > 1) / df
    distribution, k = scipy_stats().studentized_range, len(samples)  # tukey_hsd refuses groups of one value
    margin = float(distribution.ppf(0.95, k, df)) if error > 0.0 else 0.0
    comparisons = []
    for i, j in combinations(range(len(names)), 2):
        one, other = values[i], values[j]
        mean = float(one.mean() - other.mean())
        if error == 0.0:
            comparisons.append(TukeyComparison(names[i], names[j], Estimate(mean), None, None))
            continue
        scale = math.sqrt(error / 2 * (1 / len(one) + 1 / len(other)))
        difference = Estimate(mean, mean - margin * scale, mean + margin * scale)
        p = float(distribution.sf(abs(mean) / scale, k, df))
        enough = len(one) > 1 < len(other) and _pooled(one, other) > 0.0
        g = mean / _pooled(one, other) * _small_sample(len(one) + len(other) - 2) if enough else None
        comparisons.append(TukeyComparison(names[i], names[j], difference, p, g))
    return comparisons
