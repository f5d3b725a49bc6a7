"""An endpoint that echoes its key: no answer, message, record, store or log holds it."""

from __future__ import annotations

import io
import json
import logging
from typing import Any
from urllib.parse import quote

import pytest
from msgspec import structs
from support.endpoints import Says, serving
from support.records import from_json

from collab_overcooked.cli.app import TextConsole
from collab_overcooked.core.record import MessageEntry
from collab_overcooked.io import redaction
from collab_overcooked.policies.llm.answers import read_object
from collab_overcooked.policies.llm.chat import ChatTransport
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import ChatMessage, EndpointError, Request
from collab_overcooked.policies.llm.store import Store
from collab_overcooked.policies.llm.transport import RetryPolicy
from collab_overcooked.runner.records import dump_line

pytestmark = pytest.mark.attacks

USUAL = "sk-test-SECRETsecretSECRETsecret1234567890"
WITH_SIGNS = 'p@ss/w+rd="quoted"'


@pytest.fixture(autouse=True)
def forgetful(monkeypatch):
    """Let every test begin with no known key."""
    monkeypatch.setattr(redaction, "_spellings", set())


def answer(text: str) -> dict[str, Any]:
    return {"say": text, "action": text, text: 1, "more": [{"deep": text}]}


@pytest.mark.parametrize(
    ("key", "spell"),
    [(USUAL, str), (WITH_SIGNS, lambda key: json.dumps(key)[1:-1]), (WITH_SIGNS, lambda key: quote(key, safe=""))],
    ids=["as it is", "in JSON", "in a URL"],
)
def test_nothing_that_is_read_or_written_holds_the_key(key, spell, monkeypatch, tmp_path, caplog, donors):
    echo = spell(key)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    caplog.set_level(logging.DEBUG)
    headers = {"x-request-id": key, "set-cookie": f"key={key}", "location": quote(key)}
    script = list(
        [
            Says(f"bad key {echo}", 500, headers),
            Says(body="{" + json.dumps(echo), headers=headers),
            Says(json.dumps(answer(echo)), headers=headers),
            Says(f"no {echo}", 401, headers),
        ]
    )
    with serving(list(script)) as server:
        endpoint = ChatTransport(server.url, retry_policy=RetryPolicy(first_wait=0.01), sleep=lambda seconds: None)
        client = Client(endpoint.complete, store=Store(tmp_path / "store.jsonl"))
        reply = client.complete(Request("m", (ChatMessage("user", "hello"),)))
        with pytest.raises(EndpointError) as refused:
            client.complete(Request("m", (ChatMessage("user", "again"),)))
        endpoint.close()
    out = io.StringIO()
    TextConsole(file=out, soft_wrap=True).print(f"error: {key} {echo}")
    played, message = from_json(donors["collab-overcooked"]), MessageEntry(agent=0, say=key, plan=echo)
    line = dump_line(played.replace(steps=[structs.replace(step, messages=[message]) for step in played.steps]))
    written = [reply.text, str(refused.value), out.getvalue(), line.decode(), caplog.text]
    written += [
        (tmp_path / "store.jsonl").read_text(),
        json.dumps(read_object(json.dumps(answer(echo)), list(answer(echo)))),
    ]
    for text in written:
        assert key not in text and echo not in text and key[len(key) // 2 :] not in text, text[:300]
