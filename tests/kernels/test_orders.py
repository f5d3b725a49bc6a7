"""Queues of orders, rule by rule."""

from __future__ import annotations

import random

import numpy as np
import pytest

from collab_overcooked.kernels import orders
from collab_overcooked.kernels.events import NOTHING
from collab_overcooked.kernels.mersenne import STREAM
from collab_overcooked.kernels.rng import seed_states

OPEN, USED, DONE = range(3)  # columns of the counters in these tests


def a_queue(*rows, slots=5):
    queue = np.zeros((slots, 2), np.int32)
    queue[:, orders.Queue.ORDER] = NOTHING
    for entry, row in zip(queue, rows, strict=False):
        entry[:] = row
    return queue, np.array([len(rows), 0, 0], np.int32)


def rows_of(queue, counts):
    return [tuple(row) for row in queue[: counts[OPEN]].tolist()]


def test_add_order_joins_at_the_end():
    queue, counts = a_queue((1, 0))
    orders.add_order(2, 9, queue, counts, OPEN)
    assert rows_of(queue, counts) == [(1, 0), (9, 2)]


def test_drop_order_moves_the_others_up():
    queue, counts = a_queue((1, 0), (2, 1), (3, 0))
    orders.drop_order(1, queue, counts, OPEN)
    assert rows_of(queue, counts) == [(1, 0), (3, 0)]
    assert queue[2].tolist() == [0, NOTHING]


def test_drop_late_orders_tells_how_many():
    queue, counts = a_queue((-1, 0), (0, 0), (0, 1), (3, 0))
    assert orders.drop_late_orders(queue, counts, OPEN) == 2
    assert rows_of(queue, counts) == [(-1, 0), (3, 0)]


def test_remember_order_forgets_the_oldest():
    history, (_, counts) = np.full(3, NOTHING, np.int32), a_queue()
    for order in (0, 1, 2, 1):
        orders.remember_order(order, history, counts, DONE)
    assert (history.tolist(), counts[DONE]) == ([1, 2, 1], 4)


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 - 1])
def test_next_order_is_forced_first_and_then_pythons_choice(seed):
    forced, (_, counts) = np.array([2, 1, NOTHING], np.int32), a_queue()
    stream, rng = np.zeros(STREAM, np.uint32), seed_states([seed])[0]
    drawn = [int(orders.next_order(forced, counts, USED, stream, rng, 3)) for _ in range(42)]
    python = random.Random(seed)
    assert drawn == [2, 1, *(python.choice(range(3)) for _ in range(40))]
