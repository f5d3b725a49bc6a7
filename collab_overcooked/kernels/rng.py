"""Random numbers for kernels: a counter-based generator whose state is three int32 of one environment.

Hashing a counter instead of walking a stream makes a draw depend on the environment's own seed and draw count
only, never on batch size or thread. All arithmetic stays below 2**63 in int64, so jitted and plain Python agree
(the 32-bit mixer is the two-round one found by C. Wellons' hash-prospector; its constants fit in 31 bits).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from collab_overcooked.kernels.jit import kernel

_WORD = 0xFFFFFFFF


class Rng(IntEnum):
    """Columns of a generator's state."""

    LOW = 0
    HIGH = 1
    COUNT = 2


def seed_states(seeds: Any) -> np.ndarray:
    """Return the generator states of seeds.

    Args:
        seeds: Integers of shape ``(B,)``; only the lowest 64 bits count.

    Returns:
        int32 array of shape ``(B, 3)``.
    """
    states = np.zeros((len(seeds), len(Rng)), np.uint32)
    for row, seed in zip(states, seeds, strict=True):
        row[Rng.LOW] = int(seed) & _WORD
        row[Rng.HIGH] = (int(seed) >> 32) & _WORD
    return states.view(np.int32)


def derive_seeds(seed: int, count: int) -> list[int]:
    """Return the seeds of a batch: environment ``i`` of a batch seeded ``s`` has seed ``s + i``.

    This is Gymnasium's convention for vector environments.
    """
    return [seed + i for i in range(count)]


def rng_to_dict(rng: Sequence[int]) -> dict[str, int]:
    """Return a generator's state (3,) as plain data for a scene."""
    low, high, draws = map(int, rng)
    return {"seed": (high & _WORD) << 32 | (low & _WORD), "draws": draws}


def rng_from_dict(saved: Mapping[str, int]) -> list[int]:
    """Return a generator's state from the plain data of ``rng_to_dict``."""
    low, high, _ = seed_states([saved["seed"]])[0].tolist()
    return [low, high, saved["draws"]]


@kernel
def mix(word):
    """Scramble 32 bits."""
    word ^= word >> 16
    word = (word * 0x21F0AAAD) & _WORD
    word ^= word >> 15
    word = (word * 0x735A2D97) & _WORD
    return word ^ (word >> 15)


@kernel
def draw(rng):
    """Draw 32 random bits. Mutates: rng."""
    count = np.int64(rng[Rng.COUNT])
    rng[Rng.COUNT] = (count + 1) & 0x7FFFFFFF
    word = mix(count)
    word = mix((word + (np.int64(rng[Rng.HIGH]) & _WORD)) & _WORD)
    return mix((word + (np.int64(rng[Rng.LOW]) & _WORD)) & _WORD)


def draw_bounds(weights: Any) -> np.ndarray:
    """Return the cumulative bounds that ``draw_weighted`` compares 32 random bits with.

    Args:
        weights: Finite numbers of at least 0 (K,), not all 0.

    Returns:
        int64 (K,), ascending to 2**32.
    """
    sums = np.cumsum(np.asarray(weights, np.float64))
    return np.rint(sums / sums[-1] * (_WORD + 1)).astype(np.int64)


@kernel
def draw_weighted(rng, bounds):
    """Draw an index with probabilities that ``draw_bounds`` has turned into bounds. Mutates: rng."""
    word, k = draw(rng), 0
    while word >= bounds[k]:
        k += 1
    return k


@kernel
def draw_below(rng, bound):
    """Draw a uniform integer from 0 to bound - 1. Mutates: rng."""
    return (draw(rng) * np.int64(bound)) >> 32
