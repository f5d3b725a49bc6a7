"""Rows of environments: views in whose arrays kernels write as in any others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.bound import bind
from collab_overcooked.kernels.jit import kernel, row_at, unpack


class Arrays(NamedTuple):
    cells: np.ndarray  # (B, C)
    clock: np.ndarray  # (B, 2)


@kernel
def count_up(arrays):
    for b in range(arrays.cells.shape[0]):
        row = row_at(arrays, b)
        row.clock[0] += b
        for k in range(2):  # nothing else reads the array, so that a compiler may think that nobody does
            row.cells[k] = 10 * b + k


def test_what_is_written_through_a_row_is_in_the_arrays():
    for call in (lambda arrays: count_up(arrays), lambda arrays: bind(count_up, arrays)()):
        arrays = Arrays(np.zeros((3, 2), np.int32), np.zeros((3, 2), np.int32))
        call(arrays)
        assert arrays.cells.tolist() == [[0, 1], [10, 11], [20, 21]]
        assert arrays.clock.tolist() == [[0, 0], [1, 0], [2, 0]]


def test_a_row_in_python_is_of_the_same_class():
    arrays = Arrays(np.arange(6).reshape(3, 2), np.zeros((3, 2)))
    row = row_at(arrays, 1)
    assert isinstance(row, Arrays) and row.cells.tolist() == [2, 3]
    row.cells[:] = 0
    assert not arrays.cells[1].any()


@kernel
def add_up(arrays):
    arrays = unpack(arrays)
    for b in range(arrays.cells.shape[0]):
        arrays.clock[b, 0] += arrays.cells[b, 1]


def test_unpacked_arrays_are_the_same_arrays():
    for call in (lambda arrays: add_up(arrays), lambda arrays: bind(add_up, arrays)()):
        arrays = Arrays(np.arange(6, dtype=np.int32).reshape(3, 2), np.zeros((3, 2), np.int32))
        call(arrays)
        assert arrays.clock.tolist() == [[1, 0], [3, 0], [5, 0]]
