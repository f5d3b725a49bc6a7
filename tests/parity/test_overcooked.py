"""The replays of the public Overcooked codes' recordings: all agree, and a tampered recording does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.recordings import assert_found_out, changed, replay, up

from parity.report import read_recording

TRACES, GATES = "golden_traces.jsonl.gz", "golden_traces_gates.jsonl.gz"
DIRECTED, DIRECTED_GATES = "golden_directed.jsonl.gz", "golden_directed_gates.jsonl.gz"


@pytest.fixture
def recordings(golden: Path) -> Path:
    return golden / "llm_co"


@pytest.mark.parametrize("name", [TRACES, GATES, DIRECTED, DIRECTED_GATES])
def test_recording_replays_without_mismatch(recordings: Path, name: str) -> None:
    report = replay(recordings / name)
    assert report.mismatches == 0, report.first
    assert report.share == 1.0
    assert not report.stops + report.passed
    assert report.compared == sum(len(episode["steps"]) for episode in read_recording(recordings / name).episodes)


def _first_with(key: str, change):
    """Change the first step that has an entry."""

    def tamper(episode) -> None:
        step = next(step for step in episode["steps"] if step.get(key))
        step[key] = change(step[key])

    return tamper


TAMPERINGS = {
    "where a player stands": (TRACES, changed(["steps", 9, "s", "p", 0, 0], up)),
    "what a player holds": (TRACES, changed(["steps", 9, "s", "p", 0, 3], lambda held: "dish")),
    "the start": (TRACES, changed(["s0", "p", 0, 1], up)),
    "an object": (TRACES, changed(["steps", 60, "s", "o"], lambda objects: [*objects, [0, 0, "onion"]])),
    "sparse reward of a player": (TRACES, changed(["steps", 9, "r", 1], lambda paid: 20)),
    "shaped reward of a player": (TRACES, changed(["steps", 9, "sh", 0], lambda paid: 3)),
    "whose shaped reward it is": (TRACES, _first_with("ev", lambda events: [[name, 1 - i] for name, i in events])),
    "an event too few": (TRACES, _first_with("ev", lambda events: events[1:])),
    "deliveries": (TRACES, changed(["deliveries"], up)),
    "dynamics": (TRACES, changed(["dyn"], lambda dynamics: "new")),
    "a gate's counter": (GATES, changed(["steps", 9, "s", "g", 1, 3], up)),
    "team reward": (GATES, changed(["steps", 9, "r"], lambda paid: 20)),
    "a directed case with gates": (DIRECTED_GATES, changed(["steps", 5, "s", "g", 0, 3], up)),
    "a missing key": (DIRECTED, changed(["steps", 0], lambda step: {"a": step["a"]})),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_a_tampered_recording_is_found_out(recordings: Path, tmp_path: Path, what: str) -> None:
    name, tamper = TAMPERINGS[what]
    assert_found_out(recordings / name, tmp_path, tamper)
