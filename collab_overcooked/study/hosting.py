"""Brings the people of a study together, and hosts the games that they play."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.play.host import Host
from collab_overcooked.play.people import Person
from collab_overcooked.play.recording import PlayFolder
from collab_overcooked.play.session import Session
from collab_overcooked.runner.jobs import Job
from collab_overcooked.runner.teams import MakePolicy
from collab_overcooked.study.design import Condition, Step
from collab_overcooked.study.journal import CONDITIONS, Journal, Participant
from collab_overcooked.study.words import fill

PRESENT = 15.0  # seconds after its last request for which a waiting room counts as open
LOOK = 0.5  # seconds between looks at sessions that wait for somebody
SWEEP = 5.0  # seconds between looks at people who wait
MAX_TICKS = 100_000  # whose lateness is remembered


@dataclass(frozen=True)
class News:
    """What a waiting room shows.

    Attributes:
        go: Address to go to; empty while there is nothing to go to.
        text: Words.
    """

    go: str
    text: str = ""


class StudyHost:
    """Hosts the games of a study.

    Args:
        journal: What happened; it knows who is where.
        games: Plays sessions.
        make: Makes partners; the registry of policies if None.
        note: Called with what went wrong, in a sentence.
        now: Returns seconds.

    Attributes:
        late: Seconds by which ticks of real-time games were late.
    """

    def __init__(
        self,
        journal: Journal,
        games: Host,
        make: MakePolicy | None = None,
        note: Callable[[str], None] = print,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.journal, self.study = journal, journal.study
        self._games, self._make, self._note, self.now = games, make, note, now
        self._folders: dict[str, PlayFolder] = {}
        self._since: dict[str, float] = {}  # when somebody began to wait
        self._seen: dict[str, float] = {}  # when a waiting room was heard of last
        self._heard: dict[str, float] = {}  # when somebody asked for a page last
        self._began = now()
        self._sessions: dict[int, Session] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.late: deque[float] = deque(maxlen=MAX_TICKS)

    def close(self) -> None:
        """Let others write to the folders of records."""
        for task in self._tasks:
            task.cancel()
        for folder in self._folders.values():
            folder.close()

    # ---------------------------------------------------------------------------------------- waiting

    def news(self, person: Participant) -> News:
        """Note that somebody is here and wants to play, and say how things stand."""
        step, home = self.journal.step_of(person), f"/study/{person.token}"
        if person.end or step is None or step.kind != "play":
            return News(home)
        now = self.now()
        self._since.setdefault(person.id, now)
        self._seen[person.id] = self._heard[person.id] = now
        self.match(person)
        session = self._session(person)
        if session is not None and session.state != "closed":
            self._since.pop(person.id, None)
            own = next(own for own in session.people if own.id == person.id)
            return News(f"/s/{own.token}", self.study.words["starting"])
        if self._ends_waiting(person):
            return News(home)
        left = self.study.wait - (now - self._since[person.id])
        here = len(self._here(person))
        words = fill(self.study.words["here"], here=here, needed=self.study.group, minutes=int(left // 60) + 1)
        return News("", words)

    def _ends_waiting(self, person: Participant) -> bool:
        """End the wait of somebody for whom nobody came in time, or whose group is broken; returns whether it did."""
        waited = self.now() - self._since[person.id]
        if waited < self.study.wait and not self._is_broken(person):
            return False
        self.end(person, "unmatched" if person.group is None else "partner_left")
        return True

    def end_waits(self) -> None:
        """End the waits that are over, also of people whose pages do not ask any more."""
        for name in list(self._since):
            person = self.journal.people.get(name)
            if person is None or person.end:
                self._since.pop(name, None)
            elif self._session(person) is None:
                self._ends_waiting(person)

    async def sweep(self) -> None:
        """Keep ending waits until it is cancelled."""
        while True:
            self.end_waits()
            await asyncio.sleep(SWEEP)

    # ---------------------------------------------------------------------------------------- places

    def heard(self, person: Participant) -> None:
        """Note a sign of somebody."""
        self._heard[person.id] = self.now()

    def is_idle(self, person: Participant) -> bool:
        """Tell whether there has been no sign of somebody for so long that the place is given to others."""
        session = None if person.group is None else self._sessions.get(person.group)
        if session is not None and any(own.id == person.id and own.here for own in session.people):
            self.heard(person)
        return self.now() - self._heard.get(person.id, self._began) >= self.study.idle

    @property
    def completed(self) -> int:
        """How many have completed the study."""
        return sum(person.end == "done" for person in self.journal.people.values())

    @property
    def under_way(self) -> int:
        """How many are in the study and have been heard of lately."""
        return sum(not person.end and not self.is_idle(person) for person in self.journal.people.values())

    def refusal(self) -> str:
        """Return the name of the words that say why nobody can join now; empty if somebody can."""
        completed = self.completed
        if completed >= self.journal.limit:
            return "full"
        return "full_now" if completed + self.under_way >= self.journal.limit + self.study.margin else ""

    def connection(self, person: Participant) -> str:
        """Return where somebody is: ``"game"``, ``"lost"``, ``"waiting"``, ``"page"`` or ``"idle"``."""
        session = None if person.group is None else self._sessions.get(person.group)
        own = next((own for own in session.people if own.id == person.id), None) if session else None
        if own is not None and (own.here or own.was_here):
            return "game" if own.here else "lost"
        if self._is_here(person.id):
            return "waiting"
        return "idle" if self.is_idle(person) else "page"

    def pools(self) -> list[dict[str, Any]]:
        """Return who waits: the number of the group or None, how many are here and needed, for how many seconds."""
        found: dict[int | None, list[str]] = {}
        for name in self._since:
            person = self.journal.people.get(name)
            if person is not None and not person.end and self._is_here(name):
                found.setdefault(person.group, []).append(name)
        now = self.now()
        return [
            {
                "group": group,
                "here": len(names),
                "needed": self.study.group,
                "seconds": int(now - min(self._since[name] for name in names)) // 10 * 10,
            }
            for group, names in found.items()
        ]

    def stop(self, person: Participant) -> None:
        """End taking part for somebody on the host's wish; a game that is played ends for all who play it."""
        session = None if person.group is None else self._sessions.get(person.group)
        self.end(person, "stopped")
        if session is not None:
            session.stop()

    def end(self, person: Participant, how: str) -> None:
        """Let taking part end for somebody."""
        self.journal.end(person, how)
        for known in (self._since, self._seen, self._heard):
            known.pop(person.id, None)

    def _is_here(self, name: str) -> bool:
        return self.now() - self._seen.get(name, -PRESENT) < PRESENT

    def _members(self, person: Participant) -> Sequence[str]:
        return () if person.group is None else self.journal.groups[person.group]

    def _here(self, person: Participant) -> list[str]:
        """Return who of a group waits, or who else waits for a group, in the order in which they came."""
        if person.group is not None:
            return [name for name in self._members(person) if self._is_here(name)]
        alone = (name for name in self._since if self.journal.people[name].group is None)
        return [name for name in alone if self._is_here(name) and not self.journal.people[name].end]

    def match(self, person: Participant) -> None:
        """Give a person a group: alone where people play alone, else with those who came first, if there are enough."""
        if person.group is not None:
            return
        here = [person.id] if self.study.group == 1 else self._here(person)[: self.study.group]
        if len(here) == self.study.group:
            self.journal.form_group(here, self._next_row())

    def _next_row(self) -> int:
        """Return the row of the next group: one that the fewest groups are at or have completed."""
        period, number = self.study.period, len(self.journal.groups)
        counts = Counter({row: 0 for row in range(period)})
        for row, members in zip(self.journal.rows, self.journal.groups, strict=True):
            people = [self.journal.people.get(name) for name in members]
            counts[row % period] += all(own is not None and own.end in ("", "done") for own in people)
        fewest = min(counts.values())
        if counts[number % period] == fewest:
            return number
        return period * number + min(row for row in range(period) if counts[row] == fewest)

    def _is_broken(self, person: Participant) -> bool:
        """Tell whether somebody else of the group is out of the study."""
        return any(name not in self.journal.people or self.journal.people[name].end for name in self._members(person))

    # ---------------------------------------------------------------------------------------- games

    def _session(self, person: Participant) -> Session | None:
        """Return the game that a person is to play, a new one when all its people are here; None before."""
        step = self.journal.step_of(person)  # only a group knows the order of its conditions
        if person.group is None or step is None:
            return None
        if person.group not in self._sessions:
            people = [self.journal.people.get(name) for name in self._members(person)]
            ready = [own for own in people if own is not None and not own.end and own.step == person.step]
            if len(ready) < len(people) or any(not self._is_here(own.id) for own in ready):
                return None
            self._open(person.group, step, ready)
        return self._sessions.get(person.group)

    def _open(self, group: int, step: Step, people: Sequence[Participant]) -> None:
        condition = self.study.conditions[step.condition]
        practice = self.study.blocks[step.block].practice and step.place == 0
        folder = self._folder(condition)
        jobs = self._jobs_left(condition, group, folder, {own.id for own in people})
        if not jobs:  # all was written before the process ended, but for the line in the journal
            self._pass(people)
            return
        lost: set[str] = set()

        def over(record: Mapping[str, Any]) -> None:
            self.late.extend(session.driver.late if session.driver is not None else ())
            if record.get("ended") == "left":
                lost.update(self._absent(session))

        session = Session(
            jobs,
            condition.settings,
            folder=folder,
            voice=condition.voice,
            make=self._make,
            practice=practice,
            on_over=over,
        )
        for person, own in zip(session.people, people, strict=True):  # the last one speaks, where there is a voice
            person.id, person.next = own.id, f"/study/{own.token}"
        try:
            self._games.add(session)
        except ValueError as error:  # too many games; people wait until one is over
            self._note(str(error))
            return
        self._sessions[group] = session
        task = asyncio.get_running_loop().create_task(self._watch(session, group, people, lost))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _folder(self, condition: Condition) -> PlayFolder:
        if condition.name not in self._folders:
            path = self.journal.path / CONDITIONS / condition.name
            facts = {"study": self.study.name, "condition": condition.name, "team": list(condition.jobs[0].team)}
            self._folders[condition.name] = PlayFolder(path, condition.suite, facts, self._note)
        return self._folders[condition.name]

    def _jobs_left(self, condition: Condition, group: int, folder: PlayFolder, names: set[str]) -> list[Job]:
        """Return the episodes that a group has not played yet."""
        played = sum(
            names == {own["id"] for own in record.get("people", {}).values()}
            for record in tuple(folder.run.records.values())  # other games may be written meanwhile
        )
        left = []
        for job in condition.draw(self.study.seed, group):
            if played <= 0:
                left.append(job)
            played -= len(job.keys)
        return left

    async def _watch(self, session: Session, group: int, people: Sequence[Participant], lost: set[str]) -> None:
        """Wait for the end of a session, stop it if somebody is waited for too long, and note what came of it."""
        playing, since = asyncio.ensure_future(self._games.wait(session)), self.now()
        while not playing.done():
            await asyncio.wait({playing}, timeout=LOOK)
            if session.env is None or session.state not in ("waiting", "ready"):  # kernels are loaded, or it is played
                since = self.now()
            elif self.now() - since > self.study.wait:
                lost |= self._absent(session) or {own.id for own in session.people if not own.ready}
                session.stop("Somebody did not come in time.")
        lost |= {own.id for own in session.people if own.gone}
        del self._sessions[group]
        wanted = 0 if session.settings.tutorial else sum(len(job.keys) for job in session.jobs)
        if len(session.records) == wanted and not lost and session.error is None:
            self._pass(people)
        elif session.error is not None or lost:  # else the server was stopped, and they can come again
            for own in people:
                self.end(own, "failed" if session.error else "left" if own.id in lost else "partner_left")

    def _absent(self, session: Session) -> set[str]:
        """Return who has left a session, or lost the connection for longer than the grace."""

        def is_absent(own: Person) -> bool:
            away = 0.0 if own.left_at is None else self.now() - own.left_at
            return own.gone or not own.was_here or (own.left_at is not None and away >= session.settings.grace)

        return {own.id for own in session.people if is_absent(own)}

    def _pass(self, people: Sequence[Participant]) -> None:
        for own in people:
            self._seen.pop(own.id, None)
            self.journal.passed(own)
