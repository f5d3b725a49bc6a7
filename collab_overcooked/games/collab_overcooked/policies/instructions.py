"""Facts for prompts of Collab-Overcooked: a language agent's team, its actions and the recipe."""

from __future__ import annotations

import re
from typing import Any

from collab_overcooked.games.collab_overcooked.engine.compile import ingredients_below
from collab_overcooked.games.collab_overcooked.policies.step_recipes import split_recipe, step_recipe
from collab_overcooked.games.collab_overcooked.text.text import vocabulary
from collab_overcooked.policies.api import EnvInfo, Seen

FREE = re.compile(r"^(You hold .*), free to act\.$", re.MULTILINE)


class Instructions:
    """The game's side of a partner agent; see ``policies.llm.partner.PartnerInstructions``."""

    def __init__(self, info: EnvInfo, seat: int) -> None:
        self._game: Any = info.game
        self._seat = seat

    def facts(self) -> dict[str, Any]:
        """Return ``me``, ``mates`` and all ``cooks``: name, role, whether they know recipes, and actions."""
        cooks = [
            {"name": agent.name, "role": agent.role, "knows": agent.knows_recipes, "actions": self._signatures(i)}
            for i, agent in enumerate(self._game.kitchen.agents)
        ]
        mates = [cook for i, cook in enumerate(cooks) if i != self._seat]
        return {"me": cooks[self._seat], "mates": mates, "cooks": cooks}

    def _signatures(self, seat: int) -> list[str]:
        compiled = self._game.compiled
        texts = vocabulary(compiled, seat)
        picks = [text.removesuffix(")").split(",")[1] for text in texts if text.startswith("pickup(")]
        others = [text for text in texts if not text.startswith("pickup(")]
        places = ", ".join(dict.fromkeys(picks))
        waits = f"wait(n), n timesteps from 1 to {compiled.kitchen.max_wait}"
        return [f"pickup(item,place), place being one of {places}", *others, waits]

    def observation(self, seen: Seen, form: str) -> str:
        """Return the seat's observation, with the recipe, if it has one, in the form of the switch ``recipe``."""
        recipe, text = seen.view.recipe, seen.text
        if running := self.running(seen):  # chosen in this timestep, of which the state does not know yet
            text = FREE.sub(lambda line: f"{line[1]}, carrying out {running}.", text)
        if form == "steps" or recipe is None:
            return text
        order = seen.view.orders[0]
        if form == "split":
            return text.replace(recipe, split_recipe(self._game, order))
        history = seen.history if form == "rearranged" else ()
        return text.replace(recipe, step_recipe(self._game, order, seen.seat, history))

    def example(self, seen: Seen) -> dict[str, str]:
        """Return an example of a ``plan`` and of a ``request``, which reveal nothing about the present order.

        They are for an ingredient of another order, chosen by the names of the orders alone, and made of actions that
        the seat, or its teammate, could ever carry out. The plan is empty if the seat has no such action.
        """
        compiled = self._game.compiled
        named = {word for order in seen.view.orders for word in order.split("_")}
        others = [order for order in compiled.kitchen.tasks if named.isdisjoint(order.split("_"))]
        foods = [ingredients_below(compiled.kitchen, order) for order in others or compiled.kitchen.tasks]
        raw = [item for items in foods for item in items if item in compiled.kitchen.ingredients]

        def actions(seat: int) -> list[str]:
            texts = vocabulary(compiled, seat)
            picks = [text for item in raw for text in texts if text.startswith(f"pickup({item},")]
            return [*picks[:1], *[text for text in texts if text.startswith("put_obj_in_utensil(")][:1]]

        mate = (self._seat + 1) % self._game.n_agents
        return {"plan": "; ".join(actions(self._seat)), "request": next(iter(actions(mate)), "wait(1)")}

    def requests(self) -> list[str]:
        """Return the actions of all teammates if the seat knows them, as its rules say; else nothing."""
        if not self._game.kitchen.agents[self._seat].knows_recipes:
            return []
        mates = (seat for seat in range(self._game.n_agents) if seat != self._seat)
        return list(dict.fromkeys(text for seat in mates for text in vocabulary(self._game.compiled, seat)))

    def running(self, seen: Seen) -> str:
        """Return the action that the seat carries out already, empty if there is none."""
        return str(seen.scene["agents"][seen.seat]["action"] or seen.running)
