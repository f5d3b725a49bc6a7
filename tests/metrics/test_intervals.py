"""Intervals of means are those of SciPy at 95 %."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from collab_overcooked.metrics.intervals import mean_ci, mean_of_groups, mean_of_ratios, mean_of_shares


@pytest.mark.parametrize("size", [5, 40, 200])
def test_the_interval_of_a_mean_is_the_percentile_bootstrap(size):
    values = np.random.default_rng(size).gamma(2.0, size=size)
    result = mean_ci(values.tolist())
    reference = stats.bootstrap(
        (values,), np.mean, n_resamples=20000, confidence_level=0.95, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    width = reference.high - reference.low  # an interval of 90 % is a sixth narrower
    assert result.value == pytest.approx(values.mean())
    assert [result.low, result.high] == pytest.approx([reference.low, reference.high], abs=0.05 * width)
    assert result.high - result.low == pytest.approx(width, rel=0.08)


def test_groups_count_alike_and_are_resampled_apart():
    groups = [[0.0, 2.0], [10.0] * 50]
    result = mean_of_groups(groups)
    assert (result.value, result.low, result.high) == (5.5, 5.0, 6.0)


def test_a_ratio_pools_its_runs():
    result = mean_of_ratios([[1, 3]], [[1, 1]])
    assert (result.value, result.low, result.high) == (2.0, 1.0, 3.0)
    assert mean_of_ratios([[1], [4], [7]], [[1], [2], [0]]).value == pytest.approx(1.5)
    assert mean_of_ratios([[1]], [[0]]) is None


@pytest.mark.parametrize(("successes", "trials"), [(0, 4), (3, 10), (50, 50), (17, 400)])
def test_the_interval_of_a_share_is_wilsons(successes, trials):
    result = mean_of_shares([successes], [trials])
    reference = stats.binomtest(successes, trials).proportion_ci(0.95, "wilson")
    assert [result.low, result.high] == pytest.approx([reference.low, reference.high])
