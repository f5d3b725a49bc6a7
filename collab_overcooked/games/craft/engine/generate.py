"""Random levels: animals around a yard."""

from __future__ import annotations

from typing import Any

import numpy as np

from .spec import MAX_AGENTS

MEAT = {"chicken": "chicken", "sheep": "mutton", "pig": "porkchop", "cow": "beef"}  # what each kind of mob gives
TRIES = 1000  # draws of a spot before giving up


def draw_level(rng: np.random.Generator, name: str, dishes: int, furnaces: int, mobs: int, size: int) -> dict[str, Any]:
    """Return the document of a level.

    Args:
        rng: Random generator.
        name: Name of the level.
        dishes: Kinds of meat in orders.
        furnaces: Number of furnaces.
        mobs: Mobs of each kind.
        size: Width of the level in cells.

    Raises:
        ValueError: If the level is too small for everything.
    """
    half = size // 2
    taken: set[tuple[int, int]] = set()

    def spots(count: int, least: int, most: int) -> list[list[int]]:
        drawn: list[list[int]] = []
        for _ in range(TRIES):
            x, z = (int(value) for value in rng.integers(-most, most + 1, 2))
            if len(drawn) < count and max(abs(x), abs(z)) >= least and (x, z) not in taken:
                taken.add((x, z))
                drawn.append([x, z])
        if len(drawn) < count:
            raise ValueError(f"size must leave room for everything, which {size} does not")
        return drawn

    kinds = list(MEAT)[:dishes]
    return {
        "name": name,
        "chest": spots(1, 0, half // 2),
        "furnace": spots(furnaces, 0, half // 2),
        "blocks": {"oak_log": {"at": spots(1, 0, half)}},
        "mobs": {kind: {"at": spots(mobs, half // 2, half), "gives": MEAT[kind]} for kind in kinds},
        "fuel": ["oak_log"],
        "dishes": {f"cooked_{MEAT[kind]}": MEAT[kind] for kind in kinds},
        "starts": spots(MAX_AGENTS, 0, half),
    }
