"""Pictures of the pages were drawn by what draws them now."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PLAYED = "-v0"  # pictures named after a game are films, for which it is played


@pytest.fixture(scope="module")
def pictures() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        yield importlib.import_module("topics.pictures")


def stale(pictures: Any, films: bool) -> list[str]:
    names = [name for name in pictures.PICTURES if name.endswith(PLAYED) == films]
    return [name for name in names if pictures.digest(name) != pictures.drawn_from().get(name)]


def test_pictures_are_fresh(pictures: Any) -> None:
    assert not stale(pictures, films=False), "draw them anew: python docs/facts.py --pictures NAME ..."


@pytest.mark.slow
def test_films_are_fresh(pictures: Any) -> None:
    assert not stale(pictures, films=True), "draw them anew: python docs/facts.py --pictures NAME ..."


def test_a_changed_source_makes_a_picture_stale(pictures: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b" " * (path.name == "play.css"))
    assert set(stale(pictures, films=False)) >= {"play", "turns", "rooms", "phones", "study"}


def test_all_shown_pictures_exist_and_all_that_exist_are_shown() -> None:
    text = "".join(path.read_text("utf-8") for path in [DOCS.parent / "README.md", *DOCS.rglob("*.md")])
    named = set(re.findall(r"pictures/([\w.]+\.(?:png|svg|gif))", text))
    assert named == {path.name for path in (DOCS / "pictures").iterdir() if path.suffix != ".json"}
