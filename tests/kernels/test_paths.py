from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.paths import UNREACHABLE, flood, flood_all, shortest_paths

Cell = tuple[int, int]


@st.composite
def floors(draw):
    """Up to 16 floor cells of a 4 x 4 grid, some of them taken by others, and a start."""
    all_cells = [(x, y) for y in range(4) for x in range(4)]
    cells = sorted(draw(st.sets(st.sampled_from(all_cells), min_size=1)), key=lambda cell: (cell[1], cell[0]))
    start = draw(st.sampled_from(cells))
    taken = draw(st.sets(st.sampled_from(cells))) - {start}
    return cells, start, draw(st.integers(0, 3)), taken


def neighbours_of(cells: list[Cell]) -> np.ndarray:
    table = np.full((len(cells), 4), -1, np.int32)
    for i, (x, y) in enumerate(cells):
        for direction, (dx, dy) in enumerate(OFFSETS):
            if (x + dx, y + dy) in cells:
                table[i, direction] = cells.index((x + dx, y + dy))
    return table


def naive_distances(cells: list[Cell], start: Cell, facing: int, taken: set[Cell]) -> dict[tuple[Cell, int], int]:
    free = set(cells) - taken
    distances = {(start, facing): 0}
    queue = deque(distances)
    while queue:
        cell, looking = queue.popleft()
        for direction, (dx, dy) in enumerate(OFFSETS):
            ahead = (cell[0] + dx, cell[1] + dy)
            pose = (ahead if ahead in free else cell, direction)
            if pose not in distances:
                distances[pose] = distances[cell, looking] + 1
                queue.append(pose)
    return distances


def flooded(cells: list[Cell], start: Cell, facing: int, taken: set[Cell]) -> tuple[np.ndarray, np.ndarray]:
    distance, first, queue = (np.empty(4 * len(cells), np.int32) for _ in range(3))
    occupied = np.array([cell in taken for cell in cells], np.int32)
    flood(4 * cells.index(start) + facing, neighbours_of(cells), occupied, distance, first, queue)
    return distance, first


@settings(max_examples=200)
@given(floors())
def test_flood_finds_the_distances_of_a_naive_search(floor):
    cells = floor[0]
    distance, _ = flooded(*floor)
    expected = naive_distances(*floor)
    for i, cell in enumerate(cells):
        for facing in range(4):
            assert distance[4 * i + facing] == expected.get((cell, facing), UNREACHABLE)


@settings(max_examples=100)
@given(floors())
def test_flood_leads_to_every_pose_in_as_many_steps(floor):
    cells, start, facing, taken = floor
    distance, _ = flooded(*floor)
    for pose in np.flatnonzero(distance < UNREACHABLE):
        cell, looking, steps = start, facing, 0
        while 4 * cells.index(cell) + looking != pose:
            _, first = flooded(cells, cell, looking, taken)
            direction = first[pose]
            ahead = (cell[0] + OFFSETS[direction][0], cell[1] + OFFSETS[direction][1])
            cell, looking, steps = ahead if ahead in cells and ahead not in taken else cell, direction, steps + 1
        assert steps == distance[pose]


def test_flood_has_no_first_step_at_the_start_and_where_there_is_no_way():
    distance, first = flooded([(0, 0), (2, 0)], (0, 0), 0, set())
    assert distance.tolist() == [0, 1, 1, 1] + [UNREACHABLE] * 4
    assert first.tolist() == [-1, 1, 2, 3] + [-1] * 4


def test_flood_tries_west_north_east_south():
    square = [(0, 0), (1, 0), (0, 1), (1, 1)]
    _, first = flooded(square, (0, 0), 0, set())
    assert first[4 * 3 + 1] == 2  # reaches the far corner facing south: east first, then south
    _, first = flooded(square, (1, 1), 0, set())
    assert first[0] == 3  # and back facing north: west first


@settings(max_examples=25)
@given(floors())
def test_flood_all_is_flood_from_everywhere(floor):
    cells = floor[0]
    count = 4 * len(cells)
    distance, first = np.empty((count, count), np.int32), np.empty((count, count), np.int32)
    occupied, queue = np.zeros(len(cells), np.int32), np.empty(count, np.int32)
    flood_all(neighbours_of(cells), distance, first, occupied, queue)
    for pose in range(count):
        one, lead = flooded(cells, cells[pose // 4], pose % 4, set())
        assert (distance[pose] == one).all() and (first[pose] == lead).all()


@given(floors())
def test_find_ways_walks_as_far_as_a_naive_search_without_turns(floor):
    cells, start, _, taken = floor
    free = set(cells) - taken

    def beside(cell: Cell) -> list[Cell]:
        return [(cell[0] + dx, cell[1] + dy) for dx, dy in OFFSETS if (cell[0] + dx, cell[1] + dy) in free]

    ways, layer, length = shortest_paths(start, beside), {start}, 0
    known = set(layer)
    while layer:
        assert {cell for cell, (steps, _) in ways.items() if steps == length} == layer
        layer, length = {near for cell in layer for near in beside(cell)} - known, length + 1
        known |= layer
    for cell, (steps, first) in ways.items():
        assert first in (beside(start) if steps else [start])
        assert steps <= 1 or shortest_paths(first, beside)[cell][0] == steps - 1
