"""Every page of play at three widths: nothing is cut off, and axe finds nothing against WCAG 2.2 A and AA."""

from __future__ import annotations

import pytest
from play import chromium
from play.pages import BROWSER, ESCAPE, OVER, PLAYING, READY, START, STEP, TURN, hosted, look, opened
from typer.testing import CliRunner

from collab_overcooked.cli import app

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
pytestmark = [
    *BROWSER,
    pytest.mark.skipif(chromium.axe() is None, reason="axe-core is not installed; `make test-browser` installs it"),
]
BUTTON = "[...document.querySelectorAll('button')].find(b => b.textContent === '{}').click()"


def test_pages_of_a_game_in_turns(browser, tmp_path) -> None:
    with hosted(tmp_path, *ESCAPE, "--team", "all=person", "--voice") as links:
        host = browser.page()
        host.open(links[-1])
        host.wait("document.querySelectorAll('#sessions a').length === 3")
        one = opened(browser, links[0])
        one.wait("/^Waiting/.test(document.getElementById('status').textContent)")
        look(one, "waiting")
        other, voice = opened(browser, links[1]), opened(browser, links[2])
        host.run(BUTTON.format("Link to look on"))
        host.wait("!!document.querySelector('#status a')")
        watcher = opened(browser, host.run("document.querySelector('#status a').href"))
        look(host, "host")
        voice.wait(TURN)
        look(voice, "voice")
        voice.run("document.getElementById('say').value = 'be careful'; document.getElementById('send').click()")
        one.wait(TURN)
        look(one, "turn")
        one.run("document.getElementById('plan').value = 'fly'")
        one.run("document.getElementById('send').click()")
        one.wait(f"{TURN} && !document.getElementById('attempt').hidden")
        look(one, "refused")
        one.run("document.getElementById('say').value = 'I go first'")
        one.key("2")
        other.wait(TURN)
        look(other, "reply")
        look(watcher, "spectator")
        other.run("window.confirm = () => true; document.getElementById('leave').click()")
        one.wait(OVER)
        look(one, "left")
        look(host, "host-over")


def test_pages_of_a_game_in_real_time(browser, tmp_path) -> None:
    texts = ["overcooked", "--layouts", "cramped_room", "--horizon", "300", "--tick", "0.1", "--seed", "1"]
    with hosted(tmp_path, *texts, "--team", "agent_0=person", "agent_1=greedy") as links:
        page, host = opened(browser, links[0]), browser.page()
        page.wait(START, 60)
        look(page, "start")
        page.run(READY)
        host.open(links[-1])
        host.wait("document.querySelectorAll('#sessions a').length === 1")
        page.wait(f"{PLAYING} && {STEP} >= 3")
        look(page, "real-time")
        page.wait(OVER, 90)
        look(page, "result")
        page.open(page.run("document.getElementById('replay').href"))
        page.wait("document.documentElement.dataset.ready === 'yes'")
        page.run("document.getElementById('slider').value = 60")
        page.run("document.getElementById('slider').dispatchEvent(new Event('input'))")
        look(page, "replay")
        assert page.problems() == []
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 0, done.output
    page.open((tmp_path / "report.html").as_uri())
    page.wait("document.documentElement.dataset.ready === 'yes'")
    look(page, "report")


@pytest.mark.parametrize("suite", ["rush", "cuisineworld", "collab-overcooked"])
def test_pages_of_other_games(browser, tmp_path, suite) -> None:
    with hosted(tmp_path, suite, "--seed", "1", "--practice", "--team", "agent_0=person", "all=greedy") as links:
        page = opened(browser, links[0])
        page.wait(TURN, 60)
        look(page, f"{suite}-practice")
        page.run("document.getElementById('rules').open = true; document.getElementById('rules').scrollIntoView()")
        look(page, f"{suite}-rules")
