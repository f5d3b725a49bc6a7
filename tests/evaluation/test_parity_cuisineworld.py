"""The replays of the public CuisineWorld code's recordings: all agree, and a tampered recording does not."""

from __future__ import annotations

import copy
import gzip
import json
import math
from pathlib import Path

import pytest
from rich.console import Console

from collab_overcooked.evaluation.parity import run_parity, scan
from collab_overcooked.evaluation.parity.cuisineworld import NO_STATE, O22, O22_START, O34, TRACES, read_state
from collab_overcooked.evaluation.parity.report import Mismatch, read_recording

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
    (known,) = [known for recording, known in scan(recordings) if recording.path.name == name]
    assert known is not None
    report = known.replay(read_recording(recordings / name))
    share, deviations = FILES[name]
    assert report.mismatches == 0, report.first
    assert report.share >= share
    assert report.stops + report.passed == deviations


def _write(folder: Path, name: str, episodes: list) -> None:
    text = "\n".join(json.dumps(episode) for episode in episodes)
    if name.endswith(".gz"):
        with gzip.open(folder / name, "wt") as file:
            file.write(text)
    else:
        (folder / name).write_text(text)


def _set(path: tuple, change):
    def tamper(document) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = change(document[path[-1]])

    return tamper


def _up(value):
    return value + 1


def _ulp(value):
    return math.nextafter(value, math.inf)


TRACE, SCRIPT, RL, PRINT = TRACES, "golden_scripted.json.gz", "golden_rl.jsonl.gz", "appendix_h.json.gz"
STEP = (0, "steps", 9)
TAMPERINGS = {
    "reward, by its last bit": (TRACE, _set((*STEP, "reward"), _ulp)),
    "success list": (TRACE, _set((*STEP, "ok", 0), lambda ok: not ok)),
    "feedback": (TRACE, _set((*STEP, "feedback"), lambda lines: [*lines, "agent0 is tired"])),
    "suggestions": (TRACE, _set((*STEP, "suggestions"), lambda lines: ["put the waste into the storage"])),
    "counter": (TRACE, _set((*STEP, "counts", 3), _up)),
    "time": (TRACE, _set((*STEP, "t"), _up)),
    "timer": (TRACE, _set((*STEP, "timer"), _up)),
    "order's time": (TRACE, _set((*STEP, "tasks", 0, 1), _up)),
    "location": (TRACE, _set((*STEP, "agents", 0, 0), lambda place: "oven0")),
    "hand": (TRACE, _set((*STEP, "agents", 0, 1), lambda item: "pork" if item is None else None)),
    "busy": (TRACE, _set((*STEP, "locs", "blender0", 1), _up)),
    "ready": (TRACE, _set((*STEP, "locs", "blender0", 2), lambda ready: not ready)),
    "content": (TRACE, _set((*STEP, "locs", "blender0", 0), lambda content: "pork")),
    "accomplished": (TRACE, _set((*STEP, "accomplished"), _up)),
    "just failed": (TRACE, _set((*STEP, "just_failed"), lambda failed: not failed)),
    "just completed": (TRACE, _set((*STEP, "just_success"), lambda names: [*names, "cake"])),
    "an order completed": (TRACE, _set((*STEP, "success"), lambda done: not done)),
    "game over": (TRACE, _set((*STEP, "game_over"), lambda over: not over)),
    "drawn": (TRACE, _set((*STEP, "drawn"), lambda names: [*names, "salmonMeatcake"])),
    "all drawn": (TRACE, _set((0, "drawn_all"), lambda names: names[:-1])),
    "initial": (TRACE, _set((0, "initial", "timer"), _up)),
    "interval": (TRACE, _set((0, "task_interval"), _up)),
    "command": (TRACE, _set((0, "steps", 0, "actions", 0), lambda command: "goto_agent0_blender0")),
    "script": (SCRIPT, _set((0, 0, "steps", 3, "counts", 2), _up)),
    "numbers": (RL, _set((0, "obs", 0, 1), _up)),
    "mask": (RL, _set((0, "mask"), lambda mask: mask[:-1])),
    "code": (RL, _set((0, "decoded", 0), lambda text: "noop_agent0")),
    "RL reward": (RL, _set((0, "reward"), _ulp)),
    "RL orders": (RL, _set((0, "tasks", 0, 1), _up)),
    "names": ("golden_rl_meta.json", _set((0, "objects"), lambda names: names[1:])),
    "crash": ("golden_crashes.json", _set((0, 7, "agent_locations_after", 1), lambda place: "pan0")),
    "printed order": (PRINT, _set((0, "main", "steps", 4, "state", "tasks", 0, 1), _up)),
    "printed content": (PRINT, _set((0, "main", "steps", 9, "state", "locations", "pan0", "content"), lambda c: "egg")),
    "printed message": (PRINT, _set((0, "main", "steps", 6, "state", "error_messages"), lambda lines: [])),
    "printed reward": (PRINT, _set((0, "replay_on_original", "demo", "per_step", 1, "reward"), _up)),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_tampered_recording_fails(recordings: Path, tmp_path: Path, what: str, capsys: pytest.CaptureFixture) -> None:
    name, tamper = TAMPERINGS[what]
    document = copy.deepcopy(read_recording(recordings / name).episodes[:1])
    _write(tmp_path, name, document)
    console = Console(width=400)
    assert run_parity(tmp_path, console) == 0, "the recording is fine before it is tampered with"
    tamper(document)
    _write(tmp_path, name, document)
    assert run_parity(tmp_path, console) == 1
    assert "first difference" in capsys.readouterr().out


def test_tampered_list_fails(recordings: Path, tmp_path: Path) -> None:
    episodes = {episode["id"]: episode for episode in read_recording(recordings / TRACES).episodes}
    rows = read_recording(recordings / "golden_available.jsonl.gz").episodes
    row = copy.deepcopy(next(row for row in rows if row["id"] in episodes))
    _write(tmp_path, TRACES, [episodes[row["id"]]])
    _write(tmp_path, "golden_available.jsonl.gz", [row])
    assert run_parity(tmp_path, Console(width=400)) == 0
    row["actions"][0].pop()
    _write(tmp_path, "golden_available.jsonl.gz", [row])
    assert run_parity(tmp_path, Console(width=400)) == 1


def test_a_line_that_the_text_form_lacks_is_a_difference() -> None:
    with pytest.raises(Mismatch, match="no line"):
        read_state("-game state:\ncurrent mood: good")
