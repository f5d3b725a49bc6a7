"""Journal of a study: an append-only log of events, from which an interrupted study is resumed."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from collab_overcooked import __version__
from collab_overcooked.io import schema
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.files import DRAFT, list_folder, write_atomic
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.play.recording import rename_people, replace_ids
from collab_overcooked.runner.records import CONFIG, RecordError, read_config
from collab_overcooked.runner.run import Locked, OtherConfigError, locked_folder
from collab_overcooked.study.design import KEYS, RAISABLE, Study, StudyStep
from collab_overcooked.study.events import MAX_LIMIT, check_event, check_identity, check_request
from collab_overcooked.study.forms import holds
from collab_overcooked.study.reader import read_study

JOURNAL, PEOPLE, CONDITIONS = "journal.jsonl", "people.jsonl", "conditions"
LOST = (
    "the participant whose step it was does that step again; other participants lose nothing",
    "the participant who was joining starts again, from the consent page",
)
"""Consequence for participants of a partial last line of ``journals``."""

ID_BYTES = 4  # of a random id

REHEARSAL = "rehearsal"
"""Key of the configuration of a study with bots, which no study with people can resume."""
REQUESTS = "requests"
"""Folder with a file for each request of another process to the one that runs the study, which deletes it when done."""


@dataclass
class Participant:
    """A person who has given consent."""

    id: str  # Random id, the only name in all files except ``PEOPLE``
    token: str  # Secret of the participant's link
    number: int  # Index in order of consent, from 0
    kept: Mapping[str, str] = field(default_factory=dict)  # Panel id and other stored address parameters, by name
    group: int | None = None  # Number of the group, None before there is one
    row: int = 0  # Row of the balanced orders; 0 before there is a group
    yoke: int | None = None  # Number of the group among those of its conditions; None in studies without yokes
    step: int = 0  # Number of completed steps
    end: str = ""  # How participation ended, see ``design.ENDS``; empty until then
    opened: tuple[int, float] | None = None  # Last step that was shown, and when it first was; None before
    failed_checks: int = 0  # Number of failed attention checks
    orders: Mapping[str, Sequence[int]] = field(default_factory=dict)  # See ``Study.draw_orders``
    answers: dict[str, Any] = field(default_factory=dict)  # Last answers by ``FORM.QUESTION``
    joined: float = 0.0  # Time of consent, in seconds since 1970
    retries: int = 0  # Tries of the current questionnaire whose answers were not accepted


class Journal(Locked):
    """Event log of a study. Close it after use.

    Args:
        path: Folder of the study.
        study: Design of the study.

    Attributes:
        people: Participants by id.
        groups: Ids of the members of each group.
        rows: Row of the balanced orders of each group.
        yokes: Number of each group among those that play its conditions, None in studies without yokes. Groups of
            equal number play the same tasks.
        events: All entries in order.
        joined: Number of people who gave consent.
        declined: Number of people who declined.
        refused: Number of refused people by reason, see ``design.REFUSALS``.
        limits: Numbers of ``design.RAISABLE`` and, as ``quota.CONDITION``, of quotas; None for no limit.
        clock: Returns seconds since 1970.
    """

    def __init__(self, path: str | Path, study: Study) -> None:
        self.path, self.study = Path(path), study
        self.people: dict[str, Participant] = {}
        self.groups: list[tuple[str, ...]] = []
        self.rows: list[int] = []
        self.yokes: list[int | None] = []
        self.events: list[dict[str, Any]] = []
        self.joined = self.declined = 0
        self.refused = Counter[str]()
        self.limits: dict[str, float | None] = {name: getattr(study, name) for name in RAISABLE}
        self.limits |= {f"quota.{name}": quota for name, quota in study.quota.items()}
        self.clock: Callable[[], float] = time.time
        self._by_token: dict[bytes, Participant] = {}
        self._steps: dict[tuple[str, int], list[StudyStep]] = {}
        self._log, self._identities = journals(self.path)
        secret = {line["id"]: line for line in self._identities.read()}
        for event in self._log.read():
            self._apply(event, secret)

    @classmethod
    def open(cls, path: str | Path, study: Study) -> Self:
        """Open a folder for writing; a study that was interrupted there is resumed.

        Args:
            path: Folder; created if it does not exist.
            study: Design of the study.

        Raises:
            BlockingIOError: Another process writes to the folder.
            ValueError: The folder holds another study.
        """
        path = Path(path)
        busy = "another process runs a study in this folder; stop it, or choose another folder"
        content = {"study": study.name, "version": __version__, **study.content, "partners": study.partners}
        files = list(zip(journals(path), LOST, strict=True))
        try:
            with locked_folder(path, busy, json.loads(json.dumps(content)), files) as lock:
                journal = cls(path, study)
                journal._drop_strangers()
        except OtherConfigError as error:
            if REHEARSAL in read_config(path) and REHEARSAL not in study.content:
                raise ValueError(f"{path}: holds a rehearsal by bots; choose another folder") from None
            raise ValueError(f"{error}{_raising(path, study, error.place)}") from None
        journal._lock = lock
        return journal

    def _drop_strangers(self) -> None:
        """Delete identities that no event names: a process was stopped while somebody joined or was forgotten."""
        joined = {event["id"] for event in self.events if event["event"] == "joined"}
        identities = list(JournalFile(self.path / PEOPLE, check_identity).read())
        known = [line for line in identities if line["id"] in joined]
        if len(known) < len(identities):
            self._write_people(known)

    def _write_people(self, identities: Iterable[Mapping[str, Any]]) -> None:
        lines = (schema.json_line(line, check_identity) for line in identities)
        write_atomic(self.path / PEOPLE, lines, 0o600)

    def _write(self, event: str, **facts: Any) -> None:
        entry = {"time": round(self.clock(), 3), "event": event, **facts}
        self._log.append(entry)
        self._apply(entry, {})

    def _apply(self, event: Mapping[str, Any], secret: Mapping[str, Mapping[str, Any]]) -> None:
        kind = event["event"]
        person = self.people.get(event.get("id", ""))
        self.events.append(dict(event))
        if kind == "joined":
            self.joined += 1
            identity = secret.get(event["id"])
            if identity is not None:  # otherwise it is being written, or was deleted on request
                person = Participant(identity["id"], identity["token"], event["number"], identity["kept"])
                person.orders = event.get("orders", {})
                person.joined = event["time"]
                self._add(person)
        elif kind == "declined":
            self.declined += 1
        elif kind == "refused":
            self.refused[event["how"]] += 1
        elif kind == "grouped":
            self._apply_group(event)
        elif kind == "extended":
            self.limits["limit"] = self.limit + event["places"]
        elif kind == "raised":
            self.limits[event["name"]] = event["value"]
        elif person is not None:
            self._apply_step(person, event)

    def _apply_group(self, event: Mapping[str, Any]) -> None:
        self.groups.append(tuple(event["members"]))
        self.rows.append(event.get("row", event["group"]))
        self.yokes.append(event.get("yoke"))
        for name in event["members"]:
            person = self.people.get(name)
            if person is not None:  # otherwise deleted on request
                person.group = event["group"]
                person.row = self.rows[-1]
                person.yoke = self.yokes[-1]

    def _apply_step(self, person: Participant, event: Mapping[str, Any]) -> None:
        if event["event"] == "opened":
            person.opened = event["step"], event["time"]
        elif event["event"] == "ended":
            person.end = event["how"]
        elif event["event"] == "retried":
            person.retries += 1
        else:
            person.step = event["step"] + 1
            person.retries = 0
            form = self.study.forms.get(event.get("form", ""))
            if form is not None:
                person.failed_checks += form.failed(event["answers"])
                person.answers |= {f"{form.name}.{item.name}": event["answers"].get(item.name) for item in form.items}

    def _add(self, person: Participant) -> None:
        self.people[person.id] = self._by_token[_digest(person.token)] = person

    def join(self, kept: Mapping[str, str]) -> Participant:
        """Add a participant who gave consent.

        Args:
            kept: Address parameters that the study stores, including the panel's id.
        """
        person = Participant(f"p-{secrets.token_hex(ID_BYTES)}", secrets.token_urlsafe(16), self.joined, dict(kept))
        person.orders = self.study.draw_orders(person.number)
        before = self._identities.path.stat().st_size if self._identities.path.exists() else 0
        self._identities.append({"id": person.id, "token": person.token, "kept": person.kept})
        try:
            drawn = {"orders": person.orders} if person.orders else {}
            self._write("joined", id=person.id, number=person.number, consent=self.study.consent_version, **drawn)
        except OSError:
            self._identities.cut(before)  # who has not joined leaves nothing
            raise
        person.joined = self.events[-1]["time"]
        self._add(person)
        return person

    def decline(self) -> None:
        """Count a person who declined."""
        self._write("declined")

    def refuse(self, how: str) -> None:
        """Count a person who cannot take part; ``how`` is one of ``design.REFUSALS``."""
        self._write("refused", how=how)

    def form_group(self, members: Sequence[str], row: int | None = None, yoke: int | None = None) -> int:
        """Form a group; returns its number.

        Args:
            members: Ids of its members.
            row: Row of the balanced orders; default: the number of the group.
            yoke: Its number among the groups that play the same conditions; None in studies without yokes.
        """
        number = len(self.groups)
        facts = {"group": number, "members": list(members), "row": number if row is None else row}
        if yoke is not None:
            facts["yoke"] = yoke
        self._write("grouped", **facts)
        return number

    @property
    def limit(self) -> int:
        """Number of participants needed."""
        return int(self.limits["limit"] or 0)

    def quota(self, condition: str) -> float:
        """Return how many participants are to complete a condition, infinity if it has no quota."""
        quota = self.limits.get(f"quota.{condition}")
        return float("inf") if quota is None else quota

    def raise_limit(self, name: str, value: float) -> None:
        """Raise a limit of ``limits``, with immediate effect; see ``check_limit``."""
        self.check_limit(name, value)
        for one in self._limits_of(name):
            if self.limits[one] < value:  # type: ignore[operator]
                self._write("raised", name=one, value=value)

    def _limits_of(self, name: str) -> list[str]:
        """Return the limits of a name, of which ``quota`` stands for the quotas of all conditions."""
        return [one for one in self.limits if one.startswith("quota.")] if name == "quota" else [name]

    def check_limit(self, name: str, value: float) -> None:
        """Check that a limit may be raised to a value.

        Raises:
            ValueError: There is no such limit, or the value is not above the current one, of several the lowest.
        """
        known = {one: current for one, current in self.limits.items() if current is not None}
        current = [known[one] for one in self._limits_of(name) if one in known]
        if not current:
            raise ValueError(near_matches("limit", name, [*known, *(["quota"] if self._limits_of("quota") else [])]))
        if not min(current) < value <= MAX_LIMIT:
            raise ValueError(f"{name} must be above {min(current):g} and at most {MAX_LIMIT}, not {value:g}")

    def conditions_of(self, person: Participant) -> list[str]:
        """Return the conditions that were allocated to a participant, in order; none before there is a group."""
        if person.group is None:
            return []
        return list(dict.fromkeys(step.condition for step in self.steps_of(person) if step.kind == "play"))

    def leaving_text(self, person: Participant) -> str:
        """Return the sentence that tells a participant what ends by leaving now."""
        left = self.steps_of(person)[person.step :]
        together = self.study.group > 1 and person.group is not None
        return self.study.leaving_text(together and any(step.kind == "play" for step in left))

    def opened_at(self) -> dict[tuple[str, int], float]:
        """Return when each step of each participant was first shown, by participant and index of the step."""
        events = (event for event in self.events if event["event"] == "opened")
        return {(event["id"], event["step"]): event["time"] for event in events}

    def opened(self, person: Participant) -> None:
        """Start the time of a step; opening it again does not restart it."""
        if person.opened is None or person.opened[0] != person.step:
            self._write("opened", id=person.id, step=person.step)

    def passed(self, person: Participant, window: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Record that a participant completed the current page or condition; ``window`` is reported by the page."""
        self._write("passed", id=person.id, step=person.step, **window)

    def answered(
        self, person: Participant, answers: Mapping[str, Any], window: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Store the answers to the participant's current questionnaire; ``window`` is reported by the page."""
        step = self.step_of(person)
        assert step is not None
        facts = {"form": step.form, "condition": step.condition, "place": step.place, "answers": answers, **window}
        self._write("answered", id=person.id, group=person.group, step=person.step, **facts)

    def retried(self, person: Participant, answers: Mapping[str, Any]) -> None:
        """Store answers that are not accepted, before the participant tries the questionnaire again."""
        step = self.step_of(person)
        assert step is not None
        self._write("retried", id=person.id, step=person.step, form=step.form, answers=answers)

    def skip(self, person: Participant) -> None:
        """Skip the steps of a participant that depend on answers which were not given."""
        while (step := self.step_of(person)) is not None and not person.end:
            if holds(self.study.blocks[step.block].show_if, person.answers):
                return
            self._write("skipped", id=person.id, step=person.step)

    def end(self, person: Participant, how: str) -> None:
        """Record how participation ended; only the first call counts."""
        if not person.end:
            self._write("ended", id=person.id, how=how, step=person.step)

    def forget(self, name: str) -> list[str]:
        """Delete the identity and the answers of a participant, and replace the random id in all files.

        Args:
            name: Random id, or the panel's id, which may belong to several visits.

        Returns:
            The random ids that were deleted.

        Raises:
            ValueError: The participant is unknown.
        """
        names = self.named(name)
        ids = {entry: self.new_id(entry) for entry in names}
        # First the records: a crash before the journal is written leaves the name to be asked for again, and one after
        # it an identity that the next ``open`` deletes
        for folder in (self.path / CONDITIONS).glob("*"):
            rename_people(folder, ids)
        people = [line for line in JournalFile(self.path / PEOPLE, check_identity).read() if line["id"] not in names]
        events = []
        for event in self.events:
            is_answer = event.get("id") in names and "answers" in event
            kept = {**event, "answers": {}} if is_answer else event
            events.append(json.loads(replace_ids(json.dumps(kept).encode(), ids)))
        write_atomic(self.path / JOURNAL, (schema.json_line(event, check_event) for event in events))
        self._write_people(people)
        for participant in names:
            self._by_token.pop(_digest(self.people.pop(participant).token))
        self.events = events
        self.groups = [tuple(ids.get(member, member) for member in members) for members in self.groups]
        return names

    def named(self, name: str) -> list[str]:
        """Return the random ids for a random id or a panel id; a panel id may belong to several visits.

        Raises:
            ValueError: The participant is unknown.
        """
        names = [name] if name in self.people else [participant.id for participant in self.with_panel_id(name)]
        if not names:
            raise ValueError(near_matches("participant", name, self.people))
        return names

    def new_id(self, name: str) -> str:
        """Return the replacement id of a forgotten participant; it cannot be derived without the deleted secret."""
        secret = f"{name} {self.people[name].token}".encode()
        return f"x-{hashlib.sha256(secret).hexdigest()[: 2 * ID_BYTES]}"

    def by_token(self, token: str) -> Participant | None:
        """Return the participant of a link's token, or None."""
        return self._by_token.get(_digest(token))

    def with_panel_id(self, panel_id: str) -> list[Participant]:
        """Return the visits of a panel id."""
        return [person for person in self.people.values() if person.kept.get(self.study.panel_id) == panel_id]

    def steps_of(self, person: Participant) -> list[StudyStep]:
        """Return the steps of a participant; steps from the first game on are final once the group is formed."""
        key = (person.id, person.row)
        if key not in self._steps:
            self._steps[key] = self.study.steps(person.row, person.orders)
        return self._steps[key]

    def step_of(self, person: Participant) -> StudyStep | None:
        """Return the current step of a participant, None when all are completed."""
        steps = self.steps_of(person)
        return steps[person.step] if person.step < len(steps) else None


def _raising(path: Path, study: Study, place: str) -> str:
    """Return the command that raises the limit in which a study differs from that of its folder; empty without one."""
    section, _, name = place.partition(".")
    value: Any = study.content.get(section)
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if section != "participants" or not isinstance(value, (int, float)):
        return ""
    try:
        Journal(path, study_of(path)).check_limit(name, value)
    except ValueError:  # no limit, or a lower one
        return ""
    return f". To raise it, leave the file as it was: collab-overcooked study raise {path} {name}={value:g}"


def read_limit(text: str) -> float:
    """Return the number that a person writes for a limit.

    Raises:
        ValueError: It is no number.
    """
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,3})?", text, re.ASCII):
        raise ValueError(f"a limit must be a number, not {text!r:.40}")
    number = float(text)
    return int(number) if number.is_integer() else number


def add_request(folder: Path, request: Mapping[str, Any]) -> None:
    """Ask the process that runs a study for something, see ``events.check_request``."""
    line = schema.json_line(dict(request), check_request)
    write_atomic(folder / REQUESTS / f"{secrets.token_hex(16)}.json", line, 0o600)


def open_requests(folder: Path) -> list[Path]:
    """Return the files of the requests of other processes, see ``read_request``."""
    return [path for path in list_folder(folder / REQUESTS) or () if not path.name.startswith(DRAFT)]


def read_request(path: Path) -> dict[str, Any]:
    """Return the request of a file; whoever has executed it deletes the file.

    Raises:
        ValueError: The file is damaged.
    """
    request: dict[str, Any] = schema.read_json(path, check_request)
    return request


def _digest(token: str) -> bytes:
    """Return the lookup key of a secret, so that timing reveals nothing about it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def study_of(folder: Path) -> Study:
    """Return the study of a folder.

    Raises:
        ValueError: The folder holds no study.
        RecordError: Its configuration is damaged.
    """
    config = read_config(folder)
    if "study" not in config:
        raise ValueError(f"{folder}: holds no study")
    try:
        study = read_study({key: config[key] for key in KEYS if key in config})
    except ValueError as error:
        raise RecordError(f"{folder / CONFIG}: {error}") from None
    content = {**study.content, **({REHEARSAL: config[REHEARSAL]} if REHEARSAL in config else {})}
    return replace(study, name=str(config["study"]), content=content)


def journals(folder: Path) -> tuple[JournalFile, JournalFile]:
    """Return the files of a study's events and of its participants' identities, which only their owner may read."""
    return JournalFile(folder / JOURNAL, check_event), JournalFile(folder / PEOPLE, check_identity, mode=0o600)
