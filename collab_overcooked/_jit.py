"""Compiler options and cache policy of every kernel; only this file and ``_bound`` import numba.

Kernels are cached on disk beside the package (numba's default; ``NUMBA_CACHE_DIR`` moves it) and
release the GIL, so that a batch can be split over threads without compiling a second, parallel
version: parallel kernels compile three times slower and must not be cached by several processes.

Kernels run without numba's reference counting (``_nrt=False``): every view of an array row would otherwise cost two
atomic operations, and a step takes dozens of views. Measured on the Collab-Overcooked step with mask and features:
0.39 us instead of 2.9 us. The price is that a kernel cannot allocate, so callers pass scratch memory, and that an
array is copied by a loop, not by slice assignment; numba refuses to compile anything else.

LLVM must inline every call (``forceinline``). It would rather not where a call passes tables of arrays, each of which
is a handful of arguments, and then passing them costs more than the rules do. Measured for a batch of 1024: an
Overcooked step 67 ns instead of 458, with observations 250 ns instead of 690, CuisineWorld 205 instead of 425,
Collab-Overcooked 345 instead of 495; compile times stay as they were.
"""

from __future__ import annotations

import time
from typing import Any

import numba
from numba.core import event

_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "forceinline": True,
}

__all__ = ["compile_seconds", "is_compiled", "kernel"]


class _Stopwatch(event.Listener):
    """Adds up the processor time of compilations; what is compiled within one counts once."""

    def __init__(self) -> None:
        self.seconds, self._depth, self._since = 0.0, 0, 0.0

    def on_start(self, event: Any) -> None:
        """Note when the outermost compilation begins."""
        if self._depth == 0:
            self._since = time.thread_time()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Add what it took."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.thread_time() - self._since


_compiling = _Stopwatch()
event.register("numba:compile", _compiling)


def compile_seconds() -> float:
    """Return the processor time spent compiling so far, for those who time what calls kernels; loading is extra."""
    return _compiling.seconds


def kernel(function: Any) -> Any:
    """Compile a function that neither allocates nor touches Python objects, cached on disk, releasing the GIL."""
    return numba.njit(**_OPTIONS)(function)


def is_compiled(function: Any) -> bool:
    """Tell whether a kernel is compiled; it is plain Python where JIT is switched off."""
    return hasattr(function, "compile")
