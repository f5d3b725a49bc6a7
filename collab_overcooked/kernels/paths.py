"""Shortest paths on a grid, counted in steps of an agent that must turn before it can act.

A pose is a floor cell and a facing: ``pose = 4 * cell + facing``. A step in a direction walks if the next cell is
free floor and otherwise only turns, so the cost of facing a station from the cell before it is a distance of poses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.jit import kernel

UNREACHABLE = 1 << 20
# Plain ints: numba cannot unify an enum member with a computed direction.
TIE_ORDER = (int(Direction.WEST), int(Direction.NORTH), int(Direction.EAST), int(Direction.SOUTH))


def shortest_paths(start: Any, beside: Callable[[Any], Iterable[Any]]) -> dict[Any, tuple[int, Any]]:
    """Return length and first cell of the path to every cell, nearest first; ``beside`` settles ties by its order."""
    paths = {start: (0, start)}
    queue = [start]
    for cell in queue:
        length, first = paths[cell]
        for near in beside(cell):
            if near not in paths:
                paths[near] = length + 1, near if cell == start else first
                queue.append(near)
    return paths


@kernel
def flood(start, neighbours, occupied, distance, first, queue):
    """Find the fewest steps from a pose to every pose, and the first step of that path.

    Directions are tried in the order west, north, east, south, which settles ties. Mutates: distance, first, queue.
    """
    for pose in range(distance.shape[0]):
        distance[pose] = UNREACHABLE
        first[pose] = -1
    distance[start] = 0
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        pose = queue[head]
        head += 1
        cell = pose // 4
        for direction in TIE_ORDER:
            target = neighbours[cell, direction]
            if target < 0 or occupied[target] != 0:
                target = cell
            following = 4 * target + direction
            if distance[following] == UNREACHABLE:
                distance[following] = distance[pose] + 1
                first[following] = direction if pose == start else first[pose]
                queue[tail] = following
                tail += 1


@kernel
def flood_all(neighbours, distance, first, occupied, queue):
    """Find the shortest paths between all poses of an empty floor.

    Mutates: distance, first, both int32 ``(4F, 4F)``, and the scratch of ``flood``; ``occupied`` must be zero.
    """
    for pose in range(distance.shape[0]):
        flood(pose, neighbours, occupied, distance[pose], first[pose], queue)
