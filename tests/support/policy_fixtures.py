"""Policies that do as they are told, and fixtures that let them play."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import collab_overcooked as co
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.policies.api import AgentView, Decision, Message
from collab_overcooked.runner.episode import Limits, play_episode
from collab_overcooked.runner.teams import make_team

Play = Callable[..., dict[str, Any]]


class Scripted:
    """Says what it was given, in order; waits and stays silent when nothing is left."""

    def __init__(self, decisions: list[Any] = (), replies: list[Any] = (), name: str = "scripted") -> None:  # type: ignore[assignment]
        self.script, self.answers, self.name = list(decisions), list(replies), name
        self.views: list[Any] = []
        self.heard: list[Any] = []
        self.seeds: list[int] = []

    def reset(self, seat: int, info: Any, seed: int) -> None:
        self.seat, self.info = seat, info
        self.seeds.append(seed)
        self.decisions, self.replies = list(self.script), list(self.answers)

    def act(self, seen: Any) -> Any:
        self.views.append(seen)
        return self.decisions.pop(0) if self.decisions else "wait(1)"

    def reply(self, seen: Any) -> Message | None:
        self.heard.append(seen)
        return self.replies.pop(0) if self.replies else None


class Talker:
    """Follows the first reference; the chef asks for the assistant's part, which the assistant announces."""

    name = "talker"

    def reset(self, seat: int, info: Any, seed: int) -> None:
        self.seat, self.plans = seat, info.game.kitchen.tasks[info.task].references[0]
        self.asked, self.done = False, 0

    def act(self, seen: Any) -> Any:
        if self.seat == 1:
            return "wait(1)"
        if not self.asked:
            self.asked = True
            requests = "; ".join(f"request('{action}')" for action in self.plans[1])
            return Decision(
                plan=f"{requests}; wait(1)", say="Alice, <script>document.title='hurt'</script> & please", tokens=7
            )
        expected = self.plans[0][self.done]
        if expected not in seen.legal_actions:
            return "wait(1)"
        self.done += 1
        return expected

    def reply(self, seen: Any) -> Message | None:
        return Message(1, "On my way", "; ".join(self.plans[1])) if self.seat == 1 else None


@pytest.fixture(scope="session")
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture(scope="session")
def talker() -> Callable[[str], Talker]:
    return lambda spec: Talker()


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
        state.rng[:] = seed_states([0])
        game.reset(state, out, np.ones(1, np.bool_), options, limit)
        return state, out

    return begin


@pytest.fixture(scope="session")
def see() -> Callable[..., AgentView]:
    """Return what a seat sees: see(game, (state, out), seat, timestep)."""

    def look(game: Any, snapshot: tuple[Any, Any], seat: int = 0, timestep: int = 0) -> AgentView:
        state, out = snapshot
        return AgentView.of(game, state, out, seat, timestep)

    return look
