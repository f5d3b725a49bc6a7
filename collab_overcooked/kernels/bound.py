"""Kernels with their arrays bound once, so that a call costs a tenth of a microsecond instead of six.

Most of a small kernel call is numba looking at its arguments: every array of every NamedTuple is typed and then taken
apart, at every call. ``bind`` does both once: it writes the arrays of each NamedTuple into memory as machine code lays
them out, and compiles the kernel for the address of that memory. The kernel itself is written as any other and reads
``state.clock`` as before.

This leans on three things of numba that have been so since 2015: an array is seven words (checked below at import),
``Dispatcher.compile`` returns what is to be called, and kernels without reference counting (``jit``) read none of the
words that it needs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from numba import int32, typeof, types
from numba.core.datamodel import default_manager
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox

from collab_overcooked.kernels.jit import is_compiled

FIELDS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")  # of an array, in words
KNOWN_LAYOUT = default_manager.lookup(int32[:])._fields == FIELDS


class ArraysAddress(types.Type):
    """Numba's type of the address of a NamedTuple's arrays; theirs are part of it, and so of the cache's key."""

    def __init__(self, arrays: types.NamedTuple) -> None:
        self.arrays = arrays
        super().__init__(f"ArraysAddress({arrays})")

    @property
    def key(self) -> types.NamedTuple:
        """What tells such types apart."""
        return self.arrays


register_model(ArraysAddress)(models.OpaqueModel)  # a pointer


@unbox(ArraysAddress)
def _unbox(_: ArraysAddress, address: Any, c: Any) -> NativeValue:
    return NativeValue(c.pyapi.long_as_voidptr(address))


@infer_getattr
class _Fields(AttributeTemplate):
    key = ArraysAddress

    def generic_resolve(self, bound: ArraysAddress, name: str) -> Any:  # type: ignore[override]
        if name in bound.arrays.fields:
            return bound.arrays.types[bound.arrays.fields.index(name)]
        return None


@lower_getattr_generic(ArraysAddress)
def _load(context: Any, builder: Any, bound: ArraysAddress, address: Any, name: str) -> Any:
    """Load one array. Its words never change, which frees LLVM from loading them again after every store."""
    memory = builder.bitcast(address, context.get_data_type(bound.arrays).as_pointer())
    place = builder.gep(memory, [context.get_constant(types.int32, k) for k in (0, bound.arrays.fields.index(name))])
    loaded = builder.load(place)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


class BoundKernel(functools.partial[None]):
    """A kernel with its arguments, to be called without any. It holds its arrays, which must not be replaced.

    It may be called from any thread. It belongs to its arrays, so it can be neither copied nor pickled: owners bind
    again.
    """

    arrays: tuple[Any, ...]
    memory: tuple[np.ndarray, ...]

    def __reduce__(self) -> NoReturn:
        raise TypeError("a bound kernel belongs to its arrays; copy these and bind the kernel to them")


def bind(kernel: Any, *arguments: Any) -> BoundKernel:
    """Bind a kernel to its arguments: NamedTuples of arrays, and arrays."""
    if not (KNOWN_LAYOUT and is_compiled(kernel)):
        return BoundKernel(kernel, *arguments)
    entry = _entry_point(kernel, tuple(map(_kind, arguments)), arguments)
    memory = tuple(_pack(given) if isinstance(given, tuple) else given for given in arguments)
    passed = (
        packed.ctypes.data if isinstance(given, tuple) else given
        for packed, given in zip(memory, arguments, strict=True)
    )
    bound = BoundKernel(entry, *passed)
    bound.arrays, bound.memory = arguments, memory
    return bound


class RowsKernel:
    """A kernel bound to the arrays of a batch, each call of which works on the batch's first rows alone.

    Binding takes longer than many small calls, so whoever steps batches of ever new sizes binds the largest one.

    Args:
        kernel: Made by ``jit.kernel``.
        arguments: All that it takes.
        batched: Those of the arguments, by identity, whose arrays have the rows as first axis.
    """

    def __init__(self, kernel: Any, arguments: Sequence[Any], batched: Sequence[Any]) -> None:
        self._bound = bind(kernel, *arguments)
        self._arguments = [(given, any(given is each for each in batched)) for given in arguments]
        self._lengths: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # memory, words that count rows, factors
        if hasattr(self._bound, "memory"):
            for (given, cut), memory in zip(self._arguments, self._bound.memory, strict=True):
                if cut and isinstance(given, tuple):
                    self._lengths.append((memory, *_row_words(given)))

    def __call__(self, rows: int) -> None:
        """Run the kernel on the first rows."""
        if not self._lengths:
            self._bound.func(*(_first(given, rows) if cut else given for given, cut in self._arguments))
            return
        for memory, places, factors in self._lengths:
            memory[places] = factors * rows
        passed = zip(self._arguments, self._bound.args, strict=True)
        self._bound.func(*(_first(given, rows) if cut and given is own else own for (given, cut), own in passed))


def _first(given: Any, rows: int) -> Any:
    return type(given)(*(array[:rows] for array in given)) if isinstance(given, tuple) else given[:rows]


def _row_words(arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return which words of packed arrays depend on the number of rows, and how much they grow with each."""
    places, factors, start = [], [], 0
    for array in arrays:
        places += [start + FIELDS.index("nitems"), start + FIELDS.index("shape")]
        factors += [math.prod(array.shape[1:]), 1]
        start += FIELDS.index("shape") + 2 * array.ndim
    return np.array(places), np.array(factors, np.intp)


def count_versions(kernel: Any, *arguments: Any) -> int:
    """Count the versions of a kernel that were compiled for bound arguments of these dtypes; 0 where JIT is off.

    More than one means that somebody binds arrays of another memory layout.
    """
    wanted = _dtypes(map(typeof, arguments))
    return sum(_dtypes(signature) == wanted for signature in getattr(kernel, "signatures", ()))


def _dtypes(signature: Iterable[Any]) -> list[Any]:
    """Return the dtypes of all arrays, but an empty list for what was not bound."""
    kinds = [getattr(each, "arrays", each) for each in signature]
    return [array.dtype for kind in kinds for array in getattr(kind, "types", (kind,))]


def bind_all(*calls: Callable[[], None]) -> BoundKernel:
    """Return what makes several bound calls, one after the other."""
    return BoundKernel(_call_all, calls)


def _call_all(calls: tuple[Callable[[], None], ...]) -> None:
    for call in calls:
        call()


_entry_points: dict[Any, Callable[..., None]] = {}


def _entry_point(kernel: Any, kinds: tuple[Any, ...], arguments: tuple[Any, ...]) -> Callable[..., None]:
    """Compile a kernel, or find it compiled."""
    key = kernel, kinds
    if key not in _entry_points:
        signature = (ArraysAddress(typeof(a)) if isinstance(a, tuple) else typeof(a) for a in arguments)
        _entry_points[key] = kernel.compile(tuple(signature))
    return _entry_points[key]


def _kind(argument: Any) -> Any:
    """Return what numba's type of arrays depends on, much faster than asking numba."""
    if isinstance(argument, tuple):
        return type(argument), tuple(map(_kind, argument))
    return argument.dtype.char, argument.ndim, argument.flags.num


def _pack(arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return ``FIELDS`` of every array; nobody owns what is never counted, so the first two are null."""
    words: list[int] = []
    for array in arrays:
        address = array.__array_interface__["data"][0]
        words += (0, 0, array.size, array.itemsize, address, *array.shape, *array.strides)
    return np.array(words, np.intp)
