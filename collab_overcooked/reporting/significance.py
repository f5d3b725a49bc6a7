"""Tables of significance tests between runs, or between the conditions of a study."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any

from collab_overcooked.metrics.factorial import FactorialDesign
from collab_overcooked.metrics.hypothesis_tests import (
    TwoSampleTest,
    holm,
    independent_test,
    one_way_anova,
    paired_test,
    repeated_anova,
    tukey_comparisons,
)
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.metrics.paired import paired_difference
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable

Samples = Mapping[str, Mapping[tuple[Hashable, ...], float]]
"""Group -> unit -> value. Equal units of several groups are pairs; a unit's first entry is its task."""
GROUP = "group"
"""What is compared, unless a caller names it."""

PAIRED_NOTE = (
    "Pairs: the same task, episode and seed, or the same participants or groups. Difference: the first minus the "
    "second, 95 % interval of a bootstrap over pairs; d_z: mean over deviation of the differences, interval of the "
    "noncentral t distribution; p, p (Wilcoxon), p (sign): two-sided, of the paired t test, the signed-rank and the "
    "sign test."
)
INDEPENDENT_NOTE = (
    "Independent samples: Welch's t test with its 95 % interval, Hedges' g with the interval of the noncentral t "
    "distribution, p (ranks) of the Mann-Whitney test; all two-sided."
)
ANOVA_NOTE = (
    "One-way analysis of variance, of {kind}s that share no units: η² is the share of variance that the {kind}s "
    "explain, 95 % interval of the noncentral F distribution. Repeated measures, of {kind}s that share units: the "
    "units that are in every {kind}, each its own control; η² is partial, p is corrected as Greenhouse and Geisser do."
)
HOLM_NOTE = "p (Holm): p corrected for all pairs of {kind}s of a measure."
TUKEY_NOTE = (
    "Pairs of {kind}s by Tukey's test (Kramer's for unequal sizes): intervals and p hold for all pairs of a measure at "
    "once; g is Hedges'."
)
FACTORIAL_NOTE = (
    "Main effects and interactions of the study's factors. Factors between units: F tests with effects coded to "
    "sum to zero (type III); factors within: analysis of variance for repeated measures, p corrected as Greenhouse and "
    "Geisser do where a factor has more than two levels. η²: partial, 95 % interval of the noncentral F distribution. "
    "Units without a value in each of their conditions are left out. Effects without F: the values do not vary."
)
MANY_NOTE = "Nothing is corrected for the number of measures."


def varied(measured: Mapping[str, Samples]) -> dict[str, Samples]:
    """Return the metrics whose values are not all equal; about the others there is nothing to test.

    Args:
        measured: Metric -> samples.
    """
    values = {
        name: {value for of_group in samples.values() for value in of_group.values()}
        for name, samples in measured.items()
    }
    return {name: samples for name, samples in measured.items() if len(values[name]) > 1}


def constant_note(measured: Mapping[str, Samples]) -> str:
    """Return the sentence that names the metrics which are not tested; empty if all are.

    Args:
        measured: Metric -> samples.
    """
    tested = varied(measured)
    constant = [name for name in measured if name not in tested]
    return f"Not tested, as all values are equal: {', '.join(constant)}." if constant else ""


def mean_table(measured: Mapping[str, Samples], kind: str = GROUP) -> ResultTable:
    """Return the mean of every metric in every group with its interval.

    Args:
        measured: Metric -> samples.
        kind: What the groups are, such as ``"condition"``; heads their column.
    """
    rows = [
        (name, group, len(values), mean_ci(list(values.values())))
        for name, samples in measured.items()
        for group, values in samples.items()
    ]
    columns = (Column("Measure"), Column(kind.capitalize()), Column("n", "number"), Column("mean", "estimate", 3))
    return ResultTable(columns, tuple(rows), "Means")


def significance_tables(
    measured: Mapping[str, Samples], paired: bool = True, kind: str = GROUP
) -> list[tuple[ResultTable, str]]:
    """Return tables of significance tests, each with an explanatory note.

    Args:
        measured: Metric -> samples. Two groups are compared by paired tests if they share units, otherwise by tests
            of independent samples. More groups are compared by analysis of variance for repeated measures and such
            tests of each pair if any two share units, otherwise by one-way analysis of variance and Tukey's test.
        paired: Whether equal units are pairs.
        kind: What the groups are, such as ``"condition"``, for notes and columns.
    """
    pairs: list[tuple[Cell, ...]] = []
    independent: list[tuple[Cell, ...]] = []
    variances: list[tuple[Cell, ...]] = []
    comparisons: list[tuple[Cell, ...]] = []
    for name, samples in measured.items():
        couples = [dict(couple) for couple in combinations(samples.items(), 2)]
        share_units = paired and any(map(_are_pairs, couples))
        if len(samples) > 2:
            variances += _anova_rows(name, samples, share_units)
        if len(samples) > 2 and not share_units:
            comparisons += _tukey_rows(name, samples)
            continue
        tests = [_test_of_pair(couple, paired) for couple in couples]
        corrected = iter(holm([test.p for test in tests if test is not None and test.p is not None]))
        for couple, test in zip(couples, tests, strict=True):
            if test is None:
                continue
            p_holm = None if test.p is None else next(corrected)
            if paired and _are_pairs(couple):
                pairs.append(_paired_row(name, couple, test, p_holm))
            else:
                independent.append(_independent_row(name, couple, test, p_holm))
    has_many = any(len(samples) > 2 for samples in measured.values())
    corrections, note = ((_HOLM,), f" {HOLM_NOTE.format(kind=kind)}") if has_many else ((), "")
    tables = [
        ((*_PAIRED, *corrections), pairs, "Paired tests", PAIRED_NOTE + note),
        ((*_INDEPENDENT, *corrections), independent, "Tests of independent samples", INDEPENDENT_NOTE + note),
        (_anova(kind), variances, "Analyses of variance", ANOVA_NOTE.format(kind=kind)),
        (_TUKEY, comparisons, "Tukey's comparisons", TUKEY_NOTE.format(kind=kind)),
    ]
    return [
        (ResultTable(columns, tuple(row[: len(columns)] for row in rows), title), note)
        for columns, rows, title, note in tables
        if rows
    ]


def _shared(samples: Samples) -> list[tuple[Hashable, ...]]:
    first, *others = samples.values()
    return [unit for unit in first if all(unit in other for other in others)]


def _are_pairs(couple: Samples) -> bool:
    return len(_shared(couple)) > 1


def _test_of_pair(couple: Samples, paired: bool) -> TwoSampleTest | None:
    one, other = couple.values()
    if paired and _are_pairs(couple):
        return paired_test([one[unit] - other[unit] for unit in _shared(couple)])
    return independent_test(list(one.values()), list(other.values()))


_HOLM = Column("p (Holm)", "number", None, key="p_holm")


_PAIRED = (
    Column("Measure"),
    Column("first less second"),
    Column("pairs", "number"),
    Column("difference", "estimate", 3),
    Column("d_z", "estimate", 2),
    Column("t", "number", 2),
    Column("df", "number"),
    Column("p", "number", None),
    Column("p (Wilcoxon)", "number", None, key="p_wilcoxon"),
    Column("higher", "number"),
    Column("equal", "number"),
    Column("lower", "number"),
    Column("p (sign)", "number", None, key="p_sign"),
)


def _paired_row(name: str, couple: Samples, test: TwoSampleTest, p_holm: float | None) -> tuple[Cell, ...]:
    (first, one), (second, other) = couple.items()
    units = _shared(couple)
    tasks: dict[Any, list[tuple[float, float]]] = {}
    for unit in units:
        tasks.setdefault(unit[0], []).append((one[unit], other[unit]))
    counts = paired_difference(list(tasks.values()))
    assert counts is not None, "there are pairs"
    tested = (len(units), counts.mean, test.effect, test.t, test.df, test.p, test.rank_p)
    signs = (counts.higher, counts.equal, counts.lower, counts.p)
    return (name, f"{first} - {second}", *tested, *signs, p_holm)


_INDEPENDENT = (
    Column("Measure"),
    Column("first less second"),
    Column("n first", "number"),
    Column("n second", "number"),
    Column("difference", "estimate", 3),
    Column("g", "estimate", 2),
    Column("t", "number", 2),
    Column("df", "number", 1),
    Column("p", "number", None),
    Column("p (ranks)", "number", None, key="p_ranks"),
)


def _independent_row(name: str, couple: Samples, test: TwoSampleTest, p_holm: float | None) -> tuple[Cell, ...]:
    (first, one), (second, other) = couple.items()
    tested = (test.difference, test.effect, test.t, test.df, test.p, test.rank_p)
    return (name, f"{first} - {second}", len(one), len(other), *tested, p_holm)


def _anova(kind: str) -> tuple[Column, ...]:
    return (
        Column("Measure"),
        Column("analysis"),
        Column(f"{kind}s", "number"),
        Column("n", "number"),
        Column("F", "number", 2),
        Column("df", "text"),
        Column("p", "number", None),
        Column("η²", "estimate", 3, key="eta_squared"),
        Column("ε", "number", 3, key="epsilon"),
    )


def _anova_rows(name: str, samples: Samples, share_units: bool) -> list[tuple[Cell, ...]]:
    if share_units:
        units = _shared(samples)
        what, n = "repeated measures", len(units)
        result = repeated_anova([[values[unit] for values in samples.values()] for unit in units])
    else:
        lists = {group: list(values.values()) for group, values in samples.items()}
        what, n = "one-way", sum(map(len, lists.values()))
        result = one_way_anova(lists)
    if result is None:
        return []
    df = f"{result.between}, {result.within}"
    return [(name, what, len(samples), n, result.f, df, result.p, result.effect, result.epsilon)]


_FACTORIAL = (
    Column("Measure"),
    Column("effect"),
    Column("F", "number", 2),
    Column("df", "text"),
    Column("p", "number", None),
    Column("η²", "estimate", 3, key="eta_squared"),
)


def factorial_table(measured: Mapping[str, Samples], levels: Mapping[str, Mapping[str, str]]) -> ResultTable:
    """Return the tests of factors and their interactions.

    Args:
        measured: Metric -> samples; one that cannot be tested has a row with the reason.
        levels: Level of each factor, by group and factor.
    """
    rows: list[tuple[Cell, ...]] = []
    for name, samples in measured.items():
        try:
            design = factorial_design(samples, levels)
        except ValueError as error:
            rows.append((name, f"not tested: {error}", None, None, None, None))
            continue
        tests = {test.term: test for test in design.tests()}
        for term in design.terms:
            test = tests.get(term)
            facts = (None,) * 4 if test is None else (test.f, f"{test.df:g}, {test.error_df:g}", test.p, test.effect)
            rows.append((name, " × ".join(term), *facts))
    return ResultTable(_FACTORIAL, tuple(rows), "Factorial tests")


def factorial_design(samples: Samples, levels: Mapping[str, Mapping[str, str]]) -> FactorialDesign:
    """Return the values of a measure in the cells of factors.

    Args:
        samples: Values by group and unit.
        levels: Level of each factor, by group and factor; groups without any are left out.
    """
    values: dict[Hashable, dict[tuple[str, ...], float]] = {}
    factors: dict[str, dict[str, None]] = {}
    for group, cell in levels.items():
        for factor, level in cell.items() if group in samples else ():
            factors.setdefault(factor, {})[level] = None
        for unit, value in samples.get(group, {}).items() if cell else ():
            values.setdefault(unit, {})[tuple(cell.values())] = value
    return FactorialDesign({name: tuple(found) for name, found in factors.items()}, values)


_TUKEY = (
    Column("Measure"),
    Column("first less second"),
    Column("difference", "estimate", 3),
    Column("g", "number", 2),
    Column("p", "number", None),
)


def _tukey_rows(name: str, samples: Samples) -> list[tuple[Cell, ...]]:
    lists: dict[str, Sequence[float]] = {group: list(values.values()) for group, values in samples.items()}
    return [
        (name, f"{comparison.first} - {comparison.second}", comparison.difference, comparison.effect, comparison.p)
        for comparison in tukey_comparisons(lists)
    ]
