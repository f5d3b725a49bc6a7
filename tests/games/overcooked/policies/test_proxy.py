"""Stand-ins for people: noisy greedy play, and shipped clones that are chosen by layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from collab_overcooked import make
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.overcooked.policies.proxy import proxy_layouts
from collab_overcooked.games.overcooked.scoring import published
from collab_overcooked.policies.policy_file import STAND_INS, policy_path, read_policy
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team


def test_every_layout_of_the_papers_table_2_has_both_proxies() -> None:
    reference = {
        layout for row in published()["with_human_proxy"].values() for layouts in row.values() for layout in layouts
    }
    for kind in STAND_INS:
        assert set(proxy_layouts(kind)) == reference
        for layout in reference:
            meta = read_policy(policy_path(f"{kind}_{layout}")).meta
            assert (meta["env_kwargs"]["layout"], meta["env_kwargs"]["obs"]) == (layout, "features")
            assert f"layout={layout}" in meta["command"]


@pytest.mark.slow
def test_a_proxy_plays_its_layout_beside_another_policy(tmp_path: Path) -> None:
    """The row of the first seat, and of the second, is one of table 2."""
    plan = plan_evaluation(
        "overcooked", ["agent_0=proxy:ppo_bc", "agent_1=proxy:bc"], layouts="cramped_room", max_cycles=200
    )
    records = evaluate(plan, tmp_path, workers=1)
    assert [list(record.team.values()) for record in records] == [
        ["proxy:ppo_bc", "proxy:bc"],
        ["proxy:bc", "proxy:ppo_bc"],
    ]
    assert sum(record.metrics["soups"] for record in records) >= 4


def test_layouts_without_a_proxy_and_unknown_kinds_are_refused(tmp_path: Path) -> None:
    plan = plan_evaluation("overcooked", ["all=proxy:bc"], layouts="locked", max_cycles=2)
    with pytest.raises(ValueError, match="policy 'proxy:bc': unknown layout 'locked'"):
        evaluate(plan, tmp_path, workers=1)
    with pytest.raises(ValueError, match="policy 'proxy': unknown kind"):
        make_policy("proxy:people")


def test_a_proxy_in_a_pool_of_layouts_is_refused() -> None:
    env = make("Overcooked-v0", layout=["cramped_room", "coordination_ring"])
    with pytest.raises(ValueError, match=r"'proxy:bc' plays one layout, not a pool of 2"):
        play_episode(env, make_team(["proxy:bc", "random"]), 0)


def test_noisy_play_is_greedy_play_with_mistakes(tmp_path: Path) -> None:
    soups = {}
    for policy in ("noisy:0", "greedy", "noisy:0.5"):
        plan = plan_evaluation("overcooked", [f"all={policy}"], layouts="cramped_room", max_cycles=200)
        (record,) = evaluate(plan, tmp_path / policy.replace(":", "-"), workers=1)
        soups[policy] = record.metrics["soups"]
    assert soups["noisy:0"] == soups["greedy"] > soups["noisy:0.5"]
    with pytest.raises(ValueError, match="probability must be a number from 0 to 1"):
        make_policy("noisy:2")
