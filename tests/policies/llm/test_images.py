"""Pictures in requests: what the seat sees and no more, beside or instead of text, kept once by their digest."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.cli_runner import CliRunner
from support.endpoints import Says, serving
from support.hidden import hide, reach

from collab_overcooked.cli import app
from collab_overcooked.envs.seen import MIN_SIDE
from collab_overcooked.policies.llm.chat import chat_arguments
from collab_overcooked.policies.llm.dialects import Dialect
from collab_overcooked.policies.llm.exchange import ChatMessage, Request
from collab_overcooked.policies.llm.images import INSTEAD, Picture
from collab_overcooked.policies.llm.responses import response_arguments
from collab_overcooked.registry import load_game
from collab_overcooked.runner.records import read_records

pytest.importorskip("openai", reason="needs the extra llm")
GAMES: dict[str, dict[str, Any]] = {
    "CollabOvercooked-v0": {"task": "boiled_egg"},
    "CuisineWorld-v0": {"level": "level_3", "agents": 2},
    "CraftKitchen-v0": {"level": "field"},
    "Overcooked-v0": {"layout": "cramped_room"},
    "KitchenRush-v0": {"scenario": "easy"},
    "AlienRush-v0": {},
    "Housework-v0": {"agents": 2},
    "Transport-v0": {},
    "CollabCapture-v0": {},
    "CollabEscape-v0": {},
}
PIXELS = np.arange(300, dtype=np.uint8).reshape(10, 10, 3)


@pytest.mark.parametrize("env_id", GAMES)
def test_pictures_of_seats_are_large_and_show_nothing_hidden(env_id):
    game = load_game(env_id, **GAMES[env_id])
    state, _ = reach(game, seed=3, steps=4)
    for seat in range(game.n_agents):
        result = game.seen(state, 0, seat).picture
        assert result.dtype == np.uint8 and result.shape[2] == 3 and min(result.shape[:2]) >= MIN_SIDE
        other = game.seen(hide(game, state, seat, np.random.default_rng(seat)), 0, seat).picture
        assert Picture(result).digest == Picture(other).digest
    moved, _ = reach(game, seed=3, steps=3)
    assert Picture(game.seen(moved, 0, 0).picture).digest != Picture(game.seen(state, 0, 0).picture).digest


@pytest.mark.parametrize("kind", ["choose", "coela", "roco", "partner"])
@pytest.mark.parametrize("see", ["picture", "both"])
def test_every_kind_of_agent_sees(play_team, kind, see):
    env_id = "CollabOvercooked-v0" if kind == "partner" else "Overcooked-v0"
    options = {} if kind == "partner" else {"layout": "cramped_room"}
    answer = {"analysis": "", "plan": "wait(1)", "say": "[NOTHING]", "action": 1}
    spec = f"llm:m?agent={kind},see={see}"
    record, client = play_team(spec, lambda request: answer, env_id, max_cycles=2, **options)
    assert record.timesteps == 2 and all(len(request.pictures) == 1 for request in client.asked)
    _, plain = play_team(f"llm:m?agent={kind}", lambda request: answer, env_id, max_cycles=2, **options)
    described, text = plain.asked[0].turns[-1].content, client.asked[0].turns[-1].content
    assert (INSTEAD in text) == (see == "picture") and (text == described) == (see == "both")
    if kind == "partner":
        assert ("Recipe: Boiled Egg" in text) == ("Recipe: Boiled Egg" in described), "no picture shows the recipe"
    assert not plain.asked[0].pictures
    if kind == "choose" and "You see the current state" in client.asked[0].turns[0].content:
        assert "as a picture" in client.asked[0].turns[0].content


def test_requests_have_the_picture_with_the_state():
    turns = [ChatMessage(role, role) for role in ("system", "user", "assistant", "user")]
    request = Request("m", tuple(turns), pictures=(Picture(PIXELS),))
    _, first, _, last = chat_arguments(request, Dialect())["messages"]
    assert first["content"][0] == {"type": "text", "text": "user"} and last["content"] == "user"
    _, data = first["content"][1]["image_url"]["url"].split("base64,")
    assert (np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))) == PIXELS).all()
    _, first, _, _ = response_arguments(request, Dialect())["input"]
    assert [part["type"] for part in first["content"]] == ["input_text", "input_image"]
    assert first["content"][1]["image_url"].startswith("data:image/png;base64,")
    merged = chat_arguments(request, Dialect(system=False))["messages"][0]["content"]
    assert merged[0]["text"] == "system\n\nuser" and merged[1]["type"] == "image_url"


def test_keys_name_pictures_by_their_pixels():
    plain = Request("m", (ChatMessage("user", "now?"),))
    assert "pictures" not in plain.to_dict()
    one, other = (Request("m", plain.turns, pictures=(Picture(PIXELS + i),)) for i in (0, 1))
    assert len({plain.key, one.key, other.key}) == 3
    assert one.to_dict()["pictures"] == [hashlib.sha256(b"(10, 10, 3)" + PIXELS.tobytes()).hexdigest()]
    json.dumps(one.to_dict())


ITEMS = ["evaluate", "questions", "--games", "CollabCapture-v0", "--parts", "paper"]


def test_pictures_of_questions_are_stored_once_and_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    texts = [*ITEMS, "--team", "llm:m?see=picture", "--out", str(tmp_path / "a")]
    with serving(lambda asked: Says("A")) as server:
        done = CliRunner().invoke(app, [*texts, "--base-url", server.url])
        assert done.exit_code == 0, done.output
    parts = [asked["messages"][1]["content"] for asked in server.asked]
    assert len(parts) == 18 and all(text["text"].startswith(INSTEAD) for text, _ in parts)
    sent = {picture["image_url"]["url"] for _, picture in parts}
    kept = {f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}" for path in
            (tmp_path / "a" / "pictures").iterdir()}  # fmt: skip
    assert sent == kept and len(kept) < len(parts), "questions about one scene have one picture"
    lines = [json.loads(line) for line in (tmp_path / "a" / "exchanges.jsonl").read_text().splitlines()]
    named = {digest for line in lines for digest in line["request"]["pictures"]}
    assert {path.stem for path in (tmp_path / "a" / "pictures").iterdir()} == named
    again = [*texts[:-1], str(tmp_path / "b"), "--replay", str(tmp_path / "a" / "exchanges.jsonl"), "--no-report"]
    assert CliRunner().invoke(app, again).exit_code == 0
    letters = [[record.answer.letter for record in read_records(tmp_path / name)] for name in "ab"]
    assert letters[0] == letters[1] == ["A"] * 18


@pytest.mark.parametrize(
    "spec, options, reply",
    [
        ("llm:m?see=both,alone=on", {}, "pictures show partners, which alone=on hides"),
        ("llm:m?see=both", {"lexicon": "alien"}, "pictures show items, which a lexicon renames"),
        ("llm:m?see=smell", {}, "see must be text, picture, both"),
        ("llm:m?agent=cots,see=both", {}, "has no switch 'see'"),
    ],
)
def test_what_pictures_would_give_away_is_refused(play_team, spec, options, reply):
    with pytest.raises(ValueError, match=reply):
        play_team(spec, lambda request: {"action": 1}, "Overcooked-v0", layout="cramped_room", **options)
