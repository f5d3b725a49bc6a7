"""Models of different providers in one run: endpoint, key, price and options of requests by model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.endpoints import serving

from collab_overcooked.policies.llm.agents import policy_maker
from collab_overcooked.policies.llm.client import connect
from collab_overcooked.policies.llm.exchange import ChatMessage, Request
from collab_overcooked.policies.llm.settings import AgentSettings, parse_settings

pytest.importorskip("openai", reason="needs the extra llm")


def ask(client: Any, settings: AgentSettings) -> str:
    turns = (ChatMessage("user", "Well?"),)
    request = Request(settings.model, turns, settings.temperature, body=settings.body, reach=settings.reach)
    return str(client.complete(request).text)


def test_each_model_is_asked_at_its_own_endpoint_with_its_own_key_and_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-usual-000")
    monkeypatch.setenv("OTHER_KEY", "sk-other-111")
    monkeypatch.setenv("ORGANISATION", "secret-organisation")
    with serving(["usual"]) as default, serving(["other"]) as other:
        file = tmp_path / "other.yaml"
        file.write_text(
            f"model: big\nbase_url: {other.url}\nkey_variable: OTHER_KEY\nprice: 2.5/10\ntemperature: 0.5\n"
            "top_p: 0.9\neffort: low\nbody: {service_tier: flex}\nheaders: {X-Organisation: $ORGANISATION}\n"
        )
        store = tmp_path / "exchanges.jsonl"
        with connect(default.url, store=store) as client:
            make = policy_maker(client)
            entry, small = make(f"llm:{file}").settings, make("llm:small").settings
            assert [ask(client, entry), ask(client, small)] == ["other", "usual"]
        assert other.keys == ["Bearer sk-other-111"] and default.keys == ["Bearer sk-usual-000"]
        (asked,) = other.asked
        assert (asked["top_p"], asked["reasoning_effort"], asked["service_tier"]) == (0.9, "low", "flex")
        assert asked["temperature"] == 0.5 and "top_p" not in default.asked[0]
    assert entry.price is not None and (entry.price.prompt, entry.price.completion) == (2.5, 10)
    written = store.read_text()
    assert "$ORGANISATION" in written and "secret-organisation" not in written and "sk-" not in written
    first = [json.loads(line)["request"] for line in written.splitlines()]
    assert [request.get("reach", {}).get("base_url") for request in first] == [other.url, None]


def test_an_endpoint_without_its_key_is_refused_before_anything_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with connect() as client:
        make = policy_maker(client)
        make("llm:m?base_url=http://127.0.0.1:9/v1")  # needs no key of the usual endpoint
        with pytest.raises(ValueError, match="OPENAI_API_KEY"):
            make("llm:m")


def test_keys_of_requests_without_options_are_those_of_old_stores() -> None:
    plain = Request("m", (ChatMessage("user", "Well?"),))
    assert set(plain.to_dict()) == {"model", "turns", "temperature", "max_tokens", "schema", "sample"}
    assert plain.key != Request("m", plain.turns, body={"top_p": 0.5}).key


def test_batch_apis_are_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text("model: m\nbody: {completion_window: 24h}\n")
    for text in (str(path), "m?api=batches", "m?base_url=https://api.example.org/v1/messages/batches"):
        with pytest.raises(ValueError, match="batch APIs cannot play: an episode is a conversation"):
            parse_settings(text)
    with pytest.raises(ValueError, match="batch APIs cannot play"):
        connect("https://api.example.org/v1/batches")
    assert parse_settings("m?base_url=https://batch.example.org/v1/batched").reach is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("m?base_url=nowhere", "base-url"),
        ("m?price=3", "2.5/10"),
        ("m?price=a=1/2", "2.5/10"),
        ("m?top_p=2", "top_p must be a number from 0 to 1"),
        ("m?body=3", "body must be a mapping in a YAML file"),
        ("m?local=a.gguf,base_url=http://127.0.0.1:9/v1", "only one of base_url and local"),
    ],
)
def test_bad_values_are_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_settings(text)
