"""Macro actions: their life cycle, the layout of ``State.macro_state``, and the action level of each seat.

A macro action takes several steps and becomes one primitive action in each of them. While it runs, its seat can only
choose action 0 (continue); the seat is idle again once the macro action is done, has failed or was interrupted. The
level of a seat is ``"medium"`` for macro actions or ``"primitive"`` for one primitive action per step.
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
    TIMER = 1  # remaining steps; continues below 0 in games without a limit
    STILL = 2  # consecutive steps without any change


IDLE = {Macro.ACTION: NOTHING, Macro.TIMER: 0}  # a seat at the start of an episode


class Outcome(IntEnum):
    """Outcome of a macro action, 0 while it runs."""

    RUNNING = 0
    DONE = 1
    FAILED = 2  # it has become impossible
    INTERRUPTED = 3  # it made no progress, or took too long


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
    """A macro action starts with its time limit and no idle steps. Mutates: macro."""
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
    """The seat becomes idle and can choose again. Mutates: macro."""
    macro[Macro.ACTION] = NOTHING
