"""Observations declared as blocks of numbers, from which offsets, bounds and tables of pages follow."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from collab_overcooked.kernels.jit import kernel


class Block(NamedTuple):
    """Numbers of an observation that belong together."""

    name: str
    highest: tuple[int, ...]  # bound of each number; numbers are clipped at 255
    content: str = ""  # what they say, on the page of the game


class Objects(NamedTuple):
    """Objects of one kind in a row, each described by the same blocks."""

    blocks: tuple[Block, ...]
    name: str = ""
    number: int = 1


class Span(IntEnum):
    """Columns of ``spans_of``."""

    FIRST = 0  # index of the first number of a block of the first object
    STEP = 1  # numbers of each object


@kernel
def start_of(spans, block, k):
    """Return the index of the first number of a block of the object ``k`` of its kind."""
    return spans[block, Span.FIRST] + k * spans[block, Span.STEP]


def spans_of(kinds: Iterable[Objects]) -> np.ndarray:
    """Return where the blocks of each kind of objects lie, int32 (blocks, 2), see ``Span``."""
    rows, at = [], 0
    for objects in kinds:
        *starts, length = starts_of(objects.blocks).tolist()
        rows += [(at + start, length) for start in starts]
        at += length * objects.number
    return np.array(rows, np.int32)


def blocks_of(kinds: Iterable[Objects]) -> list[Block]:
    """Return the blocks of all objects in order, named after them: ``"pot 0: timer"``."""
    return [
        block._replace(name=f"{objects.name} {k}: {block.name}" if objects.name else block.name)
        for objects in kinds
        for k in range(objects.number)
        for block in objects.blocks
    ]


def starts_of(blocks: Iterable[Block]) -> np.ndarray:
    """Return the index of the first number of each block, and the number of all, int32 (blocks + 1,)."""
    return np.cumsum([0, *(len(block.highest) for block in blocks)], dtype=np.int32)


def highest_of(blocks: Iterable[Block]) -> np.ndarray:
    """Return the bounds of all numbers, uint8."""
    bounds = [bound for block in blocks for bound in block.highest]
    return np.clip(bounds, 0, 255).astype(np.uint8)
