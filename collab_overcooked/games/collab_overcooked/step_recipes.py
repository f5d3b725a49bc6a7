"""Recipes of Collab-Overcooked as single actions of both agents: experiments B and C of the paper's appendix."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from collab_overcooked import registry
from collab_overcooked.envs.api import Game
from collab_overcooked.games.collab_overcooked.policies.reference import reference_events
from collab_overcooked.games.collab_overcooked.text import recipe_text

History = tuple[tuple[tuple[int, str], ...], ...]
Step = tuple[int, str]
"""Seat and action."""


def step_recipe(game: Game, order: str, seat: int, history: History = ()) -> str:
    """Write a recipe with one action of one agent in each step, in the order of the first reference trajectory.

    Args:
        game: Compiled kitchen.
        order: Name of the task.
        seat: Who reads it.
        history: What each seat has done; if given, the first step that is still due from a teammate is put first.

    Returns:
        Title and numbered steps; the usual recipe for an order without reference trajectories.
    """
    kitchen = game.kitchen  # type: ignore[attr-defined]
    task = kitchen.tasks.get(order)
    if task is None or not task.references:
        return recipe_text(kitchen, order)
    steps = list(_steps(cast(Any, game), order))
    due = due_step(steps, seat, history) if history else None
    if due is not None:
        steps.insert(0, steps.pop(due))
    lines = [f"{number}. {kitchen.agents[who].name}: {action}" for number, (who, action) in enumerate(steps, start=1)]
    return "\n".join([f"Recipe: {task.title}", *lines])


def due_step(steps: list[Step], seat: int, history: History) -> int | None:
    """Return the index of the first step of a teammate that its history has not reached; None if all are done."""
    done = [0] * len(history)
    for who, actions in enumerate(history):
        own = [action for other, action in steps if other == who]
        for _, action in actions:
            done[who] += done[who] < len(own) and action == own[done[who]]
    for index, (who, _) in enumerate(steps):
        if done[who]:
            done[who] -= 1
        elif who != seat:
            return index
    return None


@lru_cache(maxsize=64)
def _steps(game: Any, order: str) -> tuple[Step, ...]:
    alone = registry.load_game(game.id, **{**game.kwargs, "task": order, "level": None, "orders": False})
    return tuple((seat, label) for _, seat, label in reference_events(alone))
