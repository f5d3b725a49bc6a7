"""Faults in scenes, ends and what seats may know: the checks find each one, and say where it lies."""

from __future__ import annotations

import pytest
from testing.planted import (
    BelievesAgainstKnowledge,
    BelievesNothing,
    BelievesTheTruth,
    BelievesWhatDrifts,
    DeclaresNoBelief,
    DescribesTheWreck,
    DescribesWhatDrifts,
    DropsAPart,
    LeavesOutWithoutBelief,
    MasksByTheWreck,
    MovesAfterTheEnd,
    ObservesTheWreck,
    PaysAfterTheEnd,
    ReadsAnotherPart,
    RefusesByTheWreck,
    ShowsTheWreck,
    ShowsWhatDrifts,
    find,
)

WRECK = r"of agent_1 depends on what it may not know \(wreck\)"
FAULTS = [
    (PaysAfterTheEnd, "end_is_final", r"a step after the end pays \[1.0, 1.0\]"),
    (MovesAfterTheEnd, "end_is_final", r"a step after the end changes the state, .*: .* couriers\[0, CELL\]"),
    (DropsAPart, "scenes", r"a scene does not restore its state at step .*: Planted-v0 has bay\[LAMP\] [12] before"),
    (ReadsAnotherPart, "scenes", r"a scene is refused by its own game, Planted-v0, .*state.served"),
    (ShowsTheWreck, "knowledge", f"the scene {WRECK}, at step 0 .*'wreck'"),
    (DescribesTheWreck, "knowledge", f"the text {WRECK}"),
    (RefusesByTheWreck, "knowledge", f"the refusal {WRECK}.*'3 act'"),
    (MasksByTheWreck, "knowledge", f"the mask {WRECK}"),
    (ObservesTheWreck, "knowledge", f"the observation {WRECK}"),
    (DeclaresNoBelief, "knowledge", "agent_1 has no belief .*: the scene part wreck is hidden from seat 1"),
    (LeavesOutWithoutBelief, "knowledge", "agent_1 has no belief of wreck: declare known_to= and belief="),
    (BelievesTheTruth, "knowledge", f"the belief {WRECK}"),
    (BelievesNothing, "knowledge", f"the belief {WRECK}"),
    (BelievesAgainstKnowledge, "knowledge", r"beliefs of agent_\d contradict what it knows.*'diver'"),
    (ShowsWhatDrifts, "knowledge", r"the observation of agent_1 .* \(what its scene leaves out\)"),
    (BelievesWhatDrifts, "knowledge", r"the belief of agent_1 .* \(what its scene leaves out\)"),
    (DescribesWhatDrifts, "knowledge", r"the text of agent_1 .* \(what its scene leaves out\)"),
]


@pytest.mark.parametrize(("game", "check", "sentence"), FAULTS, ids=[game.__name__ for game, _, _ in FAULTS])
def test_a_planted_fault_is_found(monkeypatch, game, check, sentence):
    find(monkeypatch, game, check, sentence)
