"""Requests of an episode begin with the same rules, which providers cache."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.policies.llm.dialects import Dialect
from collab_overcooked.policies.llm.exchange import ChatMessage, Request
from collab_overcooked.policies.llm.providers import ProvidersTransport
from collab_overcooked.policies.llm.settings import COTS, DISPATCH, GENERIC

pytest.importorskip("jinja2", reason="needs the extra llm")
OPTIONS: dict[str, dict[str, Any]] = {
    "CuisineWorld-v0": {"level": "level_0"},
    "Housework-v0": {"task": "set_table"},
    "KitchenRush-v0": {"mask": "valid"},
    "Overcooked-v0": {"action_level": "medium"},
}
MODULES = {"choose": "reflection=3,intention=on,check=1", "partner": "reflection=3,intention=on,check=1"}


def styles() -> list[tuple[str, str]]:
    """Return all games with the agents that play them."""
    return [
        (record.id, kind)
        for record in registry.games()
        for kind in dict.fromkeys([*record.language_agents, *GENERIC, *([COTS] if record.subplans else [])])
    ]


def answer(request: Request) -> str:
    """Return the first of everything in the form that is asked for."""
    text = request.turns[-1].content
    fields = (request.schema or {}).get("properties", {})
    values = {
        name: {"integer": 1, "boolean": True, "array": []}.get(kind.get("type"), "A") for name, kind in fields.items()
    }
    return json.dumps(values) if fields else "noop_agent0\nnoop_agent1\nwait(bot1)\n" + ("okay" * ("Judge" in text))


@pytest.mark.nightly
@pytest.mark.parametrize(("env_id", "kind"), styles())
def test_requests_of_a_seat_share_their_rules(play_team: Any, env_id: str, kind: str) -> None:
    switches = "".join(f",{text}" for text in filter(None, [MODULES.get(kind)]))
    _, model = play_team(f"llm:m?agent={kind}{switches}", answer, env_id, max_cycles=4, **OPTIONS.get(env_id, {}))
    by_seat: dict[str, list[Request]] = {}
    for request in model.asked:
        by_seat.setdefault(request.position.split("/")[1], []).append(request)
    for asked in by_seat.values():
        fixed = {request.fixed for request in asked}
        (count,) = fixed
        assert len(asked) > 1 and count > 0
        assert len({request.turns[:count] for request in asked}) == 1, [r.turns[0].content for r in asked]


@pytest.mark.parametrize("demo", ["full", "off"])
def test_a_dispatcher_has_its_rules_first(play_team: Any, demo: str) -> None:
    """Without a demonstration the rules are the beginning of a message that goes on with a state."""
    _, model = play_team(
        f"llm:m?agent={DISPATCH},demo={demo}", answer, "CuisineWorld-v0", max_cycles=5, **OPTIONS["CuisineWorld-v0"]
    )
    assert {request.fixed > 0 for request in model.asked} == {demo == "full"}
    (rules,) = {request.turns[0].content.partition("There are no tools other than")[0] for request in model.asked}
    assert "Capacity of each tool:" in rules
    for request in model.asked:
        assert [turn.role for turn in request.turns[: request.fixed]] == ["user", "assistant"] * (request.fixed // 2)


@pytest.mark.parametrize("fixed", [0, 1, 2])
def test_the_last_shared_message_is_marked(fixed: int) -> None:
    sent: list[dict[str, Any]] = []
    turns = tuple(ChatMessage(*turn) for turn in (("user", "rules"), ("assistant", "example"), ("user", "now?")))
    transport = ProvidersTransport.__new__(ProvidersTransport)
    transport._fixed = {}
    transport._litellm = type("Library", (), {"completion": staticmethod(lambda **said: sent.append(said))})
    transport.send(Request("anthropic/m", turns, fixed=fixed), Dialect())
    marks = [isinstance(message["content"], list) for message in sent[0]["messages"]]
    assert marks == [number == fixed - 1 for number in range(3)]
