"""Arrays of the search for the best play of a Rush episode, and the passing of time in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.games.rush.engine.constants import NO_ACTION, Area, Clock
from collab_overcooked.games.rush.engine.rules import act, end_slot
from collab_overcooked.kernels.jit import kernel

Array = np.ndarray
BUDGET = 1_000_000  # states after which a search gives up, about a minute
TRIAL = 50  # cost of starting on another choice of orders, in states
ROWS = 1 << 16  # capacity of the table of failed states
FOUND, IMPOSSIBLE, GAVE_UP = 1, 0, -1
HASH_FACTOR = 0x01000193  # of the 32-bit FNV hash


class Problem(NamedTuple):
    """An episode and the seats that the search plays: read-only int32 arrays."""

    dishes: Array  # (O, 2) see Dish
    needs: Array  # (O, K)
    areas: Array  # (P, 2) see Area
    params: Array  # (8,) see Param
    played: Array  # (N,) 1 for the seats that the search plays
    kinds: Array  # (O, 2) numbers from 1 on, equal for equal ingredients, and for equal spices


class Stack(NamedTuple):
    """States on the path to the current one (leading axis D, decisions so far), and the table of failed states."""

    orders: Array  # (D, O, 6)
    stock: Array  # (D, P, K)
    spaces: Array  # (D, P)
    clock: Array  # (D, 9)
    move: Array  # (D,) the next move to try
    action: Array  # (D,) the action taken there
    event: Array  # (9,)
    spare: Array  # (P, K) stock not reserved for an order
    placed: Array  # (O,) 1 for orders with reserved goods
    key: Array  # (O + 2 + P K,) key of the current state, without time
    known: Array  # (rows, O + 2 + P K) keys of failed states
    slots: Array  # (rows,) slots left when the search failed; 0 for a free row
    room: Array  # (1,) rows still free to use


@kernel
def skip_to_played(problem, orders, stock, spaces, clock, event):
    """Advance until a played seat is to act; all other seats do nothing. Mutates: all but problem."""
    dishes, needs, areas, params, played = problem.dishes, problem.needs, problem.areas, problem.params, problem.played
    while clock[Clock.OVER] == 0:
        if clock[Clock.SEAT] == played.shape[0]:
            end_slot(spaces, clock, dishes, areas, params)
        elif played[clock[Clock.SEAT]] == 1:
            return
        else:
            act(NO_ACTION, orders, stock, spaces, clock, dishes, needs, areas, params, event)


@kernel
def is_fresh_turn(problem, spaces, clock):
    """Return whether no played seat has acted in this turn and all action spaces are free."""
    if clock[Clock.WORKER] > 0:
        return False
    for seat in range(clock[Clock.SEAT]):
        if problem.played[seat] == 1:
            return False
    for at in range(spaces.shape[0]):
        if spaces[at] != problem.areas[at, Area.SPACES]:
            return False
    return True


@kernel
def decisions_left(played, clock, slot):
    """Count the decisions of played seats before a slot begins."""
    total, now = 0, 0
    for seat in range(played.shape[0]):
        total += played[seat]
        if seat >= clock[Clock.SEAT]:
            now += played[seat]
    return now + (slot - clock[Clock.T] - 1) * total
