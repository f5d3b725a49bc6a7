"""Single names and numbers where a list of one is meant; never the letters of a name."""

from __future__ import annotations

import pytest

from collab_overcooked.evaluation.compare.plan import make_plan
from collab_overcooked.evaluation.crossplay import read_pool
from collab_overcooked.evaluation.suites import plan_evaluation

CASES = [
    ("collab-overcooked", {"tasks": "boiled_egg"}, {"tasks": ("boiled_egg",)}),
    (
        "rush",
        {"domain": "alien", "scenario": "easy", "runs": 1},
        {"domain": ("alien",), "scenario": ("easy",), "runs": 1},
    ),
    ("cuisineworld", {"levels": "0", "agents": 2, "alphas": 1.5}, {"levels": "0", "agents": (2,), "alphas": (1.5,)}),
    ("overcooked", {"layouts": "cramped_room"}, {"layouts": ["cramped_room"]}),
    ("craft", {"levels": "field", "agents": 2, "paces": 1}, {"levels": ["field"], "agents": (2,), "paces": (1,)}),
    ("collab-escape", {"presets": "code2024"}, {"presets": ["code2024"]}),
]


@pytest.mark.parametrize(("suite", "single", "several"), CASES, ids=[case[0] for case in CASES])
def test_a_single_value_is_a_list_of_one(suite, single, several):
    plans = [plan_evaluation(suite, "all=greedy", **options) for options in (single, several)]
    assert plans[0].matches == plans[1].matches


@pytest.mark.parametrize(
    ("suite", "options", "message"),
    [
        ("cuisineworld", {"agents": "23"}, r"agents: got '23', expected a list of numbers such as"),
        ("collab-overcooked", {"tasks": "boiled_eg"}, "boiled_eg"),
    ],
)
def test_what_is_no_list_is_refused_by_name(suite, options, message):
    with pytest.raises(ValueError, match=message):
        plan_evaluation(suite, "all=greedy", **options)


def test_games_policies_and_pools_may_be_single():
    plan = make_plan("greedy", "collab-capture", budget="small")
    assert (plan.games, plan.policies) == (("collab-capture",), ("greedy",))
    assert read_pool("greedy") == (("greedy",), ("greedy",))
