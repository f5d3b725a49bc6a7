"""Recipes of Collab-Overcooked with single actions in them: experiments B and C of the paper's appendix.

In B the first step of the recipe alone is split, the rest stays prose; in C all steps are single actions, and the one
that is due comes first.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from collab_overcooked import registry
from collab_overcooked.envs.api import Game
from collab_overcooked.games.collab_overcooked.policies.reference import reference_events
from collab_overcooked.games.collab_overcooked.text.text import recipe_text

History = tuple[tuple[tuple[int, str], ...], ...]
Step = tuple[int, str]
"""Seat and action."""


def step_recipe(game: Game, order: str, seat: int, history: History = ()) -> str:
    """Write a recipe with one action of one agent in each step, in the order of the first reference trajectory.

    Args:
        game: Compiled kitchen.
        order: Name of the task.
        seat: Seat that reads it.
        history: Actions of each seat; if not empty, the first step that a teammate still has to do is put first.

    Returns:
        Title and numbered steps; the default recipe for an order without reference trajectories.
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


def split_recipe(game: Game, order: str) -> str:
    """Write a recipe in prose whose first step alone is split into single actions.

    These are the actions of the first reference trajectory until the first product is handed on.

    Args:
        game: Compiled kitchen.
        order: Name of the task.

    Returns:
        Title, ingredients and numbered steps; the default recipe for an order without reference trajectories.
    """
    kitchen = game.kitchen  # type: ignore[attr-defined]
    recipe = recipe_text(kitchen, order).split("\n")
    task = kitchen.tasks.get(order)
    if task is None or not task.references:
        return "\n".join(recipe)
    first = [_sentence(action) for action in _first_step(_steps(cast(Any, game), order))]
    head, rest = recipe[:2], [line.partition(". ")[2] for line in recipe[3:]]
    return "\n".join([*head, *(f"{number}. {step}" for number, step in enumerate([*first, *rest], start=1))])


def _first_step(steps: tuple[Step, ...]) -> list[str]:
    start = next(index for index, (_, action) in enumerate(steps) if _verb(action) not in _CARRYING)
    cook, actions = steps[start][0], [action for _, action in steps[: start + 1]]
    for who, action in steps[start + 1 :]:
        if who != cook or _verb(action) not in _CARRYING:
            continue
        if _verb(action) != "deliver":  # which is a step of its own in every recipe
            actions.append(action)
        if _verb(action) not in ("pickup", "fill_dish_with_food"):
            break
    return actions


_CARRYING = {
    "pickup": "Pick up {0} from {1}.",
    "place_obj_on_counter": "Place it on a counter.",
    "put_obj_in_utensil": "Put it in {0}.",
    "fill_dish_with_food": "Fill a dish at {0}.",
    "deliver": "Deliver it.",
}


def _verb(action: str) -> str:
    return action.partition("(")[0]


def _sentence(action: str) -> str:
    verb, _, rest = action.partition("(")
    parts = rest.removesuffix(")").split(",")
    return _CARRYING.get(verb, f"{verb.capitalize()} it: start {{0}} and wait until it is done.").format(*parts)


def due_step(steps: list[Step], seat: int, history: History) -> int | None:
    """Return the index of the first step of a teammate that its history has not reached; None if all are done."""
    done = [0] * len(history)
    for who, actions in enumerate(history):
        planned = [action for other, action in steps if other == who]
        for _, action in actions:
            done[who] += done[who] < len(planned) and action == planned[done[who]]
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
