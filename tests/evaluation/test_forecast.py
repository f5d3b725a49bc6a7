"""Forecasts of what language models take: within a factor of 2 of a model that plays, on other seeds."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.evaluation.forecast import Lengths, needs, shipped_lengths
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.llm.settings import GENERIC

pytest.importorskip("jinja2", reason="needs the extra llm")
SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "record_language_lengths.py"
FACTOR = 2.0
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("collab-overcooked", "partner", {"tasks": ("baked_bell_pepper", "boiled_egg")}),
    ("collab-overcooked", "coela", {"tasks": ("baked_bell_pepper",)}),
    ("cuisineworld", "dispatch", {"levels": "1", "agents": (3,), "alphas": (1.5,)}),
    ("cuisineworld", "capo", {"levels": "1", "agents": (2,), "alphas": (1.5,)}),
    ("overcooked", "choose", {"layouts": "coordination_ring", "settings": {"max_cycles": 100}}),
    (
        "overcooked",
        "choose",
        {"layouts": "coordination_ring", "settings": {"max_cycles": 50, "action_level": "primitive"}},
    ),
    ("rush", "roco", {"domain": ("kitchen",), "scenario": ("hard",)}),
    ("collab-capture", "coela", {"episodes": 4}),
    ("collab-escape", "choose", {"episodes": 4}),
    ("housework", "coela", {"tasks": ("prepare_meal", "set_table")}),
    ("housework", "cots", {"tasks": ("set_table",)}),
]


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("record_language_lengths", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_kind_of_agent_has_lengths_in_every_suite_that_it_plays():
    for suite in registry.suites():
        lengths = shipped_lengths(suite)
        if suite in ("questions", "initiations"):
            assert len(lengths) == 1, suite
            continue
        game = next(record for record in registry.games() if suite in record.suites)
        kinds = {*GENERIC, *game.language_agents, *(["cots"] if game.subplans else [])}
        assert kinds <= lengths.keys(), suite
        for value in lengths.values():
            assert 0 < value.questions < 10 and value.prompt > 50 and value.completion >= 4 and 0 < value.share <= 1


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "kind", "options"), CASES)
def test_a_forecast_is_within_a_factor_of_two(script, tmp_path, suite, kind, options):
    plan, records = script.play(suite, kind, {"episodes": 1, **options}, tmp_path, seed=7)
    (need,) = (need for (spec, _), need in needs(plan, [], {}).items() if spec.startswith("llm:m"))
    _, *forecast, _, _ = need.cells()
    accounts = [account for record in records for name, account in record["accounts"].items() if name != "teacher"]
    taken = [sum(account[name] for account in accounts) for name in ("calls", "prompt_tokens", "completion_tokens")]
    ratios = [expected / real for expected, real in zip(forecast, taken, strict=True)]
    assert all(1 / FACTOR <= ratio <= FACTOR for ratio in ratios), (forecast, taken, ratios)


def test_one_that_commands_all_seats_is_counted_once(monkeypatch):
    plan = plan_evaluation("cuisineworld", ["all=llm:m"], levels="0", agents=(3,), alphas=(1.5,), episodes=1)
    monkeypatch.setattr(
        "collab_overcooked.evaluation.forecast.shipped_lengths", lambda suite: {"dispatch": Lengths(1, 9, 9)}
    )
    (need,) = needs(plan, [], {}).values()
    assert need.questions == 60 and need.most == 60


def test_episodes_that_end_early_are_expected_to(monkeypatch):
    plan = plan_evaluation("collab-capture", ["all=llm:m"], episodes=1)
    lengths = Lengths(questions=1.0, prompt=100, completion=10, share=0.2)
    monkeypatch.setattr("collab_overcooked.evaluation.forecast.shipped_lengths", lambda suite: {"choose": lengths})
    (need,) = needs(plan, [], {}).values()
    assert need.most == 5 * need.questions == 2 * 30 * len(plan.jobs)
