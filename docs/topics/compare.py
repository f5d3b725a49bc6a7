"""Facts about comparisons: what is played in each game."""

from __future__ import annotations

from collab_overcooked import registry
from collab_overcooked.evaluation.benchmark import BUDGETS, Benchmark
from collab_overcooked.evaluation.compare.plan import ComparisonPlan

from .writing import code, table


def compared_settings() -> str:
    """List what each budget plays, and what is measured."""
    rows = []
    for name in registry.first_suites():
        found = [ComparisonPlan((name,), ("random",), budget).benchmark(name) for budget in BUDGETS]
        rows.append((code(name), found[0].measure, *map(_played, found), found[0].pairs.name))
    return table(("game", "leaderboard", *(f"`--budget {budget}`" for budget in BUDGETS), "cross-play"), rows)


def _played(benchmark: Benchmark) -> str:
    names = [setting.name for setting in benchmark.settings]
    shown = "; ".join(names) if len(names) <= 5 else f"{names[0]} to {names[-1]}, {len(names)} in all"
    times = benchmark.settings[0].suite_options[benchmark.repeats]
    return f"{shown} ({times} {benchmark.repeats})"


FACTS = (compared_settings,)
