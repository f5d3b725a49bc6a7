"""Tables of the suite ``initiations``: what chefs asked for when an action was due, by action and by task.

Every question counts, also those after which a chef said nothing: silence is a kind of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from collab_overcooked.games.collab_overcooked.metrics.collaboration import CollaborationOptions, collaboration_events
from collab_overcooked.games.collab_overcooked.metrics.initiations import Initiation, classify_initiation
from collab_overcooked.games.collab_overcooked.metrics.scores import run_from_record
from collab_overcooked.games.collab_overcooked.task_references import task_of, task_references
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.records import in_plain_words
from collab_overcooked.runner.teams import team_words

SILENT = "silent"
Record = Mapping[str, Any]


def kind_of_answer(record: Record, options: CollaborationOptions | None = None) -> str:
    """Say what a chef did when an action was due: a kind of ``Initiation``, or silence."""
    known = task_references(record["env_kwargs"])
    references = task_of(known, record["task"]).references
    assert references is not None  # the suite asks in states of reference plays only
    run = run_from_record(in_plain_words(record))
    events = collaboration_events(run, references, known.vocabularies, options)
    return classify_initiation(events[0], references[events[0].responder]).value if events else SILENT


def due_cards(records: Iterable[Record], options: CollaborationOptions | None = None) -> list[Scorecard]:
    """Return a card for each team that was asked when actions were due; nothing for other records."""
    teams: dict[str, list[tuple[str, str, str]]] = {}
    for record in records:
        if "due" in record:
            answer = record["due"], record["task"], kind_of_answer(record, options)
            teams.setdefault(team_words(record["team"].values()), []).append(answer)
    return [
        Scorecard("initiations", "Initiations when an action was due", (by_due, by_task), team, (NOTE,), data=by_due)
        for team, answers in teams.items()
        for by_due, by_task in [(_table("Due action", answers, 0), _table("Task", answers, 1))]
    ]


NOTE = (
    "Right: of all questions, silence included. The kind of an initiation is that of an answer's first scored "
    "conversation; silent: there was none."
)


def _table(head: str, answers: Sequence[tuple[str, str, str]], place: int) -> ResultTable:
    kinds = [*(kind.value for kind in Initiation), SILENT]
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(answer[place] for answer in answers):
        counts = Counter(answer[2] for answer in answers if answer[place] == name)
        rows.append((name, counts.total(), counts["right"] / counts.total(), *(counts[kind] for kind in kinds)))
    whole = Counter(answer[2] for answer in answers)
    rows.append(("all", whole.total(), whole["right"] / whole.total(), *(whole[kind] for kind in kinds)))
    columns = (
        Column(head),
        Column("questions", "number"),
        Column("right %", "number", 1, scale=100.0),
        *(Column(kind, "number") for kind in kinds),
    )
    return ResultTable(columns, tuple(rows), f"Answers by {head.lower()}", {len(rows) - 1: "summary"})
