"""The replays of the released room games: all agree, and a tampered recording does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.recordings import assert_found_out, changed, replay, up

from parity.report import read_recording

CAPTURE, ESCAPE = "golden_capture.jsonl.gz", "golden_escape.jsonl.gz"


@pytest.fixture
def recordings(golden: Path) -> Path:
    return golden / "llm_co"


@pytest.mark.parametrize("name", [CAPTURE, ESCAPE])
def test_recording_replays_without_mismatch(recordings: Path, name: str) -> None:
    report = replay(recordings / name)
    assert report.mismatches == 0, report.first
    assert report.share == 1.0 and not report.stops + report.passed
    assert report.compared == sum(len(game["log"]) for game in read_recording(recordings / name).episodes)


TAMPERINGS = {
    "a room": (CAPTURE, changed(["log", 1, "post", 0], up)),
    "a door": (CAPTURE, changed(["log", 2, "doors", "1-2"], lambda state: "closed")),
    "a menu": (CAPTURE, changed(["log", 0, "opts", 1], lambda options: options[::-1])),
    "the killer's target": (ESCAPE, changed(["log", 0, "target"], lambda name: "Bob")),
    "whom it has seen": (ESCAPE, changed(["log", 0, "see", 1], lambda seen: 1 - seen)),
    "who worked": (ESCAPE, changed(["log", 2, "last_fix", 1], lambda works: 1 - works)),
    "the outcome": (ESCAPE, changed(["outcome"], lambda outcome: "loss")),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_a_tampered_recording_is_found_out(recordings: Path, tmp_path: Path, what: str) -> None:
    name, tamper = TAMPERINGS[what]
    assert_found_out(recordings / name, tmp_path, tamper)
