"""Every number of an evaluation, computed from records alone.

The paper's table has a row per level and one for all tasks: success rate (SR), progress completeness (PC), TES of
each agent, initiating and responding capability (IC, RC) and the steps that successful runs took. Where the kitchen
has no reference trajectories, the numbers that need them are None.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
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
from .collaboration import CollaborationRun, Initiation, kitchen_vocabularies, required_collaborations
from .run_scores import CollabRow, Episode, apply_time_limit, run_from_record, score_run

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


@dataclass(frozen=True)
class CollabResult:
    """Episodes of one team on one variant of the game."""

    title: str  # Game and variant
    team: Mapping[str, str]  # Policy of each seat; empty if unknown
    # Task, in the order of levels -> episodes: metrics of ``score_run`` where the task has references, else ``success``
    # and ``timesteps``; and ``level``, ``reference_time``, ``limit`` (steps allowed), ``talks`` (conversations)
    tasks: Mapping[str, Sequence[Episode]]
    options: CollaborationOptions = field(default_factory=CollaborationOptions)  # How conversations are counted

    @property
    def levels(self) -> list[CollabRow]:
        """One row per level, and the total of several levels."""
        by_level: dict[str, dict[str, Sequence[Episode]]] = {}
        for task, episodes in self.tasks.items():
            by_level.setdefault(str(episodes[0]["level"]), {})[task] = episodes
        rows = [CollabRow(level, tasks) for level, tasks in by_level.items()]
        return [*rows, CollabRow("total", self.tasks)] if len(rows) > 1 else rows

    @property
    def by_task(self) -> list[CollabRow]:
        """One row per task."""
        return [CollabRow(task, {task: episodes}) for task, episodes in self.tasks.items()]

    @property
    def episodes(self) -> list[Episode]:
        """Metrics of all episodes."""
        return CollabRow("total", self.tasks).episodes

    @property
    def n_agents(self) -> int:
        """Number of seats."""
        return next((len(episode["tes"]) for episode in self.episodes if "tes" in episode), len(self.team))

    @property
    def initiations(self) -> dict[str, int]:
        """Number of scored conversations by kind of initiation; empty if there are none."""
        counts = {kind.value: sum(episode.get(kind.value, 0) for episode in self.episodes) for kind in Initiation}
        return counts if any(counts.values()) else {}


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
    divisor = max(score["opportunities"], 1)
    shared = {name: score[name] for name in names if name in score}
    capability = {"ic": score["initiated"] / divisor, "rc": score["responded"] / divisor}
    return metrics | shared | capability | {"conversations": len(score["codes"])}


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


def score_records(records: Sequence[CollabRecord], options: CollaborationOptions | None = None) -> list[CollabResult]:
    """Measure episodes, one result for every gamma of ``CollabScoring``, team and variant of a game.

    Raises:
        ValueError: For an unknown game or task, a field that metrics cannot read, or a gamma above that of the records.
    """
    gammas = (options.gammas if isinstance(options, CollabScoring) else ()) or (None,)
    groups = by_variant(records, lambda record: tuple(sorted(record.team.items())))
    results = []
    for gamma, members in product(gammas, groups):
        judged = "" if gamma is None else f", judged by gamma {gamma:g}"
        known = task_references(members[0].env_kwargs)
        runs = [(record.task, *judged_run(record, known, gamma)) for record in members]
        results.append(score_team(variant_title(members[0]) + judged, members[0].team, known, runs, options))
    return results


def judged_run(record: CollabRecord, known: TaskReferences, gamma: float | None) -> tuple[CollaborationRun, int]:
    """Return a record's run and its time limit, optionally as if played with another gamma.

    Raises:
        ValueError: The task is unknown, or the record was played for fewer timesteps than the factor allows.
    """
    task = task_of(known, record.task)
    run = run_from_record(without_lexicon(record))
    played = record.max_cycles
    if gamma is None:
        return run, played
    limit = steps_allowed(task.reference_time, gamma)
    if limit + 1 > (record.ends_after or played) and not run.success:
        raise ValueError(
            f"gamma {gamma:g}: {record.task} was played for at most {played} timesteps, too few for {limit + 1}; "
            "play with a larger --gamma"
        )
    return apply_time_limit(run, limit), limit


def score_team(
    title: str,
    team: Mapping[str, str],
    known: TaskReferences,
    runs: Iterable[tuple[str, CollaborationRun, int]],
    options: CollaborationOptions | None = None,
) -> CollabResult:
    """Measure episodes of one team on one variant of the game.

    Args:
        title: Game and variant.
        team: Policy of each seat; empty if unknown.
        known: Tasks of the variant.
        runs: Task, run and steps allowed of each episode.
        options: How conversations are counted.
    """
    options = options or CollaborationOptions()
    by_task: dict[str, list[Episode]] = {}
    for name, run, limit in runs:
        task = known.tasks[name]
        facts = {"level": task.level, "reference_time": task.reference_time, "limit": limit}
        facts |= {"talks": len(run.conversations), "success": run.success, "timesteps": run.timesteps}
        if task.references is not None:
            facts |= score_run(run, task.references, known.vocabularies, options)
        by_task.setdefault(name, []).append(facts)
    tasks = {name: by_task[name] for name in sorted(by_task, key=lambda name: known.tasks[name].level)}
    return CollabResult(", ".join(filter(None, (title, options.definition))), team, tasks, options)
