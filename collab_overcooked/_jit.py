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

import contextlib
import time
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, event
from numba.core.registry import CPUDispatcher

from collab_overcooked.core.file_lock import FileLock

_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "forceinline": True,
    "no_cfunc_wrapper": True,  # for calls from C, which nobody makes
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


class CacheFile(caching.IndexDataCacheFile):
    """A kernel's files, locked while they are read or written, so that several processes may compile at once.

    numba gives the files of two signatures the same name if two processes choose it at the same time, and one of them
    then runs the other's code (numba issues 4807 and 10128).
    """

    def save(self, key: Any, data: Any) -> None:
        """Write what was compiled for a signature."""
        with self._locked():
            super().save(key, data)

    def load(self, key: Any) -> Any:
        """Read what was compiled for a signature; None if nothing was."""
        with self._locked():
            return super().load(key)

    def _locked(self) -> Any:
        try:
            return FileLock(Path(self._cache_path) / ".lock", wait=True)
        except OSError:  # the folder does not exist yet, or nobody can write to it
            return contextlib.nullcontext()


class Kernel(CPUDispatcher):
    """A kernel that Python and other kernels call.

    What other kernels call is compiled apart, without the wrapper that turns Python objects into arguments: with tables
    of arrays as arguments, that wrapper takes a fifth of the time of compiling, and most kernels are called by other
    kernels only.
    """

    inner: Any

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for a caller that is compiled."""
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return what a compiled caller links to."""
        return self.inner.get_overload(sig)


def kernel(function: Any) -> Any:
    """Compile a function that neither allocates nor touches Python objects, cached on disk, releasing the GIL."""
    compiled, inner = numba.njit(**_OPTIONS)(function), numba.njit(no_cpython_wrapper=True, **_OPTIONS)(function)
    if is_compiled(compiled):
        _share_cache(compiled, "")
        _share_cache(inner, "-inner")
        compiled.__class__, compiled.inner = Kernel, inner
    return compiled


def _share_cache(compiled: Any, suffix: str) -> None:
    old = compiled._cache._cache_file
    base = old._index_name.removesuffix(".nbi") + suffix
    compiled._cache._cache_file = CacheFile(old._cache_path, base, old._source_stamp)


def is_compiled(function: Any) -> bool:
    """Tell whether a kernel is compiled; it is plain Python where JIT is switched off."""
    return hasattr(function, "compile")
