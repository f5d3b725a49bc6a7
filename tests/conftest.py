"""Fixtures for all tests, and where their compiled kernels are kept."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

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

pytest_plugins = ["browser_fixtures", "policy_fixtures", "run_fixtures"]  # imported after the line above


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-seeds", type=int, default=1, help="seeds of every random attack (make test-attacks)")
    parser.addoption("--attack-first-seed", type=int, default=0, help="first seed of every random attack")
    parser.addoption("--no-skips", action="store_true", help="fail tests that are skipped (make test-all)")


MAY_SKIP = (  # beginnings of reasons that `make test-all` accepts: what no target could provide
    "needs the recorded games in ../shared/golden",
    "recorded facts are not here",
    "needs POSIX signals",
    "needs /dev/full",
    "kernels are not compiled",
    "there is no Caddy on this machine",  # system packages, which no target installs
    "Graphviz is not installed",
)


def fail_if_skipped(config: pytest.Config, report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure where all that tests need must be installed."""
    if report.skipped and config.getoption("--no-skips") and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not reason.removeprefix("Skipped: ").startswith(MAY_SKIP):
            report.outcome, report.longrepr = "failed", f"skipped under --no-skips: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fail_if_skipped(item.config, report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_if_skipped(collector.config, report)
    return report


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `attack_seed` once a seed."""
    if "attack_seed" in metafunc.fixturenames:
        first, count = (metafunc.config.getoption(name) for name in ("--attack-first-seed", "--attack-seeds"))
        metafunc.parametrize("attack_seed", range(first, first + count))


# Games in the order in which their tests are given out: whose kernels take longest to compile come first.
GAMES = ("house", "overcooked", "collab_overcooked", "cuisineworld", "rush", "rooms", "craft")


def part_of(nodeid: str) -> str:
    """Return what is given to one worker as a whole: all tests of a game, or else one file."""
    path = nodeid.partition("::")[0]
    return "/".join(path.split("/")[:3]) if path.startswith("tests/games/") else path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort parts: games, then files, those with most tests first."""
    sizes = Counter(part_of(item.nodeid) for item in items)
    last = len(GAMES)
    ranks = {part: GAMES.index(name) if (name := part.rpartition("/")[2]) in GAMES else last for part in sizes}
    items.sort(key=lambda item: (ranks[part := part_of(item.nodeid)], -sizes[part], part))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give all tests of a game to one worker: two would compile the same kernels at the same time."""
    from xdist.scheduler import LoadFileScheduling

    class LoadPartScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return part_of(nodeid)

    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # parts are sorted already
    return LoadPartScheduling(config, log)


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder with recorded games of the originals; it lies beside the repository and is not a part of it."""
    path = ROOT.parent / "shared" / "golden"
    if not path.is_dir():
        pytest.skip("needs the recorded games in ../shared/golden, which are not part of the repository")
    return path
