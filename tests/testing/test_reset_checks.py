"""Faults in resets, seeds and draws: the checks find each one, and say where it lies."""

from __future__ import annotations

import pytest
from testing.planted import (
    ClaimsToBeDeterministic,
    ForgetsToObserveSome,
    IgnoresSeeds,
    IgnoresSeedsInSteps,
    KeepsTheLastEnd,
    KeepsTheLastMasks,
    KeepsTheLastObservation,
    KeepsTheLastRewards,
    KeepsTheShelf,
    ObservesTheOtherMasks,
    StartsAsTheLastTime,
    StartsLate,
    find,
)

FAULTS = [
    (KeepsTheShelf, "resets", r"a reset with seed 100\d after \d+ steps keeps something .*: .* room\[SHELF\]"),
    (KeepsTheLastObservation, "resets", "leaves other observations than in a new environment"),
    (KeepsTheLastMasks, "resets", "leaves other masks than in a new environment"),
    (KeepsTheLastRewards, "resets", "leaves other rewards than in a new environment"),
    (KeepsTheLastEnd, "resets", "leaves other truncated than in a new environment"),
    (ForgetsToObserveSome, "resets", r"a reset of some environments at step \d+ returns other observations than its"),
    (StartsAsTheLastTime, "resets", "leaves other observations than in a new environment"),
    (ObservesTheOtherMasks, "resets", "returns other masks than its states have"),
    (StartsLate, "resets", r"keeps something of the episode before: .* room\[T\]"),
    (IgnoresSeeds, "draws", "the same actions lead to the same in episodes of 9 seeds: a game without chance"),
    (IgnoresSeedsInSteps, "draws", "the same in episodes of 9 seeds"),
    (ClaimsToBeDeterministic, "draws", "declares itself deterministic, but seeds 0 and 1 differ"),
]


@pytest.mark.parametrize(("game", "check", "sentence"), FAULTS, ids=[game.__name__ for game, _, _ in FAULTS])
def test_a_planted_fault_is_found(monkeypatch, game, check, sentence):
    find(monkeypatch, game, check, sentence)
