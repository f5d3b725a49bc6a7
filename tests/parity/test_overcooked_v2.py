"""The replays of JaxMARL's OvercookedV2: all agree, and a tampered recording does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.recordings import assert_found_out, changed, replay, up, write

from parity.report import read_recording

NAME = "golden_v2.jsonl.gz"


@pytest.fixture
def recordings(golden: Path) -> Path:
    return golden / "overcooked_v2"


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.nightly)])
def test_recording_replays_without_mismatch(recordings: Path, tmp_path: Path, every: int) -> None:
    episodes = read_recording(recordings / NAME).episodes[::every]
    write(tmp_path, NAME, episodes)
    report = replay(tmp_path / NAME)
    assert report.mismatches == 0, report.first
    assert report.share == 1.0 and not report.stops + report.passed
    assert report.compared == sum(len(game["steps"]) for game in episodes)


TAMPERINGS = {
    "a position": changed(["steps", 3, "agents", 0, 0], up),
    "a hand": changed(["steps", 40, "agents", 1, 3], lambda held: 0 if held else 1),
    "a cell": changed(["steps", 5, "grid"], lambda cells: [*cells, [0, 0, 1, 1, 0]]),
    "a reward": changed(["steps", 7, "r", 0], up),
    "a shaped reward": changed(["steps", 9, "shaped", 1], up),
    "the light": changed(["steps", 2, "light"], lambda light: not light),
    "an observation": changed(["obs0", 1, 16], lambda number: 1 - number),
    "a later observation": changed(["steps", 16, "obs", 0, 16], lambda number: 1 - number),
    "a kind of cell": changed(["grid0", 0, 0, 0], lambda kind: 4),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_a_tampered_recording_is_found_out(recordings: Path, tmp_path: Path, what: str) -> None:
    assert_found_out(recordings / NAME, tmp_path, TAMPERINGS[what])
