"""Tables of significance tests: which test groups get, and between which units."""

from __future__ import annotations

import pytest

from collab_overcooked.metrics.hypothesis_tests import holm
from collab_overcooked.reporting.significance import (
    ANOVA_NOTE,
    HOLM_NOTE,
    INDEPENDENT_NOTE,
    PAIRED_NOTE,
    TUKEY_NOTE,
    constant_note,
    factorial_table,
    mean_table,
    significance_tables,
    varied,
)


def group(*values: float, task: str = "easy", first: int = 0) -> dict:
    """Return values by unit: a task and the number of an episode."""
    return {(task, first + k): value for k, value in enumerate(values)}


ONE, OTHER = group(3.0, 5.0, 4.0, 6.0), group(1.0, 4.0, 2.0, 5.0)


def test_two_groups_that_share_units_are_paired() -> None:
    ((table, note),) = significance_tables({"score": {"one": ONE, "other": OTHER}})
    ((name, between, pairs, difference, *_),) = table.rows
    assert note == PAIRED_NOTE and (name, between, pairs) == ("score", "one - other", 4)
    assert difference.value == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("other", "paired"), [(group(1.0, 4.0, 2.0, task="hard"), True), (group(1.0, 4.0, first=9), True), (OTHER, False)]
)
def test_groups_without_pairs_are_independent_samples(other: dict, paired: bool) -> None:
    ((table, note),) = significance_tables({"score": {"one": ONE, "other": other}}, paired)
    assert note == INDEPENDENT_NOTE and table.title == "Tests of independent samples"


THIRD = group(9.0, 8.0, 9.5, 8.5)
COUPLES = ["a - b", "a - c", "b - c"]


def test_three_groups_that_share_units_are_compared_within_units() -> None:
    """Answers of the same people are never tested as those of different people."""
    (pairs, note), (variances, _) = significance_tables({"score": {"a": ONE, "b": OTHER, "c": THIRD}})
    assert (variances.title, pairs.title) == ("Analyses of variance", "Paired tests")
    assert [row[1] for row in variances.rows] == ["repeated measures"]
    assert HOLM_NOTE.format(kind="group") in note and "all pairs of groups" in note
    assert [row[1] for row in pairs.rows] == COUPLES
    rows = pairs.to_dict()["rows"]
    corrected = [row["p_holm"] for row in rows]
    assert corrected == holm([row["p"] for row in rows]) and corrected[0] > rows[0]["p"]


@pytest.mark.parametrize("paired", [True, False])
def test_tables_and_notes_name_what_is_compared(paired: bool) -> None:
    """In a study of pairs of people, groups are the units and conditions are compared."""
    measured = {"score": {"a": ONE, "b": OTHER, "c": THIRD}}
    assert mean_table(measured, "condition").columns[1].name == "Condition"
    tables = significance_tables(measured, paired, "condition")
    notes = {table.title: note for table, note in tables}
    columns = {table.title: [column.name for column in table.columns] for table, _ in tables}
    assert columns["Analyses of variance"][2] == "conditions"
    assert notes["Analyses of variance"] == ANOVA_NOTE.format(kind="condition")
    if paired:
        assert notes["Paired tests"] == f"{PAIRED_NOTE} {HOLM_NOTE.format(kind='condition')}"
    else:
        assert notes["Tukey's comparisons"] == TUKEY_NOTE.format(kind="condition")
    corrections = notes["Paired tests" if paired else "Tukey's comparisons"].removeprefix(PAIRED_NOTE)
    assert "airs of conditions" in corrections and "group" not in corrections + notes["Analyses of variance"]


@pytest.mark.parametrize(("third", "paired"), [(THIRD, False), (group(9.0, 8.0, 9.5, first=9), True)])
def test_three_groups_of_other_units_are_compared_by_tukey(third: dict, paired: bool) -> None:
    second = OTHER if not paired else group(1.0, 4.0, 2.0, task="hard")
    (variances, _), (comparisons, _) = significance_tables({"score": {"a": ONE, "b": second, "c": third}}, paired)
    assert [row[1] for row in variances.rows] == ["one-way"] and comparisons.title == "Tukey's comparisons"
    assert [row[1] for row in comparisons.rows] == COUPLES


def test_a_group_of_other_units_is_independent_of_two_that_share_theirs() -> None:
    apart = group(9.0, 8.0, 9.5, first=9)
    (pairs, _), (independent, _) = significance_tables({"score": {"a": ONE, "b": OTHER, "c": apart}})
    assert [row[1] for row in pairs.rows] == COUPLES[:1] and [row[1] for row in independent.rows] == COUPLES[1:]
    rows = [row for table in (pairs, independent) for row in table.to_dict()["rows"]]
    assert [row["p_holm"] for row in rows] == holm([row["p"] for row in rows])


def test_metrics_without_any_difference_are_named_and_not_tested() -> None:
    same = {"one": group(0.0, 0.0), "other": group(0.0, 0.0)}
    apart = {"one": group(0.0, 0.0), "other": group(1.0, 1.0)}
    measured = {"success": same, "score": {"one": ONE, "other": OTHER}, "steps": apart}
    assert list(varied(measured)) == ["score", "steps"]
    assert constant_note(measured) == "Not tested, as all values are equal: success."
    assert constant_note(varied(measured)) == ""


def test_means_have_a_row_for_each_measure_and_group() -> None:
    table = mean_table({"score": {"one": ONE, "other": OTHER}, "steps": {"one": group(7.0)}})
    assert [column.name for column in table.columns] == ["Measure", "Group", "n", "mean"]
    assert [(row[0], row[1], row[2], row[3].value) for row in table.rows] == [
        ("score", "one", 4, 4.5),
        ("score", "other", 4, 3.0),
        ("steps", "one", 1, 7.0),
    ]


def test_no_effect_of_a_factor_is_left_out() -> None:
    """What has no test has a row that says so: values that do not vary, and cells with too few units."""
    pytest.importorskip("scipy.stats", reason="the extra 'stats' is not installed")
    levels = {"a": {"partner": "a"}, "b": {"partner": "b"}}
    constant = {name: dict.fromkeys(range(k, k + 4), 1.0) for k, name in ((0, "a"), (10, "b"))}
    scarce = {"a": {0: 1.0, 1: 2.0}, "b": {2: 1.0}}
    table = factorial_table({"constant": constant, "scarce": scarce}, levels)
    assert table.rows == (
        ("constant", "partner", None, None, None, None),
        ("scarce", "not tested: fewer than two complete units in: b", None, None, None, None),
    )
