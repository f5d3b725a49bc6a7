"""The replays of the public code's recordings: all agree, and a tampered recording does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.recordings import assert_found_out, changed, parity, replay, write

from parity.collab_overcooked import FORMATS, _verdict_deviation
from parity.report import Mismatch, Recording, read_recording

FILES = {
    "golden_traces.jsonl.gz": 0.8,
    "golden_ml.jsonl.gz": 1.0,
    "golden_interact.json.gz": 0.9,
    "golden_tes.json.gz": 1.0,
    "golden_eval.json.gz": 1.0,
}


@pytest.fixture
def recordings(golden: Path) -> Path:
    return golden / "collab_overcooked"


@pytest.mark.parametrize("name", FILES)
def test_recording_replays_without_mismatch(recordings: Path, name: str) -> None:
    report = replay(recordings / name)
    assert report.mismatches == 0, report.first
    assert report.share >= FILES[name]
    assert report.compared > 0


TAMPERINGS = {
    "position": ("golden_traces.jsonl.gz", changed(["steps", 4, "s", "pl", 1, "pos"], lambda p: [1, 3])),
    "facing": (
        "golden_traces.jsonl.gz",
        changed(["steps", 4, "s", "pl", 0, "dir"], lambda d: "S" if d != "S" else "N"),
    ),
    "held item": ("golden_traces.jsonl.gz", changed(["steps", 2, "s", "pl", 1, "held", "n"], lambda n: "egg")),
    "reward": ("golden_traces.jsonl.gz", changed(["steps", 1, "r"], lambda r: r + 20)),
    "order": ("golden_traces.jsonl.gz", changed(["steps", 0, "s", "orders", 0], lambda o: "boiled_egg")),
    "verdict": ("golden_ml.jsonl.gz", changed(["steps", 0, "v", 0, 0], lambda v: "OP_EMPTY")),
    "current action": ("golden_ml.jsonl.gz", changed(["steps", 1, "cur", 1], lambda c: "place_obj_on_counter()")),
    "history": ("golden_ml.jsonl.gz", changed(["history", 0, 0, "timestamp"], lambda t: t + 1)),
    "interact": ("golden_interact.json.gz", changed(["rows", 0, "out", "reward"], lambda r: 20)),
    "tes": ("golden_tes.json.gz", changed(["tes", 1, "f1"], lambda f: f + 1e-9)),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_tampered_recording_fails(recordings: Path, tmp_path: Path, what: str) -> None:
    name, tamper = TAMPERINGS[what]
    assert_found_out(recordings / name, tmp_path, tamper)


def _without_a_goal(recordings: Path) -> tuple[Recording, dict, int]:
    """Return an episode in which an action loses its goal, alone in a recording, and the number of that step."""
    recording = read_recording(recordings / "golden_ml.jsonl.gz")
    assert recording is not None
    for episode in recording.episodes:
        for number, step in enumerate(episode["steps"]):
            if step["no_goal"]:
                return Recording(recording.path, [episode]), episode, number
    raise AssertionError("no recorded action loses its goal")


def test_actions_without_a_goal_replay_under_the_recorded_side_of_the_coin(recordings: Path) -> None:
    recording, episode, number = _without_a_goal(recordings)
    (known,) = [known for known in FORMATS if known.recognises(episode)]
    report = known.replay(recording)
    assert (report.mismatches, report.compared, report.stops.total()) == (0, len(episode["steps"]), 0), report.first
    episode["steps"][number]["cur"] = ["place_obj_on_counter()"] * 2
    assert known.replay(recording).mismatches == 1


def test_tampered_evaluation_fails(recordings: Path, tmp_path: Path) -> None:
    def tamper(document) -> None:
        case = document["cases"][0].get("expected", document["cases"][0])
        number = next(key for key, value in case.items() if isinstance(value, float))
        case[number] += 1e-9

    assert_found_out(recordings / "golden_eval.json.gz", tmp_path, tamper)


def test_unknown_format_is_named_and_not_compared(tmp_path: Path) -> None:
    write(tmp_path, "other.jsonl.gz", [{"hello": 1}])
    code, printed = parity(tmp_path)
    assert code == 1
    assert "other.jsonl.gz: not compared" in printed


def test_truncated_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl").write_text('{"ep": 0}\n{"ep": ')
    with pytest.raises(ValueError, match=r"cut\.jsonl, line 2"):
        parity(tmp_path)


def test_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a directory"):
        parity(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="holds no recording"):
        parity(tmp_path)


@pytest.mark.parametrize(
    ("proposal", "actual", "reference", "kind"),
    [
        ("please cook(pot0)", "F_NOT_FUNCTION", "OP_EMPTY", "C1 words around a call"),
        ("wait(-1)", "F_WAIT_NUMBER", "ok", "C6 malformed wait accepted"),
        ("deliver()", "DELIVER_EMPTY_HANDED", "F_NOT_FUNCTION", "C9 deliver() unknown"),
        ("check_recipe()", "F_NOT_FUNCTION", "RECIPE_ALREADY", "C10 check_recipe"),
    ],
)
def test_verdicts_that_differ_on_purpose_are_named(proposal: str, actual: str, reference: str, kind: str) -> None:
    assert _verdict_deviation(proposal, actual, reference) == kind


@pytest.mark.parametrize(("actual", "reference"), [("OP_EMPTY", "ok"), ("OK", "OP_EMPTY"), ("PUT_FULL", "PUT_DISH")])
def test_verdicts_that_differ_without_reason_are_mismatches(actual: str, reference: str) -> None:
    with pytest.raises(Mismatch):
        _verdict_deviation("cook(pot0)", actual, reference)


@pytest.mark.parametrize("actual", ["PUT_FULL", "DELIVER_NOT_FINISHED", "FILL_UNREACHABLE", "PLACE_NO_COUNTER"])
def test_what_the_original_accepts_has_to_be_accepted(actual: str) -> None:
    with pytest.raises(Mismatch):
        _verdict_deviation("deliver_soup()", actual, "ok")
