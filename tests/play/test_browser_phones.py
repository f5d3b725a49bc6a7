"""Phones held sideways: the board stands free between the pads or beside the list, and nothing covers it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from play.fed import MESSAGE, Feed, question, state, welcome
from playwright.sync_api import expect

from collab_overcooked import registry
from collab_overcooked.play.people import SendQueue
from collab_overcooked.play.shown import next_picture

pytestmark = pytest.mark.browser
SIZES = ((740, 360), (844, 390))
RECTANGLES = """names => names.map(name => [...document.querySelectorAll(name)].filter(e => e.checkVisibility())
    .map(e => e.getBoundingClientRect()).map(({left, top, right, bottom}) => [left, top, right, bottom]))"""
GAMES = {
    "Overcooked": ("Overcooked-v0", {"layout": "cramped_room"}, "ticks"),
    "CollabOvercooked": ("CollabOvercooked-v0", {}, "turns"),
    "KitchenRush": ("KitchenRush-v0", {"scenario": "hard"}, "turns"),
}
Box = tuple[float, float, float, float]


def phone(browser: Any, width: int, height: int) -> Any:
    context = browser.new_context(viewport={"width": width, "height": height}, has_touch=True, is_mobile=True)
    context.set_default_timeout(180_000)
    return context


def feed_of(context: Any, game: str, language: str = "en") -> Feed:
    """Open a page that shows the first state of a game, before anybody is ready."""
    env_id, options, clock = GAMES[game]
    env = registry.make(env_id, **options)
    env.reset(seed=1)
    scene = env.game.seen(env.arrays[0], 0, 0).scene
    frame = {
        "type": "frame",
        "timestep": 1,
        "limit": 40,
        "picture": next_picture(env.game, scene, 0, SendQueue("test")),
    }
    feed = Feed(context)
    feed.open(language)
    feed.send(welcome("seat", clock, "", game=game, talks=True), frame, state("ready", True, False))
    return feed


def boxes(page: Any, *names: str) -> list[list[Box]]:
    result: list[list[Box]] = page.evaluate(RECTANGLES, list(names))
    return result


def overlap(one: Box, other: Box) -> bool:
    """Return whether two rectangles share more than a pixel."""
    return all(min(one[k + 2], other[k + 2]) - max(one[k], other[k]) > 1 for k in (0, 1))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("game", GAMES)
def test_nothing_covers_the_board(browser, game: str, size: tuple[int, int]) -> None:
    with phone(browser, *size) as context:
        feed = feed_of(context, game)
        page = feed.page
        asked = question("act", 9, None) | {"inbox": [], "waits": []}
        feed.send(state("playing", True, True), *([asked] if GAMES[game][2] == "turns" else []))
        feed.send({"type": "frame", "timestep": 2, "limit": 40, "picture": {"put": {}}, "said": [MESSAGE]})
        (stage,), (board,), buttons, around = boxes(
            page, "#stage", "#board", "button", "#orders .card, #hud .card, #side section, header > *"
        )
        assert stage[0] <= board[0] + 1 and stage[2] >= board[2] - 1, "the whole board is shown"
        assert stage[1] <= board[1] + 1 and stage[3] >= board[3] - 1, "the whole board is shown"
        assert stage[0] >= 0 and stage[1] >= 0 and stage[2] <= size[0] and stage[3] <= size[1], "on the screen"
        assert not [box for box in buttons + around if overlap(box, stage)]
        if GAMES[game][2] == "ticks":
            pads = boxes(page, "#pad [data-key]")[0]
            assert len(pads) == 6 and all(box[2] <= stage[0] or box[0] >= stage[2] for box in pads), "between the pads"
            assert all(box[1] >= 0 and box[3] <= size[1] for box in pads)
            assert not [pair for pair in combinations(pads, 2) if overlap(*pair)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["en", "de"])
def test_practice_leaves_the_board_on_the_screen(browser, language: str, size: tuple[int, int]) -> None:
    with phone(browser, *size) as context:
        feed = feed_of(context, "Overcooked", language)
        feed.send(welcome("seat", "ticks", "tutorial", game="Overcooked", talks=True))
        steps = ["take", "pot", "put_down"]
        feed.send(state("playing", True, True), {"type": "progress", "steps": steps, "done": [], "at": ["c:0.25,1.25"]})
        feed.page.locator("#skip").wait_for()
        (board,), (skip,), (goal,), pads = boxes(feed.page, "#board", "#skip", "#goal", "#pad [data-key]")
        assert board[1] >= goal[3] and board[3] <= size[1], "the whole board is shown"
        assert board[3] - board[1] >= size[1] / 2, "and large enough"
        assert not [box for box in (skip, goal, *pads) if overlap(box, board)]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("size", [*SIZES, (360, 740)])
def test_start_cards_of_phones_list_no_keys(browser, size: tuple[int, int], language: str) -> None:
    with phone(browser, *size) as context:
        feed = feed_of(context, "Overcooked", language)
        page = feed.page
        card = page.locator("#start").inner_text()
        assert card and not [
            key for key in ("Space", "Leertaste", "arrow key", "Pfeiltaste", " W", "Keys") if key in card
        ]
        assert not page.locator("#pad").is_visible(), "nothing is played yet"
        (ready,), (stage,) = boxes(page, "#ready", "#stage")
        assert ready[3] <= size[1] and not overlap(ready, stage), "what begins the game needs no scrolling"


def test_the_board_grows_when_the_start_card_goes(browser) -> None:
    with phone(browser, 360, 740) as context:
        feed = feed_of(context, "Overcooked")
        feed.send(state("ready", True, True))
        ((before,),) = boxes(feed.page, "#board")
        feed.send(state("playing", True, True))
        ((after,),) = boxes(feed.page, "#board")
        assert before == after, "nothing moves when the first step is taken"
        assert after[2] - after[0] > 300


def test_the_next_episode_begins_without_scrolling(browser) -> None:
    with phone(browser, 360, 740) as context:
        feed = feed_of(context, "KitchenRush")
        happened = [f"Alice completed order {k}." for k in range(30)]
        over = {"type": "over", "outcome": "3 completed, 2 ruined", "practice": False, "more": True, "metrics": {}}
        feed.send(over | {"replay": "", "next": "", "happened": happened}, state("ready", True, False))
        (again,), (listed,) = boxes(feed.page, "#again", "#happened")
        assert again[3] <= listed[1], "above what happened"


def test_actions_of_phones_show_no_keys_and_waiting_is_named(browser) -> None:
    with phone(browser, 360, 740) as context:
        feed = feed_of(context, "CollabOvercooked")
        page = feed.page
        feed.send(state("playing", True, True), question("act", 2, None) | {"inbox": []})
        assert page.locator("#actions button").count() and not page.locator("#actions kbd").first.is_visible()
        feed.send(question("act", 0, None) | {"inbox": []})
        expect(page.locator("#more-actions")).to_have_text("In this step you can only say something or wait.")


@pytest.mark.parametrize("game", GAMES)
def test_the_start_card_leaves_the_board_whole(browser, game: str) -> None:
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        feed = feed_of(context, game)
        (stage,), (card,) = boxes(feed.page, "#stage", "#start")
        assert stage[3] <= 800 and not overlap(stage, card)
        if game == "Overcooked":
            expect(feed.page.locator("#start")).to_contain_text("Space")


@pytest.mark.parametrize("size", [*SIZES, (360, 740)])
def test_all_orders_of_rush_are_in_view(browser, size: tuple[int, int]) -> None:
    with phone(browser, *size) as context:
        feed = feed_of(context, "KitchenRush")
        page = feed.page
        feed.send(state("playing", True, True))
        orders, (home,) = boxes(page, "#orders .card", "#orders")
        assert len(orders) == 5
        assert all(home[0] <= box[0] and box[2] <= home[2] + 1 and box[3] <= home[3] + 1 for box in orders)
        assert home[3] <= size[1]
        if size[0] < size[1]:
            assert len({round(box[0]) for box in orders}) == 2, "two columns"
        assert "worker 1 of 2" in page.locator("#panel").inner_text()
        texts = page.locator("#board > g > g").all_text_contents()
        assert not [text for text in texts if text.isdigit()], "no number without what it counts"


@pytest.mark.parametrize("size", [*SIZES, (360, 740)])
def test_news_of_the_talk_cover_nothing(browser, size: tuple[int, int]) -> None:
    with phone(browser, *size) as context:
        feed = feed_of(context, "CollabOvercooked")
        page = feed.page
        asked = question("act", 30, None) | {"inbox": []}
        feed.send(state("playing", True, True), asked)
        before = boxes(page, "#stage")
        feed.send({"type": "frame", "timestep": 2, "limit": 40, "picture": {"put": {}}, "said": [MESSAGE]})
        page.locator("#unread").wait_for()
        parts = [box for group in boxes(page, "header > *") for box in group]
        assert not [pair for pair in combinations(parts, 2) if overlap(*pair)]
        assert boxes(page, "#stage") == before, "the board stays where it is"
