"""Fixtures for all tests, and where their compiled kernels are kept."""

from __future__ import annotations

import functools
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from collab_overcooked import registry  # which loads no compiler

settings.register_profile("tests", deadline=None)  # one example may compile kernels, or meet a busy machine
settings.load_profile("tests")

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "numba"


def use_cache_dir() -> None:
    """Keep kernels, here and in child processes, beside the checkout; must run before numba is imported."""
    if "numba" in sys.modules:
        raise RuntimeError("numba was imported before tests/conftest.py could choose its cache directory")
    os.environ["NUMBA_CACHE_DIR"] = str(CACHE)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of torch would wait for each other on a shared core


use_cache_dir()

pytest_plugins = [
    "support.browser_fixtures",
    "support.policy_fixtures",
    "support.run_fixtures",
]  # imported after the line above


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-seeds", type=int, default=1, help="seeds of every random attack (make test-attacks)")
    parser.addoption("--attack-first-seed", type=int, default=0, help="first seed of every random attack")
    parser.addoption("--seconds", help="name of this run in tests/seconds.json, which orders its tests")
    parser.addoption("--record-seconds", action="store_true", help="write them there (make test-seconds)")
    parser.addoption(
        "--split", type=float, default=float("inf"), help="least seconds of a test that is a part by itself"
    )
    parser.addoption("--shuffle", type=int, help="seed of a random order of all tests (make test-nightly)")
    parser.addoption("--no-skips", action="store_true", help="fail tests that are skipped (make test)")


MAY_SKIP = (  # beginnings of reasons that `make test` accepts: what no target could provide
    "needs the recorded games in ../shared/golden",
    "recorded facts are not here",
    "needs POSIX signals",
    "needs /dev/full",
    "kernels are not compiled",
    "there is no Caddy on this machine",  # system packages, which no target installs
    "there is no R on this machine",
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


# Seconds that each part of a run took when `make test-seconds` recorded them; they only decide the order.
SECONDS = ROOT / "tests" / "seconds.json"
GAME_FOLDERS = {record.id: f"tests/games/{record.game.split('.')[2]}" for record in registry.GAMES}


@functools.cache
def recorded_seconds(run: str | None) -> dict[str, float]:
    """Return the seconds of the parts of a run."""
    runs = json.loads(SECONDS.read_text("utf-8")) if SECONDS.exists() else {}
    return runs.get(run, {})


def part_of(nodeid: str, config: pytest.Config) -> str:
    """Return what is given to one worker as a whole: all tests of a game, which share kernels, or else one file.

    A test that was recorded with the seconds of ``--split`` or more is a part by itself, so that workers end together.
    """
    if recorded_seconds(config.getoption("--seconds")).get(nodeid, 0.0) >= config.getoption("--split"):
        return nodeid
    path, _, name = nodeid.partition("::")
    env_id = re.search(r"[-\[](\w+-v0)", name)
    if env_id and env_id[1] in GAME_FOLDERS:
        return GAME_FOLDERS[env_id[1]]
    return "/".join(path.split("/")[:3]) if path.startswith("tests/games/") else path


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort parts, the longest first: games, which compile the kernels for all other tests, then files."""
    seconds = recorded_seconds(config.getoption("--seconds"))

    def rank(item: pytest.Item) -> tuple[bool, float, str]:
        part = part_of(item.nodeid, config)
        return not part.startswith("tests/games/"), -seconds.get(part, 0.5), part

    items.sort(key=rank)
    if config.getoption("--shuffle") is not None:
        random.Random(config.getoption("--shuffle")).shuffle(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give all tests of a part to one worker: two would compile the kernels of a game at the same time."""
    from xdist.scheduler import LoadFileScheduling

    class LoadPartScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return part_of(nodeid, config)

    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # parts are sorted already
    return LoadPartScheduling(config, log)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the seconds of every part, where `make test-seconds` asks for them."""
    if not config.getoption("--record-seconds"):
        return
    tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                tests[report.nodeid] += report.duration
    recorded_seconds.cache_clear()
    runs = json.loads(SECONDS.read_text("utf-8")) if SECONDS.exists() else {}
    run, split = config.getoption("--seconds"), config.getoption("--split")
    runs[run] = {nodeid: value for nodeid, value in tests.items() if value >= split}
    SECONDS.write_text(json.dumps(runs), "utf-8")  # which decides what are parts
    parts: Counter[str] = Counter()
    for nodeid, value in tests.items():
        parts[part_of(nodeid, config)] += value
    runs[run] = {part: round(value, 1) for part, value in parts.most_common() if value >= 1}
    SECONDS.write_text(json.dumps(runs, indent=1) + "\n", "utf-8")


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder with recorded games of the originals; it lies beside the repository and is not a part of it."""
    path = ROOT.parent / "shared" / "golden"
    if not path.is_dir():
        pytest.skip("needs the recorded games in ../shared/golden, which are not part of the repository")
    return path
