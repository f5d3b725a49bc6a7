"""Policies of the room games: exact play, the greedy baseline, and players who err."""

from __future__ import annotations

import pytest

from collab_overcooked import make
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.teams import make_team


def play(env_id, team, seed=0, **options):
    return play_episode(make(env_id, **options), make_team(team, make_policy), seed=seed)


@pytest.mark.slow
def test_planners_catch_the_thief_in_three_turns_and_greedy_hunters_too():
    assert play("CollabCapture-v0", ["planner", "planner"]).timesteps == 3
    assert play("CollabCapture-v0", ["greedy", "greedy"]).timesteps == 3


@pytest.mark.slow
def test_planners_escape_in_eight_turns_at_most():
    records = [play("CollabEscape-v0", ["planner", "planner"], seed) for seed in range(8)]
    assert all(record.success and 6 <= record.timesteps <= 8 for record in records)
    assert first_difference(records[0]) is None


def test_a_lost_game_ends_without_success():
    records = [play("CollabEscape-v0", ["random", "random"], seed) for seed in range(5)]
    assert not any(record.success for record in records if record.timesteps < 6)
    assert all(first_difference(record) is None for record in records)


def test_planner_beside_others():
    assert play("CollabCapture-v0", ["planner:partner=uniform", "noisy:0.3:planner"], 3).success


def test_planners_play_by_beliefs_where_sight_ends():
    record = play("CollabCapture-v0", ["planner", "greedy"], 1, sight="room", max_cycles=8)
    assert first_difference(record) is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [("planner:partner=nobody", "partner"), ("planner:partners=best", "partner"), ("noisy:2:greedy", "probability")],
)
def test_bad_parameters_are_named(spec, message):
    with pytest.raises(ValueError, match=message):
        play("CollabCapture-v0", [spec, "random"])
