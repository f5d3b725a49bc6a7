"""Faults in what PettingZoo's tests call: the checks find each one, and say where it lies."""

from __future__ import annotations

import pytest
from testing.planted import CannotBeDrawn, find

FAULTS = [(CannotBeDrawn, "render", "KeyError")]


@pytest.mark.parametrize(("game", "check", "sentence"), FAULTS, ids=[game.__name__ for game, _, _ in FAULTS])
def test_a_planted_fault_is_found(monkeypatch, game, check, sentence):
    find(monkeypatch, game, check, sentence)
