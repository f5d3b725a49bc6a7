"""Run folders go on after kills, repeated lines count once, and what follows from other fields is compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
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
    evaluate(plan, folder, workers=1, note=quiet)
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
        with Run(tmp_path / "new", config, quiet) as folder:
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
        Run(run, json.loads((run / CONFIG).read_text()), quiet)
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
    with Run(run, json.loads((run / CONFIG).read_text()), quiet) as folder, pytest.raises(RecordError) as caught:
        folder.append(record)
    assert text in str(caught.value) and "boiled_egg, episode 3: its record cannot be written" in str(caught.value)
    assert (run / RECORDS).read_bytes() == before and len(read_records(run)) == 3


def test_lines_are_written_as_they_are_read(run):
    for line in lines_of(run):
        assert dump_line(parse_record(line.decode().rstrip("\n"), "f")) == line
