"""Budgets of comparisons: options of all settings, and the setting of pairs."""

from __future__ import annotations

import pytest

from collab_overcooked.evaluation.benchmark import Benchmark, ComparisonBudget, Setting, only

ONE, TWO = Setting("one", {"level": 1, "episodes": 9}), Setting("two", {"level": 2})


@pytest.mark.parametrize("settings", [(ONE, TWO), lambda: (ONE, TWO)])
def test_options_of_all_settings_replace_those_of_one(settings) -> None:
    budget = ComparisonBudget(settings, {"episodes": 3}, pairs={"episodes": 1}, pairs_in=1, suffix=", short")
    played, pairs = budget.played()
    assert [dict(setting.suite_options) for setting in played] == [
        {"level": 1, "episodes": 3},
        {"level": 2, "episodes": 3},
    ]
    assert (pairs.name, dict(pairs.suite_options)) == ("two, short", {"level": 2, "episodes": 1})
    assert ONE.suite_options["episodes"] == 9, "settings are not changed"


def test_columns_have_the_digits_and_scale_of_the_benchmark() -> None:
    column = Benchmark("Game", "score", (ONE,), ONE, digits=2, scale=100.0).column("one")
    assert (column.name, column.digits, column.scale) == ("one", 2, 100.0)


def test_only_refuses_none_and_several() -> None:
    assert only([7]) == 7
    for items in ([], [1, 2]):
        with pytest.raises(ValueError, match=f"{len(items)} teams or variants"):
            only(items)
