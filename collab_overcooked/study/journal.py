"""What happened in a study, written line by line as it happens, and read again when the study goes on."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from collab_overcooked import __version__
from collab_overcooked.io import schema
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.schema import Check, SchemaError, integer, list_of, mapping_of, nullable, object_of
from collab_overcooked.runner.records import (
    CONFIG,
    LOCK,
    RecordError,
    append_line,
    drop_partial_line,
    read_config,
    use_config,
    write_atomic,
)
from collab_overcooked.study.design import ENDS, KEYS, Step, Study, read_study

JOURNAL, PEOPLE, CONDITIONS = "journal.jsonl", "people.jsonl", "conditions"
LOST = {
    PEOPLE: "the participant who was joining starts again, from the page of consent",
    JOURNAL: "the participant whose step it was does that step again; other participants lose nothing",
}
"""What an unfinished last line of each file means for participants."""
Note = Callable[[str], None]

_OF_PERSON = {"id": schema.name, "step": integer()}
_FACTS: Mapping[str, Mapping[str, Check]] = {
    "joined": {"id": schema.name, "number": integer(), "consent": schema.name},
    "declined": {},
    "grouped": {"group": integer(), "members": list_of(schema.name)},
    "opened": _OF_PERSON,
    "extended": {"places": integer(1, 100_000)},
    "passed": _OF_PERSON,
    "answered": {
        **_OF_PERSON,
        **dict.fromkeys(("form", "condition"), schema.name),
        "group": nullable(integer()),
        "place": integer(),
        "answers": mapping_of(lambda value: check_answer(value)),
    },
    "ended": {**_OF_PERSON, "how": schema.one_of(*ENDS)},
}
_OPTIONAL: Mapping[str, Mapping[str, Check]] = {"grouped": {"row": integer()}}  # it was the group's number before
_EVENTS = {
    kind: object_of({"time": schema.number(0, 10**11), "event": schema.one_of(*_FACTS), **facts}, _OPTIONAL.get(kind))
    for kind, facts in _FACTS.items()
}
check_secret = object_of({"id": schema.name, "token": schema.name, "kept": mapping_of(schema.text)})
"""Checks who a participant is."""


def check_answer(value: Any) -> None:
    """Check an answer, see ``forms.Item.read``."""
    check: Check = list_of(schema.text) if isinstance(value, list) else schema.text
    (integer(-schema.MAX_NUMBER) if type(value) is int else nullable(check))(value)


def check_event(value: Any) -> None:
    """Check an entry of the journal."""
    object_of({"event": schema.one_of(*_FACTS)})(value)
    _EVENTS[value["event"]](value)


@dataclass
class Participant:
    """Somebody who has given consent.

    Attributes:
        id: Drawn at random; all files but ``PEOPLE`` name a person by it.
        token: The secret of the person's link.
        number: Of those who gave consent, from 0.
        kept: The panel's id and other parameters of the address, by name.
        group: Number of the group, None before there is one.
        row: Of the balanced orders; 0 before there is a group.
        step: How many steps are done.
        end: How taking part ended, see ``design.ENDS``; empty until then.
        opened: The step that has a time limit and was shown last, and when; None before.
        failed_checks: How many attention checks the answers failed.
    """

    id: str
    token: str
    number: int
    kept: Mapping[str, str] = field(default_factory=dict)
    group: int | None = None
    row: int = 0
    step: int = 0
    end: str = ""
    opened: tuple[int, float] | None = None
    failed_checks: int = 0


class Journal:
    """What happened in a study. Close it after use.

    Args:
        path: The folder of the study.
        study: What is done.

    Attributes:
        people: Participants by id.
        groups: Ids of the members of each group.
        rows: Which row of the balanced orders each group plays.
        events: All entries, in their order.
        joined: How many gave consent.
        declined: How many did not.
        limit: How many are to complete the study.
        clock: Returns seconds since 1970.

    Raises:
        RecordError: For a line that cannot be read.
    """

    def __init__(self, path: str | Path, study: Study) -> None:
        self.path, self.study = Path(path), study
        self.people: dict[str, Participant] = {}
        self.groups: list[tuple[str, ...]] = []
        self.rows: list[int] = []
        self.events: list[dict[str, Any]] = []
        self.joined = self.declined = 0
        self.limit = study.limit
        self.clock: Callable[[], float] = time.time
        self._by_token: dict[bytes, Participant] = {}
        self._steps: dict[int, list[Step]] = {}
        self._lock: FileLock | None = None
        secret = {line["id"]: line for line in read_lines(self.path / PEOPLE, check_secret)}
        for event in read_lines(self.path / JOURNAL, check_event):
            self._apply(event, secret)

    @classmethod
    def open(cls, path: str | Path, study: Study, note: Note = print) -> Self:
        """Open a folder for writing; a study that was stopped there goes on where it was.

        Args:
            path: The folder; made if it does not exist.
            study: What is done.
            note: Called with what was repaired, in a sentence.

        Raises:
            ValueError: If the folder holds another study, or a line that cannot be read.
            OSError: If it cannot be written to, or another process writes to it.
        """
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        try:
            lock = FileLock(path / LOCK)
        except BlockingIOError:
            raise BlockingIOError(
                f"{path}: another process runs a study in this folder; stop it, or choose another folder"
            ) from None
        try:
            content = {"study": study.name, "version": __version__, **study.content, "partners": study.partners}
            use_config(path, json.loads(json.dumps(content)))
            for name, result in LOST.items():
                drop_partial_line(path / name, note, result)
            found = cls(path, study)
        except BaseException:
            lock.release()
            raise
        found._lock = lock
        return found

    def close(self) -> None:
        """Let others write to the folder."""
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ---------------------------------------------------------------------------------------- what happens

    def _write(self, event: str, **facts: Any) -> None:
        entry = {"time": round(self.clock(), 3), "event": event, **facts}
        append_line(self.path / JOURNAL, schema.json_line(entry, check_event))
        self._apply(entry, {})

    def _apply(self, event: Mapping[str, Any], secret: Mapping[str, Mapping[str, Any]]) -> None:
        """Change what is known by an entry of the journal, a new one or one that is read again."""
        kind, person = event["event"], self.people.get(event.get("id", ""))
        self.events.append(dict(event))
        if kind == "joined":
            self.joined += 1
            own = secret.get(event["id"])
            if own is not None:  # else it is written now, or was forgotten on the person's wish
                self._add(Participant(own["id"], own["token"], event["number"], own["kept"]))
        elif kind == "declined":
            self.declined += 1
        elif kind == "grouped":
            self._apply_group(event)
        elif kind == "extended":
            self.limit += event["places"]
        elif person is not None:
            self._apply_step(person, event)

    def _apply_group(self, event: Mapping[str, Any]) -> None:
        self.groups.append(tuple(event["members"]))
        self.rows.append(event.get("row", event["group"]))
        for name in event["members"]:
            if name in self.people:
                self.people[name].group, self.people[name].row = event["group"], self.rows[-1]

    def _apply_step(self, person: Participant, event: Mapping[str, Any]) -> None:
        if event["event"] == "opened":
            person.opened = event["step"], event["time"]
        elif event["event"] == "ended":
            person.end = event["how"]
        else:
            person.step = event["step"] + 1
            form = self.study.forms.get(event.get("form", ""))
            person.failed_checks += 0 if form is None else form.failed(event["answers"])

    def _add(self, person: Participant) -> None:
        self.people[person.id] = self._by_token[_digest(person.token)] = person

    def join(self, kept: Mapping[str, str]) -> Participant:
        """Take in somebody who gave consent.

        Args:
            kept: Parameters of the address that the study stores, the panel's id among them.
        """
        person = Participant(f"p-{secrets.token_hex(4)}", secrets.token_urlsafe(16), self.joined, dict(kept))
        own = {"id": person.id, "token": person.token, "kept": person.kept}
        path = self.path / PEOPLE
        os.close(os.open(path, os.O_CREAT | os.O_APPEND, 0o600))  # nobody else reads who is who
        append_line(path, schema.json_line(own, check_secret))
        self._add(person)
        self._write("joined", id=person.id, number=person.number, consent=self.study.consent_version)
        return person

    def decline(self) -> None:
        """Count somebody who did not give consent."""
        self._write("declined")

    def form_group(self, members: Sequence[str], row: int | None = None) -> int:
        """Let people play together from now on; returns the number of their group.

        Args:
            members: Their ids.
            row: Of the balanced orders; the number of the group if None.
        """
        number = len(self.groups)
        self._write("grouped", group=number, members=list(members), row=number if row is None else row)
        return number

    def extend(self, places: int) -> None:
        """Let more people take part than the study file says."""
        self._write("extended", places=places)

    def opened(self, person: Participant) -> None:
        """Note that somebody sees a step with a time limit for the first time; seen again, the time goes on."""
        if person.opened is None or person.opened[0] != person.step:
            self._write("opened", id=person.id, step=person.step)

    def passed(self, person: Participant) -> None:
        """Note that somebody has read the page, or played the condition, that they were at."""
        self._write("passed", id=person.id, step=person.step)

    def answered(self, person: Participant, answers: Mapping[str, Any]) -> None:
        """Keep the answers to the questionnaire that somebody is at."""
        step = self.step_of(person)
        assert step is not None
        facts = {"form": step.form, "condition": step.condition, "place": step.place, "answers": answers}
        self._write("answered", id=person.id, group=person.group, step=person.step, **facts)

    def end(self, person: Participant, how: str) -> None:
        """Note how taking part ended for somebody; a first end stays."""
        if not person.end:
            self._write("ended", id=person.id, how=how, step=person.step)

    def forget(self, name: str) -> list[str]:
        """Delete who somebody is, and the answers that they gave, on their wish; their games name nobody any more.

        Args:
            name: Random id, or the panel's id, with which somebody may have come several times.

        Returns:
            The random ids that are forgotten.

        Raises:
            ValueError: If nobody has this id.
        """
        names = [name] if name in self.people else [own.id for own in self.with_panel_id(name)]
        if not names:
            raise ValueError(near_matches("participant", name, self.people))
        people = [line for line in read_lines(self.path / PEOPLE, check_secret) if line["id"] not in names]
        events = [
            event | ({"answers": {}} if event.get("id") in names and "answers" in event else {})
            for event in self.events
        ]
        for file, lines, check in ((JOURNAL, events, check_event), (PEOPLE, people, check_secret)):
            write_atomic(self.path / file, b"".join(schema.json_line(line, check) for line in lines))
        (self.path / PEOPLE).chmod(0o600)
        for own in names:
            self._by_token.pop(_digest(self.people.pop(own).token))
        self.events = events
        return names

    # ---------------------------------------------------------------------------------------- what is known

    def by_token(self, token: str) -> Participant | None:
        """Return whose link it is, None if it is nobody's."""
        return self._by_token.get(_digest(token))

    def with_panel_id(self, panel_id: str) -> list[Participant]:
        """Return who came with an id of a panel, once or several times."""
        return [own for own in self.people.values() if own.kept.get(self.study.panel_id) == panel_id]

    def steps_of(self, person: Participant) -> list[Step]:
        """Return all that somebody does; the part behind the first game is known when there is a group."""
        if person.row not in self._steps:
            self._steps[person.row] = self.study.steps(person.row)
        return self._steps[person.row]

    def step_of(self, person: Participant) -> Step | None:
        """Return what somebody is to do now, None when everything is done."""
        steps = self.steps_of(person)
        return steps[person.step] if person.step < len(steps) else None


def _digest(token: str) -> bytes:
    """Return what secrets are looked up by, so that the time it takes tells nothing of them."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def study_of(folder: Path) -> Study:
    """Return the study of a folder.

    Raises:
        ValueError: If it holds none.
    """
    config = read_config(folder)
    if "study" not in config:
        raise ValueError(f"{folder}: holds no study")
    try:
        found = read_study({key: config[key] for key in KEYS if key in config})
    except ValueError as error:
        raise RecordError(f"{folder / CONFIG}: {error}") from None
    return replace(found, name=str(config["study"]))


def read_lines(path: Path, check: Check) -> list[dict[str, Any]]:
    """Read a file of JSON objects, one a line, but for a last one that is being written; none if it does not exist.

    Args:
        path: The file.
        check: Raises SchemaError for an object that is not as it should be.

    Raises:
        RecordError: For such a line, or one that is no JSON object; the message names it.
    """
    if not path.exists():
        return []
    data = path.read_bytes()
    try:
        return schema.read_lines(data[: data.rfind(b"\n") + 1], str(path), check)
    except SchemaError as error:
        raise RecordError(str(error)) from None
