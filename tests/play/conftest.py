"""A fixture for sessions that write to a folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from play.world import KITCHEN, QUICK, matches

from collab_overcooked.play.recording import PlayFolder
from collab_overcooked.play.session import Session
from collab_overcooked.play.settings import PlaySettings


@pytest.fixture
def make_session(tmp_path: Any) -> Any:
    """Makes sessions that write to a folder, which is closed after the test."""
    folders: list[PlayFolder] = []

    def make(team: Sequence[str], *, how: dict[str, Any] | None = None, rounds: Any = None, **what: Any) -> Session:
        keys = ("voice", "make", "practice", "on_over", "now")
        results = {key: what.pop(key) for key in keys if key in what}
        what = what or dict(KITCHEN)
        folders.append(PlayFolder(tmp_path / f"run{len(folders)}", what["suite"]))
        return Session(
            rounds or matches(team, **what), PlaySettings(**QUICK | (how or {})), folder=folders[-1], **results
        )

    yield make
    for folder in folders:
        folder.close()
