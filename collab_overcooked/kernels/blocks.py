"""Observations declared as blocks of numbers, from which offsets, bounds and tables of pages follow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Block(NamedTuple):
    """Numbers of an observation that belong together."""

    name: str
    highest: tuple[int, ...]  # bound of each number
    content: str = ""  # what they say, on the page of the game


def starts_of(blocks: Iterable[Block]) -> np.ndarray:
    """Return the index of the first number of each block, and the number of all, int32 (blocks + 1,)."""
    return np.cumsum([0, *(len(block.highest) for block in blocks)], dtype=np.int32)


def highest_of(blocks: Iterable[Block]) -> np.ndarray:
    """Return the bounds of all numbers, uint8."""
    return np.array([bound for block in blocks for bound in block.highest], np.uint8)
