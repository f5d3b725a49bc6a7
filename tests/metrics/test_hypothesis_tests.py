"""Tests of significance: against SciPy and statsmodels, published tables, degenerate samples, and the command."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.metrics.hypothesis_tests import (
    independent_test,
    one_way_anova,
    paired_test,
    repeated_anova,
    tukey_comparisons,
)

stats = pytest.importorskip("scipy.stats", reason="the extra 'stats' is not installed")

RNG = np.random.default_rng(4)
FIVE = {name: RNG.normal(mean, 1.0, 12).tolist() for name, mean in zip("abcde", (0, 1.2, 1.5, 1.4, 0.2), strict=True)}


def test_pairs_are_tested_as_scipy_does() -> None:
    one, other = np.array(FIVE["a"]), np.array(FIVE["b"])
    found = paired_test((one - other).tolist())
    assert found is not None and found.effect is not None
    expected = stats.ttest_rel(one, other)
    assert (found.t, found.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    interval = expected.confidence_interval()
    assert (found.difference.low, found.difference.high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert found.rank_p == pytest.approx(stats.wilcoxon(one, other).pvalue)
    assert found.effect.value == pytest.approx((one - other).mean() / (one - other).std(ddof=1))
    assert found.effect.low is not None and found.effect.high is not None
    assert found.effect.low < found.effect.value < found.effect.high


def test_the_interval_of_an_effect_is_that_of_the_noncentral_t() -> None:
    """With t = 2 of 10 pairs the ends are the noncentralities under which t is the 97.5 and the 2.5 % point."""
    differences = np.array([-1.0, 1.0] * 5)
    differences += 2.0 * differences.std(ddof=1) / math.sqrt(10)
    found = paired_test(differences.tolist())
    assert found is not None and found.effect is not None and found.t == pytest.approx(2.0)
    for end, share in ((found.effect.low, 0.975), (found.effect.high, 0.025)):
        assert end is not None
        assert stats.nct.cdf(2.0, 9, end * math.sqrt(10)) == pytest.approx(share, abs=1e-6)


def test_independent_samples_are_tested_as_scipy_does() -> None:
    one, other = FIVE["a"], FIVE["b"][:7]
    found = independent_test(one, other)
    expected = stats.ttest_ind(one, other, equal_var=False)
    assert found is not None and found.effect is not None
    assert (found.t, found.p, found.df) == tuple(map(pytest.approx, (expected.statistic, expected.pvalue, expected.df)))
    assert found.rank_p == pytest.approx(stats.mannwhitneyu(one, other).pvalue)
    pooled = math.sqrt((11 * np.var(one, ddof=1) + 6 * np.var(other, ddof=1)) / 17)
    assert found.effect.value == pytest.approx((np.mean(one) - np.mean(other)) / pooled * (1 - 3 / (4 * 17 - 1)))


@pytest.mark.parametrize(
    ("differences", "t"), [([0.0, 0.0, 0.0], None), ([0.1, 0.1, 0.1], None), ([1.0, -1.0], 0.0), ([0.3], "none")]
)
def test_samples_without_variation_have_no_t(differences: list[float], t: Any) -> None:
    found = paired_test(differences)
    if t == "none":
        assert found is None
        return
    assert found is not None and found.t == t
    assert 0.0 <= found.rank_p <= 1.0


def test_equal_samples_differ_in_nothing() -> None:
    found = independent_test([1.0, 1.0], [1.0, 1.0, 1.0])
    assert found is not None and found.t is None and found.rank_p == 1.0
    assert independent_test([1.0], [2.0, 3.0]) is None


def test_anova_is_scipys_and_its_degrees_of_freedom_those_of_the_paper() -> None:
    """Twelve people in five conditions: F(4, 55), as MindAgent prints."""
    found = one_way_anova(FIVE)
    expected = stats.f_oneway(*FIVE.values())
    assert found is not None and (found.between, found.within) == (4, 55)
    assert (found.f, found.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert found.effect is not None and found.effect.value == pytest.approx(found.f * 4 / (found.f * 4 + 55))
    assert found.effect.low is not None and found.effect.high is not None
    assert 0.0 <= found.effect.low < found.effect.value < found.effect.high < 1.0


def test_the_f_of_the_paper_has_the_p_of_the_paper() -> None:
    assert stats.f.sf(28.11, 4, 55) < 0.001


def test_tukey_is_scipys() -> None:
    expected = stats.tukey_hsd(*FIVE.values())
    interval = expected.confidence_interval()
    found = tukey_comparisons(FIVE)
    assert len(found) == 10
    names = list(FIVE)
    for own in found:
        i, k = names.index(own.first), names.index(own.second)
        assert own.p == pytest.approx(expected.pvalue[i, k], abs=1e-6)
        assert own.difference.value == pytest.approx(expected.statistic[i, k])
        assert own.difference.low == pytest.approx(interval.low[i, k], abs=1e-4)


@pytest.mark.slow
def test_repeated_measures_are_statsmodels() -> None:
    """Values of a textbook: Girden (1992) prints the correction of Greenhouse and Geisser for such a table."""
    anova = pytest.importorskip("statsmodels.stats.anova", reason="statsmodels is not installed")
    pandas = pytest.importorskip("pandas")
    table = np.array(list(FIVE.values())).T + RNG.normal(0, 2, (12, 1))
    found = repeated_anova(table.tolist())
    long = [(i, k, table[i, k]) for i in range(12) for k in range(5)]
    expected = anova.AnovaRM(pandas.DataFrame(long, columns=["s", "c", "y"]), "y", "s", within=["c"]).fit().anova_table
    assert found is not None and found.f == pytest.approx(expected["F Value"].iloc[0])
    assert (found.between, found.within) == (4, 44) and found.epsilon is not None and 0.25 <= found.epsilon <= 1.0
    assert found.p is not None and found.p >= expected["Pr > F"].iloc[0]


def test_two_repeated_conditions_are_the_paired_test() -> None:
    table = [[a, b] for a, b in zip(FIVE["a"], FIVE["b"], strict=True)]
    found, pairs = repeated_anova(table), paired_test([a - b for a, b in table])
    assert found is not None and pairs is not None and pairs.t is not None
    assert (found.f, found.p, found.epsilon) == tuple(map(pytest.approx, (pairs.t**2, pairs.p, 1.0)))


def test_groups_without_variation_are_no_error() -> None:
    same = {"a": [1.0, 1.0], "b": [2.0, 2.0]}
    found = one_way_anova(same)
    assert found is not None and found.f is None and found.p is None
    assert [own.p for own in tukey_comparisons(same)] == [None]
    assert one_way_anova({"a": [1.0, 2.0]}) is None and tukey_comparisons({"a": [1.0, 2.0]}) == []
    assert repeated_anova([[1.0, 2.0]]) is None


# ------------------------------------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three runs of a quick game."""
    folder = tmp_path_factory.mktemp("runs")
    for team in ("greedy", "random", "planner"):
        words = ["--domain", "kitchen", "--scenario", "easy", "--no-report", "--workers", "1", "--team", f"all={team}"]
        done = CliRunner().invoke(app, ["evaluate", "rush", *words, "--out", str(folder / team)])
        assert done.exit_code == 0, done.output
    return [str(folder / team) for team in ("greedy", "random", "planner")]


def cards(*words: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(app, ["significance", *words, "--format", "json"])
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_two_runs_that_share_episodes_are_tested_by_pairs(runs: list[str]) -> None:
    (row,) = next(card for card in cards(*runs[:2]) if card["title"] == "Paired tests")["tables"][0]["rows"]
    assert row["pairs"] == 3 and row["difference"]["value"] > 0 and row["p_sign"] == 0.25
    apart = cards(*runs[:2], "--unpaired", "--metrics", "return,steps")
    rows = next(card for card in apart if card["title"] == "Tests of independent samples")["tables"][0]["rows"]
    assert [row["Measure"] for row in rows] == ["return", "steps"]


def test_three_runs_are_tested_by_analysis_of_variance(runs: list[str]) -> None:
    found = {card["title"]: card["tables"][0]["rows"] for card in cards(*runs)}
    assert [row["df"] for row in found["Analyses of variance"]] == ["2, 6", "2, 4"]
    assert len(found["Tukey's comparisons"]) == 3


def test_what_cannot_be_tested_is_refused(runs: list[str], tmp_path: Path) -> None:
    for words, complaint in (
        ([runs[0]], "at least two different runs"),
        ([runs[0], runs[0]], "at least two different runs"),
        ([*runs[:2], "--metrics", "retrun"], "did you mean return"),
        ([runs[0], str(tmp_path)], "cannot be read"),
    ):
        done = CliRunner().invoke(app, ["significance", *words])
        assert done.exit_code == 2 and complaint in done.output, done.output
