"""Robust statistics against slow and obvious versions, and intervals against what resampling must give."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from collab_overcooked.metrics import robust
from collab_overcooked.metrics.intervals import Estimate

rng = np.random.default_rng(3)
SHAPES = [(1, 1), (1, 3), (2, 5), (1, 11), (3, 5), (5, 12), (4, 25), (7, 17)]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_interquartile_mean_is_scipys_trimmed_mean(shape):
    scores = rng.normal(size=shape)
    assert robust.iqm(scores) == pytest.approx(stats.trim_mean(scores, 0.25, axis=None))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_worst_tenth_is_the_mean_of_the_lowest(shape):
    scores = rng.normal(size=shape)
    lowest = sorted(scores.ravel().tolist())[: math.ceil(scores.size / 10)]
    assert robust.worst_tenth(scores) == pytest.approx(sum(lowest) / len(lowest))


def test_best_response_proximity_clips_above_only():
    scores = np.array([[2.0, 2.0, -1.0, 0.5]])
    assert robust.best_response_proximity(scores) == pytest.approx((0.5 + 1) / 2)
    assert robust.iqm(scores) == pytest.approx((0.5 + 2) / 2)


def test_groups():
    scores, groups = np.array([[1.0, 2, 3], [3, 4, 9]]), ["b", "a", "b"]
    assert robust.group_means(scores, groups) == {"b": 4.0, "a": 3.0}
    assert robust.lowest_group(scores, groups) == 3.0


@pytest.mark.parametrize("shape", SHAPES)
def test_profile_counts_scores_above_each_threshold(shape):
    scores, thresholds = rng.integers(0, 5, shape) / 4, np.linspace(0, 1.2, 7)
    counted = [sum(score > t for score in scores.ravel().tolist()) / scores.size for t in thresholds]
    assert robust.performance_profile(scores, thresholds) == pytest.approx(counted)


@pytest.mark.parametrize("shape", SHAPES)
def test_improvement_is_mann_whitney_by_partner(shape):
    first, second = rng.integers(0, 4, shape), rng.integers(0, 4, (3, shape[1]))
    naive = []
    for p in range(shape[1]):
        pairs = list(product(first[:, p].tolist(), second[:, p].tolist()))
        naive.append(sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs))
        u = stats.mannwhitneyu(first[:, p], second[:, p]).statistic  # as rliable computes it
        assert naive[-1] == pytest.approx(u / (shape[0] * 3))
    assert robust.improvement(first, second) == pytest.approx(np.mean(naive))
    assert robust.improvement(second, first) == pytest.approx(1 - np.mean(naive))


MEAN = {"mean": lambda scores: float(scores.mean())}


def games_of(seeds, partners, count, seed_noise, partner_noise, game_noise):
    rows, columns = rng.normal(size=seeds) * seed_noise, rng.normal(size=partners) * partner_noise
    return [[row + column + rng.normal(size=count) * game_noise for column in columns] for row in rows]


def width(games):
    result = robust.nested_intervals(games, ["one"] * len(games[0]), MEAN, 400)["mean"]
    assert result.low <= result.value <= result.high
    assert result.value == pytest.approx(robust.cell_means(games).mean())
    return result.high - result.low


def test_intervals_hold_the_spread_of_seeds_partners_and_games():
    """The standard error of each level alone, which the width of the interval must be about four of."""
    assert width(games_of(5, 6, 4, 0, 0, 0)) == 0
    for games, deviation in (
        (games_of(8, 3, 4, 1, 0, 0), lambda means: means.mean(1).std() / math.sqrt(8)),
        (games_of(3, 9, 4, 0, 1, 0), lambda means: means.mean(0).std() / math.sqrt(9)),
    ):
        assert width(games) == pytest.approx(3.92 * deviation(robust.cell_means(games)), rel=0.2)
    noisy = games_of(1, 1, 50, 0, 0, 1)
    assert width(noisy) == pytest.approx(3.92 * noisy[0][0].std() / math.sqrt(50), rel=0.2)


def test_more_games_do_not_make_few_seeds_certain():
    few = games_of(3, 8, 5, 1, 0.1, 0.1)
    many = [[np.tile(cell, 50) for cell in row] for row in few]
    assert width(many) > 0.8 * width(few)


def test_intervals_are_the_same_each_time():
    games, groups = games_of(2, 4, 3, 1, 1, 1), list("aabb")
    lowest = {"lowest": lambda scores: robust.lowest_group(scores, groups)}
    first, second = (robust.nested_intervals(games, groups, lowest, 50) for _ in range(2))
    assert first == second
    assert first["lowest"].value == robust.lowest_group(robust.cell_means(games), groups)


def test_partners_are_resampled_within_their_groups():
    """Every resample has all groups: a group of one partner always counts, and only groups of several add a spread."""
    alike = [[np.full(3, score) for score in (0.0, 10.0, 10.0, 10.0)]]
    groups = ["alone", "many", "many", "many"]
    mean = {"mean": lambda scores: float(np.mean(list(robust.group_means(scores, groups).values())))}
    assert robust.nested_intervals(alike, groups, mean, 200)["mean"] == Estimate(5.0, 5.0, 5.0)
    mixed = [[np.full(3, score) for score in (0.0, 8.0, 10.0, 12.0)]]
    interval = robust.nested_intervals(mixed, groups, mean, 2_000)["mean"]
    assert (interval.low, interval.value, interval.high) == (4.0, 5.0, 6.0)  # a share of 1/27 draws the lowest thrice
    assert robust.improvement_intervals([alike, alike], groups, 50)[0][1] == Estimate(0.5, 0.5, 0.5)


def test_profiles_lie_within_their_intervals():
    """Of four partners, three are above 0.5: all, or one of four drawn ones at least, in 97.5 % of the resamples."""
    games = [[np.full(3, score) for score in (0.0, 1.0, 1.0, 1.0)]]
    ends = robust.profile_intervals(games, ["one"] * 4, np.array([-0.5, 0.5, 1.5]), 2_000)
    assert ends.tolist() == [[1.0, 0.75, 0.0], [1.0, 0.25, 0.0], [1.0, 1.0, 0.0]]


def test_improvement_intervals():
    better, worse = games_of(4, 5, 6, 0.1, 1, 0.1), games_of(4, 5, 6, 0.1, 1, 0.1)
    better = [[cell + 100 for cell in row] for row in better]
    worse_again = [[cell.copy() for cell in row] for row in worse]
    table = robust.improvement_intervals([better, worse, worse_again], ["one"] * 5, 50)
    result, same = table[0][1], table[1][2]
    assert (result.low, result.value, result.high) == (1, 1, 1)
    assert same.low < 0.5 == same.value < same.high  # seeds of two methods are resampled apart


# ------------------------------------------------------------------------------------------- every resample there is


GAMES = [[np.array([0.0, 1.0]), np.array([3.0, 7.5])], [np.array([11.0, 31.0]), np.array([47.0, 101.0])]]
COUNT = 10_000  # resamples, whose shares are right to a percent


def every_resample(games):
    """Return the scores of all equally likely resamples: seeds, then partners, then the games of each cell."""
    seeds, partners, resamples = len(games), len(games[0]), []
    for rows in product(range(seeds), repeat=seeds):
        for columns in product(range(partners), repeat=partners):
            cells = [games[row][column] for row in rows for column in columns]
            drawn = [[np.mean(picks) for picks in product(cell, repeat=len(cell))] for cell in cells]
            resamples += [np.reshape(means, (seeds, partners)) for means in product(*drawn)]
    return resamples


STATISTICS = {
    "mean": lambda scores: float(scores.mean()),
    "lowest": lambda scores: float(scores.min()),
    "highest": lambda scores: float(scores.max()),
    "spread": lambda scores: float(scores.std()),
    "between partners": lambda scores: float(scores[:, 0].mean() - scores[:, 1].mean()),
    "between seeds": lambda scores: float(scores[0].mean() - scores[1].mean()),
}


def test_resamples_are_those_of_the_bootstrap_by_hand():
    drawn = {name: [] for name in STATISTICS}

    def noting(name):
        def statistic(scores):
            drawn[name].append(STATISTICS[name](scores))
            return drawn[name][-1]

        return statistic

    intervals = robust.nested_intervals(GAMES, ["one"] * 2, {name: noting(name) for name in STATISTICS}, COUNT)
    resamples = every_resample(GAMES)
    for name, statistic in STATISTICS.items():
        (value, *values), exact = drawn[name], np.array([statistic(resample) for resample in resamples])
        assert value == statistic(robust.cell_means(GAMES))
        assert stats.ks_2samp(np.round(values, 9), np.round(exact, 9)).statistic < 0.02
        assert_ends(intervals[name], exact)


def assert_ends(interval, exact):
    """A fortieth of all resamples lies below the lower end of an interval, and one above the upper end."""
    low, high = np.quantile(exact, [[0.017, 0.033], [0.967, 0.983]]).round(9)
    assert low[0] <= round(interval.low, 9) <= low[1]
    assert high[0] <= round(interval.high, 9) <= high[1]


def test_games_of_different_cells_are_drawn_apart():
    """Cells with the same games: what one of them draws says nothing of what another draws."""
    games = [[np.arange(4.0)] * 3 for _ in range(3)]
    means = robust.resampled(games, np.random.default_rng(0), np.tile(np.arange(3), (COUNT, 1)))
    assert abs(np.corrcoef(means.reshape(COUNT, -1).T) - np.eye(9)).max() < 0.05
    assert means.std() == pytest.approx(np.arange(4.0).std() / math.sqrt(4), rel=0.02)


def test_improvement_resamples_partners_for_both_methods_and_seeds_apart():
    first = [[np.array([score]) for score in row] for row in [[3.0, 1.0, 0.0], [2.0, 4.0, 1.0]]]
    second = [[np.array([score]) for score in row] for row in [[1.0, 2.0, 5.0], [2.0, 0.0, 3.0]]]
    one, two, exact = robust.cell_means(first), robust.cell_means(second), []
    pairs = list(product(range(2), repeat=2))
    for columns, rows, others in product(product(range(3), repeat=3), pairs, pairs):
        exact.append(robust.improvement(one[list(rows)][:, columns], two[list(others)][:, columns]))
    interval = robust.improvement_intervals([first, second], ["one"] * 3, COUNT)[0][1]
    assert interval.value == robust.improvement(one, two)
    assert_ends(interval, np.array(exact))
