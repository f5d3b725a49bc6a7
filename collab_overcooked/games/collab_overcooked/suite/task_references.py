"""Measures of Collab-Overcooked records: tasks, their references, and the words that metrics know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.io.checks import near_matches
from collab_overcooked.runner.env_variants import Variant, axis_values, variant_of

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


@dataclass(frozen=True)
class TaskReferences:
    """Tasks, references and vocabularies by which records of a game variant are scored."""

    tasks: Mapping[str, TaskInfo]  # Tasks by name
    vocabularies: Mapping[int, frozenset[str]] | None  # Seat -> actions that metrics know; None for all
    display_names: tuple[str, ...]  # Names of the seats in texts


def variant_title(record: Mapping[str, Any]) -> str:
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
    """Return a task by its name."""
    if name not in known.tasks:
        raise ValueError(near_matches("task", name, known.tasks))
    return known.tasks[name]


@lru_cache(maxsize=16)
def _task_references(kitchen: str, changed: int) -> TaskReferences:
    """Read a kitchen's tasks and build the original's action vocabularies for its seats, stations and foods."""
    from collab_overcooked.games.collab_overcooked.engine.constants import Group
    from collab_overcooked.games.collab_overcooked.suite.metrics import kitchen_vocabularies
    from collab_overcooked.games.collab_overcooked.text.text import space

    game = registry.load_game(ENV_ID, kitchen=kitchen)
    spec, seats = game.kitchen, range(game.n_agents)
    usable = {seat: space(game.compiled, seat) for seat in seats}
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
    """Read levels such as ``"1-6"``, ``"1,3"`` or ``"1-2,5"``."""
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
            if level not in levels:
                levels.append(level)
    return sorted(levels)


def choose_tasks(known: TaskReferences, levels: str | None = None, tasks: Sequence[str] | None = None) -> list[str]:
    """Return the names of the tasks to play, in the order of their levels.

    Args:
        known: The variant's tasks.
        levels: See ``parse_levels``; all if neither levels nor tasks are given.
        tasks: Names.
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
