"""Tools as a channel: schemas from the legal actions, plans, requests and messages as calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.endpoints import Says, serving

pytest.importorskip("openai", reason="needs the extra llm")

from collab_overcooked.policies.llm.answers import TOOL, Unreadable
from collab_overcooked.policies.llm.chat import ChatTransport
from collab_overcooked.policies.llm.exchange import ChatMessage, Request
from collab_overcooked.policies.llm.settings import parse_settings
from collab_overcooked.policies.llm.tools import act_tool, calls_text, read_act, read_parts, talk_tools
from collab_overcooked.policies.llm.transport import RetryPolicy

TOOLS = [act_tool(["wait(1)", "deliver()"], "Act."), *talk_tools(())]


def calls(*pairs: tuple[str, dict[str, Any]]) -> str:
    return calls_text([(name, json.dumps(arguments)) for name, arguments in pairs])


def enum_of(request: Any, name: str) -> list[str] | None:
    (tool,) = (tool for tool in request.tools if tool["name"] == name)
    (argument,) = tool["parameters"]["properties"].values()
    return argument.get("enum")


def test_a_request_has_the_tools_and_no_form_of_text(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    call = {"id": "c", "type": "function", "function": {"name": "act", "arguments": '{"action": "deliver()"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = json.dumps({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]})
    complaint = Says("tool_choice 'required' is not supported", 400)
    with serving(lambda asked: complaint if "tool_choice" in asked else Says(body=body)) as server:
        endpoint = ChatTransport(server.url, retry_policy=RetryPolicy(attempts=1))
        reply = endpoint.complete(Request("m", (ChatMessage("user", "now?"),), tools=tuple(TOOLS)))
        endpoint.close()
    assert read_act(reply.text, TOOLS, ["wait(1)", "deliver()"]) == (1, TOOL) and reply.finish == "stop"
    first, second = server.asked
    assert first["tool_choice"] == "required" and "tool_choice" not in second and "response_format" not in first
    assert [tool["function"]["name"] for tool in first["tools"]] == ["act", "request", "say"]
    assert first["tools"][0]["function"]["parameters"]["properties"]["action"]["enum"] == ["wait(1)", "deliver()"]


def test_keys_of_requests_without_tools_are_as_before():
    plain = Request("m", (ChatMessage("user", "now?"),))
    assert "tools" not in plain.to_dict()
    assert plain.key != Request("m", (ChatMessage("user", "now?"),), tools=tuple(TOOLS)).key


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "act", "arguments": {"action": "deliver()"}}\n</tool_call>',
        '{"name": "act", "parameters": {"action": "deliver()"}}',
        "<tool_call>act\n<arg_key>action</arg_key>\n<arg_value>deliver()</arg_value>\n</tool_call>",
        "<tool_call><function=act><parameter=action>deliver()</parameter></function></tool_call>",
        '```tool_code\nact(action="deliver()")\n```',
    ],
)
def test_calls_that_the_server_has_not_parsed_are_read(text):
    assert read_act(text, TOOLS, ["wait(1)", "deliver()"]) == (1, TOOL)
    assert read_parts(text, TOOLS, True).value == {"plan": "deliver()", "say": ""}


def test_calls_are_a_plan_and_a_message_in_their_order():
    text = calls(
        ("request", {"action": "cut(board)"}), ("act", {"action": "wait(1)"}), ("say", {"message": "Hi [END]"})
    )
    assert read_parts(text, TOOLS, True).value == {"plan": "request('cut(board)'); wait(1)", "say": "Hi [END]"}
    assert read_parts(calls(("say", {"message": "Hi"})), TOOLS, False).value == {"plan": "", "say": "Hi"}


@pytest.mark.parametrize(
    "text, reply",
    [
        ("I would wait.", "calls of tools only: act, request, say"),
        ('{"calls": []}', "calls of tools only"),
        ('{"calls": "act"}', "calls of tools only"),
        (calls(("dance", {"action": "wait(1)"})), "no tool 'dance'; the tools are act, request, say"),
        (calls(("act", {})), "a call of act needs the argument 'action'"),
        (calls(("act", {"action": 3})), "a call of act needs the argument 'action'"),
        (calls_text([("act", "wait")]), "a call of act needs the argument 'action'"),
        (calls(("say", {"message": "Hi"})), "the tool act"),
    ],
)
def test_unreadable_calls_say_what_is_missing(text, reply):
    with pytest.raises(Unreadable, match=f"(?i){reply}"):
        read_parts(text, TOOLS, True)
    with pytest.raises(Unreadable):
        read_act(text, TOOLS, ["wait(1)", "deliver()"])


def test_an_agent_of_every_game_chooses_among_the_legal_actions(play_team):
    def last(request):
        return calls(("act", {"action": enum_of(request, "act")[-1]}))

    record, client = play_team("llm:m?channel=tools", last, "Overcooked-v0", layout="cramped_room", max_cycles=3)
    for request in client.asked:
        assert request.schema is None and [tool["name"] for tool in request.tools] == ["act"]
        assert all(f". {action}" in request.turns[-1].content for action in enum_of(request, "act"))
        assert "calling the tool act" in request.turns[-1].content and "JSON" not in request.turns[-1].content
    first = enum_of(client.asked[0], "act")[-1]
    assert record.steps[0].action_texts[0] == first


def test_an_action_that_is_not_offered_is_asked_for_again(play_team):
    _, client = play_team(
        "llm:m?channel=tools",
        lambda request: calls(("act", {"action": "fly"})),
        "Overcooked-v0",
        layout="cramped_room",
        max_cycles=1,
    )
    assert "Call the tool act with one of these actions" in client.asked[1].turns[-1].content
    assert len(client.asked) == 4, "each seat twice"


def test_partners_plan_ask_and_talk_by_calls(play_team):
    def cook(request):
        rules, now = request.turns[0].content, request.turns[1].content
        assert "calling tools" in now and "Answer in this form" not in now and "request('" not in rules
        if "You are Alice" in rules:
            return calls(("act", {"action": "wait(1)"}))
        if "Timestep 0 " in now and "Said in this timestep" not in now:
            ask = ("request", {"action": "pickup(egg,ingredient_dispenser)"})
            return calls(ask, ("act", {"action": "wait(2)"}), ("say", {"message": "An egg, please."}))
        return calls(("act", {"action": "wait(1)"}))

    record, client = play_team("llm:m?channel=tools", cook, max_cycles=2)
    (asked, *_) = record.steps[0].messages
    assert asked.say == "An egg, please." and "request('pickup(egg,ingredient_dispenser)')" in asked.plan
    chef, helper = client.asked[0], client.asked[1]
    assert "pickup(egg,ingredient_dispenser)" in enum_of(chef, "request"), "the chef knows the helper's actions"
    assert enum_of(helper, "request") is None, "the helper does not know the chef's"
    assert {f"wait({n})" for n in range(1, 6)} < set(enum_of(chef, "act")), "a plan is made of all of its actions"


def test_agents_without_the_switch_refuse_it():
    with pytest.raises(ValueError, match="'coela' has no switch 'channel'"):
        parse_settings("m?agent=coela,channel=tools")
    with pytest.raises(ValueError, match="channel must be text, tools"):
        parse_settings("m?channel=telepathy")
