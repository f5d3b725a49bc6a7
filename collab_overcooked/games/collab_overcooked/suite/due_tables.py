"""Tables of the suite ``initiations``: requests of chefs when an action was due, by action and task, and responses.

Every question counts, also those after which a chef said nothing: silence is a separate kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.games.collab_overcooked.suite.metrics.collaboration import (
    CollaborationOptions,
    collaboration_events,
)
from collab_overcooked.games.collab_overcooked.suite.metrics.initiations import Initiation, classify_initiation
from collab_overcooked.games.collab_overcooked.suite.metrics.scores import run_from_record
from collab_overcooked.games.collab_overcooked.suite.task_references import task_of, task_references
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import by_variant, variant_of
from collab_overcooked.runner.records import without_lexicon
from collab_overcooked.runner.teams import team_text

SILENT = "silent"
REFERENCE = "reference"  # policy of seats that are not asked
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """Outcome of a question to a chef."""

    due: str  # Action that was due
    number: int  # Number of the due action among the assistant's actions, from 1 on
    task: str  # Name of the task
    kind: str  # A kind of ``Initiation``, or silence
    followed: bool | None  # Whether the response would have helped; None if no responder was asked


def answer_of(record: Record, options: CollaborationOptions | None = None) -> Answer:
    """Return the outcome of a record's question."""
    known = task_references(record["env_kwargs"])
    references = task_of(known, record["task"]).references
    assert references is not None  # the suite asks in states of reference plays only
    run = run_from_record(without_lexicon(record))
    events = collaboration_events(run, references, known.vocabularies, options)
    kind = classify_initiation(events[0], references[events[0].responder]).value if events else SILENT
    asked = bool(events) and record["team"][f"agent_{events[0].responder}"] != REFERENCE
    followed = events[0].responded if asked else None
    return Answer(record["due"], record["due_number"], record["task"], kind, followed)


def due_cards(records: Iterable[Record], options: CollaborationOptions | None = None) -> list[Scorecard]:
    """Return a card for each team that was asked when actions were due; nothing for other records."""
    groups = by_variant(record for record in records if "due" in record)
    return [_card(group, [answer_of(record, options) for record in group]) for group in groups]


def _card(records: Sequence[Record], answers: Sequence[Answer]) -> Scorecard:
    team, variant = team_text(records[0]["team"].values()), variant_of(records[0]).label
    by_due = _table("Due action", answers, lambda answer: answer.due)
    tables = [by_due, _table("Task", answers, lambda answer: answer.task)]
    if len(tables[1].rows) > 2:  # more than one task, and all
        numbers: dict[int, dict[str, None]] = {}
        for answer in answers:
            numbers.setdefault(answer.number, {})[answer.due.partition("(")[0]] = None
        names = {number: f"{number}. {' or '.join(verbs)}" for number, verbs in sorted(numbers.items())}
        ordered = sorted(answers, key=lambda answer: answer.number)
        tables.insert(0, _table("Action of the assistant", ordered, lambda answer: names[answer.number]))
    notes = [NOTE]
    if any(answer.followed is not None for answer in answers):
        tables.append(_matrix(answers))
        notes.append("Response: right if the actions that the assistant announced were next in its reference.")
        notes.append("Strict: as in the paper, where initiations in words count as wrong.")
    title = ", ".join(filter(None, ("Initiations when an action was due", variant)))
    return Scorecard("initiations", title, tuple(tables), team, tuple(notes), data=by_due)


NOTE = (
    "Right: share of all questions, including silence. The kind of an initiation is that of the answer's first scored "
    "conversation; in words: actions were requested in spoken text only, not with request('...'); silent: no "
    "conversation."
)


def _matrix(answers: Sequence[Answer]) -> ResultTable:
    counts = Counter(answer.kind for answer in answers)
    wrong = [kind for kind in Initiation if kind not in (Initiation.RIGHT, Initiation.IN_WORDS)]
    strict: dict[str, int] = {"right": counts["right"]}  # as the paper counts
    strict["wrong"] = sum(counts[kind] for kind in Initiation) - counts[Initiation.RIGHT]
    rows: list[tuple[Cell, ...]] = []
    for name, kinds in (("right", [Initiation.RIGHT]), ("wrong", wrong), ("in words", [Initiation.IN_WORDS])):
        responses = [answer.followed for answer in answers if answer.kind in kinds]
        rows.append(
            (f"initiation {name}", responses.count(True), responses.count(False), len(responses), strict.get(name))
        )
    rows.append((f"{SILENT}, no request", None, None, counts[SILENT], counts[SILENT]))
    names = ("response right", "response wrong", "all", "strict")
    columns = (Column("Initiation"), *(Column(name, "number") for name in names))
    return ResultTable(columns, tuple(rows), "Initiation and response")


def _table(head: str, answers: Sequence[Answer], group: Callable[[Answer], str]) -> ResultTable:
    kinds = [*(kind.value for kind in Initiation), SILENT]
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(map(group, answers)):
        counts = Counter(answer.kind for answer in answers if group(answer) == name)
        rows.append((name, counts.total(), counts["right"] / counts.total(), *(counts[kind] for kind in kinds)))
    total = Counter(answer.kind for answer in answers)
    rows.append(("all", total.total(), total["right"] / total.total(), *(total[kind] for kind in kinds)))
    columns = (
        Column(head),
        Column("questions", "number"),
        Column("right %", "number", 1, scale=100.0),
        *(Column(kind, "number") for kind in kinds),
    )
    return ResultTable(columns, tuple(rows), f"Answers by {head.lower()}", {len(rows) - 1: "summary"})
