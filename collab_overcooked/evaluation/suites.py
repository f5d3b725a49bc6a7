"""What is evaluated: the tasks of each game, and the yardsticks (references, vocabularies) that scores need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from collab_overcooked import registry
from collab_overcooked.evaluation.episodes import Chronicle
from collab_overcooked.messages import near_matches

References = tuple[tuple[tuple[str, ...], ...], ...]
"""Agent -> reference -> actions."""

CUISINEWORLD = "CuisineWorld-v0"
RUSH = ("KitchenRush-v0", "AlienRush-v0")

_SET_ELSEWHERE = {
    "task": "--tasks",
    "level": "--levels",
    "kitchen": "--kitchen",
    "gamma": "--gamma",
    "orders": "reset options; a suite plays one order at a time",
    "obs": "the policies",
}


@dataclass(frozen=True)
class TaskInfo:
    """One task of a suite.

    Attributes:
        name: As in records.
        title: For readers.
        level: Level it belongs to.
        reference_time: Published time of a reference play, in steps.
        references: Agent -> reference -> actions; None if there is none.
    """

    name: str
    title: str
    level: int
    reference_time: int
    references: References | None


@dataclass(frozen=True)
class Yardstick:
    """What records of one game variant are measured with.

    Attributes:
        tasks: Tasks by name.
        vocabularies: Seat -> actions that metrics know; None for all.
        display_names: Names of the seats in texts.
    """

    tasks: Mapping[str, TaskInfo]
    vocabularies: Mapping[int, frozenset[str]] | None
    display_names: tuple[str, ...]


class Suite(Protocol):
    """The tasks of one game.

    Attributes:
        name: As on the command line.
        env_id: Registered id.
        kitchens: Names of the shipped layouts.
    """

    name: str
    env_id: str

    @property
    def kitchens(self) -> list[str]:
        """Names of the shipped layouts."""

    def title(self, env_kwargs: Mapping[str, Any]) -> str:
        """Return what a table of this variant of the game is headed with."""

    def yardstick(self, env_kwargs: Mapping[str, Any]) -> Yardstick:
        """Return tasks, references and vocabularies of a variant of the game."""

    def describe_task(self, env_kwargs: Mapping[str, Any]) -> str:
        """Return everything about one task, in words."""

    def describe_kitchen(self, kitchen: str) -> str:
        """Return everything about one kitchen, in words."""


class CollabOvercookedSuite:
    """The 30 tasks of the Collab-Overcooked paper, or those of any other kitchen file."""

    name = "collab-overcooked"
    env_id = "CollabOvercooked-v0"

    @property
    def kitchens(self) -> list[str]:
        """Names of the shipped kitchens."""
        from collab_overcooked.layouts.load import shipped

        return shipped("collab_overcooked")

    def title(self, env_kwargs: Mapping[str, Any]) -> str:
        """Return id, kitchen, time limit, and what else is not as by default."""
        usual = {"action_level": "medium", "knowledge": "asymmetric", "time_limit": "inclusive", "lexicon": "kitchen"}
        parts = [
            self.env_id,
            f"kitchen {env_kwargs.get('kitchen', 'paper')}",
            f"gamma {env_kwargs.get('gamma', 1.5):g}",
        ]
        parts += [f"{name} {env_kwargs[name]}" for name in usual if env_kwargs.get(name, usual[name]) != usual[name]]
        return ", ".join(parts)

    def yardstick(self, env_kwargs: Mapping[str, Any]) -> Yardstick:
        """Return tasks, references and vocabularies of a kitchen."""
        kitchen = str(env_kwargs.get("kitchen", "paper"))
        file = Path(kitchen)
        return _collab_yardstick(kitchen, file.stat().st_mtime_ns if file.is_file() else 0)

    def describe_task(self, env_kwargs: Mapping[str, Any]) -> str:
        """Return recipe, limits and references of one task."""
        from collab_overcooked.envs.collab_overcooked.text import recipe_text

        game = registry.load_game(self.env_id, **env_kwargs)
        task = game.kitchen.tasks[env_kwargs["task"]]
        lines = [
            f"{task.title} ({task.name}), level {task.level}",
            recipe_text(game.kitchen, task.name),
            f"Reference time: {task.reference_time} timesteps",
            f"Time limit: {game.max_cycles} timesteps (gamma {game.gamma:g}, {game.time_limit})",
        ]
        for i, reference in enumerate(task.references, start=1):
            lines.append(f"Reference {i}:")
            for seat, (name, plan) in enumerate(zip(game.display_names, reference, strict=True)):
                lines.append(f"  agent_{seat} ({name}): " + "; ".join(plan))
        if not task.references:
            lines.append("No reference trajectories: TES, PC, IC and RC cannot be computed.")
        return "\n".join(lines)

    def describe_kitchen(self, kitchen: str) -> str:
        """Return a kitchen's picture, seats and stations."""
        from collab_overcooked.envs.collab_overcooked.text import space

        game = registry.load_game(self.env_id, kitchen=kitchen)
        rows = [list(row) for row in game.kitchen.grid]
        for seat, agent in enumerate(game.kitchen.agents):
            rows[agent.start[1]][agent.start[0]] = str(seat)
        lines = [f"{game.kitchen.name}: {game.kitchen.description}", "", *("  " + "".join(row) for row in rows), ""]
        for symbol, station in game.kitchen.stations.items():
            what = f"{station.name} ({station.operation}, {station.capacity} items)" if station.name else station.kind
            lines.append(f"  {symbol}  {what}")
        lines.append("  X  counter; digits are the agents' start cells")
        for seat, agent in enumerate(game.kitchen.agents):
            knows = "knows the recipes" if agent.knows_recipes else "does not know the recipes"
            places = ", ".join(space(game.compiled, seat))
            lines.append(f"agent_{seat}: {agent.name}, {agent.role}, {knows}; can use {places}")
        for level, names in sorted(game.kitchen.levels().items()):
            lines.append(f"Level {level}: {', '.join(names)}")
        return "\n".join(lines)


@lru_cache(maxsize=16)
def _collab_yardstick(kitchen: str, changed: int) -> Yardstick:
    """Read a kitchen's tasks and build the original's action vocabularies for its seats, stations and foods."""
    from collab_overcooked.envs.collab_overcooked.constants import Group
    from collab_overcooked.envs.collab_overcooked.text import space
    from collab_overcooked.metrics import kitchen_vocabularies

    game = registry.load_game(CollabOvercookedSuite.env_id, kitchen=kitchen)
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
    return Yardstick(tasks, vocabularies, game.display_names)


SUITES: tuple[Suite, ...] = (CollabOvercookedSuite(),)


def find_suite(name: str) -> Suite:
    """Return a suite by its name or by the id of its environment.

    Raises:
        ValueError: If it is unknown; the message lists near matches.
    """
    for suite in SUITES:
        if name in (suite.name, suite.env_id):
            return suite
    raise ValueError(near_matches("suite", name, [suite.name for suite in SUITES]))


def chronicle_of(env_id: str) -> Chronicle | None:
    """Return a new chronicle for an episode of a game; None where records need nothing more."""
    if env_id == CUISINEWORLD:
        from collab_overcooked.evaluation.cuisineworld import OrderChronicle

        return OrderChronicle()
    if env_id in RUSH:
        from collab_overcooked.evaluation.rush import RushChronicle

        return RushChronicle()
    return None


def parse_levels(text: str, known: Iterable[int]) -> list[int]:
    """Read levels such as ``"1-6"``, ``"1,3"`` or ``"1-2,5"``.

    Raises:
        ValueError: If the text cannot be read or names an unknown level.
    """
    known = sorted(known)
    shown = ", ".join(map(str, known))
    levels: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"levels: cannot read {text!r}; write for example 1-6 or 1,3 (known: {shown})")
        span = range(int(first), int(last or first) + 1)
        if not span:
            raise ValueError(f"levels: {part.strip()!r} is empty; write the smaller level first")
        for level in span:
            if level not in known:
                raise ValueError(f"levels: unknown level {level}; known: {shown}")
            if level not in levels:
                levels.append(level)
    return sorted(levels)


def choose_tasks(yardstick: Yardstick, levels: str | None = None, tasks: Sequence[str] | None = None) -> list[str]:
    """Return the names of the tasks to play, in the order of their levels.

    Args:
        yardstick: The variant's tasks.
        levels: See ``parse_levels``; all if neither levels nor tasks are given.
        tasks: Names.

    Raises:
        ValueError: For both, an unknown level or an unknown task.
    """
    if levels is not None and tasks:
        raise ValueError("give either levels or tasks, not both")
    for name in tasks or ():
        if name not in yardstick.tasks:
            raise ValueError(near_matches("task", name, yardstick.tasks))
    ordered = sorted(yardstick.tasks.values(), key=lambda task: task.level)  # stable: as in the file within a level
    wanted = parse_levels(levels, {task.level for task in ordered}) if levels else None
    return [
        task.name for task in ordered if (not tasks or task.name in tasks) and (wanted is None or task.level in wanted)
    ]


def check_options(
    env_id: str, options: Mapping[str, Any], elsewhere: Mapping[str, str] = _SET_ELSEWHERE
) -> dict[str, Any]:
    """Check extra options of the environment by name.

    Args:
        env_id: Registered id.
        options: Given options.
        elsewhere: Options of the environment that are chosen in another way, and how.

    Raises:
        ValueError: For an option that the game does not have, or that is chosen in another way.
    """
    known = [key for key in registry.game_options(env_id) if key not in elsewhere]
    for key in options:
        if key in elsewhere:
            raise ValueError(f"option {key!r} is set by {elsewhere[key]}")
        if key not in known:
            raise ValueError(near_matches("option", key, known))
    return dict(options)


def check_whole(name: str, value: Any, low: int) -> None:
    """Refuse what is no whole number of at least ``low``.

    Raises:
        ValueError: Naming the value.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, not {value!r}")
