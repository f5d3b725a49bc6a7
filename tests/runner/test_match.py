"""Matches: what they say about their episodes before these are played."""

from __future__ import annotations

import pytest

from collab_overcooked import registry
from collab_overcooked.runner.match import Match


@pytest.mark.parametrize("env_id", registry.registered())
def test_a_match_says_after_how_many_steps_its_environment_ends(env_id: str) -> None:
    n_agents = registry.load_game(env_id).n_agents
    match = Match(env_id=env_id, env_kwargs={}, team=("random",) * n_agents, task="any")
    assert match.longest == registry.make(env_id).max_cycles
    short = Match(env_id=env_id, env_kwargs={"max_cycles": 3}, team=("random",) * n_agents, task="any")
    assert short.longest == registry.make(env_id, max_cycles=3).max_cycles == 3
