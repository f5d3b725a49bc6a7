from __future__ import annotations

import json
from typing import Any

import pytest
from attacks.records import FURTHER, PLANS, SAID, STEPS
from msgspec import to_builtins
from support.records import as_json

from collab_overcooked.core.record import history_of
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation


@pytest.fixture(scope="session")
def donors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One short record of each suite, with all fields that records can have."""
    folder, result = tmp_path_factory.mktemp("donors"), {}
    for suite, options in PLANS.items():
        plan = plan_evaluation(suite, ["all=random"], **options)
        played = evaluate(plan, folder / suite, workers=1)[0]
        record, history = as_json(played), to_builtins(history_of(played.steps[:STEPS], len(played.team)))
        steps = [step | SAID if t == 1 else step for t, step in enumerate(record["steps"][:STEPS])]
        short = {"steps": steps, "timesteps": len(steps), "history": history}
        result[suite] = json.loads(json.dumps(record | FURTHER | short))
    return result
