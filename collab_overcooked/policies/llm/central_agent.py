"""One mind that commands every seat it is given: the dispatcher of CuisineWorld's paper.

Each step it sees the state, what became of its last commands, and a short window of what came before; its commands are
judged by the game alone. Rules, recipes and a demonstration stand before all that.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.core.rng import seed_words
from collab_overcooked.games.cuisineworld.policies.greedy import GreedyPolicy
from collab_overcooked.games.cuisineworld.spec import Level, Recipe
from collab_overcooked.games.cuisineworld.text import ALL_IDLE, feedback_text
from collab_overcooked.policies.api import Decision, EnvInfo, Message, Seen
from collab_overcooked.policies.llm.answers import Unreadable, commands_schema, visible
from collab_overcooked.policies.llm.client import Turn, Unusable
from collab_overcooked.policies.llm.session import Mind
from collab_overcooked.policies.llm.settings import Value
from collab_overcooked.policies.search.simulator import Simulator

GAME = "CuisineWorld-v0"
DEMO_STEPS = {1: 14}  # states of a demonstration by number of agents, as the paper has them
USUAL_DEMO_STEPS = 10
FEW_STEPS = 2  # of a demonstration that is cut down
NOOP = "noop"
_COMMAND = re.compile(r"\b(noop|goto|put|activate|get)_agent(\d{1,3})((?:_\w+)?)", re.IGNORECASE | re.ASCII)


def read_commands(text: str, seats: Sequence[int]) -> dict[int, str]:
    """Find commands such as ``goto_agent0_pan0`` in an answer, wherever they stand; the first for each agent counts.

    Args:
        text: The answer.
        seats: Agents that may be commanded.

    Returns:
        Commands by seat.

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


class Brain:
    """The dispatcher. Seats join it as they are reset; the first one's mind does the thinking and keeps the books.

    Args:
        mind: Model and prompts.
        values: Of the switches.
    """

    def __init__(self, mind: Mind, values: Mapping[str, Value]) -> None:
        self.mind, self.on = mind, values
        self.seats: list[int] = []
        self._window: deque[tuple[str, str]] = deque(maxlen=int(values["history"]))
        self._timestep = -1
        self._commands: dict[int, str] = {}

    def command(self, seen: Seen) -> str | None:
        """Return what a seat is to do; None if there was no usable answer in this step.

        The first seat that asks in a step gets an answer made for all of them.
        """
        if seen.timestep != self._timestep or seen.error is not None:
            self._timestep = seen.timestep
            self._ask(seen)
        return self._commands.get(seen.seat)

    def _ask(self, seen: Seen) -> None:
        state = self._state(seen)
        self._commands = {}
        schema = None
        if self.mind.settings.answer == "schema":
            schema = commands_schema({f"agent{seat}": seen.view.commands(seat) for seat in self.seats})
        try:
            chat = [*self._fixed(), *self._before(), Turn("user", state)]
            self._commands = self.mind.ask(chat, partial(read_commands, seats=self.seats), schema)
        except Unusable:
            pass
        lines = "\n".join(self._commands.get(seat, f"{NOOP}_agent{seat}") for seat in self.seats)
        self._window.append((state, lines))

    def _before(self) -> list[Turn]:
        return [turn for state, lines in self._window for turn in (Turn("user", state), Turn("assistant", lines))]

    def _state(self, seen: Seen) -> str:
        """Return the moment, headed by what became of the last commands."""
        feedback: str | None = None
        if self.on["feedback"]:
            lines = [message for _, _, _, message in seen.refused if message]
            if self._commands and all(command.startswith(NOOP) for command in self._commands.values()):
                lines.insert(0, ALL_IDLE)
            if seen.error is not None:
                lines = [seen.error[1]]
            feedback = feedback_text(lines)
        return self.mind.prompts.fill("state", state=seen.text, feedback=feedback)

    def _fixed(self) -> list[Turn]:
        """Return what stands before every question: rules, demonstration, and who is to be commanded."""
        info = self.mind.info
        demo: tuple[tuple[str, str], ...] = ()
        if self.on["demo"] != "off":
            demo = demonstration(int(self.on["demo_agents"]) or info.game.n_agents)
            demo = demo[:FEW_STEPS] if self.on["demo"] == "few" else demo
        fill = self.mind.prompts.fill
        facts = _facts(info, bool(demo)) | {"hints": self.on["hints"], "seats": self.seats}
        turns = [Turn("user", fill("rules", **facts))]
        for state, commands in demo:
            turns += [Turn("user", fill("state", state=state, feedback=None)), Turn("assistant", commands)]
        return [*turns, Turn("user", fill("begin", **facts))]


class DispatchAgent:
    """A seat that does what its dispatcher says.

    Args:
        brain: The dispatcher, which the seat joins.
        seat: Index of the agent.
    """

    def __init__(self, brain: Brain, seat: int) -> None:
        self.brain = brain
        brain.seats.append(seat)

    def act(self, seen: Seen) -> Decision:
        """Return the dispatcher's command for this seat; a refused one is reported to it in the next step."""
        if seen.error is not None and not self.brain.on["correct"]:
            return Decision(action=seen.idle_action)
        command = self.brain.command(seen)
        tokens = self.brain.mind.take_tokens()
        return (
            Decision(action=seen.idle_action, tokens=tokens)
            if command is None
            else Decision(plan=command, tokens=tokens)
        )

    def reply(self, seen: Seen) -> Message | None:
        """Have nothing to say: one mind needs no messages."""
        return None


# ------------------------------------------------------------------------------------------- what rules are made of


def _facts(info: EnvInfo, demo: bool) -> dict[str, Any]:
    game: Any = info.game
    level: Level = game.level
    recipes = _recipes(level, [name for order in level.orders for name in order.items])
    if demo:  # its dish is explained too
        for name in {_demo_dish(count) for count in (1, 2)}:
            if name in level.recipes:
                recipes |= _recipes(level, [name])
    listed = [recipe for product, recipe in level.recipes.items() if product in recipes]
    words = dict.fromkeys(name for recipe in listed for name in (*recipe.ingredients, recipe.product))
    capacities = {place: level.tools[place.rstrip("0123456789")].capacity for place in level.locations}
    return {
        "n_agents": game.n_agents,
        "recipes": listed,
        "words": list(words),
        "base": [name for name in words if name in level.base_ingredients],
        "capacities": {place: "infinite" if room is None else room for place, room in capacities.items()},
    }


def _recipes(level: Level, dishes: Sequence[str]) -> dict[str, Recipe]:
    """Return the recipes on the way to some dishes, by product."""
    found: dict[str, Recipe] = {}
    for name in dishes:
        recipe = level.recipes.get(name)
        if recipe is not None:
            found |= {name: recipe} | _recipes(level, recipe.ingredients)
    return found


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
