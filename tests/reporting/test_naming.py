"""Names of things in pictures: numbered only where there are several."""

from __future__ import annotations

import pytest

from collab_overcooked.registry import make
from collab_overcooked.reporting.naming import single_names


@pytest.mark.parametrize(
    ("env_id", "single", "several"),
    [
        ("CollabOvercooked-v0", {"chopping_board0", "pot0"}, set()),
        ("CuisineWorld-v0", {"storage0"}, {"pot0", "mixer1"}),
        ("CollabCapture-v0", set(), {"room 1"}),
    ],
)
def test_a_number_tells_nothing_where_there_is_one_such_thing(env_id: str, single: set, several: set) -> None:
    env = make(env_id)
    env.reset(seed=0)
    names = set(single_names(env.game.seen(env.clone_state().state, 0, 0)))
    assert single <= names and not several & names
