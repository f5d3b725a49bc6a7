"""Differences of runs, episode by episode."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.covers import first
from support.records import record_of, rush_episodes

from collab_overcooked import registry
from collab_overcooked.evaluation.compare import leaderboard as boards
from collab_overcooked.evaluation.compare import plan as plans
from collab_overcooked.reporting.differences import difference_table, episode_values
from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.run_plans import run_plans


@pytest.mark.parametrize("game", first([*dict.fromkeys(["collab-capture", "rush", *registry.first_suites()])], 2))
def test_episodes_are_compared_by_what_the_table_ranks(game: str, tmp_path: Path) -> None:
    plan = plans.make_plan(["greedy", "random"], [game], episodes=1, crossplay=False)
    run_plans(plan.runs(tmp_path), tmp_path, workers=1, timed=True)
    board, metric = boards.read_comparison(plan, tmp_path).leaderboards[0], registry.load_suite(game).score_metric
    for line in board.lines:
        for entry in (entry for entry in plan.entries if entry.team[0] == line.policy):
            values = episode_values(read_records(tmp_path / entry.folder), metric).values()
            score = line.scores[entry.setting]
            assert score is not None and sum(values) / len(values) == pytest.approx(score.value, rel=0.05)
    differences = board.differences
    assert differences is not None and f" {metric}," in differences.title


def test_only_episodes_of_the_same_task_number_and_seed_are_compared() -> None:
    table = difference_table(
        {"one": rush_episodes(3, 2, 4), "other": rush_episodes(1, 2), "elsewhere": rush_episodes(9, seed=1)}
    )
    assert table is not None and "completed" in table.title
    ((name, pairs, mean, higher, equal, lower, p),) = table.rows
    assert (name, pairs, mean.value, higher, equal, lower, p) == ("other", 2, 1.0, 1, 1, 0, 1.0)
    assert difference_table({"one": rush_episodes(1), "elsewhere": rush_episodes(1, seed=1)}) is None


def test_questions_about_a_task_are_not_paired_with_games_of_it() -> None:
    """Their records have task, number and seed of a game."""
    games = [record_of(task="boiled_egg", success=True, metrics={"success": True})]
    questions = [game.replace(due="pickup(egg,ingredient_dispenser)", due_number=1) for game in games]
    assert difference_table({"games": games, "questions": questions}) is None
    assert difference_table({"games": games, "same": games}) is not None
