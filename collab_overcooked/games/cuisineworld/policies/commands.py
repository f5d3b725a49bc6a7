"""Commands of CuisineWorld for a language model that directs several agents: rules, parsing, demonstration.

Source: MindAgent's dispatcher; the texts are ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.envs.lexicon import plain, translator_of
from collab_overcooked.policies.llm.central_agent import CommandLanguage, demonstrate

from ..engine.spec import Level
from ..text.text import ALL_IDLE, IN_STATE, Void, feedback_text, recipes_below, work_text
from .greedy import GreedyPolicy

GAME = "CuisineWorld-v0"
DEMO_STEPS = {1: 14}  # states of a demonstration by number of agents, as the paper has them
DEFAULT_DEMO_STEPS = 10
NOOP = "noop"


class Commands(CommandLanguage):
    """Commands such as ``goto_agent0_pan0``."""

    few = 2
    pattern = re.compile(r"\b(noop|goto|put|activate|get)_agent(\d{1,3})((?:_\w+)?)", re.IGNORECASE | re.ASCII)

    @classmethod
    def command(cls, match: re.Match[str]) -> tuple[int, str]:
        verb, number, rest = match.groups()
        return int(number), f"{verb.lower()}_agent{int(number)}{rest}"

    @classmethod
    def name(cls, seat: int) -> str:
        return f"agent{seat}"

    @classmethod
    def idle(cls, seat: int) -> str:
        return f"{NOOP}_agent{seat}"

    def feedback(self, refusals: Sequence[str], last: Mapping[int, str], served: Sequence[str]) -> str:
        idle = self.game.kwargs["idle_error"] and bool(last)
        idle = idle and all(command.startswith(NOOP) for command in last.values())
        return feedback_text([ALL_IDLE, *refusals] if idle else refusals, served)

    def why_void(self, commands: Sequence[str]) -> str | None:
        game, say = plain(self.game), translator_of(self.game)
        if game is not self.game:
            commands = [self.game.lexicon.exchange(command) for command in commands]
        try:
            game.read_commands(commands)
        except Void as problem:
            return say("".join(map(str, problem.args)))
        return None

    def examples(self, agents: int) -> tuple[tuple[str, str], ...]:
        return demonstration(agents)

    def variables(self, demo: bool) -> dict[str, Any]:
        level: Level = self.game.level
        recipes = recipes_below(level, [name for order in level.orders for name in order.items])
        if demo:
            for name in {_demo_dish(count) for count in (1, 2)}:
                if name in level.recipes:
                    recipes |= recipes_below(level, [name])
        listed = [recipe for product, recipe in level.recipes.items() if product in recipes]
        items = dict.fromkeys(name for recipe in listed for name in (*recipe.ingredients, recipe.product))
        capacities = {place: level.tools[place.rstrip("0123456789")].capacity for place in level.locations}
        return {
            "n_agents": self.game.n_agents,
            "in_state": IN_STATE.replace("\n", " "),
            "work": work_text(level),
            "demo": demo,
            "recipes": listed,
            "items": list(items),
            "base": [name for name in items if name in level.base_ingredients],
            "capacities": {place: "infinite" if room is None else room for place, room in capacities.items()},
        }


def _demo_dish(agents: int) -> str:
    return "beefMeatcake" if agents == 1 else "porkMeatcake"


@lru_cache(maxsize=8)
def demonstration(agents: int) -> tuple[tuple[str, str], ...]:
    """Return a short demonstration on another level, played by the greedy policy of this package.

    Args:
        agents: Number of agents.

    Returns:
        Pairs of state text and commands, one command per line.
    """
    blenders = 1 if agents <= 2 else 2
    level = {
        "extends": "cookbook",
        "name": "demo",
        "agents": agents,
        "kitchen": ["storage", "servingtable", *["blender"] * blenders],
        "orders": [_demo_dish(agents)],
        "interval": 5,
        "lifetime": 15,
    }
    game: Any = registry.load_game(GAME, level=level, agents=agents, alpha=None)
    return demonstrate(game, GreedyPolicy, 0, DEMO_STEPS.get(agents, DEFAULT_DEMO_STEPS))
