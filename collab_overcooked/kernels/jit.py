"""Compiler options and cache policy of all kernels; only this module and ``bound`` import numba.

Kernels release the GIL, so that a batch can be split over threads without compiling a second, parallel version:
parallel kernels compile three times slower and must not be cached by several processes.

Compiled kernels are cached on disk, one folder per game and version of its sources. The key of a folder covers the
kernels of the game, the modules they import, the kernels shared by all games, and the compiler. It is computed from
syntax trees without docstrings, so that an edited comment recompiles nothing and an edited rule recompiles one game.
Numba's own cache looks only at the file of the called kernel, so that a caller keeps the old code of an edited rule in
another file, and it ignores ``NUMBA_BOUNDSCHECK`` (both reproduced on 0.68.1). The folders are below
``NUMBA_CACHE_DIR``, else below the package's ``__pycache__``, else below the user's cache. Every compiled version is a
file with its digest, written atomically: processes may share a folder, and a kernel whose file is damaged is compiled
again.

Kernels run without numba's reference counting (``_nrt=False``): every view of an array row would otherwise cost two
atomic operations, and a step takes dozens of views. Measured on one step with mask and features:
0.39 us instead of 2.9 us. The price is that a kernel cannot allocate, so callers pass scratch memory, and that an
array is copied by a loop, not by slice assignment; numba refuses to compile anything else.

LLVM must inline every call (``forceinline``). By default it does not inline calls that pass tables of arrays, because
each table counts as several arguments; passing these then costs more than the rules do. Measured for steps of
three games in a batch of 1024: 67 ns instead of 458 (with observations 250 instead of 690), 205 instead of 425, 345
instead of 495; compile times stay as they were. Since callers inline everything, versions for other kernels are neither
optimised nor translated into machine code by themselves, which takes a third off the time of a first step.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import event, serialize, types
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import CompileResult
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher, CPUTarget, cpu_target
from numba.extending import overload

PACKAGE = Path(__file__).resolve().parents[1]
GAMES = PACKAGE / "games"
COMPILER = (PACKAGE / "kernels" / "jit.py", PACKAGE / "kernels" / "bound.py")
_config: Any = numba.config
WEEK = 7 * 24 * 3600.0

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "forceinline": True,
    "no_cfunc_wrapper": True,  # only needed for calls from C
}

__all__ = ["compile_seconds", "is_compiled", "kernel", "row_at", "unpack"]


class _Stopwatch(event.Listener):
    """Sum of the processor time of compilations; nested compilations count once."""

    def __init__(self) -> None:
        self.seconds, self._depth, self._since = 0.0, 0, 0.0

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


class _Notice(event.Listener):
    """Line on a terminal that says which kernels compile, and how far it is."""

    def __init__(self) -> None:
        self._depth, self._counts, self._is_shown = 0, Counter[Path](), False

    def on_start(self, event: Any) -> None:
        """Show the number of kernels of a folder so far."""
        self._depth += 1
        cache = getattr(event.data.get("dispatcher"), "_cache", None)  # other packages compile, too
        if isinstance(cache, KernelCache) and sys.stderr.isatty():
            self._counts[cache.folder] += 1
            of = (
                f"{self._counts[cache.folder]} of at most {_count_kernels(cache.folder)} kernels of {cache.folder.name}"
            )
            self._is_shown = True
            print(f"\rcompiling, once for this version: {of}\033[K", end="", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Remove the line after the outermost compilation."""
        self._depth -= 1
        if self._depth == 0 and self._is_shown:
            self._is_shown = False
            print("\r\033[K", end="", file=sys.stderr, flush=True)


event.register("numba:compile", _Notice())


@functools.cache
def _count_kernels(folder: Path) -> int:
    nodes = [node for tree in _kernel_sources(folder).values() for node in ast.walk(tree)]
    decorated = (node for node in nodes if isinstance(node, ast.FunctionDef) and node.decorator_list)
    courses = sum(isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Course" for node in nodes)
    kernels = sum(any(getattr(by, "id", "") == "kernel" for by in node.decorator_list) for node in decorated)
    return kernels + 4 * courses  # whose loops are kernels, too


def compile_seconds() -> float:
    """Return the processor time spent compiling so far, excluding the loading of cached kernels."""
    return _compiling.seconds


@functools.cache
def source_key(folder: Path) -> str:
    """Hash the inputs of compilation for the kernels of a folder: sources, compiler and its options.

    Args:
        folder: Folder as returned by ``_folder_of``.
    """
    mode = (numba.__version__, sys.implementation.cache_tag, _config.BOUNDSCHECK, int(_config.OPT))
    digest = hashlib.sha256(repr((*mode, "" if folder == PACKAGE else source_key(PACKAGE))).encode())
    for path, tree in sorted(_kernel_sources(folder).items()):
        digest.update(f"{path.relative_to(folder).as_posix()} {ast.dump(tree)}".encode())
    return digest.hexdigest()[:16]


def _folder_of(path: Path) -> Path:
    if path.is_relative_to(GAMES) and path.parent != GAMES:
        return GAMES / path.relative_to(GAMES).parts[0]
    if path.is_relative_to(PACKAGE):
        return PACKAGE
    folder = path.parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def _kernel_sources(folder: Path) -> dict[Path, ast.Module]:
    """Return the syntax trees, without docstrings, of the modules with kernels and of their imports from ``folder``.

    Outside this package all modules count, because their kernels may be created in unknown ways.
    """
    in_package = folder.is_relative_to(PACKAGE)
    files = list(folder.rglob("*.py") if in_package or (folder / "__init__.py").exists() else folder.glob("*.py"))
    if folder == PACKAGE:
        files = [path for path in files if not path.is_relative_to(GAMES)]
    modules = {".".join(path.relative_to(folder.parent).with_suffix("").parts): path for path in files}
    pending = [path for path in files if not in_package or path in COMPILER or b"@kernel" in path.read_bytes()]
    trees: dict[Path, ast.Module] = {}
    while pending:
        path = pending.pop()
        if path not in trees:
            trees[path] = _without_docstrings(ast.parse(path.read_bytes(), filename=str(path)))
            if path not in COMPILER:
                pending += [modules[name] for name in _imported_names(trees[path], path, folder) if name in modules]
    return trees


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return tree


def _imported_names(tree: ast.Module, path: Path, folder: Path) -> Iterator[str]:
    root = folder.parent.relative_to(PACKAGE.parent).parts if folder.is_relative_to(PACKAGE) else ()
    package = (*root, *path.relative_to(folder.parent).parts[:-1])
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            module = (*base, *(node.module or "").split(".")) if node.module else base
            names = [module, *((*module, alias.name) for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        else:
            continue
        yield from (".".join(name[len(root) :]) for name in names if name[: len(root)] == root)


def _parents() -> Iterator[Path]:
    if _config.CACHE_DIR:
        yield Path(_config.CACHE_DIR)
        return
    yield PACKAGE / "__pycache__"
    with contextlib.suppress(RuntimeError):  # the user has no home folder
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "collab-overcooked"


@functools.cache
def _cache_folder(key: str) -> Path | None:
    for parent in _parents():
        folder = parent / f"kernels-{key}"
        with contextlib.suppress(OSError):
            is_new = not folder.is_dir()
            folder.mkdir(parents=True, exist_ok=True)  # another process may have created it in between
            if is_new:
                _forget_old_sources(parent)
            tempfile.TemporaryFile(dir=folder).close()
            os.utime(folder)  # its age is the time since its last use
            return folder
    _warn("no cache folder is writable; set NUMBA_CACHE_DIR to a writable one")
    return None


def _forget_old_sources(parent: Path) -> None:
    for folder in parent.glob("kernels-????????????????"):
        if time.time() - folder.stat().st_mtime > WEEK:
            shutil.rmtree(folder, ignore_errors=True)


def _warn(problem: str) -> None:
    warnings.warn(f"kernels are compiled again in each process: {problem}", RuntimeWarning, stacklevel=2)


class KernelCache(_Cache):
    """Compiled versions of one kernel on disk; unreadable or damaged files fall back to compiling.

    Args:
        function: The kernel as a Python function.
        *inner: Functions of kernels in its closure, by whose sources it is cached, too.
        is_called: Whether this caches the versions called by other kernels.
    """

    def __init__(self, function: Any, *inner: Any, is_called: bool = False) -> None:
        path = Path(function.__code__.co_filename).resolve()
        self.folder = _folder_of(path)
        folders = {_folder_of(Path(one.__code__.co_filename).resolve()) for one in inner}
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
        folder = _cache_folder(source_key(self.folder)) if self._enabled else None
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
            _warn(f"{draft.name} cannot be written ({problem})")

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
    return "" if cls is None else f"{cls.__module__}.{cls.__qualname__}{getattr(cls, '_fields', '')}"


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
    """Version for other kernels, which inline it: they optimise it and translate it into machine code."""

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


def kernel(function: Any, *inner: Any) -> Any:
    """Compile a function that neither allocates nor uses Python objects; cached on disk, without the GIL.

    Args:
        function: The function.
        *inner: Functions of kernels that it calls from its closure, which may be from other folders.
    """
    njit: Any = numba.njit  # its type stubs lack some of its options
    compiled = njit(**_OPTIONS)(function)
    if is_compiled(compiled):
        called = njit(no_cpython_wrapper=True, **_OPTIONS)(function)
        compiled.__class__, compiled.inner = Kernel, called
        called.targetctx, called.targetdescr, called._compiler.targetdescr = _inner_context(), _INNER, _INNER
        compiled._cache, called._cache = KernelCache(function, *inner), KernelCache(function, *inner, is_called=True)
    return compiled


def row_at(arrays: Any, b: Any) -> Any:
    """Return the arrays of one environment, as views: a NamedTuple like ``arrays``, without their leading axis."""
    return type(arrays)(*(array[b] for array in arrays))


@overload(row_at, jit_options=_OPTIONS)  # type: ignore[arg-type]
def _compiled_row_at(arrays: Any, b: Any) -> Any:
    kind, scope = getattr(arrays, "arrays", arrays), dict[str, Any]()  # of the address that a bound kernel gets
    views = ", ".join(f"arrays.{name}[b]" for name in kind.fields)
    exec(f"def row(arrays: Any, b: Any): return cls({views})", {"cls": kind.instance_class}, scope)
    return scope["row"]


def unpack(arrays: Any) -> Any:
    """Return the arrays of a bound kernel, read from memory once instead of in every pass of a loop over ``row_at``."""
    return arrays


@overload(unpack, jit_options=_OPTIONS)  # type: ignore[arg-type]
def _compiled_unpack(arrays: Any) -> Any:
    kind, scope = getattr(arrays, "arrays", arrays), dict[str, Any]()
    fields = ", ".join(f"arrays.{name}" for name in kind.fields)
    exec(f"def unpacked(arrays: Any): return cls({fields})", {"cls": kind.instance_class}, scope)
    return scope["unpacked"]


def is_compiled(function: Any) -> bool:
    """Return whether a kernel is compiled; it is plain Python where JIT is disabled."""
    return hasattr(function, "compile")
