"""What a team loses looks like a loss, and says what caused it."""

from __future__ import annotations

from typing import Any

import pytest
from play.fed import Feed, state, welcome
from play.world import first_legal, play

from collab_overcooked.play.server import page_file
from collab_overcooked.render.model import BAD, GOOD, INK, WORKING

RED, GREEN = "rgb(163, 38, 28)", "rgb(30, 112, 53)"
TOLD_NEWS = """() => [...document.querySelectorAll('#news span')]
    .map(part => [part.innerText, getComputedStyle(part).color])"""
BOARD = {"size": [2, 2], "ground": "#ffffff", "cook": 1, "patches": [], "links": []}


def news(player: Any) -> list[list[Any]]:
    return [entry for frame in player.of_type("frame") for entry in frame.get("news", ())]


def idle(message: dict[str, Any]) -> dict[str, Any] | None:
    answer = first_legal(message)
    return answer | {"plan": message["idle"]} if answer and message["type"] == "ask" else answer


def test_an_order_that_runs_out_of_time_is_a_loss(make_session) -> None:
    session = make_session(["all=person"], suite="craft", agents=2)
    players = play(session, idle)
    expired = [name for step in session.records[0].steps for name in step.orders.expired]
    assert expired and all([-1, None, name, ""] in news(players[0]) for name in expired)


def test_an_order_that_somebody_ruins_is_a_loss_with_a_name(make_session) -> None:
    def cook(message: dict[str, Any]) -> dict[str, Any] | None:
        answer = first_legal(message)
        if answer and message["type"] == "ask" and message["kind"] == "act":
            cooking = [action for action in message["legal"] if "cook" in action.lower()]
            return answer | {"plan": (cooking or message["legal"])[0]}
        return answer

    session = make_session(["all=person"], suite="rush")
    (loss, *_) = [entry for entry in news(play(session, cook)[0]) if entry[0] < 0]
    assert loss[1] in (0, 1) and "cook" in loss[2].lower()
    assert loss[3] == "The order is ruined: its ingredients had not been collected."


def clock(*counts: tuple[str, str]) -> dict[str, Any]:
    line = {"l": [["t", "Step", INK, 1]], "r": [["t", text, colour, 1] for text, colour in counts]}
    return {"put": {"board": BOARD, "k:0:0": {"l": [line], "k": "clock"}}}


@pytest.mark.browser
@pytest.mark.parametrize(
    ("before", "after", "cause", "expected"),
    [
        (("failed 0", INK), ("failed 1", BAD), [-1, None, "soup", ""], [["failed +1", RED], ["soup: too late", RED]]),
        (
            ("ruined 1", BAD),
            ("ruined 2", BAD),
            [-1, 1, "cook soup", "It was cooked."],
            [["ruined +1", RED], ["Bob: cook soup. It was cooked.", RED]],
        ),
        (
            ("Score 0 (1 served)", INK),
            ("Score -5 (1 served)", BAD),
            [-1, 0, "serve", ""],
            [["Score -5", RED], ["Alice: serve", RED]],
        ),
        (("Score -9", BAD), ("Score -4", BAD), [1, 0, "serve", ""], [["Score +5", GREEN], ["Alice: serve", GREEN]]),
        (("served 0", INK), ("served 1", GOOD), [1, None, "soup", ""], [["served +1", GREEN], ["soup", GREEN]]),
    ],
)
@pytest.mark.parametrize("pace", ["turns", "ticks"])
def test_losses_are_red_and_gains_green(context, problems, pace, before, after, cause, expected) -> None:
    feed = Feed(context)
    feed.open()
    frames = [
        {"type": "frame", "timestep": 3 + k, "limit": 9, "picture": clock(count), "news": [cause] if k else []}
        for k, count in enumerate((before, after))
    ]
    feed.send(welcome("seat", pace, ""), state("playing", True, True), *frames)
    assert feed.page.evaluate(TOLD_NEWS) == expected and problems == []


@pytest.mark.browser
@pytest.mark.parametrize(("pace", "shown"), [("turns", "Change in 4"), ("ticks", "Change in 1 s")])
def test_a_countdown_is_no_loss_and_its_end_is_told(context, problems, pace, shown) -> None:
    feed = Feed(context)
    feed.open()
    counts = [[("Change in 5", WORKING)], [("Change in 4", WORKING)], []]
    frames = [
        {"type": "frame", "timestep": 3 + k, "limit": 9, "picture": clock(*count)} for k, count in enumerate(counts)
    ]
    feed.send(welcome("seat", pace, ""), state("playing", True, True), *frames[:2])
    assert shown in feed.page.inner_text("#hud") and feed.page.evaluate(TOLD_NEWS) == []
    feed.send(frames[2])
    assert feed.page.inner_text("#news") == "The kitchen has changed." and problems == []


@pytest.mark.browser
def test_what_paid_twice_before_an_answer_is_one_line(context, problems) -> None:
    feed = Feed(context)
    feed.open()
    paid = [1, 0, "deliver", "Brought: 1."]
    frames = [
        {"type": "frame", "timestep": k, "limit": 9, "picture": clock(("Step", INK)), "news": [paid]} for k in (1, 2)
    ]
    feed.send(welcome("seat", "turns", ""), state("playing", True, True), *frames)
    assert feed.page.inner_text("#news") == "2 × Alice: deliver. Brought: 1." and problems == []


@pytest.mark.browser
def test_what_paid_stays_beside_what_follows(context, problems) -> None:
    paid, after = [1, 1, "deliver soup", "It pays 20 points."], [0, 0, "take onion", ""]
    feed = Feed(context)
    feed.open()
    frames = [
        {"type": "frame", "timestep": 3 + k, "limit": 90, "picture": clock(("Score 0", INK)), "news": news}
        for k, news in enumerate(([], [paid], [after]))
    ]
    feed.send(welcome("seat", "ticks", ""), state("playing", True, True), *frames)
    assert feed.page.evaluate(TOLD_NEWS) == [["Bob: deliver soup. It pays 20 points.", GREEN]]
    feed.send(welcome("seat", "turns", ""), *frames)
    told = [text for text, _ in feed.page.evaluate(TOLD_NEWS)]
    assert told == ["Bob: deliver soup. It pays 20 points.", "Alice: take onion"] and problems == []


def test_the_page_knows_the_colour_of_losses() -> None:
    assert f'BAD = "{BAD}"' in page_file("picture.js")
