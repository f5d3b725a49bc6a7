"""Fixtures for all tests, and where their compiled kernels are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("tests", deadline=None)  # one example may compile kernels, or meet a busy machine
settings.load_profile("tests")

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "numba"


def use_cache_dir() -> None:
    """Keep kernels, here and in child processes, beside the checkout; must run before numba is imported."""
    if "numba" in sys.modules:
        raise RuntimeError("numba was imported before tests/conftest.py could choose its cache directory")
    os.environ["NUMBA_CACHE_DIR"] = str(CACHE)


use_cache_dir()

pytest_plugins = ["policy_fixtures", "run_fixtures"]  # imported after the line above


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-seeds", type=int, default=1, help="seeds of every random attack (make test-attacks)")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `attack_seed` once a seed."""
    if "attack_seed" in metafunc.fixturenames:
        metafunc.parametrize("attack_seed", range(metafunc.config.getoption("--attack-seeds")))


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder with recorded games of the originals; it lies beside the repository and is not a part of it."""
    path = ROOT.parent / "shared" / "golden"
    if not path.is_dir():
        pytest.skip("needs the recorded games in ../shared/golden, which are not part of the repository")
    return path
