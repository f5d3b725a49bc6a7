"""Run folders go on after kills, repeated lines count once, and what follows from other fields is compared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.core.record import unpack
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.runner import run as writer
from collab_overcooked.runner.records import CONFIG, RECORDS, RecordError, dump_line, key_of, parse_record, read_records
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.run import Run


def quiet(_: str) -> None:
    """Note nothing."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    plan = plan_evaluation("collab-overcooked", ["all=random"], tasks=("boiled_egg",), gamma=1.0, episodes=3, seed=91)
    evaluate(plan, folder, workers=1)
    return folder


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    """Return a copy of a finished run."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name in (CONFIG, RECORDS):
        (folder / name).write_bytes((played / name).read_bytes())
    return folder


def lines_of(run: Path) -> list[bytes]:
    return (run / RECORDS).read_bytes().splitlines(keepends=True)


def write_lines(run: Path, lines: list[bytes]) -> None:
    (run / RECORDS).write_bytes(b"".join(lines))


# ------------------------------------------------------------------------------------------- kills


class Killed(Exception):
    """Stands for the end of the process."""


def cut_writer(monkeypatch: pytest.MonkeyPatch, writes: int, cut: int) -> None:
    """Let the process end in one of the writes to files, after some of its bytes."""
    count = iter(range(10**6))
    append, full = JournalFile.append_line, writer.write_atomic

    def dying_append(file: JournalFile, line: bytes) -> None:
        if next(count) == writes:
            append(file, line[: cut * len(line) // 2])
            raise Killed
        append(file, line)

    def dying_whole(path: Path, data: bytes) -> None:
        if next(count) == writes:
            raise Killed
        full(path, data)

    monkeypatch.setattr(JournalFile, "append_line", dying_append)
    monkeypatch.setattr(writer, "write_atomic", dying_whole)


@pytest.mark.parametrize("cut", [0, 1, 2])
@pytest.mark.parametrize("writes", range(6))
def test_a_run_that_was_killed_anywhere_goes_on(run, tmp_path, monkeypatch, writes, cut):
    config, parsed = json.loads((run / CONFIG).read_text()), read_records(run)
    keys = [key_of(record) for record in parsed]

    def play() -> None:
        with Run(tmp_path / "new", config) as folder:
            for record in reversed(parsed):
                if key_of(record) not in folder.results:
                    folder.append(record)
            folder.finish(keys)

    with monkeypatch.context() as patch:
        cut_writer(patch, writes, cut)
        with pytest.raises(Killed):
            play()
            raise Killed  # there were fewer writes
    play()
    assert read_records(tmp_path / "new") == parsed
    assert (tmp_path / "new" / RECORDS).read_bytes() == (run / RECORDS).read_bytes()


# ------------------------------------------------------------------------------------------- redundant fields


DERIVED = {
    "task": ({"task": "potato_soup"}, "task"),
    "level": ({"level": 6}, "level"),
    "success": ({"success": True}, "success"),
    "timesteps": ({"timesteps": 3}, "timesteps"),
    "history": ({"history": [[{"timestamp": 1, "action": "deliver()"}], []]}, "history"),
    "max_cycles": ({"max_cycles": 99}, "max_cycles"),
}


def refused_because(record: dict[str, Any]) -> str:
    """Return why a record is refused when it is read, or else when it is replayed."""
    try:
        parsed = parse_record(json.dumps(record), "f")
    except RecordError as error:
        return str(error)
    return first_difference(parsed) or ""


@pytest.mark.parametrize("name", DERIVED)
def test_fields_that_follow_from_others_are_compared(run, name):
    record = json.loads(lines_of(run)[0])
    change, text = DERIVED[name]
    assert record["success"] is False and refused_because(record) == ""
    assert text in refused_because(record | change)


def test_gamma_and_metrics_are_compared(run):
    record = json.loads(lines_of(run)[0])
    other = record | {"env_kwargs": record["env_kwargs"] | {"gamma": 3.0}}
    assert "max_cycles" in refused_because(other)
    for name, value in record["metrics"].items():
        if isinstance(value, int | float):
            for less_or_more in (value + 1, value * 1.001 + 1e-6, value - 1e-6):
                changed = record | {"metrics": record["metrics"] | {name: less_or_more}}
                assert f"metrics.{name}" in refused_because(changed)
            rounded = record | {"metrics": record["metrics"] | {name: value + 1e-13}}
            assert refused_because(rounded) == "", "sums in another order differ in their last digits"


# ------------------------------------------------------------------------------------------- duplicates


def test_contradicting_duplicates_are_refused_alike_and_equal_ones_count_once(run, tmp_path):
    lines = lines_of(run)
    write_lines(run, [*lines, lines[0]])
    assert len(read_records(run)) == 3
    other = json.loads(lines[0])
    other["team"]["agent_0"] = "planner"
    write_lines(run, [*lines, json.dumps(other).encode() + b"\n"])
    with pytest.raises(RecordError, match=r"line 4: contradicts line 1 about the same episode"):
        read_records(run)
    for text in (["score", run], ["report", run], ["replay", run, "--check"], ["score", "--compare", run]):
        result = CliRunner().invoke(app, list(map(str, text)))
        assert result.exit_code == 2 and "contradicts" in result.output, text
    with pytest.raises(RecordError, match="contradicts"):
        Run(run, json.loads((run / CONFIG).read_text()))
    loose = tmp_path / "both.jsonl"  # episodes of two teams in one file are different ones
    loose.write_bytes(b"".join([*lines, json.dumps(other).encode() + b"\n"]))
    assert len(read_records(loose)) == 4


# ------------------------------------------------------------------------------------------- writers


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"seed": -1}, "seed"),
        ({"metrics": {"x": float("nan")}}, "metrics.x"),
        ({"metrics": {"x": object()}}, "JSON"),
        ({"accounts": {"agent_0": {"prompt_tokens": 10**13}}}, "accounts"),
    ],
)
def test_what_the_reader_refuses_is_not_written(run, change, text):
    record = read_records(run)[0].replace(episode=3, **change)
    before = (run / RECORDS).read_bytes()
    with Run(run, json.loads((run / CONFIG).read_text())) as folder, pytest.raises(RecordError) as caught:
        folder.append(record)
    assert text in str(caught.value) and "boiled_egg, episode 3: its record cannot be written" in str(caught.value)
    assert (run / RECORDS).read_bytes() == before and len(read_records(run)) == 3


def test_lines_are_written_as_they_are_read(run):
    for line in lines_of(run):
        assert dump_line(parse_record(line.decode().rstrip("\n"), "f")) == line


@pytest.mark.parametrize("cut", [1, 40, 3000])
def test_a_killed_run_goes_on_and_ends_the_same(tmp_path, random_run, two_randoms, cut, caplog):
    full = (random_run / "records.jsonl").read_bytes()
    folder = tmp_path / "killed"
    folder.mkdir()
    (folder / "config.json").write_bytes((random_run / "config.json").read_bytes())
    (folder / "records.jsonl").write_bytes(full[:-cut])
    plan = plan_evaluation(
        "collab-overcooked", two_randoms, tasks=["boiled_egg", "baked_pumpkin_slices"], episodes=2, seed=3
    )
    played = []
    evaluate(plan, folder, workers=1, progress=lambda done, total, _: played.append((done, total)))
    assert (folder / "records.jsonl").read_bytes() == full
    assert played == [(4, 4)]
    assert "dropped an unfinished last line" in caplog.messages[0]
    assert "3 of 4 episodes are there" in caplog.messages[1]


def test_a_finished_run_is_not_played_again(tmp_path, random_run, two_randoms):
    folder = tmp_path / "done"
    folder.mkdir()
    for name in ("config.json", "records.jsonl"):
        (folder / name).write_bytes((random_run / name).read_bytes())
    plan = plan_evaluation(
        "collab-overcooked", two_randoms, tasks=["boiled_egg", "baked_pumpkin_slices"], episodes=2, seed=3
    )
    played = []
    records = evaluate(plan, folder, workers=1, progress=lambda *state: played.append(state))
    assert len(records) == 4
    assert not played


def test_a_damaged_line_in_the_middle_is_not_passed_over(tmp_path, random_run):
    lines = (random_run / "records.jsonl").read_bytes().splitlines(keepends=True)
    config = json.loads((random_run / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "records.jsonl").write_bytes(lines[0] + lines[1][:50] + b"\n" + lines[2])
    with pytest.raises(RecordError, match=r"records\.jsonl, line 2: is truncated"):
        Run(tmp_path, config)


def test_a_folder_played_with_another_file_of_the_same_name_says_so(tmp_path, random_run):
    config = json.loads((random_run / "config.json").read_text()) | {"plugins": {"a.npz": "sha256:0123456789abcdef"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"holds a run of another a\.npz, which has changed since; choose another"):
        Run(tmp_path, config | {"plugins": {"a.npz": "sha256:fedcba9876543210"}})


@pytest.mark.parametrize(
    ("field", "value"),
    [("seed", 4), ("episodes", 9), ("team", {"agent_0": "greedy"}), ("options", {"gamma": 2.0}), ("added", 1)],
)
def test_a_folder_with_another_configuration_is_refused(random_run, field, value):
    config = json.loads((random_run / "config.json").read_text())
    before = (random_run / "records.jsonl").read_bytes()
    with pytest.raises(ValueError, match=f"another configuration: {field} was .*; choose another folder"):
        Run(random_run, config | {field: value})
    assert (random_run / "records.jsonl").read_bytes() == before


def test_a_run_of_another_version_of_the_package_is_continued(tmp_path, random_run, random_records, caplog):
    config = json.loads((random_run / "config.json").read_text())
    shutil.copytree(random_run, tmp_path / "run")
    with Run(tmp_path / "run", config | {"version": "9.9.9"}) as run:
        assert list(map(unpack, run.results.values())) == random_records
    assert (
        len(caplog.messages) == 1
        and f"begun with version {config['version']} of the package, continued with 9.9.9" in caplog.messages[0]
    )


def test_records_without_a_configuration_are_left_alone(tmp_path, random_run):
    (tmp_path / "records.jsonl").write_bytes((random_run / "records.jsonl").read_bytes())
    with pytest.raises(ValueError, match=r"holds records\.jsonl but no config\.json"):
        Run(tmp_path, {"seed": 0})


def test_an_episode_that_is_there_twice_must_be_the_same(tmp_path, random_run, random_records):
    lines = (random_run / "records.jsonl").read_bytes().splitlines(keepends=True)
    config = json.loads((random_run / "config.json").read_text())
    (tmp_path / "config.json").write_bytes((random_run / "config.json").read_bytes())
    (tmp_path / "records.jsonl").write_bytes(b"".join([*lines, lines[0]]))
    with Run(tmp_path, config) as folder:
        assert list(map(unpack, folder.results.values())) == random_records
    other = dump_line(random_records[0].replace(success=not random_records[0].success))
    (tmp_path / "records.jsonl").write_bytes(b"".join([*lines, other]))
    with pytest.raises(RecordError, match=rf"line {len(lines) + 1}: contradicts line 1 about the same episode"):
        Run(tmp_path, config)


def test_records_are_on_disk_as_soon_as_they_are_made(tmp_path, random_records):
    with Run(tmp_path, {"seed": 0}) as folder:
        for count, record in enumerate(random_records, start=1):
            folder.append(record)
            assert len(read_records(tmp_path)) == count
