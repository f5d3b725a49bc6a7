"""Facts about how fast the tasks of a kitchen can be done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.games.collab_overcooked.engine.spec import load_kitchen
from collab_overcooked.games.collab_overcooked.policies.planner import best_plan
from collab_overcooked.games.collab_overcooked.policies.reference import reference_steps
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.registry import load_game

from .collab_overcooked import ENV_ID, kitchen
from .writing import code, read_json, table, write_json

TASKS = tuple(load_kitchen("paper").tasks)
TABLE_WIDTH = 20000  # nodes kept per layer, which prove all tasks
TABLE_LIMIT = 200  # steps within which a table looks for a delivery


def start_of(game: FullGame, seed: int = 0, limit: int = TABLE_LIMIT) -> Any:
    """Return the state at the start of an episode with ``limit`` steps, as a batch of one."""
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    game.reset(state, out, np.ones(1, np.bool_), None, limit)
    return state


@cache
def steps_of_references() -> dict[str, tuple[int, ...]]:
    """Play every reference of every task and return the steps to the delivery."""
    return {
        name: tuple(steps_of_reference(game, number) for number in range(1, len(task.references) + 1))
        for name, task in kitchen().tasks.items()
        for game in [load_game(ENV_ID, task=name)]
    }


def steps_of_reference(game: FullGame, number: int) -> int:
    """Return the steps that a reference takes, the delivering one included."""
    steps = reference_steps(game, number)
    assert steps is not None, f"reference {number} does not deliver"
    return steps


def reference_table() -> str:
    """Compare published times with what the references take."""
    spec, steps, rows = kitchen(), steps_of_references(), []
    for level, names in sorted(spec.levels().items()):
        for taken, members in group(names, lambda name: steps[name]).items():
            which = "all five" if len(members) == len(names) else ", ".join(map(code, members))
            time = spec.tasks[names[0]].reference_time
            rows.append((level, which, time, time + 1, ", ".join(map(str, taken)), min(taken)))
    heads = ("level", "tasks", "published T\\*", "T\\* + 1", "steps of each reference", "fastest")
    return table(heads, rows, right=(0, 2, 3, 5))


def group(names: Iterable[str], key: Callable[[str], Any]) -> dict[Any, list[str]]:
    """Gather names by a key, in order."""
    found: dict[Any, list[str]] = {}
    for name in names:
        found.setdefault(key(name), []).append(name)
    return found


def planner_times() -> str:
    """Compare published times with the planner's."""
    kept = read_json("planner.json")
    if kept is None:
        return "Not measured yet: `python docs/facts.py --planner` measures and writes this table."
    measured, spec, rows = kept["tasks"], kitchen(), []
    for level, names in sorted(spec.levels().items()):
        for name in names:
            time, found = spec.tasks[name].reference_time + 1, measured[name]
            sooner = time - found["steps"]
            gain = f"{sooner} ({100 * sooner / time:.0f} %)" if sooner else "0"
            proved = "yes" if found["proved"] else "no"
            rows.append((level, name, (time, min(steps_of_references()[name]), found["steps"], gain, proved)))
    shown = []
    for level in spec.levels():
        same = group([name for at, name, _ in rows if at == level], {name: row for _, name, row in rows}.__getitem__)
        for row, members in same.items():
            which = "all five" if len(members) == len(spec.levels()[level]) else ", ".join(map(code, members))
            shown.append((level, which, *row))
    heads = ("level", "tasks", "T\\* + 1", "fastest reference", "planner", "sooner than T\\* + 1", "proved")
    return table(heads, shown, right=(0, 2, 3, 4, 5))


def measure_planner() -> None:
    """Let the planner find the earliest delivery of every task, without its time limit, and keep the times."""
    found = {}
    for task in TASKS:
        game = load_game(ENV_ID, kitchen="paper", task=task)
        plan = best_plan(Simulator(game, start_of(game), 0).fork(1, 0), TABLE_WIDTH)
        found[task] = {"steps": plan.steps or None, "proved": plan.proved}
    write_json("planner.json", {"tasks": found})


FACTS = (reference_table, planner_times)
