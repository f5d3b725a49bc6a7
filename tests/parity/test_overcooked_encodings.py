"""Recorded encodings of the public codes: equal to ours, but for what the one with gates hides."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from parity import scan
from parity.overcooked import G1
from parity.report import Recording

PLAIN, GATED = "golden_encodings.jsonl.gz", "golden_encodings_gates.jsonl.gz"
FILES = {PLAIN: (100, {}), GATED: (20, {G1: 4})}


@pytest.fixture(scope="module")
def recordings(golden: Path):
    result = scan(golden / "llm_co")
    return {recording.path.name: (recording, known) for recording, known in result if recording.path.name in FILES}


@pytest.mark.parametrize("name", FILES)
def test_recorded_encodings_are_ours(recordings, name: str) -> None:
    recording, known = recordings[name]
    report = known.replay(recording)
    pictures, deviations = FILES[name]
    assert report.mismatches == 0, report.first
    assert report.steps == report.compared == pictures
    assert report.passed == deviations


@pytest.mark.parametrize(("name", "key"), [(PLAIN, "lossless"), (PLAIN, "features"), (GATED, "lossless_with_gates")])
def test_tampered_encoding_is_found(recordings, name: str, key: str) -> None:
    recording, known = recordings[name]
    state = copy.deepcopy(recording.episodes[-1])
    if key == "features":
        state[key][1][30] += 1
    else:
        state[key][1][-1][-1] += 1
    assert known.replay(Recording(recording.path, [state])).mismatches == 1


def test_showing_what_the_original_hides_is_found(recordings) -> None:
    recording, known = recordings[GATED]
    (state,) = [state for state in recording.episodes if state["layout"] == "door_rect_room" and state["t"] == 50]
    displayed = copy.deepcopy(state)
    for picture in displayed["lossless_with_gates"]:
        picture.append([16, 3, 0, 1])  # the onion in the pot, while somebody holds soup
    report = known.replay(Recording(recording.path, [displayed]))
    assert report.mismatches == 1
    assert "(3, 0, 16, 1)" in report.first
