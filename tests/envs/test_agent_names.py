"""Agents are called alike in pictures, texts and manuals of every game."""

from __future__ import annotations

import re

import pytest

from collab_overcooked import registry


@pytest.mark.parametrize("env_id", registry.registered())
def test_pictures_and_texts_call_agents_alike(env_id):
    env = registry.make(env_id, render_mode="ansi")
    env.reset(seed=0)
    game, state = env.game, env.arrays[0]
    picture = re.sub(r"\x1b\[[0-9;]*m", "", env.render())
    for name in game.display_names:
        assert name in picture
        for seat in range(game.n_agents):
            assert name in game.describe(state, 0, seat) + game.manual(state, 0, seat)
    others = set(re.findall(r"(?i)\b(?:agent|player|seat)[ _]?\d\b", picture)) - set(game.display_names)
    assert not others, "no other names for them"
