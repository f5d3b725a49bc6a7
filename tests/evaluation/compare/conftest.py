"""A small comparison, played once."""

from __future__ import annotations

from pathlib import Path

import pytest

from collab_overcooked.evaluation.compare import leaderboard as boards
from collab_overcooked.evaluation.compare import plan as plans
from collab_overcooked.runner.run_plans import run_plans

POLICIES = ("random", "reference", "greedy", "selfish")


GAMES = ("collab-overcooked", "rush")


@pytest.fixture(scope="session")
def comparison_plan() -> plans.ComparisonPlan:
    return plans.make_plan(POLICIES, GAMES, episodes=1)


@pytest.fixture(scope="session")
def played(comparison_plan: plans.ComparisonPlan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compared")
    comparison_plan.write(out)
    run_plans(comparison_plan.runs(out), out, workers=1, timed=True)
    return out


@pytest.fixture(scope="session")
def comparison(comparison_plan: plans.ComparisonPlan, played: Path) -> boards.Comparison:
    return boards.read_comparison(comparison_plan, played)
