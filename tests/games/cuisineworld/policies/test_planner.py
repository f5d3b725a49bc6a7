from __future__ import annotations

from typing import Any

import pytest

from collab_overcooked.games.cuisineworld.engine.spec import levels
from collab_overcooked.policies.registry import make_policy

SMALL = "scheduler:rollouts=32,horizon=16"


@pytest.mark.parametrize(("level", "agents", "least"), [("level_3", 2, 4), ("level_12", 4, 5), ("level_9", 1, 1)])
def test_it_completes_orders_and_repeats(play: Any, level: str, agents: int, least: int) -> None:
    record = play(SMALL, level=level, agents=agents, alpha=2.0)
    assert record["metrics"]["completed"] >= least
    assert record["refused"] == 0 and not any(step["errors"] for step in record["steps"])
    assert play(SMALL, level=level, agents=agents, alpha=2.0)["steps"] == record["steps"]


def test_it_plays_beside_others(play: Any) -> None:
    assert play((SMALL, "random"), level="level_0", agents=2, alpha=3.0)["metrics"]["completed"] >= 2
    assert play((SMALL, "greedy", "greedy"), level="level_3", agents=3, alpha=2.0)["metrics"]["completed"] >= 3


@pytest.mark.parametrize("rollouts", [1, 3])
def test_few_rollouts_are_enough(play: Any, rollouts: int) -> None:
    assert play(f"scheduler:rollouts={rollouts},horizon=1", level="level_0", agents=2)["metrics"]["completed"] >= 4


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("scheduler:rollout=5", "did you mean rollouts"),
        ("scheduler:horizon=0", "integer of at least 1"),
        ("scheduler:rollouts", "integer of at least 1"),
    ],
)
def test_a_bad_spec_is_refused_with_what_is_allowed(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_policy(spec)


@pytest.mark.nightly
def test_looking_ahead_is_worth_it(play: Any) -> None:
    """Over all levels at a pace that leaves greedy play behind."""

    def completed(spec: str) -> int:
        return sum(play(spec, 3, level=level, agents=3, alpha=1.0)["metrics"]["completed"] for level in levels())

    assert completed("scheduler") > completed("greedy")
