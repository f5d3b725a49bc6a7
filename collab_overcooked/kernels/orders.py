"""Queues of orders for kernels of games in which dishes are ordered: drawing, expiry, history, turns.

A queue is int32 (Q, 2), see ``Queue``. Callers pass the column of the game's counters that holds the number of used
slots.
"""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.events import NOTHING
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.mersenne import choose, seed_stream
from collab_overcooked.kernels.rng import Rng

FORCED_SLOTS = 128  # orders that can be forced at reset
HISTORY_SLOTS = 128  # completed orders that are remembered


class Queue(IntEnum):
    """Columns of a queue, sorted by remaining time."""

    REMAINING = 0  # steps
    ORDER = 1  # number of the order, NOTHING for a free slot


EMPTY = {Queue.REMAINING: 0, Queue.ORDER: NOTHING}  # a free slot


@kernel
def seat_in_turn(turns, k, default):
    """Commands are carried out in the order in which they were written, for one step. Mutates: turns.

    ``turns`` holds the seats of this step in order, NOTHING for the default order.
    """
    seat = default if turns[k] == NOTHING else turns[k]
    turns[k] = NOTHING
    return seat


@kernel
def next_order(forced, counts, used, stream, rng, n_orders):
    """Orders come from the forced sequence while it lasts, then by Python's generator.

    ``used`` is the column of ``counts`` with the number of forced orders so far. Mutates: counts, stream, rng.
    """
    k = counts[used]
    if k < forced.shape[0] and forced[k] != NOTHING:
        counts[used] = k + 1
        return forced[k]
    if rng[Rng.COUNT] == 0:
        seed_stream(stream, rng[Rng.LOW], rng[Rng.HIGH])
    rng[Rng.COUNT] = rng[Rng.COUNT] % 0x7FFFFFFF + 1  # never back to 0, which means unseeded
    return choose(stream, n_orders)


@kernel
def add_order(order, lifetime, orders, counts, in_use):
    """A new order joins the queue at its end with its full time. Mutates: orders, counts."""
    q = counts[in_use]
    orders[q, Queue.REMAINING] = lifetime
    orders[q, Queue.ORDER] = order
    counts[in_use] = q + 1


@kernel
def drop_order(q, orders, counts, in_use):
    """When an order leaves the queue, later ones move up. Mutates: orders, counts."""
    last = counts[in_use] - 1
    for k in range(q, last):
        orders[k, Queue.REMAINING] = orders[k + 1, Queue.REMAINING]
        orders[k, Queue.ORDER] = orders[k + 1, Queue.ORDER]
    orders[last, Queue.REMAINING] = 0
    orders[last, Queue.ORDER] = NOTHING
    counts[in_use] = last


@kernel
def drop_late_orders(orders, counts, in_use):
    """Orders with no time left leave the queue; returns their number. Mutates: orders, counts."""
    q, dropped = 0, 0
    while q < counts[in_use]:
        if orders[q, Queue.REMAINING] == 0:
            drop_order(q, orders, counts, in_use)
            dropped += 1
        else:
            q += 1
    return dropped


@kernel
def remember_order(order, history, counts, completed):
    """Completed orders are appended to the history; if it is full, the oldest is dropped. Mutates: history, counts."""
    room = history.shape[0]
    if counts[completed] >= room:
        for k in range(room - 1):
            history[k] = history[k + 1]
    history[min(counts[completed], room - 1)] = order
    counts[completed] += 1
