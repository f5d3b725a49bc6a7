"""The arrays of batches: how they are declared and allocated, and what observations and actions are copied with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

import numpy as np

from collab_overcooked.kernels.jit import kernel

Array = np.ndarray
Arrays = TypeVar("Arrays", bound=tuple[np.ndarray, ...])


class ArraySpec(NamedTuple):
    """Shape, dtype and first value of an array; see ``array_of``."""

    axes: tuple[int | str | type[IntEnum], ...]
    dtype: Any
    fill: int


def array_of(*axes: int | str | type[IntEnum], dtype: Any = np.int32, fill: int = 0) -> Any:
    """Declare a field of a NamedTuple of arrays, as its default; ``allocate`` makes the arrays.

    Args:
        *axes: Axes behind the leading ones: a length, the letter of one, or the enum that names its entries.
        dtype: Of the array.
        fill: Value that it begins with.
    """
    return ArraySpec(axes, dtype, fill)


class BasicOut(NamedTuple):
    """What a step writes, for games that need no more, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)
    truncated: Array = array_of(dtype=np.bool_)
    events: Array = array_of("N", "columns")  # see kernels.events
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written


def allocate(kind: type[Arrays], sizes: Mapping[str, int], *leading: int, **dtypes: Any) -> Arrays:
    """Make the arrays of a NamedTuple whose fields are declared by ``array_of``.

    Args:
        kind: The NamedTuple.
        sizes: Lengths by letter.
        *leading: Lengths of axes that all its arrays begin with, for example B.
        **dtypes: Of fields that take another dtype than declared.
    """
    made = []
    for name, (axes, dtype, fill) in kind._field_defaults.items():  # type: ignore[attr-defined]
        lengths = (
            sizes[axis] if isinstance(axis, str) else axis if isinstance(axis, int) else len(axis) for axis in axes
        )
        made.append(np.zeros((*leading, *lengths), dtypes.get(name, dtype)))
        if fill:
            made[-1].fill(fill)
    return kind(*made)


@kernel
def clip_u8(value):
    """Counts and times are capped at 0 and 255."""
    return min(max(value, 0), 255)


@kernel
def clip_i8(value):
    """Numbers are capped to fit a signed byte."""
    return min(max(value, -127), 127)


@kernel
def index(value):
    """A place that is never negative is told so: whether it counts from the end costs a third of writing a vector."""
    return np.uint32(value)


@kernel
def copy_numbers(source, target):
    """Numbers are copied as whole views: with offsets in the loop the compiler would not vectorise it, 15 times slower.

    Mutates: target.
    """
    for k in range(target.shape[0]):
        target[k] = source[k]


@kernel
def copy_actions(given, n_actions, actions):
    """Actions (E, N) are copied up to the first one outside its space; tells how many were. Mutates: actions."""
    copied = 0
    for i in range(given.shape[0]):
        for seat in range(given.shape[1]):
            if given[i, seat] < 0 or given[i, seat] >= n_actions:
                return copied
            actions[i, seat] = given[i, seat]
            copied += 1
    return copied
