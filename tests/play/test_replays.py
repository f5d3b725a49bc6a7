"""Replays for those who played: what a seat saw, and nothing else."""

from __future__ import annotations

import json
import re

import pytest
from play.test_server import client
from play.world import ESCAPE, first_legal, play

from collab_overcooked.play.replays import replay_page

pytest.importorskip("starlette", reason="needs the extra play")


def replay_data(page: str) -> dict:
    """Return the data of the page's player."""
    (replay,) = json.loads(re.search(r'id="replays">(.*?)</script>', page, re.DOTALL)[1])["episodes"]
    return replay


def test_a_seat_sees_itself_and_hears_all(make_session) -> None:
    def talker(message):
        answer = first_legal(message)
        return answer | {"say": "here I am"} if answer and answer["type"] == "act" else answer

    session = make_session(["all=person"], **ESCAPE)
    play(session, talker)
    page, policy = replay_page(session, session.people[1], 0)
    displayed = replay_data(page)
    assert displayed["seats"] == [None, "agent_1, person"] and "script-src 'sha256-" in policy
    assert {step["actions"][0] for step in displayed["steps"]} == {None} and all(
        step["actions"][1] for step in displayed["steps"]
    )
    assert {m["agent"] for step in displayed["steps"] for m in step["messages"]} == {0, 1}
    assert len(displayed["frames"]) == len(session.records[0].steps) + 1
    assert replay_page(session, session.people[1], 1) is None and replay_page(session, session.people[1], -1) is None


def test_the_helper_is_not_shown_the_recipe_afterwards(make_session) -> None:
    session = make_session(["agent_0=greedy", "agent_1=person"], suite="collab-overcooked", tasks=["boiled_egg"])
    play(session)
    page, _ = replay_page(session, session.people[0], 0)
    recipe = session.env.game.seen(session.env.clone_state().state, 0, 0).recipe or ""
    displayed = replay_data(page)
    assert displayed["seats"][0] is None and not any(line in page for line in recipe.splitlines() if len(line) > 12)


def test_no_replay_where_the_host_or_the_condition_forbids_it(make_session) -> None:
    for how in ({"replay": False}, {"show": "words"}):
        session = make_session(["agent_0=person", "agent_1=greedy"], how=how, **ESCAPE)
        (player,) = play(session)
        assert player.of_type("over")[0]["replay"] == "" and replay_page(session, session.people[0], 0) is None


def test_blind_names_stay_blind(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], how={"names": "blind"}, **ESCAPE)
    watcher = session.watch()
    play(session)
    for person in (session.people[0], watcher):
        page, _ = replay_page(session, person, 0)
        assert "greedy" not in page


def test_the_page_of_a_replay_has_its_own_policy_and_needs_a_link(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    with client(session) as (entry, _):
        token = session.people[0].token
        with entry.websocket_connect(f"/s/{token}/socket") as socket:
            while (message := socket.receive_json())["type"] != "over":
                answer = first_legal(message)
                if answer:
                    socket.send_json(answer)
        result = entry.get(f"/s/{token}/{message['replay']}")
        assert result.status_code == 200 and "frame-ancestors 'none'" in result.headers["Content-Security-Policy"]
        assert "sha256-" in result.headers["Content-Security-Policy"] and result.headers["Cache-Control"] == "no-store"
        assert entry.get(f"/s/{token}/replay/1").status_code == 404 and entry.get("/s/x/replay/0").status_code == 404
