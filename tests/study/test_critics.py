"""Rehearsals of studies with a planner: a program stands in for its model, and bots answer its plans as critics."""

from __future__ import annotations

from collab_overcooked.policies.search.partners import QUESTION, RATE, read_partner_rating
from collab_overcooked.study.bots import Bot
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.rehearsal import stand_ins


def test_models_that_search_are_replaced_by_a_program_that_searches() -> None:
    assert stand_ins(read_study("cots_partner")) == {"planner": "cots", "talker": "greedy"}


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
