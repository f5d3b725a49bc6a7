"""Every registered environment keeps the whole contract, in all its option sets."""

from __future__ import annotations

import pytest

from collab_overcooked import registered
from collab_overcooked.testing import CHECKS, check_game

# Beside the defaults, which every id is checked with.
OPTIONS = {
    "CollabOvercooked-v0": [
        {"action_level": "primitive"},
        {"obs": "grid", "mask_in": "obs"},
        {"mask_in": "rllib", "knowledge": "full"},
        {"text_info": True, "level": [1, 6], "gamma": 0.5},
        {"orders": True, "max_cycles": 60, "shaping": {"PUT": 1.0}},
        {"kitchen": "shared_floor"},
        {"kitchen": "shared_floor", "action_level": "primitive", "obs": "grid"},
        {"kitchen": "three_agents", "mask_in": "obs"},
        {"kitchen": "three_agents", "action_level": "primitive", "orders": True, "max_cycles": 40},
    ],
}
CASES = [(env_id, options) for env_id in registered() for options in [{}, *OPTIONS.get(env_id, [])]]


def named(case):
    env_id, options = case
    return "-".join([env_id, *(f"{key}={value}" for key, value in options.items())])


@pytest.mark.parametrize("case", CASES, ids=named)
def test_registered_environments_conform(case):
    env_id, options = case
    report = check_game(env_id, **options)
    passed = {result.check for result in report.having("passed")}
    assert passed | {"signatures"} == set(CHECKS), str(report)  # "signatures" is skipped where JIT is off
