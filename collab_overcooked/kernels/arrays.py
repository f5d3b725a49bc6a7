"""Arrays of batches: declaration, allocation, and kernels that copy observations and actions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

import gymnasium
import numpy as np

from collab_overcooked.kernels.jit import kernel

Array = np.ndarray
ENDLESS = 255  # bound of a number without one of its own: what does not fit a byte is clipped
Arrays = TypeVar("Arrays")  # a NamedTuple of arrays


class ArraySpec(NamedTuple):
    """Shape, dtype and initial value of an array; see ``array_of``."""

    axes: tuple[int | str | type[IntEnum], ...]
    dtype: Any
    fill: int | Mapping[Any, int] | None


def array_of(*axes: int | str | type[IntEnum], dtype: Any = np.int32, fill: int | Mapping[Any, int] | None = 0) -> Any:
    """Declare a field of a NamedTuple of arrays, as its default; ``allocate`` makes the arrays.

    Args:
        *axes: Axes after the leading ones: a length, the letter of a length, or the enum that names the entries.
        dtype: Dtype of the array.
        fill: Value when an episode starts, or first columns, in order, each with the value from there on; None for
            an array that a reset does not clear.
    """
    return ArraySpec(axes, dtype, fill)


class BasicOut(NamedTuple):
    """Outputs of a step, with leading axis B; games with more outputs extend them."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)
    truncated: Array = array_of(dtype=np.bool_)
    events: Array = array_of("N", "columns")  # see kernels.events
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call, so observations and masks must be written
    scratch: Array = array_of("scratch", fill=None)  # working memory of kernels; the game's sizes tell its length


def allocate(kind: type[Arrays], sizes: Mapping[str, int], *leading: int, **dtypes: Any) -> Arrays:
    """Allocate the arrays of a NamedTuple whose fields are declared by ``array_of``.

    Args:
        kind: The NamedTuple.
        sizes: Lengths by letter.
        *leading: Lengths of the leading axes of all arrays, for example B.
        **dtypes: Overrides of declared dtypes, by field name.
    """
    arrays = []
    for name, (axes, dtype, fill) in kind._field_defaults.items():  # type: ignore[attr-defined]
        lengths = (_length_of(axis, sizes) for axis in axes)
        arrays.append(np.zeros((*leading, *lengths), dtypes.get(name, dtype)))
        for column, value in (fill if isinstance(fill, Mapping) else {0: fill or 0}).items():
            arrays[-1][..., column:] = value
    return kind(*arrays)


def _length_of(axis: int | str | type[IntEnum], sizes: Mapping[str, int]) -> int:
    if isinstance(axis, str):
        return sizes[axis]
    return axis if isinstance(axis, int) else len(axis)


def as_bytes(array: np.ndarray) -> np.ndarray:
    """Return a view of an array as bytes (B, ...)."""
    return array.reshape(len(array), math.prod(array.shape[1:])).view(np.uint8)


@kernel
def clip_u8(value):
    """Counts and times are capped at 0 and 255."""
    return min(max(value, 0), 255)


def counts_to(highest: Any) -> gymnasium.spaces.Box[Any]:
    """Return the space of uint8 numbers from 0 to a highest value each; as trainers divide by it, at least to 1."""
    high = np.clip(highest, 1, 255).astype(np.uint8)
    return gymnasium.spaces.Box(np.zeros_like(high), high, dtype=np.uint8)


@kernel
def clip_i8(value):
    """Numbers are capped to fit a signed byte."""
    return min(max(value, -127), 127)


@kernel
def index(value):
    """Unsigned indices skip numba's check for negative ones, which costs a third of the time to write a vector."""
    return np.uint32(value)


@kernel
def copy_numbers(source, target):
    """Numbers are copied between views: with offsets in the loop the compiler does not vectorise it, 15 times slower.

    Mutates: target.
    """
    for k in range(target.shape[0]):
        target[k] = source[k]


@kernel
def clear_rows(fresh, initial, lengths, arrays):
    """Environments that start anew get the initial bytes of all arrays. Mutates: arrays (B, bytes) each."""
    for b in range(fresh.shape[0]):
        if fresh[b]:
            at = 0
            for k in range(lengths.shape[0]):
                copy_numbers(initial[at : at + lengths[k]], arrays[k][b])
                at += lengths[k]


@kernel
def copy_actions(requested, n_actions, actions):
    """Copy actions (E, N) up to the first one outside its space and return their number. Mutates: actions."""
    copied = 0
    for i in range(requested.shape[0]):
        for seat in range(requested.shape[1]):
            if requested[i, seat] < 0 or requested[i, seat] >= n_actions:
                return copied
            actions[i, seat] = requested[i, seat]
            copied += 1
    return copied
