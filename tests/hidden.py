"""Moments of a game in which only that differs which a seat may not know."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.core.rng import Rng, seed_words
from collab_overcooked.envs.api import clone


def reach(game: Any, seed: int, steps: int, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
    """Return state and out after some random steps."""
    state, out = game.alloc(1)
    state.rng[:] = seed_words([seed])
    game.reset(state, out, np.ones(1, np.bool_), options)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        actions = [rng.choice(np.flatnonzero(mask)) for mask in out.masks[0]]
        game.step(state, np.array([actions], np.int32), out)
    return state, out


def hide(game: Any, state: Any, seat: int, rng: np.random.Generator) -> Any:
    """Return a copy of a state that differs in all that the seat may not know."""
    other = clone(state, 0)
    drawn = int(other.rng[0, Rng.COUNT])
    other.rng[0, [Rng.LOW, Rng.HIGH]] = rng.integers(0, 2**31, 2)
    if hasattr(other, "stream"):
        other.stream[:] = rng.integers(0, 2**32, other.stream.shape, np.uint32)
    if hasattr(other, "forced"):  # orders still to come
        other.forced[0, drawn:] = rng.integers(0, len(game.compiled.names.orders), other.forced.shape[1] - drawn)
    scene = game.scene(other, 0)
    if "counters" in scene:
        hide_counters(game, other, scene, seat, rng)
    if hasattr(game, "sample_belief"):  # all that the seat does not know becomes something else
        game.sample_belief(other, seat, rng)
    return other


def hide_counters(game: Any, state: Any, scene: dict[str, Any], seat: int, rng: np.random.Generator) -> None:
    """Put other things on the counters that a seat cannot use."""
    from collab_overcooked.games.collab_overcooked.constants import NOTHING, Access, Group, Tile

    tables = game.compiled.tables
    for s in tables.groups[Group.COUNTER]:
        if s != NOTHING and tables.access[seat, s] == Access.NONE:
            state.tiles[0, s, Tile.ITEM] = rng.choice([NOTHING, *range(len(game.compiled.names.items))])
            state.tiles[0, s, Tile.PLATED] = 0
            state.tiles[0, s, Tile.PLACED] = rng.integers(0, 1000)
