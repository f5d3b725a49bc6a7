"""The pages of a study in a real Chromium: by keyboard alone, at three widths, with nothing loaded from elsewhere."""

from __future__ import annotations

import contextlib
import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from play import chromium
from play.pages import SHOTS
from play.pages import look as look_at
from study.world import QUICK

from collab_overcooked.study.design import read_study
from collab_overcooked.study.journal import Journal

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium on this machine"),
]
pytest.importorskip("uvicorn", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")

PAIR = {**QUICK, "participants": {**QUICK["participants"], "group": 2}}


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Chromium]:
    result = chromium.Chromium()
    yield result
    result.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    """Serves a study; returns the address of its first page."""
    from collab_overcooked.play.server import make_server
    from collab_overcooked.study.rehearsal import study_app

    stopped: list[Any] = []

    def begin(values: dict[str, Any]) -> str:
        journal = Journal.open(tmp_path / "study", read_study(values))
        web, games, host = study_app(journal)
        begin.games.append(games)
        port: list[int] = []
        ready = threading.Event()
        server, listening = make_server(web, "127.0.0.1", 0, lambda number: (port.append(number), ready.set()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        assert ready.wait(60)
        stopped.append((server, thread, host, journal))
        return f"http://127.0.0.1:{port[0]}/study?PID=p1"

    begin.games = []
    yield begin
    for server, thread, host, journal in stopped:
        server.should_exit = True
        thread.join(20)
        host.close()
        journal.close()


def look(page: chromium.Page, name: str) -> None:
    look_at(page, f"study-{name}", least=43.5)


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
    assert page.problems() == []


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


# What a willing person does on each page, from the first to the last.
WILLING = """(() => {
  const seen = (names) => [...document.querySelectorAll(names)].find((own) => own.offsetParent && !own.disabled);
  if (location.pathname.startsWith('/s/')) {
    const action = [...document.querySelectorAll('#actions button')].at(-1) ?? seen('#idle');
    (seen('#onward') ?? seen('#again') ?? seen('#skip') ?? (seen('#send') && action))?.click();
    return;
  }
  if (seen('#age')) document.getElementById('age').value = 30;
  for (const points of document.querySelectorAll('.points')) points.querySelector('input').checked = true;
  seen('main button, main a.button')?.click();
})()"""


@pytest.fixture
def panel() -> Iterator[str]:
    """The address to which a panel wants people back."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>Back</title>Welcome back")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as result:
        threading.Thread(target=result.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{result.server_address[1]}/back"
        result.shutdown()


def test_the_whole_path_from_consent_to_the_panel(
    browser: chromium.Chromium, serve: Any, panel: str, tmp_path: Path
) -> None:
    page_of, before, play = QUICK["blocks"]
    values = {
        **QUICK,
        "blocks": [page_of, before, {**play, "practice": True}],
        "finish": {"done": {"code": "XYZ", "url": f"{panel}?cc=XYZ&id={{id}}"}},
    }
    address, page = serve(values), browser.page()
    page.open(address)
    end, visited = time.monotonic() + 120, []
    while not page.run("location.pathname").startswith("/back"):
        assert time.monotonic() < end, page.text()
        with contextlib.suppress(AssertionError):  # the page has changed in between
            title = page.run("document.querySelector('h1')?.textContent")
            visited += [title] if [title] != visited[-1:] else []
            page.run(WILLING)
        time.sleep(0.15)
    assert page.run("location.search") == "?cc=XYZ&id=p1"
    games = [title for title in visited if title and "Rush" in title]
    assert games[0].endswith("Practice") and len(set(games)) == 2, visited
    other = browser.page()
    other.open(address.replace("p1", "p2"))
    other.run("document.querySelector('button[value=no]').click()")
    other.wait("location.pathname === '/study/consent'")
    look(other, "declined")
    study = tmp_path / "study"
    assert '"p1"' in (study / "people.jsonl").read_text("utf-8")
    assert "p2" not in "".join(path.read_text("utf-8") for path in study.rglob("*.jsonl"))
    kept = sorted(
        str(path.relative_to(study / "conditions")) for path in study.rglob("*.jsonl") if path.parent != study
    )
    assert {"helped/records.jsonl", "hindered/records.jsonl"} <= set(kept)
    assert any(name.endswith("tutorials.jsonl") for name in kept)
    answers = (study / "journal.jsonl").read_text("utf-8")
    assert answers.count('"fun"') == 2 and answers.count('"age"') == 1


CHECKS = {
    "title": "Checks",
    "within": 600,
    "items": [
        {"name": "best", "rank": ["the first", "the second", "the third"], "ask": "Which partner was best?"},
        {"name": "two", "choice": ["one", "two"], "expect": "two", "ask": "Please choose two."},
    ],
}


def test_rankings_timers_and_back_after_a_rejected_form(browser: chromium.Chromium, serve: Any) -> None:
    blocks = [{"page": {"title": "How", "text": "Read this.", "seconds": 1}}, {"form": "checks"}, QUICK["blocks"][2]]
    page = browser.page()
    page.open(serve({**QUICK, "blocks": blocks, "forms": {"checks": CHECKS, "liked": QUICK["forms"]["liked"]}}))
    press(page, "Tab", "Enter")
    page.wait("!!document.querySelector('[data-timer=least]')")
    click = "document.querySelector('main button:not([disabled])')?.click()"
    page.wait(f"!!document.querySelector('select') || ({click}, false)")  # the server refuses what comes too early
    assert "Time left" in page.run("document.querySelector('[role=timer]').textContent")
    page.run("document.querySelector('main button').click()")
    page.wait("!!document.querySelector('.errors')")
    page.run("document.querySelectorAll('select').forEach((own, i) => { own.selectedIndex = 3 - i; })")
    page.run("document.querySelectorAll('input[type=radio]')[1].checked = true")
    look(page, "ranking")
    page.run("document.querySelector('main button').click()")
    page.wait("!!document.querySelector('a[href$=\"/play\"]')")
    page.run("history.back()")
    page.wait("document.readyState === 'complete' && !!document.querySelector('a[href$=\"/play\"]')")
    assert page.problems() == []


def test_who_has_no_script_cannot_agree(browser: chromium.Chromium, serve: Any) -> None:
    page = browser.page()
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.open(serve(QUICK))
    assert page.run("document.querySelector('button[value=yes]').disabled")
    assert "need JavaScript" in page.text()
    if SHOTS:
        page.shot(Path(SHOTS) / "study-no-script.png")
    page.call("Emulation.setScriptExecutionDisabled", value=False)
    page.open(page.run("location.href"))
    assert not page.run("document.querySelector('button[value=yes]').disabled") and "need JavaScript" not in page.text()


def test_the_host_sees_people_and_ends_one(browser: chromium.Chromium, serve: Any) -> None:
    address = serve(QUICK)
    person = browser.page()
    person.open(address)
    press(person, "Tab", "Enter")
    person.wait("(document.body?.innerText ?? '').includes('Read this.')")
    host = browser.page()
    host.open(f"{address.rpartition('/')[0]}/study/host/{serve.games[-1].token}")
    host.wait("document.querySelectorAll('#people tbody tr').length === 1")
    assert "How" in host.run("document.querySelector('#people tbody').innerText")
    look(host, "host")
    host.run("document.getElementById('places').value = '6'; document.querySelector('#extend button').click()")
    host.wait("document.getElementById('facts').innerText.includes('0 of 10')")
    host.run("window.confirm = () => true; document.querySelector('#people button').click()")
    host.wait("document.querySelector('#people tbody').innerText.includes('stopped')")
    person.run("location.reload()")
    person.wait("(document.body?.innerText ?? '').includes('ended by its organisers')")
    assert host.problems() == []
