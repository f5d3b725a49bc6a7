"""Every number of an evaluation, computed from records alone.

The paper's table has a row per level and one for all tasks: success rate (SR), progress completeness (PC), TES of
each agent, initiating and responding capability (IC, RC) and the steps that successful runs took. Where the kitchen
has no reference trajectories, the numbers that need them are None.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.io.checks import near_matches, refuse_twice
from collab_overcooked.io.structs import Positive, Text
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.runner.env_variants import Variant, axis_values, by_variant, variant_of
from collab_overcooked.runner.records import without_lexicon

from ..engine.config import steps_allowed
from ..options import CollaborationOptions, CollabScoring
from .collaboration import (
    CollaborationRun,
    Initiation,
    collaboration_events,
    count_initiations,
    kitchen_vocabularies,
    required_collaborations,
)
from .run_scores import (
    LevelScore,
    apply_time_limit,
    mean_time,
    run_from_record,
    score_level,
    score_run,
    score_runs,
    success_rate,
)

logger = logging.getLogger(__name__)

ENV_ID = "CollabOvercooked-v0"
References = tuple[tuple[tuple[str, ...], ...], ...]
"""Agent -> reference -> actions."""


@dataclass(frozen=True)
class TaskInfo:
    """Task of a suite."""

    name: str  # Name in records
    title: str  # Title in texts
    level: int  # Level it belongs to
    reference_time: int  # Published time of a reference play, in steps
    references: References | None  # Agent -> reference -> actions; None if there is none

    @property
    def behaviours(self) -> dict[str, int]:
        """Counts of the collaborative behaviours of the paper's table 3 in the first reference; empty without one.

        New ingredients, new dishes, and the things that each seat puts into utensils.
        """
        if self.references is None:
            return {}
        first = [reference[0] for reference in self.references]
        taken = [action for actions in first for action in actions]
        processing = [sum(action.startswith("put_obj_in_utensil(") for action in actions) for actions in first]
        return {
            "new ingredients": sum(action.endswith(",ingredient_dispenser)") for action in taken),
            "new dishes": taken.count("pickup(dish,dish_dispenser)"),
            **{f"processing by agent_{seat}": count for seat, count in enumerate(processing)},
        }

    @property
    def summary(self) -> str:
        """Level, reference time and behaviours as text."""
        return f"level {self.level}, reference time {self.reference_time}{self.behaviours_text('; ')}"

    def behaviours_text(self, head: str) -> str:
        """Return the behaviours and the number of all collaborative actions after a head; empty without references."""
        if self.references is None:
            return ""
        counts = self.behaviours | {"collaborative actions": required_collaborations(self.references)}
        return head + ", ".join(f"{name} {count}" for name, count in counts.items())


@dataclass(frozen=True)
class TaskReferences:
    """Tasks, references and vocabularies for scoring records of a game variant."""

    tasks: Mapping[str, TaskInfo]  # Tasks by name
    vocabularies: Mapping[int, frozenset[str]] | None  # Seat -> actions that metrics know; None for all
    display_names: tuple[str, ...]  # Names of the seats in texts


def variant_title(record: CollabRecord) -> str:
    """Return id, kitchen, time limit, and all other options that differ from the default."""
    always = axis_values(record, ("kitchen", "gamma"))
    changed = {name: value for name, value in variant_of(record).changed.items() if name not in always}
    return Variant(ENV_ID, always | changed).title


def task_references(env_kwargs: Mapping[str, Any]) -> TaskReferences:
    """Return tasks, references and vocabularies of a kitchen."""
    kitchen = str(env_kwargs.get("kitchen", "paper"))
    file = Path(kitchen)
    return _task_references(kitchen, file.stat().st_mtime_ns if file.is_file() else 0)


def task_of(known: TaskReferences, name: str) -> TaskInfo:
    """Return a task by its name.

    Raises:
        ValueError: The task is unknown.
    """
    if name not in known.tasks:
        raise ValueError(near_matches("task", name, known.tasks))
    return known.tasks[name]


@lru_cache(maxsize=16)
def _task_references(kitchen: str, changed: int) -> TaskReferences:
    from ..engine.constants import Group

    game: Any = registry.load_game(ENV_ID, kitchen=kitchen)
    spec, seats = game.kitchen, range(game.n_agents)
    usable = {seat: game.usable_places(seat) for seat in seats}
    names = game.compiled.names
    operations = dict(zip(names.places[Group.UTENSIL :], names.operations, strict=True))
    utensils = {seat: {place: operations[place] for place in usable[seat] if place in operations} for seat in seats}
    vocabularies = kitchen_vocabularies(
        [*spec.ingredients, *(recipe.product for recipe in spec.recipes)],
        utensils,
        suppliers=[seat for seat in seats if {"ingredient_dispenser", "dish_dispenser"} & set(usable[seat])],
        deliverers=[seat for seat in seats if "serving" in usable[seat]],
    )
    tasks = {
        task.name: TaskInfo(
            task.name,
            task.title,
            task.level,
            task.reference_time,
            tuple(zip(*task.references, strict=True)) if task.references else None,
        )
        for task in spec.tasks.values()
    }
    return TaskReferences(tasks, vocabularies, game.display_names)


def parse_levels(text: str, known: Iterable[int]) -> list[int]:
    """Read levels such as ``"1-6"``, ``"1,3"`` or ``"1-2,5"``.

    Raises:
        ValueError: The text has another form, or a level is unknown.
    """
    known = sorted(known)
    known_text = ", ".join(map(str, known))
    levels: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"levels: cannot read {text!r}; write for example 1-6 or 1,3 (known: {known_text})")
        span = range(int(first), int(last or first) + 1)
        if not span:
            raise ValueError(f"levels: {part.strip()!r} is empty; write the smaller level first")
        for level in span:
            if level not in known:
                raise ValueError(f"levels: unknown level {level}; known: {known_text}")
            refuse_twice("levels", level, levels)
            levels.append(level)
    return sorted(levels)


def choose_tasks(known: TaskReferences, levels: str | None = None, tasks: Sequence[str] | None = None) -> list[str]:
    """Return the names of the tasks to play, in the order of their levels.

    Args:
        known: The variant's tasks.
        levels: See ``parse_levels``; all if neither levels nor tasks are given.
        tasks: Names.

    Raises:
        ValueError: Both levels and tasks are given, or one is unknown.
    """
    if levels is not None and tasks:
        raise ValueError("give either levels or tasks, not both")
    for name in tasks or ():
        task_of(known, name)
    ordered = sorted(known.tasks.values(), key=lambda task: task.level)  # stable: as in the file within a level
    chosen = parse_levels(levels, {task.level for task in ordered}) if levels else None
    return [
        task.name for task in ordered if (not tasks or task.name in tasks) and (chosen is None or task.level in chosen)
    ]


NAME = "collab-overcooked"  # of the suite


class CollabRecord(EpisodeRecord, kw_only=True):
    """Record of an episode; in the suite ``initiations`` with the due action and its number from 1."""

    due: Text = ""
    due_number: Positive | None = None

    @property
    def part(self) -> int | None:
        return self.due_number


@dataclass
class Played:
    """Runs of one task, how they are measured, and how many steps each was allowed."""

    task: TaskInfo
    runs: list[CollaborationRun] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)


@dataclass
class Group:
    """All runs of one team on one variant of a game."""

    title: str
    team: Mapping[str, str]
    known: TaskReferences
    played: dict[str, Played] = field(default_factory=dict)
    conversations: int = 0

    def add(self, task: str, run: CollaborationRun, limit: int) -> None:
        """Add a run of a task that was allowed ``limit`` steps."""
        if task not in self.played:
            self.played[task] = Played(self.known.tasks[task])
        self.played[task].runs.append(run)
        self.played[task].limits.append(limit)
        self.conversations += len(run.conversations)


@dataclass(frozen=True)
class TeamScore:
    """Scores of one team on one variant of the game."""

    game: str  # Name of the suite
    title: str  # Game and variant
    team: Mapping[str, str]  # Policy of each seat; empty if unknown
    levels: tuple[LevelScore, ...]  # One row per level, and the total
    tasks: tuple[LevelScore, ...]  # One row per task
    notes: tuple[str, ...] = ()  # Notes below the tables
    # Scored conversations by kind of initiation, see ``collaboration.Initiation``; may be empty
    initiations: Mapping[str, int] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)  # Steps allowed, means by level
    # Published times of reference plays, means by level
    reference_times: Mapping[str, float] = field(default_factory=dict)
    options: CollaborationOptions = field(default_factory=CollaborationOptions)  # How conversations are counted

    @property
    def n_agents(self) -> int:
        """Number of seats."""
        tes = self.levels[0].tes
        return len(tes) if tes is not None else len(self.team)


def score_record(record: CollabRecord, options: CollaborationOptions | None = None) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``success``, ``timesteps``, ``return`` (sum of the rewards of each agent); ``tes``, ``completeness``,
        ``efficiency`` and ``rouge_l`` in agent order; ``pc``, ``ic``, ``rc`` and ``conversations`` (scored ones). Those
        that need references are None where there are none.

    Raises:
        ValueError: For an unknown task, or a field that metrics cannot read.
    """
    known = task_references(record.env_kwargs)
    task = task_of(known, record.task)
    run = run_from_record(without_lexicon(record))
    rewards = [step.rewards for step in record.steps]
    metrics: dict[str, Any] = {
        "success": run.success,
        "timesteps": run.timesteps,
        "return": [float(sum(column)) for column in zip(*rewards, strict=True)],
    }
    names = ("tes", "pc", "completeness", "efficiency", "rouge_l", "ic", "rc", "conversations")
    if task.references is None:
        return metrics | dict.fromkeys(names)
    score = score_run(run, task.references, known.vocabularies, options)
    divisor = max(score.opportunities, 1)
    return metrics | {
        "tes": list(score.tes),
        "pc": score.pc,
        "completeness": list(score.completeness),
        "efficiency": list(score.efficiency),
        "rouge_l": list(score.rouge_l),
        "ic": score.initiated / divisor,
        "rc": score.responded / divisor,
        "conversations": len(score.codes),
    }


METRICS = MetricSet(
    (
        Metric("timesteps", "Environment steps of an episode.", "steps", "lower"),
        Metric("tes", "Trajectory efficiency score of each agent.", better="higher"),
        Metric("pc", "Progress completeness: mean TES of the agents.", better="higher"),
        Metric("completeness", "Share of the best reference that each agent did.", better="higher"),
        Metric("efficiency", "Share of each agent's actions that belong to the matched reference.", better="higher"),
        Metric("rouge_l", "ROUGE-L of each agent's actions and the references.", better="higher"),
        Metric("ic", "Initiating capability: share of right requests.", better="higher"),
        Metric("rc", "Responding capability: share of requests that were followed.", better="higher"),
        Metric("conversations", "Scored conversations.", "conversations"),
    ),
    score_record,
    progress=lambda record: record.metrics["pc"],
)


def score_records(records: Sequence[CollabRecord], options: CollaborationOptions | None = None) -> list[TeamScore]:
    """Score records, one result for every team, variant of a game, and gamma of ``CollabScoring``.

    Raises:
        ValueError: For an unknown game or task, a field that metrics cannot read, or a gamma above that of the records.
    """
    gammas = (options.gammas if isinstance(options, CollabScoring) else ()) or (None,)
    return [table_of(group, options) for gamma in gammas for group in group_records(records, gamma)]


def judged_run(record: CollabRecord, known: TaskReferences, gamma: float | None) -> tuple[CollaborationRun, int]:
    """Return a record's run and its time limit, optionally as if played with another gamma.

    Raises:
        ValueError: The record was played for fewer timesteps than the factor allows.
    """
    run, played = run_from_record(without_lexicon(record)), record.max_cycles
    if gamma is None:
        return run, played
    limit = steps_allowed(known.tasks[record.task].reference_time, gamma)
    if limit + 1 > (record.ends_after or played) and not run.success:
        raise ValueError(
            f"gamma {gamma:g}: {record.task} was played for at most {played} timesteps, too few for {limit + 1}; "
            "play with a larger --gamma"
        )
    return apply_time_limit(run, limit), limit


def group_records(records: Sequence[CollabRecord], gamma: float | None = None) -> list[Group]:
    """Group records by game, options and team, in the order of first appearance.

    Args:
        records: Episodes.
        gamma: Time limit to judge all episodes by; None for the time limit that each was played with.
    """
    groups = []
    for members in by_variant(records, lambda record: tuple(sorted(record.team.items()))):
        judged = "" if gamma is None else f", judged by gamma {gamma:g}"
        group = Group(variant_title(members[0]) + judged, members[0].team, task_references(members[0].env_kwargs))
        for record in members:
            task_of(group.known, record.task)
            group.add(record.task, *judged_run(record, group.known, gamma))
        groups.append(group)
    return groups


def table_of(group: Group, options: CollaborationOptions | None = None) -> TeamScore:
    """Compute the rows of a group."""
    options = options or CollaborationOptions()
    order = sorted(group.played.values(), key=lambda played: played.task.level)
    scored = {
        played.task.name: [_score_task(played, group.known, kind) for kind in (options, options.as_required)]
        for played in order
    }
    levels: dict[str, list[Played]] = {}
    for played in order:
        levels.setdefault(str(played.task.level), []).append(played)
    rows = [_row(name, members, scored) for name, members in levels.items()]
    if len(levels) > 1:
        rows.append(_row("total", order, scored))
    tasks = tuple(_row(played.task.name, [played], scored) for played in order)
    limits = {name: _mean([limit for played in members for limit in played.limits]) for name, members in levels.items()}
    times = {
        name: _mean([played.task.reference_time for played in members for _ in played.runs])
        for name, members in levels.items()
    }
    kinds = _initiations(group, options)
    notes = tuple(_notes(group, kinds))
    title = ", ".join(filter(None, (group.title, options.definition)))
    return TeamScore(NAME, title, group.team, tuple(rows), tasks, notes, kinds, limits, times, options)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _initiations(group: Group, options: CollaborationOptions | None) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for played in group.played.values():
        if played.task.references is not None:
            for run in played.runs:
                events = collaboration_events(run, played.task.references, group.known.vocabularies, options)
                counts.update(count_initiations(events, played.task.references))
    return {kind.value: counts[kind] for kind in Initiation} if counts.total() else {}


COUNTED = (
    "IC and RC count conversations that the chef opens and announced responses, as the public code does; per required "
    "action: the paper's equations 5 and 6, with the actions that followed as responses."
)


def _notes(group: Group, initiations: Mapping[str, int]) -> list[str]:
    notes = []
    if any(played.task.references is None for played in group.played.values()):
        notes.append("–: this kitchen has no reference trajectories, which TES, PC, IC and RC are measured against.")
    elif not group.conversations:
        notes.append("No agent opened a conversation; IC and RC are 0 by definition.")
    if any(played.task.references is not None for played in group.played.values()):
        notes.append(COUNTED)
    if initiations:
        notes.append("Initiations: " + ", ".join(f"{count} {kind}" for kind, count in initiations.items()) + ".")
    if any(run.success for played in group.played.values() for run in played.runs):
        notes.append("Timesteps: environment steps of successful runs only.")
    return notes


def _score_task(played: Played, known: TaskReferences, options: CollaborationOptions | None) -> Any:
    if played.task.references is None:
        return None
    return score_runs(played.runs, played.task.references, known.vocabularies, options)


def _row(name: str, members: Sequence[Played], scored: Mapping[str, Any]) -> LevelScore:
    """Average tasks: unweighted means, as in the paper."""
    tasks, required = zip(*(scored[played.task.name] for played in members), strict=True)
    if all(task is not None for task in tasks):
        strict = score_level(required)
        return replace(score_level(tasks, name), required_ic=strict.ic, required_rc=strict.rc)
    runs = [played.runs for played in members]
    return LevelScore(name, len(members), sum(map(len, runs)), success_rate(runs), timesteps=mean_time(runs))
