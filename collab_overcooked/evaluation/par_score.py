"""Par scores of generated files: an episode of one policy in every seat."""

from __future__ import annotations

from typing import Any

from collab_overcooked import registry
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

NO_POLICY = "none"  # leaves the par score out


def play_par(env_id: str, policy: str, **options: Any) -> ParallelEnv:
    """Return an environment at the end of an episode with seed 0 and one policy in every seat."""
    env = registry.make(env_id, **options)
    play_episode(env, make_team([policy] * env.game.n_agents), seed=0)
    return env
