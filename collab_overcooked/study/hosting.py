"""Matching of a study's participants into groups, and hosting of their games."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.play.host import MAX_SESSIONS, Host
from collab_overcooked.play.recording import PlayFolder
from collab_overcooked.play.session import ABANDONED, UNDECIDED, Session
from collab_overcooked.runner.episode import derive_seed
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teams import MakePolicy
from collab_overcooked.study.design import YOKED, Condition, StudyStep
from collab_overcooked.study.journal import CONDITIONS, Journal, Participant, open_requests, read_request
from collab_overcooked.study.texts import fill

logger = logging.getLogger(__name__)

PRESENT = 15.0  # seconds after its last request for which a waiting room counts as open
CHECK_INTERVAL = 0.5  # seconds between checks of sessions that wait for a participant
SWEEP_INTERVAL = 5.0  # seconds between checks of waiting participants
MAX_TICKS = 100_000  # ticks whose lateness is kept


@dataclass(frozen=True)
class News:
    """Status shown in a waiting room."""

    go: str  # Address to go to; empty while waiting
    text: str = ""  # Text of the status


def _is_done(person: Participant) -> bool:
    return person.end == "done"


class StudyHost:
    """Host of the games of a study.

    Args:
        journal: Journal of the study, with the step of each participant.
        games: Host of the sessions.
        make: Factory of partners; default: the registry of policies.
        now: Clock in seconds.

    Attributes:
        late: Lateness of ticks of real-time games, in seconds.
    """

    def __init__(
        self, journal: Journal, games: Host, make: MakePolicy | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.journal, self.study = journal, journal.study
        self.now = now
        self._games = games
        self._make = make
        self._folders: dict[str, PlayFolder] = {}
        self._waiting_since: dict[str, float] = {}  # start of waiting, by participant
        self._last_poll: dict[str, float] = {}  # last poll of the waiting room
        self._last_request: dict[str, float] = {}  # last request for a page
        self._began = now()
        self._sessions: dict[str, Session] = {}  # by participant
        self._tasks: set[asyncio.Task[None]] = set()
        self.late: deque[float] = deque(maxlen=MAX_TICKS)

    def close(self) -> None:
        """Stop all tasks and release the folders of records."""
        for task in self._tasks:
            task.cancel()
        for folder in self._folders.values():
            folder.close()

    def news(self, person: Participant) -> News:
        """Record a poll of the waiting room, match participants, and return the status."""
        step = self.journal.step_of(person)
        study_page = f"/study/{person.token}"
        if person.end or step is None or step.kind != "play":
            return News(study_page)
        now = self.now()
        self._waiting_since.setdefault(person.id, now)
        self._last_poll[person.id] = self._last_request[person.id] = now
        self.match(person)
        session = self._session(person)
        if session is not None and session.state != "closed":
            self._waiting_since.pop(person.id, None)
            player = next(player for player in session.people if player.id == person.id)
            return News(f"/s/{player.token}", self.study.texts["starting"])
        if self._ends_waiting(person):
            return News(study_page)
        left = self._limit("wait") - (now - self._waiting_since[person.id])
        here = len(self._here(person))
        text = fill(self.study.texts["here"], here=here, needed=self.study.group, minutes=int(left // 60) + 1)
        return News("", text)

    def _limit(self, name: str) -> float:
        limit = self.journal.limits[name]
        return float("inf") if limit is None else limit

    def is_late(self, person: Participant) -> bool:
        """Return True if the time for the whole study is over for a participant."""
        return not person.end and self.journal.clock() - person.joined >= 60 * self._limit("minutes")

    def _ends_waiting(self, person: Participant) -> bool:
        waited = self.now() - self._waiting_since[person.id]
        if waited < self._limit("wait") and not self._is_broken(person):
            return False
        self.end(person, "unmatched" if person.group is None else "partner_left")
        return True

    def end_waits(self) -> None:
        """End all waits that are over, including participants whose pages stopped polling and late ones."""
        for participant in list(self.journal.people.values()):
            if self.is_late(participant):
                self.stop(participant, "late")
        for name in list(self._waiting_since):
            person = self.journal.people.get(name)
            if person is None or person.end:
                self._waiting_since.pop(name, None)
            elif self._session(person) is None:
                self._ends_waiting(person)

    async def sweep(self) -> None:
        """End waits and execute requests periodically until cancelled; errors of files do not end it."""
        while True:
            try:
                self.end_waits()
                await self.take_requests()
            except (OSError, ValueError) as error:  # for example a full disk
                logger.warning(str(error))
            await asyncio.sleep(SWEEP_INTERVAL)

    async def take_requests(self) -> None:
        """Execute requests of commands while the study runs; one that fails stays, and is tried again."""
        for file in open_requests(self.journal.path):
            try:
                await self._execute(read_request(file))
                file.unlink()
            except (OSError, ValueError) as error:  # a full disk, or a damaged file
                logger.warning(f"{error}; the request {file.name} is tried again")

    async def _execute(self, request: Mapping[str, Any]) -> None:
        try:
            if "forget" in request:
                self.journal.named(request["forget"])
            else:
                self.journal.raise_limit(request["raise"], request["to"])
        except ValueError as error:  # executed before, or the state has changed since the command checked it
            logger.warning(str(error))
            return
        if "forget" in request:
            await self.forget(request["forget"])

    async def forget(self, name: str) -> list[str]:
        """End the participation of a person and delete their data, see ``Journal.forget``."""
        names = self.journal.named(name)
        for person in [self.journal.people[entry] for entry in names]:
            session = self._sessions.get(person.id)
            self.stop(person, "left")
            if session is not None:
                await self._games.wait(session)  # its last records are written
        for folder in self._folders.values():
            folder.rename({entry: self.journal.new_id(entry) for entry in names})
        return self.journal.forget(name)

    def note_activity(self, person: Participant) -> None:
        """Record activity of a participant."""
        self._last_request[person.id] = self.now()

    def is_idle(self, person: Participant) -> bool:
        """Return True if a participant has been inactive for so long that their place becomes free."""
        session = self._sessions.get(person.id)
        if session is not None and any(player.id == person.id and player.here for player in session.people):
            self.note_activity(person)
        return self.now() - self._last_request.get(person.id, self._began) >= self._limit("idle")

    @property
    def completed(self) -> int:
        """Number of participants who have completed the study."""
        return sum(map(_is_done, self.journal.people.values()))

    @property
    def under_way(self) -> int:
        """Number of active participants who have not finished."""
        return sum(map(self._is_active, self.journal.people.values()))

    def refusal(self) -> str:
        """Return why the study is closed, see ``design.REFUSALS``; empty if it is open."""
        left = min(self.journal.limit - self.completed, self._left_by_quota())
        if left <= 0:
            return "full"
        return "full_now" if self.under_way >= left + self._limit("margin") else ""

    def _left_by_quota(self) -> float:
        done = self._people_by_condition(_is_done)
        return self.study.places(lambda name: self.journal.quota(name) - done[name])

    def _people_by_condition(self, is_counted: Callable[[Participant], bool] = lambda person: True) -> Counter[str]:
        """Return the number of participants by condition that was allocated to them."""
        people = filter(is_counted, self.journal.people.values())
        return Counter(name for person in people for name in self.journal.conditions_of(person))

    def _is_active(self, person: Participant) -> bool:
        return not person.end and not self.is_idle(person)

    def cells(self) -> list[dict[str, Any]]:
        """Return the numbers of participants of each condition: allocated, under way, completed, and the quota."""
        allocated = self._people_by_condition()
        active = self._people_by_condition(self._is_active)
        done = self._people_by_condition(_is_done)
        return [
            {
                "condition": name,
                "allocated": allocated[name],
                "under_way": active[name],
                "completed": done[name],
                "quota": self.journal.limits.get(f"quota.{name}"),
            }
            for name in self.study.conditions
        ]

    def connection(self, person: Participant) -> str:
        """Return the connection state: ``"game"``, ``"lost"``, ``"waiting"``, ``"page"`` or ``"idle"``."""
        session = self._sessions.get(person.id)
        for player in session.people if session is not None else ():
            if player.id == person.id and player.here:
                return "game"
            if player.id == person.id and player.was_here:
                return "lost"
        if self._is_here(person.id):
            return "waiting"
        return "idle" if self.is_idle(person) else "page"

    def pools(self) -> list[dict[str, Any]]:
        """Return the waiting groups: number or None, participants present and needed, and seconds of waiting."""
        waiting: dict[int | None, list[str]] = {}
        for name in self._waiting_since:
            person = self.journal.people.get(name)
            if person is not None and not person.end and self._is_here(name):
                waiting.setdefault(person.group, []).append(name)
        now = self.now()
        return [
            {
                "group": group,
                "here": len(names),
                "needed": self.study.group,
                "seconds": int(now - min(self._waiting_since[name] for name in names)) // 10 * 10,
            }
            for group, names in waiting.items()
        ]

    def stop(self, person: Participant, how: str = "stopped") -> None:
        """End the participation of one person; a running game ends for all its players."""
        session = self._sessions.get(person.id)
        self.end(person, how)
        if session is not None:
            session.stop()

    def end(self, person: Participant, how: str) -> None:
        """End the participation of one person."""
        self.journal.end(person, how)
        for times in (self._waiting_since, self._last_poll, self._last_request):
            times.pop(person.id, None)

    def _is_here(self, name: str) -> bool:
        return self.now() - self._last_poll.get(name, -PRESENT) < PRESENT

    def _members(self, person: Participant) -> Sequence[str]:
        return () if person.group is None else self.journal.groups[person.group]

    def _here(self, person: Participant) -> list[str]:
        if person.group is not None:
            return [name for name in self._members(person) if self._is_here(name)]
        alone = (name for name in self._waiting_since if self.journal.people[name].group is None)
        return [name for name in alone if self._is_here(name) and not self.journal.people[name].end]

    def match(self, person: Participant) -> None:
        """Form a group with the participants who have waited longest, once there are enough of them."""
        if person.group is not None:
            return
        here = [person.id] if self.study.group == 1 else self._here(person)[: self.study.group]
        if len(here) == self.study.group:
            row = self._next_row()
            yoke = self._free_yoke(row) if self.study.is_yoked else None
            self.journal.form_group(here, row, yoke)

    def _next_row(self) -> int:
        period = self.study.period
        number = len(self.journal.groups)
        counts = Counter({row: 0 for row in range(period)})
        for group, row in enumerate(self.journal.rows):
            counts[row % period] += self._is_intact(group)
        cells = self.study.cells  # balanced first, then the orders within them
        in_cell = Counter[tuple[str, ...]]()
        for row, count in counts.items():
            in_cell[cells[row]] += count
        shares = {row: (in_cell[cells[row]] / self._weight(row), counts[row]) for row in self._open_rows()}
        fewest = [row for row, share in shares.items() if share == min(shares.values())]
        draw = np.random.default_rng(derive_seed(self.study.seed, "row", number))  # permuted blocks, if nobody leaves
        return period * number + int(draw.choice(fewest))

    def _is_intact(self, group: int) -> bool:
        """Return True for a group of which all members have completed the study or are under way."""
        members = [self.journal.people.get(name) for name in self.journal.groups[group]]
        return all(person is not None and (_is_done(person) or self._is_active(person)) for person in members)

    def _free_yoke(self, row: int) -> int:
        """Return the smallest yoke number not used by another intact group with the same conditions."""
        cells = self.study.cells
        period = self.study.period
        taken = set()
        for group, group_row in enumerate(self.journal.rows):
            if cells[group_row % period] == cells[row % period] and self._is_intact(group):
                taken.add(self.journal.yokes[group])
        return min(set(range(len(taken) + 1)) - taken)

    def _weight(self, row: int) -> float:
        """Return the weight of a row: its quota, so that groups are allotted in proportion to quotas; 1 without one."""
        quota = min(map(self.journal.quota, self.study.cells[row]), default=float("inf"))
        return 1.0 if quota == float("inf") else max(1.0, quota)

    def _open_rows(self) -> list[int]:
        """Return the rows whose quotas have places left, if possible beside the participants under way."""
        done = self._people_by_condition(_is_done)
        active = self._people_by_condition(self._is_active)
        for taken in (done + active, done):
            open_conditions = {name for name in self.study.conditions if taken[name] < self.journal.quota(name)}
            left = [row for row, cell in enumerate(self.study.cells) if open_conditions.issuperset(cell)]
            if left:
                return left
        return list(range(len(self.study.cells)))

    def _is_broken(self, person: Participant) -> bool:
        return any(name not in self.journal.people or self.journal.people[name].end for name in self._members(person))

    def _session(self, person: Participant) -> Session | None:
        step = self.journal.step_of(person)  # the order of conditions is known once there is a group
        if person.group is None or step is None:
            return None
        if person.id not in self._sessions:
            alone = self.study.conditions[step.condition].people < self.study.group
            ready = []
            for name in [person.id] if alone else self._members(person):
                member = self.journal.people.get(name)
                if member is None or member.end or member.step != person.step or not self._is_here(name):
                    return None
                ready.append(member)
            self._open(person.group, step, ready)
        return self._sessions.get(person.id)

    def _open(self, group: int, step: StudyStep, people: Sequence[Participant]) -> None:
        condition = self.study.conditions[step.condition]
        block = self.study.blocks[step.block]
        folder = self._folder(condition)
        yoke = self.journal.yokes[group] if block.match == YOKED else None
        number = group if yoke is None else yoke
        matches = self._matches_left(condition, number, folder, {participant.id for participant in people})
        if not matches:  # the process ended between the records and the journal entry
            self._pass(people)
            return
        if self._games.is_full:  # the group waits until a game is over, however long that takes
            logger.warning(f"{MAX_SESSIONS} games are being played; group {group} waits until one is over")
            self._waiting_since |= dict.fromkeys((participant.id for participant in people), self.now())
            return
        lost: set[str] = set()

        def over(record: EpisodeRecord) -> None:
            if session.driver is not None:
                self.late.extend(session.driver.late)
            if record.ended in ("left", ABANDONED):
                lost.update(self._absent(session))
            if record.ended == ABANDONED and not session.is_practice:  # repeating it would keep the others for ever
                lost.update(player.id for player in session.seats.values() if not player.took_part)
                session.stop(UNDECIDED)

        session = Session(
            matches,
            condition.settings,
            folder=folder,
            voice=condition.voice,
            make=self._make,
            practice=block.practice and step.place == 0,
            on_over=over,
        )
        for person, participant in zip(session.people, people, strict=True):  # with a voice, the last person speaks
            person.id = participant.id
            person.next = f"/study/{participant.token}"
            person.leaving_text = self.journal.leaving_text(participant)
        self._games.add(session)
        self._sessions |= dict.fromkeys((participant.id for participant in people), session)
        task = asyncio.get_running_loop().create_task(self._watch(session, people, lost))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _folder(self, condition: Condition) -> PlayFolder:
        if condition.name not in self._folders:
            path = self.journal.path / CONDITIONS / condition.name
            facts = {"study": self.study.name, "condition": condition.name, "team": list(condition.matches[0].team)}
            self._folders[condition.name] = PlayFolder(path, condition.suite, facts)
        return self._folders[condition.name]

    def _matches_left(self, condition: Condition, number: int, folder: PlayFolder, names: set[str]) -> list[Match]:
        played = sum(
            names == {player.id for player in record.people.values()}
            for record in tuple(folder.run.results.values())  # other sessions may append records meanwhile
        )
        left = []
        for match in condition.draw(self.study.seed, number):
            if played <= 0:
                left.append(match)
            played -= len(match.keys)
        return left

    async def _watch(self, session: Session, people: Sequence[Participant], lost: set[str]) -> None:
        playing = asyncio.ensure_future(self._games.wait(session))
        since = self.now()
        while not playing.done():
            await asyncio.wait({playing}, timeout=CHECK_INTERVAL)
            if session.env is None or session.state not in ("waiting", "ready"):  # loading kernels, or playing
                since = self.now()
            elif self.now() - since > self._limit("wait"):
                lost |= self._absent(session) or {player.id for player in session.people if not player.ready}
                session.stop("A participant did not join in time.")
            if self._has_lost_all(session):
                lost |= self._absent(session)
                session.stop("All participants have left.")
        lost |= {player.id for player in session.people if player.gone}
        for participant in people:
            del self._sessions[participant.id]
        expected = 0 if session.settings.tutorial else sum(len(match.keys) for match in session.matches)
        if len(session.records) == expected and not lost and session.error is None:
            self._pass(people)
        elif session.error is not None or lost:  # otherwise the server was stopped, and they can resume
            for participant in people:
                how = "left" if participant.id in lost else "partner_left"
                self.end(participant, how if session.error is None else "failed")

    def _has_lost_all(self, session: Session) -> bool:
        """Return True if all of several people have been gone for ``grace``; for a single one the game waits."""
        people = session.people
        if len(people) == 1 or session.settings.on_leave == "pause":
            return False
        return all(player.was_here for player in people) and len(self._absent(session)) == len(people)

    def _absent(self, session: Session) -> set[str]:
        absent = set()
        for player in session.people:
            is_away = player.left_at is not None and self.now() - player.left_at >= session.settings.grace
            if player.gone or not player.was_here or is_away:
                absent.add(player.id)
        return absent

    def _pass(self, people: Sequence[Participant]) -> None:
        for participant in people:
            self._last_poll.pop(participant.id, None)
            self.journal.passed(participant)
