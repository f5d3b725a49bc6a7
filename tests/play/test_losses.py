"""What a team loses looks like a loss, and says what caused it."""

from __future__ import annotations

from typing import Any

import pytest
from play.fed import Feed, state, welcome
from play.world import first_legal, play

from collab_overcooked.play.server import page_file
from collab_overcooked.render.model import BAD, GOOD, INK

RED, GREEN = "rgb(163, 38, 28)", "rgb(30, 112, 53)"
FLASHED = """() => [...document.querySelectorAll('#flash span')]
    .map(line => [line.innerText.replace('\\n', ' | '), getComputedStyle(line).color])"""
BOARD = {"size": [2, 2], "ground": "#ffffff", "cook": 1, "patches": [], "links": []}


def causes(player: Any) -> list[list[Any]]:
    return [cause for frame in player.of_type("frame") for cause in frame.get("causes", ())]


def idle(message: dict[str, Any]) -> dict[str, Any] | None:
    answer = first_legal(message)
    return answer | {"plan": message["idle"]} if answer and message["type"] == "ask" else answer


def test_an_order_that_runs_out_of_time_is_a_loss(make_session) -> None:
    session = make_session(["all=person"], suite="craft", agents=2)
    players = play(session, idle)
    expired = [name for step in session.records[0].steps for name in step.orders.expired]
    assert expired and all([-1, None, name] in causes(players[0]) for name in expired)


def test_an_order_that_somebody_ruins_is_a_loss_with_a_name(make_session) -> None:
    def cook(message: dict[str, Any]) -> dict[str, Any] | None:
        answer = first_legal(message)
        if answer and message["type"] == "ask" and message["kind"] == "act":
            cooking = [action for action in message["legal"] if "cook" in action.lower()]
            return answer | {"plan": (cooking or message["legal"])[0]}
        return answer

    session = make_session(["all=person"], suite="rush")
    (loss, *_) = [cause for cause in causes(play(session, cook)[0]) if cause[0] < 0]
    assert loss[1] in (0, 1) and "cook" in loss[2].lower()


def clock(*counts: tuple[str, str]) -> dict[str, Any]:
    line = {"l": [["t", "Step", INK, 1]], "r": [["t", text, colour, 1] for text, colour in counts]}
    return {"put": {"board": BOARD, "k:0:0": {"l": [line], "k": "clock"}}}


@pytest.mark.browser
@pytest.mark.parametrize(
    ("before", "after", "cause", "expected"),
    [
        (("failed 0", INK), ("failed 1", BAD), [-1, None, "soup"], ["failed +1 | soup: too late", RED]),
        (("ruined 1", BAD), ("ruined 2", BAD), [-1, 1, "cook soup"], ["ruined +1 | Bob: cook soup", RED]),
        (("Score 0 (1 served)", INK), ("Score -5 (1 served)", BAD), [-1, 0, "serve"], ["Score -5 | Alice: serve", RED]),
        (("Score -9", BAD), ("Score -4", BAD), [1, 0, "serve"], ["Score +5 | Alice: serve", GREEN]),
        (("served 0", INK), ("served 1", GOOD), [1, None, "soup"], ["served +1 | soup", GREEN]),
    ],
)
def test_losses_are_red_and_gains_green(context, problems, before, after, cause, expected) -> None:
    feed = Feed(context)
    feed.open()
    frames = [
        {"type": "frame", "timestep": 3 + k, "limit": 9, "picture": clock(count), "causes": [cause] if k else []}
        for k, count in enumerate((before, after))
    ]
    feed.send(welcome("seat", "turns", ""), state("playing", True, True), *frames)
    assert feed.page.evaluate(FLASHED) == [expected] and problems == []


def test_the_page_knows_the_colour_of_losses() -> None:
    assert f'BAD = "{BAD}"' in page_file("picture.js")
