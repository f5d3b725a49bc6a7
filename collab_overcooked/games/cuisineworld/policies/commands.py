"""The commands of CuisineWorld for a language model that directs several agents: rules, reading, demonstration.

Source: MindAgent's dispatcher; the texts are our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.core.rng import seed_words
from collab_overcooked.games.cuisineworld.policies.greedy import GreedyPolicy
from collab_overcooked.games.cuisineworld.spec import Level
from collab_overcooked.games.cuisineworld.text import ALL_IDLE, feedback_text, recipes_below
from collab_overcooked.policies.api import EnvInfo, Seen
from collab_overcooked.policies.llm.answers import Unreadable, visible
from collab_overcooked.policies.search.simulator import Simulator

GAME = "CuisineWorld-v0"
DEMO_STEPS = {1: 14}  # states of a demonstration by number of agents, as the paper has them
USUAL_DEMO_STEPS = 10
FEW_STEPS = 2  # of a demonstration that is cut down
NOOP = "noop"
_COMMAND = re.compile(r"\b(noop|goto|put|activate|get)_agent(\d{1,3})((?:_\w+)?)", re.IGNORECASE | re.ASCII)


def read_commands(text: str, seats: Sequence[int]) -> dict[int, str]:
    """Find commands such as ``goto_agent0_pan0`` in an answer, wherever they stand; the first for each agent counts.

    Raises:
        Unreadable: If there is none.
    """
    found: dict[int, str] = {}
    for verb, number, rest in _COMMAND.findall(visible(text)):
        if int(number) in seats:
            found.setdefault(int(number), f"{verb.lower()}_agent{int(number)}{rest}")
    if not found:
        raise Unreadable(f"Write one command for each agent, a line each, such as noop_agent{seats[0]}.")
    return found


class Commands:
    """The game's side of a central agent; see ``policies.llm.central_agent.CommandLanguage``."""

    def __init__(self, info: EnvInfo) -> None:
        self._game: Any = info.game

    def read(self, text: str, seats: Sequence[int]) -> dict[int, str]:
        """Return the commands of an answer by seat; see ``read_commands``."""
        return read_commands(text, seats)

    def name(self, seat: int) -> str:
        """Return what commands call a seat."""
        return f"agent{seat}"

    def idle(self, seat: int) -> str:
        """Return the command to do nothing."""
        return f"{NOOP}_agent{seat}"

    def legal(self, seen: Seen, seat: int) -> list[str]:
        """Return the commands that the game would accept from a seat now."""
        commands: list[str] = seen.view.commands(seat)  # type: ignore[attr-defined]
        return commands

    def feedback(self, refusals: Sequence[str], last: Mapping[int, str]) -> str:
        """Return what the game says of the last commands."""
        idle = bool(last) and all(command.startswith(NOOP) for command in last.values())
        return feedback_text([ALL_IDLE, *refusals] if idle else refusals)

    def demonstration(self, kind: str, agents: int) -> tuple[tuple[str, str], ...]:
        """Return states and commands of a short game of another level.

        Args:
            kind: ``"full"``, ``"few"`` or ``"off"``.
            agents: Number of agents in it, 0 for as many as play.
        """
        if kind == "off":
            return ()
        pairs = demonstration(agents or self._game.n_agents)
        return pairs[:FEW_STEPS] if kind == "few" else pairs

    def facts(self, demo: bool) -> dict[str, Any]:
        """Return what the templates of the rules use; with a demonstration its dish is explained, too."""
        level: Level = self._game.level
        recipes = recipes_below(level, [name for order in level.orders for name in order.items])
        if demo:
            for name in {_demo_dish(count) for count in (1, 2)}:
                if name in level.recipes:
                    recipes |= recipes_below(level, [name])
        listed = [recipe for product, recipe in level.recipes.items() if product in recipes]
        words = dict.fromkeys(name for recipe in listed for name in (*recipe.ingredients, recipe.product))
        capacities = {place: level.tools[place.rstrip("0123456789")].capacity for place in level.locations}
        return {
            "n_agents": self._game.n_agents,
            "recipes": listed,
            "words": list(words),
            "base": [name for name in words if name in level.base_ingredients],
            "capacities": {place: "infinite" if room is None else room for place, room in capacities.items()},
        }


def _demo_dish(agents: int) -> str:
    return "beefMeatcake" if agents == 1 else "porkMeatcake"


@lru_cache(maxsize=8)
def demonstration(agents: int) -> tuple[tuple[str, str], ...]:
    """Return states and commands of a short game of another level, played by the greedy dispatcher of this package.

    Args:
        agents: Number of agents in it.

    Returns:
        Pairs of state text and commands, a line each.
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
    state, out = game.alloc(1)
    state.rng[:] = seed_words([0])
    game.reset(state, out, np.ones(1, np.bool_))
    policies = [GreedyPolicy() for _ in range(agents)]
    info = EnvInfo(game.id, game, "", ("greedy",) * agents, Simulator(game, state, 0))
    for seat, policy in enumerate(policies):
        policy.reset(seat, info, 0)
    pairs = []
    for timestep in range(DEMO_STEPS.get(agents, USUAL_DEMO_STEPS)):
        actions = [policy.act(Seen.of(game, state, out, seat, timestep)) for seat, policy in enumerate(policies)]
        lines = "\n".join(game.command_text(seat, action) for seat, action in enumerate(actions))
        pairs.append((game.describe(state, 0, 0), lines))
        game.step(state, np.array([actions], np.int32), out)
    return tuple(pairs)
