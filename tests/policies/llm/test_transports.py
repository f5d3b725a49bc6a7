"""APIs of models: OpenAI's Responses, and other providers through LiteLLM, of which there is a stand-in here."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest
from support.endpoints import Says, serving

pytest.importorskip("openai", reason="needs the extra llm")

from collab_overcooked.policies.llm.client import connect, is_provided
from collab_overcooked.policies.llm.exchange import ChatMessage, EndpointConfig, EndpointError, Request
from collab_overcooked.policies.llm.responses import ResponsesTransport
from collab_overcooked.policies.llm.settings import parse_settings
from collab_overcooked.policies.llm.tools import act_tool
from collab_overcooked.policies.llm.transport import RetryPolicy

TURNS = (ChatMessage("system", "rules"), ChatMessage("user", "now?"))
FORM = {"type": "object", "properties": {"action": {"type": "integer"}}, "required": ["action"]}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def respond(*output: dict[str, Any], **fields: Any) -> Says:
    usage = {
        "input_tokens": 100,
        "output_tokens": 30,
        "total_tokens": 130,
        "input_tokens_details": {"cached_tokens": 64},
        "output_tokens_details": {"reasoning_tokens": 20},
    }
    return Says(body=json.dumps({"id": "r", "object": "response", "output": list(output), "usage": usage, **fields}))


def said(**part: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "id": "m", "content": [part]}


def ask(says: Any, request: Request) -> tuple[Any, list[dict[str, Any]]]:
    with serving(says) as server:
        endpoint = ResponsesTransport(server.url, retry_policy=RetryPolicy(attempts=1))
        try:
            return endpoint.complete(request), server.asked
        except EndpointError as error:
            return error, server.asked
        finally:
            endpoint.close()


def test_the_responses_api():
    thoughts = {"type": "reasoning", "id": "t", "summary": [{"type": "summary_text", "text": "Hm."}]}
    request = Request(
        "m", TURNS, 0.5, 99, FORM, body={"reasoning_effort": "low", "top_p": 0.9}, sample="s"
    )  # the API has no seed
    reply, (asked,) = ask([respond(thoughts, said(type="output_text", text='{"action": 2}'))], request)
    assert (reply.text, reply.finish, reply.reasoning) == ('{"action": 2}', "stop", "Hm.")
    counts = reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens, reply.reasoning_tokens
    assert counts == (100, 30, 64, 20)
    assert asked == {
        "model": "m",
        "input": [{"role": "system", "content": "rules"}, {"role": "user", "content": "now?"}],
        "store": False,
        "max_output_tokens": 99,
        "temperature": 0.5,
        "text": {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": FORM}},
        "reasoning": {"effort": "low"},
        "top_p": 0.9,
    }


def test_cut_and_refused_responses():
    incomplete = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    reply, _ = ask([respond(**incomplete)], Request("m", TURNS))
    assert (reply.text, reply.finish) == ("", "length")
    reply, _ = ask([respond(said(type="refusal", refusal="No."))], Request("m", TURNS))
    assert (reply.finish, reply.detail) == ("refused", "No.")
    error, _ = ask([Says(body='{"object": "response", "error": {"message": "broken"}}')], Request("m", TURNS))
    assert isinstance(error, EndpointError) and "broken" in str(error)
    error, asked = ask([Says(body='{"object": "response"}')], Request("m", TURNS))
    assert "without a list of output items" in str(error) and len(asked) == 2


def test_calls_of_tools_in_responses():
    call = {"type": "function_call", "call_id": "c", "name": "act", "arguments": '{"action": "wait"}'}
    tool = act_tool(["wait"], "Act.")
    reply, (asked,) = ask([respond(call)], Request("m", TURNS, tools=(tool,)))
    assert json.loads(reply.text) == {"calls": [{"name": "act", "arguments": {"action": "wait"}}]}
    assert asked["tools"] == [{"type": "function", "strict": True, **tool}] and asked["tool_choice"] == "required"


def test_unsupported_features_are_left_out_of_responses():
    complaint = Says("Unsupported parameter: 'temperature' is not supported with this model.", 400)
    answer = respond(said(type="output_text", text="yes"))
    reply, asked = ask(lambda asked: complaint if "temperature" in asked else answer, Request("m", TURNS))
    assert reply.text == "yes" and len(asked) == 2


@pytest.fixture
def library(monkeypatch):
    """A stand-in for LiteLLM, with the part of its interface that is used; ``adapters/frameworks`` has the real one."""
    import openai
    from openai.types.chat import ChatCompletion

    asked: list[dict[str, Any]] = []

    def completion(**arguments):
        asked.append(arguments)
        if "seed" in arguments:
            response = openai.DefaultHttpxClient().build_request("POST", "http://127.0.0.1")
            web = sys.modules[type(response).__module__.partition(".")[0]]
            raise openai.BadRequestError(
                "anthropic does not support parameters: ['seed']",
                response=web.Response(400, request=response),
                body=None,
            )
        return ChatCompletion.construct(**json.loads(Says("hello", usage=(10, 3, 7)).bytes()))

    module = ModuleType("litellm")
    module.completion = completion  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "litellm", module)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "true")
    return asked


def test_models_of_providers(library, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OWN_KEY", "sk-own-0123456789abcdef")
    reach = EndpointConfig(key_variable="OWN_KEY", headers=(("X-Team", "us"),))
    with connect(timeout=9.0) as client:
        client.check(None, "anthropic/claude-x")
        reply = client.complete(Request("anthropic/claude-x", TURNS, body={"reasoning_effort": "low"}, fixed=1))
        client.complete(Request("gemini/gemini-x", TURNS, reach=reach, fixed=1))
    assert (reply.text, reply.prompt_tokens, reply.cached_tokens) == ("hello", 10, 7)
    first, second, _, other = library
    assert first["seed"] == 0 or "seed" in first
    assert "seed" not in second and second["reasoning_effort"] == "low"
    assert (second["num_retries"], second["max_retries"], second["timeout"], second["api_key"]) == (0, 0, 9.0, None)
    marked = {"type": "text", "text": "rules", "cache_control": {"type": "ephemeral"}}
    assert second["messages"] == [{"role": "system", "content": [marked]}, {"role": "user", "content": "now?"}]
    assert other["messages"][0] == {"role": "system", "content": "rules"}, "a marker would create a cache of its own"
    assert other["api_key"] == "sk-own-0123456789abcdef" and other["extra_headers"] == {"X-Team": "us"}


def test_what_is_reached_through_a_provider(monkeypatch):
    assert is_provided("anthropic/claude-x", EndpointConfig())
    assert not is_provided("gpt-4o", EndpointConfig())
    assert not is_provided("Qwen/Qwen3-8B", EndpointConfig("http://127.0.0.1:8000/v1"))
    assert not is_provided("models/tiny", EndpointConfig(local="tiny.gguf"))
    assert not is_provided("openai/gpt-4o", EndpointConfig(api="chat"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    assert not is_provided("Qwen/Qwen3-8B", EndpointConfig())


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)
    with connect() as client, pytest.raises(ValueError, match=r"pip install 'collab-overcooked\[providers\]'"):
        client.check(None, "anthropic/claude-x")


def test_the_setting():
    reach = parse_settings("gpt-5?api=responses,effort=low").reach
    assert reach == EndpointConfig(api="responses")
    with pytest.raises(ValueError, match=r"unknown api 'response'.*did you mean responses"):
        parse_settings("gpt-5?api=response")
    assert "api" not in EndpointConfig("http://127.0.0.1:1/v1").to_dict(), "keys of stored requests stay"


def test_reasoning_tokens_have_a_column_of_their_own(play_team):
    from collab_overcooked.policies.llm.exchange import Reply
    from collab_overcooked.reporting.costs import cost_card

    answer = Reply('{"action": 1}', prompt_tokens=10, completion_tokens=9, reasoning_tokens=7)
    record, _ = play_team("llm:m", lambda request: answer, "Overcooked-v0", layout="cramped_room", max_cycles=2)
    assert record.accounts["agent_0"].reasoning_tokens == 14
    table = cost_card([record]).tables[0]
    row = dict(zip((column.name for column in table.columns), table.rows[0], strict=True))
    assert (row["Tokens out"], row["Reasoning"]) == (36, 28)
