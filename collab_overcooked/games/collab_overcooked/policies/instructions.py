"""Facts for prompts of Collab-Overcooked: a language agent's team, its actions and the recipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from collab_overcooked import registry
from collab_overcooked.envs.api import Game
from collab_overcooked.io.text import join_and
from collab_overcooked.policies.api import AgentView, EnvInfo

from ..text.text import recipe_text
from .reference import reference_play

History = tuple[tuple[tuple[int, str], ...], ...]


class Step(NamedTuple):
    """Action of a reference play."""

    seat: int
    action: str  # As metrics spell it
    food: str  # What it is done to, such as what lies in a utensil that is started


def step_recipe(game: Game, order: str) -> str:
    """Write a recipe with one action of one agent in each step, in the order of the first reference trajectory.

    Args:
        game: Compiled kitchen.
        order: Name of the task.

    Returns:
        Title and numbered steps; the default recipe for an order without reference trajectories.
    """
    kitchen = game.kitchen  # type: ignore[attr-defined]
    task = kitchen.tasks.get(order)
    if task is None or not task.references:
        return recipe_text(kitchen, order)
    steps = enumerate(_steps(cast(Any, game), order), start=1)
    lines = [f"{number}. {kitchen.agents[step.seat].name}: {step.action}" for number, step in steps]
    return "\n".join([f"Recipe: {task.title}", *lines])


def split_recipe(game: Game, order: str, seat: int = 0, history: History = ()) -> str:
    """Write a recipe in prose whose first step alone is split into single actions.

    These are the actions of the first reference trajectory until the first product is handed on.

    Args:
        game: Compiled kitchen.
        order: Name of the task.
        seat: Seat that reads it.
        history: Actions of each seat; if not empty, the actions are rotated: the first one that a teammate still has to
            do comes first, those before it follow the last one.

    Returns:
        Title, ingredients and numbered steps; the default recipe for an order without reference trajectories.
    """
    kitchen = game.kitchen  # type: ignore[attr-defined]
    recipe = recipe_text(kitchen, order).split("\n")
    task = kitchen.tasks.get(order)
    if task is None or not task.references:
        return "\n".join(recipe)
    steps = _first_step(_steps(cast(Any, game), order))
    due = (due_step(steps, seat, history) if history else None) or 0
    first = [sentence(step) for step in steps[due:] + steps[:due]]
    head, rest = recipe[:2], [line.partition(". ")[2] for line in recipe[3:]]
    return "\n".join([*head, *(f"{number}. {step}" for number, step in enumerate([*first, *rest], start=1))])


def _first_step(steps: tuple[Step, ...]) -> list[Step]:
    start = next(index for index, step in enumerate(steps) if _verb(step.action) not in _CARRYING)
    cook, first = steps[start].seat, [*steps[: start + 1]]
    for step in steps[start + 1 :]:
        verb = _verb(step.action)
        if step.seat != cook or verb not in _CARRYING:
            continue
        if verb != "deliver":  # which is a step of its own in every recipe
            first.append(step)
        if verb not in ("pickup", "fill_dish_with_food"):
            break
    return first


_CARRYING = {
    "pickup": "Pick up {food} from {place}.",
    "place_obj_on_counter": "Place {food} on a counter.",
    "put_obj_in_utensil": "Put {food} in {place}.",
    "fill_dish_with_food": "Fill a dish with {food} at {place}.",
    "deliver": "Deliver {food}.",
}


def _verb(action: str) -> str:
    return action.partition("(")[0]


def sentence(step: Step) -> str:
    """Write an action as a sentence that names its food and does not depend on other steps."""
    verb, _, rest = step.action.partition("(")
    form = _CARRYING.get(verb, f"{verb.capitalize()} {{food}} in {{place}}, and wait until {{place}} is done.")
    return form.format(food=step.food, place=rest.removesuffix(")").rpartition(",")[2])


def due_step(steps: Sequence[Step], seat: int, history: History) -> int | None:
    """Return the index of the first step of a teammate that its history has not reached; None if all are done."""
    done = [0] * len(history)
    for who, actions in enumerate(history):
        planned = [step.action for step in steps if step.seat == who]
        for _, action in actions:
            done[who] += done[who] < len(planned) and action == planned[done[who]]
    for index, step in enumerate(steps):
        if done[step.seat]:
            done[step.seat] -= 1
        elif step.seat != seat:
            return index
    return None


@lru_cache(maxsize=64)
def _steps(game: Any, order: str) -> tuple[Step, ...]:
    only = {"task": order, "level": None, "orders": False, "preset": "fixed"}  # the original logs platings as puts
    alone = registry.load_game(game.id, **{**game.kwargs, **only})
    return named_steps([events for _, events in reference_play(alone)])


def named_steps(events: Iterable[Sequence[Mapping[str, Any] | None]]) -> tuple[Step, ...]:
    """Return the actions of events by env step and seat, with the food of each."""
    inside: dict[str, list[str]] = {}  # what was put into each utensil since it was started
    steps = []
    for seat, event in ((seat, event) for row in events for seat, event in enumerate(row) if event is not None):
        verb = _verb(event["label"])
        place = event["place"]
        item = event["item"]
        if verb == "put_obj_in_utensil":
            inside.setdefault(place, []).append(item)
        elif verb not in _CARRYING:
            item = join_and(inside.pop(place, []))
        steps.append(Step(seat, event["label"], item or ""))
    return tuple(steps)


FREE = re.compile(r"^(You hold .*), free to act\.$", re.MULTILINE)


class Instructions:
    """The game's side of a partner agent; see ``policies.llm.partner.PartnerInstructions``."""

    def __init__(self, info: EnvInfo, seat: int) -> None:
        self._game: Any = info.game
        self._seat = seat

    def variables(self) -> dict[str, Any]:
        """Return ``me``, ``mates`` and all ``cooks``: name, role, whether they know recipes, and actions."""
        cooks = [
            {"name": agent.name, "role": agent.role, "knows": agent.knows_recipes, "actions": self._signatures(i)}
            for i, agent in enumerate(self._game.kitchen.agents)
        ]
        mates = [cook for i, cook in enumerate(cooks) if i != self._seat]
        return {"me": cooks[self._seat], "mates": mates, "cooks": cooks}

    def _signatures(self, seat: int) -> list[str]:
        texts = self._game.vocabulary(seat)
        picks = [text.removesuffix(")").split(",")[1] for text in texts if text.startswith("pickup(")]
        others = [text for text in texts if not text.startswith("pickup(")]
        places = ", ".join(dict.fromkeys(picks))
        waits = f"wait(n), n timesteps from 1 to {self._game.kitchen.max_wait}"
        return [f"pickup(item,place), place being one of {places}", *others, waits]

    def observation(self, seen: AgentView, form: str) -> str:
        """Return the seat's observation, with the recipe, if it has one, in the form of the switch ``recipe``."""
        text = seen.text
        if running := self.running(seen):  # chosen in this timestep, of which the state does not know yet
            text = FREE.sub(lambda line: f"{line[1]}, carrying out {running}.", text)
        if form == "steps" or (recipe := seen.view.recipe) is None:
            return text
        order = seen.view.orders[0]
        if form == "actions":
            return text.replace(recipe, step_recipe(self._game, order))
        history = seen.history if form == "rearranged" else ()
        return text.replace(recipe, split_recipe(self._game, order, seen.seat, history))

    def example(self, seen: AgentView) -> dict[str, str]:
        """Return an example of a ``plan`` and of a ``request``, which reveal nothing about the present order.

        They are for an ingredient of another order, chosen by the names of the orders alone, and made of actions that
        the seat, or its teammate, could ever carry out. The plan is empty if the seat has no such action.
        """
        kitchen = self._game.kitchen
        named = {word for order in seen.view.orders for word in order.split("_")}
        others = [order for order in kitchen.tasks if named.isdisjoint(order.split("_"))]
        foods = [kitchen.foods_below.get(order, ()) for order in others or kitchen.tasks]
        raw = [item for items in foods for item in items if item in kitchen.ingredients]

        def actions(seat: int) -> list[str]:
            texts = self._game.vocabulary(seat)
            picks = [text for item in raw for text in texts if text.startswith(f"pickup({item},")]
            return [*picks[:1], *[text for text in texts if text.startswith("put_obj_in_utensil(")][:1]]

        mate = (self._seat + 1) % self._game.n_agents
        return {"plan": "; ".join(actions(self._seat)), "request": next(iter(actions(mate)), "wait(1)")}

    def requests(self) -> list[str]:
        """Return the actions of all teammates if the seat knows them, as its rules say; else nothing."""
        if not self._game.kitchen.agents[self._seat].knows_recipes:
            return []
        mates = (seat for seat in range(self._game.n_agents) if seat != self._seat)
        return list(dict.fromkeys(text for seat in mates for text in self._game.vocabulary(seat)))

    def running(self, seen: AgentView) -> str:
        """Return the action that the seat carries out already, empty if there is none."""
        return str(seen.scene["agents"][seen.seat]["action"] or seen.running)
