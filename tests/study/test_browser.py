"""The pages of a study in a real Chromium: by keyboard alone, at three widths, with nothing loaded from elsewhere."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from play.pages import SHOTS
from play.pages import look as look_at
from playwright.sync_api import Browser, BrowserContext, Page, expect
from study.world import QUICK

from collab_overcooked.study.journal import Journal
from collab_overcooked.study.reader import read_study

pytestmark = pytest.mark.browser
pytest.importorskip("uvicorn", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")

GAME = "a[href$='/play']"
PAIR = {**QUICK, "participants": {**QUICK["participants"], "group": 2}}


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    """Serves a study; returns the address of its first page."""
    from collab_overcooked.play.server import make_server
    from collab_overcooked.study.app import make_study_app

    stopped: list[Any] = []

    def begin(values: dict[str, Any]) -> str:
        journal = Journal.open(tmp_path / "study", read_study(values))
        web, games, host = make_study_app(journal)
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


def look(page: Page, name: str) -> None:
    look_at(page, f"study-{name}", least=43.5)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_study_is_done_by_keyboard_alone(context: BrowserContext, problems: list[str], serve: Any) -> None:
    page = context.new_page()
    page.goto(serve(QUICK))
    look(page, "consent")
    press(page, "Tab", "Enter")  # the first button agrees
    page.get_by_text("Read this.").wait_for()
    look(page, "page")
    press(page, "Tab", "Enter")
    page.locator("#age").wait_for()
    press(page, "Tab", "Tab", "Tab", "Tab", "Enter")  # past the fields to the button: nothing is answered
    page.locator(".errors").wait_for()
    look(page, "errors")
    expect(page.locator("#age")).to_have_attribute("aria-describedby", "age-error")
    page.focus("#age")
    press(page, "4", "2", "Tab", " ", "Tab", "Tab", "Enter")
    page.locator(GAME).wait_for()
    assert urlsplit(page.url).path.startswith("/study/")
    look(page, "game")
    press(page, "Tab", "Enter")
    page.wait_for_url("**/s/**")
    assert problems == []


def test_two_people_meet_in_the_waiting_room(context: BrowserContext, problems: list[str], serve: Any) -> None:
    values = {**PAIR, "blocks": [QUICK["blocks"][2], {"form": "before"}]}
    for name in ("helped", "hindered"):
        values["conditions"] = {**values["conditions"], name: {**values["conditions"][name], "team": ["all=person"]}}
    address = serve(values)
    pages = [context.new_page() for _ in range(2)]
    for number, page in enumerate(pages):
        page.goto(address.replace("p1", f"p{number}"))
        press(page, "Tab", "Enter")
        if number == 0:
            expect(page.locator("#news")).to_contain_text("1 of 2")
            expect(page.locator("#news")).to_have_attribute("role", "status")
            look(page, "waiting")
    for page in pages:
        page.wait_for_url("**/s/**")
    assert problems == []


def test_questions_and_the_last_page_fit_every_width(context: BrowserContext, problems: list[str], serve: Any) -> None:
    page = context.new_page()
    last = {"play": ["helped", "hindered"]}
    forms = {
        **QUICK["forms"],
        "before": {"title": "End", "items": [{"name": "in", "choice": ["a", "b"], "accept": ["b"], "ask": "In?"}]},
    }
    ends = {"screened": {"code": "S-1", "url": "https://example.org/back?id={id}"}}
    page.goto(serve({**QUICK, "blocks": [{"form": "liked"}, {"form": "before"}, last], "forms": forms, "finish": ends}))
    press(page, "Tab", "Enter")
    page.locator(".points").wait_for()
    look(page, "likert")
    press(page, "Tab", " ", "ArrowRight", "Tab", "w", "Tab", "Enter")
    page.locator("#in").wait_for()
    press(page, "Tab", " ", "Tab", "Enter")  # the first answer rules the person out
    page.locator(".code").wait_for()
    look(page, "end")
    expect(page.locator("a.button")).to_have_attribute("href", "https://example.org/back?id=p1")
    assert problems == []


# What a willing person does on each page, from the first to the last; tells the console what the pages are called.
WILLING = """
let title, sent;
setInterval(() => {
  const seen = (names) => [...document.querySelectorAll(names)].find((own) => own.offsetParent && !own.disabled);
  const now = document.querySelector('h1')?.textContent;
  if (now && now !== title) console.info(title = now);
  if (location.pathname.startsWith('/s/')) {
    const action = [...document.querySelectorAll('#actions button')].at(-1) ?? seen('#send');
    (seen('#onward') ?? seen('#ready') ?? seen('#again') ?? seen('#skip') ?? (seen('#send') && action))?.click();
    return;
  }
  if (seen('#age')) document.getElementById('age').value = 30;
  for (const points of document.querySelectorAll('.points')) points.querySelector('input').checked = true;
  const button = seen('main button, main a.button');
  if (button && !sent) { sent = true; button.click(); }
}, 150);
"""


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
    context: BrowserContext, serve: Any, panel: str, tmp_path: Path
) -> None:
    page_of, before, play = QUICK["blocks"]
    values = {
        **QUICK,
        "blocks": [page_of, before, {**play, "practice": True}],
        "finish": {"done": {"code": "XYZ", "url": f"{panel}?cc=XYZ&id={{id}}"}},
    }
    address, page, visited = serve(values), context.new_page(), []
    page.on("console", lambda entry: visited.append(entry.text) if entry.type == "info" else None)
    page.add_init_script(WILLING)
    page.goto(address)
    page.wait_for_url(re.compile("/back"), timeout=120_000)
    assert urlsplit(page.url).query == "cc=XYZ&id=p1"
    games = [title for title in visited if "Rush" in title]
    assert games[0].endswith("Practice") and len(set(games)) == 2, visited
    other = context.new_page()
    other.goto(address.replace("p1", "p2"))
    other.click("button[value=no]")
    other.wait_for_url("**/study/consent")
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
        {"name": "best", "choice": ["the first", "the second", "the third"], "ask": "Which partner was best?"},
        {"name": "two", "choice": ["one", "two"], "expect": "two", "ask": "Please choose two."},
    ],
}


def test_timers_and_back_after_a_rejected_form(context: BrowserContext, problems: list[str], serve: Any) -> None:
    blocks = [{"page": {"title": "How", "text": "Read this.", "seconds": 1}}, {"form": "checks"}, QUICK["blocks"][2]]
    page = context.new_page()
    page.goto(serve({**QUICK, "blocks": blocks, "forms": {"checks": CHECKS, "liked": QUICK["forms"]["liked"]}}))
    press(page, "Tab", "Enter")
    expect(page.locator("[data-timer=least]")).to_be_empty()  # the time is over
    page.click("main button")
    expect(page.locator("[role=timer]")).to_contain_text("Time left")
    page.click("main button")
    page.locator(".errors").wait_for()
    for number in (0, 4):
        page.locator("input[type=radio]").nth(number).check()
    page.click("main button")
    page.locator(GAME).wait_for()
    page.go_back()
    page.locator(GAME).wait_for()
    assert problems == []


def test_who_has_no_script_cannot_agree(browser: Browser, context: BrowserContext, serve: Any) -> None:
    address = serve(QUICK)
    with browser.new_context(java_script_enabled=False) as plain:
        page = plain.new_page()
        page.goto(address)
        expect(page.locator("button[value=yes]")).to_be_disabled()
        assert "need JavaScript" in page.inner_text("body")
        if SHOTS:
            page.screenshot(path=Path(SHOTS) / "study-no-script.png")
    page = context.new_page()
    page.goto(address)
    expect(page.locator("button[value=yes]")).to_be_enabled()
    assert "need JavaScript" not in page.inner_text("body")


def test_who_lacks_the_window_cannot_agree_and_leaving_takes_two_presses(
    context: BrowserContext, problems: list[str], serve: Any
) -> None:
    page = context.new_page()
    needs = {"width": 800, "keyboard": True, "mouse": True}
    page.goto(serve({**QUICK, "boxes": ["I am 18 or older."], "needs": needs, "debrief": "Thanks. It was a program."}))
    look(page, "boxes")
    page.set_viewport_size({"width": 700, "height": 740})
    expect(page.locator("#unfit")).to_be_visible()
    expect(page.locator("#no-mouse")).to_be_hidden()
    expect(page.locator("button[value=yes]")).to_be_disabled()
    page.set_viewport_size({"width": 900, "height": 740})
    page.click("button[value=yes]")
    page.locator(".errors").filter(has_text="tick").wait_for()
    page.wait_for_load_state("load")  # scripts move the focus until then
    press(page, "Tab", " ", "Tab", "Enter")
    page.get_by_text("Read this.").wait_for()
    page.click("footer a")
    look(page, "leave")
    page.get_by_role("link", name="Back").click()
    page.get_by_text("Read this.").wait_for()
    page.click("footer a")
    page.click("main button")
    page.get_by_text("It was a program.").wait_for()
    look(page, "left")
    page.get_by_role("link", name="Delete").click()
    look(page, "delete")
    page.click("main button")
    page.get_by_text("have been deleted").wait_for()
    assert problems == []


def test_leaving_a_game_says_what_ends_in_the_language_of_the_study(
    context: BrowserContext, problems: list[str], serve: Any
) -> None:
    page = context.new_page()
    blocks = [QUICK["blocks"][2], {"form": "before"}]
    page.goto(serve({**QUICK, "language": "de", "blocks": blocks, "finish": {"left": {"code": "C7LEFT"}}}))
    expect(page.get_by_text("sind auf Englisch")).to_have_count(1)
    look(page, "german")
    press(page, "Tab", "Enter")
    page.locator(GAME).click()
    page.wait_for_url("**/s/**")
    page.locator("#ready").wait_for()
    asked: list[str] = []

    def answer(dialog: Any) -> None:
        asked.append(dialog.message)
        dialog.accept() if len(asked) > 1 else dialog.dismiss()

    page.on("dialog", answer)
    page.click("#leave")
    expect(page.locator("#ready")).to_be_visible()
    page.click("#leave")
    page.locator("#onward:visible, #notice:visible").first.wait_for()
    (question,) = set(asked)
    assert question.startswith("Wenn du jetzt gehst, sind diese Aufgabe und die Studie für dich endgültig zu Ende, und")
    assert "Code" in question and len(asked) == 2
    home = page.context.pages[0]
    home.goto(urlsplit(page.url)._replace(path="/study", query="PID=p1").geturl())
    home.get_by_text("C7LEFT").wait_for()
    assert problems == []


def test_the_host_sees_people_and_ends_one(context: BrowserContext, problems: list[str], serve: Any) -> None:
    address = serve(QUICK)
    person, host = context.new_page(), context.new_page()
    person.goto(address)
    press(person, "Tab", "Enter")
    person.get_by_text("Read this.").wait_for()
    host.goto(f"{address.rpartition('/')[0]}/study/host/{serve.games[-1].token}")
    expect(host.locator("#people tbody tr")).to_have_count(1)
    expect(host.locator("#people tbody")).to_contain_text("How")
    look(host, "host")
    host.select_option("#limit", "limit")
    host.fill("#value", "10")
    host.click("#raise button")
    expect(host.locator("#facts")).to_contain_text("0 of 10")
    host.once("dialog", lambda dialog: dialog.accept())
    host.click("#people button >> nth=0")
    expect(host.locator("#people tbody")).to_contain_text("stopped")
    expect(host.locator("#cells tbody tr")).to_have_count(2)
    person.reload()
    person.get_by_text("ended by its organisers").wait_for()
    assert problems == []
