"""Compiler options of all kernels; only modules of ``kernels`` import numba.

Kernels release the GIL, so that a batch can be split over threads without compiling a second, parallel version:
parallel kernels compile three times slower and must not be cached by several processes.

Kernels run without numba's reference counting (``_nrt=False``): every view of an array row would otherwise cost two
atomic operations, and a step takes dozens of views. Measured on one step with mask and features:
0.39 us instead of 2.9 us. The price is that a kernel cannot allocate, so callers pass scratch memory, and that an
array is copied by a loop, not by slice assignment; numba refuses to compile anything else.

LLVM must inline every call (``forceinline``). By default it does not inline calls that pass tables of arrays, because
each table counts as several arguments; passing these then costs more than the rules do. Measured for steps of
three games in a batch of 1024: 67 ns instead of 458 (with observations 250 instead of 690), 205 instead of 425, 345
instead of 495; compile times stay as they were.

``caching`` and ``addresses`` build on private parts of numba. Where a release of numba has changed these, the variable
``COLLAB_OVERCOOKED_PLAIN_NUMBA=1`` plays the same rules through ``numba.njit(cache=True)`` alone: slower, and slower
to compile.
"""

from __future__ import annotations

import hashlib
import os
import re
import textwrap
import time
from typing import Any

import numba
from numba.core import event
from numba.extending import overload

from collab_overcooked.kernels.cache_folders import GAMES, PACKAGE, cache_folder, source_key

PLAIN = os.environ.get("COLLAB_OVERCOOKED_PLAIN_NUMBA", "") not in ("", "0")
if not PLAIN:
    try:
        from collab_overcooked.kernels.caching import make_kernel
    except (ImportError, AttributeError, TypeError) as problem:
        raise ImportError(
            f"numba {numba.__version__} has changed a private part that kernels are built on ({problem}); install "
            "numba 0.68.1, or set COLLAB_OVERCOOKED_PLAIN_NUMBA=1 to play without it, slower"
        ) from problem

else:  # numba's own cache knows nothing of the sources that a kernel calls, so each version of the package has its own
    _keys = [source_key(PACKAGE), *(source_key(folder) for folder in sorted(GAMES.iterdir()) if folder.is_dir())]
    _config: Any = numba.config  # its type stubs lack its variables
    _config.CACHE_DIR = str(cache_folder(hashlib.sha256(repr(_keys).encode()).hexdigest()[:16]) or "")

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_OWN_OPTIONS: dict[str, Any] = _OPTIONS | {
    "_nrt": False,
    "forceinline": True,
    "no_cfunc_wrapper": True,  # only needed for calls from C
}

__all__ = ["PLAIN", "compile_seconds", "compiled_form", "define", "is_compiled", "kernel", "row_at", "unpack"]


class _Stopwatch(event.Listener):
    """Sum of the processor time of compilations; nested compilations count once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._since = 0.0

    def on_start(self, event: Any) -> None:
        """Record the start of the outermost compilation."""
        if self._depth == 0:
            self._since = time.thread_time()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Add the duration of the outermost compilation."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.thread_time() - self._since


_compiling = _Stopwatch()
event.register("numba:compile", _compiling)


def compile_seconds() -> float:
    """Return the processor time spent compiling so far, excluding the loading of cached kernels."""
    return _compiling.seconds


def kernel(function: Any, *inner: Any) -> Any:
    """Compile a function that neither allocates nor uses Python objects; cached on disk, without the GIL.

    Args:
        function: The function.
        *inner: Functions of kernels that it calls from its closure, which may be from other folders.
    """
    njit: Any = numba.njit  # its type stubs lack some of its options
    if PLAIN:
        return njit(cache=True, **_OPTIONS)(function)
    compiled = njit(**_OWN_OPTIONS)(function)
    if is_compiled(compiled):
        make_kernel(compiled, njit(no_cpython_wrapper=True, **_OWN_OPTIONS)(function), function, *inner)
    return compiled


def compiled_form(function: Any) -> Any:
    """Decorate what returns the compiled form of a function for the types of its arguments."""
    return overload(function, jit_options=_OPTIONS if PLAIN else _OWN_OPTIONS)  # type: ignore[arg-type]


def define(source: str, **names: Any) -> Any:
    """Return the function that a source defines, which may use some names: what Python has no other form for."""
    parameters, scope = ", ".join(names), dict[str, Any]()
    *_, name = re.findall(r"^def (\w+)", source, re.MULTILINE)
    exec(f"def make({parameters}):\n{textwrap.indent(source, '    ')}\n    return {name}", scope)
    return scope["make"](**names)


def row_at(arrays: Any, b: Any) -> Any:
    """Return the arrays of one environment, as views: a NamedTuple like ``arrays``, without their leading axis."""
    return type(arrays)(*(array[b] for array in arrays))


@compiled_form(row_at)
def _compiled_row_at(arrays: Any, b: Any) -> Any:
    kind = getattr(arrays, "arrays", arrays)  # of the address that a bound kernel gets
    views = ", ".join(f"arrays.{name}[b]" for name in kind.fields)
    return define(f"def row(arrays: Any, b: Any): return cls({views})", cls=kind.instance_class)


def unpack(arrays: Any) -> Any:
    """Return the arrays of a bound kernel, read from memory once instead of in every pass of a loop over ``row_at``."""
    return arrays


@compiled_form(unpack)
def _compiled_unpack(arrays: Any) -> Any:
    kind = getattr(arrays, "arrays", arrays)
    fields = ", ".join(f"arrays.{name}" for name in kind.fields)
    return define(f"def unpacked(arrays: Any): return cls({fields})", cls=kind.instance_class)


def is_compiled(function: Any) -> bool:
    """Return whether a kernel is compiled; it is plain Python where JIT is disabled."""
    return hasattr(function, "compile")
