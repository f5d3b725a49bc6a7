from __future__ import annotations

from typing import Any

import pytest
from support.records import record_of

from collab_overcooked.core.record import UnusableAnswers
from collab_overcooked.reporting.record_scoring import RecordScoring
from collab_overcooked.reporting.sample_sizes import (
    SAME_PEOPLE,
    counted,
    end_of,
    of_same_people,
    repetitions,
    sample_card,
    without_use,
)

USUAL = RecordScoring()
ALL = RecordScoring(cut_short="counted", repetitions="counted")


def record(actions: str = "01", exhausted: str = "", team: str = "llm:m", **further: Any) -> Any:
    """An episode with an action of one seat in each step; the account's numbers are those of one call."""
    event = {"label": "", "event": "moved", "reason": "OK", "room": "", "adversary": "", "subject": None}
    event |= {"caught": False, "completed": False, "escaped": False}
    steps = [{"actions": [int(action)], "events": [event]} for action in actions]
    account = {"calls": 4, "trouble": {}, "exhausted": exhausted}
    results = {
        "env_id": "CollabCapture-v0",
        "env_kwargs": {},
        "seed": 0,
        "max_cycles": 30,
        "task": "t",
        "team": {"agent_0": team},
        "accounts": {"agent_0": account},
    }
    return record_of(**{**results, "steps": steps, **further})


def test_episodes_without_a_budget_s_end_all_count_and_nothing_is_told():
    records = [record("01"), record("10"), record("01", team="greedy"), record("01", team="greedy")]
    assert counted(records, USUAL) == records
    assert sample_card(records, USUAL) is None


def test_episodes_cut_short_are_left_out_unless_asked_and_told_either_way():
    records = [record("01"), record("10", "calls"), record("11", ended="left")]
    assert [end_of(entry) for entry in records] == ["", "calls", "left"]
    assert counted(records, USUAL) == records[:1]
    assert counted(records, ALL) == records
    for scoring, text in ((USUAL, "are left out; --cut-short counted counts them"), (ALL, "count as well")):
        card = sample_card(records, scoring)
        assert card is not None and text in card.notes[0]
        assert card.tables[0].rows == (("all=llm:m", "CollabCapture-v0", 3, 2, "1 calls, 1 left", 0, 0),)


def test_episodes_of_the_same_people_are_told():
    """Whoever plays twice, with whomever, is no further unit."""

    def played(*people: str) -> Any:
        times = {"interface": "", "clock": "turns", "decisions": 1, "seconds": 1.0, "timeouts": 0, "disconnects": 0}
        entries = {f"agent_{k}": {"id": person, "refused": 0, **times} for k, person in enumerate(people)}
        return record("01", team="person", people=entries)

    apart = [played("p-1", "p-2"), played("p-3", "p-4")]
    assert of_same_people(apart) == 0 and sample_card(apart, USUAL) is None
    records = [*apart, played("p-2", "p-5")]
    card = sample_card(records, USUAL)
    assert card is not None and card.notes == (SAME_PEOPLE,) and card.tables[0].rows[0][-1] == 2


def test_equal_episodes_of_a_model_are_repetitions():
    records = [
        record("01"),
        record("01"),
        record("10"),
        record("01", task="other"),
        record("01", env_kwargs={"max_cycles": 5}),
    ]
    assert repetitions(records) == 1
    for scoring, text in (
        (USUAL, "left out; --repetitions counted counts"),
        (ALL, "intervals over them are too narrow"),
    ):
        card = sample_card(records, scoring)
        assert card is not None and text in card.notes[0]


def test_intervals_count_what_was_really_asked():
    """Ten episodes of a model at temperature 0 are one; of ten drawn ones all count, even if some are alike."""
    for spec, left in (
        ("llm:m", 1),
        ("llm:m?temperature=0.7,seed=3", 1),
        ("llm:m?temperature=0.7", 10),
        ("greedy", 10),
    ):
        records = [record("01", team=spec, seed=seed) for seed in range(10)]
        assert len(counted(records, USUAL)) == left, spec
        assert counted(records, ALL) == records
    drawn = record("01", team="llm:m?temperature=0.7", seed=5)
    assert counted([drawn, drawn], USUAL) == [drawn], "the same seed is the same draw, as from a store"
    assert len(counted([record("01", team="llm:gone.yaml", seed=seed) for seed in (1, 2)], USUAL)) == 2


def test_answers_to_questions_are_no_repetitions():
    assert repetitions([record(""), record("")]) == 0


@pytest.mark.parametrize(
    ("trouble", "exhausted", "text"),
    [
        ({"unreadable": 3, "refused": 1}, "", "none of 4 answers of the models could be used: 3 unreadable, 1 refused"),
        ({"unreadable": 3}, "", ""),
        ({}, "", ""),
        ({}, "tokens", "all 1 episodes were cut short"),
    ],
)
def test_runs_that_measured_nothing_are_told(trouble, exhausted, text):
    entry = record(exhausted=exhausted)
    entry.accounts["agent_0"].trouble = trouble
    assert without_use([entry]) == text
    assert without_use([record(accounts={})]) == ""


def test_the_commonest_reason_and_a_sample_stand_beside_answers_without_use():
    entry = record()
    entry.accounts["agent_0"].trouble = {"unreadable": 4}
    entry.accounts["agent_0"].unusable = {"empty": UnusableAnswers(1, ""), "cannot be read": UnusableAnswers(3, "moo")}
    assert without_use([entry, entry]).endswith("could be used: 6 x cannot be read, for example: moo")
