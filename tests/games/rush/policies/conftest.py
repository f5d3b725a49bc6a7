from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import collab_overcooked as co
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

Play = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def play() -> Play:
    """Play an episode and count what happened: play(specs, seed=0, env_id=..., **options of the environment)."""

    def run(
        specs: str | Sequence[str], seed: int = 0, env_id: str = "KitchenRush-v0", **options: Any
    ) -> dict[str, Any]:
        env = co.make(env_id, **options)
        team = make_team([specs] * env.game.n_agents if isinstance(specs, str) else list(specs))
        record = play_episode(env, team, seed)
        events = [event for step in record.steps for event in step.events]
        return {
            "finished": sum(event.finished for event in events),
            "ruined": sum(event.ruined for event in events),
            "refused": sum(event.reason != "OK" for event in events),
            "turns": events[-1].turn + 1,
            "advanced": [sum(step.events[seat].advanced for step in record.steps) for seat in range(env.game.n_agents)],
            "actions": [step.actions for step in record.steps],
        }

    return run
