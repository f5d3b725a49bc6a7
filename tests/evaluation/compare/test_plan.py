"""Plans of comparisons: who plays what, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.evaluation.benchmark import BUDGETS
from collab_overcooked.evaluation.compare import page
from collab_overcooked.evaluation.compare import plan as plans
from collab_overcooked.policies.policy_file import builtin_policies, is_stand_in
from collab_overcooked.policies.registry import RECORDS


@pytest.mark.parametrize("game", [*registry.first_suites()])
@pytest.mark.parametrize("budget", BUDGETS)
def test_every_game_says_what_is_compared(game: str, budget: str) -> None:
    comparison_plan = plans.ComparisonPlan((game,), ("random",), budget)
    benchmark = comparison_plan.benchmark(game)
    names = [setting.name for setting in benchmark.settings]
    assert names and len(set(names)) == len(names)
    for setting in benchmark.settings:
        plan = comparison_plan.plan_of(plans.Entry(game, setting.name, ("random", "random"), "x"))
        assert plan.teams() and {work.env_id for work in plan.matches} <= {*registry.first_suites()[game]}
    assert comparison_plan.plan_of(plans.Entry(game, benchmark.pairs.name, ("random", "greedy"), "x", True)).matches
    for reference in registry.load_suite(game).references(benchmark):
        assert set(reference.scores) <= set(names)


def test_who_cannot_play_is_listed_with_the_reason(comparison_plan: plans.ComparisonPlan) -> None:
    reasons = {(skip.game, skip.policy): skip.reason for skip in comparison_plan.skipped}
    known = "plays CollabOvercooked-v0, not KitchenRush-v0"
    assert known in reasons["rush", "reference"]
    assert "KitchenRush-v0" in reasons["collab-overcooked", "selfish"]
    assert ("rush", "greedy") not in reasons
    teams = {entry.team for entry in comparison_plan.entries if entry.game == "rush"}
    assert ("selfish", "greedy") in teams and ("greedy", "selfish") in teams
    assert not any("reference" in team for team in teams)


def test_trained_policies_play_what_they_were_trained_on() -> None:
    names = [f"ppo:{name}" for name in builtin_policies() if name in ("cramped_room", "coordination_ring")]
    comparison_plan = plans.make_plan(["random", *names], ["overcooked"])
    for name in names:
        layout = name.removeprefix("ppo:")
        assert [
            entry.setting for entry in comparison_plan.entries if entry.team == (name, name) and not entry.paired
        ] == [layout]
        assert any(
            item.reason == f"trained on layout {layout}" for item in comparison_plan.skipped if item.policy == name
        )


def test_policies_that_need_nothing_are_those_that_are_compared() -> None:
    default = plans.default_policies()
    assert set(default) >= {f"ppo:{name}" for name in builtin_policies() if not is_stand_in(name)}
    assert not any("bc_" in name for name in default)
    assert not any(spec.startswith("llm") for spec in default)
    assert {record.kind for record in RECORDS} == {*page.KINDS}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": ["gready"]}, "unknown policy 'gready'"),
        ({"policies": ["greedy", "greedy"]}, "policies: 'greedy' is given twice"),
        ({"games": ["rash"]}, "unknown game 'rash'"),
        ({"games": ["initiations"]}, "unknown game 'initiations'"),
        ({"budget": "tiny"}, "unknown budget 'tiny'"),
        ({"games": ["rush"], "episodes": 0}, "must be an integer of at least 1, not 0"),
    ],
)
def test_mistakes_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        plans.make_plan(**{"policies": ["random"], **change})


def test_some_settings_only(tmp_path: Path) -> None:
    plan = plans.make_plan(["random"], ["overcooked"], crossplay=False, only=["cramped_room"])
    assert [entry.setting for entry in plan.entries] == ["cramped_room"]
    plan.write(tmp_path)
    assert plans.read_plan(tmp_path) == plan
    with pytest.raises(ValueError, match="unknown setting 'cramped_rom'; did you mean cramped_room"):
        plans.make_plan(["random"], ["overcooked"], only=["cramped_rom"])
    with pytest.raises(ValueError, match="unknown setting of collab-capture 'cramped_room'"):
        plans.make_plan(["random"], ["overcooked", "collab-capture"], only=["cramped_room"])


def test_a_plan_is_read_as_it_was_written(comparison_plan: plans.ComparisonPlan, played: Path, tmp_path: Path) -> None:
    assert plans.read_plan(played) == comparison_plan
    with pytest.raises(ValueError, match="cannot be read"):
        plans.read_plan(tmp_path)
    (tmp_path / plans.PLAN).write_text('{"games": 1}')
    with pytest.raises(ValueError, match="is not a plan"):
        plans.read_plan(tmp_path)


def test_policies_with_similar_names_have_folders_of_their_own():
    specs = ["ppo:cramped_room", "ppo:a/b.npz", "ppo:a-b.npz", "greedy"]
    folders = plans._folders(specs)
    assert len({*folders.values()}) == len(specs)
    assert (folders["greedy"], folders["ppo:cramped_room"]) == ("greedy", "ppo-cramped_room")
