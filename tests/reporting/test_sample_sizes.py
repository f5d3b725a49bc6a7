from __future__ import annotations

from typing import Any

import pytest

from collab_overcooked.reporting.sample_sizes import (
    RecordScoring,
    counted,
    end_of,
    repetitions,
    sample_card,
    without_use,
)

USUAL = RecordScoring()
ALL = RecordScoring(cut_short="counted")


def record(actions: str = "01", exhausted: str = "", team: str = "llm:m", **further: Any) -> dict[str, Any]:
    """An episode with an action of one seat in each step; the account's numbers are those of one call."""
    steps = [{"actions": [int(action)], "messages": [], "rewards": [0.0]} for action in actions]
    account = {"calls": 4, "trouble": {}, "exhausted": exhausted}
    own = {"env_id": "E-v0", "env_kwargs": {}, "task": "t", "team": {"agent_0": team}, "accounts": {"agent_0": account}}
    return {**own, "steps": steps, **further}


def test_episodes_without_a_budget_s_end_all_count_and_nothing_is_told():
    records = [record("01"), record("10"), record("01", team="greedy"), record("01", team="greedy")]
    assert counted(records, USUAL) == records
    assert sample_card(records, USUAL) is None


def test_episodes_cut_short_are_left_out_unless_asked_and_told_either_way():
    records = [record("01"), record("10", "calls"), record("11", ended="left")]
    assert [end_of(own) for own in records] == ["", "calls", "left"]
    assert counted(records, USUAL) == records[:1]
    assert counted(records, ALL) == records
    for scoring, words in ((USUAL, "are left out; --cut-short counted counts them"), (ALL, "count as well")):
        card = sample_card(records, scoring)
        assert card is not None and words in card.notes[0]
        assert card.tables[0].rows == (("all=llm:m", "E-v0", 3, 2, "1 calls, 1 left", 0),)


def test_equal_episodes_of_a_model_are_repetitions():
    records = [record("01"), record("01"), record("10"), record("01", task="other"), record("01", env_kwargs={"x": 1})]
    assert repetitions(records) == 1
    assert repetitions([record(""), record("")]) == 0  # answers to a question
    card = sample_card(records, USUAL)
    assert card is not None and "intervals over them are too narrow" in card.notes[0]


@pytest.mark.parametrize(
    ("trouble", "exhausted", "words"),
    [
        ({"unreadable": 3, "refused": 1}, "", "none of 4 answers of the models could be used"),
        ({"unreadable": 3}, "", ""),
        ({}, "", ""),
        ({}, "tokens", "all 1 episodes were cut short"),
    ],
)
def test_runs_that_measured_nothing_are_told(trouble, exhausted, words):
    own = record(exhausted=exhausted)
    own["accounts"]["agent_0"]["trouble"] = trouble
    assert without_use([own]) == words
    assert without_use([record(accounts={})]) == ""
