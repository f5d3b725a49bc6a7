from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.records import record_of

from collab_overcooked.games.collab_overcooked.options import CollaborationOptions
from collab_overcooked.games.collab_overcooked.suite.collaboration import (
    CollaborationRun,
    PlanMessage,
    kitchen_vocabularies,
)
from collab_overcooked.games.collab_overcooked.suite.run_scores import CollabRow, run_from_record, score_run
from collab_overcooked.metrics.intervals import Estimate, mean_of_ratios, mean_of_shares
from parity.original_evaluation import references_by_agent

REFERENCES = ([["a()", "b()"]], [["c()", "d()"]])
RECORD: Any = record_of(
    **{
        "steps": [
            {
                "messages": [
                    {"agent": 0, "conversation": 0, "say": "hi", "plan": "request('c()'); wait(1)"},
                    {"agent": 1, "conversation": 1, "say": "hey", "plan": "wait(1)"},
                    {"agent": 1, "conversation": 0, "say": "ok", "plan": "c()"},
                ]
            },
            {"messages": []},
        ],
        "history": [[{"timestamp": 1, "action": "a()"}], [{"timestamp": 2, "action": "c()"}]],
        "success": True,
        "timesteps": 2,
    }
)


def played(chef: str, helper: str, success: bool = True, timesteps: int = 10) -> CollaborationRun:
    history = tuple(tuple((t + 1, f"{name}()") for t, name in enumerate(word)) for word in (chef, helper))
    return CollaborationRun(history, (), success, timesteps)


def score_runs(runs: list[CollaborationRun], **options: Any) -> list[dict[str, Any]]:
    return [score_run(run, REFERENCES, **options) for run in runs]


def value(measure: str, *tasks: list[dict[str, Any]], seat: int | None = None) -> float:
    """Pool a measure over the episodes of some tasks."""
    estimate = CollabRow("", dict(enumerate(tasks))).value(measure, seat)
    assert estimate is not None
    return estimate.value


def test_a_run_is_scored_per_agent_and_pc_is_the_mean() -> None:
    score = score_run(played("ab", "xd"), REFERENCES)
    assert (score["tes"], score["pc"]) == ([1.0, 0.0], 0.5)
    assert (score["completeness"], score["efficiency"]) == ([1.0, 0.0], [1.0, 0.0])


def test_three_agents() -> None:
    run = CollaborationRun((((1, "a()"),), ((1, "b()"),), ()), (), True, 1)
    score = score_run(run, ([["a()"]], [["b()"]], [["c()"]]))
    assert (score["tes"], score["pc"]) == ([1.0, 1.0, 0.0], pytest.approx(2 / 3))


def test_unknown_actions_are_not_punished_with_a_vocabulary() -> None:
    texts = {0: frozenset({"a()", "b()"}), 1: frozenset({"c()", "d()"})}
    assert score_run(played("axb", "cad"), REFERENCES)["tes"][0] < 1.0
    score = score_run(played("axb", "cad"), REFERENCES, texts)
    assert score["tes"][0] == 1.0
    assert score["efficiency"][1] == pytest.approx(2 / 3)  # "a()" is another seat's action and stays


def test_references_must_fit_the_agents() -> None:
    with pytest.raises(ValueError, match="references: given for 1 agents, the run has 2"):
        score_run(played("a", "c"), REFERENCES[:1])


def test_task_means_and_times() -> None:
    runs = [played("ab", "cd", True, 10), played("", "cd", True, 14), played("", "", False, 40)]
    task = score_runs(runs)
    assert value("success_rate", task) == pytest.approx(2 / 3)
    assert value("tes", task, seat=0) == pytest.approx(1 / 3)
    assert value("pc", task) == pytest.approx((1 + 0.5 + 0) / 3)
    assert [value("efficiency", task, seat=seat) for seat in (0, 1)] == pytest.approx([1 / 3, 2 / 3])
    assert [value("redundancy", task, seat=seat) for seat in (0, 1)] == pytest.approx([2 / 3, 1 / 3])
    assert value("timesteps", task) == 12
    assert (value("ic", task), value("rc", task)) == (0.0, 0.0)


def test_a_task_without_success_has_no_time() -> None:
    row = CollabRow("", {"egg": score_runs([played("a", "c", False)])})
    assert row.value("timesteps") is None


def test_a_level_is_the_unweighted_mean_of_its_tasks() -> None:
    all_good = score_runs([played("ab", "cd", True, 8)])
    poor = score_runs([played("", "", False), played("", "", False), played("ab", "", True, 20)])
    level = all_good, poor
    assert value("success_rate", *level) == pytest.approx((1 + 1 / 3) / 2)
    assert value("tes", *level, seat=0) == pytest.approx((1 + 1 / 3) / 2)
    assert value("tes", *level, seat=1) == pytest.approx(0.5)
    assert value("efficiency", *level, seat=0) == pytest.approx((1 + 1 / 3) / 2)
    assert value("timesteps", *level) == 14


def test_tasks_without_success_do_not_enter_the_time_of_a_level() -> None:
    fast, lost = score_runs([played("ab", "cd", True, 8)]), score_runs([played("", "", False, 40)])
    assert value("timesteps", fast, lost) == 8


def test_ic_of_a_level_counts_silent_tasks_as_zero() -> None:
    talking, silent = score_runs([run_from_record(RECORD)]), score_runs([played("a", "c")])
    assert value("ic", talking) == 1.0
    assert value("ic", talking, silent) == 0.5


def test_required_denominator_reaches_the_scores() -> None:
    runs = score_runs([run_from_record(RECORD), played("", "")], options=CollaborationOptions(denominator="required"))
    assert runs[0]["opportunities"] == 2
    assert value("ic", runs) == pytest.approx(1 / 4)


def test_tasks_without_references_have_success_and_time_alone() -> None:
    row = CollabRow("", {"egg": score_runs([played("ab", "cd")]), "soup": [{"success": True, "timesteps": 4}]})
    assert row.value("success_rate").value == 1.0 and row.value("timesteps").value == 7
    assert row.value("pc") is row.value("tes", 0) is row.value("ic") is row.value("redundancy", 1) is None


def test_scores_are_json() -> None:
    task = score_runs([run_from_record(RECORD), played("ab", "cd")])
    assert json.loads(json.dumps(task))[0]["codes"] == [0]


def test_wilson_interval_against_published_values() -> None:
    # Newcombe (1998), table I, method 3: 81 of 263 and 0 of 20
    some = mean_of_shares([81], [263])
    assert (some.low, some.high) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))
    none = mean_of_shares([0], [20])
    assert (none.value, none.low, none.high) == (0.0, 0.0, pytest.approx(0.1611, abs=5e-5))
    assert mean_of_shares([20], [20]).high == pytest.approx(1.0)


def test_equal_tasks_have_the_interval_of_their_pooled_runs() -> None:
    assert mean_of_shares([3, 5], [10, 10]) == mean_of_shares([8], [20])


def test_a_single_run_dominates_the_uncertainty_of_unequal_tasks() -> None:
    estimate = mean_of_shares([1, 10], [1, 100])  # like 2² / (1/1 + 1/100) = 3.96 runs, not like 101
    assert estimate.value == pytest.approx(0.55)
    assert (estimate.low, estimate.high) == (pytest.approx(0.175, abs=5e-3), pytest.approx(0.876, abs=5e-3))


def test_bootstrap_interval_is_near_the_normal_one() -> None:
    values = np.random.default_rng(3).normal(0.5, 0.1, 200)
    estimate = mean_of_ratios([values.tolist()], [[1.0] * 200])
    assert estimate is not None and estimate.low is not None and estimate.high is not None
    half = 1.96 * values.std() / np.sqrt(200)
    assert estimate.value == pytest.approx(values.mean())
    assert estimate.low == pytest.approx(values.mean() - half, abs=0.15 * half)
    assert estimate.high == pytest.approx(values.mean() + half, abs=0.15 * half)


def test_bootstrap_is_repeatable_and_collapses_without_variance() -> None:
    args = ([[0.1, 0.9, 0.4], [0.3, 0.2]], [[1.0, 1.0, 1.0], [1.0, 1.0]])
    assert mean_of_ratios(*args) == mean_of_ratios(*args)
    same = mean_of_ratios([[0.25] * 4], [[1.0] * 4])
    assert same == Estimate(0.25, 0.25, 0.25)


def test_single_runs_have_no_interval() -> None:
    assert mean_of_ratios([[0.3], [0.5]], [[1.0], [1.0]]) == Estimate(0.4)
    assert mean_of_ratios([[0.0]], [[0.0]]) is None


def test_a_rare_success_leaves_a_finite_interval() -> None:
    times = mean_of_ratios([[20.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]])
    assert times == Estimate(20.0, 20.0, 20.0)


def test_record_messages_are_grouped_by_step_and_conversation() -> None:
    run = run_from_record(RECORD)
    assert [(talk.timestep, [m.agent for m in talk.messages]) for talk in run.conversations] == [(0, [0, 1]), (0, [1])]
    assert run.conversations[0].messages[1] == PlanMessage(1, "ok", "c()")
    assert run.history == (((1, "a()"),), ((2, "c()"),))
    assert (run.success, run.timesteps) == (True, 2)


def test_references_by_agent() -> None:
    entries = [{"id": "one", "agent_0": ["a()"], "agent_1": ["b()"]}, {"agent_0": ["c()"], "agent_1": ["d()"]}]
    assert references_by_agent(entries) == ((("a()",), ("c()",)), (("b()",), ("d()",)))
    with pytest.raises(ValueError, match=r"references\[0\].agent_2"):
        references_by_agent(entries, agents=3)


def test_playing_the_papers_references_scores_one(paper_references: dict, paper_foods: list[str]) -> None:
    text = kitchen_vocabularies(paper_foods)
    for references in paper_references.values():
        history = tuple(tuple((t + 1, a) for t, a in enumerate(reference[-1])) for reference in references)
        assert score_run(CollaborationRun(history, (), True, 50), references, text)["tes"] == [1.0, 1.0]
