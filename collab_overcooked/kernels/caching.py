"""Compiler of kernels and cache of their compiled versions, built on private parts of numba 0.68.

Every compiled version is a file with its digest, written atomically: processes may share a folder, and a kernel whose
file is damaged is compiled again.

Since callers inline everything (see ``jit``), versions for other kernels are neither optimised nor translated into
machine code by themselves, which takes a third off the time of a first step.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import os
import pickle
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import event, serialize, types
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompileResult
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target

from collab_overcooked.kernels.cache_folders import (
    PACKAGE,
    cache_folder,
    folder_of,
    kernel_sources,
    source_key,
    warn_of_recompiling,
)


class _Notice(event.Listener):
    """Line on a terminal that says which kernels compile, and how far it is."""

    def __init__(self) -> None:
        self._depth = 0
        self._counts = Counter[Path]()
        self._is_shown = False

    def on_start(self, event: Any) -> None:
        """Show the number of kernels of a folder so far."""
        self._depth += 1
        cache = getattr(event.data.get("dispatcher"), "_cache", None)  # other packages compile, too
        if isinstance(cache, KernelCache) and sys.stderr.isatty():
            self._counts[cache.folder] += 1
            count, most = self._counts[cache.folder], _count_kernels(cache.folder)
            progress = f"{count} of at most {most} kernels of {cache.folder.name}"
            self._is_shown = True
            print(f"\rcompiling, once for this version: {progress}\033[K", end="", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Remove the line after the outermost compilation."""
        self._depth -= 1
        if self._depth == 0 and self._is_shown:
            self._is_shown = False
            print("\r\033[K", end="", file=sys.stderr, flush=True)


event.register("numba:compile", _Notice())


@functools.cache
def _count_kernels(folder: Path) -> int:
    nodes = [node for tree in kernel_sources(folder).values() for node in ast.walk(tree)]
    decorated = (node for node in nodes if isinstance(node, ast.FunctionDef) and node.decorator_list)
    courses = sum(isinstance(node, ast.Call) and getattr(node.func, "id", "") == "BatchKernels" for node in nodes)
    kernels = sum(any(getattr(by, "id", "") == "kernel" for by in node.decorator_list) for node in decorated)
    return kernels + 4 * courses  # whose loops are kernels, too


class KernelCache(_Cache):
    """Compiled versions of one kernel on disk; unreadable or damaged files fall back to compiling.

    Args:
        function: The kernel as a Python function.
        *inner: Functions of kernels in its closure, by whose sources it is cached, too.
        is_called: Whether this caches the versions called by other kernels.
    """

    def __init__(self, function: Any, *inner: Any, is_called: bool = False) -> None:
        path = Path(function.__code__.co_filename).resolve()
        self.folder = folder_of(path)
        folders = {folder_of(Path(one.__code__.co_filename).resolve()) for one in inner}
        self._others = sorted(folders - {self.folder, PACKAGE})
        name = function.__qualname__
        if "<locals>" in name:  # local functions may share a qualified name
            name += f":{function.__code__.co_firstlineno}"
        self._name = f"{path.relative_to(self.folder).as_posix()}:{name}:{is_called}"
        self._label = f"{path.stem}.{function.__name__}"
        self._enabled = True

    @property
    def cache_path(self) -> str | None:
        """Folder of the cached files."""
        folder = cache_folder(source_key(self.folder)) if self._enabled else None
        return None if folder is None else str(folder)

    def _file(self, signature: Any, codegen: Any) -> Path | None:
        if self.cache_path is None:
            return None
        classes = list(map(_describe_class, getattr(signature, "args", signature)))
        others = list(map(source_key, self._others))
        key = f"{self._name} {others} {signature} {classes} {codegen.magic_tuple()}"
        about = hashlib.sha256(key.encode()).hexdigest()
        return Path(self.cache_path) / f"{self._label}-{about[:24]}.nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled version; None if it is missing or damaged."""
        target_context.refresh()
        file = self._file(sig, target_context.codegen())
        try:
            if file is None or not file.exists():
                return None
            content = file.read_bytes()
            if hashlib.sha256(content[32:]).digest() != content[:32]:
                raise ValueError("its digest does not match")
            return CompileResult._rebuild(target_context, *pickle.loads(content[32:]))
        except Exception as problem:  # unpickling a damaged file can raise almost anything
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
            warn_of_recompiling(f"{draft.name} cannot be written ({problem})")

    def enable(self) -> None:
        """Enable the cache."""
        self._enabled = True

    def disable(self) -> None:
        """Disable the cache."""
        self._enabled = False

    def flush(self) -> None:
        """Do nothing: files of other sources are never read."""


def _describe_class(argument: Any) -> str:
    cls = getattr(getattr(argument, "arrays", argument), "instance_class", None)
    if cls is None:
        return ""
    fields = getattr(cls, "_field_defaults", None) or getattr(cls, "_fields", "")  # loops are made of declarations
    return f"{cls.__module__}.{cls.__qualname__}{fields}"


class Kernel(CPUDispatcher):
    """A kernel that can be called from Python and from other kernels.

    Versions for other kernels are compiled separately, without the wrapper that unboxes Python arguments. With tables
    of arrays as arguments the wrapper takes a quarter of the compile time, and most kernels never need it.
    """

    inner: Any

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for a caller that is a kernel itself; for one type of integer and boolean, whatever it passes."""
        return self.inner.get_call_template(tuple(map(_widened, args)), kws)

    def get_overload(self, sig: Any) -> Any:
        """Return the entry point that a compiled caller links to."""
        return self.inner.get_overload(sig)


class _InnerLibrary(JITCodeLibrary):
    """Library of a kernel for inlining: the calling kernel optimises it and translates it to machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()


class _InnerCodegen(JITCPUCodegen):
    _library_class = _InnerLibrary

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: there is no code that could raise an exception with it."""


class _InnerContext(CPUContext):
    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        library._ensure_finalized()
        return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname, "", 0, env, (library,))


class _InnerTarget(CPUTarget):
    @property
    def target_context(self) -> Any:
        return _inner_context()

    @property
    def typing_context(self) -> Any:
        return cpu_target.typing_context


_INNER = _InnerTarget("cpu")


@functools.cache
def _inner_context() -> Any:
    context = copy.copy(cpu_target.target_context)  # with the same tables, so that other kernels find the versions
    codegen = copy.copy(context.codegen())
    context.__class__, codegen.__class__ = _InnerContext, _InnerCodegen
    context._internal_codegen = codegen
    return context


def _widened(kind: Any) -> Any:
    if isinstance(kind, types.BooleanLiteral):
        return types.boolean
    is_signed = isinstance(kind, types.IntegerLiteral | types.IntEnumMember) or getattr(kind, "signed", False)
    return types.int64 if is_signed else kind


def make_kernel(compiled: Any, called: Any, function: Any, *inner: Any) -> None:
    """Turn two dispatchers of one function into kernels: the first for calls from Python, the second from kernels.

    Args:
        compiled: Dispatcher of the function, which becomes a ``Kernel``.
        called: Dispatcher of the same function without a wrapper for Python.
        function: The function.
        *inner: Functions of kernels in its closure.
    """
    compiled.__class__, compiled.inner = Kernel, called
    called.targetctx = _inner_context()
    called.targetdescr = _INNER
    called._compiler.targetdescr = _INNER
    compiled._cache = KernelCache(function, *inner)
    called._cache = KernelCache(function, *inner, is_called=True)
