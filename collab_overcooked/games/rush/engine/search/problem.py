"""The arrays that the search for the best play of a Rush episode works on, and how time passes in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.games.rush.engine.constants import NO_ACTION, Area, Clock
from collab_overcooked.games.rush.engine.rules import act, end_slot
from collab_overcooked.kernels.jit import kernel

Array = np.ndarray
BUDGET = 1_000_000  # states after which a search gives up, something like a minute
TRIAL = 50  # states that could be looked at in the time that it takes to start on another choice of orders
ROWS = 1 << 16  # states searched in vain that it remembers
FOUND, IMPOSSIBLE, GAVE_UP = 1, 0, -1
HASH_FACTOR = 0x01000193  # of the 32-bit FNV hash


class Problem(NamedTuple):
    """One episode and who plays: read-only int32 arrays."""

    dishes: Array  # (O, 2) see Dish
    needs: Array  # (O, K)
    areas: Array  # (P, 2) see Area
    params: Array  # (8,) see Param
    own: Array  # (N,) 1 for the seats that the search plays
    kinds: Array  # (O, 2) numbers from 1 on, equal where two orders ask for equal ingredients, and for equal spices


class Stack(NamedTuple):
    """Moments on the way to the present one, and what is known of others; leading axis D, the decisions so far."""

    orders: Array  # (D, O, 6)
    stock: Array  # (D, P, K)
    spaces: Array  # (D, P)
    clock: Array  # (D, 9)
    move: Array  # (D,) the next move to try
    action: Array  # (D,) the action that led on from there
    event: Array  # (9,)
    spare: Array  # (P, K) stock that no order has been promised
    placed: Array  # (O,) 1 for orders that were promised theirs
    key: Array  # (O + 2 + P K,) the moment at hand, apart from time
    known: Array  # (rows, O + 2 + P K) moments searched in vain
    slots: Array  # (rows,) with how many slots left; 0 for a free row
    room: Array  # (1,) rows that may still be filled


@kernel
def pass_to_own(problem, orders, stock, spaces, clock, event):
    """Let other seats do nothing and slots end until one of the search's own seats acts. Mutates: all but problem."""
    dishes, needs, areas, params, own = problem.dishes, problem.needs, problem.areas, problem.params, problem.own
    while clock[Clock.OVER] == 0:
        if clock[Clock.SEAT] == own.shape[0]:
            end_slot(spaces, clock, dishes, areas, params)
        elif own[clock[Clock.SEAT]] == 1:
            return
        else:
            act(NO_ACTION, orders, stock, spaces, clock, dishes, needs, areas, params, event)


@kernel
def is_fresh_turn(problem, spaces, clock):
    """Whether no own seat has acted in this turn yet, and all action spaces are free."""
    if clock[Clock.WORKER] > 0:
        return False
    for seat in range(clock[Clock.SEAT]):
        if problem.own[seat] == 1:
            return False
    for at in range(spaces.shape[0]):
        if spaces[at] != problem.areas[at, Area.SPACES]:
            return False
    return True


@kernel
def decisions_left(own, clock, slot):
    """Decisions that own seats have before a slot begins."""
    total, now = 0, 0
    for seat in range(own.shape[0]):
        total += own[seat]
        if seat >= clock[Clock.SEAT]:
            now += own[seat]
    return now + (slot - clock[Clock.T] - 1) * total
