"""Compare policies: plan, play and read the leaderboards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked.evaluation.compare.leaderboard import Comparison, read_comparison
from collab_overcooked.evaluation.compare.plan import make_plan
from collab_overcooked.runner.episode import Limits
from collab_overcooked.runner.run_plans import run_plans


def compare(
    policies: str | Sequence[str] | None = None,
    games: str | Sequence[str] | None = None,
    out: str | Path = "runs/compare",
    *,
    budget: str = "small",
    episodes: int | None = None,
    seed: int = 0,
    crossplay: bool = True,
    limits: Limits | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    only: Sequence[str] = (),
    workers: int | str | None = None,
) -> Comparison:
    """Play policies in all games under equal conditions; episodes that the folder holds are not played again.

    Language models are compared on the command line, which connects to their endpoints.

    Args:
        policies: Specs; all that need neither key nor file if None.
        games: Names of suites; all games if None.
        out: Folder of the comparison.
        budget: One of ``benchmark.BUDGETS``.
        episodes: Number of episodes of each setting; that of the budget if None.
        seed: Seed of all plans.
        crossplay: Whether every policy plays with every other.
        limits: Limits of conversations and corrections.
        options: Options of the environment by suite.
        only: Names of settings, such as layouts, of the leaderboards; all of the budget if empty.
        workers: See ``runner.workers.read_workers``; the number of processor cores if None.

    Returns:
        The leaderboards; ``to_pandas()`` has a row for each policy and game.

    Raises:
        ValueError: For an unknown policy, game or option, or a folder with another comparison in it.
    """
    comparison = make_plan(
        policies,
        games,
        budget=budget,
        episodes=episodes,
        seed=seed,
        crossplay=crossplay,
        limits=limits,
        options=options,
        only=only,
    )
    folder = Path(out)
    runs = comparison.runs(folder)
    if any(plan.has_language_models() for plan, _ in runs):
        raise ValueError("policies: language models are compared by the command 'collab-overcooked compare'")
    comparison.write(folder)
    run_plans(runs, folder, workers=workers, timed=True)
    return read_comparison(comparison, folder)
