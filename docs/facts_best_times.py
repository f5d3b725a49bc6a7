"""How fast the tasks of a kitchen can be done."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.core.rng import seed_words
from collab_overcooked.envs.api import FullGame
from collab_overcooked.games.collab_overcooked.policies.delivery_search import best_plan
from collab_overcooked.games.collab_overcooked.policies.reference import reference_steps
from collab_overcooked.games.collab_overcooked.spec import load_kitchen
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.registry import load_game

TABLE_WIDTH = 20000  # nodes kept per layer
TABLE_LIMIT = 200  # steps within which a table looks for a delivery


class TableRow(NamedTuple):
    """Best times of a task, in env steps until the delivery.

    Attributes:
        level: Level of the task.
        task: Its name.
        best: Earliest delivery found by the planner; None if none was found.
        proved: Whether nothing earlier exists (see :class:`JointPlan`).
        reference_time: The kitchen's reference time T* plus one, which is what the first reference takes.
        references: Env steps of each reference trajectory; None where it does not lead to a delivery.
    """

    level: int
    task: str
    best: int | None
    proved: bool
    reference_time: int
    references: tuple[int | None, ...]


def planner_table(kitchen: str | Path = "paper", width: int = TABLE_WIDTH) -> list[TableRow]:
    """Find the best time of every task of a kitchen, from its usual start and without its time limit.

    Args:
        kitchen: Shipped kitchen or path of a YAML file.
        width: Nodes kept per time step; the default proves all tasks of the paper's kitchen in some 20 s.
    """
    rows = []
    for task in load_kitchen(kitchen).tasks.values():
        game = load_game("CollabOvercooked-v0", kitchen=kitchen, task=task.name)
        plan = best_plan(Simulator(game, start_of(game), 0).fork(1, 0), width)
        steps = tuple(reference_steps(game, number) for number in range(1, len(task.references) + 1))
        best = plan.steps or None
        rows.append(TableRow(task.level, task.name, best, plan.proved, task.reference_time + 1, steps))
    return rows


def start_of(game: FullGame, seed: int = 0, limit: int = TABLE_LIMIT) -> Any:
    """Return the state at the start of an episode with ``limit`` steps, as a batch of one."""
    state, out = game.alloc(1)
    state.rng[:] = seed_words([seed])
    game.reset(state, out, np.ones(1, np.bool_), None, limit)
    return state
