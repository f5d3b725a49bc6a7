"""Commands of CraftKitchen for a language model that directs several agents: rules, parsing, demonstration.

Source: MindAgent's dispatcher; the texts are ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.policies.llm.central_agent import CommandLanguage, demonstrate

from ..engine.constants import Clock
from ..text.text import BOT, KINDS, VERBS, agent_names
from .planner import GAME, PlannerPolicy

DEMO_SEED, MAX_DEMO_STEPS = 123, 20
DEMO_LEVELS = ("field", "butchery", "house")  # the first keeps one or two agents at work, the others more
_ACTION = re.compile(rf"\b({'|'.join(VERBS.values())})\(([a-z_ ]*)\)")


class Commands(CommandLanguage):
    """Commands such as ``goto(bot1, 'chest')``."""

    few = 3
    pattern = re.compile(
        rf"\b({'|'.join(VERBS.values())})\s*\(\s*['\"]?bot(\d{{1,3}})['\"]?\s*(?:,\s*+['\"]?(\w*)['\"]?\s*+)?\)",
        re.IGNORECASE | re.ASCII,
    )

    @classmethod
    def command(cls, match: re.Match[str]) -> tuple[int, str]:
        verb, number, word = match.groups()
        return int(number) - 1, f"{verb}(bot{int(number)}{f', {word!r}' if word else ''})"

    @classmethod
    def name(cls, seat: int) -> str:
        return f"bot{seat + 1}"

    @classmethod
    def idle(cls, seat: int) -> str:
        return f"wait({cls.name(seat)})"

    def feedback(self, refusals: Sequence[str], last: Mapping[int, str], served: Sequence[str]) -> str:
        lines = [for_bot(line, (BOT.match(line) or ["bot1"])[0]) for line in refusals]
        news = [f"served since then: {', '.join(served)}"] if served else []
        outcome = ["Outcome of your last commands:", *(lines or ["all were carried out"]), *news]
        return "\n".join(outcome) if lines or last or news else ""

    def examples(self, agents: int) -> tuple[tuple[str, str], ...]:
        rules = {name: value for name, value in self.game.kwargs.items() if name not in ("level", "agents")}
        return demonstration(min(agents, len(agent_names(4))), self.game.level.name, **rules)

    def variables(self, demo: bool) -> dict[str, Any]:
        manual = for_bot(self.game.manual(), "bot1")
        return {"names": agent_names(self.game.n_agents), "manual": manual, "demo": demo}


def for_bot(text: str, name: str) -> str:
    """Return a text with its actions as commands of an agent: ``goto(place)`` becomes ``goto(bot1, 'PLACE')``."""

    def command(match: re.Match[str]) -> str:
        word = match[2].upper() if match[2] in KINDS.values() else match[2]
        return f"{match[1]}({name}{f', {word!r}' if word else ''})"

    return _ACTION.sub(command, text)


@lru_cache(maxsize=8)
def demonstration(agents: int, but: str = "", **rules: Any) -> tuple[tuple[str, str], ...]:
    """Return states and commands of a planning team on another level than ``but``, until an order is served."""
    levels = [level for level in DEMO_LEVELS[agents > 2 :] if level != but]
    game: Any = registry.load_game(GAME, level=levels[0], agents=agents, **rules)
    return demonstrate(
        game, PlannerPolicy, DEMO_SEED, MAX_DEMO_STEPS, lambda state: bool(state.clock[0, Clock.COMPLETED])
    )
