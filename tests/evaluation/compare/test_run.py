"""Playing comparisons: records, and folders that are continued."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.evaluation.compare import leaderboard as boards
from collab_overcooked.evaluation.compare import plan as plans
from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.run_plans import run_plans


def test_records_say_what_decisions_took(comparison_plan: plans.ComparisonPlan, played: Path) -> None:
    for entry in comparison_plan.entries:
        for record in read_records(played / entry.folder):
            assert set(record.decisions) == set(record.team)
            for count, seconds in record.decisions.values():
                assert 0 <= count <= record.timesteps * 2 and seconds >= 0
    record = read_records(played / "rush" / "easy-kitchen" / "random")[0]
    assert record.decisions["agent_0"][0] > 0
    assert first_difference(record) is None


def test_what_was_played_is_not_played_again(
    comparison_plan: plans.ComparisonPlan, played: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = {path: path.read_bytes() for path in played.rglob("records.jsonl")}
    played_again: list[tuple[int, int]] = []
    run_plans(
        comparison_plan.runs(played), played, workers=1, timed=True, progress=lambda *now: played_again.append(now[:2])
    )
    assert not played_again and "continuing" in caplog.messages[-1]
    assert before == {path: path.read_bytes() for path in played.rglob("records.jsonl")}


def test_significance_takes_the_folder_of_a_comparison(played: Path) -> None:
    done = CliRunner().invoke(app, ["significance", str(played), "--format", "json"])
    assert done.exit_code == 0, done.output
    means = [card for card in json.loads(done.stdout) if card["title"].endswith("runs")]
    for card, metric in zip(means, ("success", "completed"), strict=True):
        (table,) = card["tables"]
        assert {row["Measure"] for row in table["rows"]} == {metric}
    assert [row["Group"] for row in means[1]["tables"][0]["rows"]] == ["random", "greedy", "selfish"]


def test_a_comparison_that_was_stopped_can_be_read(comparison_plan: plans.ComparisonPlan, played: Path) -> None:
    more = structs.replace(
        comparison_plan,
        entries=(*comparison_plan.entries, plans.Entry("rush", "easy, kitchen", ("x", "x"), "rush/absent")),
    )
    assert boards.read_comparison(more, played).missing == 1
    with pytest.raises(ValueError, match="holds no records"):
        boards.read_comparison(structs.replace(comparison_plan, entries=more.entries[-1:]), played)
