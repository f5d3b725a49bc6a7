"""The journal of a study: it goes on after a restart, has one writer and keeps identities apart."""

from __future__ import annotations

import json
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from study.world import QUICK, changed

from collab_overcooked.io.files import write_atomic
from collab_overcooked.study.design import Study
from collab_overcooked.study.journal import JOURNAL, PEOPLE, REHEARSAL, Journal
from collab_overcooked.study.reader import read_study


def test_a_study_goes_on_where_it_was(study: Study, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Journal.open(tmp_path, study) as journal:
        one, other = (journal.join({"PID": name}) for name in ("a", "b"))
        journal.passed(one)
        journal.answered(one, {"age": 30, "games": ["chess"]})
        journal.form_group([one.id])
        journal.decline()
        journal.end(other, "left")
        journal.end(other, "done")  # the first end stays
    with (tmp_path / JOURNAL).open("a") as file:
        file.write('{"event": "passed", "id"')  # as a process leaves it that is killed
    with Journal.open(tmp_path, study) as journal:
        again, gone = journal.by_token(one.token), journal.by_token(other.token)
        assert again is not None and (again.id, again.step, again.group) == (one.id, 2, 0)
        assert gone is not None and gone.end == "left" and journal.by_token("x") is None
        assert (journal.joined, journal.declined) == (2, 1)
        step = journal.step_of(again)
        assert step is not None and (step.kind, step.condition) == ("play", "helped")
    assert len(caplog.messages) == 1 and "dropped" in caplog.messages[0]


def test_two_writers_and_other_studies_are_refused(study: Study, tmp_path: Path) -> None:
    with Journal.open(tmp_path, study):
        with pytest.raises(BlockingIOError, match="another process runs a study in this folder"):
            Journal.open(tmp_path, study)
    with pytest.raises(ValueError, match="title was 'Quick <b>study</b>', now 'Other'"):
        Journal.open(tmp_path, read_study(changed("title", to="Other")))


@pytest.mark.parametrize("title", [QUICK["title"], "Other"])
def test_a_study_does_not_go_on_in_the_folder_of_a_rehearsal(study: Study, title: str, tmp_path: Path) -> None:
    Journal.open(tmp_path, replace(study, content={**study.content, REHEARSAL: True})).close()
    with pytest.raises(ValueError, match=r"holds a rehearsal by bots; choose another folder$"):
        Journal.open(tmp_path, read_study(changed("title", to=title)))


@pytest.mark.parametrize(
    ("was", "now", "command"),
    [
        ({"limit": 4}, {"limit": 6}, "limit=6"),
        ({"limit": 6}, {"limit": 4}, None),
        ({"quota": 4}, {"quota": 5}, "quota=5"),
        ({"quota": {"helped": 4, "hindered": 4}}, {"quota": {"helped": 4, "hindered": 6}}, "quota.hindered=6"),
        ({"failed_checks": 1}, {"failed_checks": 2}, None),
    ],
)
def test_a_limit_that_was_raised_in_the_file_is_to_be_raised_by_the_command(
    was: dict[str, Any], now: dict[str, Any], command: str | None, tmp_path: Path
) -> None:
    Journal.open(tmp_path, read_study(changed("participants", to=QUICK["participants"] | was))).close()
    with pytest.raises(ValueError, match=r"was .*, now") as error:
        Journal.open(tmp_path, read_study(changed("participants", to=QUICK["participants"] | now)))
    assert ("study raise" in str(error.value)) == (command is not None)
    if command is not None:
        name, _, value = command.partition("=")
        assert str(error.value).endswith(f"study raise {tmp_path} {command}")
        with Journal.open(tmp_path, read_study(changed("participants", to=QUICK["participants"] | was))) as journal:
            journal.raise_limit(name, int(value))


def test_who_somebody_is_stands_in_one_file_that_only_the_owner_reads(study: Study, tmp_path: Path) -> None:
    with Journal.open(tmp_path, study) as journal:
        person = journal.join({"PID": "panel-77", "STUDY": "s"})
        journal.answered(person, {"age": 30})
        assert (tmp_path / PEOPLE).stat().st_mode & 0o077 == 0
        assert (
            "panel-77" not in (tmp_path / JOURNAL).read_text() and person.token not in (tmp_path / JOURNAL).read_text()
        )
        journal.forget(person.id)
        with pytest.raises(ValueError, match="unknown participant"):
            journal.forget(person.id)
        twice = [journal.join({"PID": "panel-78", "STUDY": "s"}) for _ in range(2)]
        assert journal.forget("panel-78") == [entry.id for entry in twice]
    everything = "".join(path.read_text() for path in (tmp_path / PEOPLE, tmp_path / JOURNAL))
    assert "panel-7" not in everything and "30" not in [
        str(v) for v in json.loads(everything.splitlines()[1])["answers"]
    ]
    with Journal.open(tmp_path, study) as journal:
        assert not journal.people and journal.joined == 3


@pytest.mark.parametrize("file", [JOURNAL, PEOPLE])
def test_who_is_forgotten_is_gone_also_after_an_interruption(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """The process is stopped before it writes a file: the name can be asked for again, or nothing of it is left."""
    from collab_overcooked.study import journal as module

    with Journal.open(tmp_path, study) as journal:
        gone, other = (journal.join({"PID": name}) for name in ("PANEL-1", "PANEL-2"))
        with monkeypatch.context() as stopped:

            def write(path: Path, *content: Any) -> None:
                if path.name == file:
                    raise KeyboardInterrupt
                write_atomic(path, *content)

            stopped.setattr(module, "write_atomic", write)
            with pytest.raises(KeyboardInterrupt):
                journal.forget("PANEL-1")
    with Journal.open(tmp_path, study) as journal:
        if file == JOURNAL:
            assert journal.forget("PANEL-1") == [gone.id]
        assert list(journal.people) == [other.id] and journal.joined == 2
    everything = "".join(path.read_text() for path in tmp_path.glob("*.jsonl"))
    assert "PANEL-2" in everything
    assert not [text for text in ("PANEL-1", gone.id, gone.token) if text in everything]


def test_an_identity_without_consent_is_deleted(study: Study, tmp_path: Path) -> None:
    """The process was stopped while somebody joined."""
    with Journal.open(tmp_path, study) as journal:
        journal.join({"PID": "PANEL-1"})
    before = (tmp_path / PEOPLE).read_text()
    with (tmp_path / PEOPLE).open("a") as people:
        people.write('{"id": "p-0", "token": "secret", "kept": {"PID": "PANEL-2"}}\n')
    Journal.open(tmp_path, study).close()
    assert (tmp_path / PEOPLE).read_text() == before and (tmp_path / PEOPLE).stat().st_mode & 0o077 == 0


def test_nobody_joins_halfway_when_the_disk_is_full(tmp_path: Path) -> None:
    """At every byte: who is refused leaves nothing, who joined before stays, and others join when there is room."""
    journal = Journal.open(tmp_path, read_study(QUICK))
    first = journal.join({})
    files = sorted(path for path in tmp_path.iterdir() if path.suffix == ".jsonl")
    before = {path: path.read_bytes() for path in files}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in range(min(map(len, before.values())), max(map(len, before.values())) + 60, 7):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            with pytest.raises(OSError, match="too large"):
                journal.join({})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert {path: path.read_bytes() for path in files} == before and list(journal.people) == [first.id]
    second = journal.join({})
    journal.close()
    assert list(Journal(tmp_path, read_study(QUICK)).people) == [first.id, second.id]


def test_what_a_damaged_journal_means_is_said_of_participants(tmp_path: Path, caplog):
    study = read_study("mindagent_partners")
    with Journal.open(tmp_path, study) as journal:
        journal.join({})
    for name in (JOURNAL, PEOPLE):
        with (tmp_path / name).open("ab") as file:
            file.write(b'{"time": 1')
    with Journal.open(tmp_path, study) as journal:
        assert len(journal.people) == 1
    assert len(caplog.messages) == 2 and all(
        "participant" in note and "episode" not in note for note in caplog.messages
    )
