"""Faults in masks and texts: the checks find each one, and say where it lies."""

from __future__ import annotations

import pytest
from testing.planted import AllowsEverything, NamesTwoAlike, ParsesNoCapitals, RefusesInSilence, find

FAULTS = [
    (NamesTwoAlike, "texts", "agent_0 has 2 actions with the text 'take'"),
    (AllowsEverything, "all_masks", "the mask of agent_0 allows action"),
    (RefusesInSilence, "masks", "forbids action"),
    (ParsesNoCapitals, "texts", "is parsed as another action"),
]


@pytest.mark.parametrize(("game", "check", "sentence"), FAULTS, ids=[game.__name__ for game, _, _ in FAULTS])
def test_a_planted_fault_is_found(monkeypatch, game, check, sentence):
    find(monkeypatch, game, check, sentence)
