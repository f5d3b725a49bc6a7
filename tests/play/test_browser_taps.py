"""Each tap is answered where it was made; one button waits, says and sends."""

from __future__ import annotations

from typing import Any

import pytest
from play.fed import Feed, question, state, welcome
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
BOARD = {"size": [3, 1], "ground": "#ffffff", "cook": 1, "patches": [], "links": []}


REQUESTS = {text: f"request('{text}')" for text in ("pickup(egg,crate)", "pickup(bell_pepper,crate)", "cut(board)")}


def cell(x: int, *targets: str) -> dict[str, Any]:
    return {"x": x, "y": 0, "s": "none", "t": list(targets)}


def fed(context: Any, me: Any = None, **asked: Any) -> Feed:
    feed = Feed(context)
    feed.open()
    cells = {"c:0,0": cell(0, "stove"), "c:1,0": cell(1, "crate"), "c:2,0": cell(2, "wall")}
    frame = {"type": "frame", "timestep": 3, "limit": 9, "picture": {"put": {"board": BOARD, **cells}}}
    ask = question("act", 0, None) | {"waits": [], "inbox": [], "plan": [], "requests": {}} | asked
    feed.send(
        welcome("seat", "turns", **{"goal": "", "talks": True} | (me or {})), state("playing", True, True), frame, ask
    )
    return feed


@pytest.mark.parametrize(("x", "reason"), [(0, "Carry food first."), (2, "There is nothing to do here now.")])
def test_a_tap_on_a_place_says_beside_the_board_why_nothing_can_be_done_there(
    context, problems, x: int, reason: str
) -> None:
    feed = fed(context, legal=["noop", "use(board)"], actions=["noop", "use(board)"], requests=REQUESTS)
    board = feed.page.locator("#board").bounding_box()
    at = board["x"] + (x + 0.5) * board["width"] / 3, board["y"] + 10
    feed.page.mouse.click(*at)
    expect(feed.page.locator("#why")).to_have_text(reason)
    box, still = feed.page.locator("#why").bounding_box(), feed.page.locator("#board").bounding_box()
    assert box["y"] + box["height"] <= board["y"] and still == board
    assert not [message for message in feed.sent if message["type"] == "act"] and problems == []


def test_an_action_that_the_game_refuses_says_why_beside_it(context, problems) -> None:
    feed = fed(context, legal=["noop"], actions=["use(stove)", "noop"])
    feed.page.locator("#actions button").click(force=True)
    expect(feed.page.locator("#actions li #refused")).to_have_text("Carry food first.")
    assert problems == []


def test_one_button_waits_says_and_sends(context, problems) -> None:
    feed = fed(context, legal=["go(1)", "noop"], actions=["go(1)", "noop"])
    page, send = feed.page, feed.page.locator("#send")
    expect(page.locator("#actions button")).to_have_count(1)  # waiting has its button
    expect(send).to_have_text("Wait")
    page.fill("#say", "hello")
    expect(send).to_have_text("Say it and wait")
    page.click("#planning summary")
    page.fill("#plan", "go(1); go(1)")
    expect(send).to_have_text("Send")
    page.fill("#plan", "")
    page.fill("#say", "")
    send.click()
    assert feed.sent[-1] == {"type": "act", "turn": 1, "plan": "", "say": ""} and problems == []


def test_a_choice_acts_at_once_unless_steps_are_planned(context, problems) -> None:
    feed = fed(context, legal=["go(1)", "noop"], actions=["go(1)", "noop"])
    feed.page.click("#planning summary")
    feed.page.click("#actions button")
    expect(feed.page.locator("#plan")).to_have_value("go(1)")
    feed.page.click("#planning summary")
    expect(feed.page.locator("#plan")).to_have_value("")
    feed.page.click("#actions button")
    assert feed.sent[-1]["plan"] == "go(1)" and problems == []


@pytest.mark.parametrize("how", ["mouse", "keyboard"])
@pytest.mark.parametrize("kind", ["act", "reply"])
def test_one_tap_asks_a_teammate_for_what_it_can_do_at_a_place(context, problems, kind: str, how: str) -> None:
    feed = fed(context, kind=kind, legal=["noop", "use(board)"], actions=["noop", "use(board)"], requests=REQUESTS)
    page, board = feed.page, feed.page.locator("#board").bounding_box()
    if how == "mouse":
        page.mouse.click(board["x"] + board["width"] / 2, board["y"] + 10)
    else:
        page.locator("#stage").press("ArrowRight")
        page.keyboard.press("Enter")
    offers = page.locator("#pick button")
    expect(offers).to_have_text(["take egg from crate", "take bell pepper from crate"])
    expect(page.locator("#pick p")).to_have_text("Ask Bob:")
    expect(page.locator("#actions button").last).to_contain_text("Ask Bob: cut in board")
    page.keyboard.press("Escape")
    expect(page.locator("#pick")).to_be_hidden()
    expect(page.locator("#stage")).to_be_focused()
    page.keyboard.press("Enter") if how == "keyboard" else page.mouse.click(
        board["x"] + board["width"] / 2, board["y"] + 10
    )
    assert not [message for message in feed.sent if message["type"] == kind]
    offers.nth(1).click() if how == "mouse" else page.keyboard.press("2")
    expect(page.locator("#plan")).to_have_value("ask for: take bell pepper from crate")
    plan, text = "request('pickup(bell_pepper,crate)')", "Please: take bell pepper from crate."
    last = {"last": False} if kind == "reply" else {}
    assert feed.sent[-1] == {"type": kind, "turn": 1, "plan": plan, "say": text, **last} and problems == []


def test_requests_are_part_of_a_plan_in_words(context, problems) -> None:
    feed = fed(context, legal=["cook(pot0)", "noop"], actions=["cook(pot0)", "noop"], requests=REQUESTS)
    page, actions = feed.page, feed.page.locator("#actions button")
    page.click("#planning summary")
    for number in (0, 3):
        actions.nth(number).click()
    expect(page.locator("#plan")).to_have_value("cook in pot 0; ask for: cut in board")
    page.fill("#say", "the egg")
    page.click("#send")
    plan = "cook(pot0); request('cut(board)')"
    assert feed.sent[-1] == {"type": "act", "turn": 1, "plan": plan, "say": "the egg"} and problems == []


def test_nobody_is_asked_where_nobody_reads(context, problems) -> None:
    feed = fed(context, {"talks": False}, legal=["noop"], actions=["noop"], requests=REQUESTS)
    expect(feed.page.locator("#actions button")).to_have_count(0)
    assert problems == []


@pytest.mark.parametrize("how", ["mouse", "keyboard", "touch"])
def test_practice_marks_the_place_of_the_next_step_until_it_is_done(browser, how: str) -> None:
    with browser.new_context(viewport={"width": 1280, "height": 800}, has_touch=how == "touch") as context:
        feed = fed(
            context, {"goal": "tutorial", "talks": False}, legal=["noop", "go(crate)"], actions=["noop", "go(crate)"]
        )
        page, marked = feed.page, feed.page.locator("#board .aim")
        steps = {"type": "progress", "steps": ["take", "pot"], "done": [], "at": ["c:1,0", "c:2,0"]}
        feed.send(steps)
        expect(marked).to_have_count(1)  # of the two, the one where something can be done now
        expect(marked).to_have_attribute("data-at", "c:1,0")
        expect(page.locator("#steps .next")).to_have_count(1)
        if how == "keyboard":
            page.locator("#stage").press("ArrowRight")
            page.keyboard.press("Enter")
        else:
            box = page.locator("#board").bounding_box()
            at = box["x"] + box["width"] / 2, box["y"] + 10
            (page.mouse.click if how == "mouse" else page.touchscreen.tap)(*at)
        expect(page.locator("#send")).to_be_disabled()
        assert [message["plan"] for message in feed.sent if message["type"] == "act"] == ["go(crate)"]
        feed.send(steps | {"done": ["take"], "at": ["c:2,0"]})
        expect(marked).to_have_attribute("data-at", "c:2,0")
        later = question("act", 0, None) | {"waits": [], "inbox": [], "requests": {}, "turn": 2}
        feed.send(later | {"legal": ["noop"], "actions": ["noop"]})
        expect(marked).to_have_count(0)  # nothing can be done there now
        feed.send(later | {"turn": 3, "legal": ["go(wall)"], "actions": ["go(wall)"]})
        expect(marked).to_have_attribute("data-at", "c:2,0")
        page.click("#skip")
        expect(marked).to_have_count(0)
