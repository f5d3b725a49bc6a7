"""Faults in ends and determinism: the checks find each one, and say where it lies."""

from __future__ import annotations

import pytest
from testing.planted import (
    CountsEpisodes,
    DrawsByItself,
    EndsTwice,
    EndsTwiceAtALimit,
    EndsTwiceAtTheQuota,
    EndsTwiceInBatches,
    GoesOnAfterTheLimit,
    TerminatesAtLimits,
    find,
)

FAULTS = [
    (EndsTwice, "ends", "agent_0, agent_1 is terminated and truncated at once"),
    (DrawsByItself, "determinism", "two resets with seed 0 differ|and the same actions diverge"),
    (CountsEpisodes, "determinism", "two resets with seed 0 differ|and the same actions diverge"),
    (EndsTwiceAtALimit, "ends", "with max_cycles=1, at step 1 .* terminated and truncated at once"),
    (TerminatesAtLimits, "ends", "is terminated, not truncated, although without the limit the episode goes on"),
    (EndsTwiceInBatches, "ends", r"in a batch .*: environments \[1, 2"),
    (EndsTwiceAtTheQuota, "ends", "terminated and truncated at once"),
    (GoesOnAfterTheLimit, "ends", "with max_cycles=1, step 1 of seed 0 does not end the episode"),
]


@pytest.mark.parametrize(("game", "check", "sentence"), FAULTS, ids=[game.__name__ for game, _, _ in FAULTS])
def test_a_planted_fault_is_found(monkeypatch, game, check, sentence):
    find(monkeypatch, game, check, sentence)
