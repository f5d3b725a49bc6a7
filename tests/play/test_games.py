"""Every registered game is played by people through a session, with no line of code for it."""

from __future__ import annotations

import re

import pytest
from play.world import first_legal, play

from collab_overcooked import registry
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.play.session import Session

STEPS = 12  # of each game; then the person leaves
SPELLED = re.compile(r"\w\(|`|[A-Z]_[A-Z]|\(\d+, \d+\)|JSON")  # actions and positions in texts of language agents


def ids() -> list[str]:
    return [env_id for first_suite in registry.first_suites().values() for env_id in first_suite]


def session_for(make_session, env_id: str) -> Session:
    suite = next(name for name, first_suite in registry.first_suites().items() if env_id in first_suite)
    plan = plan_evaluation(suite, ["all=person"])
    fitting = [match for match in plan.matches if match.env_id == env_id]
    match = next((match for match in fitting if len(match.team) > 1), fitting[0])
    return make_session(match.team, rounds=[match], suite=suite)


@pytest.mark.parametrize("env_id", ids())
def test_people_play_every_game(make_session, env_id) -> None:
    session, asked = session_for(make_session, env_id), []

    def some_steps(message):
        asked.append(message["type"] in ("ask", "frame"))
        if message.get("timestep", 0) >= STEPS:
            return {"type": "leave"}
        if message["type"] == "frame" and message["timestep"] % 2:
            return {"type": "key", "key": "left", "down": message["timestep"] % 4 == 1}
        return first_legal(message)

    players = play(session, some_steps)
    assert session.error is None and sum(asked) >= STEPS
    for player in players:
        welcome = player.of_type("welcome")[0]
        assert welcome["manual"] and welcome["game"] == env_id.partition("-v")[0]
        assert not SPELLED.search(welcome["manual"]), "written for those who write actions"
        frames = player.of_type("frame")
        assert any(frame.get("text") for frame in frames)
        for question in player.of_type("ask"):
            assert not [text for text in question["legal"] if "{" in text]


@pytest.mark.parametrize("env_id", ids())
def test_what_people_read_is_understood(env_id) -> None:
    suite = next(name for name, first_suite in registry.first_suites().items() if env_id in first_suite)
    plan = plan_evaluation(suite, ["all=random"])
    match = next(match for match in plan.matches if match.env_id == env_id)
    env = registry.make(match.env_id, **match.env_kwargs)
    env.reset(seed=0)
    state = env.clone_state().state
    for seat in range(env.game.n_agents):
        labels = env.game.action_labels(state, 0, seat)
        legal = [action for action in range(len(labels)) if env.action_mask(env.possible_agents[seat])[action]]
        for action in legal:
            assert env.game.parse(labels[action], state, 0, seat) == action
            assert env.game.parse_plan(labels[action], seat)[0]
