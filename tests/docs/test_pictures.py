"""Pictures of the pages were drawn by what draws them now."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def stale(pictures: Any) -> list[str]:
    return [name for name in pictures.PICTURES if pictures.digest(name) != pictures.drawn_from().get(name)]


def test_pictures_are_fresh(facts: Any) -> None:
    assert not stale(facts.pictures), "draw them anew: python docs/facts.py --pictures NAME ..."


def test_a_changed_source_makes_a_picture_stale(facts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b" " * (path.name in ("play.css", "model.py")))
    assert set(stale(facts.pictures)) >= {"play", "turns", "rooms", "phones", "study", "Transport-v0"}


def test_all_shown_pictures_exist_and_all_that_exist_are_shown() -> None:
    text = "".join(path.read_text("utf-8") for path in [DOCS.parent / "README.md", *DOCS.rglob("*.md")])
    named = set(re.findall(r"pictures/([\w.]+\.(?:png|svg|gif))", text))
    assert named == {path.name for path in (DOCS / "pictures").iterdir() if path.suffix != ".json"}
