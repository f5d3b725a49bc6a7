"""What people see at four sizes: whole cards, a board that stays, entries by place, the goal, the dark, large text."""

from __future__ import annotations

from typing import Any

import pytest
from play.fed import Feed, question, state, welcome
from play.pages import AUDIT
from play.test_browser_boards import SIZES, feed_of
from play.test_browser_phones import boxes
from play.test_losses import BOARD, clock

pytestmark = pytest.mark.browser
OFTEN = ("KitchenRush-v0", "CuisineWorld-v0")
NIGHTLY = ("AlienRush-v0", "CraftKitchen-v0", "Housework-v0", "Transport-v0", "CollabEscape-v0", "CollabOvercooked-v0")
GAMES = [*OFTEN, *(pytest.param(game, marks=pytest.mark.nightly) for game in NIGHTLY)]
CUT_OFF = """() => [...document.querySelectorAll('#orders .card *, #hud .card *, #panel .card *')]
    .filter((part) => part.checkVisibility() && part.getBoundingClientRect().width)
    .filter((part) => part.getBoundingClientRect().right > part.closest('#orders, #hud, #panel')
        .getBoundingClientRect().right + 1).map((part) => part.outerHTML)"""
TOO_WIDE = "[document.documentElement.scrollWidth, innerWidth]"
LARGE_TEXT = "document.documentElement.style.fontSize = '200%'"


def card(row: int, kind: str, text: str) -> dict[str, Any]:
    return {f"k:0:{row}": {"k": kind, "l": [{"l": [["t", text, "#2b2a28", 1]]}]}}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("env_id", GAMES)
def test_cards_are_whole(browser, env_id: str, size: tuple[int, int]) -> None:
    touch = size[0] not in (1280, 768)
    with browser.new_context(
        viewport={"width": size[0], "height": size[1]}, has_touch=touch, is_mobile=touch
    ) as context:
        page = feed_of(context, env_id, 1).page
        assert page.evaluate(CUT_OFF) == []
        wide, inner = page.evaluate(TOO_WIDE)
        assert wide <= inner


@pytest.mark.parametrize("env_id", GAMES)
def test_text_twice_as_large_fits_a_phone(browser, env_id: str) -> None:
    with browser.new_context(viewport={"width": 360, "height": 740}) as context:
        page = feed_of(context, env_id, 1).page
        page.evaluate(LARGE_TEXT)
        wide, inner = page.evaluate(TOO_WIDE)
        assert wide <= inner, env_id


@pytest.mark.parametrize("env_id", ["KitchenRush-v0", "AlienRush-v0"])
def test_boards_of_rush_fit_a_phone(browser, env_id: str) -> None:
    with browser.new_context(viewport={"width": 360, "height": 740}) as context:
        assert feed_of(context, env_id, 1).page.locator("#stage.wide").count() == 0


def test_the_board_stays_where_it_is_when_orders_go(context, problems) -> None:
    feed, orders = Feed(context), [card(row, "order", "soup " * 12) for row in range(1, 6)]
    feed.open()
    put = {
        "board": BOARD,
        **clock(("served 0", "#2b2a28"))["put"],
        **{key: v for each in orders for key, v in each.items()},
    }
    first = {"type": "frame", "timestep": 1, "limit": 40, "picture": {"put": put}}
    feed.send(welcome("seat", "turns", ""), state("playing", True, True), first)
    feed.page.wait_for_timeout(100)  # until sizes have been observed
    before = boxes(feed.page, "#stage")
    gone = {"put": {}, "drop": [key for each in orders for key in each]}
    feed.send({"type": "frame", "timestep": 2, "limit": 40, "picture": gone, "news": [[0, 0, "serve", ""]]})
    feed.page.wait_for_timeout(100)
    assert boxes(feed.page, "#stage") == before and problems == []


def test_entries_stand_by_their_place_on_the_board(context, problems) -> None:
    cells = {
        f"c:{x},{y}": {"x": x, "y": y, "s": "none", "t": [name]}
        for x, y, name in ((0, 0, "storage"), (1, 0, "pot"), (0, 1, "table"))
    }
    actions = ["rest", "go pot", "put table", "use pot", "spoil storage", "take storage"]
    asked = question("act", 0, None) | {"actions": actions, "legal": actions, "requests": {}, "inbox": []}
    asked |= {"walks": ["go pot"], "late": ["spoil storage"], "waits": [], "plan": []}
    feed = Feed(context)
    feed.open()
    frame = {"type": "frame", "timestep": 3, "limit": 9, "picture": {"put": {"board": BOARD, **cells}}}
    feed.send(welcome("seat", "turns", ""), state("playing", True, True), frame, asked)
    shown = feed.page.locator("#actions button").evaluate_all("buttons => buttons.map(b => b.dataset.action)")
    assert shown == ["take storage", "use pot", "put table", "rest", "go pot", "spoil storage"] and problems == []


def test_the_goal_can_be_read_again(context, problems) -> None:
    feed = Feed(context)
    feed.open()
    frame = {"type": "frame", "timestep": 1, "limit": 9, "picture": {"put": {"board": BOARD}}}
    feed.send(
        welcome("seat", "turns", "", game="Housework", objective="Bring tea."), state("playing", True, True), frame
    )
    page = feed.page
    assert page.is_hidden("#start")
    page.click("#goal-open")
    assert "Bring tea." in page.inner_text("#start") and page.is_hidden("#ready")
    page.click("#goal-open")
    assert page.is_hidden("#start") and problems == []


@pytest.mark.parametrize("env_id", GAMES)
def test_pages_are_dark_where_the_system_is(browser, env_id: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="dark") as context:
        page = feed_of(context, env_id, 1).page
        red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert max(red, green, blue) < 64
        violations = Axe().run(page, options=AUDIT).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in violations] == []


def test_a_long_message_covers_two_lines_of_the_board_at_most(context, problems) -> None:
    feed = Feed(context)
    feed.open()
    cook = {"a:1": {"x": 1, "y": 1, "s": "none", "f": "north"}}
    frame = {"type": "frame", "timestep": 1, "limit": 9, "picture": {"put": {"board": BOARD, **cook}}}
    said = {"agent": 1, "say": "please fetch an onion and put it into the pot " * 6, "plan": "", "last": False}
    later = {"type": "frame", "timestep": 2, "limit": 9, "picture": {"put": {}}, "said": [said]}
    feed.send(welcome("seat", "turns", "", talks=True), state("playing", True, True), frame, later)
    bubble = feed.page.locator(".bubble")
    height, line = bubble.evaluate("e => [e.clientHeight, parseFloat(getComputedStyle(e).fontSize) * 1.4]")
    assert height <= 2 * line + 8 and said["say"].strip() in feed.page.inner_text("#said") and problems == []
