"""Faults in events, pay and global states: the checks find each one, and say where it lies."""

from __future__ import annotations

import pytest
from testing.planted import (
    DropsWhenRefused,
    LeavesOutTheRoom,
    PaysForPuttingDown,
    PaysForTime,
    PaysInSilence,
    PaysLess,
    PaysNothing,
    PaysOneOnly,
    PaysTheOpposite,
    PaysTheOther,
    PaysTwice,
    SaysDelivered,
    find,
)

FAULTS = [
    (
        SaysDelivered,
        "events",
        r"events .*delivered.* pay \[[01].0, [01].0\] .* and \[[01].0, [01].0\] at .*: one of them",
    ),
    (PaysInSilence, "events", "one of them says something else than what happened"),
    (
        DropsWhenRefused,
        "events",
        r"agent_\d is refused .* and .*, but observations after them differ: one of them acts",
    ),
    (LeavesOutTheRoom, "global_state", r"state\(\) leaves out shelf, orders, served: add the array"),
    (PaysOneOnly, "pay", "agent_0 is paid 0.0, not 1.0 as declared, for events .*delivered"),
    (PaysTheOther, "pay", "agent_0 is paid 2.0, not 1.0 as declared"),
    (PaysTheOpposite, "pay", "agent_0 is paid -1.0, not 1.0 as declared"),
    (PaysTwice, "pay", "agent_0 is paid 2.0, not 1.0 as declared"),
    (PaysNothing, "pay", "agent_0 is paid 0.0, not 1.0 as declared"),
    (PaysLess, "pay", "as declared, for events .*delivered"),
    (PaysForPuttingDown, "pay", "is paid 1.0, not 0.0 as declared, for events .*put"),
    (PaysForTime, "pay", "agent_0 is paid -0.0"),
]


@pytest.mark.parametrize(("game", "check", "sentence"), FAULTS, ids=[game.__name__ for game, _, _ in FAULTS])
def test_a_planted_fault_is_found(monkeypatch, game, check, sentence):
    find(monkeypatch, game, check, sentence)
