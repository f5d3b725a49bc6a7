"""Episodes in which a seat with macro actions plays beside one with primitive actions: played, recorded, replayed."""

from __future__ import annotations

import pytest

from collab_overcooked import make
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.teams import make_team

LEVELS = {"agent_0": "medium", "agent_1": "low"}


@pytest.mark.parametrize("levels", [LEVELS, "agent_0=medium,agent_1=low"])
@pytest.mark.parametrize("team", [("greedy", "random"), ("greedy", "greedy"), ("random", "random")])
def test_overcooked_with_mixed_levels_is_recorded_and_replays(levels, team):
    env = make("Overcooked-v0", action_level=levels, max_cycles=120)
    record = play_episode(env, make_team(team), 3, task="cramped_room")
    assert record.env_kwargs["action_level"] == levels
    texts = [step.action_texts for step in record.steps]
    assert "continue" in {mine for mine, _ in texts} and {reference for _, reference in texts} <= {
        "north",
        "south",
        "east",
        "west",
        "stay",
        "interact",
    }
    assert first_difference(record) is None


@pytest.mark.parametrize("team", [("random", "greedy"), ("random", "random")])
def test_collab_overcooked_with_mixed_levels_is_recorded_and_replays(team):
    levels = {"agent_0": "low", "agent_1": "medium"}
    env = make("CollabOvercooked-v0", task="boiled_egg", action_level=levels)
    record = play_episode(env, make_team(team), 3, task="boiled_egg")
    assert record.env_kwargs["action_level"] == levels
    assert not any("(" in step.action_texts[0] and "interact" not in step.action_texts[0] for step in record.steps)
    assert first_difference(record) is None


def test_a_policy_of_macro_actions_refuses_a_seat_without_them():
    env = make("CollabOvercooked-v0", task="boiled_egg", action_level=LEVELS)
    with pytest.raises(ValueError, match="medium-level actions"):
        play_episode(env, make_team(("random", "greedy")), 3, task="boiled_egg")
    with pytest.raises(ValueError, match="medium-level actions"):
        play_episode(env, make_team(("planner", "random")), 3, task="boiled_egg")
