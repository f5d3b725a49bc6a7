"""The host of sessions: links, tokens, limits, and an end for idle sessions."""

from __future__ import annotations

import asyncio

import pytest
from play.world import ESCAPE

from collab_overcooked.play import host as host_module
from collab_overcooked.play.host import MAX_SESSIONS, Host, keep_links


def test_every_token_is_compared_in_constant_time(make_session, monkeypatch) -> None:
    host, compared = Host(), []
    for _ in range(3):
        session = make_session(["all=person"], **ESCAPE)
        host.sessions[session.id] = session
    monkeypatch.setattr(
        host_module.hmac,
        "compare_digest",
        lambda parts, value: compared.append(parts) or parts == value,  # type: ignore
    )
    first = next(iter(host.sessions.values())).people[0]
    assert host.find(first.token) == (next(iter(host.sessions.values())), first) and len(compared) == 6
    assert host.find("x") is None and len(compared) == 12
    assert host.is_host(host.token) and len(compared) == 13
    assert len({entry.decode() for entry in compared}) == 7 and all(len(item) >= 22 for item in compared)  # 128 bits


def test_sessions_that_nobody_uses_end(make_session) -> None:

    now = [0.0]
    used, idle = (make_session(["agent_0=person", "agent_1=greedy"], now=lambda: now[0], **ESCAPE) for _ in range(2))

    async def story() -> None:
        host = Host(lambda: now[0])
        host.add(used)
        host.add(idle)
        now[0] = host_module.IDLE - 1
        used.receive(used.people[0], {"type": "ready"})
        for seconds, states in ((0, ("open", "open")), (host_module.IDLE + 1, ("open", "closed"))):
            now[0] = max(now[0], seconds)
            sweeping = asyncio.create_task(host.sweep())
            await asyncio.sleep(0.01)
            sweeping.cancel()
            stopped = [session._stopped is not None for session in (used, idle)]
            assert stopped == [state == "closed" for state in states]
        await host.close()

    asyncio.run(story())


def test_sessions_are_limited(make_session) -> None:

    async def many() -> None:
        host = Host()
        session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
        for number in range(MAX_SESSIONS):
            session.id = f"s{number}"
            host.sessions[session.id] = session
        with pytest.raises(ValueError, match="at most"):
            host.add(session)

    asyncio.run(many())


def test_links_are_kept_for_a_restart(make_session, tmp_path) -> None:
    hosts = [(Host(), make_session(["all=person"], **ESCAPE).people) for _ in range(2)]
    links = [keep_links(tmp_path, *entry) or [holder.token for holder in (entry[0], *entry[1])] for entry in hosts]
    assert links[0] == links[1] and len(set(links[0])) == 3
    assert (tmp_path / "links.json").stat().st_mode & 0o077 == 0
