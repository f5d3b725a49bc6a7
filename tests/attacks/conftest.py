from __future__ import annotations

import json
from typing import Any

import pytest
from attacks.records import FURTHER, PLANS, SAID, STEPS

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.episode import history_of


@pytest.fixture(scope="session")
def donors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One short record of each suite, with all fields that records can have."""
    folder, result = tmp_path_factory.mktemp("donors"), {}
    for suite, options in PLANS.items():
        plan = plan_evaluation(suite, ["all=random"], **options)
        record = evaluate(plan, folder / suite, workers=1, note=lambda _: None)[0]
        steps = [step | SAID if t == 1 else step for t, step in enumerate(record.steps[:STEPS])]
        short = {"steps": steps, "timesteps": len(steps), "history": history_of(steps, len(record.team))}
        result[suite] = json.loads(json.dumps(record | FURTHER | short))
    return result
