"""Differences on shared episodes: the numbers, the table, and the commands that print it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import CliRunner
from support.records import record_of

from collab_overcooked.cli import app
from collab_overcooked.core.record import history_of
from collab_overcooked.metrics.paired import paired_difference, sign_test
from collab_overcooked.reporting.differences import difference_table
from collab_overcooked.reporting.run_comparison import short_names
from collab_overcooked.runner.records import dump_line


@pytest.mark.parametrize(("higher", "lower", "p"), [(0, 0, 1.0), (5, 0, 0.0625), (8, 1, 20 / 512), (3, 3, 1.0)])
def test_the_sign_test_is_the_exact_binomial_one(higher: int, lower: int, p: float) -> None:
    assert sign_test(higher, lower) == sign_test(lower, higher) == pytest.approx(p)


def test_pairing_finds_what_means_cannot() -> None:
    """One team is always one better, while episodes differ much more."""
    easy, hard = [(float(k + 1), float(k)) for k in range(0, 40, 4)], [(101.0, 100.0)] * 3
    result = paired_difference([easy, hard])
    assert result is not None and (result.mean.value, result.mean.low, result.mean.high) == (1.0, 1.0, 1.0)
    assert (result.higher, result.equal, result.lower) == (13, 0, 0) and result.p == 2 / 2**13
    assert paired_difference([]) is None


def episodes(*completed: int, seed: int = 0) -> list[Any]:
    none = {
        "label": "",
        "event": "COOK",
        "worker": 0,
        "reason": "OK",
        "advanced": False,
        "ruined": False,
        "finished": True,
        "turn": 0,
    }
    return [
        record_of(
            env_id="KitchenRush-v0",
            task="easy",
            episode=number,
            seed=seed,
            scenario="easy",
            max_turns=10,
            team={"agent_0": "x"},
            orders=[{"name": "a", "finished": True, "ruined": False}] * count,
            steps=[{"events": [{**none, "order": f"order {k}"}]} for k in range(count)],
        )
        for number, count in enumerate(completed)
    ]


def test_only_episodes_of_the_same_task_number_and_seed_are_compared() -> None:
    table = difference_table({"one": episodes(3, 2, 4), "other": episodes(1, 2), "elsewhere": episodes(9, seed=1)})
    assert table is not None and "completed" in table.title
    ((name, pairs, mean, higher, equal, lower, p),) = table.rows
    assert (name, pairs, mean.value, higher, equal, lower, p) == ("other", 2, 1.0, 1, 1, 0, 1.0)
    assert difference_table({"one": episodes(1), "elsewhere": episodes(1, seed=1)}) is None


def test_questions_about_a_task_are_not_paired_with_games_of_it() -> None:
    """Their records have task, number and seed of a game."""
    games = [record_of(task="boiled_egg", success=True, metrics={"success": True})]
    questions = [game.replace(due="pickup(egg,ingredient_dispenser)", due_number=1) for game in games]
    assert difference_table({"games": games, "questions": questions}) is None
    assert difference_table({"games": games, "same": games}) is not None


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
    records = [record.replace(team=team) for seed in (0, 1, 2) for record in episodes(3, seed=seed)]
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
