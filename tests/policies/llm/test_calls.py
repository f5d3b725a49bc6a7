"""How many calls of functions of the package one decision of a model takes, those of templates included."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import collab_overcooked
from collab_overcooked.policies.api import AgentView, Decision
from collab_overcooked.policies.llm.agents import LanguagePolicy

MAX_CALLS = 250
WARM_UP = 3  # decisions that fill caches
PACKAGE = str(Path(collab_overcooked.__file__).parent)
COOKS = json.dumps({"analysis": "", "plan": "wait(1)", "say": "[NOTHING]"})


@pytest.mark.parametrize(
    ("env_id", "options", "answer"),
    [("Overcooked-v0", {"layout": "cramped_room"}, json.dumps({"action": 1})), ("CollabOvercooked-v0", {}, COOKS)],
)
def test_a_decision_takes_few_calls(
    play_team: Any, monkeypatch: pytest.MonkeyPatch, env_id: str, options: dict[str, Any], answer: str
) -> None:
    counts: list[int] = []
    act = LanguagePolicy.act

    def counted(self: LanguagePolicy, seen: AgentView) -> Decision:
        calls = 0
        resumed: set[int] = set()  # generators, such as templates, which go on after every piece that they yield

        def profile(frame: FrameType, event: str, _: Any) -> None:
            nonlocal calls
            code = frame.f_code
            if event != "call" or id(frame) in resumed or not code.co_filename.startswith(PACKAGE):
                return
            if code.co_flags & inspect.CO_GENERATOR:
                resumed.add(id(frame))
            calls += not code.co_name.startswith("<")

        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            return act(self, seen)
        finally:
            sys.setprofile(before)
            counts.append(calls)

    monkeypatch.setattr(LanguagePolicy, "act", counted)
    play_team("llm:m", lambda request: answer, env_id, max_cycles=5, **options)
    assert len(counts) > WARM_UP and max(counts[WARM_UP:]) <= MAX_CALLS, counts
