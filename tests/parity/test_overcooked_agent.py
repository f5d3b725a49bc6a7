"""Recorded decisions of LLM-Co's agents replay without a difference, and a changed field is noticed."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from support.covers import first

from parity.overcooked_agent import A1, FORMATS
from parity.report import Recording, read_recording

(DECISIONS,) = FORMATS


STEPS = {"golden_agent_more": 600, "golden_agent": 3000}  # of recorded decisions


@pytest.fixture(scope="module")
def recording(golden: Path) -> Recording:
    result = read_recording(golden / "llm_co" / "golden_agent.jsonl.gz")
    assert result is not None
    return result


@pytest.mark.slow
@pytest.mark.parametrize("name", first(list(STEPS)))
def test_all_recorded_decisions_replay(golden: Path, name: str) -> None:
    recording = read_recording(golden / "llm_co" / f"{name}.jsonl.gz")
    assert recording is not None
    report = DECISIONS.replay(recording)
    assert (report.mismatches, report.share, report.steps) == (0, 1.0, STEPS[name]), report.first
    assert set(report.passed) <= {A1} and not report.stops


def beginning(recording: Recording, layout: str, steps: int = 25) -> dict[str, Any]:
    episode = next(episode for episode in recording.episodes if episode["layout"] == layout)
    cut = copy.deepcopy({**episode, "steps": episode["steps"][:steps]})
    return {**cut, "score": sum(step["r"] for step in cut["steps"])}


@pytest.mark.parametrize("layout", ["cramped_room", "forced_coordination", "no_counter_door"])
def test_the_beginnings_replay(recording: Recording, layout: str) -> None:
    report = DECISIONS.replay(Recording(recording.path, [beginning(recording, layout)]))
    assert (report.mismatches, report.compared) == (0, 25), report.first


@pytest.mark.parametrize("change", ["distance", "menu", "primitive", "asked", "pots"])
def test_a_changed_field_is_noticed(recording: Recording, change: str) -> None:
    episode = beginning(recording, "cramped_room")
    step = episode["steps"][0]
    decision = step["q"][0]
    if change == "distance":
        decision["dist"]["c"][0][0] = "9"
    elif change == "menu":
        decision["avail"] = decision["avail"][1:]
    elif change == "primitive":
        step["ll"][0] = 4
    elif change == "asked":
        step["q"][1] = None
    else:
        decision["pots"][0][0] = 2
    assert DECISIONS.replay(Recording(recording.path, [episode])).mismatches == 1


def test_the_format_is_recognised(recording: Recording) -> None:
    assert DECISIONS.recognises(recording.first)
    assert not DECISIONS.recognises({"layout": "cramped_room", "s0": {}, "score": 0, "steps": []})
