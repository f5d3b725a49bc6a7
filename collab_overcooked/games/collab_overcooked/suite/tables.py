"""The tables of the Collab-Overcooked paper, success by time limit, and requests when an action was due.

In the suite ``initiations`` every question counts, also those after which a chef said nothing: silence is a separate
kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from collab_overcooked.metrics.intervals import Estimate, mean_of_shares
from collab_overcooked.metrics.trajectory import tes_batch
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, table_of, table_of_mappings
from collab_overcooked.reporting.scorecard import Chart, Scorecard
from collab_overcooked.runner.env_variants import by_variant, variant_of
from collab_overcooked.runner.records import without_lexicon
from collab_overcooked.runner.teams import team_text

from ..options import CollaborationOptions, CollabScoring
from .collaboration import Initiation, any_seat, classify_initiation, collaboration_events, keep_known
from .run_scores import CollabRow, run_from_record
from .scoring import NAME, CollabRecord, CollabResult, judged_run, score_records, task_of, task_references

SINGLE = ("success_rate", "pc", "ic", "rc", "required_ic", "required_rc", "timesteps")
BY_SEAT = ("tes", "efficiency", "redundancy", "rouge_l")
_DETAILS = "Efficiency, redundancy and ROUGE-L"


COUNTED = (
    "IC and RC count conversations that the chef opens and announced responses, as the public code does; per required "
    "action: the paper's equations 5 and 6, with the actions that followed as responses."
)


def scorecard(result: CollabResult) -> Scorecard:
    """Return the tables, charts and files of a team's result."""
    levels, tasks = result.levels, result.by_task
    team = team_text(result.team.values()) if result.team else ""
    return Scorecard(
        NAME,
        result.title,
        tables=(
            _paper_table(result, levels, "Level", "Levels"),
            *_required_tables(result, levels, "Level"),
            _detail_table(result, levels, "Level", _DETAILS),
            *_initiation_tables(result),
        ),
        team=team,
        notes=("Intervals: 95 %, where runs differ.", *_notes(result)),
        by_task=(
            _paper_table(result, tasks, "Task", f"All {len(tasks)} tasks"),
            *_required_tables(result, tasks, "Task"),
            _detail_table(result, tasks, "Task", f"{_DETAILS}, by task"),
        ),
        data=table_of_mappings(
            [*_lines(result, team, "level", levels), *_lines(result, team, "task", tasks)],
            (*SINGLE, *(f"{name}_{k}" for name in BY_SEAT for k in range(9))),
        ),
        tiles=_tiles(result),
        charts=tuple(_charts(result)),
    )


def _share(name: str, measure: str, seat: int | None = None) -> Column:
    return Column(name, "estimate", 1, ends=0, scale=100.0, value=lambda row: row.value(measure, seat))


def _table(first: str, columns: Sequence[Column], rows: Sequence[CollabRow], title: str) -> ResultTable:
    marks = {i: "summary" for i, row in enumerate(rows) if row.name == "total"}
    return table_of((Column(first, value=lambda row: row.name), *columns), rows, title, marks)


def _paper_table(result: CollabResult, rows: Sequence[CollabRow], first: str, title: str) -> ResultTable:
    columns = [
        Column("Runs", "number", value=lambda row: len(row.episodes)),
        _share("SR %", "success_rate"),
        _share("PC %", "pc"),
        *(_share(f"TES {seat} %", "tes", seat) for seat in range(result.n_agents)),
        _share("IC %", "ic"),
        _share("RC %", "rc"),
        Column("Timesteps", "estimate", 1, value=lambda row: row.value("timesteps")),
    ]
    return _table(first, columns, rows, title)


def _required_tables(result: CollabResult, rows: Sequence[CollabRow], first: str) -> list[ResultTable]:
    """Return IC and RC per required action; none if they are the main table's, or if nobody can be scored."""
    definition = result.options.as_required.definition
    if result.options.definition == definition or all(row.value("required_ic") is None for row in rows):
        return []
    return [_table(first, [_share("IC %", "required_ic"), _share("RC %", "required_rc")], rows, definition)]


def _detail_table(result: CollabResult, rows: Sequence[CollabRow], first: str, title: str) -> ResultTable:
    """Return measures that the paper does not show: efficiency, redundancy and ROUGE-L of each agent."""
    names = {"Efficiency": "efficiency", "Redundancy": "redundancy", "ROUGE-L": "rouge_l"}
    columns = [
        _share(f"{name} {seat} %", measure, seat) for name, measure in names.items() for seat in range(result.n_agents)
    ]
    return replace(_table(first, columns, rows, title), detail=True)


def _initiation_tables(result: CollabResult) -> list[ResultTable]:
    columns = (Column("Initiation"), Column("Conversations", "number"))
    counts = tuple(result.initiations.items())
    return [ResultTable(columns, counts, "Initiations", detail=True)] if counts else []


def _notes(result: CollabResult) -> Iterator[str]:
    episodes = result.episodes
    scored = [episode for episode in episodes if "tes" in episode]
    if len(scored) < len(episodes):
        yield "–: this kitchen has no reference trajectories, which TES, PC, IC and RC are measured against."
    elif not any(episode["talks"] for episode in episodes):
        yield "No agent opened a conversation; IC and RC are 0 by definition."
    if scored:
        yield COUNTED
    if result.initiations:
        yield "Initiations: " + ", ".join(f"{count} {kind}" for kind, count in result.initiations.items()) + "."
    if any(episode["success"] for episode in episodes):
        yield "Timesteps: environment steps of successful runs only."


def _lines(result: CollabResult, team: str, group: str, rows: Sequence[CollabRow]) -> Iterator[dict[str, Cell]]:
    """Yield the lines of rows in files."""
    for row in rows:
        line: dict[str, Cell] = {"title": result.title, "team": team, "group": group, "name": row.name}
        line |= {"tasks": len(row.tasks), "runs": len(row.episodes)} | {name: row.value(name) for name in SINGLE}
        for name in BY_SEAT:
            line |= {f"{name}_{seat}": row.value(name, seat) for seat in range(result.n_agents)}
        yield line


def _tiles(result: CollabResult) -> ResultTable:
    row = result.levels[-1]
    seats = [] if row.value("pc") is None else range(result.n_agents)
    columns = (
        _share("Success rate %", "success_rate"),
        _share("Progress completeness %", "pc"),
        *(_share(f"TES agent_{seat} %", "tes", seat) for seat in seats),
        Column("Episodes", "number", value=lambda row: len(row.episodes)),
        Column("Tasks", "number", value=lambda row: len(row.tasks)),
    )
    return table_of(columns, [row])


def _charts(result: CollabResult) -> Iterator[Chart]:
    rows = [row for row in result.levels if row.name != "total"]
    levels = tuple(row.name for row in rows)

    def by_level(measure: str, seat: int | None = None) -> tuple[Estimate | None, ...]:
        return tuple(row.value(measure, seat) for row in rows)

    def shares(title: str, series: dict[str, tuple[Estimate | None, ...]]) -> Chart:
        return Chart(f"{title}, %", f"{title} per level, with 95 % intervals", levels, series, 100.0)

    def mean(metric: str) -> tuple[float, ...]:
        return tuple(sum(episode[metric] for episode in row.episodes) / len(row.episodes) for row in rows)

    yield shares("Success rate", {"": by_level("success_rate")})
    if None not in by_level("pc"):
        yield shares("Progress completeness", {"": by_level("pc")})
        yield shares("TES", {f"agent_{k}": by_level("tes", k) for k in range(result.n_agents)})
    yield Chart(
        "Timesteps",
        "Timesteps of successful runs per level beside time limit and reference time",
        levels,
        {"successful runs": by_level("timesteps")},
        lines={"limit": mean("limit"), "reference time": mean("reference_time")},
    )


GAMMAS = (1.0, 1.2, 1.5, 2.0)  # of comparisons, as far as they were played; those of the public scripts
Rates = Mapping[float, Estimate | None]


def success_by_gamma(records: Sequence[CollabRecord], gammas: Sequence[float]) -> dict[str, Rates]:
    """Return the success rates of each team and variant, unweighted means over tasks, by gamma."""
    rates_by_team: dict[str, dict[float, Estimate | None]] = {}
    for gamma in gammas:
        for result in score_records(records, CollabScoring(gamma=gamma)):
            name = f"{team_text(result.team.values())}, {result.title.rpartition(', judged')[0]}"
            rates_by_team.setdefault(name, {})[gamma] = result.levels[-1].value("success_rate")
    return dict(rates_by_team)


def rate_tables(title: str, axis: str, rates_by_name: Mapping[str, Rates]) -> tuple[ResultTable, Chart]:
    """Return shares by name and a number, such as gamma or level, as a table and as curves."""
    values = sorted({value for rates in rates_by_name.values() for value in rates})
    columns = (Column("Team"), *(Column(f"{axis} {value:g}", "estimate", 1, scale=100.0) for value in values))
    rows = tuple((name, *(rates.get(value) for value in values)) for name, rates in rates_by_name.items())
    chart = Chart(
        f"{title}, %",
        f"{title}, with 95 % intervals",
        tuple(f"{value:g}" for value in values),
        {name: tuple(rates.get(value) for value in values) for name, rates in rates_by_name.items()},
        100.0,
        axis=axis,
        curve=True,
    )
    return ResultTable(columns, rows, f"{title}, %"), chart


GAMMA_TITLE = "Success rate by time limit, as a multiple of the reference time"


def gamma_card(records: Sequence[CollabRecord], gammas: Sequence[float]) -> Scorecard:
    """Return success rates by gamma of all teams in records."""
    table, chart = rate_tables(GAMMA_TITLE, "gamma", success_by_gamma(records, gammas))
    shows_limit = any(record.env_kwargs.get("show_limit", True) for record in records)
    notes = (LIMIT_NOTE,) if shows_limit else ()
    return Scorecard("gamma", "One run judged by several time limits", (table,), notes=notes, charts=(chart,))


LEVEL_CURVES = {
    "Success rate by level": "success_rate",
    "Progress completeness by level": "pc",
    "Initiating capability by level": "ic",
    "Responding capability by level": "rc",
}


def comparison_tables(played: Mapping[str, Sequence[CollabRecord]]) -> tuple[list[ResultTable], list[Chart]]:
    """Return the paper's measures by level and success by gamma, up to the gamma that each run was played with.

    Runs of ``initiations`` have shares of right initiations by the action that was due instead.
    """
    by_gamma: dict[str, Rates] = {}
    asked: dict[str, Rates] = {}
    answered: dict[str, Rates] = {}
    by_level: dict[str, dict[str, Rates]] = {title: {} for title in LEVEL_CURVES}
    for run, records in played.items():
        episodes = [record for record in records if not record.due]
        rates_by_team = success_by_gamma(episodes, played_gammas(episodes))
        by_gamma |= dict(zip(_short_names(run, rates_by_team), rates_by_team.values(), strict=True))
        results = score_records(episodes)
        titles = [f"{team_text(result.team.values())}, {result.title}" for result in results]
        for result, name in zip(results, _short_names(run, titles), strict=True):
            rows = [row for row in result.levels if row.name != "total"]
            for title, measure in LEVEL_CURVES.items():
                by_level[title][name] = {float(row.name): row.value(measure) for row in rows}
        asked_teams = by_variant(record for record in records if record.due)
        titles = [team_text(members[0].team.values()) for members in asked_teams]
        for members, name in zip(asked_teams, _short_names(run, titles), strict=True):
            answers = [answer_of(record) for record in members]
            asked[name] = _rates(answers, lambda answer: answer.kind == Initiation.RIGHT)
            asked[f"{name}: blind"] = _rates(answers, lambda answer: answer.blind)
            answered[name] = _rates(answers, lambda answer: answer.followed)
    curves = [(title, "level", rates) for title, rates in by_level.items()]
    curves += [
        (GAMMA_TITLE, "gamma", by_gamma),
        ("Right initiations by due action", "action", asked),
        ("Right responses by due action", "action", answered),
    ]
    drawn = [rate_tables(*curve) for curve in curves if any(curve[2].values())]
    return [table for table, _ in drawn], [chart for _, chart in drawn]


def _short_names(run: str, titles: Iterable[str]) -> list[str]:
    """Name the groups of a run; the name of the run alone if there is one group."""
    several = list(titles)
    return [run] if len(several) == 1 else [f"{run}: {title}" for title in several]


def _rates(answers: Sequence[AnswerRow], is_right: Callable[[AnswerRow], bool | None]) -> Rates:
    """Return shares of correct answers by number of the due action; unjudged answers are left out."""
    by_number: dict[float, list[bool]] = {}
    for answer in answers:
        right = is_right(answer)
        if right is not None:
            by_number.setdefault(answer.number, []).append(right)
    return {number: mean_of_shares([sum(right)], [len(right)]) for number, right in by_number.items()}


LIMIT_NOTE = "The agents saw the time limit of the games played; --set show_limit=false hides it."


def played_gammas(records: Sequence[CollabRecord]) -> list[float]:
    """Return the values of ``GAMMAS`` whose time limit no record's own limit falls short of."""
    gammas = []
    for gamma in GAMMAS:
        try:
            for record in records:
                judged_run(record, task_references(record.env_kwargs), gamma)
        except ValueError:
            break
        gammas.append(gamma)
    return gammas


SILENT = "silent"
REFERENCE = "reference"  # policy of seats that are not asked


@dataclass(frozen=True)
class AnswerRow:
    """Outcome of a question to a chef."""

    due: str  # Action that was due
    number: int  # Number of the due action among the assistant's actions, from 1 on
    task: str  # Name of the task
    kind: str  # A kind of ``Initiation``, or silence
    followed: bool | None  # Whether the response would have helped; None if no responder was asked
    blind: bool  # Whether a request for the first ``BLIND`` actions of the assistant would have helped


BLIND = 5  # actions of the first step in the paper's experiments


def answer_of(record: CollabRecord, options: CollaborationOptions | None = None) -> AnswerRow:
    """Return the outcome of a record's question."""
    known = task_references(record.env_kwargs)
    references = task_of(known, record.task).references
    assert references is not None  # the suite asks in states of reference plays only
    run = run_from_record(without_lexicon(record))
    events = collaboration_events(run, references, known.vocabularies, options)
    kind = classify_initiation(events[0], references[events[0].responder]).value if events else SILENT
    asked = bool(events) and record.team[f"agent_{events[0].responder}"] != REFERENCE
    followed = events[0].responded if asked else None
    seat = next((seat for seat, lists in enumerate(references) if record.due in lists[0]), len(references) - 1)
    done = keep_known(run.actions(seat, until=run.timesteps - 1), any_seat(known.vocabularies))
    before, after = tes_batch([done, done + tuple(references[seat][0][:BLIND])], references[seat]).value.tolist()
    return AnswerRow(record.due, record.due_number or 0, record.task, kind, followed, after > before)


def due_cards(records: Iterable[CollabRecord], options: CollaborationOptions | None = None) -> list[Scorecard]:
    """Return a card for each team of the suite ``initiations``; empty for records of other suites."""
    groups = by_variant(record for record in records if record.due)
    definition = (options or CollaborationOptions()).definition
    return [_due_card(group, [answer_of(record, options) for record in group], definition) for group in groups]


def _due_card(records: Sequence[CollabRecord], answers: Sequence[AnswerRow], definition: str) -> Scorecard:
    team, variant = team_text(records[0].team.values()), variant_of(records[0]).label
    by_due = _answer_table("Due action", answers, lambda answer: answer.due)
    tables = [by_due, _answer_table("Task", answers, lambda answer: answer.task)]
    if len(tables[1].rows) > 2:  # more than one task, and all
        numbers: dict[int, dict[str, None]] = {}
        for answer in answers:
            numbers.setdefault(answer.number, {})[answer.due.partition("(")[0]] = None
        names = {number: f"{number}. {' or '.join(verbs)}" for number, verbs in sorted(numbers.items())}
        ordered = sorted(answers, key=lambda answer: answer.number)
        tables.insert(0, _answer_table("Action of the assistant", ordered, lambda answer: names[answer.number]))
    notes = [DUE_NOTE]
    if any(answer.followed is not None for answer in answers):
        tables.append(_answer_matrix(answers))
        notes.append("Response: right if the actions that the assistant announced were next in its reference.")
        notes.append("Strict: as in the paper, where initiations in words count as wrong.")
    title = ", ".join(filter(None, ("Initiations when an action was due", variant, definition)))
    return Scorecard("initiations", title, tuple(tables), team, tuple(notes), data=by_due)


DUE_NOTE = (
    "Right: share of all questions, including silence. The kind of an initiation is that of the answer's first scored "
    "conversation; in words: actions were requested in spoken text only, not with request('...'); silent: no "
    f"conversation. Blind: share that is right if a chef asks for the assistant's first {BLIND} actions in every state."
)


def _answer_matrix(answers: Sequence[AnswerRow]) -> ResultTable:
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


def _answer_table(head: str, answers: Sequence[AnswerRow], group: Callable[[AnswerRow], str]) -> ResultTable:
    kinds = [*(kind.value for kind in Initiation), SILENT]
    groups = {
        name: [answer for answer in answers if group(answer) == name] for name in dict.fromkeys(map(group, answers))
    }
    rows: list[tuple[Cell, ...]] = []
    for name, members in (*groups.items(), ("all", answers)):
        counts = Counter(a.kind for a in members)
        followed = [a.followed for a in members if a.followed is not None]
        shares = counts["right"] / len(members), sum(a.blind for a in members) / len(members), _share_of(followed)
        rows.append((name, len(members), *shares, *(counts[kind] for kind in kinds)))
    columns = (
        Column(head),
        Column("questions", "number"),
        *(Column(name, "number", 1, scale=100.0) for name in ("right %", "blind %", "response right %")),
        *(Column(kind, "number") for kind in kinds),
    )
    return ResultTable(columns, tuple(rows), f"Answers by {head.lower()}", {len(rows) - 1: "summary"})


def _share_of(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
