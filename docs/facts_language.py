"""Facts about language agents: their switches, their prompt files, and how much an episode asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from facts_writing import code, plain, table

import collab_overcooked
from collab_overcooked.policies.llm.agents import policy_maker
from collab_overcooked.policies.llm.client import Reply, Request
from collab_overcooked.policies.llm.connection import Connection
from collab_overcooked.policies.llm.prompts import SHIPPED
from collab_overcooked.policies.llm.settings import describe_settings
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

CHARACTERS_PER_TOKEN = 4
SIZED: dict[str, dict[str, Any]] = {
    "CollabOvercooked-v0": {"task": "potato_carrot_and_onion_patty"},
    "CuisineWorld-v0": {"level": "level_3", "agents": 2},
    "KitchenRush-v0": {"scenario": "hard"},
    "Overcooked-v0": {"action_level": "medium"},
}


class Waiting:
    """A model that always waits, and counts what it is asked."""

    def __init__(self) -> None:
        self.characters: list[int] = []

    def complete(self, request: Request) -> Reply:
        """Wait."""
        self.characters.append(sum(len(turn.content) for turn in request.turns))
        return Reply('{"action": 1, "plan": "wait(1)", "say": "", "commands": "noop_agent0"}')


def language_switches() -> str:
    """List what may be written after a model's name."""
    rows = [(code(name), plain(usual), plain(words)) for name, usual, words in describe_settings()]
    return table(("switch", "if not written", "what it does"), rows)


def prompt_files() -> str:
    """List the templates by folder."""
    rows = []
    for folder, path in sorted(SHIPPED.items()):
        names = ", ".join(code(template.name) for template in sorted(Path(path).glob("*.j2")))
        rows.append((code(folder), names))
    return table(("folder", "templates"), rows)


def language_costs() -> str:
    """Measure how much an episode asks if the model waits all the time."""
    rows = []
    for env_id, options in SIZED.items():
        env, waiting = collab_overcooked.make(env_id, **options), Waiting()
        team = make_team(["llm:waiting"] * env.game.n_agents, policy_maker(Connection(waiting)))
        record = play_episode(env, team, 0, task=options.get("task", ""))
        tokens = sum(waiting.characters) / len(waiting.characters) / CHARACTERS_PER_TOKEN
        setting = ", ".join(f"{name} {value}" for name, value in options.items())
        agent = record["accounts"]["agent_0"]["agent"]
        total = sum(waiting.characters) / CHARACTERS_PER_TOKEN
        calls = len(waiting.characters)
        rows.append((code(env_id), setting, agent, calls, f"{tokens:,.0f}", f"{total / 1e6:.2f}"))
    heads = ("game", "setting", "agent", "calls per episode", "tokens per question", "million tokens per episode")
    return table(heads, rows, right=(3, 4, 5))


FACTS = (language_switches, prompt_files, language_costs)
