"""Rooms that a host opens, rematches, practice by each for themselves, and people who choose at once."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from play.world import ESCAPE, KITCHEN, QUICK, Player, first_legal, play

from collab_overcooked.io.structs import convert
from collab_overcooked.play.host import Host
from collab_overcooked.play.rooms import RoomOrder, Rooms, choices, details, listing, with_rematch
from collab_overcooked.play.settings import PlaySettings


def test_the_start_page_offers_every_game_with_its_tasks() -> None:
    offers = {offer["game"]: offer | details(offer["game"]) for offer in listing()}
    assert "cramped_room" in offers["Overcooked-v0"]["choices"] and offers["Overcooked-v0"]["seats"] == 2
    assert all(offer["choices"] and offer["seats"] >= 1 for offer in offers.values())
    assert all(offer["minutes"] > 0 and offer["difficulty"] in (1, 2, 3) for offer in offers.values())
    assert {game for game, offer in offers.items() if offer["real_time"]} == {"Overcooked-v0", "OvercookedV2-v0"}
    with pytest.raises(ValueError, match="Overcooked-v0"):
        details("Overcookd-v0")


def test_the_start_page_is_listed_without_importing_a_game() -> None:
    code = (
        "import sys; from collab_overcooked.play.rooms import listing; assert len(listing()) > 10; "
        "print([name for name in sys.modules if name.startswith('collab_overcooked.games.') and name.endswith('.env')])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "must be a mapping, not"),
        ({"game": "Overcooked-v0", "colour": 1}, "unknown key 'colour'; known: game, task, people, practice"),
        ({"game": "Overcookd-v0"}, "Overcooked-v0"),
        ({"game": "Overcooked-v0", "task": "cramped_rom"}, "cramped_room"),
        ({"game": "Overcooked-v0", "people": 3}, "people must be an integer from 1 to 2, not 3"),
        ({"game": "Overcooked-v0", "people": True}, "people must be an integer"),
        ({"game": "Overcooked-v0", "practice": "yes"}, "practice must be true or false"),
    ],
)
def test_a_bad_order_is_refused_by_name(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert(values, RoomOrder)


def test_a_room_has_the_people_and_the_task_that_were_ordered() -> None:
    task = choices("Overcooked-v0")[0]
    session = Rooms(None, PlaySettings()).open(RoomOrder("Overcooked-v0", task, 1))
    assert (
        session.matches[0].team == ("person", "greedy") and session.matches[0].task == task and len(session.people) == 1
    )
    assert session.rematch is not None


def test_people_who_play_again_with_swapped_seats_meet_in_a_new_session(make_session) -> None:
    session = with_rematch(make_session(["all=person"], **ESCAPE))
    following: list[Any] = []

    async def story() -> list[Player]:
        session.rematch.begin = following.append
        players = [Player(session, person, first_legal) for person in session.people]
        tasks = [asyncio.create_task(player.run()) for player in players]
        await asyncio.wait_for(session.run(), 120)
        await asyncio.wait(tasks, timeout=5)
        session.receive(session.people[0], {"type": "rematch", "how": "swap"})
        assert not following  # the other has not agreed
        session.receive(session.people[1], {"type": "rematch", "how": "again"})
        return players

    players = asyncio.run(story())
    (new,) = following
    notices = [[message for message in player.send_queue._queue if message] for player in players]
    wishes = [[m["wishes"], m["waiting"]] for m in notices[1] if m["type"] == "rematch" and not m["link"]]
    assert wishes[-1] == [[[0, "swap"]], [1]]
    links = [next(m["link"] for m in messages if m["type"] == "rematch" and m["link"]) for messages in notices]
    assert links == [f"/s/{new.seats[1].token}", f"/s/{new.seats[0].token}"]
    assert new.matches[0].seed != session.matches[0].seed and {p.token for p in new.people}.isdisjoint(
        p.token for p in session.people
    )


def test_two_people_in_turns_are_asked_at_once(make_session) -> None:
    session = make_session(["all=person"], **ESCAPE)
    order: list[tuple[str, str, int]] = []

    def choose(name: str) -> Any:
        def answer(message: dict[str, Any]) -> dict[str, Any] | None:
            if message["type"] == "ask":
                order.append((name, message["kind"], message["timestep"]))
            return first_legal(message)

        return answer

    players = play(session, [choose("one"), choose("two")])
    assert session.records and session.error is None
    assert {entry[0] for entry in order[:2]} == {"one", "two"}  # both before either step is taken
    asked = [player.of_type("ask") for player in players]
    assert len(asked[0]) == len(asked[1]) == len(session.records[0].steps)  # nobody is asked twice


def test_words_reach_the_other_before_a_choice_that_was_made_ahead_counts(make_session) -> None:
    session = make_session(["all=person"], **ESCAPE)

    def talker(message: dict[str, Any]) -> dict[str, Any] | None:
        answer = first_legal(message)
        return answer | {"say": "come with me"} if answer and answer["type"] == "act" else answer

    players = play(session, [talker, first_legal])
    later = [question for question in players[1].of_type("ask") if question["kind"] == "act" and question["inbox"]]
    assert session.error is None and later and later[0]["inbox"][0]["say"] == "come with me"


def test_a_frame_comes_before_the_first_ready(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **KITCHEN)
    (player,) = play(session)
    kinds = [m["state"] if m["type"] == "state" else m["type"] for m in player.got]
    assert kinds.index("frame") < kinds.index("playing") and player.of_type("frame")[0]["timestep"] == 0
    assert kinds.index("loading") < kinds.index("welcome")


def test_the_host_page_opens_rooms_and_shows_codes() -> None:
    pytest.importorskip("starlette", reason="needs the extra play")
    from starlette.testclient import TestClient

    from collab_overcooked.play.server import make_app

    host = Host(rooms=Rooms(None, PlaySettings(**QUICK)))
    with TestClient(make_app(host), base_url="http://localhost") as web:
        assert web.post("/h/wrong/rooms", content="{}").status_code == 404
        bad = web.post(f"/h/{host.token}/rooms", content=json.dumps({"game": "Nothing-v0"}))
        assert bad.status_code == 409 and "Nothing-v0" in bad.json()["error"]
        good = web.post(f"/h/{host.token}/rooms", content=json.dumps({"game": "CollabEscape-v0", "people": 2}))
        assert web.get(good.json()["link"]).status_code == 200, "one click leads to the first seat"
        assert good.status_code == 200
        (displayed,) = web.get(f"/h/{host.token}/sessions").json()
        assert len(displayed["people"]) == 2 and all("<svg" in p["qr"] or not p["qr"] for p in displayed["people"])
        assert web.post(f"/h/{host.token}/rooms", content="x" * 5000).status_code == 413
        for content in ("[" * 4000, "{", "5", '{"game": NaN}', "\xff"):
            bad = web.post(f"/h/{host.token}/rooms", content=content)
            assert bad.status_code == 409 and bad.json()["error"], content


def test_a_rematch_waits_while_too_many_sessions_are_played(make_session) -> None:
    session = with_rematch(make_session(["all=person"], **ESCAPE))
    following: list[Any] = []

    async def story() -> list[Player]:
        players = [Player(session, person, first_legal) for person in session.people]
        tasks = [asyncio.create_task(player.run()) for player in players]
        await asyncio.wait_for(session.run(), 120)
        await asyncio.wait(tasks, timeout=5)

        def refuse(following: Any) -> None:
            raise ValueError("at most 50 sessions are played at the same time")

        for add in (refuse, following.append):
            session.rematch.begin = add
            for person in session.people:
                session.receive(person, {"type": "rematch", "how": "again"})
        return players

    for player in asyncio.run(story()):
        sent = [message for message in player.send_queue._queue if message]
        (refused,) = [message for message in sent if message["type"] == "refused"]
        assert (refused["code"], refused["message"]) == ("busy", "at most 50 sessions are played at the same time")
        assert any(message["type"] == "rematch" and message["link"] for message in sent), "asked again, later"
    assert len(following) == 1
