"""Records replay to what they say, and one that was changed does not."""

from __future__ import annotations

import copy

import pytest

from collab_overcooked.core.record import HistoryEntry
from collab_overcooked.runner.replay import first_difference, replay


def test_records_replay_to_the_same(random_records):
    for record in random_records:
        assert first_difference(record) is None
        states = list(replay(record))
        assert [state.timestep for state in states] == list(range(record.timesteps + 1))


def change_event(record):
    step = next(step for step in record.steps if step.events[1])
    step.events[1].item = "apple_pie"


def change_action(record):
    record.steps[3].actions = [2, 2]


def cut_short(record):
    record.steps = record.steps[:-2]
    record.timesteps -= 2


def go_on(record):
    record.steps.append(record.steps[-1])
    record.timesteps += 1


@pytest.mark.parametrize(
    ("tamper", "text"),
    [
        (change_event, "events"),
        (change_action, r"steps\[\d+\]\."),
        (cut_short, "the game goes on"),
        (go_on, "the game is over after 25 steps"),
        (
            lambda record: record.steps[4].rewards.__setitem__(0, 5.0),
            r"steps\[4\]\.rewards\[0\]: recorded 5.0, replayed 0",
        ),
        (lambda record: setattr(record, "success", True), "success: recorded True, replayed False"),
        (lambda record: record.history[0].append(HistoryEntry(1, "deliver()")), "history: "),
        (lambda record: setattr(record.steps[0], "action_texts", ["deliver()"] * 2), r"action_texts\[0\]"),
        (lambda record: setattr(record.steps[0], "actions", [10**6, 1]), r"steps\[0\]\.actions\[0\]: got 1000000"),
        (lambda record: record.metrics.update(success=10**400), r"metrics\.success: recorded 1000"),
    ],
)
def test_a_tampered_record_is_found_out(random_records, tamper, text):
    record = copy.deepcopy(random_records[0])
    tamper(record)
    with pytest.raises(AssertionError, match=text):
        assert first_difference(record) is None, first_difference(record)
