"""Keys are redacted as they are, escaped in JSON and escaped in URLs; placeholders and ordinary words stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from collab_overcooked.io import redaction
from collab_overcooked.io.redaction import HIDDEN, redact, redact_values, remember


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_spellings", set())


@pytest.mark.parametrize("key", ["none", "EMPTY", "dummy", "abc"])
def test_placeholders_and_very_short_keys_stay_in_texts(key: str) -> None:
    remember(key)
    assert redact_values({"teacher": key}) == {"teacher": key}


@pytest.mark.parametrize(
    ("key", "spell"),
    [
        ("Zk9mQ2Vh7Lx1Tn4Wb8Rd3Yp6", str),
        ('p@ss/w+rd="quoted"\\x', json.dumps),
        ('p@ss/w+rd="quoted"\\x', lambda key: quote(key, safe="")),
        ("KNIFE", str),
    ],
)
def test_a_key_is_hidden_in_texts_and_names(key: str, spell: Callable[[str], str]) -> None:
    remember(key)
    spelled = spell(key).strip('"')
    assert redact(f"I saw {spelled}, really") == f"I saw {HIDDEN}, really"
    assert redact_values({spelled: [{"deep": spelled}]}) == {HIDDEN: [{"deep": HIDDEN}]}


def test_words_of_the_game_stay_words() -> None:
    for key in ("kitchen-key-boiled_egg", "KNIFE"):
        remember(key)
    for text in ("pickup(boiled_egg, kitchen)", "the key of the kitchen", "the knife is sharp"):
        assert redact(text) == text


def test_the_longer_of_two_keys_is_hidden_as_a_whole() -> None:
    for key in ("Zk9mQ2Vh", "Zk9mQ2Vh7Lx1Tn4W"):
        remember(key)
    assert redact("Zk9mQ2Vh7Lx1Tn4W Zk9mQ2Vh") == f"{HIDDEN} {HIDDEN}"
