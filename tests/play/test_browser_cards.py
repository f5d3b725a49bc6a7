"""Cards of a player's page: practice that is offered, who is waited for, the time, and turns without a choice."""

from __future__ import annotations

import pytest
from play.fed import Feed, question, state, welcome

pytestmark = pytest.mark.browser
NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } });"


def ask_ready(feed: Feed, game: str) -> None:
    """Load the page of a game anew, at which a person is to confirm, and may practise first."""
    feed.open()
    feed.send(welcome("seat", "turns", "", game=game, offers_practice=True), state("ready", True, False))


@pytest.mark.parametrize("button", ["#practise-first", "#ready"])
def test_practice_is_offered_once_for_each_game(context, problems, button: str) -> None:
    feed = Feed(context)
    for game in ("Housework", "Transport"):
        ask_ready(feed, game)
        assert feed.page.is_visible("#practise-first") and "guided round" in feed.page.inner_text("#start")
        feed.page.click(button)
        wish = "practise" if button == "#practise-first" else "ready"
        assert [message for message in feed.sent if message["type"] in ("practise", "ready")][-1] == {"type": wish}
        ask_ready(feed, game)
        assert feed.page.is_visible("#ready") and feed.page.is_hidden("#practise-first")
    assert problems == []


def test_practice_is_offered_without_storage_and_only_where_the_server_offers_it(context, problems) -> None:
    context.add_init_script(NO_STORAGE)
    feed = Feed(context)
    for _ in range(2):
        ask_ready(feed, "Housework")
        feed.page.click("#practise-first")
    feed.open()
    feed.send(welcome("seat", "turns", ""), state("ready", True, False))
    assert feed.page.is_visible("#ready") and feed.page.is_hidden("#practise-first") and problems == []


def test_a_round_is_not_said_to_wait_for_those_whom_it_does_not_wait_for(context, problems) -> None:
    feed = Feed(context)
    feed.open()
    away = state("ready", False, False)
    feed.send(welcome("seat", "turns", ""), away)
    assert feed.page.inner_text("#status") == "Waiting for Bob"
    feed.send(away | {"lost": ["agent_1"]})
    assert "I am ready" in feed.page.inner_text("#status") and problems == []


def test_pages_in_real_time_tell_seconds_and_no_steps(context, problems) -> None:
    feed = Feed(context)
    feed.open()
    frame = {"type": "frame", "timestep": 380, "limit": 400, "whole": True, "said": [], "text": "Step 380 of 400; 3."}
    feed.send(welcome("seat", "ticks", "", show="words"), state("playing", True, True), frame)
    assert feed.page.inner_text("#clock") == "3 s left" and feed.page.inner_text("#text") == "3 s left; 3."
    assert problems == []


@pytest.mark.parametrize(("talks", "text"), [(True, "say something or wait"), (False, "only wait")])
def test_a_turn_without_a_choice_says_so_in_one_sentence(context, problems, talks: bool, text: str) -> None:
    feed = Feed(context)
    feed.open()
    frame = {"type": "frame", "timestep": 0, "limit": 9, "whole": True, "said": []}
    asks = question("act", 0, None) | {"blocked": {"continue": "Nothing to continue; choose an action."}}
    asks |= {"actions": asks["waits"], "legal": asks["waits"]}
    feed.send(welcome("seat", "turns", "", talks=talks), state("playing", True, True), frame, asks)
    shown = feed.page.inner_text("#more-actions")
    assert text in shown and shown.count(".") == 1 and "choose" not in shown and problems == []
