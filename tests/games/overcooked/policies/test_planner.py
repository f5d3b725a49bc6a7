"""The planner of Overcooked: what its plans earn, that they come true, and what it does when they do not."""

from __future__ import annotations

from typing import Any

import pytest

from collab_overcooked import make
from collab_overcooked.games.overcooked.policies.planner import PlannerOptions, Search
from collab_overcooked.games.overcooked.scoring import score_record
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

WIDTH = 40


def planned(layout: Any, steps: int = 120, width: int = WIDTH, **options: Any) -> int:
    env = make("Overcooked-v0", layout=layout, **options)
    env.reset(seed=0)
    return Search(env.game, width).plan(Simulator(env.game, env.arrays[0], 0).fork(1, 0), steps).score


@pytest.mark.slow
@pytest.mark.parametrize(
    "layout", ["cramped_room", "forced_coordination", "counter_circuit", "gated_delivery", "locked"]
)
def test_plans_deliver(layout: str) -> None:
    assert planned(layout) >= 20


def test_a_plan_comes_true() -> None:
    env = make("Overcooked-v0", layout="coordination_ring", max_cycles=120)
    record = play_episode(env, make_team([f"planner:width={WIDTH}"] * 2), 0)
    assert score_record(record)["score"] == planned("coordination_ring")


def test_help_is_not_necessary_behind_the_originals_gates_but_behind_those_of_the_preset() -> None:
    assert planned("gated_delivery", 100, 400, agents=1) > 0
    assert planned("gated_delivery_forced", 100, 400, agents=1) == 0
    assert planned("gated_delivery_forced", 100) > 0


def test_whoever_plays_beside_a_stranger_plans_anew() -> None:
    env = make("Overcooked-v0", layout="asymmetric_advantages", max_cycles=160)
    record = play_episode(env, make_team(["planner:width=20,replan=20", "random"]), 1)
    assert score_record(record)["score"] >= 20


def test_plans_of_one_moment_are_the_same_object() -> None:
    env = make("Overcooked-v0")
    env.reset(seed=0)
    search = Search(env.game, 10)
    start = Simulator(env.game, env.arrays[0], 0).fork(1, 0)
    assert search.plan(start, 30) is search.plan(start, 30)
    assert search.plan(start, 30).actions.shape == (30, 2)
    assert len(search.plan(start, 31).state_names) == 31


def test_directives_are_refused() -> None:
    env = make("Overcooked-v0", action_level="medium", max_cycles=10)
    with pytest.raises(ValueError, match="primitive actions only"):
        play_episode(env, make_team(["planner", "planner"]), 0)


def test_bad_widths_are_refused() -> None:
    with pytest.raises(ValueError, match="width must be an integer of at least 1, not 0"):
        PlannerOptions(width=0)
