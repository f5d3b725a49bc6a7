"""Plug-ins: games, policies and metrics from other distributions and from users' modules and files.

Installed distributions provide them by entry points of three groups, which are loaded when an unknown name is looked
up or everything is listed. Modules and files are imported by `--import` and by the specs of policies that a command
line or a caller gives. A spec in a file or record imports nothing: whoever reads it must have named its module or file
before, see ``permit``. Worker processes import the same modules and files before they run jobs.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from collab_overcooked.io.files import file_digest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

NAMESPACE = "collab_overcooked"
ARCHIVE = ".zip"  # of Stable-Baselines3, whose files hold code
GAMES, POLICIES, METRICS = (f"{NAMESPACE}.{kind}" for kind in ("games", "policies", "metrics"))


class PluginWarning(UserWarning):
    """Warning about an installed plug-in that cannot be used."""


_lock = threading.RLock()  # reentrant: a plug-in may look up names while it is imported
_loaded: set[str] = set()  # groups
_origins: dict[tuple[str, str], str] = {}  # group and name -> distribution and version
_imports: dict[str, str] = {}  # module name -> module or file for workers to import
_permitted: set[str] = set()  # modules and files whose code specs may run
_state = {"quiet": False}  # in worker processes, whose parent has already warned


def load(group: str, register: Callable[[str, Any], None]) -> None:
    """Load all entry points of a group, once per process.

    A plug-in that cannot be loaded or registered gives one `PluginWarning` that names its distribution.

    Args:
        group: One of `GAMES`, `POLICIES`, `METRICS`.
        register: Called with the name and the object of each entry point; raises ValueError for an invalid one.
    """
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    with _lock:
        if group in _loaded:
            return
        _loaded.add(group)
        for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, distribution(entry))):
            _load_one(group, entry, register)


def _load_one(group: str, entry: EntryPoint, register: Callable[[str, Any], None]) -> None:
    try:
        other = _origins.get((group, entry.name))
        if other == distribution(entry):  # the same distribution, found twice on the path
            return
        if other is not None:
            raise ValueError(f"{other} has a plug-in of the same name, which is used instead")
        register(entry.name, entry.load())
        _origins[group, entry.name] = distribution(entry)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also SystemExit, and what code of others derives from BaseException
        if not _state["quiet"]:
            plugin = f"plug-in {entry.name!r} ({group}) of {distribution(entry)}"
            warnings.warn(
                _harmless(f"{plugin} cannot be used: {type(error).__name__}: {error}"), PluginWarning, stacklevel=4
            )


def distribution(entry: EntryPoint) -> str:
    """Return name and version of the distribution of an entry point."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown distribution"


def import_plugin(name: str) -> ModuleType | None:
    """Import a module or file that registers games, policies or metrics, here and in worker processes started later.

    Specs in files may name it from then on.

    Args:
        name: `package.module`, or the path of a `.py` file. The path of a `.zip` archive of Stable-Baselines3 imports
            nothing, but lets files name it.

    Returns:
        The module; None for an archive.

    Raises:
        ValueError: If it cannot be imported.
    """
    permit(name)
    if name.endswith(ARCHIVE):
        if not Path(name).is_file():
            raise ValueError(f"cannot import {name!r}: no such file")
        return None
    module = load_module(name)
    _imports[module.__name__] = str(Path(name).resolve()) if is_file(name) else name
    return module


def permit(name: str) -> None:
    """Let specs run the code of a module or file from now on, because a command line or a caller named it."""
    _permitted.add(_place(name))


def check_permitted(name: str) -> None:
    """Check that specs may run the code of a module or file.

    Raises:
        ValueError: If only a file or record names it.
    """
    if _place(name) not in _permitted:
        raise ValueError(
            f"unknown policy of {name!r}: texts in files import no code; if you trust this code, name it on the "
            f"command line, --import {name}, or in Python, collab_overcooked.plugins.import_plugin({name!r})"
        )


def _place(name: str) -> str:
    return name if is_module(name) else str(Path(name).resolve())


@dataclass(frozen=True)
class PluginImports:
    """Imports that worker processes repeat from their parent."""

    modules: tuple[str, ...]  # To import
    permitted: frozenset[str]  # Whose code specs may run


def imported() -> PluginImports:
    """Return the modules and files that worker processes must import, and modules that specs may name."""
    return PluginImports(tuple(_imports.values()), frozenset(_permitted))


def begin_worker(parent: PluginImports) -> None:
    """Import the parent process's modules and files, without repeating its warnings about broken plug-ins."""
    _state["quiet"] = True
    _permitted.update(parent.permitted)
    for name in parent.modules:
        import_plugin(name)


def is_file(name: str) -> bool:
    """Return whether a name is the path of a Python file rather than a module."""
    return name.endswith(".py")


def is_module(name: str) -> bool:
    """Return whether a name is the name of a module rather than the path of a file."""
    return all(part.isidentifier() for part in name.split(".")) and not name.endswith((".py", ARCHIVE))


def load_module(name: str) -> ModuleType:
    """Import `package.module`, or a `.py` file under its stem; a file's folder is appended to the module path.

    Raises:
        ValueError: The module cannot be imported.
    """
    try:
        return _load_file(Path(name)) if is_file(name) else importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # see ``_load_one``
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        hint = f"; for a file write {name}.py" if Path(f"{name}.py").is_file() else ""
        raise ValueError(f"cannot import {name!r}: {_harmless(reason)}{hint}") from error


def _harmless(text: str) -> str:
    from collab_overcooked.io.text import single_spaced  # loads more than an import of the package may

    return single_spaced(text)


def _load_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise ValueError("no such file")
    name = path.stem
    if not name.isidentifier():
        raise ValueError(f"the file's name without .py must be a Python name, not {name!r}")
    with _lock:
        if name in sys.modules and source_of(sys.modules[name]) == path:
            return sys.modules[name]
        spec = None if name in sys.modules else importlib.util.find_spec(name)
        if name in sys.modules or (spec is not None and Path(spec.origin or "").resolve() != path):
            raise ValueError(f"another module is called {name!r}; rename the file")
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))  # at the end, so that files beside it cannot shadow installed modules
        importlib.invalidate_caches()  # the file may have been written just before
        return importlib.import_module(name)


def source_of(module: ModuleType) -> Path | None:
    """Return the file of a module; None if it has none."""
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None


def identity(
    used: Iterable[tuple[str, str]] = (), modules: Iterable[str] = (), weights: Iterable[str] = (), imports: bool = True
) -> dict[str, str]:
    """Return the identity of the plug-ins of a run.

    Args:
        used: Group and name of the run's games and policies.
        modules: Modules or files whose classes the run uses.
        weights: Files of the run's networks.
        imports: Whether modules of ``--import`` belong to the run even if none of these comes from them.

    Returns:
        By name, the digest for imported modules and files and for weights, and the version for distributions.
    """
    versions = {module.__name__: _digest(module) for module in map(load_module, modules)}
    if imports:
        versions |= {name: _digest(sys.modules[name]) for name in _imports}
    versions |= {path: _digest_file(Path(path)) for path in weights}
    for key in used:
        if key in _origins:
            name, _, version = _origins[key].rpartition(" ")
            versions[name] = version
    return dict(sorted(versions.items()))


def _digest(module: ModuleType) -> str:
    path = source_of(module)
    if path is None or path.suffix != ".py":
        return str(getattr(module, "__version__", "unknown"))
    return _digest_file(path)


def _digest_file(path: Path) -> str:
    if not path.is_file():  # making the policy says what is wrong
        return "missing"
    return f"sha256:{file_digest(path)[:16]}"
