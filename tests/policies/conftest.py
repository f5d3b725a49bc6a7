from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import collab_overcooked as co
from collab_overcooked.core.rng import seed_words
from collab_overcooked.policies.api import Seen
from collab_overcooked.runner.episode import Limits, play_episode
from collab_overcooked.runner.teams import make_team

Play = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def play() -> Play:
    """Play an episode: play(specs, seed=0, limits=None, **options of the environment)."""

    def run(
        specs: str | tuple[str, ...], seed: int = 0, limits: Limits | None = None, **options: Any
    ) -> dict[str, Any]:
        env = co.make("CollabOvercooked-v0", **options)
        team = make_team([specs] * env.game.n_agents if isinstance(specs, str) else specs)
        return play_episode(env, team, seed, task=options.get("task", ""), limits=limits)

    return run


@pytest.fixture(scope="session")
def start() -> Callable[..., tuple[Any, Any]]:
    """Begin an episode and return state and out: start(game, reset options, limit)."""

    def begin(game: Any, options: dict[str, Any] | None = None, limit: int = 200) -> tuple[Any, Any]:
        state, out = game.alloc(1)
        state.rng[:] = seed_words([0])
        game.reset(state, out, np.ones(1, np.bool_), options, limit)
        return state, out

    return begin


@pytest.fixture(scope="session")
def see() -> Callable[..., Seen]:
    """Return what a seat sees: see(game, (state, out), seat, timestep)."""

    def look(game: Any, moment: tuple[Any, Any], seat: int = 0, timestep: int = 0) -> Seen:
        state, out = moment
        return Seen.of(game, state, out, seat, timestep)

    return look
