"""Commands of CraftKitchen for a language model that directs several agents: rules, parsing, demonstration.

Source: MindAgent's dispatcher; the texts are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.games.craft.policies.assignment import DEFAULT_WEIGHTS, GAME, Knob, assigner
from collab_overcooked.games.craft.text.text import VERBS, agent_names
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.policies.llm.central_agent import CommandLanguage

DEMO_SEED, DEMO_STEPS = 123, 9
_COMMAND = re.compile(
    rf"\b({'|'.join(VERBS.values())})\s*\(\s*['\"]?bot(\d{{1,3}})['\"]?\s*(?:,\s*+['\"]?(\w*)['\"]?\s*+)?\)",
    re.IGNORECASE | re.ASCII,
)


class Commands(CommandLanguage):
    """Commands such as ``goto(bot1, 'chest')``."""

    few = 3

    @classmethod
    def find(cls, text: str) -> Iterator[tuple[int, str]]:
        """Yield the seat and text of each command."""
        for verb, number, word in _COMMAND.findall(text):
            yield int(number) - 1, f"{verb}(bot{int(number)}{f', {word!r}' if word else ''})"

    @classmethod
    def name(cls, seat: int) -> str:
        """Return the name of a seat in commands."""
        return f"bot{seat + 1}"

    @classmethod
    def idle(cls, seat: int) -> str:
        """Return the command to do nothing."""
        return f"wait({cls.name(seat)})"

    def feedback(self, refusals: Sequence[str], last: Mapping[int, str]) -> str:
        """Return the outcome of the last commands."""
        return "\n".join(["Outcome of your last commands:", *(refusals or ["all were carried out"])])

    def examples(self, agents: int) -> tuple[tuple[str, str], ...]:
        """Return a demonstration game on the level ``field``."""
        return demonstration(min(agents, len(agent_names(4))))

    def facts(self, demo: bool) -> dict[str, Any]:
        """Return the variables of the rules template."""
        return {"names": agent_names(self.game.n_agents), "manual": self.game.manual()}


@lru_cache(maxsize=8)
def demonstration(agents: int) -> tuple[tuple[str, str], ...]:
    """Return a short demonstration on the level ``field``, played by the greedy team of this package.

    Args:
        agents: Number of agents.

    Returns:
        Pairs of state text and commands, one command per line.
    """
    game: Any = registry.load_game(GAME, level="field", agents=agents, pace=5)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([DEMO_SEED])
    game.reset(state, out, np.ones(1, np.bool_))
    knobs, actions, pairs = np.array([DEFAULT_WEIGHTS], np.int32), np.zeros((1, agents), np.int32), []
    knobs[0, [Knob.AHEAD, Knob.BATCH]] = 0, 1  # one dish at a time
    for _ in range(DEMO_STEPS):
        assigner(game).assign(state, knobs, actions)
        lines = "\n".join(game.command_text(seat, action) for seat, action in enumerate(actions[0].tolist()))
        pairs.append((game.describe(state, 0, 0), lines))
        game.step(state, actions, out)
    return tuple(pairs)
