"""Bots answer every question of a study, and plans as critics."""

from __future__ import annotations

import asyncio
import json

import pytest

from collab_overcooked.io.documents import builtin_names
from collab_overcooked.policies.search.partners import QUESTION, RATE, read_partner_rating
from collab_overcooked.study.bots import Bot, PageForm
from collab_overcooked.study.design import FOLDER
from collab_overcooked.study.pages import form_page
from collab_overcooked.study.reader import read_study


@pytest.mark.parametrize("name", builtin_names(FOLDER))
def test_bots_can_answer_every_question_of_shipped_studies(name: str) -> None:
    study, bot = read_study(name), Bot("", "", 0)
    for form in study.forms.values():
        page = PageForm(form_page(study, form, "/", 0, 1, {}, {}))
        for _ in range(20):
            values: dict[str, list[str]] = {}
            for field, value in bot.fill(page):
                values.setdefault(field, []).append(value)
            assert not form.read(values, study.texts)[1], (form.name, values)
        refused = form.read({}, study.texts)[1]
        assert PageForm(form_page(study, form, "/", 0, 1, {}, refused)).refused is bool(refused)


def test_bots_skip_practice_after_three_moves() -> None:
    ask = {"type": "ask", "kind": "act", "turn": 1, "legal": ["wait"], "idle": "wait", "error": None}
    for practises in (True, False):
        bot = Bot("http://localhost", "/", seed=1)
        bot._practises = practises
        kinds = [(bot._reply(ask) or {})["type"] for _ in range(5)]
        assert kinds == (["act"] * 3 + ["skip"] * 2 if practises else ["act"] * 5)


def test_bots_answer_plans_with_a_score_and_nothing_else() -> None:
    bot = Bot("http://localhost", "/", seed=1)
    ask = {"type": "ask", "kind": "reply", "turn": 3, "legal": ["wait"]}
    plan, talk = ([{"agent": 0, "say": text, "plan": ""}] for text in (f"Plan: 1. Alice: wait. {QUESTION}", "Hello."))
    answers = [bot._reply({**ask, "inbox": plan}) for _ in range(20)]
    texts = {answer["say"].partition(".")[0] for answer in answers if answer is not None}
    assert texts == {"I agree", "I would rather wait"}
    assert all("Score " in answer["say"] for answer in answers if answer is not None)
    rated = [bot._criticise(f"Plan so far: 1. Alice: wait. {RATE}", ["wait"]) for _ in range(20)]
    assert {read_partner_rating(text) for text in rated} == {1, 2, 3, 4, 5}
    silent = bot._reply({**ask, "inbox": talk})
    assert silent is not None and silent["say"] == ""


@pytest.mark.parametrize("talks", [True, False])
def test_bots_talk_in_real_time_where_somebody_reads_it(talks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    class Socket:
        async def send(self, text: str) -> None:
            sent.append(json.loads(text)["type"])
            if len(sent) == 200:
                raise ConnectionError

    monkeypatch.setattr("collab_overcooked.study.bots.TAP", 0.0)
    asyncio.run(Bot("http://localhost", "/study", seed=1)._tap(Socket(), talks))
    assert 0 < sent.count("say") < 50 if talks else set(sent) == {"tap"}
