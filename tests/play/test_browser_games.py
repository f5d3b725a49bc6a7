"""Whole games at pages: a soup by keys, a dish by talking, a model that hears the person, and Rush by two."""

from __future__ import annotations

import json
import re
import time
from itertools import cycle
from typing import Any

import pytest
from endpoints import serving
from play import chromium
from play.pages import BROWSER, MINE, OVER, PLAYING, READY, START, STEP, TURN, hosted, opened, records

from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.replay import replay

pytest.importorskip("starlette", reason="needs the extra play")
pytest.importorskip("websockets", reason="needs the extra play")
pytestmark = BROWSER

ONION = ["ArrowLeft", "e", "ArrowRight", "ArrowUp", "e"]
DISH = ["ArrowLeft", "ArrowDown", "ArrowDown", "e", "ArrowUp", "ArrowRight", "ArrowUp"]
SERVE = ["ArrowDown", "ArrowRight", "ArrowDown", "e"]


def tap(page: chromium.Page, key: str, steps: int = 2) -> None:
    """Press a key and wait until the step that takes it is over."""
    before = page.run(STEP)
    page.key(key)
    page.wait(f"{STEP} >= {before + steps}")


def answer(page: chromium.Page, plan: str, message: str = "") -> None:
    fields = {"plan": plan, "say": message}
    page.run("".join(f"document.getElementById('{name}').value = {json.dumps(text)};" for name, text in fields.items()))
    page.run("document.getElementById('send').click()")


def received(page: chromium.Page) -> str:
    """Return all that came over the page's sockets before the end, as text."""
    page.run("1")
    events = (event["params"] for event in page.events if event["method"] == "Network.webSocketFrameReceived")
    messages = [json.loads(event["response"]["payloadData"]) for event in events]
    assert messages
    return "\n".join(
        json.dumps(message, ensure_ascii=False) for message in messages if message["type"] != "over"
    ).replace("\\n", "\n")


def test_one_person_delivers_a_soup_by_keys(browser, tmp_path) -> None:
    texts = ["overcooked", "--layouts", "cramped_room", "--horizon", "170", "--tick", "0.1", "--team", "all=person"]
    with hosted(tmp_path, *texts) as links:
        page, idle = opened(browser, links[0]), opened(browser, links[1])
        for entry in (page, idle):
            entry.wait(START, 60)
            entry.run(READY)
        page.wait(f"{PLAYING} && {STEP} >= 1")
        for key in ["ArrowUp", *ONION * 3, "e", *DISH]:
            tap(page, key)
        for _ in range(8):  # until it is cooked
            tap(page, "e", 3)
        for key in SERVE:
            tap(page, key)
        page.wait(OVER, 60)
        assert page.problems() == []
        (record,) = records(tmp_path)
    events = [step["events"][0] for step in record["steps"] if step["events"][0]]
    assert any("deliver" in json.dumps(event).lower() for event in events), events


def test_two_people_cook_by_talking_and_the_recipe_stays_with_the_chef(browser, tmp_path) -> None:
    plan = plan_evaluation("collab-overcooked", ["all=greedy"], tasks=["boiled_egg"], seed=1)
    (played,) = plan.jobs[0].run()
    texts = ["collab-overcooked", "--tasks", "boiled_egg", "--seed", "1", "--team", "all=person"]
    with hosted(tmp_path, *texts) as links:
        pages = [opened(browser, link) for link in links[:2]]
        end = time.monotonic() + 200
        talk = cycle(("please help me with the next one", "yes", "what now?"))
        while not pages[0].run(OVER):
            assert time.monotonic() < end, pages[0].text()
            for seat, page in enumerate(pages):
                asked = page.run(f"!({TURN}) ? '' : {MINE} ? 'act' : 'reply'")
                if asked == "act":
                    answer(page, played["steps"][page.run(STEP)]["action_texts"][seat], next(talk))
                elif asked:
                    answer(page, "", "all right")
        for page in pages:
            page.wait(OVER)
            assert page.problems() == []
        chef, helper = map(received, pages)
        (record,) = records(tmp_path)
    assert record["success"] and {m["agent"] for step in record["steps"] for m in step["messages"]} == {0, 1}
    recipe, secret = recipe_of(record)
    assert secret and secret <= split_name(chef) and all(line in chef for line in recipe)
    assert not secret & split_name(helper) and not any(line in helper for line in recipe)


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


def test_a_model_that_commands_the_others_reads_what_the_person_does(browser, tmp_path, monkeypatch) -> None:
    pytest.importorskip("openai", reason="needs the extra llm")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    texts = ["cuisineworld", "--levels", "level_3", "--alphas", "2.0", "--episodes", "1", "--names", "blind", "--team"]
    texts += ["agent_0=person", "agent_1=llm:scripted"]
    with (
        serving(lambda asked: "goto_agent1_storage0") as server,
        hosted(tmp_path, *texts, "--base-url", server.url) as links,
    ):
        page = opened(browser, links[0])
        chosen = []
        for step in range(4):
            page.wait(f"{TURN} && {STEP} === {step}", 60)
            chosen.append(page.run("[...document.querySelectorAll('#actions button')].at(0).dataset.action"))
            page.run("[...document.querySelectorAll('#actions button')].at(0).click()")
        page.wait(f"{TURN} && {STEP} === 4", 60)
        assert "scripted" not in received(page)
        page.run("window.confirm = () => true; document.getElementById('leave').click()")
        page.wait(OVER)
    record = json.loads((tmp_path / "aborted.jsonl").read_text("utf-8"))
    assert [step["action_texts"][0] for step in record["steps"]] == chosen
    asked = [question["messages"][-1]["content"] for question in server.asked]
    assert len(asked) == 4
    for entry, question in zip(chosen, asked, strict=True):
        assert entry in question or "_agent0_".join(entry.split(" ", 1)) in question, (entry, question)


def test_two_people_play_rush(browser, tmp_path) -> None:
    texts = ["rush", "--scenario", "easy", "--domain", "kitchen", "--episodes", "1", "--team", "all=person"]
    with hosted(tmp_path, *texts) as links:
        pages = [opened(browser, link) for link in links[:-1]]
        end = time.monotonic() + 200
        while not pages[0].run(OVER):
            assert time.monotonic() < end, pages[0].text()
            for page in pages:
                if page.run(TURN):
                    assert "{" not in page.run("document.getElementById('actions').innerText")
                    page.run("[...document.querySelectorAll('#actions button')].at(0).click()")
                    page.wait(f"document.getElementById('send').disabled || ({OVER})")
        for page in pages:
            page.wait(OVER)
            assert page.problems() == []
        (record,) = records(tmp_path)
    assert len(record["people"]) == len(pages) >= 2
    assert any(event for step in record["steps"] for event in step["events"])
