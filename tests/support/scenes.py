"""Moments that no play leads to, for tests of single rules: a reset would refuse them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from collab_overcooked.io.schema import read


def write_scene(
    game: Any, state: Any, out: Any, scene: Any, options: Mapping[str, Any] | None = None, limit: int | None = None
) -> None:
    """Start an episode in every environment of a batch and write a scene into it, whatever its keys say together."""
    game.reset(state, out, np.ones(len(state.rng), np.bool_), options, limit)
    for i in range(len(state.rng)):
        checked = read(game.reset_parsers()["state"], scene, "state")
        game._encode(state, i, checked)
        game._complete(state, i, checked)
    game.observe(state, out)
