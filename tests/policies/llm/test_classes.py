"""Models of each class play every suite: silent, chatty, in the wrong form, slow, and with thoughts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from support.covers import cover

from collab_overcooked import registry
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.llm.agents import policy_maker
from collab_overcooked.policies.llm.budget import Budget
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import Reply, Request
from collab_overcooked.policies.llm.settings import GENERIC

pytest.importorskip("jinja2", reason="needs the extra llm")
CYCLES = 3
SMALL: dict[str, dict[str, Any]] = {
    "collab-overcooked": {"tasks": ("boiled_egg",)},
    "initiations": {"tasks": ("boiled_egg",)},
    "cuisineworld": {"levels": "0", "agents": (2,), "alphas": (1.5,)},
    "overcooked": {"layouts": "cramped_room"},
    "rush": {"domain": ("kitchen",), "scenario": ("easy",)},
    "housework": {"tasks": ("set_table",)},
    "transport": {"rooms": (4,), "containers": (2,)},
    "questions": {"kinds": "fact", "games": "CollabCapture-v0", "parts": "paper"},
}
"""Options of suites that make them small."""


def sensible(request: Request) -> str:
    """Return an answer in the form that is asked for: the first of everything."""
    fields = (request.schema or {}).get("properties", {})
    values = {
        name: {"integer": 1, "boolean": True, "array": []}.get(kind.get("type"), "A") for name, kind in fields.items()
    }
    return json.dumps(values) if fields else "noop_agent0\nnoop_agent1\nwait(bot1)"


def chatty(request: Request) -> str:
    talk = "Well, let me think about everything that I see in this place, dear teammates. " * 40
    return f"{talk}\n{sensible(request)}\n{talk}"


WRONG = itertools.cycle(
    ["I cannot do that.", "{", '{"action": 99999}', '{"plan": 7, "say": []}', "Action: none", "null"]
)
CLASSES: dict[str, Callable[[Request], Reply]] = {
    "silent": lambda request: Reply("", prompt_tokens=10),
    "chatty": lambda request: Reply(chatty(request), prompt_tokens=10, completion_tokens=1000),
    "wrong form": lambda request: Reply(next(WRONG), prompt_tokens=10, completion_tokens=5),
    "slow": lambda request: Reply(sensible(request), prompt_tokens=10, completion_tokens=5, seconds=40.0, attempts=3),
    "reasoning": lambda request: Reply(
        f"<think>{sensible(request)} or not?</think>{sensible(request)}",
        prompt_tokens=10,
        completion_tokens=500,
        reasoning="Let me see.",
        reasoning_tokens=450,
    ),
}


class Model:
    """Client that answers as a class of models does."""

    def __init__(self, answer: Callable[[Request], Reply]) -> None:
        self.answer, self.calls = answer, 0

    def complete(self, request: Request) -> Reply:
        self.calls += 1
        return self.answer(request)


def kinds_of(suite: str) -> list[str]:
    """Return the kinds of agents that play a suite, the default one first."""
    if suite in ("questions", "initiations"):
        return ["auto"]
    record = next(record for record in registry.games() if suite in record.suites)
    return list(dict.fromkeys([*record.language_agents, *GENERIC, *(["cots"] if record.subplans else [])]))


def run(suite: str, kind: str, name: str, folder: Any) -> tuple[Model, list[dict[str, Any]]]:
    """Play the first matches of a suite."""
    model = Model(CLASSES[name])
    client = Client(model.complete, budget=Budget(seconds=60.0) if name == "slow" else Budget())
    seat = "agent_0" if suite == "initiations" else "all"
    single = suite in ("questions", "initiations")
    further = SMALL.get(suite, {}) | ({} if suite == "questions" else {"episodes": 1})
    options = {} if single else {"max_cycles": CYCLES}
    plan = plan_evaluation(suite, [f"{seat}=llm:m?agent={kind}"], options=options, **further)
    return model, evaluate(plan, folder, make=policy_maker(client), workers=1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "suite"), cover(CLASSES, registry.suites()))
def test_every_class_of_models_plays_every_suite(suite, name, tmp_path):
    for kind in kinds_of(suite) if name in ("wrong form", "reasoning") else kinds_of(suite)[:1]:
        model, records = run(suite, kind, name, tmp_path / kind)
        assert model.calls and records
        accounts = [account for record in records for account in record.accounts.values()]
        assert sum(account.calls for account in accounts) == model.calls
        unusable = sum(sum(account.trouble.values()) for account in accounts)
        if name in ("chatty", "reasoning", "slow") and kind in ("auto", "choose", "partner", "dispatch"):
            assert not unusable
        if name == "silent" and kind in ("choose", "dispatch"):
            assert unusable
        if name == "reasoning":
            assert sum(account.reasoning_tokens for account in accounts) == 450 * model.calls
        if name == "slow" and suite not in ("questions", "initiations", "rush") and kind != "dispatch":
            assert any(account.exhausted for account in accounts)
