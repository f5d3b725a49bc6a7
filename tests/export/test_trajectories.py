"""Trajectories are what agents saw; what people played needs their consent."""

from __future__ import annotations

import json

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.export.trajectories import read_trajectories, read_trajectory
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

GAMES = [record.id for record in registry.games()]


def played(env_id: str, spec: str = "random", steps: int = 12, **options):
    env = collab_overcooked.make(env_id, max_cycles=steps, **options)
    return play_episode(env, make_team([spec] * env.max_num_agents), seed=3, task=options.get("task", "default"))


QUICK = ("Overcooked-v0", "CuisineWorld-v0", "CollabCapture-v0")  # macro actions, orders, teams that win


@pytest.mark.parametrize(
    "env_id", [pytest.param(one, marks=() if one in QUICK else pytest.mark.nightly) for one in GAMES]
)
def test_trajectories_are_what_agents_saw(env_id):
    record = played(env_id)
    trajectory = read_trajectory(record, {})
    env = collab_overcooked.make(env_id, max_cycles=12)
    seen, infos = env.reset(seed=3, options=record.options)
    for t in range(len(trajectory)):
        for seat, agent in enumerate(env.possible_agents):
            np.testing.assert_array_equal(trajectory.observations[t, seat], seen[agent])
            np.testing.assert_array_equal(trajectory.masks[t, seat], infos[agent]["action_mask"])
        np.testing.assert_array_equal(trajectory.states[t], env.state())
        actions = dict(zip(env.possible_agents, trajectory.actions[t].tolist(), strict=True))
        seen, rewards, terminated, _, infos = env.step(actions)
        np.testing.assert_array_equal(trajectory.rewards[t], np.array(list(rewards.values()), np.float32))
    assert not env.agents
    assert (trajectory.terminated, trajectory.truncated) == (any(terminated.values()), not any(terminated.values()))
    assert len(trajectory.observations) == len(trajectory) + 1


def test_episodes_with_people_need_consent_and_lose_ids():
    record = played("CollabCapture-v0")
    record.team["agent_0"] = "person"
    record.people = {"agent_0": {"id": "SECRET-PANEL-ID", "interface": "browser"}}
    with pytest.raises(ValueError, match="a person takes part; --people"):
        list(read_trajectories([record], {}))
    (trajectory,) = read_trajectories([record], {}, people=True)
    assert "SECRET-PANEL-ID" not in json.dumps(trajectory.about)


def test_settings_with_other_shapes_are_exported_by_themselves():
    records = [played("Overcooked-v0", layout=layout) for layout in ("cramped_room", "counter_circuit")]
    with pytest.raises(ValueError, match="export each setting by itself, with --tasks"):
        list(read_trajectories(records, {}))
