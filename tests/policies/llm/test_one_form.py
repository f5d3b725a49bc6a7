"""Every question asks for its answer in exactly one form, whatever the agent, the game and the form."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.covers import cover

from collab_overcooked.policies.llm.exchange import Request

pytest.importorskip("jinja2", reason="needs the extra llm")

FORMS = re.compile(
    r"answer with json|answer in this form|answer with the number|end with a line|write one sentence"
    r"|in one short sentence|begin your answer|one per line, and nothing else|answer with one line|write one strategy"
    r'|"action:"|write one action|answers?\n',
    re.IGNORECASE,
)
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "directives": ("Overcooked-v0", {"action_level": "medium"}, "agent=choose,reflection=3,intention=on,check=1"),
    "primitive": ("Overcooked-v0", {}, "agent=choose,intention=on,check=1"),
    "rush": ("KitchenRush-v0", {"mask": "valid"}, "agent=choose,reflection=3,intention=on,check=1"),
    "partner": ("CollabOvercooked-v0", {}, "agent=partner,reflection=3,intention=on,check=1"),
    "dispatch": ("CuisineWorld-v0", {"level": "level_0"}, "agent=dispatch"),
}


def answer(request: Request) -> Any:
    text = request.turns[-1].content
    if "Judge it" in text:
        return "not okay, wait"
    if "most likely" in text or "to remember" in text:
        return "Something."
    if "agent0" in text:
        return "noop_agent0\nnoop_agent1"
    return {"action": 2, "analysis": "x", "plan": "dance()", "say": "Hello?"}


@pytest.mark.parametrize(("form", "case"), cover(["text", "schema"], CASES))
def test_a_question_has_one_form_of_answer(play_team, case: str, form: str) -> None:
    env_id, options, switches = CASES[case]
    _, client = play_team(f"llm:m?{switches},answer={form}", answer, env_id, max_cycles=3, **options)
    kinds = set()
    for request in client.asked:
        if case != "dispatch" and any(turn.role == "assistant" for turn in request.turns):
            continue  # an answer that could not be read is asked for again
        result = FORMS.findall("\n".join(turn.content for turn in request.turns))
        assert len(result) == 1, (case, result, request.turns)
        assert (result[0].lower() == "answer with json") == (request.schema is not None) or case == "partner"
        kinds.add(result[0].lower())
    assert len(kinds) >= (1 if case == "dispatch" else 2), kinds
