"""Observations declared as blocks of numbers, from which offsets, bounds and tables of pages follow."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.kernels.arrays import index
from collab_overcooked.kernels.jit import kernel


class Block(NamedTuple):
    """Numbers of an observation that belong together."""

    name: str
    highest: Any  # bound of each number, clipped at 255; a row for each object where these differ
    content: str = ""  # what they say, on the page of the game
    signed: bool = False  # whether numbers may be as far below 0 as above it


class Objects(NamedTuple):
    """Objects of one kind in a row, each described by the same blocks."""

    blocks: tuple[Block, ...]
    names: tuple[str, ...] = ("",)


class Span(IntEnum):
    """Rows of ``spans_of``."""

    FIRST = 0  # index of the first number of a block of the first object
    STEP = 1  # numbers of each object


@kernel
def start_of(spans, block, k):
    """Return the index of the first number of a block of the object ``k`` of its kind."""
    return index(spans[Span.FIRST, block] + k * spans[Span.STEP, block])


def numbered(name: str, number: int) -> tuple[str, ...]:
    """Return names of objects without names of their own: ``"pot 0"``, ``"pot 1"``, ..."""
    return tuple(f"{name} {k}" for k in range(number))


def spans_of(kinds: Iterable[Objects]) -> np.ndarray:
    """Return where the blocks of each kind of objects lie, int32 (2, blocks), see ``Span``."""
    firsts: list[int] = []
    steps: list[int] = []
    at = 0
    for objects in kinds:
        *starts, length = starts_of(objects.blocks).tolist()
        firsts += [at + start for start in starts]
        steps += [length] * len(starts)
        at += length * len(objects.names)
    return np.array([firsts, steps], np.int32)


def blocks_of(kinds: Iterable[Objects]) -> list[Block]:
    """Return the blocks of all objects in order, named after them, with their bounds: ``"pot 0: timer"``."""
    blocks = []
    for objects in kinds:
        for k, owner in enumerate(objects.names):
            for block in objects.blocks:
                bounds = block.highest[k] if np.ndim(block.highest) > 1 else block.highest
                name = f"{owner}: {block.name}" if owner else block.name
                blocks.append(block._replace(name=name, highest=bounds))
    return blocks


def starts_of(blocks: Iterable[Block]) -> np.ndarray:
    """Return the index of the first number of each block, and the number of all, int32 (blocks + 1,)."""
    return np.cumsum([0, *(np.shape(block.highest)[-1] for block in blocks)], dtype=np.int32)


def highest_of(blocks: Iterable[Block]) -> np.ndarray:
    """Return the bounds of all numbers, uint8."""
    bounds = np.concatenate([block.highest for block in blocks])
    return np.clip(bounds, 0, 255).astype(np.uint8)
