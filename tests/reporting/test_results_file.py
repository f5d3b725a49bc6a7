"""Files of results: their rows, and what a check finds in rows and records that were changed."""

from __future__ import annotations

import json
import shutil

import pytest
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.reporting.results_file import check, read, write


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Two runs: a team in two settings, and another team with an option that changes the game."""
    folder = tmp_path_factory.mktemp("results")
    evaluate(
        "overcooked",
        folder / "runs" / "a",
        team="all=random",
        layouts="cramped_room,forced_coordination",
        max_cycles=9,
        workers=1,
    )
    evaluate("collab-capture", folder / "runs" / "b", team="agent_0=greedy all=random", episodes=2, workers=1)
    write([folder / "runs"], folder / "results.jsonl")
    return folder


def faults(file, sample=1):
    return [text for _, texts in check(file, sample, 0) for text in texts]


def test_a_row_for_each_team_and_setting_with_its_numbers_and_digests(played):
    rows = read(played / "results.jsonl")
    assert [(row.run, row.team, row.episodes) for row in rows] == [
        ("runs/a", ("random", "random"), 1),
        ("runs/a", ("random", "random"), 1),
        ("runs/b", ("greedy", "random"), 2),
        ("runs/b", ("random", "greedy"), 2),
    ]
    assert [row.setting.get("layout") for row in rows[:2]] == ["cramped_room", "forced_coordination"]
    assert [row.variant for row in rows] == ["max_cycles 9", "max_cycles 9", "", ""]
    success = rows[2].measures["success"]
    assert success.low <= success.mean <= success.high and rows[0].measures["return"].low is None
    assert {len(row.config) for row in rows} == {len(row.records) for row in rows} == {64}
    assert not faults(played / "results.jsonl")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda row: row["measures"]["return"].update(mean=7.5), "measures.return: 7.5 in the row, 0 by the records"),
        (lambda row: row["measures"].pop("return"), "measures.return: none in the row, 0 by the records"),
        (lambda row: row.update(episodes=2), "episodes: 2 in the row, 1 in the records"),
        (lambda row: row.update(team=["greedy", "random"]), "episodes: 1 in the row, 0 in the records"),
        (lambda row: row.update(records="0" * 64), "records.jsonl has changed since the row was written"),
        (lambda row: row.update(run="runs/c"), "config.json is missing"),
    ],
)
def test_a_row_that_was_changed_is_reported(played, change, text):
    rows = [json.loads(line) for line in (played / "results.jsonl").read_text().splitlines()]
    change(rows[0])
    (played / "changed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert text in faults(played / "changed.jsonl")[0]


def test_records_that_were_changed_do_not_replay(played, tmp_path):
    shutil.copytree(played, tmp_path / "copy")
    file = tmp_path / "copy" / "runs" / "b" / "records.jsonl"
    lines = file.read_text().splitlines()
    record = json.loads(lines[0])
    record["steps"][0]["rewards"][0] += 1.0
    file.write_text("\n".join([json.dumps(record), *lines[1:]]) + "\n")
    texts = faults(tmp_path / "copy" / "results.jsonl", sample=2)
    assert any("has changed since" in text for text in texts) and any("steps[0]" in text for text in texts)


def test_the_commands_write_and_check(played):
    out = played / "again.jsonl"
    written = CliRunner().invoke(app, ["score", str(played / "runs"), "--results", str(out)])
    assert written.exit_code == 0 and "4 rows" in written.output
    assert out.read_bytes() == (played / "results.jsonl").read_bytes()
    checked = CliRunner().invoke(app, ["score", str(out), "--check", "--sample", "0"])
    assert checked.exit_code == 0 and "4 of 4 rows agree with their records" in checked.output
    out.write_text(out.read_text().replace('"episodes":2', '"episodes":3'))
    checked = CliRunner().invoke(app, ["score", str(out), "--check"])
    assert checked.exit_code == 1 and "episodes: 3 in the row, 2 in the records" in checked.output


@pytest.mark.parametrize(
    ("text", "message"),
    [("{}", "line 1: suite is missing"), ('{"format": 3}', "line 1"), ("[", "line 1: is truncated or no JSON")],
)
def test_a_file_that_is_none_is_refused(tmp_path, text, message):
    (tmp_path / "results.jsonl").write_text(text)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "results.jsonl")
    with pytest.raises(ValueError, match="holds no run with"):
        write([tmp_path], tmp_path / "out.jsonl")
