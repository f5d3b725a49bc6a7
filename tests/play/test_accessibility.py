"""Every page of play at three widths: nothing is cut off, and axe finds nothing against WCAG 2.2 A and AA."""

from __future__ import annotations

import re

import pytest
from play.pages import ESCAPE, OVER, TURN, hosted, leave, look, opened, ready, start, step_of, wait_for_step
from playwright.sync_api import expect
from support.cli_runner import CliRunner

from collab_overcooked.cli import app

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
pytestmark = pytest.mark.browser


def test_pages_of_a_game_in_turns(context, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "all=person", "--voice") as links:
        host = context.new_page()
        host.goto(links[-1])
        expect(host.locator("#sessions a")).to_have_count(3)
        one = opened(context, links[0])
        expect(one.locator("#status")).to_have_text(re.compile("^Waiting"))
        look(one, "waiting")
        other, voice = opened(context, links[1]), opened(context, links[2])
        host.get_by_role("button", name="Link to look on").click()
        watcher = opened(context, host.locator("#status a").evaluate("link => link.href"))
        look(host, "host")
        ready(other, voice, one)
        voice.bring_to_front()
        voice.locator(TURN).wait_for()
        look(voice, "voice")
        voice.fill("#say", "be careful")
        voice.click("#send")
        one.locator(TURN).wait_for()
        look(one, "turn")
        one.click("#planning summary")
        one.fill("#plan", "fly")
        one.click("#send")
        one.locator("#attempt").wait_for()
        one.locator(TURN).wait_for()
        one.click("#planning summary")
        look(one, "refused")
        one.fill("#say", "I go first")
        one.locator("#turn-title").focus()
        one.keyboard.press("2")
        other.locator(TURN).wait_for()
        look(other, "reply")
        look(watcher, "spectator")
        leave(other)
        one.locator(OVER).wait_for()
        look(one, "left")
        look(host, "host-over")


def test_pages_of_a_game_in_real_time(context, problems, tmp_path) -> None:
    texts = ["overcooked", "--layouts", "cramped_room", "--max-cycles", "100", "--tick", "0.2", "--seed", "1"]
    with hosted(tmp_path, *texts, "--team", "agent_0=person", "agent_1=greedy") as links:
        page, host = opened(context, links[0]), context.new_page()
        page.locator("#start").wait_for()
        look(page, "start")
        start(page)
        page.keyboard.press("ArrowUp")  # an episode in which a person does nothing has no replay
        host.goto(links[-1])
        expect(host.locator("#sessions a")).to_have_count(1)
        wait_for_step(page, 3)
        look(page, "real-time")
        assert step_of(page) < 100
        page.locator(OVER).wait_for()
        look(page, "result")
        page.goto(page.locator("#replay").evaluate("link => link.href"))
        expect(page.locator("html")).to_have_attribute("data-ready", "yes")
        page.locator("#slider").fill("60")
        look(page, "replay")
        assert problems == []
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 0, done.output
    page.goto((tmp_path / "report.html").as_uri())
    expect(page.locator("html")).to_have_attribute("data-ready", "yes")
    look(page, "report")


@pytest.mark.parametrize("suite", ["rush", "cuisineworld", "collab-overcooked"])
def test_pages_of_other_games(context, tmp_path, suite) -> None:
    with hosted(tmp_path, suite, "--seed", "1", "--practice", "--team", "agent_0=person", "all=greedy") as links:
        page = opened(context, links[0])
        ready(page)
        page.locator(TURN).wait_for()
        look(page, f"{suite}-practice")
        page.click("#rules summary")
        look(page, f"{suite}-rules")
