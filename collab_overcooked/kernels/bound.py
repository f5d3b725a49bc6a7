"""Kernels with their arrays bound once, so that a call costs a tenth of a microsecond instead of six.

Most of the time of a small kernel call is numba's dispatch: every array of every NamedTuple is typed and unpacked, at
every call. ``bind`` does both once: it writes the arrays of each NamedTuple into memory in the layout of machine code,
and compiles the kernel for the address of that memory. The kernel itself is written as any other and reads
``state.clock`` as before.

This relies on three properties of numba, unchanged since 2015: an array is seven machine words (checked below at
import), ``Dispatcher.compile`` returns the entry point, and kernels without reference counting (``jit``) never read
the words of the reference count.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numba import typeof

from collab_overcooked.kernels.jit import PLAIN, is_compiled

if not PLAIN:
    from collab_overcooked.kernels.addresses import FIELDS, KNOWN_LAYOUT, ArraysAddress, ByteRowsAddress


class BoundKernel(functools.partial[None]):
    """A kernel with its arguments, called without any. It holds references to its arrays, which must not be replaced.

    It may be called from any thread. It can be neither copied nor pickled: bind the kernel to the copies instead.
    """

    arrays: tuple[Any, ...]
    memory: tuple[np.ndarray, ...]

    def __reduce__(self) -> NoReturn:
        raise TypeError("a bound kernel belongs to its arrays; copy these and bind the kernel to them")


def bind(kernel: Any, *arguments: Any) -> BoundKernel:
    """Bind a kernel to its arguments, arrays, numbers, NamedTuples of arrays, or lists of uint8 arrays (B, bytes)."""
    if PLAIN or not (KNOWN_LAYOUT and is_compiled(kernel)):
        return BoundKernel(
            kernel, *(tuple(argument) if isinstance(argument, list) else argument for argument in arguments)
        )
    entry = _entry_point(kernel, tuple(map(_kind, arguments)), arguments)
    memory = tuple(_pack(argument) if isinstance(argument, tuple | list) else argument for argument in arguments)
    passed = (
        packed.ctypes.data if isinstance(argument, tuple | list) else argument
        for packed, argument in zip(memory, arguments, strict=True)
    )
    bound = BoundKernel(entry, *passed)
    bound.arrays, bound.memory = arguments, memory
    return bound


class RowsKernel:
    """A kernel bound to the arrays of a batch; each call processes the first rows only.

    Binding takes longer than many small calls, so code that steps batches of varying size binds the largest one.

    Args:
        kernel: Kernel made by ``jit.kernel``.
        arguments: All its arguments.
        batched: Arguments, by identity, whose arrays have the rows as first axis.
    """

    def __init__(self, kernel: Any, arguments: Sequence[Any], batched: Sequence[Any]) -> None:
        self._bound = bind(kernel, *arguments)
        self._arguments = [(argument, any(argument is other for other in batched)) for argument in arguments]
        self._lengths: list[
            tuple[np.ndarray, np.ndarray, np.ndarray]
        ] = []  # memory, positions of the row counts, factors
        if hasattr(self._bound, "memory"):
            for (argument, cut), memory in zip(self._arguments, self._bound.memory, strict=True):
                if cut and isinstance(argument, tuple):
                    self._lengths.append((memory, *_row_positions(argument)))

    def __call__(self, rows: int) -> None:
        """Run the kernel on the first rows."""
        if not self._lengths:
            self._bound.func(*(_first(argument, rows) if cut else argument for argument, cut in self._arguments))
            return
        for memory, places, factors in self._lengths:
            memory[places] = factors * rows
        passed = zip(self._arguments, self._bound.args, strict=True)
        self._bound.func(
            *(_first(argument, rows) if cut and argument is bound else bound for (argument, cut), bound in passed)
        )


def _first(argument: Any, rows: int) -> Any:
    return type(argument)(*(array[:rows] for array in argument)) if isinstance(argument, tuple) else argument[:rows]


def _row_positions(arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    places, factors, start = [], [], 0
    for array in arrays:
        places += [start + FIELDS.index("nitems"), start + FIELDS.index("shape")]
        factors += [math.prod(array.shape[1:]), 1]
        start += FIELDS.index("shape") + 2 * array.ndim
    return np.array(places), np.array(factors, np.intp)


def count_versions(kernel: Any, *arguments: Any) -> int:
    """Count the versions of a kernel that were compiled for bound arguments of these dtypes; 0 where JIT is off.

    More than one means that arrays of different memory layouts are bound.
    """
    dtypes = _dtypes(map(typeof, arguments))
    return sum(_dtypes(signature) == dtypes for signature in getattr(kernel, "signatures", ()))


def _dtypes(signature: Iterable[Any]) -> list[Any]:
    kinds = [getattr(bound, "arrays", bound) for bound in signature]
    return [array.dtype for kind in kinds for array in getattr(kind, "types", (kind,))]


def bind_all(*calls: Callable[[], None]) -> BoundKernel:
    """Return a kernel that makes several bound calls in order."""
    return BoundKernel(_call_all, calls)


def _call_all(calls: tuple[Callable[[], None], ...]) -> None:
    for call in calls:
        call()


_entry_points: dict[Any, Callable[..., None]] = {}


def _entry_point(kernel: Any, kinds: tuple[Any, ...], arguments: tuple[Any, ...]) -> Callable[..., None]:
    key = kernel, kinds
    if key not in _entry_points:
        _entry_points[key] = kernel.compile(tuple(map(_type, arguments)))
    return _entry_points[key]


def _type(argument: Any) -> Any:
    if isinstance(argument, list):
        return ByteRowsAddress()
    return ArraysAddress(typeof(argument)) if isinstance(argument, tuple) else typeof(argument)


def _kind(argument: Any) -> Any:
    if isinstance(argument, list | int):
        return type(argument)
    if isinstance(argument, tuple):
        return type(argument), tuple(map(_kind, argument))
    return argument.dtype.char, argument.ndim, argument.flags.num


def _pack(arrays: Sequence[np.ndarray]) -> np.ndarray:
    packed: list[int] = []
    for array in arrays:
        address = array.__array_interface__["data"][0]
        packed += (0, 0, array.size, array.itemsize, address, *array.shape, *array.strides)
    return np.array(packed, np.intp)
