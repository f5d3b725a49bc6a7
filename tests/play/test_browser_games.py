"""Whole games at pages: a soup by keys, a dish by talking, a model that hears the person, and Rush by two."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from play.pages import (
    ACTIONS,
    OVER,
    TURN,
    asked,
    audit,
    hosted,
    leave,
    opened,
    ready,
    record_of,
    step_of,
    wait_for_step,
)
from playwright.sync_api import BrowserContext, Page, TimeoutError, expect
from support.cli_runner import run
from support.covers import cover
from support.endpoints import serving

from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.replay import replay

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
pytestmark = pytest.mark.browser

ONION = ["ArrowLeft", "e", "ArrowRight", "ArrowUp", "e"]
DISH = ["ArrowLeft", "ArrowDown", "ArrowDown", "e", "ArrowUp", "ArrowRight", "ArrowUp"]
SERVE = ["ArrowDown", "ArrowRight", "ArrowDown", "e"]


def tap(page: Page, key: str, steps: int = 2) -> None:
    """Press a key and wait until the step that takes it is over."""
    before = step_of(page)
    page.keyboard.press(key)
    wait_for_step(page, before + steps)


def answer(page: Page, plan: str, message: str) -> None:
    if not page.is_visible("#plan"):
        page.click("#planning summary")
    if plan:
        page.fill("#plan", plan)
    page.fill("#say", message)
    page.press("#say", "Enter")


def listened(context: BrowserContext, link: str) -> tuple[Page, list[str]]:
    """Open a page; returns also all that comes over its sockets before the end, as text."""
    page, result = context.new_page(), []

    def keep(data: str | bytes) -> None:
        message = json.loads(data)
        if message["type"] != "over":
            result.append(json.dumps(message, ensure_ascii=False).replace("\\n", "\n"))

    page.on("websocket", lambda socket: socket.on("framereceived", keep))
    page.goto(link)
    return page, result


def hold_by_clicks(page: Page, press: str, cell: str, seat: int) -> None:
    """Click a cell, or tap it, until the agent of a seat holds something else."""
    card = page.locator(f"#panel [data-seat='{seat}'] .line").nth(1)
    before = card.inner_text()
    for _ in range(30):
        getattr(page.locator(f"[data-at='c:{cell}']"), press)(force=True)
        with contextlib.suppress(TimeoutError):  # long enough to walk there, as a second click may undo the first
            page.wait_for_function(
                "([card, before]) => card.innerText !== before", arg=[card.element_handle(), before], timeout=6000
            )
            return
    raise AssertionError(f"{before}, still after clicks on {cell}")


def cook_a_soup(page: Page, how: str, seat: int) -> Iterator[None]:
    """Deliver a soup; yields once in the middle."""
    if how == "keyboard":
        for key in ["ArrowUp", *ONION * 3, "e"]:
            tap(page, key)
        yield
        for key in DISH:
            tap(page, key)
        for _ in range(8):  # until it is cooked
            tap(page, "e", 3)
        for key in SERVE:
            tap(page, key)
    else:
        press = PRESS[how]
        for cell in ["0,1", "2,0"] * 3:
            hold_by_clicks(page, press, cell, seat)
        getattr(page.locator("[data-at='c:2,0']"), press)(force=True)
        wait_for_step(page, step_of(page) + 4)  # lights the fire
        yield
        for cell in ["1,3", "2,0", "3,3"]:
            hold_by_clicks(page, press, cell, seat)


def take_turns(page: Page, how: str, texts: Sequence[str]) -> Iterator[None]:
    """Choose the action of each step where the menu has it, else what was chosen least; yields once in the middle."""
    chosen = Counter[str]()
    for turn in range(70):
        if asked(page) is None:
            return
        if turn == MIDDLE:
            yield
        buttons, step = page.locator(ACTIONS), step_of(page)
        menu = buttons.evaluate_all("buttons => buttons.map(e => e.ariaDisabled ? null : e.dataset.action)")
        offered = [text for text in menu if text is not None][:DIGITS]
        text = min(offered, key=lambda text: (text.startswith(RUINS), chosen[text]), default=None)
        text = texts[step] if step < len(texts) and texts[step] in menu else text
        chosen.update([text] if text else [])
        idle = page.locator("#send, #wait-go").filter(visible=True).first
        target = idle if text is None else buttons.nth(menu.index(text))
        if how != "keyboard":
            getattr(target, PRESS[how])()
        elif text is None or menu.index(text) >= DIGITS:
            target.press("Enter")
        else:
            page.keyboard.press(f"{menu.index(text) + 1}")
    raise AssertionError("the game has no end")


PRESS = {"mouse": "click", "touch": "tap"}
DIGITS = 9  # entries of a menu that have a key
SIZES = ((1280, 800), (768, 1024), (360, 780), (740, 360))
# Games in real time, which two people play, and the seat that starts on the left.
LEFT = {"overcooked": 0, "overcooked-v2": 1}
RUINS = "jantrox"  # verb of Alien Rush that ruins an order without what it needs; menus do not tell
MIDDLE = 2  # turns before the picture in the middle of a game
# Of each game: what is played, and what its page says at the end to who has scored.
ROUNDS = {
    "overcooked": ("overcooked --layouts cramped_room --max-cycles 2000 --tick 0.3", r"[1-9]\d* served"),
    "overcooked-v2": (
        "overcooked-v2 --layouts cramped_room --set random_start=false --max-cycles 2000 --tick 0.3",
        r"[1-9]\d* served",
    ),
    "collab-overcooked": ("collab-overcooked --tasks boiled_egg", r"Delivered: 1"),
    "cuisineworld": ("cuisineworld --levels level_1 --alphas 2.0 --episodes 1 --set max_cycles=20", r"completed [1-9]"),
    "craft": ("craft --paces 1 --agents 2 --episodes 1 --set max_cycles=40", r"served [1-9]"),
    "kitchen-rush": ("rush --scenario easy --domain kitchen --episodes 1", r"[1-9]\d* completed"),
    "alien-rush": ("rush --scenario easy --domain alien --episodes 1", r"[1-9]\d* completed"),
    "housework": ("housework --episodes 1", r"[1-9]\d* of \d+ delivered"),
    "transport": ("transport --episodes 1", r"[1-9]\d* of \d+ delivered"),
    "collab-capture": ("collab-capture --episodes 1", r"caught after"),
    "collab-escape": ("collab-escape --episodes 1", r"generator in room \d+ is repaired"),
}


def steps_of_greedy(out: Path, suite: str, *options: str) -> list[str]:
    """Return what agent_0 does in the game of the page if greedy plays it."""
    folder = out / "greedy"
    run("evaluate", suite, *options, "--seed", "1", "--team", "all=greedy", "--no-report", "--out", folder)
    record, *_ = read_records(folder)
    return [step.action_texts[0] for step in record.steps]


@pytest.mark.parametrize(("game", "size", "how"), cover(ROUNDS, SIZES, ("keyboard", "mouse", "touch"), strength=2))
def test_the_page_is_enough_to_score(browser, tmp_path, game, size, how) -> None:
    texts, scored = ROUNDS[game]
    team = ["all=person"] if game in LEFT else ["agent_0=person", "all=greedy"]
    played = [] if game in LEFT else steps_of_greedy(tmp_path, *texts.split())
    name = f"round-{game}-{size[0]}-{how}-{{}}"
    touch = {"has_touch": how == "touch", "is_mobile": how == "touch"}
    with (
        browser.new_context(viewport={"width": size[0], "height": size[1]}, **touch) as context,
        hosted(tmp_path / "page", *texts.split(), "--seed", "1", "--team", *team) as links,
    ):
        context.set_default_timeout(180_000)
        idle = [opened(context, link) for link in links[: 1 + (game in LEFT)]]
        page = idle.pop(LEFT.get(game, 0))
        ready(*idle)
        page.locator("#ready").wait_for()
        audit(page, name.format("start"))
        ready(page)
        if idle:
            page.bring_to_front()
            wait_for_step(page, 1)
        for _ in cook_a_soup(page, how, LEFT[game]) if idle else take_turns(page, how, played):
            audit(page, name.format("middle"))
        if idle:
            leave(page)
        page.locator(OVER).wait_for()
        audit(page, name.format("over"))
        if page.is_visible("#text-on"):
            page.check("#text-on")
        page.locator("#par").evaluate("par => { par.hidden = true; }")  # what programs score on the same seed
        expect(page.locator("body")).to_contain_text(re.compile(scored), use_inner_text=True)


def test_two_people_cook_by_talking_and_the_recipe_stays_with_the_chef(context, problems, tmp_path) -> None:
    plan = plan_evaluation("collab-overcooked", ["all=greedy"], tasks=["boiled_egg"], seed=1)
    (played,) = plan.matches[0].run()
    texts = ["collab-overcooked", "--tasks", "boiled_egg", "--seed", "1", "--team", "all=person"]
    with hosted(tmp_path, *texts) as links:
        (chef, chef_log), (helper, helper_log) = pages = [listened(context, link) for link in links[:2]]
        ready(helper, chef)
        talk = cycle(("please help me with the next one", "yes", "what now?"))
        while (seat := asked(chef, helper)) is not None:
            page = pages[seat][0]
            if page.inner_text("#turn-title").startswith("Your turn"):
                answer(page, played.steps[step_of(page)].action_texts[seat], next(talk))
            else:
                answer(page, "", "all right")
        helper.locator(OVER).wait_for()
        record = record_of(chef, tmp_path)
        assert problems == []
    assert record.success and {m.agent for step in record.steps for m in step.messages} == {0, 1}
    recipe, secret = recipe_of(record)
    known, other = "\n".join(chef_log), "\n".join(helper_log)
    assert secret and secret <= split_name(known) and all(line in known for line in recipe)
    assert other and not secret & split_name(other) and not any(line in other for line in recipe)


def split_name(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Za-z]{4,}", text)}


def recipe_of(record: dict[str, Any]) -> tuple[list[str], set[str]]:
    """Return the lines of the chef's recipe, and its words that the helper's own texts do not have."""
    chef, texts = None, []
    for snapshot in replay(record):
        state, game = snapshot.env.clone_state().state, snapshot.env.game
        helper = game.seen(state, 0, 1)
        assert helper.recipe is None
        texts += [helper.text, helper.rules, *helper.vocabulary, *helper.orders]
        chef = chef or game.seen(state, 0, 0).recipe
    assert chef
    return chef.splitlines(), split_name(chef) - split_name(" ".join(texts))


def test_a_model_that_commands_the_others_reads_what_the_person_does(context, tmp_path, monkeypatch) -> None:
    pytest.importorskip("openai", reason="needs the extra llm")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    texts = ["cuisineworld", "--levels", "level_3", "--alphas", "2.0", "--episodes", "1", "--names", "blind", "--team"]
    texts += ["agent_0=person", "agent_1=llm:scripted"]
    with (
        serving(lambda asked: "goto_agent1_storage0") as server,
        hosted(tmp_path, *texts, "--base-url", server.url) as links,
    ):
        page, received = listened(context, links[0])
        ready(page)
        chosen = []
        for step in range(4):
            page.locator(f"body[data-step='{step}'] {TURN}").wait_for()
            chosen.append(page.locator(ACTIONS).first.get_attribute("data-action"))
            page.locator(ACTIONS).first.click()
        page.locator(f"body[data-step='4'] {TURN}").wait_for()
        assert received and "scripted" not in "\n".join(received)
        leave(page)
        page.locator(OVER).wait_for()
    record = json.loads((tmp_path / "aborted.jsonl").read_text("utf-8"))
    assert [step["action_texts"][0] for step in record["steps"]] == chosen
    asked = [question["messages"][-1]["content"] for question in server.asked]
    assert len(asked) == 4
    for entry, question in zip(chosen, asked, strict=True):
        assert entry in question or "_agent0_".join(entry.split(" ", 1)) in question, (entry, question)


def test_two_people_play_rush(context, problems, tmp_path) -> None:
    texts = ["rush", "--scenario", "easy", "--domain", "kitchen", "--episodes", "1", "--team", "all=person"]
    with hosted(tmp_path, *texts) as links:
        pages = [opened(context, link) for link in links[:-1]]
        ready(*pages)
        while (seat := asked(*pages)) is not None:
            assert "{" not in pages[seat].inner_text("#actions")
            pages[seat].locator(ACTIONS).first.click()
        record = record_of(pages[0], tmp_path)
        pages[1].locator(OVER).wait_for()
        assert problems == []
    assert len(record.people) == len(pages) >= 2
    assert any(event for step in record.steps for event in step.events)
