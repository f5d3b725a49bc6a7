"""New processes: importable modules, pickled functions, and a start without the caller's script."""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

MAIN = ("__main__", "__mp_main__")  # names of the script or notebook that a process runs
# Modules of loaders that every Python has; import hooks that a program installed are not there in a new process
_LOADERS = {"_frozen_importlib", "_frozen_importlib_external", "zipimport", "builtins"}
_lock = threading.RLock()


def available_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class NotImportable(ValueError):
    """Error about something that a new process cannot import."""

    def __init__(self, what: str) -> None:
        super().__init__(f"workers: other processes cannot import {what}; define it in a module, or use workers=1")


def is_importable(name: str) -> bool:
    """Return whether a new process finds the module that this process has under a name.

    It finds no script, no notebook, no module that was made by code, and none that only an import hook can load.
    A module that is not loaded counts as importable, as whoever loads it says what is wrong.
    """
    return name not in MAIN and (name not in sys.modules or _is_found(name, sys.modules[name]))


@lru_cache(maxsize=256)
def _is_found(name: str, module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    if spec is None or type(spec.loader).__module__ not in _LOADERS:
        return False
    parent = name.rpartition(".")[0]
    path = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    for finder in sys.meta_path:
        again = finder.find_spec(name, path)
        if again is not None:
            return again.origin == spec.origin
    return False


class _Pickler(pickle.Pickler):
    """Refuses functions and classes that a new process cannot import."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (type, FunctionType, BuiltinFunctionType)):
            module = value.__module__
            if module is not None and not is_importable(module):
                raise NotImportable(f"{module}.{value.__qualname__}")
        return NotImplemented


def pack(value: object) -> bytes:
    """Return a value as bytes that a new process can turn back into it.

    Raises:
        NotImportable: If a function or a class in it is defined in a script, a notebook or another function.
    """
    stream = io.BytesIO()
    try:
        _Pickler(stream).dump(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:  # depends on the version of Python
        raise NotImportable(str(error)) from None
    return stream.getvalue()


def is_packable(value: object) -> bool:
    """Return whether ``pack`` accepts a value."""
    try:
        pack(value)
    except NotImportable:
        return False
    return True


def call_packed(job: bytes) -> Any:
    """Call a function in a new process, with an error that can be sent back.

    Args:
        job: The function, its arguments and its keyword arguments, packed.

    Raises:
        RuntimeError: With class and message of the function's error, if that cannot be packed.
    """
    try:
        function, args, kwargs = pickle.loads(job)
        return function(*args, **kwargs)
    except Exception as error:
        if _can_return(error):
            raise
        text = f"{type(error).__name__}: {error}"
    raise RuntimeError(text)


def _can_return(error: Exception) -> bool:
    try:
        return isinstance(pickle.loads(pickle.dumps(error)), type(error))
    except Exception:  # classes of errors may ask for other arguments than they pass on
        return False


def pack_call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> bytes:
    """Return a call for ``call_packed``."""
    return pack((function, args, kwargs))


@contextmanager
def caller_hidden() -> Iterator[None]:
    """Start processes that do not run the caller's script: ``multiprocessing`` finds no name of one to import.

    They also start with Ctrl+C blocked, as they inherit the mask, so that their imports are not interrupted.
    """
    main = sys.modules["__main__"]
    with _lock, _interrupts_held_back():
        kept = {name: getattr(main, name) for name in ("__spec__", "__file__") if hasattr(main, name)}
        try:
            for name in kept:
                setattr(main, name, None)
            yield
        finally:
            for name, value in kept.items():
                setattr(main, name, value)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
