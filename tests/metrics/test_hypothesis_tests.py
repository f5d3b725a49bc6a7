"""Tests of significance: against SciPy and statsmodels, published tables, degenerate samples, and the command."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.metrics.hypothesis_tests import (
    holm,
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
    result = paired_test((one - other).tolist())
    assert result is not None and result.effect is not None
    expected = stats.ttest_rel(one, other)
    assert (result.t, result.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    interval = expected.confidence_interval()
    assert (result.difference.low, result.difference.high) == (
        pytest.approx(interval.low),
        pytest.approx(interval.high),
    )
    assert result.rank_p == pytest.approx(stats.wilcoxon(one, other).pvalue)
    assert result.effect.value == pytest.approx((one - other).mean() / (one - other).std(ddof=1))
    assert result.effect.low is not None and result.effect.high is not None
    assert result.effect.low < result.effect.value < result.effect.high


def test_the_interval_of_an_effect_is_that_of_the_noncentral_t() -> None:
    """With t = 2 of 10 pairs the ends are the noncentralities under which t is the 97.5 and the 2.5 % point."""
    differences = np.array([-1.0, 1.0] * 5)
    differences += 2.0 * differences.std(ddof=1) / math.sqrt(10)
    result = paired_test(differences.tolist())
    assert result is not None and result.effect is not None and result.t == pytest.approx(2.0)
    for end, share in ((result.effect.low, 0.975), (result.effect.high, 0.025)):
        assert end is not None
        assert stats.nct.cdf(2.0, 9, end * math.sqrt(10)) == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize("pairs", [2, 3, 4, 10, 40])
@pytest.mark.parametrize("t", [2.0, 15.14, 40.0, 60.0])
def test_effects_far_from_nothing_have_both_ends(pairs: int, t: float) -> None:
    """SciPy's distribution is NaN far out, and with few pairs an interval reaches far; integrals are the reference."""
    differences = np.array([*([-1.0, 1.0] * (pairs // 2)), *([0.0] * (pairs % 2))])
    differences += t * differences.std(ddof=1) / math.sqrt(pairs)
    result, negated = paired_test(differences.tolist()), paired_test((-differences).tolist())
    assert result is not None and result.effect is not None and negated is not None and negated.effect is not None
    low, high = result.effect.low, result.effect.high
    assert low is not None and high is not None and low < result.effect.value < high
    for end, share in ((low, 0.975), (high, 0.025)):
        assert below(t, pairs - 1, end * math.sqrt(pairs)) == pytest.approx(share, abs=2e-3)
    assert (negated.effect.low, negated.effect.high) == (pytest.approx(-high, rel=1e-3), pytest.approx(-low, rel=1e-3))


def below(t: float, df: int, noncentrality: float) -> float:
    """Return the noncentral t distribution at t, which is positive, by integration over the chi-square variable."""
    integrate = pytest.importorskip("scipy.integrate")

    def density(root: float) -> float:
        return float(stats.norm.cdf(t * root / math.sqrt(df) - noncentrality) * stats.chi.pdf(root, df))

    return float(integrate.quad(density, 0, math.sqrt(df) + 10, limit=400, points=[math.sqrt(df)])[0])


def test_independent_samples_are_tested_as_scipy_does() -> None:
    one, other = FIVE["a"], FIVE["b"][:7]
    result = independent_test(one, other)
    expected = stats.ttest_ind(one, other, equal_var=False)
    assert result is not None and result.effect is not None
    assert (result.t, result.p, result.df) == tuple(
        map(pytest.approx, (expected.statistic, expected.pvalue, expected.df))
    )
    assert result.rank_p == pytest.approx(stats.mannwhitneyu(one, other).pvalue)
    pooled = math.sqrt((11 * np.var(one, ddof=1) + 6 * np.var(other, ddof=1)) / 17)
    assert result.effect.value == pytest.approx((np.mean(one) - np.mean(other)) / pooled * (1 - 3 / (4 * 17 - 1)))


@pytest.mark.parametrize(
    ("differences", "t"), [([0.0, 0.0, 0.0], None), ([0.1, 0.1, 0.1], None), ([1.0, -1.0], 0.0), ([0.3], "none")]
)
def test_samples_without_variation_have_no_t(differences: list[float], t: Any) -> None:
    result = paired_test(differences)
    if t == "none":
        assert result is None
        return
    assert result is not None and result.t == t
    assert 0.0 <= result.rank_p <= 1.0


def test_equal_samples_differ_in_nothing() -> None:
    result = independent_test([1.0, 1.0], [1.0, 1.0, 1.0])
    assert result is not None and result.t is None and result.rank_p == 1.0
    assert independent_test([1.0], [2.0, 3.0]) is None


def test_anova_is_scipys_and_its_degrees_of_freedom_those_of_the_paper() -> None:
    """Twelve people in five conditions: F(4, 55), as MindAgent prints."""
    result = one_way_anova(FIVE)
    expected = stats.f_oneway(*FIVE.values())
    assert result is not None and (result.between, result.within) == (4, 55)
    assert (result.f, result.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert result.effect is not None and result.effect.value == pytest.approx(result.f * 4 / (result.f * 4 + 55))
    assert result.effect.low is not None and result.effect.high is not None
    assert 0.0 <= result.effect.low < result.effect.value < result.effect.high < 1.0


def test_the_f_of_the_paper_has_the_p_of_the_paper() -> None:
    assert stats.f.sf(28.11, 4, 55) < 0.001


def test_holm_multiplies_the_smallest_by_all_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]
    assert holm([0.6, 0.4]) == [0.8, 0.8] and holm([0.02]) == [0.02] and holm([]) == []


def test_tukey_takes_groups_of_one_value() -> None:
    """A group of one counts in the number of groups; the error is that of the others, as scipy has it for two."""
    groups = {"a": [1.0, 2.0, 4.0], "b": [3.0, 5.0, 4.0], "c": [2.5]}
    found = {(c.first, c.second): c for c in tukey_comparisons(groups)}
    error = (np.var(groups["a"]) + np.var(groups["b"])) * 3 / 4
    q = abs(np.mean(groups["a"]) - 2.5) / np.sqrt(error / 2 * (1 / 3 + 1))
    assert found["a", "c"].p == pytest.approx(stats.studentized_range.sf(q, 3, 4)) and found["a", "c"].effect is None
    assert found["a", "b"].effect is not None


def test_tukey_is_scipys() -> None:
    expected = stats.tukey_hsd(*FIVE.values())
    interval = expected.confidence_interval()
    result = tukey_comparisons(FIVE)
    assert len(result) == 10
    names = list(FIVE)
    for entry in result:
        i, k = names.index(entry.first), names.index(entry.second)
        assert entry.p == pytest.approx(expected.pvalue[i, k], abs=1e-6)
        assert entry.difference.value == pytest.approx(expected.statistic[i, k])
        assert entry.difference.low == pytest.approx(interval.low[i, k], abs=1e-4)


@pytest.mark.slow
def test_repeated_measures_are_statsmodels() -> None:
    """Values of a textbook: Girden (1992) prints the correction of Greenhouse and Geisser for such a table."""
    anova = pytest.importorskip("statsmodels.stats.anova", reason="statsmodels is not installed")
    pandas = pytest.importorskip("pandas")
    table = np.array(list(FIVE.values())).T + RNG.normal(0, 2, (12, 1))
    result = repeated_anova(table.tolist())
    long = [(i, k, table[i, k]) for i in range(12) for k in range(5)]
    expected = anova.AnovaRM(pandas.DataFrame(long, columns=["s", "c", "y"]), "y", "s", within=["c"]).fit().anova_table
    assert result is not None and result.f == pytest.approx(expected["F Value"].iloc[0])
    assert (result.between, result.within) == (4, 44) and result.epsilon is not None and 0.25 <= result.epsilon <= 1.0
    assert result.p is not None and result.p >= expected["Pr > F"].iloc[0]


def test_two_repeated_conditions_are_the_paired_test() -> None:
    table = [[a, b] for a, b in zip(FIVE["a"], FIVE["b"], strict=True)]
    result, pairs = repeated_anova(table), paired_test([a - b for a, b in table])
    assert result is not None and pairs is not None and pairs.t is not None
    assert (result.f, result.p, result.epsilon) == tuple(map(pytest.approx, (pairs.t**2, pairs.p, 1.0)))


def test_groups_without_variation_are_no_error() -> None:
    same = {"a": [1.0, 1.0], "b": [2.0, 2.0]}
    result = one_way_anova(same)
    assert result is not None and result.f is None and result.p is None
    assert [tukey_comparison.p for tukey_comparison in tukey_comparisons(same)] == [None]
    assert one_way_anova({"a": [1.0, 2.0]}) is None and tukey_comparisons({"a": [1.0, 2.0]}) == []
    assert repeated_anova([[1.0, 2.0]]) is None


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three runs of a quick game."""
    folder = tmp_path_factory.mktemp("runs")
    for team in ("greedy", "random", "planner"):
        texts = ["--domain", "kitchen", "--scenario", "easy", "--no-report", "--workers", "1", "--team", f"all={team}"]
        done = CliRunner().invoke(app, ["evaluate", "rush", *texts, "--out", str(folder / team)])
        assert done.exit_code == 0, done.output
    return [str(folder / team) for team in ("greedy", "random", "planner")]


def cards(*text: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(app, ["significance", *text, "--format", "json"])
    assert done.exit_code == 0, done.output
    result: list[dict[str, Any]] = json.loads(done.stdout)
    return result


def test_two_runs_that_share_episodes_are_tested_by_pairs(runs: list[str]) -> None:
    (row,) = next(card for card in cards(*runs[:2]) if card["title"] == "Paired tests")["tables"][0]["rows"]
    assert row["pairs"] == 3 and row["difference"]["value"] > 0 and row["p_sign"] == 0.25
    apart = cards(*runs[:2], "--unpaired", "--metrics", "return,steps")
    rows = next(card for card in apart if card["title"] == "Tests of independent samples")["tables"][0]["rows"]
    assert [row["Measure"] for row in rows] == ["return", "steps"]


def test_three_runs_are_tested_by_analysis_of_variance(runs: list[str]) -> None:
    results = {card["title"]: card["tables"][0]["rows"] for card in cards(*runs)}
    assert [row["df"] for row in results["Analyses of variance"]] == ["2, 4"]
    assert [row["pairs"] for row in results["Paired tests"]] == [3, 3, 3]
    unpaired = {card["title"]: card["tables"][0]["rows"] for card in cards(*runs, "--unpaired")}
    assert [row["df"] for row in unpaired["Analyses of variance"]] == ["2, 6"]
    assert len(unpaired["Tukey's comparisons"]) == 3


def test_what_cannot_be_tested_is_refused(runs: list[str], tmp_path: Path) -> None:
    for text, complaint in (
        ([runs[0]], "at least two runs"),
        ([runs[0], runs[0]], "is given twice"),
        ([*runs[:2], "--metrics", "retrun"], "did you mean return"),
        ([runs[0], str(tmp_path)], "cannot be read"),
    ):
        done = CliRunner().invoke(app, ["significance", *text])
        assert done.exit_code == 2 and complaint in done.output, done.output
