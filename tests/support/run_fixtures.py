"""A finished run, for the tests of several folders."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.records import read_records


@pytest.fixture
def on_ray() -> Callable[[Callable[[], Any]], Any]:
    """Run something that starts Ray, again if Ray gave up: it waits 30 s for its own processes, whatever else runs."""

    def run(start: Callable[[], Any]) -> Any:
        import ray

        for attempt in range(5):
            try:
                return start()
            except Exception as problem:
                if attempt == 4 or "timed out during startup" not in str(problem):
                    raise
            ray.shutdown()
            gc.collect()  # drops the processes that Ray left, while the test ignores warnings about them

    return run


@pytest.fixture(scope="session")
def two_randoms() -> list[str]:
    return ["agent_0=random", "agent_1=random"]


@pytest.fixture(scope="session")
def random_run(tmp_path_factory: pytest.TempPathFactory, two_randoms: list[str]) -> Path:
    """A finished run folder; tests copy it before they change it."""
    folder = tmp_path_factory.mktemp("runs") / "random"
    plan = plan_evaluation(
        "collab-overcooked", two_randoms, tasks=["boiled_egg", "baked_pumpkin_slices"], episodes=2, seed=3
    )
    evaluate(plan, folder, workers=1)
    return folder


@pytest.fixture
def random_records(random_run: Path) -> list[Any]:
    return read_records(random_run)
