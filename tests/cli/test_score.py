"""``score`` and ``report`` of a run."""

from __future__ import annotations

import json

import pytest
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
    done = run("report", folder)
    assert done.exit_code == 0
    assert done.stderr == f"written: {folder}/table.md, table.csv, table.json, report.html\n"
    assert (folder / "report.html").read_bytes() == before


def test_score_names_other_commands_for_the_folder_of_a_comparison(tmp_path):
    (tmp_path / "comparison.json").write_text("{}")
    done = run("score", tmp_path)
    assert done.exit_code == 2
    assert "is the folder of a comparison; name run folders in it" in " ".join(done.output.split())


OPTIONS = {
    "--metrics": "steps",
    "--format": "csv",
    "--compare": None,
    "--page": "page.html",
    "--denominator": "required",
    "--set": "denominator=required",
    "--more": None,
    "--by-task": None,
    "--sample": 1,
    "--sample-seed": 1,
    "--results": "more.jsonl",
}
OF_CHECK = ("--sample", "--sample-seed")


@pytest.mark.parametrize(
    ("mode", "option", "reason"),
    [
        *(("--check", option, "is not for --check") for option in OPTIONS if option not in OF_CHECK),
        *(("--results", option, "is not for --results") for option in OPTIONS if option != "--results"),
        *(("", option, "is for --check") for option in OF_CHECK),
    ],
)
def test_an_option_without_effect_is_refused(finished, tmp_path, mode, option, reason):
    out = tmp_path / "results.jsonl"
    how = {"--check": [out, "--check"], "--results": [finished[0], "--results", out], "": [finished[0]]}[mode]
    value = [] if OPTIONS[option] is None else [OPTIONS[option]]
    done = run("score", *how, option, *value)
    assert done.exit_code == 2 and f"option {option} {reason}" in " ".join(done.stderr.split())
    assert not out.exists()


def test_scoring_options_are_refused_for_trainings(tmp_path):
    (tmp_path / "returns.csv").write_text("steps,return\n0,1\n10,2\n")
    for option in (("--denominator", "required"), ("--set", "denominator=required")):
        done = run("report", tmp_path, *option)
        assert done.exit_code == 2 and f"option {option[0]} is for the records of a run" in " ".join(
            done.stderr.split()
        )
    assert run("report", tmp_path).exit_code == 0
