from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import collab_overcooked as co
from collab_overcooked.policies.llm.agents import LanguagePolicy, policy_maker
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import Reply, Request
from collab_overcooked.runner.episode import Limits, play_episode
from collab_overcooked.runner.records import dump_line
from collab_overcooked.runner.teams import Team, make_team


class Scripted:
    """A model that answers with a function of the request: text, a value to be written as JSON, or a reply."""

    def __init__(self, answer: Callable[[Request], Any]) -> None:
        self.answer = answer
        self.asked: list[Request] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        reply = self.answer(request)
        if isinstance(reply, Reply):
            return reply
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return Reply(text, prompt_tokens=100, completion_tokens=10, seconds=0.5)

    @property
    def last(self) -> list[str]:
        """The last message of each question."""
        return [request.turns[-1].content for request in self.asked]


@pytest.fixture
def client() -> type[Scripted]:
    return Scripted


@pytest.fixture
def play_team(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[dict[str, Any], Scripted]]:
    """Play: play_team(specs, answer, env_id, limits, mates, **options) -> record and client.

    One seat is asked after the other, so that questions come in a known order, unless ``side_by_side`` is set.
    """

    def run(
        specs: str | list[str],
        answer: Callable[[Request], Any],
        env_id: str = "CollabOvercooked-v0",
        limits: Limits | None = None,
        client_options: dict[str, Any] | None = None,
        mates: dict[int, Any] | None = None,
        side_by_side: bool = False,
        **options: Any,
    ) -> tuple[dict[str, Any], Scripted]:
        if env_id == "CollabOvercooked-v0":
            options = {"task": "boiled_egg", **options}
        env = co.make(env_id, **options)
        with monkeypatch.context() as patch:
            if not side_by_side:
                patch.setattr(LanguagePolicy, "apart", False)
            return play(env, specs, answer, limits, client_options or {}, mates or {}, options.get("task", ""))

    def play(env: Any, specs: Any, answer: Any, limits: Any, client_options: Any, mates: Any, task: str) -> Any:
        asked = Scripted(answer)
        reached = Client(asked.complete, **client_options)
        names = [specs] * env.game.n_agents if isinstance(specs, str) else specs
        team = make_team(names, policy_maker(reached))
        policies = tuple(mates.get(seat, policy) for seat, policy in enumerate(team.policies))
        record = play_episode(env, Team(team.specs, policies), 1, task=task, limits=limits)
        dump_line(record)
        return record, asked

    return run
