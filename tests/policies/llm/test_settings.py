from __future__ import annotations

import pytest

from collab_overcooked.policies.llm.settings import SWITCHES, AgentSettings, describe_settings, parse_settings
from collab_overcooked.policies.specs import make_policy


def test_a_model_alone():
    assert parse_settings("meta-llama/Llama-3.1:8b") == AgentSettings("meta-llama/Llama-3.1:8b")


def test_switches_are_read():
    result = parse_settings("m?memory=7, reflection=off,talk=off,temperature=0.7,tokens=64,recipe=actions,answer=text")
    assert result == AgentSettings(
        "m",
        answer="text",
        temperature=0.7,
        tokens=64,
        switches={"memory": 7, "reflection": 0, "talk": False, "recipe": "actions"},
    )


def test_files_hold_the_same_words(tmp_path):
    path = tmp_path / "agent.yaml"
    path.write_text("model: m\nmemory: 7\nreflection: off\ntalk: no\ntemperature: 0.7\nrecipe: actions\n")
    assert parse_settings(str(path)) == parse_settings(
        "m?memory=7,reflection=off,talk=off,temperature=0.7,recipe=actions"
    )
    assert parse_settings(f"{path}?memory=1").switches["memory"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs the name of a model"),
        ("?memory=1", "needs the name of a model"),
        ("m?memroy=1", "did you mean memory"),
        ("m?memory", "switch=value"),
        ("m?memory=-1", "integer"),
        ("m?memory=on", "integer"),
        ("m?talk=3", "on or off"),
        ("m?recipe=long", "steps, split, actions, rearranged"),
        ("m?demo=on", "full, few, off"),
        ("m?agent=chooser", "did you mean choose"),
        ("m?answer=json", "unknown answer"),
        ("m?temperature=3", "from 0 to 2"),
        ("m?tokens=-1", "from 0 to"),
        ("m?repairs=x", "from 0 to 10"),
        ("m?agent=choose,talk=on", "no switch 'talk'"),
        ("m?agent=dispatch,memory=3", "no switch 'memory'"),
        ("nowhere.yaml", "cannot read agent file"),
    ],
)
def test_what_cannot_be_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_settings(text)


@pytest.mark.parametrize("content", ["[1, 2]", "a: [", "\x00", "memory: 3"])
def test_bad_files_are_refused(tmp_path, content):
    (tmp_path / "a.yaml").write_text(content)
    with pytest.raises(ValueError):
        parse_settings(str(tmp_path / "a.yaml"))


def test_every_switch_is_described():
    names = [name for name, _, _ in describe_settings()]
    assert set(SWITCHES) < set(names) and len(names) == len(set(names))


def test_making_a_language_policy_needs_neither_key_nor_network(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert make_policy("llm:gpt-4o?memory=3").name == "llm:gpt-4o?memory=3"
