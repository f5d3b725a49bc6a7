"""A network that is cut for ten seconds and pages that are loaded anew, in turns and in real time."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

import pytest
from play.pages import BROWSER, ESCAPE, OVER, PLAYING, READY, START, STEP, TURN, hosted, opened, records
from play.wire import Wire

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
pytestmark = BROWSER
CUT = 10.0  # seconds
LOST = "document.getElementById('notice')?.hidden === false"
QUESTION = "document.getElementById('turn-title').textContent + document.getElementById('text').textContent"
SOUP = ("overcooked", "--layouts", "cramped_room", "--horizon", "60", "--tick", "0.2", "--seed", "1")


@pytest.fixture
def wired() -> Iterator:
    wires: list[Wire] = []

    def through(link: str) -> tuple[Wire, str]:
        port = int(re.search(r":(\d+)/", link)[1])
        wires.append(Wire(port))
        return wires[-1], link.replace(f":{port}/", f":{wires[-1].port}/")

    yield through
    for wire in wires:
        wire.close()


def test_a_turn_waits_for_ten_seconds_without_a_network(browser, tmp_path, wired) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "agent_0=person", "agent_1=greedy") as links:
        wire, link = wired(links[0])
        page = opened(browser, link)
        page.wait(TURN)
        page.key("2")
        page.wait(f"{STEP} === 1 && {TURN}")
        page.run("document.getElementById('say').value = 'half'; document.getElementById('answer').oninput()")
        before = page.run(QUESTION)
        wire.cut(True)
        page.wait(LOST)
        time.sleep(CUT)
        assert page.run(STEP) == 1
        wire.cut(False)
        page.wait(f"!({LOST}) && {TURN}")
        assert page.run(QUESTION) == before and page.run("document.getElementById('say').value") == "half"
        page.call("Page.reload")
        page.wait(f"{STEP} === 1 && {TURN}")
        assert page.run(QUESTION) == before and page.run("document.getElementById('say').value") == "half"
        for _ in range(60):
            page.wait(f"({TURN}) || ({OVER})")
            if page.run(OVER):
                break
            page.run("document.getElementById('idle').click()")
        (record,) = records(tmp_path)
    facts = record["people"]["agent_0"]
    assert facts["disconnects"] == 2 and facts["decisions"] == len(record["steps"])
    asked = [json.loads(line)["timestep"] for line in (tmp_path / "inputs.jsonl").read_text("utf-8").splitlines()]
    assert asked == list(range(len(record["steps"])))


def test_real_time_stands_still_for_ten_seconds_without_a_network(browser, tmp_path, wired) -> None:
    with hosted(tmp_path, *SOUP, "--team", "agent_0=person", "agent_1=greedy") as links:
        wire, link = wired(links[0])
        page = opened(browser, link)
        page.wait(START, 60)
        page.run(READY)
        page.wait(f"{PLAYING} && {STEP} >= 5")
        wire.cut(True)
        page.wait(LOST)
        before = page.run(STEP)
        time.sleep(CUT)
        wire.cut(False)
        page.wait(f"!({LOST}) && {PLAYING}")
        assert before <= page.run(STEP) < before + CUT / 0.2 / 2  # it did not go on in between
        before = page.run(STEP)
        page.call("Page.reload")
        page.wait(f"{PLAYING} && {STEP} >= {before}")
        page.wait(OVER, 60)
        (record,) = records(tmp_path)
    assert len(record["steps"]) == 60 and record["people"]["agent_0"]["disconnects"] == 2


def test_a_partner_plays_on_beside_one_who_is_cut_off(browser, tmp_path, wired) -> None:
    """With two people the clock goes on; who comes back is at the others' moment, and no step is lost or doubled."""
    with hosted(tmp_path, *SOUP, "--team", "all=person") as links:
        wire, link = wired(links[0])
        one, other = opened(browser, link), opened(browser, links[1])
        for page in (one, other):
            page.wait(START, 60)
            page.run(READY)
        one.wait(f"{PLAYING} && {STEP} >= 3")
        seen = [one.run(STEP)]
        wire.cut(True)
        one.wait(LOST)
        other.wait("document.querySelectorAll('#panel .away .cut').length === 1", 60)
        alone = other.run(STEP)
        other.wait(f"{STEP} >= {alone} + 10")
        wire.cut(False)
        one.wait(f"!({LOST}) && {STEP} > {seen[0]} + 5")
        other.wait("document.querySelectorAll('#panel .away').length === 0")
        assert abs(one.run(STEP) - other.run(STEP)) <= 5
        one.wait(OVER, 60)
        other.wait(OVER)
        (record,) = records(tmp_path)
    assert len(record["steps"]) == 60
