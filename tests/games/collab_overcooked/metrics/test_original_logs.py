from __future__ import annotations

import copy
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked.games.collab_overcooked.engine.config import steps_allowed
from collab_overcooked.games.collab_overcooked.suite.collaboration import (
    CollaborationRun,
    PlanConversation,
    PlanMessage,
    kitchen_vocabularies,
)
from collab_overcooked.games.collab_overcooked.suite.run_scores import apply_time_limit
from collab_overcooked.games.collab_overcooked.suite.tables import scorecard
from parity import original_logs
from parity.original_evaluation import (
    score_original_case,
    score_original_ites_row,
    score_original_max_row,
    score_original_tes_row,
)
from parity.original_logs import GAMMA, LogError, find_logs, original_run, read_original_log, score_logs

ROOT = Path(__file__).resolve().parents[4]
TOLERANCE = 1e-12
SPEECH = {"agent": 0, "analysis": "-", "say": "hi", "plan": "request('cut(chopping_board0)')"}
ANSWER = {"agent": 1, "analysis": "-", "say": "ok", "plan": "cut(chopping_board0)"}


def step(t: int, chef: list[dict[str, Any]], helper: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "timestamp": t,
        "order_list": ["boiled_egg"],
        "actions": ["stay", "stay"],
        "map": "",
        "statistical_data": {"score": 0},
        "content": {"observation": ["", ""], "reflection": ["", ""], "content": [chef, helper], "action_list": []},
    }


LOG: dict[str, Any] = {
    "total_timestamp": [0, 1, 2],
    "total_order_finished": ["boiled_egg"],
    "total_score": 20,
    "total_action_list": [
        [{"timestamp": 2, "action": "deliver_soup()"}],
        [{"timestamp": 1, "action": "cut(chopping_board0)"}],
    ],
    "content": [step(0, [SPEECH, ANSWER], []), step(1, [], [ANSWER, SPEECH]), step(2, [], [])],
}


def difference(result: Any, recorded: Any, where: str = "") -> float:
    """Largest numeric difference; any other difference fails at once."""
    if isinstance(recorded, dict):
        assert result.keys() == recorded.keys(), where
        return max((difference(result[k], recorded[k], f"{where}.{k}") for k in recorded), default=0.0)
    if isinstance(recorded, list):
        assert len(result) == len(recorded), where
        return max(
            (difference(f, r, f"{where}[{i}]") for i, (f, r) in enumerate(zip(result, recorded, strict=True))),
            default=0.0,
        )
    if isinstance(recorded, int | float) and not isinstance(recorded, bool):
        assert result == pytest.approx(recorded, abs=TOLERANCE, rel=0), where
        return abs(result - recorded)
    assert result == recorded, where
    return 0.0


def test_recorded_tes_of_the_original(golden_tes: dict) -> None:
    assert len(golden_tes["tes"]) >= 100
    for row in golden_tes["tes"]:
        score = score_original_tes_row(row, golden_tes["beta"])
        difference(score, {key: row[key] for key in ("tp", "ea", "f1")}, row["id"])


def test_recorded_maxima_of_the_original(golden_tes: dict, paper_references: dict) -> None:
    assert len(golden_tes["tes_max_over_references"]) >= 24
    for row in golden_tes["tes_max_over_references"]:
        score = score_original_max_row(row, paper_references[row["task"]])
        difference(score, {key: row[key] for key in ("tp", "ea", "f1")}, row["task"])


def test_recorded_ites_of_the_original(golden_tes: dict, paper_references: dict) -> None:
    assert len(golden_tes["ites"]) >= 60
    for row in golden_tes["ites"]:
        score = score_original_ites_row(row, paper_references[row["task"]])
        difference(score, {key: row[key] for key in ("ites", "tes_before", "tes_after")}, row["task"])


def test_recorded_evaluation_of_the_original(
    golden_cases: list, paper_references: dict, paper_foods: list[str]
) -> None:
    text = kitchen_vocabularies(paper_foods)
    assert sum(len(case["events"]) for case in golden_cases) >= 61
    for case in golden_cases:
        result = score_original_case(case, paper_references[case["task"]], text)
        difference(result, {key: case[key] for key in ("task", "error", "events", "expected")}, case["task"])


def test_a_tampered_recording_differs(golden_cases: list, paper_references: dict, paper_foods: list[str]) -> None:
    text = kitchen_vocabularies(paper_foods)
    case = copy.deepcopy(golden_cases[0])
    case["logs"][0]["history"][1].append({"timestamp": 6, "action": "place_obj_on_counter()"})
    result = score_original_case(case, paper_references[case["task"]], text)
    with pytest.raises(AssertionError):
        difference(result, {key: case[key] for key in ("events", "expected", "task", "error")})


def test_a_log_becomes_a_run() -> None:
    assert original_run(LOG) == CollaborationRun(
        history=(((2, "deliver_soup()"),), ((1, "cut(chopping_board0)"),)),
        conversations=(
            PlanConversation(0, (PlanMessage(0, "hi", SPEECH["plan"]), PlanMessage(1, "ok", "cut(chopping_board0)"))),
            PlanConversation(1, (PlanMessage(1, "ok", "cut(chopping_board0)"), PlanMessage(0, "hi", SPEECH["plan"]))),
        ),
        success=True,
        timesteps=3,
    )


def test_agents_may_be_keyed_by_number() -> None:
    keyed = copy.deepcopy(LOG)
    for holder, key in ((keyed, "total_action_list"), *((s["content"], "content") for s in keyed["content"])):
        holder[key] = {"1": holder[key][1], "0": holder[key][0]}
    assert original_run(keyed) == original_run(LOG)


@pytest.mark.parametrize(("finished", "success"), [([], False), (0, False), (1, True), (["x"], True)])
def test_success_is_a_finished_order(finished: Any, success: bool) -> None:
    assert original_run(LOG | {"total_order_finished": finished}).success is success


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["total_timestamp"], 3, r"total_timestamp must be a list of entries, for example \[3\], not 3"),
        (["total_timestamp", 1], 0, r"total_timestamp\[1\]: 0 follows 0, the file holds several runs"),
        (["total_timestamp", 1], "1", r"total_timestamp\[1\] must be an integer, not '1'"),
        (["total_order_finished"], "yes", "total_order_finished must be a list or a number, not 'yes'"),
        (["total_action_list"], {"a": [], "b": []}, "total_action_list must be a list of agents, not"),
        (["total_action_list"], [[]], "total_action_list lists 1 agents; it must list at least 2"),
        (["total_action_list", 0, 0, "action"], None, r"total_action_list\[0\]\[0\].action must be a text, not None"),
        (["content", 1, "content"], None, r"content\[1\].content must be a mapping, not None"),
        (["content", 0, "content", "content", 0, 1, "agent"], 2, r"content\[0\].content.content\[0\]\[1\].agent"),
        (["content", 0, "content", "content", 0, 0, "plan"], 1, r"content\[0\].content.content\[0\]\[0\].plan"),
    ],
)
def test_malformed_logs_name_file_and_field(tmp_path: Path, path: list[Any], value: Any, message: str) -> None:
    log = copy.deepcopy(LOG)
    place: Any = log
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    file = tmp_path / "run.json"
    file.write_text(json.dumps(log))
    with pytest.raises(LogError, match=f"run.json: {message}"):
        read_original_log(file)


@pytest.mark.parametrize("field", ["total_timestamp", "total_order_finished", "total_action_list", "content"])
def test_a_missing_field_is_named(field: str) -> None:
    with pytest.raises(LogError, match=f"log: {field} is missing"):
        original_run({key: value for key, value in LOG.items() if key != field})


def test_a_log_that_is_no_object() -> None:
    with pytest.raises(LogError, match=r"log: must be a mapping, not \[\]"):
        original_run([])


def test_truncated_and_absent_files_are_named(tmp_path: Path) -> None:
    text = json.dumps(LOG)
    short = tmp_path / "short.json"
    short.write_text(text[: len(text) // 2])
    with pytest.raises(LogError, match=r"short.json: is truncated or no JSON: .* line 1, column"):
        read_original_log(short)
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(text.encode())[:-12])
    with pytest.raises(LogError, match=r"packed.json.gz: is truncated"):
        read_original_log(packed)
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LogError, match=r"binary.json: cannot be read"):
        read_original_log(binary)
    corrupt = tmp_path / "corrupt.json.gz"
    data = bytearray(gzip.compress(text.encode()))
    data[10:14] = b"\xff\xff\xff\xff"
    corrupt.write_bytes(bytes(data))
    with pytest.raises(LogError, match=r"corrupt.json.gz: cannot be read"):
        read_original_log(corrupt)
    with pytest.raises(LogError, match=r"absent.json: cannot be read"):
        read_original_log(tmp_path / "absent.json")


def test_limits_of_the_six_levels() -> None:
    assert [steps_allowed(t, GAMMA) for t in (16, 23, 35, 32, 55, 64)] == [24, 34, 52, 48, 82, 96]


def limited(timesteps: int, success: bool = True) -> CollaborationRun:
    history = (tuple((t, "a()") for t in (1, 23, 24, 25)), ())
    talks = tuple(PlanConversation(t, (PlanMessage(0, "hi", ""),)) for t in (0, 23, 24))
    return apply_time_limit(CollaborationRun(history, talks, success, timesteps), 24)


def test_delivery_at_index_limit_still_counts() -> None:
    run = limited(25)  # the last step has index 24
    assert (run.success, run.timesteps, len(run.history[0]), len(run.conversations)) == (True, 25, 4, 3)


@pytest.mark.parametrize("run", [limited(26), limited(120, success=False)])
def test_late_and_failed_runs_are_cut(run: CollaborationRun) -> None:
    assert (run.success, run.timesteps) == (False, 24)
    assert [t for t, _ in run.history[0]] == [1, 23]
    assert [talk.timestep for talk in run.conversations] == [0, 23]


def test_a_short_failed_run_keeps_its_length() -> None:
    assert limited(7, success=False).timesteps == 7


@pytest.mark.parametrize(("silent", "first_empty"), [([0], True), ([1], False), ([0, 1], True)])
def test_codes_by_run_are_shifted_as_in_the_original(
    golden_cases: list, paper_references: dict, paper_foods: list[str], silent: list[int], first_empty: bool
) -> None:
    """M6: runs without events have no list, but the first one's empty list stays in front."""
    case = copy.deepcopy(golden_cases[0])
    kept = [codes for run, codes in enumerate(case["expected"]["process_result"]) if run not in silent]
    for run in silent:
        case["logs"][run]["events"] = []
    result = score_original_case(case, paper_references[case["task"]], kitchen_vocabularies(paper_foods))
    assert result["expected"]["process_result"] == ([[], *kept] if first_empty else kept)


def original_log(delivered_at, requests="request('pickup(egg,ingredient_dispenser)')"):
    def messages(t):
        opened = [{"agent": 0, "analysis": "", "say": "egg please", "plan": requests}] if t == 0 else []
        return {"timestamp": t, "content": {"content": [opened, []]}}

    return {
        "total_timestamp": list(range(delivered_at + 1)),
        "total_order_finished": ["boiled_egg"],
        "total_score": 20,
        "total_action_list": [[{"timestamp": delivered_at, "action": "deliver_soup()"}], []],
        "content": [messages(t) for t in range(delivered_at + 1)],
    }


@pytest.mark.parametrize(("delivered_at", "success"), [(24, 1.0), (25, 0.0)])
def test_logs_of_the_original_are_scored_under_its_time_limit(tmp_path, delivered_at, success):
    folder = tmp_path / "model" / "boiled_egg"
    folder.mkdir(parents=True)
    (folder / "experiment_1.json").write_text(json.dumps(original_log(delivered_at)))
    table = score_logs(find_logs(tmp_path / "model"))
    assert (table.levels[0].name, table.levels[0].value("success_rate").value) == ("1", success)
    assert table.levels[0].value("ic").value == 1.0
    assert "logs of the original" in scorecard(table).markdown()


def test_a_log_without_a_task_in_its_name_needs_one(tmp_path):
    log = tmp_path / "log.json"
    log.write_text(json.dumps(original_log(10)))
    with pytest.raises(ValueError, match="--task"):
        score_logs([log])
    table = score_logs([log], task="boiled_egg", gamma=2.0)
    assert len(table.levels[0].episodes) == 1
    assert scorecard(table).title == "logs of the original, kitchen paper, gamma 2"


def test_the_command_scores_the_logs_of_a_folder(tmp_path):
    def score(*words):
        command = [sys.executable, "-m", "parity.original_logs", *map(str, words)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    (tmp_path / "log.json").write_text(json.dumps(original_log(30)))
    for gamma, success in ((1.5, "0.0"), (2, "100.0")):
        done = score(tmp_path, "--task", "boiled_egg", "--gamma", gamma)
        assert done.returncode == 0, done.stderr
        assert f"logs of the original, kitchen paper, gamma {gamma}" in done.stdout and success in done.stdout
    assert "say which with --task" in score(tmp_path).stderr
    (tmp_path / "none").mkdir()
    assert "holds no logs of the original" in score(tmp_path / "none").stderr


def test_run_folders_and_records_hold_no_logs(tmp_path):
    (tmp_path / "records.jsonl").write_text("")
    (tmp_path / "config.json").write_text("{}")
    assert find_logs(tmp_path) == find_logs(tmp_path / "records.jsonl") == []


@pytest.mark.parametrize(
    ("text", "message"), [("[" * 100_000, "nested too deep"), (" " * 1001, "unpacks to more than")]
)
def test_logs_of_the_original_are_not_read_without_end(text, message, tmp_path, monkeypatch):
    monkeypatch.setattr(original_logs, "MAX_CHARACTERS", 1000 if "unpacks" in message else 10**6)
    path = tmp_path / "log.json.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(ValueError, match=f"log.json.gz: .*{message}"):
        score_logs([path], task="boiled_egg")
