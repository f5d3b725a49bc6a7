"""Parse the option ``action_level``: whether a seat chooses macro actions or primitive ones."""

from __future__ import annotations

from collections.abc import Mapping

from collab_overcooked.io.checks import near_matches
from collab_overcooked.kernels.macro_actions import MEDIUM, PRIMITIVE

LEVELS = {MEDIUM: MEDIUM, PRIMITIVE: PRIMITIVE, "low": PRIMITIVE}  # name or alias -> name


def parse_action_levels(option: object, n_agents: int, default: str) -> tuple[str, ...]:
    """Return the action level of every seat.

    Args:
        option: One level for all seats, or a level by agent name, as a mapping or as a text such as
            ``"agent_0=medium,agent_1=low"``; ``"low"`` is another name of ``"primitive"``.
        n_agents: N.
        default: Level of agents that the mapping leaves out.

    Raises:
        ValueError: An agent is unknown or named twice, or a level is unknown.
    """
    if isinstance(option, str) and "=" in option:
        pairs = [part.partition("=") for part in option.split(",")]
        names = [name.strip() for name, _, _ in pairs]
        if len(set(names)) < len(names):
            raise ValueError(f"action_level names an agent twice: {option!r}")
        option = {name: level.strip() for name, (_, _, level) in zip(names, pairs, strict=True)}
    if not isinstance(option, Mapping):
        return (_level(option),) * n_agents
    agents = [f"agent_{i}" for i in range(n_agents)]
    for name in option:
        if name not in agents:
            raise ValueError(near_matches("agent of action_level", name, agents))
    return tuple(_level(option.get(agent, default)) for agent in agents)


def _level(name: object) -> str:
    if not isinstance(name, str) or name not in LEVELS:
        raise ValueError(near_matches("action_level", name, LEVELS))
    return LEVELS[name]
