from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import collab_overcooked as co
from collab_overcooked.games.cuisineworld.suite.scoring import score_record
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

Play = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def play() -> Play:
    """Play an episode and score it: play(specs, seed=0, **options of the environment)."""

    def run(specs: str | tuple[str, ...], seed: int = 0, **options: Any) -> dict[str, Any]:
        env = co.make("CuisineWorld-v0", **options)
        team = make_team([specs] * env.game.n_agents if isinstance(specs, str) else specs)
        record = play_episode(env, team, seed)
        return record.replace(metrics=score_record(record) | {"refused": int(env.scene()["refused"])})

    return run
