from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collab_overcooked.games.cuisineworld.engine.spec import levels
from collab_overcooked.games.cuisineworld.policies.planner import Lookahead, PlannerPolicy
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.registry import load_game

SMALL = "planner:rollouts=32,horizon=16"


@pytest.mark.parametrize(("level", "agents", "least"), [("level_3", 2, 4), ("level_12", 4, 5), ("level_9", 1, 1)])
def test_it_completes_orders_and_repeats(play: Any, level: str, agents: int, least: int) -> None:
    record = play(SMALL, level=level, agents=agents, alpha=2.0)
    assert record.metrics["completed"] >= least
    assert record.metrics["refused"] == 0 and not any(step.errors for step in record.steps)
    assert play(SMALL, level=level, agents=agents, alpha=2.0).steps == record.steps


def test_it_plays_beside_others(play: Any) -> None:
    assert play((SMALL, "random"), level="level_0", agents=2, alpha=3.0).metrics["completed"] >= 2
    assert play((SMALL, "greedy", "greedy"), level="level_3", agents=3, alpha=2.0).metrics["completed"] >= 3


def test_it_knows_nothing_of_the_orders_to_come() -> None:
    """Kitchens that differ in nothing but their generators and in orders still to come are decided alike."""
    game = load_game("CuisineWorld-v0", level="level_4", agents=2)
    trust = np.full(2, 2, np.int32)
    choices = []
    for seed in (1, 2):
        state, out = game.alloc(1)
        state.rng[:] = seed_states([seed])
        game.reset(state, out, np.ones(1, np.bool_), {"orders": ["tomatoSalad"]})
        state.forced[0, 1:] = seed
        lookahead = Lookahead(game, 32, 40)
        choices.append(lookahead.decide(b"moment", Simulator(game, state, 0), lookahead.no_elites, trust))
    for one, other in zip(*choices, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("rollouts", [1, 3])
def test_few_rollouts_are_enough(play: Any, rollouts: int) -> None:
    assert play(f"planner:rollouts={rollouts},horizon=1", level="level_0", agents=2).metrics["completed"] >= 4


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("planner:rollout=5", "did you mean rollouts"),
        ("planner:horizon=0", "integer of at least 1"),
        ("planner:rollouts", "integer of at least 1"),
    ],
)
def test_a_bad_spec_is_refused_with_what_is_allowed(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_policy(spec)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="rollouts must be an integer"):
        PlannerPolicy(rollouts=0)


@pytest.mark.nightly
def test_looking_ahead_is_worth_it(play: Any) -> None:
    """Over all levels at a pace that leaves greedy play behind."""

    def completed(spec: str) -> int:
        return sum(play(spec, 3, level=level, agents=3, alpha=1.0).metrics["completed"] for level in levels())

    assert completed("planner") > completed("greedy")
