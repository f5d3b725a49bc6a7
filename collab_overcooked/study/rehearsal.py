"""Rehearsals of a study with bots that connect through real sockets."""

from __future__ import annotations

import asyncio
import html
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from collab_overcooked.play.server import make_server
from collab_overcooked.policies.llm.settings import COTS, parse_settings
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.runner.records import read_packed
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.study.app import make_study_app
from collab_overcooked.study.bots import LEAVING, Bot
from collab_overcooked.study.design import EXPECTED_ENDS, Study
from collab_overcooked.study.documents import language_partners
from collab_overcooked.study.journal import REHEARSAL, Journal, Participant
from collab_overcooked.study.pages import end_text
from collab_overcooked.study.results import RECORDS_FOLDER, ExportOptions, StudyResults, export

logger = logging.getLogger(__name__)

LEAVERS = 2  # groups of bots for each way to leave, in rehearsals of the command line
MAX_WAIT = 20.0  # seconds that bots wait for others
PROGRESS = 10.0  # seconds between messages on the progress
TICK = 0.03  # seconds of a step in real time, unless bots play at the pace of people
STAND_IN = "greedy"  # replaces language models, which would cost money
PLANNER = "cots"  # replaces language models that search joint plans: it sends plans and reads answers as they do


@dataclass(frozen=True)
class Rehearsal:
    """Result of a rehearsal."""

    ends: Mapping[str, int]  # Number of bots by how their participation ended, without the groups that leave
    errors: Sequence[str]  # Error messages; empty for a study that works
    episodes: int  # Number of records written
    tasks: ResultTable  # Number of episodes by task and condition
    requests: tuple[float, float]  # Median and 95th percentile of the duration of a request, in milliseconds
    # Median and 95th percentile of the time from a decision to the next message, in milliseconds
    answers: tuple[float, float]
    # Median and 95th percentile of the lateness of steps in real time, in milliseconds
    ticks: tuple[float, float]
    memory: int  # Peak memory of the process, in MiB


def is_planner(spec: str) -> bool:
    """Return whether a spec names a language model that searches joint plans."""
    parsed = PolicySpec.parse(spec)
    return parsed.is_language and parse_settings(parsed.parameters).agent == COTS


def hurried(study: Study) -> Study:
    """Return a study whose games make no pauses for people, with steps of ``TICK`` seconds in real time."""
    conditions = {}
    for name, condition in study.conditions.items():
        settings = replace(condition.settings, tick=min(TICK, condition.settings.tick), pace=0.0, countdown=0.0)
        conditions[name] = replace(condition, settings=settings)
    return replace(study, conditions=conditions)


def stand_ins(study: Study) -> dict[str, str]:
    """Return the policies that replace the language models of a study, by partner."""
    partners = language_partners(study)
    return {name: PLANNER if is_planner(study.partners[name]) else STAND_IN for name in partners}


def rehearse(
    study: Study, bots: int, out: Path, *, leavers: int = 0, ways: Sequence[str] = ("game",), real_time: bool = False
) -> Rehearsal:
    """Run a study with bots, through the pages and sockets of a local server.

    Args:
        study: Study to rehearse; its partners must be available.
        bots: Number of bots.
        out: Folder of the results.
        leavers: Number of groups, before the bots, of which one member leaves, for each of ``ways``. They give the
            answers that screening questions and attention checks ask for, so that they come to leave.
        ways: Ways to leave, see ``bots.LEAVING``.
        real_time: Whether games keep the pace at which people play; otherwise they wait for nobody to watch.
    """
    if not real_time:
        study = hurried(study)
    most = bots + leavers * len(ways) * study.group
    limits = {"limit": max(study.limit, most), "per_network": most, "quota": {}}  # else bots would be refused
    study = replace(study, wait=min(study.wait, MAX_WAIT), **limits)  # type: ignore[arg-type]
    study = replace(study, content={**study.content, REHEARSAL: True})
    with Journal.open(out, study) as journal, _warnings() as errors:
        app, games, host = make_study_app(journal)
        try:
            players = asyncio.run(_take_part(app, journal, bots, [way for way in ways for _ in range(leavers)], errors))
        finally:
            host.close()
    errors += [
        f"{person.id}: the connection is still open"
        for session in games.sessions.values()
        for person in session.people
        if person.here
    ]
    results = StudyResults.read(out)
    records = [record for episodes in results.records.values() for record in episodes]
    errors += filter(None, map(first_difference, records))
    errors += _missing(results)
    errors += _export_problems(out)
    errors += filter(None, (_code_problem(results.journal, bot) for bot in players))
    errors += _leaving_problems(results.journal, players[bots:])
    leaving = {bot.own_page.rpartition("/")[2] for bot in players[bots:]}
    people = [person for person in results.journal.people.values() if person.token not in leaving]
    ends = Counter(person.end or "unfinished" for person in people)
    errors += [f"bots that stay: {count} ended as {end}" for end, count in ends.items() if end not in EXPECTED_ENDS]
    requests = _points([request for bot in players for request in bot.requests])
    answers = _points([answer for bot in players for answer in bot.answers])
    tasks = _task_table(results)
    return Rehearsal(dict(ends), errors, len(records), tasks, requests, answers, _points(host.late), most_memory())


class _Collector(logging.Handler):
    """Keeps messages."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Collect the warnings that the package logs in the body."""
    collector = _Collector()
    log = logging.getLogger("collab_overcooked")
    log.addHandler(collector)
    try:
        yield collector.messages
    finally:
        log.removeHandler(collector)


def _task_table(results: StudyResults) -> ResultTable:
    counts: Counter[tuple[str, str]] = Counter(
        (record.task, name) for name, records in results.records.items() for record in records
    )
    tasks = sorted({task for task, _ in counts})
    columns = (Column("Task"), *(Column(name, digits=0) for name in results.records))
    rows: tuple[tuple[Cell, ...], ...]
    rows = tuple((task, *(counts[task, name] for name in results.records)) for task in tasks)
    return ResultTable(columns, rows, "Episodes by task and condition")


def _missing(results: StudyResults) -> list[str]:
    problems = []
    study = results.journal.study
    for person in (person for person in results.journal.people.values() if person.end == "done"):
        for name in dict.fromkeys(step.condition for step in results.journal.steps_of(person) if step.kind == "play"):
            condition = study.conditions[name]
            expected = 0 if condition.settings.tutorial else condition.rounds
            played = sum(
                person.id in (player.id for player in record.people.values()) for record in results.records[name]
            )
            if played != expected:
                problems.append(f"{person.id} has {played} records of {name}, not {expected}")
    return problems


def _export_problems(folder: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        try:
            for file in export(folder, out, ExportOptions(anonymous=True, aborted=True)):
                if file.startswith(f"{RECORDS_FOLDER}/") and (out / file).stat().st_size:
                    read_packed(out / file)
        except ValueError as error:
            yield f"the export: {error}"


def _leaving_problems(journal: Journal, players: Sequence[Bot]) -> Iterator[str]:
    """Yield problems with the ends of bots that left."""
    ends = {"game": "left", "page": "left", "tab": ""}
    for bot in players:
        person = _person_of(journal, bot)
        end = None if person is None else person.end
        if bot.leaves in ends and end not in (ends[bot.leaves], "done"):  # done: the study ends before they leave
            yield f"bot {bot.seed}: {LEAVING[bot.leaves]} Its end is {end!r}, not {ends[bot.leaves]!r}"
    declined = sum(bot.leaves == "consent" for bot in players)
    if journal.declined != declined:
        yield f"{journal.declined} people declined, not {declined}"


def _code_problem(journal: Journal, bot: Bot) -> str:
    person = _person_of(journal, bot)
    if person is None or not person.end:
        return ""
    code = end_text(journal.study, journal.study.ends[person.end].code, person.kept)
    return "" if html.escape(code) in bot.last else f"{person.id} did not see the code {code} of the end {person.end}"


def _entry(journal: Journal, number: int) -> str:
    study, name = journal.study, f"bot{number}"
    known = journal.with_panel_id(name) if study.panel_id else []
    return f"/study/{known[-1].token}" if known else f"/study?{study.panel_id or 'n'}={name}"


def _person_of(journal: Journal, bot: Bot) -> Participant | None:
    return journal.by_token(bot.own_page.rpartition("/")[2])


def _passing_answers(journal: Journal, bot: Bot) -> dict[str, Sequence[str]]:
    """Return the answers to a bot's current questions that neither screen it out nor fail an attention check."""
    person = _person_of(journal, bot)
    step = None if person is None else journal.step_of(person)
    form = None if step is None else journal.study.forms.get(step.form)
    items = () if form is None else form.items
    return {item.name: item.expect or item.accept[:1] for item in items if item.expect or item.accept}


class Progress:
    """Progress of a rehearsal, whose groups take part one after the other.

    Args:
        journal: Journal of the study.
        groups: Bots that leave, by group, then those that stay.
        now: Clock in seconds.
    """

    def __init__(
        self, journal: Journal, groups: Sequence[Sequence[Bot]], now: Callable[[], float] = time.monotonic
    ) -> None:
        self.journal, self.groups, self.now = journal, groups, now
        self.began = now()
        self.current = 0  # Index of the group that takes part; their number once all have

    def text(self) -> str:
        """Return how many bots are through, the step of the slowest, and the time left at the speed so far."""
        *leaving, staying = self.groups
        ended = sum(self._is_through(bot) for bot in staying)
        left = sum(len(group) for group in leaving[: self.current])
        facts = [f"{ended} of {len(staying)} bots are through"]
        if leaving:
            facts.append(f"{left} of {sum(map(len, leaving))} that leave")
        facts += filter(None, (self._step_text(), self._time_text()))
        return ", ".join(facts)

    def _is_through(self, bot: Bot) -> bool:
        person = _person_of(self.journal, bot)
        return person is not None and bool(person.end)

    def _step_text(self) -> str:
        here = [_person_of(self.journal, bot) for bot in self.groups[min(self.current, len(self.groups) - 1)]]
        people = [person for person in here if person is not None and not person.end]
        if not people:
            return ""
        slowest = min(people, key=lambda person: person.step)
        step = self.journal.step_of(slowest)
        place = f"step {slowest.step + 1} of {len(self.journal.steps_of(slowest))}"
        if step is None:
            return ""
        name = {"play": f"game {step.condition}", "form": f"form {step.form}", "page": "page"}[step.kind]
        return f"{place} ({name})"

    def _time_text(self) -> str:
        done, whole = self._games()
        if not done:
            return ""
        seconds = (self.now() - self.began) * (whole / done - 1)
        return f"about {seconds / 60:.0f} min left" if seconds >= 60 else f"about {seconds:.0f} s left"

    def _games(self) -> tuple[float, float]:
        """Return the number of games that groups have played one after the other, and of all that they will play."""
        each = [sum(step.kind == "play" for step in self.journal.study.steps(0))] * len(self.groups)
        for k, (first, *_) in enumerate(self.groups[:-1]):
            each[k] = min(each[k], int(first.leaves == "page"))  # the others leave in their first game or before it
        done = float(sum(each[: self.current]))
        if self.current == len(self.groups) - 1:
            for person in filter(None, (_person_of(self.journal, bot) for bot in self.groups[-1])):
                steps = self.journal.steps_of(person)[: None if person.end else person.step]
                done += sum(step.kind == "play" for step in steps) / len(self.groups[-1])
        return done, float(sum(each))


async def _report(progress: Progress) -> None:
    while True:
        await asyncio.sleep(PROGRESS)
        logger.info(progress.text())


async def _take_part(app: Any, journal: Journal, bots: int, ways: Sequence[str], errors: list[str]) -> list[Bot]:
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    server, listening = make_server(app, "127.0.0.1", 0, started.set_result)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    await asyncio.wait({serving, started}, return_when=asyncio.FIRST_COMPLETED)
    base = f"http://127.0.0.1:{started.result()}"
    size = journal.study.group
    passing = partial(_passing_answers, journal)
    players = [Bot(base, _entry(journal, n), n) for n in range(bots)]
    groups: list[list[Bot]] = []
    for way in ways:
        together = size if way in ("game", "page") else 1  # the others leave before there is a group
        first = len(players)
        numbers = range(first, first + together)
        groups.append([Bot(base, _entry(journal, n), n, right_answers=passing) for n in numbers])
        groups[-1][0].leaves = way
        players += groups[-1]
    progress = Progress(journal, [*groups, players[:bots]])
    reporting = asyncio.create_task(_report(progress))
    done: list[BaseException | None] = []
    for members in progress.groups:
        done += await asyncio.gather(*(bot.run() for bot in members), return_exceptions=True)
        progress.current += 1
    reporting.cancel()
    errors += [f"bot {n}: {type(one).__name__}: {one}" for n, one in enumerate(done) if one is not None]
    server.should_exit = True
    await serving
    return players


def _points(seconds: Collection[float]) -> tuple[float, float]:
    if not seconds:
        return 0.0, 0.0
    low, high = np.quantile(list(seconds), [0.5, 0.95])
    return 1000 * float(low), 1000 * float(high)


def most_memory() -> int:
    """Return the peak memory of this process in MiB; 0 where the system does not report it."""
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // (2**20 if sys.platform == "darwin" else 2**10)
