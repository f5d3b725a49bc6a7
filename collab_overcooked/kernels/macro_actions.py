"""Macro actions: their life cycle, the layout of ``State.macro_state``, and the action level of each seat.

A macro action takes several steps; in each of them it becomes one primitive action. Its seat starts it, can then choose
nothing but action 0, which is to continue, and is free again once it is done, has failed or was interrupted. The level
of a seat is ``"medium"`` for macro actions or ``"primitive"`` for one primitive action a step.
"""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.events import NOTHING
from collab_overcooked.kernels.jit import kernel

CONTINUE = 0  # action of a seat whose macro action is running
MEDIUM, PRIMITIVE = "medium", "primitive"


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
