"""Seats that decide on the same moment are asked side by side where the game lets them; records do not tell."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest

import collab_overcooked as co
from collab_overcooked.policies.api import EnvInfo
from collab_overcooked.policies.llm.agents import LanguagePolicy
from collab_overcooked.policies.llm.budget import Budget
from collab_overcooked.policies.llm.exchange import EndpointError, Reply, Request
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.decisions import Ask
from collab_overcooked.runner.episode import Episode, answer_for
from collab_overcooked.runner.teams import make_team

pytest.importorskip("jinja2", reason="needs the extra llm")
TOGETHER = {"env_id": "Overcooked-v0", "layout": "cramped_room", "action_level": "primitive", "max_cycles": 4}


def choose(request: Request) -> str:
    """Choose by the question alone."""
    text = request.turns[-1].content
    return json.dumps({"action": 1 + len(text) % len(re.findall(r"^\d+\. ", text, re.MULTILINE))})


class Meeting:
    """Answers when two have asked at the same time, or after a moment alone; counts how often they met."""

    def __init__(self, patience: float) -> None:
        self.patience, self.met, self.asked = patience, 0, 0
        self.two = threading.Barrier(2)

    def __call__(self, request: Request) -> Reply:
        self.asked += 1
        try:
            self.met += self.two.wait(self.patience) == 0
        except threading.BrokenBarrierError:
            self.two.reset()
        return Reply(choose(request), prompt_tokens=100, completion_tokens=10, seconds=0.5)


def test_seats_that_decide_on_the_same_moment_are_asked_at_the_same_time(play_team: Any) -> None:
    meeting = Meeting(20.0)
    together, _ = play_team("llm:m", meeting, side_by_side=True, **TOGETHER)
    assert meeting.met * 2 == meeting.asked > 4, "nobody waited alone"
    apart, _ = play_team("llm:m", choose, **TOGETHER)
    assert together == apart


@pytest.mark.parametrize("samples", [0.0, 1.0])
def test_records_are_those_of_asking_one_after_the_other(play_team: Any, samples: float) -> None:
    spec = f"llm:m?temperature={samples},reflection=2,analysis=on"
    together, first = play_team(spec, choose, side_by_side=True, **TOGETHER)
    apart, second = play_team(spec, choose, **TOGETHER)
    assert together == apart
    assert sorted(asked.link for asked in first.asked) == sorted(asked.link for asked in second.asked)


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("llm:m", {"env_id": "KitchenRush-v0", "max_turns": 1}),
        ("llm:m", {**TOGETHER, "max_cycles": 2, "client_options": {"budget": Budget(calls=100)}}),
    ],
    ids=["choices are public", "a budget may end in between"],
)
def test_where_the_order_matters_one_is_asked_after_the_other(play_team: Any, spec: str, options: Any) -> None:
    meeting = Meeting(0.1)
    play_team(spec, meeting, side_by_side=True, **options)
    assert meeting.met == 0 and meeting.asked > 1


def test_whoever_may_speak_is_asked_alone() -> None:
    env = co.make("CollabOvercooked-v0", task="boiled_egg")
    team = make_team(["llm:m", "llm:m?talk=off"])
    for seat, policy in enumerate(team.policies):
        assert isinstance(policy, LanguagePolicy)
        policy.reset(seat, EnvInfo(env.game.id, env.game, "boiled_egg", team.names), 0)
    assert [policy.apart for policy in team.policies] == [False, True]  # type: ignore[attr-defined]


def test_an_error_of_one_seat_ends_the_episode_and_leaves_nobody_waiting(play_team: Any) -> None:
    with pytest.raises(EndpointError, match="gone"):
        play_team("llm:m", lambda request: (_ for _ in ()).throw(EndpointError("gone")), side_by_side=True, **TOGETHER)
    assert threading.active_count() < 20


@pytest.mark.parametrize(
    ("env_id", "options"),
    [("Overcooked-v0", {"layout": "cramped_room"}), ("CollabOvercooked-v0", {"task": "boiled_egg"})],
    ids=["Overcooked", "Collab-Overcooked"],
)
def test_what_is_asked_ahead_is_what_will_be_asked(env_id: str, options: dict[str, Any]) -> None:
    env = co.make(env_id, max_cycles=25, **options)
    team = make_team(["random"] * env.game.n_agents, make_policy)
    run, answer, compared = Episode(env, team.specs, 3, task=options.get("task", "")), None, 0
    expected: dict[int, Any] = {}
    try:
        while True:
            event = run.send(answer)
            if isinstance(event, Ask) and event.seen.error is None:
                if event.seat in expected:
                    assert event.seen.to_dict() == expected.pop(event.seat)
                    compared += 1
                expected = {ask.seat: ask.seen.to_dict() for ask in event.ahead()} | expected
            answer = answer_for(team, event)
    except StopIteration:
        assert not expected and compared >= 3
