"""Results of a study: samples for significance tests, and tables with a codebook for other programs."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import structs

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord, MessageEntry, PersonEntry
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.metrics.registry import measure, metrics_of
from collab_overcooked.play.people import VOICE
from collab_overcooked.play.recording import ABORTED, INPUTS
from collab_overcooked.play.settings import TICKS
from collab_overcooked.reporting.differences import episode_values, score_metric
from collab_overcooked.reporting.result_table import Cell, table_of_mappings
from collab_overcooked.runner.match import env_key
from collab_overcooked.runner.records import RECORDS, dump_line, read_packed
from collab_overcooked.study.columns import (
    COLUMNS,
    COLUMNS_OF,
    OF_PARTICIPANTS,
    PER_CONDITION,
    PER_PERSON,
    answer_column,
    seconds_of,
)
from collab_overcooked.study.design import ENDS, REFUSALS, Condition, Study
from collab_overcooked.study.journal import CONDITIONS, ID_BYTES, JOURNAL, REHEARSAL, Journal, Participant, study_of

Row = dict[str, Cell]
LEFT_OUT = ("joined", "started", "answered")  # of anonymous exports
TEXTS = "messages"  # table that exports without texts lack
RECORDS_FOLDER = "records"  # of an export
BOTS = ": bots of a rehearsal, not people"  # end of titles of their results


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of an export."""

    form: str = "csv"  # Format of the tables, ``"csv"`` or ``"jsonl"``
    anonymous: bool = False  # Replace ids and omit times of day
    cut_text: bool = False  # Omit free-text answers, messages, and whatever else people typed
    panel_ids: bool = False  # Include the panel's ids, which identify participants
    aborted: bool = False  # Include records and messages of aborted episodes

    def __post_init__(self) -> None:
        if self.form not in ("csv", "jsonl"):
            raise ValueError(near_matches("format", self.form, ("csv", "jsonl")))
        if self.anonymous and self.panel_ids:
            raise ValueError("--with-panel-ids identifies participants; omit it or --anonymous")


def is_study_folder(path: Path) -> bool:
    """Return True if a folder holds a study."""
    return (path / JOURNAL).is_file()


@dataclass
class StudyResults:
    """Journal and records of a study, which may still be running."""

    journal: Journal  # Journal of the study
    records: dict[str, list[EpisodeRecord]] = field(default_factory=dict)  # Episodes by condition
    aborted: dict[str, list[EpisodeRecord]] = field(default_factory=dict)  # Episodes that do not count, by condition

    @classmethod
    def read(cls, folder: Path) -> StudyResults:
        """Read a folder.

        Raises:
            ValueError: The folder holds no study with participants.
        """
        if not is_study_folder(folder):
            raise ValueError(f"{folder}: holds no study with participants")
        results = cls(Journal(folder, study_of(folder)))
        for name in results.journal.study.conditions:
            results.records[name] = _records_in(folder / CONDITIONS / name / RECORDS)
            results.aborted[name] = list(_numbered(_records_in(folder / CONDITIONS / name / ABORTED)))
        return results

    def samples(self, metrics: Sequence[str]) -> dict[str, dict[str, dict[tuple[Any, ...], float]]]:
        """Return values by measure, condition and unit, which is the group: its members are not independent.

        The value of a group is the mean over its games, or over its members' answers. Only participants who completed
        the study count, and games of which all people did.

        Args:
            metrics: Metrics of the games, and questions ``FORM.QUESTION``; default: the scores of the suites, success
                where games have a goal, and all questions.

        Raises:
            ValueError: There is no such metric or question, its answers are no numbers, or nobody has completed the
                study.
        """
        if not self.completed:
            raise ValueError(f"{self.journal.path}: no participant has completed the study (end=done)")
        questions = [name for name in metrics if "." in name]
        of_games = [name for name in metrics if name not in questions]
        values = list(self._game_values(of_games)) if of_games or not metrics else []
        answers = list(self._answer_values())
        asked = {name for name, *_ in answers}
        for name in questions:
            if name not in asked:
                raise ValueError(self._untested(name))
        values += [answer for answer in answers if answer[0] in questions or not metrics]
        by_unit: dict[str, dict[str, dict[tuple[Any, ...], list[float]]]] = {}
        for name, condition, unit, value in values:
            conditions = by_unit.setdefault(name, {known: {} for known in self.journal.study.conditions})
            conditions[condition].setdefault(unit, []).append(value)
        means: dict[str, dict[str, dict[tuple[Any, ...], float]]] = {}
        for name, conditions in by_unit.items():
            means[name] = {}
            for condition, units in conditions.items():
                if units:
                    means[name][condition] = {unit: sum(many) / len(many) for unit, many in units.items()}
        return means

    def _game_values(self, metrics: Sequence[str]) -> Iterator[tuple[str, str, tuple[Any, ...], float]]:
        completed = self.completed
        for condition, records in self.records.items():
            for record in records:
                if not completed.issuperset(player.id for player in record.people.values()):
                    continue
                of_suite = [score_metric(record), *(["success"] if registry.suite_of(record).has_success else [])]
                for name in metrics or dict.fromkeys(of_suite):
                    for value in episode_values([record], name).values():
                        yield name, condition, ("group", self._group(record)), value

    def _answer_values(self) -> Iterator[tuple[str, str, tuple[Any, ...], float]]:
        for question, group, _, answers in self._tested_answers():
            for condition, value in answers.items():
                yield question, condition, ("group", group), value

    def _tested_answers(self) -> Iterator[tuple[str, Cell, Cell, dict[str, float]]]:
        """Yield question, group, member and answers by condition, of members whose answers to it are tested."""
        completed = self.completed
        newest: dict[tuple[str, Cell], dict[Cell, dict[str, float]]] = {}  # by question and group, member, condition
        for row in self.answers():
            answer = row["value"]
            if row["id"] in completed and row["condition"] and isinstance(answer, (int, float)):
                members = newest.setdefault((f"{row['form']}.{row['item']}", row["group"]), {})
                members.setdefault(row["id"], {})[str(row["condition"])] = float(answer)
        for (question, group), members in newest.items():
            most = max(map(len, members.values()))
            for member, answers in members.items():
                if len(answers) == most:  # the group's mean in each condition is of the same people
                    yield question, group, member, answers

    def _untested(self, question: str) -> str:
        """Return the error message for a question without values."""
        items = {f"{form.name}.{item.name}": item for form in self.journal.study.forms.values() for item in form.items}
        if question not in items:
            return near_matches("metric", question, self.samples(()))
        if items[question].kind in ("choice", "many", "text"):
            return f"cannot test {question}, a question of kind {items[question].kind}; scales and numbers are tested"
        return f"cannot test {question}: nobody who completed the study answered it after a game"

    @property
    def is_rehearsal(self) -> bool:
        """True if the participants are bots."""
        return REHEARSAL in self.journal.study.content

    @property
    def completed(self) -> set[str]:
        """Ids of the participants who completed the study, also of those who were forgotten later."""
        return {event["id"] for event in self.journal.events if event["event"] == "ended" and event["how"] == "done"}

    def notes(self) -> list[str]:
        """Return sentences on what ``samples`` holds: whose values, of which units, and what it leaves out."""
        journal, completed = self.journal, self.completed
        ends = Counter(person.end or "unfinished" for person in journal.people.values())
        done, forgotten = ends.pop("done", 0), len(completed - journal.people.keys())
        note = f"Values are of {done} participants who completed the study (end=done)"
        if forgotten:
            note += f", games also of {forgotten} who did and were forgotten, without their answers"
        others = ", ".join(f"{count} {end}" for end, count in ends.items())
        notes = [f"{note}; left out: {others}." if others else f"{note}."]
        if journal.study.group > 1:
            note = (
                f"Units (n) are groups of {journal.study.group} people: answers are averaged within a group, as its "
                "members are not independent."
            )
            members: dict[Cell, set[Cell]] = {}
            for _, group, member, _ in self._tested_answers():
                members.setdefault(group, set()).add(member)
            for size, count in sorted(Counter(map(len, members.values())).items()):
                if size < journal.study.group:
                    people = "one member" if size == 1 else f"{size} members"
                    note += f" {count} of {len(members)} groups: answers of {people} only."
            notes.append(note)
        rows = [
            row for row, members in zip(journal.rows, journal.groups, strict=True) if completed.intersection(members)
        ]
        played = {step.condition for row in rows for step in journal.study.steps(row) if step.kind == "play"}
        missing = [name for name in journal.study.conditions if name not in played]
        return [*notes, f"{', '.join(missing)}: nobody completed."] if missing else notes

    def _group(self, record: EpisodeRecord) -> int | None:
        ids = {player.id for player in record.people.values()}
        return next((number for number, members in enumerate(self.journal.groups) if ids <= set(members)), None)

    @cached_property
    def rounds(self) -> dict[tuple[str, str, int], int]:
        """Round of each record, by condition, task and episode: its number among those of the same people, from 1."""
        numbers: dict[tuple[str, str, int], int] = {}
        for condition, records in self.records.items():
            played = Counter[frozenset[str]]()
            for record in records:  # in the order in which they were played
                people = frozenset(player.id for player in record.people.values())
                played[people] += 1
                numbers[condition, record.task, int(record.episode)] = played[people]
        return numbers

    def participants(self) -> list[Row]:
        """Return a row for each participant, and for each person who declined or was refused."""
        first_times: dict[str, dict[str, float]] = {}  # of each kind of event, by participant
        for event in self.journal.events:
            if "id" in event:
                first_times.setdefault(event["id"], {}).setdefault(event["event"], event["time"])
        pages = self.pages()
        windows = {row["id"]: row["window"] for row in reversed(pages) if row["window"]}
        no_seconds: Row = dict.fromkeys(step_columns(self.journal.study))
        seconds: dict[Cell, Row] = {}
        for page in pages:
            column = seconds_of(int(page["step"]))  # type: ignore[arg-type]
            seconds.setdefault(page["id"], dict(no_seconds))[column] = page["seconds"]
        columns = columns_of("participants", self.journal.study)
        rows: list[Row] = []
        visits = Counter[str]()
        for person in self.journal.people.values():
            panel_id = person.kept.get(self.journal.study.panel_id, person.id)
            visits[panel_id] += 1
            times = first_times.get(person.id, {})
            joined = times.get("joined")
            ended = times.get("ended")
            played = self.journal.conditions_of(person)
            row: Row = {
                "id": person.id,
                "number": person.number,
                "group": person.group,
                "yoke": person.yoke,
                "conditions": "; ".join(played) or None,
                **self._levels(played),
                "visit": visits[panel_id],
                "steps": person.step,
                "failed_checks": person.failed_checks,
                "end": person.end,
                "joined": _iso(joined),
                "minutes": None if joined is None or ended is None else round((ended - joined) / 60, 2),
                "bonus": self._bonus(person),
                "window": windows.get(person.id),
                **seconds.get(person.id, no_seconds),
            }
            rows.append(row)
        for event in self.journal.events:
            if event["event"] in ("declined", "refused"):
                row = {"end": event.get("how", event["event"]), "joined": _iso(event["time"])}
                rows.append(dict.fromkeys(columns) | row)
        return self._in_order("participants", rows)

    def _in_order(self, table: str, rows: Iterable[Row], metrics: Iterable[str] = ()) -> list[Row]:
        """Return rows with cells in the order of the table's columns, of which each must have all and no others."""
        columns = columns_of(table, self.journal.study, metrics)
        ordered = []
        for row in rows:
            if row.keys() != set(columns):
                raise ValueError(f"{table}: must have the columns {', '.join(columns)}, got {', '.join(row)}")
            ordered.append({name: row[name] for name in columns})
        return ordered

    def _levels(self, conditions: Sequence[str]) -> Row:
        """Return the level of each factor, None where it is not the same in all of the conditions."""
        known = [self.journal.study.conditions[name] for name in conditions if name in self.journal.study.conditions]
        levels: Row = {}
        for factor in self.journal.study.factors:
            levels_played = {condition.levels.get(factor) for condition in known}
            levels[factor] = levels_played.pop() if len(levels_played) == 1 else None
        return levels

    def _bonus(self, person: Participant) -> float | None:
        bonus = self.journal.study.bonus
        if bonus is None:
            return None
        whole = 0.0
        for records in self.records.values():
            for record in records:
                if person.id in {player.id for player in record.people.values()}:
                    whole += self._round_bonus(record) or 0.0
        if person.end == "done":
            whole += bonus.fixed
        return round(min(bonus.most, max(0.0, whole)), 2)

    def _round_bonus(self, record: EpisodeRecord) -> float | None:
        """Return the bonus of a round; None if the study pays none."""
        bonus = self.journal.study.bonus
        if bonus is None:
            return None
        if bonus.tasks and record.task not in bonus.tasks:
            return 0.0
        metric = score_metric(record)
        points = measure(record, [metric])[metric] or 0.0
        return round(bonus.per_round + bonus.per_point * points, 4)

    def answers(self) -> list[Row]:
        """Return a row for each answer."""
        joined = {event["id"]: event["time"] for event in self.journal.events if event["event"] == "joined"}
        opened = self.journal.opened_at()
        rows: list[Row] = []
        for event in self.journal.events:
            if event["event"] != "answered" or event["id"] not in self.journal.people:
                continue
            for item, value in event["answers"].items():
                row: Row = {
                    "id": event["id"],
                    "group": event["group"],
                    "form": event["form"],
                    "condition": event["condition"],
                    **self._levels([event["condition"]]),
                    "place": event["place"] if event["condition"] else None,
                    "item": item,
                    "value": "; ".join(value) if isinstance(value, list) else value,
                    "code": self._code(event["form"], item, value),
                    "minute": round((event["time"] - joined[event["id"]]) / 60, 2),
                    "started": _iso(opened.get((event["id"], event["step"]))),
                    "answered": _iso(event["time"]),
                }
                rows.append(row)
        return self._in_order("answers", rows)

    def _code(self, form: str, name: str, value: object) -> int | None:
        """Return an answer as a number; None if it is none, or if the study no longer asks the question."""
        if form not in self.journal.study.forms:
            return None
        items = {item.name: item for item in self.journal.study.forms[form].items}
        return items[name].code(value) if name in items else None

    def pages(self) -> list[Row]:
        """Return a row for each step of a participant that was completed or left: a page, a form or a condition."""
        opened = self.journal.opened_at()
        retries = Counter((event["id"], event["step"]) for event in self.journal.events if event["event"] == "retried")
        rows: list[Row] = []
        for event in self.journal.events:
            person = self.journal.people.get(event.get("id", ""))
            if event["event"] not in ("passed", "answered", "ended") or person is None:
                continue
            started = opened.get((person.id, event["step"]))
            if event["event"] == "ended" and (event["how"] == "done" or started is None):
                continue
            step = self.journal.steps_of(person)[event["step"]]
            page = self.journal.study.blocks[step.block].page
            row: Row = {
                "id": person.id,
                "group": person.group,
                "step": event["step"] + 1,
                "kind": step.kind,
                "name": page[0] if page and step.kind == "page" else step.form or None,
                "condition": step.condition or None,
                **self._levels([step.condition]),
                "place": step.place if step.condition else None,
                "started": _iso(started),
                "answered": _iso(event["time"]),
                "seconds": None if started is None else round(event["time"] - started, 3),
                "completed": int(event["event"] != "ended"),
                "retries": retries[person.id, event["step"]],
                "window": event.get("window"),
                "focus_losses": event.get("focus_losses"),
            }
            rows.append(row)
        return self._in_order("pages", rows)

    def decisions(self, cut_text: bool = False) -> list[Row]:
        """Return a row for each decision of a person in a round that counts.

        Args:
            cut_text: Whether choices that are no actions of the game are omitted, as people may have typed anything.
        """
        rounds: dict[tuple[Any, ...], tuple[EpisodeRecord, PersonEntry]] = {}
        for records in self.records.values():
            for record in records:
                for agent, person in record.people.items():
                    if person.session:
                        rounds[person.session, person.number, agent] = record, person
        are_actions = _ActionTexts()
        rows: list[Row] = []
        for condition in self.records:
            for line in JournalFile(self.journal.path / CONDITIONS / condition / INPUTS).read():
                key = (line.get("session"), line.get("number"), line.get("agent"))
                if key not in rounds or "state" not in line:
                    continue
                record, person = rounds[key]
                choice = line.get("choice")
                if cut_text and choice is not None and not are_actions(record, choice):
                    choice = None
                row: Row = {
                    "id": person.id,
                    "condition": condition,
                    **self._levels([condition]),
                    "task": record.task,
                    "episode": record.episode,
                    "round": self.rounds[condition, record.task, record.episode],
                    "agent": line["agent"],
                    "timestep": line["timestep"] + 1,
                    "answered": _iso(line["time"]),
                    "state": line["state"],
                    "options": line.get("options"),
                    "choice": choice,
                    "seconds": line.get("seconds"),
                }
                rows.append(row)
        return self._in_order("decisions", rows)

    def episodes(self) -> list[Row]:
        """Return a row for each person in each episode."""
        rows: list[Row] = []
        for condition, records in self.records.items():
            for record in records:
                numbers = self._measured[condition, record.task, record.episode]
                people = [self._episode_row(condition, record, agent) | numbers for agent in record.people]
                rows += self._in_order("episodes", people, numbers)
        return rows

    @cached_property
    def _measured(self) -> dict[tuple[str, str, int], Row]:
        """Metrics of each record that are numbers, by condition, task and episode."""
        measured: dict[tuple[str, str, int], Row] = {}
        for condition, records in self.records.items():
            for record in records:
                names = [name for name in metrics_of(record.env_id) if name not in ("success", "steps")]
                measured[condition, record.task, record.episode] = {
                    name: int(value) if isinstance(value, bool) else value
                    for name, value in measure(record, names).items()
                    if isinstance(value, (int, float))
                }
        return measured

    def _episode_row(self, condition: str, record: EpisodeRecord, agent: str) -> Row:
        participant = record.people[agent]
        group = self._group(record)
        steps = [] if group is None else self.journal.study.steps(self.journal.rows[group])
        played = [step for step in steps if step.kind == "play"]
        place = next((step.place for step in played if step.condition == condition), None)
        return {
            "id": participant.id,
            "group": group,
            "condition": condition,
            **self._levels([condition]),
            "place": place,
            "round": self.rounds[condition, record.task, record.episode],
            "agent": agent,
            "game": record.env_id,
            "task": record.task,
            "episode": record.episode,
            "team": " ".join(record.team.values()),
            "success": int(record.success) if registry.suite_of(record).has_success else None,
            "steps": record.timesteps,
            "seconds": None if participant.clock == TICKS else participant.seconds,
            "decisions": participant.decisions,
            "timeouts": participant.timeouts,
            "disconnects": participant.disconnects,
            "refused": participant.refused,
            "messages_sent": sum(_sender(message) == agent for step in record.steps for message in step.messages),
            "interface": participant.interface,
            "bonus": self._round_bonus(record),
            "started": _iso(participant.started or None),
            "answered": _iso(participant.answered or None),
            "window": participant.window or None,
            "focus_losses": participant.focus_losses,
            "partner_waits": participant.partner_waits,
            "outcome": registry.suite_of(record).outcome(record),
        }

    def tidy(self, answers: Sequence[Row]) -> list[Row]:
        """Return a row for each person in each episode, with columns of participants and of answers.

        Args:
            answers: Rows of ``answers`` that become columns.
        """
        people: dict[Cell, Row] = {}
        for row in self.participants():
            people[row["id"]] = {name: row[name] for name in OF_PARTICIPANTS}
        given: dict[tuple[Cell, Cell], Row] = {}
        for row in answers:
            column = answer_column(str(row["form"]), str(row["item"]))
            given.setdefault((row["id"], row["condition"] or None), {})[column] = row["value"]
        columns = dict.fromkeys(column for values in given.values() for column in values)
        rows: list[Row] = []
        for row in self.episodes():
            columns_of_answers = given.get((row["id"], None), {}) | given.get((row["id"], row["condition"]), {})
            rows.append({**row, **people.get(row["id"], {}), **columns, **columns_of_answers})
        return rows

    def messages(self, aborted: bool = False) -> list[Row]:
        """Return a row for each message.

        Args:
            aborted: Whether messages of aborted episodes follow those of each condition.
        """
        rows: list[Row] = []
        for condition, records in self.records.items():
            for record in [*records, *(self.aborted[condition] if aborted else [])]:
                for timestep, step in enumerate(record.steps, start=1):
                    for message in step.messages:
                        sender = _sender(message)
                        in_real_time = sender in record.people and record.people[sender].clock == TICKS
                        row: Row = {
                            "condition": condition,
                            **self._levels([condition]),
                            "task": record.task,
                            "episode": record.episode,
                            "round": None if record.ended else self.rounds[condition, record.task, record.episode],
                            "timestep": timestep,
                            "agent": sender,
                            "words": message.say,
                            "plan": None if in_real_time else message.plan,  # there it is the key that was pressed
                            "ended": record.ended,
                        }
                        rows.append(row)
        return self._in_order("messages", rows)

    def codebook(self, options: ExportOptions = ExportOptions()) -> list[Row]:
        """Return a row for each column of the tables, each question, each condition, and each way to end.

        Args:
            options: Options of the export, which leaves out some of the columns or adds others.
        """
        study = self.journal.study
        rows = [
            _described(table, column.name, column.type, column.meaning, column.values, column.unit)
            for column in COLUMNS
            for table in (column.table, *column.also)
            if not (options.anonymous and column.name in LEFT_OUT) and not (options.cut_text and table == TEXTS)
        ]
        if options.panel_ids:
            rows += [
                _described("participants", name, "text", f"Address parameter {name}.") for name in study.parameters
            ]
        rows += [
            _described("participants", name, "number", f"Time on step {index}, see pages.", unit="s")
            for index, name in enumerate(step_columns(study), start=1)
        ]
        rows += [
            _described(table, factor, "text", f"Factor of the conditions: {factor}.", " | ".join(levels))
            for factor, levels in study.factors.items()
            for table, columns in COLUMNS_OF.items()
            if {"condition", "conditions"} & set(columns) and not (options.cut_text and table == TEXTS)
        ]
        measured: dict[str, set[str]] = {}
        for condition, records in self.records.items():
            for record in records:
                numbers = self._measured[condition, record.task, record.episode]
                measured.setdefault(record.env_id, set()).update(numbers)
        for env_id, names in sorted(measured.items()):
            rows += [
                _described("episodes", metric.name, "number", metric.meaning, unit=metric.unit)
                for metric in metrics_of(env_id).values()
                if metric.name in names
            ]
        given = {(row["form"], row["item"]) for row in self.answers()} if measured else set()
        after_conditions = {block.after for block in study.blocks}
        for form in study.forms.values():
            for item in form.items:
                if options.cut_text and item.kind == "text":
                    continue
                kind = "text" if item.kind in ("choice", "many", "text") else "integer"
                rows.append(_described("answers", f"{form.name}.{item.name}", kind, item.ask, item.meaning()))
                if (form.name, item.name) in given:
                    meaning = f"{item.ask} {PER_CONDITION if form.name in after_conditions else PER_PERSON}"
                    rows.append(_described("tidy", answer_column(form.name, item.name), kind, meaning, item.meaning()))
        rows += [_condition_row(condition) for condition in study.conditions.values()]
        rows += [_described("participants", f"end={end}", "text", text) for end, text in (ENDS | REFUSALS).items()]
        of_participants = ("id", "group", *OF_PARTICIPANTS)
        tidy = [row for row in rows if row["table"] == "participants" and row["name"] in of_participants]
        tidy += [row for row in rows if row["table"] == "episodes" and "=" not in str(row["name"])]
        rows += [row | {"table": "tidy"} for row in tidy]
        unique = {(row["table"], row["name"]): row for row in rows}  # metrics of several games, the last one counts
        return self._in_order("codebook", unique.values())


def step_columns(study: Study) -> list[str]:
    """Return the columns of participants with the times on steps, as many as a participant has at most."""
    most = max(len(study.steps(row)) for row in range(study.period))
    return [seconds_of(step) for step in range(1, most + 1)]


def columns_of(table: str, study: Study, metrics: Iterable[str] = ()) -> list[str]:
    """Return the columns of a table of a study: those of ``COLUMNS_OF``, its factors and the times on its steps.

    Args:
        table: Name of the table.
        study: The study.
        metrics: Metrics of a game, for ``episodes`` and ``tidy``.
    """
    columns: list[str] = []
    for name in COLUMNS_OF[table]:
        if name == "outcome":
            columns += metrics
        columns.append(name)
        if name in ("condition", "conditions"):
            columns += study.factors
    if table == "participants":
        columns += step_columns(study)
    return columns


def _sender(message: MessageEntry) -> str:
    """Return the seat of a sender, as ``EpisodeRecord.people`` names it."""
    return VOICE if message.agent is None else f"agent_{message.agent}"


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _condition_row(condition: Condition) -> Row:
    match = condition.matches[0]
    options = json.dumps(match.env_kwargs, sort_keys=True)
    values = f"{match.env_id} {options}; team {' '.join(match.team)}; episodes {condition.episodes}"
    return _described("episodes", f"condition={condition.name}", "text", condition.label, values)


def _described(table: str, name: str, kind: str, meaning: str, values: str = "", unit: str = "") -> Row:
    return {"table": table, "name": name, "type": kind, "unit": unit, "values": values, "meaning": meaning}


class _ActionTexts:
    """Tells whether a choice consists of actions of the game, whose texts it keeps by game and options."""

    def __init__(self) -> None:
        self._texts: dict[str, set[str]] = {}

    def __call__(self, record: EpisodeRecord, choice: str) -> bool:
        key = env_key(record.env_id, record.env_kwargs)
        if key not in self._texts:
            game = registry.load_game(record.env_id, **record.env_kwargs)
            self._texts[key] = {
                text.lower()
                for seat in range(game.n_agents)
                for text in (*game.action_texts(seat=seat), *game.action_labels(seat=seat))
            }
        parts = {part.strip().lower() for part in choice.split(";")} - self._texts[key] - {""}
        return not parts or parts <= {text.lower() for step in record.steps for text in step.action_texts}


def export(folder: Path, out: Path, options: ExportOptions) -> list[str]:
    """Write the tables of a study, its codebook and its records.

    Args:
        folder: Folder of the study.
        out: Output folder; created if it does not exist.
        options: Options of the export.

    Returns:
        Names of the files, relative to ``out``.
    """
    results = StudyResults.read(folder)
    rename = _new_ids() if options.anonymous else lambda name: name
    tables = dict(_tables(results, options, rename))
    written = []
    for name, rows in tables.items():
        written.append(f"{name}.{options.form}")
        write_atomic(out / written[-1], _as_text(name, rows, options, results.journal.study).encode())
    for name, records in _exported_records(results, options):
        lines = b"".join(dump_line(_clean(record, rename, options)) for record in records)
        written.append(f"{RECORDS_FOLDER}/{name}.jsonl")
        write_atomic(out / written[-1], lines)
    return written


def _new_ids() -> Callable[[str], str]:
    new: dict[str, str] = {}
    return lambda name: new.setdefault(name, f"x-{secrets.token_hex(ID_BYTES)}")


def _tables(
    results: StudyResults, options: ExportOptions, rename: Callable[[str], str]
) -> Iterator[tuple[str, list[Row]]]:
    study = results.journal.study
    people = results.participants()
    if options.panel_ids:
        for row in people:
            kept = results.journal.people[str(row["id"])].kept if row["id"] else {}
            row |= {name: kept.get(name) for name in study.parameters}
    answers = results.answers()
    if options.cut_text:
        closed = {(form.name, item.name) for form in study.forms.values() for item in form.items if item.kind != "text"}
        answers = [row for row in answers if (row["form"], row["item"]) in closed]
    tables = {
        "participants": people,
        "answers": answers,
        "pages": results.pages(),
        "episodes": results.episodes(),
        "decisions": results.decisions(options.cut_text),
        "tidy": results.tidy(answers),
    }
    for name, rows in tables.items():
        for row in rows:
            if row["id"]:
                row["id"] = rename(str(row["id"]))
            if options.anonymous:
                for column in LEFT_OUT:
                    row.pop(column, None)
        yield name, rows
    if not options.cut_text:
        yield TEXTS, results.messages(options.aborted)
    yield "codebook", results.codebook(options)


def _as_text(name: str, rows: Sequence[Row], options: ExportOptions, study: Study) -> str:
    """Return a table as text; without rows it is the header, so that readers find the columns."""
    if options.form == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if rows:
        return table_of_mappings(rows).csv()
    columns = columns_of(name, study)
    if options.anonymous:
        columns = [column for column in columns if column not in LEFT_OUT]
    return ",".join(columns) + "\n"


def _exported_records(results: StudyResults, options: ExportOptions) -> Iterator[tuple[str, Iterable[EpisodeRecord]]]:
    for name, records in results.records.items():
        yield name, records
        if options.aborted and results.aborted[name]:
            yield f"{name}_aborted", results.aborted[name]


def _records_in(file: Path) -> list[EpisodeRecord]:
    return read_packed(file) if file.exists() and file.stat().st_size else []


def _numbered(records: Sequence[EpisodeRecord]) -> Iterator[EpisodeRecord]:
    """Yield records with distinct episode numbers, as groups of people may have played the same episode."""
    taken = set[tuple[str, int]]()
    for record in records:
        number = int(record.episode)
        while (record.task, number) in taken:
            number += 1
        taken.add((record.task, number))
        yield record.replace(episode=number)


def _clean(record: EpisodeRecord, rename: Callable[[str], str], options: ExportOptions) -> EpisodeRecord:
    changes: dict[str, Any] = {}
    if options.anonymous:
        changes = {"session": "", "number": 0, "started": 0, "answered": 0}
    people = {}
    for agent, person in record.people.items():
        people[agent] = structs.replace(person, id=rename(person.id), **changes)
    return record.replace(people=people, **(_without_text(record) if options.cut_text else {}))


def _without_text(record: EpisodeRecord) -> dict[str, Any]:
    """Return the fields of a record that may hold texts of people, without these."""
    steps = []
    for step in record.steps:
        messages = [structs.replace(message, say="", plan="") for message in step.messages]
        errors = [structs.replace(error, action="", message=error.code) for error in step.errors]
        steps.append(structs.replace(step, messages=messages, errors=errors))
    plan_updates: dict[str, list[Any]] = {}
    for agent, updates in record.plan_updates.items():  # of a partner that asks people about its plans
        plan_updates[agent] = []
        for update in updates:
            nodes = [structs.replace(node, messages=[]) for node in update.nodes]
            answers = [structs.replace(answer, text="") for answer in update.answers]
            plan_updates[agent].append(structs.replace(update, nodes=nodes, answers=answers))
    accounts = {}
    for agent, usage in record.accounts.items():  # of a language model, which may repeat what people write
        unusable = {kind: structs.replace(answers, sample="") for kind, answers in usage.unusable.items()}
        accounts[agent] = structs.replace(usage, unusable=unusable)
    return {"steps": steps, "plan_updates": plan_updates, "accounts": accounts}
