"""The text environment of Gymnasium."""

from __future__ import annotations

import json

import gymnasium
import pytest
from adapters.frameworks import greedy
from gymnasium.utils.env_checker import check_env

from collab_overcooked.adapters.gymnasium import TextSeat

ID = "collab_overcooked.adapters.gymnasium:CooperativeText-v0"


def test_it_passes_gymnasiums_checker():
    env = gymnasium.make(ID, suite="collab-escape", episodes=1)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_greedy_answers_play_the_records_of_evaluate():
    answers = greedy.Greedy()
    env = gymnasium.make(ID, suite=greedy.SUITE, team=greedy.ONE, episodes=greedy.EPISODES)
    for match, expected in enumerate(greedy.greedy_records()):
        text, info = env.reset(options={"match": match})
        ended = False
        while not ended:
            assert text in env.observation_space
            text, reward, ended, _, info = env.step(answers(info["messages"]))
        assert greedy.comparable(info["record"]) == greedy.comparable(expected)
        assert info["metrics"] == expected.metrics and reward in (0.0, 1.0)
    env.close()


def test_seeds_and_bad_arguments():
    env = gymnasium.make(ID, suite="collab-escape", render_mode="ansi")
    first, info = env.reset(seed=4)
    assert env.render() == first and info["legal"]
    seen = [env.reset(seed=seed)[0] for seed in (4, 5)]
    assert seen[0] == first
    env.step(json.dumps({"action": 1}))
    env.close()
    with pytest.raises(ValueError, match="exactly one seat must be open, not 2"):
        gymnasium.make(ID, suite="collab-escape", team=greedy.ALL)
    with pytest.raises(ValueError, match="render_mode must be None or 'ansi', not 'human'"):
        TextSeat(render_mode="human")
