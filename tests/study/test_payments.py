"""Lists of approvals and bonuses: those who completed the study, once, by the rule of its file."""

from __future__ import annotations

import stat
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from study.world import QUICK
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.study.design import Bonus, Study
from collab_overcooked.study.journal import Journal
from collab_overcooked.study.payments import payments
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import StudyResults

TASK = "easy, kitchen, 2 agents"


def test_a_rehearsal_has_lists_for_the_panel(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    """Bots 0 to 3 complete the study; those that leave, decline or close the tab are in no list."""
    done = CliRunner().invoke(app, ["study", "payments", str(rehearsed[0]), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "approve: 4 participants; bonus: 0.00 in all" in done.output
    approvals, bonuses = tmp_path / "out" / "approve.csv", tmp_path / "out" / "bonus.csv"
    assert sorted(approvals.read_text().splitlines()) == ["bot0", "bot1", "bot2", "bot3"]
    assert bonuses.read_text() == "", "the study pays none"
    assert {stat.S_IMODE(file.stat().st_mode) for file in (approvals, bonuses)} == {0o600}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Bonus(100.0, fixed=1.5), lambda points: 1.5),
        (Bonus(100.0, fixed=1.5, per_point=0.25), lambda points: 1.5 + 0.25 * points),
        (Bonus(1.7, fixed=1.5, per_round=0.15), lambda points: 1.7),
        (Bonus(100.0, fixed=1.0, per_round=0.5, tasks=(TASK,)), lambda points: 2.0),
        (Bonus(100.0, fixed=1.0, per_point=5.0, tasks=("another",)), lambda points: 1.0),
    ],
)
def test_bonuses_follow_the_rule(
    rehearsed: tuple[Path, Any], study: Study, rule: Bonus, expected: Any, tmp_path: Path
) -> None:
    results = StudyResults.read(rehearsed[0])
    results.journal.study = replace(study, bonus=rule)
    points = Counter[str]()
    for row in results.episodes():
        points[results.journal.people[str(row["id"])].kept["PID"]] += row["completed"]
    payments(results).write(tmp_path)
    lines = dict(line.split(",") for line in (tmp_path / "bonus.csv").read_text().splitlines())
    assert lines == {name: f"{expected(points[name]):.2f}" for name in ("bot0", "bot1", "bot2", "bot3")}


def test_who_completed_twice_is_paid_once_and_what_is_no_id_is_left_out(study: Study, tmp_path: Path) -> None:
    """The address of a study is written by participants: an id with a comma would pay another one."""
    with Journal.open(tmp_path / "run", study) as journal:
        for panel_id, end in (("p1", "done"), ("p1", "done"), ("p2,99", "done"), ("p3", "left"), ("p4", "")):
            person = journal.join({"PID": panel_id})
            if end:
                journal.end(person, end)
        forged = list(journal.people)[2]
    paid = payments(StudyResults.read(tmp_path / "run"))
    assert dict(paid.bonuses) == {"p1": 0.0} and paid.left_out == (forged,)
    assert list(payments(StudyResults.read(tmp_path / "run"), ["left", "done"]).bonuses) == ["p1", "p3"]
    command = ["study", "payments", str(tmp_path / "run"), "--out", str(tmp_path / "out"), "--ends"]
    for given in (["done,left"], ["done", "left"]):
        done = CliRunner().invoke(app, [*command, *given])
        assert done.exit_code == 0, done.output
        assert (tmp_path / "out" / "approve.csv").read_text() == "p1\np3\n"
    done = CliRunner().invoke(app, [*command, "partner"])
    assert done.exit_code == 2 and "did you mean partner_left" in done.output, done.output


def test_a_completed_visit_is_paid_before_one_that_ended_otherwise(study: Study, tmp_path: Path) -> None:
    with Journal.open(tmp_path, replace(study, bonus=Bonus(9.0, fixed=1.5))) as journal:
        for end in ("partner_left", "done"):
            journal.end(journal.join({"PID": "p1"}), end)
    results = StudyResults.read(tmp_path)
    results.journal.study = replace(study, bonus=Bonus(9.0, fixed=1.5))
    assert dict(payments(results, ["partner_left", "done"]).bonuses) == {"p1": 1.5}
    assert dict(payments(results, ["partner_left"]).bonuses) == {"p1": 0.0}


def test_a_study_without_panel_ids_has_no_lists(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "run", read_study(QUICK | {"participants": {}, "finish": {}})) as journal:
        journal.join({})
    done = CliRunner().invoke(app, ["study", "payments", str(tmp_path / "run"), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2 and "participants.id" in done.output and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("bonus", "complaint"),
    [
        ({"most": 2}, "bonus must have one or several of per_point, per_round, fixed"),
        ({"fixed": -1, "most": 2}, "bonus.fixed must be a number of at least 0, not -1"),
        ({"fixed": 1, "tasks": ["easi"], "most": 2}, f"bonus.tasks.0 must be one of {TASK}"),
        ({"fixed": 1}, "bonus.most"),
    ],
)
def test_rules_that_cannot_be_paid_are_refused(bonus: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DocumentError) as error:
        read_study(QUICK | {"bonus": bonus})
    assert complaint in str(error.value)
