"""Results of a study: samples for significance tests, and tables with a codebook for other programs."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import structs

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord, PersonEntry
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.journal import JournalFile
from collab_overcooked.metrics.registry import measure, metrics_of
from collab_overcooked.play.recording import INPUTS
from collab_overcooked.reporting.differences import score_metric
from collab_overcooked.reporting.result_table import Cell, ResultTable, table_of_mappings
from collab_overcooked.runner.records import RECORDS, dump_line, read_packed
from collab_overcooked.study.columns import (
    COLUMNS,
    COLUMNS_OF,
    OF_PARTICIPANTS,
    UNITS,
    answer_column,
    seconds_of,
    type_of,
)
from collab_overcooked.study.design import ENDS, REFUSALS, Condition, Study
from collab_overcooked.study.journal import CONDITIONS, JOURNAL, Journal, Participant, study_of

Row = dict[str, Cell]
ID_DIGITS = 4  # bytes of a new id
PERSON_UNIT = "person"  # first entry of the units of answers
RECORDS_FOLDER = "records"  # of an export


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of an export."""

    form: str = "csv"  # Format of the tables, ``"csv"`` or ``"jsonl"``
    anonymous: bool = False  # Replace ids and omit times of day
    cut_text: bool = False  # Omit free-text answers and messages
    panel_ids: bool = False  # Include the panel's ids, which identify participants
    aborted: bool = False  # Include records of aborted episodes

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
            path = folder / CONDITIONS / name / RECORDS
            results.records[name] = read_packed(path) if path.exists() and path.stat().st_size else []
        return results

    def samples(self, metrics: Sequence[str]) -> dict[str, dict[str, dict[tuple[Any, ...], float]]]:
        """Return values by measure, condition and unit: groups for metrics of games, participants for answers.

        Args:
            metrics: Metrics of the games; default: the scores of their suites, and success.
        """
        samples: dict[str, dict[str, dict[tuple[Any, ...], list[float]]]] = {}
        for condition, records in self.records.items():
            for record in records:
                for name in metrics or dict.fromkeys((score_metric(record), "success")):
                    value = measure(record, [name])[name]
                    if isinstance(value, (int, float)):
                        by_condition = samples.setdefault(name, {}).setdefault(condition, {})
                        by_condition.setdefault(("group", self._group(record)), []).append(float(value))
        for row in self.answers():
            value = row["value"]
            if row["condition"] and isinstance(value, (int, float)):
                name, condition = f"{row['form']}.{row['item']}", str(row["condition"])
                samples.setdefault(name, {}).setdefault(condition, {})[PERSON_UNIT, row["id"]] = [float(value)]

        def unit_means(values: Mapping[tuple[Any, ...], Sequence[float]]) -> dict[tuple[Any, ...], float]:
            return {unit: sum(many) / len(many) for unit, many in values.items()}

        means = {}
        for name, conditions in samples.items():
            played = [key for key in self.journal.study.conditions if key in conditions]
            means[name] = {key: unit_means(conditions[key]) for key in played}
        return means

    def _group(self, record: EpisodeRecord) -> int | None:
        ids = [player.id for player in record.people.values()]
        return next((number for number, members in enumerate(self.journal.groups) if set(ids) <= set(members)), None)

    def participants(self) -> list[Row]:
        """Return a row for each participant, and for each person who declined or was refused."""
        times: dict[str, dict[str, float]] = {}
        for event in self.journal.events:
            if "id" in event:
                times.setdefault(event["id"], {}).setdefault(event["event"], event["time"])
        rows: list[Row] = []
        visits = Counter[str]()
        pages = self.pages()
        windows = {row["id"]: row["window"] for row in reversed(pages) if row["window"]}
        seconds: dict[Cell, Row] = {}
        for page in pages:
            seconds.setdefault(page["id"], {})[seconds_of(int(page["step"]) + 1)] = page["seconds"]  # type: ignore[arg-type]
        columns = dict.fromkeys(columns_of("participants", self.journal.study))
        for person in self.journal.people.values():
            panel_id = person.kept.get(self.journal.study.panel_id, person.id)
            visits[panel_id] += 1
            first_times = times.get(person.id, {})
            joined, ended = first_times.get("joined"), first_times.get("ended")
            minutes = None if joined is None or ended is None else round((ended - joined) / 60, 2)
            facts: Row = {"visit": visits[panel_id], "steps": person.step, "failed_checks": person.failed_checks}
            facts |= {"end": person.end, "joined": _iso(joined), "minutes": minutes, "bonus": self._bonus(person)}
            facts["window"] = windows.get(person.id)
            played = self.journal.conditions_of(person)
            allocated: Row = {
                "group": person.group,
                "yoke": person.yoke,
                "conditions": "; ".join(played) or None,
                **self._levels(played),
            }
            facts |= seconds.get(person.id, {})
            rows.append({**columns, "id": person.id, "number": person.number, **allocated, **facts})
        return rows + [
            {**columns, "end": event.get("how", event["event"]), "joined": _iso(event["time"])}
            for event in self.journal.events
            if event["event"] in ("declined", "refused")
        ]

    def _levels(self, conditions: Sequence[str]) -> Row:
        """Return the level of each factor, None where it is not the same in all of the conditions."""
        known = self.journal.study.conditions
        of_conditions = [known[name].levels for name in conditions if name in known]
        levels = {factor: {chosen.get(factor) for chosen in of_conditions} for factor in self.journal.study.factors}
        return {factor: next(iter(values)) if len(values) == 1 else None for factor, values in levels.items()}

    def _bonus(self, person: Participant) -> float | None:
        bonus = self.journal.study.bonus
        if bonus is None:
            return None
        played = [
            self._round_bonus(record) or 0.0
            for records in self.records.values()
            for record in records
            if any(player.id == person.id for player in record.people.values())
        ]
        whole = sum(played) + bonus.fixed * (person.end == "done")
        return round(min(bonus.most, max(0.0, whole)), 2)

    def _round_bonus(self, record: EpisodeRecord) -> float | None:
        """Return the bonus of a round; None if the study pays none."""
        bonus, metric = self.journal.study.bonus, score_metric(record)
        if bonus is None:
            return None
        if bonus.tasks and record.task not in bonus.tasks:
            return 0.0
        return round(bonus.per_round + bonus.per_point * (measure(record, [metric])[metric] or 0.0), 4)

    def answers(self) -> list[Row]:
        """Return a row for each answer."""
        joined = {event["id"]: event["time"] for event in self.journal.events if event["event"] == "joined"}
        opened, forms = self._opened(), self.journal.study.forms

        def code_of(form: str, name: str, value: object) -> int | None:
            items = {item.name: item for item in forms[form].items} if form in forms else {}
            return items[name].code(value) if name in items else None  # of a question that the study no longer asks

        return [
            {
                "id": event["id"],
                "group": event["group"],
                "form": event["form"],
                "condition": event["condition"],
                **self._levels([event["condition"]]),
                "place": event["place"] if event["condition"] else None,
                "item": item,
                "value": "; ".join(value) if isinstance(value, list) else value,
                "code": code_of(event["form"], item, value),
                "minute": round((event["time"] - joined[event["id"]]) / 60, 2),
                "started": _iso(opened.get((event["id"], event["step"]))),
                "answered": _iso(event["time"]),
            }
            for event in self.journal.events
            if event["event"] == "answered" and event["id"] in self.journal.people
            for item, value in event["answers"].items()
        ]

    def _opened(self) -> dict[tuple[str, int], float]:
        """Return when each step of each participant was first shown."""
        return {(e["id"], e["step"]): e["time"] for e in self.journal.events if e["event"] == "opened"}

    def pages(self) -> list[Row]:
        """Return a row for each step of a participant that was completed or left: a page, a form or a condition."""
        opened, study = self._opened(), self.journal.study
        rows: list[Row] = []
        retries = Counter((e["id"], e["step"]) for e in self.journal.events if e["event"] == "retried")
        for event in self.journal.events:
            person = self.journal.people.get(event.get("id", ""))
            if event["event"] not in ("passed", "answered", "ended") or person is None:
                continue
            started = opened.get((person.id, event["step"]))
            if event["event"] == "ended" and (event["how"] == "done" or started is None):
                continue
            step = self.journal.steps_of(person)[event["step"]]
            page = study.blocks[step.block].page
            facts: Row = {"kind": step.kind, "name": page[0] if page and step.kind == "page" else step.form or None}
            facts |= {"condition": step.condition or None, **self._levels([step.condition])}
            facts["place"] = step.place if step.condition else None
            facts |= {"started": _iso(started), "answered": _iso(event["time"])}
            facts["seconds"] = None if started is None else round(event["time"] - started, 3)
            facts["completed"] = int(event["event"] != "ended")
            facts["retries"] = retries[person.id, event["step"]]
            facts |= {name: event.get(name) for name in ("window", "focus_losses")}
            rows.append({"id": person.id, "group": person.group, "step": event["step"], **facts})
        return rows

    def decisions(self) -> list[Row]:
        """Return a row for each decision of a person in a round that counts."""
        rounds = {
            (person.session, person.number, agent): (condition, record, person)
            for condition, records in self.records.items()
            for record in records
            for agent, person in record.people.items()
            if person.session
        }
        rows: list[Row] = []
        for condition in self.records:
            for line in JournalFile(self.journal.path / CONDITIONS / condition / INPUTS).read():
                key = line.get("session"), line.get("number"), line.get("agent")
                if key not in rounds or "state" not in line:
                    continue
                name, record, person = rounds[key]
                facts: Row = {"id": person.id, "condition": name, **self._levels([name])}
                facts |= {"task": record.task, "episode": record.episode}
                facts |= {"agent": line["agent"], "timestep": line["timestep"] + 1, "answered": _iso(line["time"])}
                rows.append(facts | {name: line.get(name) for name in ("state", "options", "choice", "seconds")})
        return rows

    def episodes(self) -> list[Row]:
        """Return a row for each person in each episode."""
        rows: list[Row] = []
        for condition, records in self.records.items():
            for record in records:
                names = [name for name in metrics_of(record.env_id) if name not in ("success", "steps")]
                values = measure(record, names)
                numbers = {name: value for name, value in values.items() if isinstance(value, (int, float))}
                facts: Row = {name: int(value) if isinstance(value, bool) else value for name, value in numbers.items()}
                facts["outcome"] = registry.suite_of(record).outcome(record)
                for agent, participant in record.people.items():
                    rows.append(self._episode_row(condition, record, agent, participant) | facts)
        return rows

    def _episode_row(self, condition: str, record: EpisodeRecord, agent: str, participant: PersonEntry) -> Row:
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
            "agent": agent,
            "game": record.env_id,
            "task": record.task,
            "episode": record.episode,
            "team": " ".join(record.team.values()),
            "success": int(record.success),
            "steps": record.timesteps,
            "seconds": participant.seconds,
            "decisions": participant.decisions,
            "timeouts": participant.timeouts,
            "disconnects": participant.disconnects,
            "refused": participant.refused,
            "interface": participant.interface,
            "bonus": self._round_bonus(record),
            "started": _iso(participant.started or None),
            "answered": _iso(participant.answered or None),
            "window": participant.window or None,
            "focus_losses": participant.focus_losses,
            "partner_waits": participant.partner_waits,
        }

    def tidy(self, answers: Sequence[Row]) -> list[Row]:
        """Return a row for each person in each episode, with columns of participants and of answers.

        Args:
            answers: Rows of ``answers`` that become columns.
        """
        people: dict[Cell, Row] = {
            row["id"]: {name: row[name] for name in OF_PARTICIPANTS} for row in self.participants() if row["id"]
        }
        given: dict[tuple[Cell, Cell], Row] = {}
        for row in answers:
            column = answer_column(str(row["form"]), str(row["item"]))
            given.setdefault((row["id"], row["condition"] or None), {})[column] = row["value"]
        columns = dict.fromkeys(column for values in given.values() for column in values)
        rows: list[Row] = []
        for row in self.episodes():
            own = given.get((row["id"], None), {}) | given.get((row["id"], row["condition"]), {})
            rows.append({**row, **people.get(row["id"], {}), **columns, **own})
        return rows

    def messages(self) -> list[Row]:
        """Return a row for each message."""
        return [
            {
                "condition": condition,
                **self._levels([condition]),
                "task": record.task,
                "episode": record.episode,
                "timestep": t,
                "agent": "voice" if message.agent is None else f"agent_{message.agent}",
                "words": message.say,
                "plan": message.plan,
            }
            for condition, records in self.records.items()
            for record in records
            for t, step in enumerate(record.steps, start=1)
            for message in step.messages
        ]

    def codebook(self) -> list[Row]:
        """Return a row for each column of the tables, each question, each condition, and each way to end."""
        study = self.journal.study
        rows = [_column_row(*column) for column in COLUMNS]
        rows += [
            _described("participants", seconds_of(n), "number", f"Time on step {n - 1}, see pages.", unit="s")
            for n in range(1, most_steps(study) + 1)
        ]
        rows += [
            _described(table, factor, "text", f"Factor of the conditions: {factor}.", " | ".join(levels))
            for factor, levels in study.factors.items()
            for table, columns in COLUMNS_OF.items()
            if {"condition", "conditions"} & set(columns)
        ]
        games = {record.env_id for records in self.records.values() for record in records}
        for env_id in sorted(games):
            rows += [
                _described("episodes", metric.name, "number", metric.meaning, unit=metric.unit)
                for metric in metrics_of(env_id).values()
                if metric.name not in ("success", "steps")
            ]
        for form in study.forms.values():
            for item in form.items:
                kind = "text" if item.kind in ("choice", "many", "text") else "integer"
                names = (("answers", f"{form.name}.{item.name}"), ("tidy", answer_column(form.name, item.name)))
                rows += [_described(table, name, kind, item.ask, item.meaning()) for table, name in names]
        rows += [_condition_row(condition) for condition in study.conditions.values()]
        rows += [_described("participants", f"end={end}", "text", text) for end, text in (ENDS | REFUSALS).items()]
        own = [
            row for row in rows if row["table"] == "participants" and row["name"] in ("id", "group", *OF_PARTICIPANTS)
        ]
        own += [row for row in rows if row["table"] == "episodes" and "=" not in str(row["name"])]
        rows += [{**row, "table": "tidy"} for row in own]
        return list({(row["table"], row["name"]): row for row in rows}.values())


def most_steps(study: Study) -> int:
    """Return the largest number of steps of a participant."""
    return max(len(study.steps(row)) for row in range(study.period))


def columns_of(table: str, study: Study) -> list[str]:
    """Return the columns of a table of a study; episodes also have the metrics of their games."""
    columns = list(COLUMNS_OF[table])
    place = next((columns.index(name) + 1 for name in ("conditions", "condition") if name in columns), None)
    columns[place:place] = study.factors if place is not None else ()
    return columns + [seconds_of(n) for n in range(1, most_steps(study) + 1)] * (table == "participants")


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _condition_row(condition: Condition) -> Row:
    match = condition.matches[0]
    options = json.dumps(match.env_kwargs, sort_keys=True)
    values = f"{match.env_id} {options}; team {' '.join(match.team)}; episodes {condition.episodes}"
    return _described("episodes", f"condition={condition.name}", "text", condition.label, values)


def _described(table: str, name: str, kind: str, meaning: str, values: str = "", unit: str = "") -> Row:
    return {"table": table, "name": name, "type": kind, "unit": unit, "values": values, "meaning": meaning}


def _column_row(table: str, name: str, meaning: str, values: str) -> Row:
    unit, values = (values, "") if values in UNITS else ("", values)
    return _described(table, name, type_of(name), meaning, values, unit)


LEFT_OUT = ("joined", "number", "started", "answered")  # of anonymous exports


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
    for name, records in _exported_records(results, folder, options):
        lines = b"".join(dump_line(_clean(record, rename, options)) for record in records)
        written.append(f"{RECORDS_FOLDER}/{name}.jsonl")
        write_atomic(out / written[-1], lines)
    return written


def _new_ids() -> Callable[[str], str]:
    new: dict[str, str] = {}
    return lambda name: new.setdefault(name, f"x-{secrets.token_hex(ID_DIGITS)}")


def _tables(
    results: StudyResults, options: ExportOptions, rename: Callable[[str], str]
) -> Iterator[tuple[str, list[Row]]]:
    study = results.journal.study
    people = results.participants()
    if options.panel_ids:
        names = [name for name in (study.panel_id, *study.keep) if name]
        people = [
            row | {name: results.journal.people[str(row["id"])].kept.get(name) if row["id"] else None for name in names}
            for row in people
        ]
    answers = results.answers()
    if options.cut_text:
        items = [(form.name, item) for form in study.forms.values() for item in form.items]
        closed = {(form, item.name) for form, item in items if item.kind != "text"}
        answers = [row for row in answers if (row["form"], row["item"]) in closed]
    left_out = LEFT_OUT if options.anonymous else ()
    tables = {"participants": people, "answers": answers, "pages": results.pages(), "episodes": results.episodes()}
    tables |= {"decisions": results.decisions(), "tidy": results.tidy(answers)}
    for name, rows in tables.items():
        yield (
            name,
            [
                {k: rename(str(v)) if k == "id" and v else v for k, v in row.items() if k not in left_out}
                for row in rows
            ],
        )
    if not options.cut_text:
        yield "messages", results.messages()
    yield "codebook", results.codebook()


def _as_text(name: str, rows: Sequence[Row], options: ExportOptions, study: Study) -> str:
    """Return a table as text; without rows it is the header, so that readers find the columns."""
    if options.form == "csv":
        table: ResultTable = table_of_mappings(rows)
        left_out = LEFT_OUT if options.anonymous else ()
        columns = [column for column in columns_of(name, study) if column not in left_out]
        return table.csv() if rows else ",".join(columns) + "\n"
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _exported_records(
    results: StudyResults, folder: Path, options: ExportOptions
) -> Iterator[tuple[str, Iterable[EpisodeRecord]]]:
    from collab_overcooked.play.recording import ABORTED

    for name, records in results.records.items():
        yield name, records
        aborted = folder / CONDITIONS / name / ABORTED
        if options.aborted and aborted.exists():
            yield f"{name}_aborted", _numbered(read_packed(aborted))


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
    left_out: dict[str, Any] = {"session": "", "number": 0, "started": 0, "answered": 0} if options.anonymous else {}
    people = {
        agent: structs.replace(person, id=rename(person.id), **left_out) for agent, person in record.people.items()
    }
    steps = record.steps
    if options.cut_text:
        steps = [
            structs.replace(step, messages=[structs.replace(message, say="", plan="") for message in step.messages])
            for step in steps
        ]
    return record.replace(people=people, steps=steps)
