from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab_overcooked.kernels.grid import OFFSETS, Direction, cell_ahead, resolve_moves, resolve_moves_together

SIZE = 6


def moved(cells: list[int], expected: list[int]) -> list[int]:
    after = np.array(expected, np.int32)
    resolve_moves(np.array(cells, np.int32), after)
    return after.tolist()


@st.composite
def crowds(draw):
    """Agents on different cells of a ring of six, each wanting its own cell or one beside it."""
    cells = draw(st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=SIZE, unique=True))
    expected = [(cell + draw(st.sampled_from([-1, 0, 1]))) % SIZE for cell in cells]
    return cells, expected


@st.composite
def jumps(draw):
    cells = draw(st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=SIZE, unique=True))
    return cells, [draw(st.integers(0, SIZE - 1)) for _ in cells]


EITHER = st.one_of(crowds(), jumps())


@given(EITHER)
def test_resolve_moves_keeps_agents_apart(crowd):
    cells, expected = crowd
    after = moved(cells, expected)
    assert len(set(after)) == len(cells)


@given(EITHER)
def test_resolve_moves_never_swaps(crowd):
    cells, expected = crowd
    steps = {(a, b) for a, b in zip(cells, moved(cells, expected), strict=True) if a != b}
    assert not any((b, a) in steps for a, b in steps)


@given(EITHER)
def test_resolve_moves_goes_where_it_wanted_or_stays(crowd):
    cells, expected = crowd
    assert all(c in (a, b) for a, b, c in zip(cells, expected, moved(cells, expected), strict=True))


@given(EITHER)
def test_resolve_moves_lets_everybody_go_whom_nobody_bars(crowd):
    cells, expected = crowd
    after = moved(cells, expected)
    for i, target in enumerate(expected):
        others = [j for j in range(len(cells)) if j != i]
        rivals = any(expected[j] == target or (cells[j] == target and expected[j] == cells[i]) for j in others)
        kept = any(after[j] == target for j in others)
        assert (after[i] == target) == (target == cells[i] or not (rivals or kept))


@given(EITHER, st.randoms())
def test_resolve_moves_is_the_same_in_any_seat_order(crowd, random):
    cells, expected = crowd
    order = list(range(len(cells)))
    random.shuffle(order)
    after = moved(cells, expected)
    assert moved([cells[i] for i in order], [expected[i] for i in order]) == [after[i] for i in order]


@pytest.mark.parametrize(
    "cells, expected, after",
    [
        ([0, 2], [1, 1], [0, 2]),
        ([0, 1], [1, 0], [0, 1]),
        ([0, 1], [1, 2], [1, 2]),
        ([0, 1], [1, 1], [0, 1]),
        ([0, 1, 2], [1, 2, 0], [1, 2, 0]),  # a round dance is no swap
        ([0, 2, 4], [1, 1, 1], [0, 2, 4]),  # the third is not let through either
        ([0, 1, 3], [1, 2, 2], [0, 1, 3]),
    ],
)
def test_resolve_moves_by_example(cells, expected, after):
    assert moved(cells, expected) == after


def moved_together(cells: list[int], expected: list[int]) -> list[int]:
    after = np.array(expected, np.int32)
    resolve_moves_together(np.array(cells, np.int32), after)
    return after.tolist()


@given(EITHER)
def test_resolve_moves_together_moves_all_or_nobody(crowd):
    cells, expected = crowd
    pairs = [(i, j) for i in range(len(cells)) for j in range(i)]
    collide = any(expected[i] == expected[j] or (expected[i] == cells[j] and expected[j] == cells[i]) for i, j in pairs)
    assert moved_together(cells, expected) == (cells if collide else expected)


@given(EITHER)
def test_resolve_moves_together_is_the_same_rule_for_two(crowd):
    cells, expected = crowd
    assert moved_together(cells[:2], expected[:2]) == moved(cells[:2], expected[:2])


def test_directions_point_where_they_say():
    assert {direction.name: OFFSETS[direction] for direction in Direction} == {
        "NORTH": (0, -1),
        "SOUTH": (0, 1),
        "EAST": (1, 0),
        "WEST": (-1, 0),
    }


@pytest.mark.parametrize("direction", Direction)
def test_cell_ahead_is_where_the_direction_points(direction):
    dx, dy = OFFSETS[direction]
    assert cell_ahead(4, 7, int(direction)) == (4 + dx, 7 + dy)
