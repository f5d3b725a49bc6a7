"""A network that is cut and pages that are loaded anew, in turns and in real time."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

import pytest
from play.pages import (
    ESCAPE,
    OVER,
    PLAYING,
    TURN,
    asked,
    hosted,
    opened,
    ready,
    record_of,
    start,
    step_of,
    wait_for_step,
)
from play.wire import Wire
from playwright.sync_api import Page, expect

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
pytestmark = pytest.mark.browser
LOST = "#notice"
ASKED_ANEW = f"body[data-step='1'] {TURN}"
SOUP = ("overcooked", "--layouts", "cramped_room", "--max-cycles", "60", "--tick", "0.2", "--seed", "1")


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


def question_of(page: Page) -> list[str | None]:
    return [page.text_content("#turn-title"), page.text_content("#text"), page.input_value("#plan")]


def cut_for_some_time(wire: Wire, page: Page) -> None:
    """Cut a page off until it has tried to come back three times, which takes 3.5 seconds."""
    wire.cut(True)
    page.locator(LOST).wait_for()
    for _ in range(3):
        page.wait_for_event("websocket")


def test_a_turn_waits_while_there_is_no_network(context, tmp_path, wired) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "agent_0=person", "agent_1=greedy") as links:
        wire, link = wired(links[0])
        page = opened(context, link)
        ready(page)
        page.locator(TURN).wait_for()
        page.keyboard.press("2")
        page.locator(ASKED_ANEW).wait_for()
        page.click("#planning summary")
        page.fill("#plan", "half")
        before = question_of(page)
        cut_for_some_time(wire, page)
        assert step_of(page) == 1
        wire.cut(False)
        page.locator(LOST).wait_for(state="hidden")
        page.locator(ASKED_ANEW).wait_for()
        assert question_of(page) == before and before[-1] == "half"
        page.reload()
        page.locator(ASKED_ANEW).wait_for()
        assert question_of(page) == before
        page.fill("#plan", "")
        while asked(page) is not None:
            assert step_of(page) < 60
            page.click("#send")
        record = record_of(page, tmp_path)
        page.reload()
        page.locator(OVER).wait_for()
        expect(page.locator("#board")).to_be_visible()
        assert step_of(page) == len(record.steps), "the board of the last step is beside the result"
    facts = record.people["agent_0"]
    assert facts.disconnects == 2 and facts.decisions == len(record.steps)
    steps = [json.loads(line)["timestep"] for line in (tmp_path / "inputs.jsonl").read_text("utf-8").splitlines()]
    assert steps == list(range(len(record.steps)))


def test_real_time_stands_still_while_there_is_no_network(context, tmp_path, wired) -> None:
    with hosted(tmp_path, *SOUP, "--team", "agent_0=person", "agent_1=greedy") as links:
        wire, link = wired(links[0])
        page = opened(context, link)
        start(page)
        page.keyboard.press("ArrowUp")  # rounds in which somebody does nothing are abandoned
        wait_for_step(page, 5)
        began = time.monotonic()
        cut_for_some_time(wire, page)
        before = step_of(page)
        wire.cut(False)
        page.locator(LOST).wait_for(state="hidden")
        expect(page.locator("#status")).to_have_text(PLAYING)
        cut = time.monotonic() - began
        assert before <= step_of(page) < before + cut / 0.2 / 2  # it did not go on in between
        before = step_of(page)
        page.reload()
        expect(page.locator("#status")).to_have_text(PLAYING)
        wait_for_step(page, before)
        record = record_of(page, tmp_path)
    assert len(record.steps) == 60 and record.people["agent_0"].disconnects == 2


def test_a_partner_plays_on_beside_one_who_is_cut_off(context, tmp_path, wired) -> None:
    """With two people the clock goes on; who comes back is at the others' moment, and no step is lost or doubled."""
    with hosted(tmp_path, *SOUP, "--team", "all=person") as links:
        wire, link = wired(links[0])
        one, other = opened(context, link), opened(context, links[1])
        start(one, other)
        for page in (other, one):
            page.bring_to_front()
            page.keyboard.press("ArrowUp")
        wait_for_step(one, step_of(one) + 2)
        seen = step_of(one)
        wire.cut(True)
        one.locator(LOST).wait_for()
        expect(other.locator("#panel .away .cut")).to_have_count(1)
        wait_for_step(other, step_of(other) + 10)
        wire.cut(False)
        one.locator(LOST).wait_for(state="hidden")
        wait_for_step(one, seen + 6)
        expect(other.locator("#panel .away")).to_have_count(0)
        assert abs(step_of(one) - step_of(other)) <= 5
        one.locator(OVER).wait_for()
        record = record_of(other, tmp_path)
    assert len(record.steps) == 60
