"""Factorial tests are those of statsmodels, and the power of a simulation is that of the t test."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="the extra 'dev' is not installed")
smf = pytest.importorskip("statsmodels.formula.api", reason="the extra 'stats' is not installed")

from scipy.stats import f as fisher  # noqa: E402
from statsmodels.stats.anova import AnovaRM, anova_lm  # noqa: E402
from statsmodels.stats.power import TTestIndPower  # noqa: E402

from collab_overcooked.metrics.factorial import FactorialDesign  # noqa: E402
from collab_overcooked.metrics.hypothesis_tests import repeated_anova  # noqa: E402

FACTORS = {"partner": ("a", "b", "c"), "talk": ("on", "off")}


def values(seed: int, within: tuple[str, ...], units: int = 9) -> dict:
    rng = np.random.default_rng(seed)
    found: dict = {}
    outside = [name for name in FACTORS if name not in within]
    for k, levels in enumerate(itertools.product(*(FACTORS[name] for name in outside))):
        for unit in range(units + k):
            own = dict(zip(outside, levels, strict=True))
            base = rng.normal()
            for inside in itertools.product(*(FACTORS[name] for name in within)):
                level = own | dict(zip(within, inside, strict=True))
                mean = (level["partner"] == "a") * 0.8 + (level["talk"] == "on") * (level["partner"] == "b")
                found.setdefault((k, unit), {})[level["partner"], level["talk"]] = mean + base + rng.normal()
    return found


def frame(found: dict) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"unit": str(unit), "partner": cell[0], "talk": cell[1], "y": y}
            for unit, own in found.items()
            for cell, y in own.items()
        ]
    )


def test_factors_between_units_are_tested_as_by_type_three_sums_of_squares() -> None:
    found = values(1, ())
    design = FactorialDesign(FACTORS, found)
    assert (design.within, design.between) == ((), ("partner", "talk"))
    table = anova_lm(smf.ols("y ~ C(partner, Sum) * C(talk, Sum)", frame(found)).fit(), typ=3)
    for result in design.tests():
        row = table.loc[":".join(f"C({name}, Sum)" for name in result.term)]
        assert (result.f, result.df, result.p) == (pytest.approx(row["F"]), row["df"], pytest.approx(row["PR(>F)"]))
        assert result.error_df == table.loc["Residual", "df"]
        explained = row["sum_sq"] / (row["sum_sq"] + table.loc["Residual", "sum_sq"])
        assert result.effect.value == pytest.approx(explained) and result.effect.low <= explained <= result.effect.high
    assert [result.term for result in design.tests()] == [("partner",), ("talk",), ("partner", "talk")]


def test_factors_within_units_are_tested_as_repeated_measures() -> None:
    found = values(2, ("partner", "talk"))
    design = FactorialDesign(FACTORS, found)
    table = AnovaRM(frame(found), "y", "unit", within=["partner", "talk"]).fit().anova_table
    assert len(design.tests()) == 3 and design.between == ()
    for result in design.tests():
        row = table.loc[":".join(result.term)]
        assert result.f == pytest.approx(row["F Value"])
        assert (result.df, result.error_df) == (row["Num DF"], row["Den DF"])
        if result.df == 1:
            assert result.p == pytest.approx(row["Pr > F"])


def test_mixed_designs_are_tested_on_differences_of_units() -> None:
    found = values(3, ("talk",))
    design = FactorialDesign(FACTORS, found)
    wide = frame(found).pivot_table("y", ["unit", "partner"], "talk").reset_index()
    tests = {result.term: result for result in design.tests()}
    for score, terms in (
        ((wide["on"] + wide["off"]) / 2, {"C(partner, Sum)": ("partner",)}),
        (wide["on"] - wide["off"], {"Intercept": ("talk",), "C(partner, Sum)": ("partner", "talk")}),
    ):
        table = anova_lm(smf.ols("score ~ C(partner, Sum)", wide.assign(score=score)).fit(), typ=3)
        for name, term in terms.items():
            assert tests[term].f == pytest.approx(table.loc[name, "F"])
            assert tests[term].p == pytest.approx(table.loc[name, "PR(>F)"])


def test_a_lack_of_sphericity_is_corrected() -> None:
    """The correction follows from the covariance of the levels, pooled over the groups and doubly centred."""
    found = values(9, ("partner",))
    result = FactorialDesign(FACTORS, found).tests()[0]
    rows = frame(found).pivot_table("y", ["talk", "unit"], "partner")
    deviations = (rows - rows.groupby("talk").transform("mean")).to_numpy()
    centred = deviations - deviations.mean(axis=1, keepdims=True)
    covariance = centred.T @ centred
    epsilon = np.trace(covariance) ** 2 / (2 * (covariance**2).sum())
    assert epsilon < 0.99 and result.df == 2
    assert result.p == pytest.approx(fisher.sf(result.f, 2 * epsilon, result.error_df * epsilon))
    one = {unit: {cell[:1]: y for cell, y in own.items()} for unit, own in found.items()}
    (alone,) = FactorialDesign({"partner": FACTORS["partner"]}, one).tests()
    expected = repeated_anova([list(own.values()) for own in one.values()])
    assert (alone.f, alone.p) == (pytest.approx(expected.f), pytest.approx(expected.p))


def test_mixed_designs_with_several_levels_within_units_are_tested_on_all_terms() -> None:
    """In balanced data the sums of squares are those of a linear model of deviations from the means of units."""
    found = {unit: own for unit, own in values(8, ("partner",)).items() if unit[1] < 9}
    design = FactorialDesign(FACTORS, found)
    tests = {result.term: result for result in design.tests()}
    assert list(tests) == design.terms == [("partner",), ("talk",), ("partner", "talk")]
    data = frame(found).assign(unit=lambda rows: rows["unit"] + rows["talk"])
    data["deviation"] = data["y"] - data.groupby("unit")["y"].transform("mean")
    table = anova_lm(smf.ols("deviation ~ C(partner, Sum) * C(talk, Sum)", data).fit(), typ=3)
    for name, term in (("C(partner, Sum)", ("partner",)), ("C(partner, Sum):C(talk, Sum)", ("partner", "talk"))):
        f = table.loc[name, "sum_sq"] / 2 / (table.loc["Residual", "sum_sq"] / 32)
        assert (tests[term].f, tests[term].df, tests[term].error_df) == (pytest.approx(f), 2, 32)
    means = frame(found).groupby(["unit", "talk"], as_index=False)["y"].mean()
    between = anova_lm(smf.ols("y ~ C(talk)", means).fit())
    assert tests["talk",].f == pytest.approx(between.loc["C(talk)", "F"]) and tests["talk",].error_df == 16


def test_units_without_all_cells_are_left_out_and_empty_cells_named() -> None:
    found = values(4, ("talk",))
    complete = FactorialDesign(FACTORS, found)
    partial = {**found, "new": {("a", "on"): 100.0}}
    assert [t.p for t in FactorialDesign(FACTORS, partial).tests()] == [t.p for t in complete.tests()]
    with pytest.raises(ValueError, match="fewer than two complete units in: c"):
        FactorialDesign(FACTORS, {unit: own for unit, own in found.items() if unit[0] != 2})


def test_simulated_power_is_that_of_the_t_test() -> None:
    rng = np.random.default_rng(5)
    draws = rng.normal(size=400)
    draws = (draws - draws.mean()) / draws.std()
    found = {k: {("on" if k % 2 else "off",): y} for k, y in enumerate(draws)}
    design = FactorialDesign({"talk": ("on", "off")}, found)
    exact = TTestIndPower()
    for effect, units in ((0.8, 20), (0.5, 40)):
        expected = exact.power(effect, units, 0.05)
        assert design.power(("talk",), effect, units, simulations=400) == pytest.approx(expected, abs=0.08)
    assert design.power(("talk",), 0.0, 20, simulations=400) == pytest.approx(0.05, abs=0.04)
    points = {point.units: point.power for point in design.sample_size(("talk",), 0.8, 0.8, simulations=300)}
    smallest = min(units for units, power in points.items() if power >= 0.8)
    assert abs(smallest - exact.solve_power(0.8, None, 0.05, 0.8)) < 5
    with pytest.raises(ValueError, match=r"units per cell are needed for an effect of 0\.001"):
        design.sample_size(("talk",), 0.001, 0.9, simulations=20)


def test_an_interaction_is_the_difference_of_differences() -> None:
    found = values(6, ())
    two = {"partner": ("a", "b"), "talk": ("on", "off")}
    design = FactorialDesign(two, {u: own for u, own in found.items() if next(iter(own))[0] != "c"})
    added = {cell: design._added(("partner", "talk"), 2.0, cell)[0] for cell in design.cells}
    assert added["a", "on"] - added["a", "off"] - added["b", "on"] + added["b", "off"] == 2.0
    within = FactorialDesign(
        two, {u: {c: y for c, y in own.items() if c[0] != "c"} for u, own in values(7, ("partner", "talk")).items()}
    )
    assert within.power(("partner", "talk"), 3.0, 12, simulations=100) > within.power(
        ("partner", "talk"), 1.0, 12, simulations=100
    )
