"""Fixtures for all tests, and where their compiled kernels are kept."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("tests", deadline=None)  # one example may compile kernels, or meet a busy machine
settings.load_profile("tests")

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "collab_overcooked"
CACHE = ROOT / ".cache" / "numba"


def source_key() -> str:
    """Hash every Python file with kernels in it, and the constants that they are compiled with; names included."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_bytes()
        if b"_jit" in text or path.name in ("_jit.py", "constants.py"):
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(text)
    return digest.hexdigest()[:16]


def cache_dir() -> Path:
    """Choose where this process keeps compiled kernels.

    Three things make a cached kernel wrong or unsafe, and each is a part of the path:
    - the sources: numba looks only at the file of the kernel that is called, so that a caller keeps the old
      code of an edited rule in another file (reproduced on numba 0.68.1);
    - bounds checking: it is no part of numba's cache key, so that NUMBA_BOUNDSCHECK=1 loads unchecked code
      and checks nothing (reproduced on 0.68.1: an index of 400 into 4 values went unnoticed);
    - the process: two that write one cache at a time can crash (numba issues 4807 and 10128).
    """
    mode = "boundscheck" if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0") else "plain"
    return CACHE / source_key() / f"{mode}-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"


def forget_old_sources(max_age: float = 24 * 3600.0) -> None:
    """Delete the kernels of sources not tested for `max_age` seconds: a run still going on keeps its own."""
    for tree in CACHE.iterdir():
        if time.time() - tree.stat().st_mtime > max_age:
            shutil.rmtree(tree, ignore_errors=True)


def use_cache_dir() -> None:
    """Point numba, here and in child processes, at `cache_dir`; must run before numba is imported."""
    if "numba" in sys.modules:
        raise RuntimeError("numba was imported before tests/conftest.py could choose its cache directory")
    directory = cache_dir()
    directory.mkdir(parents=True, exist_ok=True)
    directory.parent.touch()  # its age is the time since its last use
    if "PYTEST_XDIST_WORKER" not in os.environ:
        forget_old_sources()
    os.environ["NUMBA_CACHE_DIR"] = str(directory)


use_cache_dir()

pytest_plugins = ["run_fixtures"]  # imported after the line above


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder with recorded games of the originals; it lies beside the repository and is not a part of it."""
    path = ROOT.parent / "shared" / "golden"
    if not path.is_dir():
        pytest.skip("needs the recorded games in ../shared/golden, which are not part of the repository")
    return path
