"""The replays of the public CuisineWorld code's recordings: all agree, and a tampered recording does not."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import pytest
from support.recordings import assert_found_out, changed, parity, replay, up, write

from parity.cuisineworld import NO_STATE, O22, O22_START, O34, TRACES, read_state
from parity.report import Mismatch, read_recording

# Share that is compared, and the listed deviations that are met.
FILES = {
    "golden_traces.jsonl.gz": (1.0, {}),
    "golden_scripted.json.gz": (1.0, {}),
    "golden_crashes.json": (1.0, {O22: 8, O22_START: 3}),
    "golden_available.jsonl.gz": (0.25, {NO_STATE: 338}),  # most lists belong to episodes that were not recorded
    "golden_rl.jsonl.gz": (1.0, {}),
    "golden_rl_meta.json": (1.0, {}),
    "appendix_h.json.gz": (1.0, {O34: 1}),
}


@pytest.fixture
def recordings(golden: Path) -> Path:
    return golden / "cuisineworld"


@pytest.mark.parametrize("name", FILES)
def test_recording_replays_without_mismatch(recordings: Path, name: str) -> None:
    report = replay(recordings / name)
    share, deviations = FILES[name]
    assert report.mismatches == 0, report.first
    assert report.share >= share
    assert report.stops + report.passed == deviations


def test_scripted_case_plays_on_past_its_own_end_and_is_over_once(recordings: Path, tmp_path: Path) -> None:
    """The flag belongs to the step after ``max_steps``, whatever that is and however long the recording goes on."""
    (case,) = [case for case in read_recording(recordings / SCRIPT).first if case["name"] == "stockpile"]
    over = [number for number, step in enumerate(case["steps"]) if step["game_over"]]
    assert over == [case["max_steps"]] == [60] and len(case["steps"]) == 66
    shorter = {**case, "max_steps": 20, "steps": [{**step, "game_over": step["t"] == 21} for step in case["steps"]]}
    write(tmp_path, "shorter.json", [[shorter]])
    assert replay(tmp_path / "shorter.json").mismatches == 0
    never = {**shorter, "steps": [{**step, "game_over": False} for step in case["steps"]]}
    write(tmp_path, "never.json", [[never]])
    assert "game over: ours True" in replay(tmp_path / "never.json").first


def _ulp(value):
    return math.nextafter(value, math.inf)


TRACE, SCRIPT, RL, PRINT = TRACES, "golden_scripted.json.gz", "golden_rl.jsonl.gz", "appendix_h.json.gz"
STEP = ("steps", 9)
TAMPERINGS = {
    "reward, by its last bit": (TRACE, changed([*STEP, "reward"], _ulp)),
    "success list": (TRACE, changed([*STEP, "ok", 0], lambda ok: not ok)),
    "feedback": (TRACE, changed([*STEP, "feedback"], lambda lines: [*lines, "agent0 is tired"])),
    "counter": (TRACE, changed([*STEP, "counts", 3], up)),
    "time": (TRACE, changed([*STEP, "t"], up)),
    "order's time": (TRACE, changed([*STEP, "tasks", 0, 1], up)),
    "location": (TRACE, changed([*STEP, "agents", 0, 0], lambda place: "oven0")),
    "content": (TRACE, changed([*STEP, "locs", "blender0", 0], lambda content: "pork")),
    "just completed": (TRACE, changed([*STEP, "just_success"], lambda names: [*names, "cake"])),
    "drawn": (TRACE, changed([*STEP, "drawn"], lambda names: [*names, "salmonMeatcake"])),
    "initial": (TRACE, changed(["initial", "timer"], up)),
    "command": (TRACE, changed(["steps", 0, "actions", 0], lambda command: "goto_agent0_blender0")),
    "script": (SCRIPT, changed([0, "steps", 3, "counts", 2], up)),
    "numbers": (RL, changed(["obs", 0, 1], up)),
    "mask": (RL, changed(["mask"], lambda mask: mask[:-1])),
    "code": (RL, changed(["decoded", 0], lambda text: "noop_agent0")),
    "RL reward": (RL, changed(["reward"], _ulp)),
    "names": ("golden_rl_meta.json", changed(["objects"], lambda names: names[1:])),
    "crash": ("golden_crashes.json", changed([7, "agent_locations_after", 1], lambda place: "pan0")),
    "printed content": (PRINT, changed(["main", "steps", 9, "state", "locations", "pan0", "content"], lambda c: "egg")),
    "printed message": (PRINT, changed(["main", "steps", 6, "state", "error_messages"], lambda lines: [])),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_tampered_recording_fails(recordings: Path, tmp_path: Path, what: str) -> None:
    name, tamper = TAMPERINGS[what]
    assert_found_out(recordings / name, tmp_path, tamper)


def test_tampered_list_fails(recordings: Path, tmp_path: Path) -> None:
    episodes = {episode["id"]: episode for episode in read_recording(recordings / TRACES).episodes}
    rows = read_recording(recordings / "golden_available.jsonl.gz").episodes
    row = copy.deepcopy(next(row for row in rows if row["id"] in episodes))
    write(tmp_path, TRACES, [episodes[row["id"]]])
    write(tmp_path, "golden_available.jsonl.gz", [row])
    assert parity(tmp_path)[0] == 0
    row["actions"][0].pop()
    write(tmp_path, "golden_available.jsonl.gz", [row])
    assert parity(tmp_path)[0] == 1


def test_a_line_that_the_text_form_lacks_is_a_difference() -> None:
    with pytest.raises(Mismatch, match="no line"):
        read_state("-game state:\ncurrent mood: good")
