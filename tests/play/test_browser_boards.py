"""Boards on pages: names that do not collide, a map where only a part of a board is shown, names on demand."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from play.fed import Feed, state, welcome
from play.test_browser_phones import boxes, overlap
from support.hidden import reach

from collab_overcooked.play.people import SendQueue
from collab_overcooked.play.shown import next_picture
from collab_overcooked.registry import load_game

pytestmark = pytest.mark.browser
SIZES = ((1280, 800), (768, 1024), (360, 780), (740, 360))
NAMES = "#board > g:nth-of-type(3) > g"
PLATES = """names => [...document.querySelectorAll(names)]
    .filter(e => e.checkVisibility({visibilityProperty: true}) && e.childElementCount)
    .map(e => e.getBoundingClientRect()).map(({left, top, right, bottom}) => [left, top, right, bottom])"""


def feed_of(context: Any, env_id: str, seed: int, **options: Any) -> Feed:
    game = load_game(env_id, **options)
    scene = game.seen(reach(game, seed, 40)[0], 0, 0).scene
    feed = Feed(context)
    feed.open("en")
    picture = next_picture(game, scene, 0, SendQueue("test"))
    frame = {"type": "frame", "timestep": 1, "limit": 40, "picture": picture}
    feed.send(
        welcome("seat", "turns", "", game=env_id.partition("-")[0], talks=True), frame, state("playing", True, True)
    )
    return feed


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("env_id", ["Housework-v0", "Transport-v0", "CraftKitchen-v0", "AlienRush-v0"])
def test_names_do_not_collide(browser, env_id: str, size: tuple[int, int]) -> None:
    for seed in range(3):
        with browser.new_context(viewport={"width": size[0], "height": size[1]}) as context:
            page = feed_of(context, env_id, seed).page
            plates = page.evaluate(PLATES, NAMES)
            assert plates
            assert not [pair for pair in combinations(plates, 2) if overlap(*pair)], (env_id, seed)


def test_a_map_is_shown_where_the_board_does_not_fit(browser) -> None:
    with browser.new_context(viewport={"width": 360, "height": 780}) as context:
        page = feed_of(context, "Transport-v0", 1).page
        ((overview,), (stage,)) = boxes(page, ".map", "#stage")
        assert overview[2] - overview[0] > 100 and overview[3] <= stage[1] + 1
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        assert boxes(feed_of(context, "Housework-v0", 1).page, ".map") == [[]], "all of the board is in view"


def test_the_map_of_a_phone_parts_long_names_of_rooms(browser) -> None:
    with browser.new_context(viewport={"width": 360, "height": 740}) as context:
        page = feed_of(context, "Transport-v0", 1).page
        assert "living" in page.locator(".map text").all_text_contents()
        names = boxes(page, ".map text")[0]
        (overview,) = boxes(page, ".map")[0]
        assert all(overview[0] <= box[0] and box[2] <= overview[2] for box in names)


@pytest.mark.parametrize("env_id", ["Overcooked-v0", "CollabCapture-v0", "Transport-v0"])
def test_the_own_agent_is_marked(browser, env_id: str) -> None:
    with browser.new_context(viewport={"width": 360, "height": 780}) as context:
        page = feed_of(context, env_id, 1).page
        assert page.locator("#board ~ .cooks .mine").count() == 1
        assert page.locator("#panel [data-seat='0']").inner_text().count("(you)") == 1
        assert "(you)" not in page.locator("#panel").inner_text().replace("(you)", "", 1)


def test_letters_of_cells_are_not_shown_to_those_who_press_keys(browser) -> None:
    layouts = ["passage_north", "passage_south"]
    changes = {"layout": layouts, "changes": 6, "notice": 5}
    game = load_game("Overcooked-v0", **changes)
    scene = game.seen(reach(game, 1, 3)[0], 0, 0).scene
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        feed = Feed(context)
        feed.open("en")
        picture = next_picture(game, scene, 0, SendQueue("test"))
        frame = {"type": "frame", "timestep": 3, "limit": 40, "picture": picture}
        feed.send(welcome("seat", "ticks", "", game="Overcooked"), frame, state("playing", True, True))
        plates = set(feed.page.locator("#board text").all_text_contents())
        assert "soon floor" in plates and any("counter" in each for each in plates)


def test_names_of_animals_are_shown_on_demand(browser) -> None:
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        page = feed_of(context, "CraftKitchen-v0", 1).page
        before = len(page.evaluate(PLATES, NAMES))
        page.hover("[data-at]:has(use:nth-of-type(2)) >> nth=0", force=True)
        assert before <= len(page.evaluate(PLATES, NAMES)) <= before + 1
        page.click("#names")
        assert len(page.evaluate(PLATES, NAMES)) > before + 5
        assert page.evaluate("document.querySelector('[data-at]').getBoundingClientRect().width") >= 64
