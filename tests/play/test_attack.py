"""Attacks on a server: whatever comes over its sockets, it refuses, goes on, and keeps to its memory."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from play.attack import attacked
from play.world import ESCAPE

from collab_overcooked.play import server
from collab_overcooked.play.messages import Rate
from collab_overcooked.runner.replay import first_difference

pytest.importorskip("uvicorn", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
KITCHEN = {"suite": "overcooked", "layouts": "cramped_room", "max_cycles": 60}
MAX_MEMORY = 100  # MiB


@pytest.fixture
def memory() -> Iterator[Callable[[], float]]:
    """Measure the memory of Python objects in MiB, whatever the process did before."""

    def measure() -> float:
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / 2**20

    tracemalloc.start()
    yield measure
    tracemalloc.stop()


@pytest.mark.attacks
@pytest.mark.parametrize("messages", [60, pytest.param(20_000, marks=pytest.mark.nightly)])
def test_a_server_stands_random_messages(make_session, monkeypatch, memory, attack_seed: int, messages: int) -> None:
    monkeypatch.setattr(server, "Rate", lambda: Rate(a_second=1e9, burst=10**9))  # else most would not be read
    for count in (min(200, messages), messages):  # the first time, kernels and pictures take memory
        before = memory()
        sessions = [
            make_session(team, **what)
            for what in (ESCAPE, KITCHEN)
            for team in (["all=person"], ["agent_0=person", "agent_1=greedy"])
        ]
        for session in sessions:
            session.matches = session.matches * 50
        refused, broken = asyncio.run(attacked(sessions, count, attack_seed))
        assert refused and not broken and not any(session.error for session in sessions)
        assert any(session.records for session in sessions)
        for session in sessions:
            assert session.state == "closed"
            assert not any(map(first_difference, session.records[:3]))
    assert memory() - before < MAX_MEMORY
