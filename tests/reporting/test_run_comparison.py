"""Several runs side by side, and the differences between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cli_runner import CliRunner
from support.records import rush_episodes

from collab_overcooked.cli import app
from collab_overcooked.core.record import history_of
from collab_overcooked.reporting.run_comparison import short_names
from collab_overcooked.runner.records import dump_line


def test_runs_are_named_by_as_few_parts_of_their_paths_as_tell_them_apart() -> None:
    assert short_names([Path("runs/a"), Path("runs/b")]) == ["a", "b"]
    assert short_names([Path("x/runs/a"), Path("y/runs/a"), Path("b")])[:2] == ["x/runs/a", "y/runs/a"]


def test_a_comparison_shows_several_runs(tmp_path: Path) -> None:
    run = CliRunner().invoke
    texts = ["--domain", "kitchen", "--scenario", "easy", "--no-report", "--workers", "1"]
    for team in ("greedy", "random"):
        done = run(app, ["evaluate", "rush", "--team", f"all={team}", *texts, "--out", str(tmp_path / team)])
        assert done.exit_code == 0, done.output
    folders = [str(tmp_path / "greedy"), str(tmp_path / "random")]
    done = run(app, ["score", *folders, "--compare", "--format", "json"])
    assert done.exit_code == 0, done.output
    (card,) = json.loads(done.stdout)
    means, conditions, pairs, kinds, differences = card["tables"]
    assert [row["Team and condition"] for row in conditions["rows"]] == ["all=greedy", "all=random"]
    assert [row["agent_0 \\ agent_1"] for row in pairs["rows"]] == ["greedy", "random"]
    assert pairs["rows"][0]["greedy"]["value"] == 5.0 and pairs["rows"][0]["random"]["value"] is None, "not played"
    names = [f"all={policy}: agent_{seat}" for policy in ("greedy", "random") for seat in range(2)]
    assert [row["Player"] for row in kinds["rows"]] == names
    shares = [[row[kind]["value"] for kind in ("A+ %", "A- %", "A= %")] for row in kinds["rows"]]
    assert [sum(row) for row in shares] == pytest.approx([1.0] * 4) and shares[0][0] > shares[2][0]
    assert [row["Team"] for row in means["rows"]] == ["all=greedy", "all=random"]
    (row,) = differences["rows"]
    assert row["episodes"] == 3 and row["difference"]["value"] > 0 and row["higher"] == 3
    assert run(app, ["score", "--compare", folders[0], folders[0]]).exit_code == 2
    assert run(app, ["score", *folders, "--compare", "--page", str(tmp_path / "sheet.html")]).exit_code == 0
    page = (tmp_path / "sheet.html").read_text()
    assert (
        "Content-Security-Policy" in page and page.partition("<script")[0].count("<svg") == 2 and "CR of pairs" in page
    )


def test_a_comparison_counts_what_scores_count(tmp_path: Path) -> None:
    """Episodes of a model at temperature 0 that are equal count once in both."""
    team = {"agent_0": "llm:m"}
    records = [record.replace(team=team) for seed in (0, 1, 2) for record in rush_episodes(3, seed=seed)]
    records = [record.replace(history=history_of(record.steps, 1)) for record in records]
    path = tmp_path / "records.jsonl"
    path.write_bytes(b"\n".join(map(dump_line, records)))
    counts = {}
    for how in ((), ("--compare",)):
        done = CliRunner().invoke(app, ["score", str(path), *how, "--format", "json"])
        assert done.exit_code == 0, done.output
        cards = json.loads(done.stdout)
        first, samples = cards[0]["tables"][0]["rows"][0], cards[-1]["tables"][0]["rows"][0]
        counts[how] = first["episodes"], samples["Episodes"], samples["Repetitions"]
    assert counts[()] == counts[("--compare",)] == (1, 3, 2)
