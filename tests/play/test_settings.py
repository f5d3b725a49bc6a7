"""Settings of games with people."""

from __future__ import annotations

import pytest

from collab_overcooked.play.settings import PlaySettings


def test_bad_settings_are_refused() -> None:
    for value, message in (
        ({"clock": "tick"}, "ticks"),
        ({"tick": 0}, "tick must be"),
        ({"on_leave": "gready"}, "greedy"),
        ({"show": "text"}, "words"),
        ({"grace": True}, "grace must be"),
    ):
        with pytest.raises(ValueError, match=message):
            PlaySettings(**value)
