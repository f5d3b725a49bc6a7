"""Links after a rematch, who is waited for, and what remains when somebody has left."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from play.world import ESCAPE, Player, first_legal

from collab_overcooked.play.host import Host
from collab_overcooked.play.people import SendQueue
from collab_overcooked.play.rooms import with_rematch
from collab_overcooked.play.session import MAX_WATCHERS, Session


async def finished(session: Session) -> list[Player]:
    """Play a session to its end; everybody stays at the page."""
    session.rematch.begin = lambda following: None
    watcher = session.watch()
    players = [Player(session, person, first_legal) for person in (*session.people, watcher)]
    tasks = [asyncio.create_task(player.run()) for player in players]
    await asyncio.wait_for(session.run(), 120)
    await asyncio.wait(tasks, timeout=5)
    return players


def last_status(player: Player) -> dict[str, Any]:
    return [message for message in player.send_queue._queue if message and message["type"] == "rematch"][-1]


def test_who_proposes_sees_who_is_waited_for_and_watchers_only_look_on(make_session) -> None:
    async def story() -> None:
        session = with_rematch(make_session(["all=person"], **ESCAPE))
        one, two, watcher = await finished(session)
        assert last_status(one)["offers"] == last_status(two)["offers"] == ["again", "swap"]
        session.receive(session.people[0], {"type": "rematch", "how": "again"})
        assert last_status(one)["offers"] == [] and last_status(one)["waiting"] == [1]
        assert last_status(two)["offers"] and last_status(two)["wishes"] == [[0, "again"]]
        assert last_status(watcher)["offers"] == []
        back = SendQueue("test")
        session.connect(session.people[0], back)  # after a reload of the page
        kinds = [m["type"] for m in back._queue if m and m["type"] in ("frame", "over")]
        assert kinds == ["frame", "over"], "the board of the last step stays beside the result"
        assert [m for m in back._queue if m and m["type"] == "rematch"][-1]["waiting"] == [1]

    asyncio.run(story())


@pytest.mark.parametrize("leaves", ["disconnects", "leaves"])
def test_nothing_is_offered_that_nobody_can_answer(make_session, leaves: str) -> None:
    async def story() -> None:
        session = with_rematch(make_session(["all=person"], **ESCAPE))
        one, two, _ = await finished(session)
        if leaves == "leaves":
            session.receive(session.people[1], {"type": "leave"})
        else:
            session.disconnect(session.people[1], two.send_queue)
        assert last_status(one)["offers"] == [] and last_status(one)["missing"] == [1]
        session.receive(session.people[0], {"type": "rematch", "how": "again"})
        assert last_status(one)["wishes"] == [], "a button of a moment ago counts for nothing"

    asyncio.run(story())


def test_old_links_lead_to_the_new_game(make_session) -> None:
    pytest.importorskip("starlette", reason="needs the extra play")
    from starlette.testclient import TestClient

    from collab_overcooked.play.server import make_app

    session, new = with_rematch(make_session(["all=person"], **ESCAPE)), list[Any]()

    async def story() -> list[Player]:
        players = await finished(session)
        session.rematch.begin = new.append
        for person, how in zip(session.people, ("again", "swap"), strict=True):
            session.receive(person, {"type": "rematch", "how": how})
        return players

    players = asyncio.run(story())
    expected = [new[0].seats[1], new[0].seats[0], new[0].watchers[0]]
    assert [last_status(player)["link"] for player in players] == [f"/s/{person.token}" for person in expected]
    host = Host()
    host.sessions[session.id] = session
    with TestClient(make_app(host), base_url="http://localhost", follow_redirects=False) as web:
        for person, successor in zip((*session.people, *session.watchers), expected, strict=True):
            answer = web.get(f"/s/{person.token}?language=de")
            assert answer.status_code == 303
            assert answer.headers["location"] == f"/s/{successor.token}?language=de"


def test_a_watcher_comes_back_and_makes_room_for_others_while_away(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    watchers, send_queue = [session.watch() for _ in range(MAX_WATCHERS)], SendQueue("test")
    session.connect(watchers[3], send_queue)
    session.disconnect(watchers[3], send_queue)
    assert watchers[3] in session.watchers, "a reload of the page finds the game again"
    session.watch()
    assert watchers[3] not in session.watchers and len(session.watchers) == MAX_WATCHERS
    with pytest.raises(ValueError, match="at most"):
        session.watch()
