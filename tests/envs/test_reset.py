"""Resets: nothing of the episode before is left, and only chosen environments change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collab_overcooked import registry
from collab_overcooked.kernels.rng import seed_states

FRESH = ("observations", "masks", "rewards", "terminated", "truncated")


@pytest.mark.parametrize("env_id", registry.registered())
def test_a_reset_does_not_depend_on_what_the_arrays_held(env_id: str) -> None:
    game: Any = registry.load_game(env_id)
    clean, spoilt = game.alloc(3), game.alloc(3)
    for arrays in spoilt:
        for array in arrays:
            array[:] = 77
    for state, out in (clean, spoilt):
        state.rng[:] = seed_states([1, 2, 3])
        game.reset(state, out, np.array([True, False, True]))
    (state, out), (other, other_out) = clean, spoilt
    for name in state._fields:
        if name != "rng":
            assert np.all(getattr(other, name)[1] == 77), name
        np.testing.assert_array_equal(getattr(state, name)[::2], getattr(other, name)[::2], name)
    for name in FRESH:
        np.testing.assert_array_equal(getattr(out, name)[::2], getattr(other_out, name)[::2], name)
    assert out.fresh.tolist() == other_out.fresh.tolist() == [True, False, True]
