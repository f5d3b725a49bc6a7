"""Par scores: an episode of one policy in every seat."""

from __future__ import annotations

import pytest

from collab_overcooked.evaluation.par_score import play_par


def test_the_episode_is_played_to_its_end_and_the_same_each_time() -> None:
    scenes = [play_par("Overcooked-v0", "greedy", layout="cramped_room", max_cycles=80).scene() for _ in range(2)]
    assert scenes[0] == scenes[1] and scenes[0]["timestep"] == 80 and scenes[0]["served"] >= 1


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="gredy"):
        play_par("Overcooked-v0", "gredy", layout="cramped_room")
