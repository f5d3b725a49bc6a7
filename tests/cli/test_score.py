"""``score`` and ``report`` of a run."""

from __future__ import annotations

import json

from support.cli_runner import run


def test_score_gives_the_table_of_the_run(finished):
    folder, done = finished
    again = run("score", folder)
    assert again.exit_code == 0
    assert again.stdout.strip() in done.stdout
    written = run("score", folder / "records.jsonl", "--format", "markdown", "--denominator", "required").stdout
    assert "| Level | Runs | SR % |" in written
    assert json.loads(run("score", folder, "--format", "json").stdout)[0]["team"] == "all=random"
    assert run("score", folder, "--format", "csv").stdout.startswith("title,team,group,name")


def test_report_is_made_again(finished):
    folder, _ = finished
    before = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    assert run("report", folder).exit_code == 0
    assert (folder / "report.html").read_bytes() == before


def test_score_names_other_commands_for_the_folder_of_a_comparison(tmp_path):
    (tmp_path / "comparison.json").write_text("{}")
    done = run("score", tmp_path)
    assert done.exit_code == 2
    assert "is the folder of a comparison; name run folders in it" in " ".join(done.output.split())
