"""The pages of a study in a real Chromium: by keyboard alone, at three widths, with nothing loaded from elsewhere."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from play import chromium
from study.world import QUICK

from collab_overcooked.study.design import read_study
from collab_overcooked.study.journal import Journal

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium on this machine"),
]
pytest.importorskip("uvicorn", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")

SHOTS = os.environ.get("STUDY_SHOTS", "")  # folder for pictures of every page, to be looked at by a person
SIZES = ((1280, 800), (768, 1024), (360, 640))
PAIR = {**QUICK, "participants": {**QUICK["participants"], "group": 2}}


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Chromium]:
    found = chromium.Chromium()
    yield found
    found.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    """Serves a study; returns the address of its first page."""
    from collab_overcooked.play.server import make_server
    from collab_overcooked.study.rehearsal import study_app

    stopped: list[Any] = []

    def begin(values: dict[str, Any]) -> str:
        journal = Journal.open(tmp_path / "study", read_study(values))
        web, _, host = study_app(journal)
        port: list[int] = []
        ready = threading.Event()
        server, listening = make_server(web, "127.0.0.1", 0, lambda number: (port.append(number), ready.set()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        assert ready.wait(60)
        stopped.append((server, thread, host, journal))
        return f"http://127.0.0.1:{port[0]}/study?PID=p1"

    yield begin
    for server, thread, host, journal in stopped:
        server.should_exit = True
        thread.join(20)
        host.close()
        journal.close()


def look(page: chromium.Page, name: str) -> None:
    """Check at every size that nothing is wider than the page and that what is pressed is large enough."""
    for width, height in SIZES:
        page.size(width, height)
        assert page.run("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} is too wide for {width}"
        small = page.run(
            "[...document.querySelectorAll('button, a.button, label:has(input)')]"
            ".filter(e => e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML)"
        )
        assert not small, small
        if SHOTS:
            page.shot(Path(SHOTS) / f"{name}-{width}.png")
    page.size(*SIZES[0])


def press(page: chromium.Page, *keys: str) -> None:
    for key in keys:
        page.key(key)


def test_a_study_is_done_by_keyboard_alone(browser: chromium.Chromium, serve: Any) -> None:
    page = browser.page()
    page.open(serve(QUICK))
    look(page, "consent")
    press(page, "Tab", "Enter")  # the first button agrees
    page.wait("(document.body?.innerText ?? '').includes('Read this.')")
    look(page, "page")
    press(page, "Tab", "Enter")
    page.wait("!!document.querySelector('#age')")
    press(page, "Tab", "Tab", "Tab", "Tab", "Enter")  # past the fields to the button: nothing is answered
    page.wait("!!document.querySelector('.errors')")
    look(page, "errors")
    assert page.run("document.querySelector('#age').getAttribute('aria-describedby')") == "age-error"
    page.run("document.querySelector('#age').focus()")
    press(page, "4", "2", "Tab", " ", "Tab", "Tab", "Enter")
    page.wait("location.pathname.startsWith('/study/') && !!document.querySelector('a[href$=\"/play\"]')")
    look(page, "game")
    press(page, "Tab", "Enter")
    page.wait("location.pathname.startsWith('/s/')")
    assert [own for own in page.problems() if "422" not in own] == []  # the page with complaints


def test_two_people_meet_in_the_waiting_room(browser: chromium.Chromium, serve: Any) -> None:
    values = {**PAIR, "blocks": [QUICK["blocks"][2], {"form": "before"}]}
    for name in ("helped", "hindered"):
        values["conditions"] = {**values["conditions"], name: {**values["conditions"][name], "team": ["all=person"]}}
    address = serve(values)
    pages = [browser.page() for _ in range(2)]
    for number, page in enumerate(pages):
        page.open(address.replace("p1", f"p{number}"))
        press(page, "Tab", "Enter")
        if number == 0:
            page.wait("document.querySelector('#news')?.innerText.includes('1 of 2')")
            assert page.run("document.querySelector('#news').getAttribute('role')") == "status"
            look(page, "waiting")
    for page in pages:
        page.wait("location.pathname.startsWith('/s/')", 60)
        assert page.problems() == []


def test_questions_and_the_last_page_fit_every_width(browser: chromium.Chromium, serve: Any) -> None:
    page = browser.page()
    last = {"play": ["helped", "hindered"]}
    forms = {
        **QUICK["forms"],
        "before": {"title": "End", "items": [{"name": "in", "choice": ["a", "b"], "accept": ["b"], "ask": "In?"}]},
    }
    ends = {"screened": {"code": "S-1", "url": "https://example.org/back?id={id}"}}
    page.open(serve({**QUICK, "blocks": [{"form": "liked"}, {"form": "before"}, last], "forms": forms, "finish": ends}))
    press(page, "Tab", "Enter")
    page.wait("!!document.querySelector('.points')")
    look(page, "likert")
    press(page, "Tab", " ", "ArrowRight", "Tab", "w", "Tab", "Enter")
    page.wait("!!document.querySelector('#in')")
    press(page, "Tab", " ", "Tab", "Enter")  # the first answer rules the person out
    page.wait("!!document.querySelector('.code')")
    look(page, "end")
    assert page.run("document.querySelector('a.button').href") == "https://example.org/back?id=p1"
    assert page.problems() == []
