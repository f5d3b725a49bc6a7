"""Macro actions: their life cycle, the layout of ``State.macro_state``, and the action level of each seat.

A macro action takes several steps; in each of them it becomes one primitive action. Its seat starts it, can then choose
nothing but action 0, which is to continue, and is free again once it is done, has failed or was interrupted. The level
of a seat is ``"medium"`` for macro actions or ``"primitive"`` for one primitive action a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from collab_overcooked._jit import kernel
from collab_overcooked.core.events import NOTHING
from collab_overcooked.errors import near_matches

CONTINUE = 0  # action of a seat whose macro action is running
MEDIUM, PRIMITIVE = "medium", "primitive"
LEVELS = {MEDIUM: MEDIUM, PRIMITIVE: PRIMITIVE, "low": PRIMITIVE}  # name or alias -> name


class Macro(IntEnum):
    """First columns of ``State.macro_state`` (B, N, columns) in every game; a game's own columns follow."""

    ACTION = 0  # id of the running macro action, NOTHING when idle
    TIMER = 1  # steps left to it; counts on below 0 where nothing ends it
    STILL = 2  # steps in a row in which it changed nothing


class Outcome(IntEnum):
    """How a macro action ended, 0 while it runs."""

    RUNNING = 0
    DONE = 1
    FAILED = 2  # it has become impossible
    INTERRUPTED = 3  # it got nowhere, or took too long


class Level(IntEnum):
    """Values of ``Tables.levels`` (N,), the action level of each seat."""

    PRIMITIVE = 0
    MEDIUM = 1


@kernel
def is_running(macro):
    """A seat is busy while a macro action runs."""
    return macro[Macro.ACTION] != NOTHING


@kernel
def start_macro(macro, action, timer):
    """A macro action starts with its time and nothing wasted yet. Mutates: macro."""
    macro[Macro.ACTION] = action
    macro[Macro.TIMER] = timer
    macro[Macro.STILL] = 0


@kernel
def tick_macro(macro, has_changed):
    """A running macro action uses up a step of its time; steps without any change are counted. Mutates: macro."""
    macro[Macro.TIMER] -= 1
    macro[Macro.STILL] = 0 if has_changed else macro[Macro.STILL] + 1


@kernel
def end_macro(macro):
    """The seat is free to choose again. Mutates: macro."""
    macro[Macro.ACTION] = NOTHING


@kernel
def clear_macros(macros):
    """Every seat starts an episode idle. Mutates: macros (N, columns)."""
    for i in range(macros.shape[0]):
        for column in range(macros.shape[1]):
            macros[i, column] = 0
        macros[i, Macro.ACTION] = NOTHING


def read_levels(option: Any, n_agents: int, usual: str) -> tuple[str, ...]:
    """Return the action level of every seat.

    Args:
        option: One level for all seats, or a level by agent name, as a mapping or as a text such as
            ``"agent_0=medium,agent_1=low"``; ``"low"`` is another name of ``"primitive"``.
        n_agents: N.
        usual: Level of agents that the mapping leaves out.

    Raises:
        ValueError: For an unknown level or agent, or a text that is neither.
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
    return tuple(_level(option.get(agent, usual)) for agent in agents)


def _level(name: Any) -> str:
    if not isinstance(name, str) or name not in LEVELS:
        raise ValueError(near_matches("action_level", name, LEVELS))
    return LEVELS[name]
