"""Yoked participants: those of other conditions play the same tasks in the same order, also after drop-outs."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from study.world import factorial

from collab_overcooked.io.documents import DocumentError
from collab_overcooked.play.host import Host
from collab_overcooked.study.hosting import StudyHost
from collab_overcooked.study.journal import Journal, study_of
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import ExportOptions, StudyResults, export


def yoked(**block: Any) -> dict[str, Any]:
    """Return a study of one factor between participants, who play three episodes of two tasks."""
    content = factorial(**{"order": "between", "match": "yoked"} | block)
    content["cell"]["options"] |= {"scenario": ["easy", "hard"]}
    content["cell"]["episodes"] = 3
    del content["factors"]["talk"]
    return content


@pytest.mark.parametrize("seed", range(3))
def test_a_participant_who_leaves_is_replaced_by_one_with_the_same_tasks(seed: int, tmp_path: Path) -> None:
    """Whoever leaves, those who stay are yoked without gaps in each condition, and conditions are balanced."""
    study = read_study(yoked() | {"seed": seed})
    with Journal.open(tmp_path, study) as journal:
        host = StudyHost(journal, Host())
        for n in range(30):
            person = journal.join({"PID": str(n)})
            host.match(person)
            if n % 3 == 1:  # after others have joined
                journal.end(journal.people[list(journal.people)[n - seed % 2]], "left")
        known = [(p.id, p.yoke, journal.conditions_of(p)) for p in journal.people.values()]
        staying = [p for p in journal.people.values() if not p.end]
        numbers = {
            name: sorted(p.yoke for p in staying if journal.conditions_of(p) == [name]) for name in ("mate", "random")
        }
    assert numbers["mate"] == numbers["random"] == list(range(10))
    resumed = Journal(tmp_path, study_of(tmp_path))
    assert [(p.id, p.yoke, resumed.conditions_of(p)) for p in resumed.people.values()] == known


def test_the_yoke_of_an_idle_participant_is_taken_by_another(tmp_path: Path) -> None:
    """Who closes the page never ends; after a while the place and its tasks are given to somebody else."""
    now = [0.0]
    with Journal.open(tmp_path, read_study(yoked())) as journal:
        host = StudyHost(journal, Host(), now=lambda: now[0])
        first, second = (journal.join({"PID": name}) for name in "ab")
        for person in (first, second):
            host.note_activity(person)
            host.match(person)
        assert (first.yoke, second.yoke) == (0, 0) and journal.conditions_of(first) != journal.conditions_of(second)
        now[0] = 3600.0
        host.note_activity(second)
        third = journal.join({"PID": "c"})
        host.note_activity(third)
        host.match(third)
        assert (third.yoke, journal.conditions_of(third)) == (0, journal.conditions_of(first))


def test_yoked_participants_play_the_same_tasks(tmp_path: Path) -> None:
    from collab_overcooked.study.rehearsal import rehearse

    pytest.importorskip("uvicorn", reason="needs the extra play")
    outcome = rehearse(read_study(yoked()), 4, tmp_path / "run", leavers=1)
    assert not outcome.errors and outcome.ends == {"done": 4}
    export(tmp_path / "run", tmp_path / "tables", ExportOptions())
    rows = {
        name: list(csv.DictReader((tmp_path / "tables" / f"{name}.csv").read_text().splitlines()))
        for name in ("participants", "tidy", "codebook")
    }
    done = [row for row in rows["participants"] if row["end"] == "done"]
    assert Counter((row["conditions"], row["yoke"]) for row in done) == Counter(
        (name, yoke) for name in ("mate", "random") for yoke in "01"
    )
    played: dict[str, list[tuple[str, int]]] = {}
    for records in StudyResults.read(tmp_path / "run").records.values():
        for record in records:
            for person in record.people.values():
                played.setdefault(person.id, []).append((record.task, record.seed))
    tasks = {row["id"]: played[row["id"]] for row in done}
    by_yoke = [{tuple(tasks[row["id"]]) for row in done if row["yoke"] == yoke} for yoke in "01"]
    assert [len(orders) for orders in by_yoke] == [1, 1] and by_yoke[0] != by_yoke[1]
    assert {len(order) for orders in by_yoke for order in orders} == {3}
    assert {row["yoke"] for row in rows["tidy"]} == {"0", "1"}
    assert {row["table"] for row in rows["codebook"] if row["name"] == "yoke"} == {"participants", "tidy"}


def test_groups_without_yokes_have_none(tmp_path: Path) -> None:
    with Journal.open(tmp_path, read_study(factorial(order="between"))) as journal:
        journal.form_group([journal.join({"PID": "p"}).id])
        assert journal.yokes == [None] and "yoke" not in journal.events[-1]


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("blocks", 0, "order"), "latin", "must be tasks where all groups play the same conditions"),
        (("participants", "quota"), {"mate": 2, "random": 4}, "yoked needs conditions with equal quotas"),
        (
            ("factors", "partner"),
            {"mate": {"episodes": 1}, "random": {"episodes": 2}},
            "yoked needs conditions with equally many episodes",
        ),
        (
            ("factors", "partner"),
            {"mate": {"options": {"scenario": ["easy", "hard"]}}, "random": {"options": {"scenario": ["easy"]}}},
            "blocks.0.match: yoked needs conditions with the same tasks",
        ),
    ],
)
def test_what_cannot_be_yoked_is_refused(path: tuple[Any, ...], value: Any, complaint: str) -> None:
    content = yoked()
    place: Any = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(DocumentError) as error:
        read_study(content)
    assert complaint in str(error.value)
