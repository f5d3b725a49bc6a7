"""All texts of all pages in all states: none shows a placeholder that nobody has filled."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from play.fed import HOME, MESSAGE, Feed, question, serve, state, welcome

from collab_overcooked.play.practice import TUTORIAL
from collab_overcooked.play.server import page_file
from collab_overcooked.play.settings import LANGUAGES

pytestmark = pytest.mark.browser
SHOWN = """() => [document.title, document.body.textContent,
    ...[...document.querySelectorAll('[aria-label]')].map(e => e.getAttribute('aria-label'))]
    .flatMap(text => text.match(/.{0,40}[{}].{0,40}/g) ?? [])"""
STATES = ("waiting", "ready", "playing", "paused", "over", "closed")


def rematch(role: str, **what: Any) -> dict[str, Any]:
    offers = [] if role == "watcher" else ["again", "swap"]
    return {"type": "rematch", "offers": offers, "wishes": [], "waiting": [0, 1], "missing": [], "link": ""} | what


def all_messages(role: str) -> list[dict[str, Any]]:
    """Every message of the server, in every form that its fields allow."""
    frame = {"type": "frame", "timestep": 3, "limit": 40, "text": "Room.", "orders": ["soup"], "recipe": "an onion"}
    questions = [
        question(kind, actions, error)
        for kind, actions, error in product(("act", "reply", "voice"), (0, 70), (None, ["FULL", "Hands are full."]))
    ]
    over = [
        {"type": "over", "left": left, "more": more, "practice": practice, "outcome": "2 soups", "next": "/next"}
        | {"metrics": {"score": 1.5}, "replay": "replay/0", "best": "3 soups", "did": [[1, 2, 3], [4, 5, 6]]}
        | {"happened": ["Bob served."]}
        for left, more, practice in product((False, True), repeat=3)
    ]
    wishes = [rematch(role, wishes=[[seat, how]]) for seat in (0, 1, None) for how in ("again", "swap")]
    return [
        {"type": "loading", "compiling": 1, "seconds": 4},
        *(state(name, here, ready) for name, here, ready in product(STATES[:-1], (True, False), (True, False))),
        {"type": "countdown", "seconds": 3},
        frame | {"done": [[1, "goto(1)"]], "said": [MESSAGE]},
        *questions,
        *({"type": "wait", "agent": agent, "inbox": inbox} for agent in (1, None) for inbox in ([], [MESSAGE])),
        {"type": "refused", "code": "UNREADABLE", "message": "Unknown."},
        {"type": "refused", "code": "busy", "message": "Too many."},
        {"type": "progress", "steps": ["take", "pot"], "done": ["take"], "at": []},
        *over,
        {"type": "par", "par": "4 soups"},
        rematch(role),
        *wishes,
        rematch(role, missing=[1]),
        state("closed", False, True),
        {"type": "closing", "why": ""},
        {"type": "taken_over"},
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("role", ["seat", "voice", "watcher"])
def test_no_text_of_a_players_page_shows_a_placeholder(context, problems, role: str, language: str) -> None:
    feed = Feed(context)
    for clock, goal in product(("turns", "ticks"), ("", "act", TUTORIAL)):
        feed.open(language)
        for message in (welcome(role, clock, goal), *all_messages(role)):
            feed.send(message)
            assert feed.page.evaluate(SHOWN) == [], message
    assert problems == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_of_the_host_page_shows_a_placeholder(context, problems, language: str) -> None:
    people = [{"agent": "Alice", "link": "/s/t", "here": here, "id": "p-1", "qr": "<svg/>"} for here in (True, False)]
    shared = {"game": "Housework", "timestep": 1, "played": 0, "episodes": 2, "people": people}
    sessions = [{"id": f"s-{name}", "state": name, **shared} for name in STATES]
    games = [{"game": "Housework-v0", "title": "Housework", "minutes": 5, "difficulty": 1}]
    details = {"seats": 2, "choices": ["wash_dishes"], "real_time": False}
    page = context.new_page()
    pages = {"/h/t": page_file("host.html"), "/h/t/sessions": json.dumps(sessions), "/h/t/games": json.dumps(games)}
    pages["/h/t/games/Housework-v0"] = json.dumps(details)
    pages["/page/films/Housework-v0.gif"] = ""
    serve(page, pages | {"/h/t/rooms": json.dumps({"id": "s", "link": "/s/t"})})
    page.goto(f"{HOME}/h/t?language={language}")
    page.locator("#games article").wait_for()
    page.locator("#games summary").click()
    page.locator("#games details button").click()
    page.wait_for_function("document.querySelector('#status').textContent")
    assert page.evaluate(SHOWN) == [] and problems == []
