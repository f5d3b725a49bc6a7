"""Unusable answers: their reasons, and the limit that ends a run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.cli_runner import CliRunner
from support.endpoints import Says, serving

from collab_overcooked.cli import app
from collab_overcooked.policies.llm.exchange import EndpointError, Reply
from collab_overcooked.policies.llm.unusable import MAX_UNUSABLE, UnusableLimit, reason_of

pytest.importorskip("openai", reason="needs the extra llm")
RUSH = "evaluate rush --domain kitchen --scenario easy --episodes 1 --no-report --runs 9".split()
CALL = {"id": "1", "type": "function", "function": {"name": "act", "arguments": "{}"}}


def says(**message: Any) -> Says:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return Says(body=json.dumps({"choices": [choice]}))


@pytest.mark.parametrize(
    ("reply", "tools", "reason"),
    [
        (Reply("", "rejected", detail="status 400: maximum context length is 4096 tokens"), False, "context limit"),
        (Reply("", "rejected", detail="malformed answer: an answer without choices"), False, "no such request"),
        (Reply("", "refused", detail="no"), False, "refuses"),
        (Reply("", detail="calls of tools"), False, "calls of tools"),
        (Reply('<tool_call>{"name": "act"}</tool_call>'), False, "calls of tools"),
        (Reply('{"name": "act", "arguments": {"action": "x"}}'), False, "calls of tools"),
        (Reply('{"calls": [{"name": "act", "arguments": {}}]}'), True, "cannot be read"),
        (Reply("", reasoning="hm"), False, "reasoning only"),
        (Reply("", reasoning_tokens=9), False, "reasoning only"),
        (Reply("[THINK]hm", "length"), False, "reasoning only, without an answer, cut off"),
        (Reply("I go", "length"), False, "cut off"),
        (Reply("moo"), False, "cannot be read"),
        (Reply(""), False, "empty"),
    ],
)
def test_every_unusable_answer_has_a_reason(reply: Reply, tools: bool, reason: str) -> None:
    assert reason in reason_of(reply, tools)[0]


def test_answers_in_a_row_blow_the_fuse_of_their_model() -> None:
    unusable_limit = UnusableLimit(3)
    for _ in range(9):
        unusable_limit.note_unusable("weak", "empty", "")
        unusable_limit.note_usable("weak")
    for reason in ("empty", "empty"):
        unusable_limit.note_unusable("weak", reason, "x")
        unusable_limit.note_unusable("other", reason, "x")
    with pytest.raises(EndpointError, match="'weak': 3 answers in a row could not be used: 2 x empty, for example: x"):
        unusable_limit.note_unusable("weak", "cannot be read", "y")
    with pytest.raises(ValueError, match="at least 0"):
        UnusableLimit(-1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Says(body='{"choices": []}'), "an answer without choices"),
        (Says("This model's maximum context length is 512 tokens", 400), "the context limit"),
        (says(content=None, tool_calls=[CALL]), "calls of tools"),
        (says(content=None, reasoning_content="Let me see."), "reasoning only, without an answer, for example: Let me"),
        (Says("[THINK]Take the 1st"), "reasoning only, without an answer, for example: [THINK]Take"),
        (Says("moo"), "cannot be read, for example: moo"),
    ],
)
def test_a_run_without_usable_answers_stops_and_says_why(answer, reason, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    team = ["--team", "all=llm:m?memory=off", "--workers", "1", "--out", str(tmp_path / "a")]
    with serving([answer]) as server:
        done = CliRunner().invoke(app, [*RUSH, *team, "--base-url", server.url])
        output = " ".join(done.output.split())
        assert done.exit_code == 2 and f"{MAX_UNUSABLE} answers in a row could not be used: 12 x" in output, output
        assert reason in output
        assert len(server.asked) in (MAX_UNUSABLE, 2 * MAX_UNUSABLE)
