"""Compiler options and cache policy of every kernel; only this file and ``_bound`` import numba.

Kernels release the GIL, so that a batch can be split over threads without compiling a second, parallel version:
parallel kernels compile three times slower and must not be cached by several processes.

They are cached on disk by the sources of all kernels together. Numba's own cache looks only at the file of the kernel
that is called, so that a caller keeps the old code of an edited rule in another file, and it takes no notice of
``NUMBA_BOUNDSCHECK`` (both reproduced on 0.68.1). The folder is below ``NUMBA_CACHE_DIR``, else below the package's
``__pycache__``, else below the user's cache. Every compiled version is one file with its digest, written at once, so
that processes may share a folder and a damaged file is compiled again instead of being run.

Kernels run without numba's reference counting (``_nrt=False``): every view of an array row would otherwise cost two
atomic operations, and a step takes dozens of views. Measured on one step with mask and features:
0.39 us instead of 2.9 us. The price is that a kernel cannot allocate, so callers pass scratch memory, and that an
array is copied by a loop, not by slice assignment; numba refuses to compile anything else.

LLVM must inline every call (``forceinline``). It would rather not where a call passes tables of arrays, each of which
is a handful of arguments, and then passing them costs more than the rules do. Measured for steps of
three games in a batch of 1024: 67 ns instead of 458 (with observations 250 instead of 690), 205 instead of 425, 345
instead of 495; compile times stay as they were.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import event, serialize
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.registry import CPUDispatcher

PACKAGE = Path(__file__).resolve().parent
_config: Any = numba.config
WEEK = 7 * 24 * 3600.0

_OPTIONS: dict[str, Any] = {
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


# ------------------------------------------------------------------------------------------- the cache


@functools.cache
def source_key(folder: Path) -> str:
    """Hash all that decides what the kernels of a folder are compiled to: sources, compilers, bounds checks.

    Sources are files with kernels in them and the constants that kernels are compiled with; in other people's folders
    all Python files, but none further down.
    """
    own = folder == PACKAGE
    mode = (numba.__version__, sys.implementation.cache_tag, _config.BOUNDSCHECK)
    digest = hashlib.sha256(repr((*mode, "" if own else source_key(PACKAGE))).encode())
    for path in sorted(folder.rglob("*.py") if own else folder.glob("*.py")):
        text = path.read_bytes()
        if not own or b"_jit" in text or path.name == "constants.py":
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(text)
    return digest.hexdigest()[:16]


def _parents() -> Iterator[Path]:
    """Yield the places for cache folders, the best one first."""
    if _config.CACHE_DIR:
        yield Path(_config.CACHE_DIR)
        return
    yield PACKAGE / "__pycache__"
    with contextlib.suppress(RuntimeError):  # there is no home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "collab-overcooked"


@functools.cache
def _cache_folder(key: str) -> Path | None:
    """Return the folder for kernels of some sources; None, with a warning, if none can be written."""
    for parent in _parents():
        folder = parent / f"kernels-{key}"
        with contextlib.suppress(OSError):
            if not folder.is_dir():
                folder.mkdir(parents=True)
                _forget_old_sources(parent)
            tempfile.TemporaryFile(dir=folder).close()
            os.utime(folder)  # its age is the time since its last use
            return folder
    _warn("no folder for compiled kernels can be written; set NUMBA_CACHE_DIR to one")
    return None


def _forget_old_sources(parent: Path) -> None:
    """Delete the kernels of sources that nobody has run for a week."""
    for folder in parent.glob("kernels-????????????????"):
        if time.time() - folder.stat().st_mtime > WEEK:
            shutil.rmtree(folder, ignore_errors=True)


def _warn(problem: str) -> None:
    warnings.warn(f"kernels are compiled anew in each process: {problem}", RuntimeWarning, stacklevel=2)


class KernelCache(_Cache):
    """Compiled versions of one kernel on disk; whatever is wrong there ends in compiling.

    Args:
        function: The kernel in Python.
        inner: Whether the versions are those that other kernels call.
    """

    def __init__(self, function: Any, inner: bool = False) -> None:
        path = Path(function.__code__.co_filename).resolve()
        self._home = PACKAGE if path.is_relative_to(PACKAGE) else path.parent
        self._name = f"{path}:{function.__qualname__}:{function.__code__.co_firstlineno}:{inner}"
        self._label = f"{path.stem}.{function.__name__}"
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """Return the folder of the files."""
        folder = _cache_folder(source_key(self._home)) if self._enabled else None
        return None if folder is None else str(folder)

    def _file(self, signature: Any, codegen: Any) -> Path | None:
        if self.cache_path is None:
            return None
        types = getattr(signature, "args", signature)
        enums = [each.instance_class for each in types if hasattr(each, "instance_class")]  # told apart by name only
        homes = [f"{own.__module__}.{own.__qualname__}" for own in enums]
        about = hashlib.sha256(f"{self._name} {signature} {homes} {codegen.magic_tuple()}".encode()).hexdigest()
        return Path(self.cache_path) / f"{self._label}-{about[:24]}.nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled version, None if there is none or it is damaged."""
        target_context.refresh()
        file = self._file(sig, target_context.codegen())
        try:
            if file is None or not file.exists():
                return None
            content = file.read_bytes()
            if hashlib.sha256(content[32:]).digest() != content[:32]:
                raise ValueError("its digest is another one")
            return CompileResult._rebuild(target_context, *pickle.loads(content[32:]))
        except Exception as problem:  # what unpickling damaged files raises cannot be listed
            warnings.warn(f"compiled kernel {file} cannot be used ({problem}); compiling", RuntimeWarning, stacklevel=2)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled version."""
        file = self._file(sig, data.codegen)
        if file is None or data.library.has_dynamic_globals:
            return
        content = serialize.dumps(data._reduce())
        draft = file.with_suffix(f".{os.getpid()}-{time.monotonic_ns()}.tmp")
        try:
            draft.write_bytes(hashlib.sha256(content).digest() + content)
            draft.replace(file)
        except OSError as problem:
            self.disable()
            draft.unlink(missing_ok=True)
            _warn(f"{draft.name} cannot be written ({problem})")

    def enable(self) -> None:
        """Read and write files."""
        self._enabled = True

    def disable(self) -> None:
        """Leave files alone."""
        self._enabled = False

    def flush(self) -> None:
        """Do nothing: files of other sources are never read."""


class Kernel(CPUDispatcher):
    """A kernel that Python and other kernels call.

    What other kernels call is compiled apart, without the wrapper that turns Python objects into arguments. With tables
    of arrays as arguments the wrapper takes a quarter of the time of compiling, and most kernels never need it.
    """

    inner: Any

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for a compiled caller."""
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Return what a compiled caller links to."""
        return self.inner.get_overload(sig)


def kernel(function: Any) -> Any:
    """Compile a function that neither allocates nor touches Python objects, cached on disk, releasing the GIL."""
    njit: Any = numba.njit  # its published types know fewer options than it takes
    compiled = njit(**_OPTIONS)(function)
    if is_compiled(compiled):
        inner = njit(no_cpython_wrapper=True, **_OPTIONS)(function)
        compiled.__class__, compiled.inner = Kernel, inner
        compiled._cache, inner._cache = KernelCache(function), KernelCache(function, inner=True)
    return compiled


def is_compiled(function: Any) -> bool:
    """Tell whether a kernel is compiled; it is plain Python where JIT is switched off."""
    return hasattr(function, "compile")
