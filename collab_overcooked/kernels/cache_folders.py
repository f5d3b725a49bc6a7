"""Folders of compiled kernels: one for each game and version of its sources.

The key of a folder covers the kernels of the game, the modules they import, the kernels shared by all games, and the
compiler. It is computed from syntax trees without docstrings, so that an edited comment recompiles nothing and an
edited rule recompiles one game. Numba's own cache looks only at the file of the called kernel, so that a caller keeps
the old code of an edited rule in another file, and it ignores ``NUMBA_BOUNDSCHECK`` (both reproduced on 0.68.1). The
folders are below ``NUMBA_CACHE_DIR``, else below the package's ``__pycache__``, else below the user's cache.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba

PACKAGE = Path(__file__).resolve().parents[1]
GAMES = PACKAGE / "games"
COMPILER = tuple(PACKAGE / "kernels" / f"{name}.py" for name in ("jit", "bound", "addresses", "caching"))
WEEK = 7 * 24 * 3600.0
_config: Any = numba.config


@functools.cache
def source_key(folder: Path) -> str:
    """Hash the inputs of compilation for the kernels of a folder: sources, compiler and its options.

    Args:
        folder: Folder as returned by ``folder_of``.
    """
    mode = (numba.__version__, sys.implementation.cache_tag, _config.BOUNDSCHECK, int(_config.OPT))
    digest = hashlib.sha256(repr((*mode, "" if folder == PACKAGE else source_key(PACKAGE))).encode())
    for path, tree in sorted(kernel_sources(folder).items()):
        digest.update(f"{path.relative_to(folder).as_posix()} {ast.dump(tree)}".encode())
    return digest.hexdigest()[:16]


def folder_of(path: Path) -> Path:
    """Return the folder whose sources decide about a module's kernels: a game, this package, or another package."""
    if path.is_relative_to(GAMES) and path.parent != GAMES:
        return GAMES / path.relative_to(GAMES).parts[0]
    if path.is_relative_to(PACKAGE):
        return PACKAGE
    folder = path.parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def kernel_sources(folder: Path) -> dict[Path, ast.Module]:
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
def cache_folder(key: str) -> Path | None:
    """Return the folder of compiled kernels with a key, made if need be; None, with a warning, if none is writable."""
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
    warn_of_recompiling("no cache folder is writable; set NUMBA_CACHE_DIR to a writable one")
    return None


def _forget_old_sources(parent: Path) -> None:
    for folder in parent.glob("kernels-????????????????"):
        if time.time() - folder.stat().st_mtime > WEEK:
            shutil.rmtree(folder, ignore_errors=True)


def warn_of_recompiling(problem: str) -> None:
    """Warn that kernels are not kept."""
    warnings.warn(f"kernels are compiled again in each process: {problem}", RuntimeWarning, stacklevel=2)
