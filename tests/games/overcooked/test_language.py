"""Overcooked in words: seats that speak give directives, beside any teammate, and stay comparable."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from support.cli_runner import CliRunner
from support.endpoints import serving
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.evaluation.compare.plan import make_plan
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.records import read_records

LLM = "llm:m?agent=choose"


def levels(team: list[str], **options: Any) -> list[Any]:
    plan = plan_evaluation("overcooked", team, layouts="cramped_room", options=options)
    return [match.env_kwargs.get("action_level", "primitive") for match in plan.matches]


def test_seats_that_speak_give_directives_unless_told_otherwise() -> None:
    assert levels([f"all={LLM}"]) == ["medium"]
    assert levels(["agent_0=greedy", f"agent_1={LLM}"]) == [{"agent_1": "medium"}, {"agent_0": "medium"}]
    assert levels(["all=always:longest"]) == ["medium"], "the floor of language models chooses from the same lists"
    assert levels(["all=greedy"]) == ["primitive"]
    assert levels([f"all={LLM}"], action_level="primitive") == ["primitive"]


def test_published_numbers_stand_beside_language_teams() -> None:
    step = {"events": [{"label": "", "event": "soup_delivery", "sparse": 20.0, "shaped": 0.0}, None]}
    team = {"agent_0": LLM, "agent_1": LLM}
    record = record_of(env_id="Overcooked-v0", task="cramped_room", max_cycles=400, steps=[step], team=team)
    tables = {}
    for level in ("medium", "primitive"):
        record.env_kwargs = {"layout": "cramped_room", "action_level": level}
        (card,) = registry.load_suite("overcooked").score([record], None)
        tables[card.title] = [column.name for column in card.tables[0].columns]
    assert tables["Overcooked-v0"][-3:] == ["PPO_SP", "PBT", "LLM-Co"]
    assert "LLM-Co" not in tables["Overcooked-v0, action_level primitive"]


@pytest.mark.parametrize("mate", ["ppo:cramped_room", "planner:width=4,replan=2"])
def test_policies_with_primitive_actions_play_beside_directives(tmp_path, monkeypatch, mate: str) -> None:
    """A language model's seat has other actions than its teammate's, which was trained or plans without them."""
    pytest.importorskip("openai", reason="needs the extra llm")
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def first_that_takes(asked: dict[str, Any]) -> str:
        result = re.search(r"^(\d+)\. take", asked["messages"][-1]["content"], re.MULTILINE)
        return json.dumps({"action": int(result[1]) if result else 1})

    labels = [
        "evaluate",
        "overcooked",
        "--layouts",
        "cramped_room",
        "--max-cycles",
        "6",
        "--no-report",
        "--workers",
        "1",
    ]
    with serving(first_that_takes) as server:
        team = ["--team", f"agent_0={LLM}", f"agent_1={mate}", "--out", str(tmp_path / "a"), "--base-url", server.url]
        done = CliRunner().invoke(app, [*labels, *team])
    assert done.exit_code == 0, done.output
    records = read_records(tmp_path / "a")
    for seat, record in enumerate(records):
        texts = [step.action_texts for step in record.steps]
        assert any(entry[seat].startswith("take") for entry in texts)
        assert {text[1 - seat] for text in texts} <= {"north", "south", "east", "west", "stay", "interact"}


def test_compare_takes_options_of_the_environment(tmp_path) -> None:
    plan = make_plan(["greedy"], ["overcooked", "rush"], options={"overcooked": {"dynamics": "explicit"}})
    kwargs = {entry.game: plan.plan_of(entry).matches[0].env_kwargs for entry in plan.entries}
    assert kwargs["overcooked"]["dynamics"] == "explicit" and "dynamics" not in kwargs["rush"]
    with pytest.raises(ValueError, match="unknown game 'overcoked'"):
        make_plan(["greedy"], ["overcooked"], options={"overcoked": {}})
    done = CliRunner().invoke(app, ["compare", "--set", "dynamics=explicit", "--out", str(tmp_path)])
    assert done.exit_code == 2 and "SUITE.OPTION=VALUE" in done.output
