"""The replays of the public code's recordings: all agree, and a tampered recording does not."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path

import pytest
from rich.console import Console

from collab_overcooked.evaluation.parity import run_parity, scan
from collab_overcooked.evaluation.parity.collab_overcooked import _verdict_deviation
from collab_overcooked.evaluation.parity.report import Deviation, Mismatch, read_recording

FILES = {
    "golden_traces.jsonl.gz": 0.8,
    "golden_ml.jsonl.gz": 0.8,
    "golden_interact.json.gz": 0.9,
    "golden_tes.json.gz": 1.0,
    "golden_eval.json.gz": 1.0,
}


@pytest.fixture
def recordings(golden: Path) -> Path:
    return golden / "collab_overcooked"


@pytest.mark.parametrize("name", FILES)
def test_recording_replays_without_mismatch(recordings: Path, name: str) -> None:
    (known,) = [known for recording, known in scan(recordings) if recording.path.name == name]
    report = known.replay(read_recording(recordings / name))
    print(
        f"{name}: {report.compared} of {report.steps} steps compared ({report.share:.1%}), stops {dict(report.stops)}"
    )
    assert report.mismatches == 0, report.first
    assert report.share >= FILES[name]
    assert report.compared > 0


def _first(recordings: Path, name: str, episodes: int = 1) -> list:
    return copy.deepcopy(read_recording(recordings / name).episodes[:episodes])


def _write(folder: Path, name: str, episodes: list) -> Path:
    path = folder / name
    with gzip.open(path, "wt") as file:
        file.write("\n".join(json.dumps(episode) for episode in episodes))
    return path


def _set(path: tuple, change):
    def tamper(document) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = change(document[path[-1]])

    return tamper


TAMPERINGS = {
    "position": ("golden_traces.jsonl.gz", _set((0, "steps", 4, "s", "pl", 1, "pos"), lambda p: [1, 3])),
    "facing": (
        "golden_traces.jsonl.gz",
        _set((0, "steps", 4, "s", "pl", 0, "dir"), lambda d: "S" if d != "S" else "N"),
    ),
    "held item": ("golden_traces.jsonl.gz", _set((0, "steps", 2, "s", "pl", 1, "held", "n"), lambda n: "egg")),
    "label": ("golden_traces.jsonl.gz", _set((0, "steps", 2, "ml", 1), lambda label: "pickup(egg, counter)")),
    "reward": ("golden_traces.jsonl.gz", _set((0, "steps", 1, "r"), lambda r: r + 20)),
    "action": ("golden_traces.jsonl.gz", _set((0, "steps", 2, "a", 1), lambda a: ".")),
    "time": ("golden_traces.jsonl.gz", _set((0, "steps", 9, "s", "t"), lambda t: t + 1)),
    "order": ("golden_traces.jsonl.gz", _set((0, "steps", 0, "s", "orders", 0), lambda o: "boiled_egg")),
    "error": ("golden_traces.jsonl.gz", _set((0, "steps", 3, "err"), lambda e: "pot0")),
    "verdict": ("golden_ml.jsonl.gz", _set((0, "steps", 0, "v", 0, 0), lambda v: "OP_EMPTY")),
    "low-level action": ("golden_ml.jsonl.gz", _set((0, "steps", 1, "a", 1), lambda a: "S")),
    "current action": ("golden_ml.jsonl.gz", _set((0, "steps", 1, "cur", 1), lambda c: "place_obj_on_counter()")),
    "history": ("golden_ml.jsonl.gz", _set((0, "history", 0, 0, "timestamp"), lambda t: t + 1)),
    "interact": ("golden_interact.json.gz", _set((0, "rows", 0, "out", "reward"), lambda r: 20)),
    "tes": ("golden_tes.json.gz", _set((0, "tes", 1, "f1"), lambda f: f + 1e-9)),
    "ites": ("golden_tes.json.gz", _set((0, "ites", 0, "ites"), lambda f: f + 1e-9)),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_tampered_recording_fails(recordings: Path, tmp_path: Path, what: str, capsys: pytest.CaptureFixture) -> None:
    name, tamper = TAMPERINGS[what]
    document = _first(recordings, name)
    _write(tmp_path, name, document)
    console = Console(width=400)
    assert run_parity(tmp_path, console) == 0, "the recording is fine before it is tampered with"
    tamper(document)
    _write(tmp_path, name, document)
    assert run_parity(tmp_path, console) == 1
    assert "first difference" in capsys.readouterr().out


def test_tampered_evaluation_fails(recordings: Path, tmp_path: Path) -> None:
    (document,) = _first(recordings, "golden_eval.json.gz")
    numbers = [
        key
        for key, value in document["cases"][0].get("expected", document["cases"][0]).items()
        if isinstance(value, float)
    ]
    case = document["cases"][0].get("expected", document["cases"][0])
    case[numbers[0]] += 1e-9
    _write(tmp_path, "golden_eval.json.gz", [document])
    assert run_parity(tmp_path, Console(width=400)) == 1


def test_unknown_format_is_named_and_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    _write(tmp_path, "other.jsonl.gz", [{"hello": 1}])
    assert run_parity(tmp_path, Console(width=400)) == 1
    assert "other.jsonl.gz: not compared" in capsys.readouterr().out


def test_truncated_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl").write_text('{"ep": 0}\n{"ep": ')
    with pytest.raises(ValueError, match=r"cut\.jsonl, line 2"):
        run_parity(tmp_path, Console())


def test_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a directory"):
        run_parity(tmp_path / "nowhere", Console())
    with pytest.raises(ValueError, match="holds no recording"):
        run_parity(tmp_path, Console())


@pytest.mark.parametrize(
    ("proposal", "ours", "theirs", "kind"),
    [
        ("please cook(pot0)", "F_NOT_FUNCTION", "OP_EMPTY", "C1 words around a call"),
        ("wait(-1)", "F_WAIT_NUMBER", "ok", "C6 malformed wait accepted"),
        ("deliver()", "DELIVER_EMPTY_HANDED", "F_NOT_FUNCTION", "C9 deliver() unknown"),
        ("check_recipe()", "F_NOT_FUNCTION", "RECIPE_ALREADY", "C10 check_recipe"),
    ],
)
def test_verdicts_that_differ_on_purpose_are_named(proposal: str, ours: str, theirs: str, kind: str) -> None:
    assert _verdict_deviation(proposal, ours, theirs) == kind


@pytest.mark.parametrize(("ours", "theirs"), [("OP_EMPTY", "ok"), ("OK", "OP_EMPTY"), ("PUT_FULL", "PUT_DISH")])
def test_verdicts_that_differ_without_reason_are_mismatches(ours: str, theirs: str) -> None:
    with pytest.raises(Mismatch):
        _verdict_deviation("cook(pot0)", ours, theirs)


def test_an_accepted_put_into_a_full_utensil_stops_the_replay() -> None:
    with pytest.raises(Deviation, match="E3"):
        _verdict_deviation("put_obj_in_utensil(pot0)", "PUT_FULL", "ok")
