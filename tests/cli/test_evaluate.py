"""``evaluate``: its folder, ways to write teams, options of suites."""

from __future__ import annotations

import json
import re
from dataclasses import fields

import pytest
from support.cli_runner import run

from collab_overcooked import registry


def test_evaluate_prints_the_table_and_fills_the_folder(finished):
    folder, done = finished
    assert "all=random" in done.stdout
    assert "Timesteps" in done.stdout
    assert f"written: {folder}/records.jsonl, table.md, table.csv, table.json, report.html\n" in done.stderr
    names = {path.name for path in folder.iterdir()}
    assert names == {".lock", "config.json", "records.jsonl", "table.md", "table.csv", "table.json", "report.html"}
    assert json.loads((folder / "config.json").read_text())["team"] == ["random", "random"]


def test_evaluate_goes_on_where_it_stopped(finished):
    folder, _ = finished
    before = (folder / "records.jsonl").read_bytes()
    (folder / "records.jsonl").write_bytes(before[:-10])
    team = ["--team", "agent_1=random", "agent_0=random"]
    done = run(
        "evaluate",
        "collab-overcooked",
        *team,
        "--tasks",
        "boiled_egg",
        "--episodes",
        "2",
        "--workers",
        "1",
        "--out",
        folder,
        "--no-report",
    )
    assert done.exit_code == 0, done.output
    assert "1 of 2 episodes are there" in done.stderr
    assert (folder / "records.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "team",
    [
        ["--team", "agent_0=random", "agent_1=random"],
        ["--team", "agent_0=random", "--team", "agent_1=random"],
        ["--team=agent_0=random", "agent_1=random"],
    ],
)
def test_teams_and_settings_may_be_written_in_several_ways(tmp_path, team):
    settings = ["--set", "knowledge=full", "stuck_limit=4"]
    rest = ["--tasks", "boiled_egg", "--out", tmp_path, "--workers", "1", "--no-report"]
    done = run("evaluate", "collab-overcooked", *team, *settings, *rest)
    assert done.exit_code == 0, done.output
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["team"] == ["random", "random"]
    assert config["options"] == {"kitchen": "paper", "gamma": 1.5, "knowledge": "full", "stuck_limit": 4}


@pytest.mark.parametrize("suite", registry.suites())
def test_help_of_a_suite_shows_its_own_options_and_the_common_ones(suite):
    done = run("evaluate", suite, "--help")
    assert done.exit_code == 0
    displayed = set(re.findall(r"--[a-z][a-z-]*", done.stdout))
    flags = {
        name: {
            field.metadata["flag"] or "--" + field.name.replace("_", "-")
            for field in fields(registry.load_suite_options(name).play)
        }
        for name in registry.suites()
    }
    entry, others = flags[suite], set().union(*flags.values())
    assert (
        entry | {"--team", "--seed", "--out", "--workers", "--set", "--max-messages", "--base-url", "--budget"}
        <= displayed
    )
    assert not displayed & (others - entry)


def test_an_option_of_another_suite_is_refused_with_near_matches():
    done = run("evaluate", "overcooked", "--layout", "cramped_room")
    assert done.exit_code == 2 and len(done.stderr.splitlines()) == 1
    assert "--layout" in done.stderr and "--layouts" in done.stderr
    assert run("evaluate", "overcooked", "--alphas", "1").exit_code == 2


def test_evaluate_without_a_team_plays_greedy_in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("evaluate", "collab-overcooked", "--tasks", "boiled_egg", "--no-report", "--workers", "1")
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "runs" / "collab-overcooked" / "records.jsonl").read_text().splitlines()[0])
    assert set(record["team"].values()) == {"greedy"}


@pytest.mark.parametrize("option", [["--dry-run"], ["--budget", "calls=2"]])
@pytest.mark.parametrize(
    "command", [["evaluate", "overcooked", "--team"], ["compare", "--games", "overcooked", "--policies"]]
)
def test_a_misspelt_policy_is_named_before_options_of_models(command, option, tmp_path):
    option = ["--budget-per-episode", *option[1:]] if command[0] == "compare" and option[1:] else option
    policy = "gredy" if command[0] == "compare" else "all=gredy"
    done = run(*command, policy, *option, "--out", tmp_path / "run")
    assert done.exit_code == 2 and "unknown policy 'gredy'; did you mean greedy?" in done.stderr
