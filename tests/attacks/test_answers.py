"""Hostile answers of language models: every reader returns something plain or says what is missing, and soon."""

from __future__ import annotations

import json
import random
from types import SimpleNamespace
from typing import Any

import pytest
from attacks.mutations import VALUES, mutate, nested

from collab_overcooked.policies.llm import answers, choices
from collab_overcooked.policies.llm.answers import Unreadable
from collab_overcooked.policies.llm.cots_agent import read_plans, read_rating, read_scores
from collab_overcooked.policies.search.deliberation import Briefing
from collab_overcooked.policies.search.subplans import PlanningView, SubPlan

pytestmark = pytest.mark.attacks

NAMES = ("Alice", "Bob")
SUBPLANS = [SubPlan(text) for text in ("go to the kitchen", "go", "wait", "take an egg")]
SEEN: Any = SimpleNamespace(names=NAMES)
BRIEFING = Briefing(0, (0, 1), SEEN, PlanningView({0: SUBPLANS, 1: SUBPLANS}, {}), {}, {}, False)
READERS = {
    "object": lambda text: answers.read_object(text, list(GOOD)),
    "choice": lambda text: choices.read_choice(text, [entry.text for entry in SUBPLANS]),
    "letter": lambda text: choices.read_letter(text, [item.text for item in SUBPLANS]),
    "fields": lambda text: answers.read_fields(text, ("analysis", "say", "plan"), ("plan",)),
    "say": answers.read_say,
    "plan": answers.read_plan,
    "joint plan": lambda text: answers.read_joint_plan(text, NAMES),
    "steps": answers.read_steps,
    "verdict": answers.read_verdict,
    "plans": lambda text: read_plans(text, BRIEFING, 3),
    "scores": read_scores,
    "rating": read_rating,
}
GOOD = {
    "plans": [{"steps": [{"Alice": "wait", "Bob": "go"}], "message": "m"}],
    **{"action": 1, "answer": "A", "say": "hi", "plan": "wait(1)", "analysis": "x"},
    **{"rating": 3, "distance": 4, "task": 5, "message": "x", "ok": True},
}
DEEP = (200, 480, 600, 900, 2000)
TEXTS = (
    *(f'{{"a": {"[" * n}{"]" * n}}}' for n in DEEP),
    *('{"plan": ' * n + "1" + "}" * n for n in DEEP),
    *("{" * 19_000, "[" * 19_000, "(" * 19_000, '"' * 19_000, "{'a': " * 3000, "<think>" * 3000, "</think>" * 2000),
    *("distance " * 2000, "rating" + "*" * 19_000, "action: " * 2000, "say: " * 3000, " " * 20_000, "\n" * 20_000),
    *(
        "9" * 19_000,
        '{"rating": ' + "9" * 5000 + "}",
        '{"distance": 1e400, "task": -1e400}',
        "-" * 19_000,
        "A) " * 6000,
    ),
    *("Alice: " * 2000, "Alice go Bob " * 1500, "```json\n" * 2000, "\\u0041" * 3000, "\x00\x1b[31m\u202e\ud800", ""),
)


def attempt(name: str, text: str) -> None:
    try:
        result = READERS[name](text)
    except Unreadable as error:
        assert str(error)
    else:
        if name == "object":
            json.dumps(result).encode()


@pytest.mark.parametrize("name", READERS)
def test_hostile_texts_are_read_or_refused(name):
    for text in TEXTS:
        attempt(name, text)


@pytest.mark.parametrize("name", READERS)
def test_mutated_answers_are_read_or_refused(name, attack_seed):
    rng = random.Random(f"{name}{attack_seed}")
    for _ in range(150):
        try:
            text = json.dumps(mutate(rng, GOOD, [GOOD], (*VALUES, nested(50))))
        except ValueError:  # numbers of more digits than Python writes
            continue
        if rng.random() < 0.3:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice('{}[],:"\\ \n') + text[at + rng.randrange(3) :]
        attempt(name, text)
