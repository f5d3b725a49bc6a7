"""Functions that run directly after a module is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_pending: dict[str, Callable[[], None]] = {}


class _HookFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module that hooks wait for, with a loader that calls them."""
        others = (finder for finder in sys.meta_path if finder is not self) if fullname in _pending else ()
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            if hook := _pending.pop(fullname, None):
                hook()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_finder = _HookFinder()


def after_import(module: str, hook: Callable[[], None]) -> None:
    """Call a function now if a top-level module is imported, else directly after its first import.

    Args:
        module: Name of the module.
        hook: Called at most once; it replaces an earlier one that has not been called yet.
    """
    if module in sys.modules:
        hook()
        return
    _pending[module] = hook
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
