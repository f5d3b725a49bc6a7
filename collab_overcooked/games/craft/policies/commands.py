"""The commands of CraftKitchen for a language model that directs several agents: rules, reading, demonstration.

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
from collab_overcooked.games.craft.policies.assignment import GAME, USUAL, Knob, assigner
from collab_overcooked.games.craft.text import VERBS, agent_names
from collab_overcooked.policies.api import EnvInfo, Seen
from collab_overcooked.policies.llm.answers import Unreadable, visible

DEMO_SEED, DEMO_STEPS, FEW_STEPS = 123, 9, 3  # steps of a demonstration, and of one that is cut down
_COMMAND = re.compile(
    rf"\b({'|'.join(VERBS.values())})\s*\(\s*['\"]?bot(\d{{1,3}})['\"]?\s*(?:,\s*['\"]?(\w*)['\"]?\s*)?\)",
    re.IGNORECASE | re.ASCII,
)


def read_commands(text: str, seats: Sequence[int]) -> dict[int, str]:
    """Find commands such as ``goto(bot1, 'chest')`` in an answer, wherever they stand; the first for each agent counts.

    Raises:
        Unreadable: If there is none.
    """
    found: dict[int, str] = {}
    for verb, number, word in _COMMAND.findall(visible(text)):
        if int(number) - 1 in seats:
            found.setdefault(int(number) - 1, f"{verb}(bot{int(number)}{f', {word!r}' if word else ''})")
    if not found:
        raise Unreadable(f"Write one command for each agent, a line each, such as wait(bot{seats[0] + 1}).")
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
        return f"bot{seat + 1}"

    def idle(self, seat: int) -> str:
        """Return the command to do nothing."""
        return f"wait({self.name(seat)})"

    def legal(self, seen: Seen, seat: int) -> list[str]:
        """Return the commands that the game would accept from a seat now."""
        commands: list[str] = seen.view.commands(seat)  # type: ignore[attr-defined]
        return commands

    def feedback(self, refusals: Sequence[str], last: Mapping[int, str]) -> str:
        """Return what the game says of the last commands."""
        return "\n".join(["What became of your last commands:", *(refusals or ["all were carried out"])])

    def demonstration(self, kind: str, agents: int) -> tuple[tuple[str, str], ...]:
        """Return states and commands of a short game on another level.

        Args:
            kind: ``"full"``, ``"few"`` or ``"off"``.
            agents: Number of agents in it, 0 for as many as play.
        """
        if kind == "off":
            return ()
        pairs = demonstration(min(agents or self._game.n_agents, len(agent_names(4))))
        return pairs[:FEW_STEPS] if kind == "few" else pairs

    def facts(self, demo: bool) -> dict[str, Any]:
        """Return what the templates of the rules use."""
        return {"names": agent_names(self._game.n_agents), "manual": self._game.manual()}


@lru_cache(maxsize=8)
def demonstration(agents: int) -> tuple[tuple[str, str], ...]:
    """Return states and commands of a short game on the field, played by the greedy team of this package.

    Args:
        agents: Number of agents in it.

    Returns:
        Pairs of state text and commands, a line each.
    """
    game: Any = registry.load_game(GAME, level="field", agents=agents, pace=5)
    state, out = game.alloc(1)
    state.rng[:] = seed_words([DEMO_SEED])
    game.reset(state, out, np.ones(1, np.bool_))
    knobs, actions, pairs = np.array([USUAL], np.int32), np.zeros((1, agents), np.int32), []
    knobs[0, [Knob.AHEAD, Knob.BATCH]] = 0, 1  # one dish at a time
    for _ in range(DEMO_STEPS):
        assigner(game).assign(state, knobs, actions)
        lines = "\n".join(game.command_text(seat, action) for seat, action in enumerate(actions[0].tolist()))
        pairs.append((game.describe(state, 0, 0), lines))
        game.step(state, actions, out)
    return tuple(pairs)
