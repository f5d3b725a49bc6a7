"""Rounds one after the other on one page: nothing of a round is shown in the next."""

from __future__ import annotations

import pytest
from play.fed import MESSAGE, Feed, question, state, welcome
from play.pages import ACTIONS, OVER, asked, hosted, opened, ready
from play.test_losses import TOLD_NEWS, clock
from playwright.sync_api import Page

from collab_overcooked.render.model import BAD

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
pytestmark = pytest.mark.browser

ROUNDS = 3
# Of each game: what is played.
OFTEN = {
    "overcooked": "overcooked --layouts cramped_room --episodes 3 --max-cycles 12 --tick 0.1",
    "collab-escape": "collab-escape --episodes 3 --set max_cycles=6",
}
NIGHTLY = {
    "overcooked-v2": "overcooked-v2 --layouts cramped_room --episodes 3 --max-cycles 12 --tick 0.1",
    "collab-overcooked": "collab-overcooked --tasks boiled_egg --episodes 3 --set max_cycles=6",
    "cuisineworld": "cuisineworld --levels level_1 --alphas 2.0 --episodes 3 --set max_cycles=6",
    "craft": "craft --paces 1 --agents 2 --episodes 3 --set max_cycles=6",
    "kitchen-rush": "rush --scenario easy --domain kitchen --episodes 3",
    "alien-rush": "rush --scenario easy --domain alien --episodes 3",
    "housework": "housework --episodes 3 --set max_cycles=6",
    "transport": "transport --episodes 3 --set max_cycles=6",
    "collab-capture": "collab-capture --episodes 3 --set max_cycles=6",
}
# What a page tells of a round that has been played; of one that has only begun, as little as when the page was opened.
TOLD = """() => ({
    marks: document.querySelectorAll('.did, .bubble, .flying, #pad .on').length,
    texts: ['said', 'news'].map((id) => document.getElementById(id).textContent),
    shown: ['why', 'pick', 'attempt', 'told', 'refused', 'unread'].filter((id) => !document.getElementById(id).hidden),
    written: ['plan', 'say', 'filter'].map((id) => document.getElementById(id).value) })"""
NOTE_BEGINNINGS = f"""
const parse = JSON.parse;
window.beginnings = [];
JSON.parse = (text) => {{
    const value = parse(text);
    if (value?.type === 'frame' && value.timestep === 0) setTimeout(() => window.beginnings.push(({TOLD})()));
    return value;
}}"""


def play_round(page: Page) -> None:
    """Press keys in real time, take actions and talk in turns, until the round is over."""
    while page.locator("body.ticks").count() and not page.is_visible(OVER):
        for key in ("ArrowUp", "e", "ArrowLeft"):
            page.keyboard.press(key)
        page.wait_for_timeout(50)
    while asked(page) is not None:
        if page.is_visible("#say"):
            page.fill("#say", "hello")
        offers = page.locator(f"{ACTIONS}:not([aria-disabled])")
        target = offers.first if offers.count() else page.locator("#send, #wait-go").filter(visible=True).first
        target.click()


@pytest.mark.parametrize(
    "texts",
    [
        *(pytest.param(texts, id=name) for name, texts in OFTEN.items()),
        *(pytest.param(texts, id=name, marks=pytest.mark.nightly) for name, texts in NIGHTLY.items()),
    ],
)
def test_a_round_begins_on_a_page_as_on_one_just_opened(context, problems, tmp_path, texts: str) -> None:
    context.add_init_script(NOTE_BEGINNINGS)
    with hosted(tmp_path, *texts.split(), "--seed", "1", "--team", "agent_0=person", "all=greedy") as links:
        page = opened(context, links[0])
        ready(page)
        for number in range(1, ROUNDS + 1):
            page.wait_for_function("least => window.beginnings.length >= least", arg=number)
            beginnings = page.evaluate("window.beginnings")
            assert beginnings[-1] == beginnings[0] and beginnings[0]["marks"] == 0, f"round {number}"
            page.locator(OVER).wait_for(state="hidden")
            play_round(page)
            if number < ROUNDS:
                page.click("#again")
    assert problems == []


def test_no_part_of_a_page_outlives_its_round(context, problems) -> None:
    """Everything that a page shows of a round is put there, then a round begins."""
    feed = Feed(context)
    feed.open()
    begin = {"type": "frame", "timestep": 0, "limit": 9, "picture": clock(("Score 0", BAD)), "whole": True, "said": []}
    feed.send(welcome("seat", "turns", ""), state("playing", True, True), begin)
    opened_page = feed.page.evaluate(TOLD)
    later = begin | {"timestep": 3, "picture": clock(("Score -100", BAD)), "news": [[-1, 0, "serve", "Late."]]}
    del later["whole"]
    refused = {"type": "refused", "code": "x", "message": "No."}
    asks = question("act", 20, ["gone", "It is gone."])
    feed.send(later | {"said": [MESSAGE], "done": [[1, "serve"]], "text": "Soup."}, asks, refused)
    feed.page.fill("#say", "half a word")
    seen = feed.page.evaluate(TOLD)
    assert feed.page.evaluate(TOLD_NEWS) and seen != opened_page
    feed.send(begin)
    assert feed.page.evaluate(TOLD) == opened_page and problems == []


def test_who_comes_back_reads_what_was_said(context, problems) -> None:
    feed = Feed(context)
    feed.open()
    begin = {"type": "frame", "timestep": 4, "limit": 9, "picture": clock(("Score 0", BAD)), "whole": True}
    feed.send(welcome("seat", "turns", ""), state("playing", True, True), begin | {"said": [MESSAGE, MESSAGE]})
    assert feed.page.locator("#said p").count() == 2 and feed.page.is_hidden("#unread")
    assert feed.page.locator(".bubble").count() == 0 and problems == []


def test_texts_name_things_and_programs_as_people_do(context, problems) -> None:
    feed = Feed(context)
    feed.open()
    over = {"type": "over", "left": False, "more": False, "practice": False, "outcome": "1 served", "lost": False}
    over |= {
        "metrics": {},
        "replay": "",
        "next": "",
        "happened": ["Too late: salmonMeatcake, 13 times, of oven1, dish_rack."],
    }
    playing = state("playing", True, True)
    feed.send(welcome("seat", "turns", ""), playing, over | {"par": "3 served"})
    over_text = feed.page.inner_text("#over")
    assert "salmon meatcake, 13 times, of oven 1" in over_text and "dish rack" in over_text
    assert "Programs in all seats" in over_text and "greedy" not in over_text and problems == []


def test_a_page_says_when_nobody_waits_for_somebody_any_more(context, problems) -> None:
    feed = Feed(context)
    feed.open()
    line = {"l": [["t", "Bob", "#2b2a28", 1]]}
    frame = {"type": "frame", "timestep": 3, "limit": 9, "whole": True, "said": []}
    frame["picture"] = clock(("Score 0", BAD))
    frame["picture"]["put"]["k:1:0"] = {"l": [line], "k": "agent", "a": 1}
    away = state("playing", False, True)
    feed.send(welcome("seat", "turns", ""), state("playing", True, True), frame, away | {"lost": []})
    assert "waiting for them" in feed.page.inner_text("#panel")
    feed.send(away | {"lost": ["agent_1"]})
    assert "goes on without them" in feed.page.inner_text("#panel") and problems == []
