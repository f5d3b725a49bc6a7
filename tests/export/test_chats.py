"""Exported chats are the requests that ``evaluate`` sends, in every game, with calls of tools as calls."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from dataclasses import replace

import pytest
from support.cli_runner import CliRunner

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.export.chats import exchange_chats, record_chats, record_conversations
from collab_overcooked.policies.llm.agents import policy_maker
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import Reply
from collab_overcooked.policies.llm.tools import calls_text
from collab_overcooked.runner import records
from collab_overcooked.runner.records import read_packed

QUICK = ("CollabCapture-v0", "CollabEscape-v0", "KitchenRush-v0", "Transport-v0")
GAMES = [pytest.param(record.id, marks=() if record.id in QUICK else pytest.mark.slow) for record in registry.GAMES]
TOOLS = "agent=choose,channel=tools"
STEPS = 6


def match_of(env_id: str, team: str):
    """Return a short match of a game: two episodes in games with series."""
    (suite, *_) = registry.find(env_id).suites
    plan = plan_evaluation(suite, [f"all={team}"], episodes=2, options={"max_cycles": STEPS})
    return next(match for match in plan.matches if match.env_id == env_id)


def models_of(env_id: str, seats: int, switches: str) -> list[str]:
    """Return the model of each seat: one for all seats where one agent commands them, else its own."""
    is_central = not switches and "dispatch" in registry.find(env_id).language_agents
    return [f"seat{0 if is_central else seat}" for seat in range(seats)]


def answer_of(chat) -> str:
    """Return the answer of a chat as the text of a reply."""
    answer = chat["messages"][-1]
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in answer.get("tool_calls", ())]
    return calls_text([(name, json.dumps(values)) for name, values in calls]) if calls else answer["content"]


def test_chats_of_people_need_consent_also_where_models_took_part(tmp_path):
    run = tmp_path / "run"
    evaluate(plan_evaluation("rush", ["all=greedy"], episodes=1, options={"max_cycles": 2}), run)
    records = [json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]
    for record in records:
        record["team"]["agent_0"] = "person"
    (run / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    export = ["export", "chat", str(run), "--out", str(tmp_path / "chats")]
    for exchanges in (False, True):
        if exchanges:
            (run / "exchanges.jsonl").write_text("")
        refused = CliRunner().invoke(app, export)
        assert refused.exit_code == 2 and "a person takes part; --people" in refused.stderr
    refused = CliRunner().invoke(app, [*export, "--people", "--tasks", records[0]["task"]])
    assert refused.exit_code == 2 and "its chats are those of its models, all of them" in refused.stderr
    refused = CliRunner().invoke(app, [*export, "--seat", "0"])
    assert refused.exit_code == 2 and "--set and --seat are for the other formats" in refused.stderr


class Recorded:
    """A model that answers each request as an exported chat does."""

    def __init__(self, chats) -> None:
        self.asked: list[str] = []
        self._answers, self._lock = defaultdict(list), threading.Lock()
        for chat in chats:
            self._answers[self.key(chat)].append(answer_of(chat))

    @staticmethod
    def key(chat) -> str:
        return json.dumps([chat["model"], chat["messages"][:-1], chat.get("tools", [])], sort_keys=True)

    def __call__(self, request) -> Reply:
        messages = [{"role": role, "content": text} for role, text in request.turns]
        tools = [{"type": "function", "function": dict(tool)} for tool in request.tools]
        key = self.key({"model": request.model, "messages": [*messages, None], "tools": tools})
        with self._lock:
            self.asked.append(key)
            return Reply(self._answers[key].pop(0))


@pytest.mark.parametrize("switches", ["", TOOLS], ids=["default", "tools"])
@pytest.mark.parametrize("env_id", GAMES)
def test_chats_are_the_requests_of_evaluate(env_id, switches):
    match = match_of(env_id, "greedy")
    models, records = models_of(env_id, len(match.team), switches), []
    for record in match.run():
        records.append(record.replace(team=dict(zip(record.team, models, strict=True))))
    chats = list(record_chats(records, switches))
    model = Recorded(chats)
    seated = replace(match, team=tuple(f"llm:{name}?{switches}" for name in models))
    played = seated.run(policy_maker(Client(model)))
    for one, other in zip(played, records, strict=True):
        assert [step.actions for step in one.steps] == [step.actions for step in other.steps]
        assert all(not account.trouble for account in one.accounts.values())
    assert chats and sorted(model.asked) == sorted(map(model.key, chats))
    for chat in chats:
        assert chat["messages"][-1]["role"] == "assistant"
        assert ("tool_calls" in chat["messages"][-1]) == ("tools" in chat) == bool(switches)


def test_a_conversation_answers_each_call_with_the_next_question():
    (record, *_) = match_of("CollabEscape-v0", "greedy").run()
    chats = list(record_chats([record], TOOLS))
    conversations = list(record_conversations([record], TOOLS))
    assert len(conversations) == 2
    for conversation in conversations:
        (rules, state, *rest) = conversation["messages"]
        own = [chat for chat in chats if chat["messages"][0] == rules]
        states = [message["content"] for message in (state, *rest) if message["role"] in ("user", "tool")]
        assert states == [chat["messages"][-2]["content"] for chat in own] and len(states) > 1
        assert [message["role"] for message in rest] == ["assistant", "tool"] * (len(own) - 1) + ["assistant"]
        for call, result in zip(rest[::2], rest[1::2], strict=False):
            assert result["tool_call_id"] == call["tool_calls"][0]["id"]
    with pytest.raises(ValueError, match="conversations need calls of tools"):
        list(record_conversations([record], ""))
    with pytest.raises(ValueError, match="unknown agent of exported chats 'roco'"):
        list(record_chats([record], "agent=roco"))


def test_chats_of_a_model_are_its_exchanges(tmp_path):
    turns = [["system", "Rules."], ["user", "State."]]
    tool = {"name": "act", "description": "Act.", "parameters": {}}
    called = calls_text([("act", '{"action": "wait"}')])
    exchanges = [
        ({}, {"text": '{"action": 1}', "finish": "stop"}),
        ({}, {"text": '{"action": 1}', "finish": "length"}),
        ({"tools": [tool]}, {"text": called, "finish": "stop"}),
    ]
    lines = [
        {
            "schema": "collab-overcooked-exchange/1",
            "key": str(k),
            "request": {"model": "m", "turns": turns, **more},
            "reply": reply,
        }
        for k, (more, reply) in enumerate(exchanges)
    ]
    (tmp_path / "exchanges.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    messages = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "State."}]
    call = {"type": "function", "function": {"name": "act", "arguments": {"action": "wait"}}, "id": "call_2_0"}
    assert list(exchange_chats(tmp_path / "exchanges.jsonl")) == [
        {"messages": [*messages, {"role": "assistant", "content": '{"action": 1}'}], "model": "m"},
        {
            "messages": [*messages, {"role": "assistant", "content": "", "tool_calls": [call]}],
            "model": "m",
            "tools": [{"type": "function", "function": tool}],
        },
    ]


def test_the_command_chooses_the_agent_and_refuses_other_formats(tmp_path):
    plan = plan_evaluation("collab-escape", ["all=greedy"], episodes=1)
    evaluate(plan, tmp_path / "run", workers=1)

    def export(form, *options):
        return CliRunner().invoke(app, ["export", form, str(tmp_path / "run"), "--agent", TOOLS, *options])

    assert export("chat", "--conversations", "--out", str(tmp_path / "data")).exit_code == 0
    lines = (tmp_path / "data" / "chats.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 2 and all(json.loads(line)["tools"][0]["function"]["name"] == "act" for line in lines)
    done = export("npz", "--out", str(tmp_path / "arrays"))
    assert done.exit_code and "are for chats" in done.output


def test_tasks_are_those_of_all_runs_and_each_run_is_read_once(tmp_path, monkeypatch):
    for layout in ("cramped_room", "asymmetric_advantages"):
        options = {"layouts": layout, "episodes": 1, "options": {"max_cycles": 5, "action_level": "medium"}}
        evaluate(plan_evaluation("overcooked", ["all=greedy"], **options), tmp_path / layout, workers=1)
    read = []

    def counted(run):
        read.append(run.name)
        return read_packed(run)

    monkeypatch.setattr(records, "read_packed", counted)
    runs = [str(tmp_path / layout) for layout in ("cramped_room", "asymmetric_advantages")]
    out = tmp_path / "data"
    command = ["export", "chat", *runs, "--tasks", "cramped_room", "--agent", "agent=choose", "--out", str(out)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert read == ["cramped_room", "asymmetric_advantages"]
    assert (out / "chats.jsonl").read_text("utf-8").count("\n") > 0
    done = CliRunner().invoke(app, [*command[:-1], str(tmp_path / "other"), "--tasks", "cramped"])
    assert done.exit_code == 2 and "unknown task 'cramped'" in done.output
