"""Bounds of a run's requests, tokens and costs, before anything is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.cli_runner import CliRunner, run_small
from support.endpoints import serving

from collab_overcooked.cli import app
from collab_overcooked.evaluation.dry_run import upper_bounds
from collab_overcooked.evaluation.suites import plan_evaluation

pytest.importorskip("openai", reason="needs the extra llm")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def test_a_dry_run_asks_nothing_and_counts_what_is_missing(tmp_path: Path) -> None:
    with serving([json.dumps({"action": 1})]) as server:
        reach = ["--base-url", server.url, "--out", tmp_path / "a"]
        price, limits = ["--price", "2/10"], ["--budget", "calls=5,dollars=1", "--budget-total", "dollars=2"]
        done = run_small("--runs", 3, *reach, *price, *limits, "--dry-run")
        assert done.exit_code == 0, done.output
        assert not server.asked and not (tmp_path / "a").exists()
        assert bounds_of(done.stdout) == [3, 12]
        assert "Upper bound, set by the budgets: 15 calls, 2 dollars." in " ".join(done.stdout.split())
        without = run_small("--runs", 3, *reach, "--dry-run").stdout
        assert "There is no upper bound" in " ".join(without.split()) and "maximum" not in without.replace(
            "maximum length", ""
        )
        done = run_small("--runs", 3, "--workers", 1, *reach, "--budget-total", "calls=5")  # the second run is begun
        assert done.exit_code == 2
        assert bounds_of(run_small("--runs", 3, *reach, "--dry-run").stdout) == [2, 8]


@pytest.mark.parametrize("option", ["--budget", "--budget-total"])
def test_a_dry_run_refuses_a_budget_of_dollars_without_a_price(option: str) -> None:
    done = run_small(option, "dollars=1", "--dry-run")
    assert done.exit_code == 2 and "dollars needs a price of 'm'" in done.output


def test_a_dry_run_says_what_prompts_cost(tmp_path: Path) -> None:
    """From the prompts of the first states, as a run sends them; 12 decisions with answers of 100 tokens."""
    with serving([json.dumps({"action": 1})]) as server:
        run_small("--base-url", server.url, "--out", tmp_path / "a")
    lengths = [sum(len(turn["content"]) for turn in asked["messages"]) / 4 for asked in server.asked]
    row = run_small("--runs", 3, "--price", "2/10", "--dry-run").stdout.splitlines()
    (cells,) = (line.split() for line in row if "llm:m?memory=off" in line)
    prompt, tokens, dollars = (float(cell.replace(",", "")) for cell in cells[-3:])
    assert prompt == pytest.approx(sum(lengths) / len(lengths), rel=0.1)
    assert tokens == pytest.approx(12 * (prompt + 100), abs=12)
    assert dollars == pytest.approx((12 * prompt * 2 + 1200 * 10) / 1e6, abs=0.01)


def test_one_that_commands_all_seats_is_counted_once() -> None:
    plan = plan_evaluation("cuisineworld", ["all=llm:m"], levels="0", agents=(3,), alphas=(1.5,), episodes=1)
    assert upper_bounds(plan, []) == {("llm:m", "dispatch"): (1, 60)}


def test_a_running_evaluation_extrapolates_from_what_it_has_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collab_overcooked.cli.progress.LOG_GAP", 0.0)
    with serving([json.dumps({"action": 1})]) as server:
        reach = ["--base-url", server.url, "--price", "2/10", "--workers", 1, "--out", tmp_path / "a"]
        assert run_small("--runs", 4, *reach, "--budget-total", "calls=5").exit_code == 2
        done = run_small("--runs", 4, *reach)
    assert done.exit_code == 0, done.output
    first = next(line for line in " ".join(done.output.split()).split("2 of 4 episodes, ")[1:])
    assert re.match(r"about 9 questions, 117 tokens, 0\.000[45] dollars in all, about 0 min left", first), done.output


def test_a_dry_run_counts_teachers(tmp_path: Path) -> None:
    texts = ["evaluate", "rush", "--domain", "kitchen", "--scenario", "easy", "--teacher", "teacher_group:llm:big"]
    done = CliRunner().invoke(app, [*texts, "--team", "all=greedy", "--dry-run", "--out", str(tmp_path / "a")])
    assert done.exit_code == 0, done.output
    (row,) = (line.split() for line in done.stdout.splitlines() if "llm:big" in line)
    assert row[2] == "teacher" and row[4] == "2"  # after the first and the second of three episodes


def test_a_dry_run_of_a_comparison_has_a_row_for_each_suite(tmp_path: Path) -> None:
    texts = ["compare", "--games", "rush", "overcooked", "--policies", "greedy", "llm:m", "--price", "2/10"]
    done = CliRunner().invoke(app, [*texts, "--dry-run", "--out", str(tmp_path / "a")])
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.stdout.splitlines() if "llm:m" in line] == ["rush", "overcooked"]
    assert not (tmp_path / "a").exists()


def test_a_dry_run_refuses_what_the_run_refuses(tmp_path: Path) -> None:
    texts = ["evaluate", "collab-overcooked", "--tasks", "boiled_egg", "--team", "all=llm:m?rounds=2"]
    for more in (["--dry-run"], ["--base-url", "http://127.0.0.1:9/v1"]):
        done = CliRunner().invoke(app, [*texts, *more, "--out", str(tmp_path / "a")])
        assert done.exit_code == 2 and "the agent 'partner' has no switch 'rounds'" in done.output, done.output


def test_a_dry_run_without_models_is_refused() -> None:
    done = CliRunner().invoke(app, ["evaluate", "rush", "--team", "all=greedy", "--dry-run"])
    assert done.exit_code == 2 and "option --dry-run is for teams with llm policies" in done.output


def bounds_of(text: str) -> list[int]:
    """Return numbers of the row of a model: episodes, and decisions at most."""
    (row,) = (line.split() for line in text.splitlines() if "llm:m?memory=off" in line)
    return [int(cell.replace(",", "")) for cell in row[3:5]]
