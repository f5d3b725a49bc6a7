"""A match that is played again into the same folder is kept under numbers of its own."""

from __future__ import annotations

import pytest

from collab_overcooked.adapters.results import SharedFolder
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.match import MatchPlan
from collab_overcooked.runner.records import key_of, read_records

pytestmark = pytest.mark.attacks


@pytest.fixture(scope="module")
def plan() -> MatchPlan:
    return plan_evaluation("collab-capture", ["all=random"], episodes=2)


@pytest.fixture(scope="module")
def played(plan):
    """The records of each match."""
    return [match.run() for match in plan.matches]


@pytest.mark.parametrize("order", [(0, 1, 0, 1, 0, 1), (0, 0, 0, 1, 1, 1), (1, 0, 1, 1, 0, 0)])
def test_every_rollout_of_a_sample_is_kept_in_any_order(plan, played, order, tmp_path):
    folder, kept = SharedFolder(plan, str(tmp_path)), []
    for number in order:
        kept += folder.add(played[number])
    assert folder.finished and len(set(map(key_of, kept))) == 6
    records = read_records(tmp_path)
    assert [record.episode for record in records] == [0, 1, 2, 3, 4, 5]
    assert [record.seed for record in records] == 3 * [match.seed for match in plan.matches]
    assert [record.timesteps for record in records] == 3 * [one.timesteps for records in played for one in records]


def test_repetitions_of_a_folder_that_is_opened_again_are_kept(plan, played, tmp_path):
    for expected in (2, 4):
        folder = SharedFolder(plan, str(tmp_path))
        for records in played:
            folder.add(records)
        assert folder.finished and len(read_records(tmp_path)) == expected


def test_repetitions_are_no_episodes_of_a_longer_evaluation(plan, played, tmp_path):
    folder = SharedFolder(plan, str(tmp_path))
    for records in (*played, *played):
        folder.add(records)
    longer = plan_evaluation("collab-capture", ["all=random"], episodes=4)
    with pytest.raises(ValueError, match="it is a repetition of another episode; choose another folder"):
        evaluate(longer, tmp_path, workers=1)
    with pytest.raises(ValueError, match="it is a repetition of another episode; choose another folder"):
        SharedFolder(longer, str(tmp_path))
    assert len(read_records(tmp_path)) == 4
