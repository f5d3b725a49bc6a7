"""An endpoint that echoes its key in every spelling: no answer, message, record, store or log holds it."""

from __future__ import annotations

import base64
import html
import io
import json
import logging
import urllib.parse
from collections.abc import Callable
from typing import Any

import pytest
from endpoints import Says, serving

from collab_overcooked.cli.app import TextConsole
from collab_overcooked.io import redaction
from collab_overcooked.policies.llm.answers import read_object
from collab_overcooked.policies.llm.client import ChatMessage, EndpointError, Request
from collab_overcooked.policies.llm.endpoint import Endpoint, RetryPolicy
from collab_overcooked.policies.llm.store import RecordingClient, Store
from collab_overcooked.runner.records import dump_line

pytestmark = pytest.mark.attacks

KEYS = {
    "usual": "sk-test-SECRETsecretSECRETsecret1234567890",
    "of no known form": "Zk9mQ2Vh7Lx1Tn4Wb8Rd3Yp6",
    "with signs": 'p@ss/w+rd="quoted"\\x',
    "of eight": "a1b2c3d4",
    "like words of the game": "kitchen-key-boiled_egg",
}
escaped = "".join  # of one escape for each character
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in JSON": lambda key: json.dumps({"key": key}),
    "in JSON in JSON": lambda key: json.dumps(json.dumps({"key": key})),
    "in JSON, all escaped": lambda key: escaped(f"\\u{ord(c):04X}" for c in key),
    "in JSON, some escaped": lambda key: escaped(f"\\u{ord(c):04x}" if i % 3 else c for i, c in enumerate(key)),
    "in JSON, escaped twice": lambda key: escaped(f"\\\\u{ord(c):04x}" for c in key),
    "in an address": lambda key: urllib.parse.quote(key, safe=""),
    "in an address, all": lambda key: escaped(f"%{ord(c):02x}" for c in key),
    "in an address, twice": lambda key: escaped(f"%25{ord(c):02X}" for c in key),
    "in a page": html.escape,
    "in a page, all": lambda key: escaped(f"&#{ord(c)};" for c in key),
    "in a page, hexadecimal": lambda key: escaped(f"&#x{ord(c):x};" for c in key),
    "as bytes": lambda key: escaped(f"\\x{ord(c):02x}" for c in key),
    "in hexadecimal": lambda key: key.encode().hex(),
    "in capitals": str.upper,
    "reversed": lambda key: key[::-1],
    "spread": " ".join,
    "with hyphens": "-".join,
    "in a list": lambda key: json.dumps(list(key)),
    "in lines": "\n".join,
    "with unseen signs": "\u200b".join,
    **{
        f"in base64, {n} before": lambda key, n=n: base64.b64encode(b"Basic:"[:n] + key.encode()).decode()
        for n in range(4)
    },
    "in base64 for addresses": lambda key: base64.urlsafe_b64encode(b":" + key.encode()).decode(),
}
PARTS: dict[str, Callable[[str], str]] = {
    "most of it": lambda key: key[: 3 * len(key) // 4 + 1],
    "the rest of it": lambda key: key[len(key) // 4 :],
}


@pytest.fixture(autouse=True)
def forgetful(monkeypatch):
    """Let every test begin with no known key."""
    monkeypatch.setattr(redaction, "_parts", {})
    monkeypatch.setattr(redaction, "_short", set())


def known(key: str) -> str:
    redaction.remember(key)
    return key


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_key_is_hidden_in_every_spelling(key, spell):
    spelled = spell(known(key))
    for text in (f"I saw {spelled}, really", f'{{"say": "{spelled}"}}', spelled):
        hidden = redaction.redact(text)
        assert redaction.HIDDEN in hidden
    left = redaction._plain(hidden.replace(redaction.HIDDEN, ""))
    assert len(left) <= max(8, len(redaction._plain(spelled)) // 3), hidden


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("name", ["usual", "of no known form", "with signs"])
def test_most_of_a_key_is_hidden_too(name, part):
    assert redaction.HIDDEN in redaction.redact(f"ends with {part(known(KEYS[name]))}")


def test_words_of_the_game_stay_words():
    redaction.remember(KEYS["like words of the game"])
    for text in ("pickup(boiled_egg, kitchen)", "the key of the kitchen", "boiled_egg; boiled_egg"):
        assert redaction.redact(text) == text
    redaction.remember("KNIFE")
    assert redaction.redact("the knife is sharp") == "the knife is sharp"
    assert redaction.redact("key KNIFE refused") == "key [hidden] refused"
    redaction.remember("EMPTY")  # a placeholder
    assert redaction.redact("key EMPTY refused") == "key EMPTY refused"


def answer(text: str) -> dict[str, Any]:
    return {"say": text, "action": text, text: 1, "more": [{"deep": text}]}


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
def test_nothing_that_is_read_or_written_holds_the_key(spell, monkeypatch, tmp_path, caplog, donors):
    key = KEYS["usual"]
    echo, secret = spell(key), redaction._plain(key)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    caplog.set_level(logging.DEBUG)
    headers = {"x-request-id": key, "set-cookie": f"key={key}", "location": urllib.parse.quote(key)}
    script = list(
        [
            Says(f"bad key {echo}", 500, headers),
            Says(body="{" + json.dumps(echo), headers=headers),
            Says(json.dumps(answer(echo)), headers=headers),
            Says(f"no {echo}", 401, headers),
        ]
    )
    with serving(list(script)) as server:
        endpoint = Endpoint(server.url, patience=RetryPolicy(first_wait=0.01), sleep=lambda seconds: None)
        client = RecordingClient(endpoint, Store(tmp_path / "store.jsonl"))
        reply = client.complete(Request("m", (ChatMessage("user", "hello"),)))
        with pytest.raises(EndpointError) as refused:
            client.complete(Request("m", (ChatMessage("user", "again"),)))
        endpoint.close()
    out = io.StringIO()
    TextConsole(file=out, soft_wrap=True).print(f"error: {key} {echo}")
    played, message = donors["collab-overcooked"], {"agent": 0, "say": key, "plan": echo}
    line = dump_line(played | {"steps": [step | {"messages": [message]} for step in played["steps"]]})
    written = [reply.text, str(refused.value), out.getvalue(), line.decode(), caplog.text]
    written += [(tmp_path / "store.jsonl").read_text(), json.dumps(read_object(json.dumps(answer(echo))))]
    for text in written:
        letters = "".join(letter for *_, letter in redaction._letters(text))
        assert secret not in letters and secret[len(secret) // 2 :] not in letters, text[:300]
