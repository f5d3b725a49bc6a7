"""Placeholders that are no keys are not redacted, as records contain these words for other reasons."""

from __future__ import annotations

import pytest

from collab_overcooked.io import redaction


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_parts", {})
    monkeypatch.setattr(redaction, "_short", set())


@pytest.mark.parametrize("key", ["none", "EMPTY", "dummy"])
def test_placeholders_stay_in_texts(key: str) -> None:
    redaction.remember(key)
    assert redaction.redact_values({"teacher": key}) == {"teacher": key}


def test_short_keys_are_redacted_where_they_are_spelled_exactly() -> None:
    redaction.remember("swrdf")
    assert redaction.redact("the swrdf is") == f"the {redaction.HIDDEN} is"
