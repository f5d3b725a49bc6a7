"""Plans of a suite: single names and numbers may stand for lists of one, and what cannot be played is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.records import record_of

from collab_overcooked.evaluation.benchmark import Summary
from collab_overcooked.evaluation.compare.plan import make_plan
from collab_overcooked.evaluation.crossplay import read_pool
from collab_overcooked.evaluation.suites import SettingRow, Suite, plan_evaluation
from collab_overcooked.metrics.intervals import mean_of_groups
from collab_overcooked.metrics.registry import measure

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


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"suite": "overcoked"}, "unknown suite"),
        ({"tasks": ["boiled_eg"]}, "did you mean boiled_egg"),
        ({"tasks": ["boiled_egg"], "levels": "1"}, "either levels or tasks"),
        ({"episodes": 0}, "episodes must be"),
        ({"seed": -1}, "seed must be"),
        ({"gamma": 0}, "gamma must be"),
        ({"kitchen": "palace"}, "unknown kitchen 'palace'"),
        ({"options": {"knowlege": "full"}}, "unknown option 'knowlege'; did you mean knowledge"),
        ({"options": {"knowledge": "none"}}, "unknown knowledge 'none'"),
        ({"options": {"gamma": 2}}, "'gamma' is set by --gamma"),
    ],
)
def test_wrong_plans_are_refused_before_anything_is_played(two_randoms, change, text):
    arguments = {"suite": "collab-overcooked", "team": two_randoms} | change
    with pytest.raises(ValueError, match=text):
        plan_evaluation(arguments.pop("suite"), arguments.pop("team"), **arguments)


@pytest.mark.parametrize(
    ("suite", "options"), [("overcooked", {}), ("rush", {"runs": 2}), ("cuisineworld", {}), ("transport", {})]
)
def test_more_episodes_than_memory_holds_are_refused(suite: str, options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="episodes in all, allowed are 1,000,000"):
        plan_evaluation(suite, ["all=random"], episodes=10**12, **options)


def test_rows_leave_out_episodes_without_a_metric_and_know_no_other_names() -> None:
    row = SettingRow("Overcooked-v0", "cramped_room", [record_of(env_id="Overcooked-v0")])
    assert row.values("soups") == [0] and row.values("recovery") == [], "no kitchen changes"
    with pytest.raises(KeyError, match="recovered"):
        row.values("recovered")


@pytest.mark.parametrize(
    ("tasks", "rewards", "ending"),
    [
        ("a", [1], "1.00, in 1 episode; without an interval, as nothing was played twice."),
        ("ab", [1, 2], "1.50, in 2 episodes; without an interval, as nothing was played twice."),
        ("aa", [1, 1], "1.00, in 2 episodes; without an interval, as episodes of the same setting scored alike."),
        ("aa", [1, 2], "1.50, 95 % interval 1.00–2.00, in 2 episodes."),
    ],
)
def test_a_result_has_an_interval_or_says_why_there_is_none(tasks: str, rewards: list[int], ending: str) -> None:
    class Tasks(Suite):
        name, env_id, metrics = "tasks", "Overcooked-v0", ("return",)

        def summary(self, records: Sequence[Any]) -> Summary:
            by_task = [[measure(one, ("return",))["return"] for one in records if one.task == task] for task in "ab"]
            return Summary(mean_of_groups(by_task), {})

    records = [
        record_of(env_id="Overcooked-v0", task=task, steps=[{"rewards": [reward, reward]}])
        for task, reward in zip(tasks, rewards, strict=True)
    ]
    assert Tasks().result(records) == f"Return: {ending}"
