"""The cache of compiled kernels: what is played is what the sources say, and trouble on disk ends in compiling."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from pathlib import Path

import numpy as np
import pytest
from numba.core import types
from support.covers import first

from collab_overcooked import registry
from collab_overcooked.kernels import cache_folders, caching
from collab_overcooked.kernels.addresses import ArraysAddress
from collab_overcooked.kernels.jit import kernel

RULE = """
from collab_overcooked.kernels.jit import kernel

@kernel
def rule(numbers):
    numbers[0] = {value}
"""
COMMENTED_RULE = """
'''Rules.'''

from collab_overcooked.kernels.jit import kernel

# A comment, and a docstring below.

@kernel
def rule(numbers):
    '''Write the value.'''
    numbers[0] = {value}
"""
CALLER = """
import numpy as np
from collab_overcooked.kernels.jit import kernel
from rules import rule

@kernel
def step(numbers):
    rule(numbers)

numbers = np.zeros(1)
step(numbers)
print(int(numbers[0]), sum(step.stats.cache_hits.values()))
"""


def play(folder: Path, value: int = 1, rule: str = RULE, **environment: str) -> tuple[list[str], str]:
    """Write a rule and its caller and run them in a process; returns what it printed and what it warned of."""
    (folder / "rules.py").write_text(rule.format(value=value))
    (folder / "caller.py").write_text(CALLER)
    known = {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": ":".join(filter(None, sys.path))}
    # Python tells bytecode from an edited source by its size and a time in whole seconds, both equal here.
    known["PYTHONDONTWRITEBYTECODE"] = "1"
    known |= {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPYCACHEPREFIX") if name in os.environ}
    command = [sys.executable, "caller.py"]
    done = subprocess.run(command, cwd=folder, env=known | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


def test_an_edited_rule_is_what_is_played(tmp_path):
    assert play(tmp_path, 1)[0] == ["1", "0"]
    assert play(tmp_path, 1)[0] == ["1", "1"]  # from the cache
    assert play(tmp_path, 2)[0] == ["2", "0"]  # the caller's own file is as it was
    assert play(tmp_path, 1)[0] == ["1", "1"]


@pytest.mark.nightly
def test_comments_and_docstrings_recompile_nothing(tmp_path):
    play(tmp_path)
    assert play(tmp_path, rule=COMMENTED_RULE)[0] == ["1", "1"]


def test_a_rule_of_one_game_recompiles_that_game_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_folders, "PACKAGE", tmp_path)
    monkeypatch.setattr(cache_folders, "GAMES", tmp_path / "games")
    monkeypatch.setattr(cache_folders, "COMPILER", ())
    files = {
        "__init__.py": "",
        "kernels/grid.py": "",
        "games/a/rules.py": "from .constants import X",
        "games/a/constants.py": "X = 1",
    }
    files |= {"games/b/rules.py": "from pkg.kernels import grid", "games/a/text.py": "X = 3"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        rule = "\n@kernel\ndef rule(): pass" if name.endswith(("rules.py", "grid.py")) else ""
        (tmp_path / name).write_text(text + rule)
    homes = [tmp_path, tmp_path / "games/a", tmp_path / "games/b"]

    def changed(name: str, text: str) -> list[bool]:
        before = [cache_folders.source_key.__wrapped__(home) for home in homes]
        with (tmp_path / name).open("a") as file:
            file.write(text)
        cache_folders.source_key.cache_clear()
        return [old != cache_folders.source_key.__wrapped__(home) for old, home in zip(before, homes, strict=True)]

    assert changed("games/a/rules.py", "\n# why") == [False, False, False]
    assert changed("games/a/rules.py", "\nY = 2") == [False, True, False]
    assert changed("games/a/constants.py", "\nY = 2") == [False, True, False]
    assert changed("games/a/text.py", "\nY = 2") == [False, False, False]  # no kernel reads it
    assert changed("kernels/grid.py", "\nY = 2") == [True, True, True]
    cache_folders.source_key.cache_clear()


def test_processes_that_start_together_share_a_new_folder(tmp_path, monkeypatch, recwarn):
    """Each round, threads that stand for processes ask for a folder that does not exist, all at once."""
    monkeypatch.setattr(cache_folders._config, "CACHE_DIR", str(tmp_path))
    asks, rounds = 8, 20
    barrier = threading.Barrier(asks)

    def ask(_: int) -> list[Path | None]:
        folders = []
        for k in range(rounds):
            barrier.wait()
            folders.append(cache_folders.cache_folder.__wrapped__(f"{k:016x}"))
        return folders

    with ThreadPoolExecutor(asks) as pool:
        answers = list(pool.map(ask, range(asks)))
    assert answers == [[tmp_path / f"kernels-{k:016x}" for k in range(rounds)]] * asks
    assert not recwarn.list


def test_a_folder_that_another_process_makes_first_is_used(tmp_path, monkeypatch, recwarn):
    monkeypatch.setattr(cache_folders._config, "CACHE_DIR", str(tmp_path))
    is_dir = Path.is_dir

    def looked_too_early(path: Path) -> bool:
        was = is_dir(path)
        os.makedirs(path, exist_ok=True)
        return was

    monkeypatch.setattr(Path, "is_dir", looked_too_early)
    assert cache_folders.cache_folder.__wrapped__("0" * 16) == tmp_path / ("kernels-" + "0" * 16)
    assert not recwarn.list


@pytest.mark.nightly
def test_eight_processes_with_an_empty_cache_do_not_warn(tmp_path):
    (tmp_path / "rules.py").write_text(RULE.format(value=1))
    (tmp_path / "caller.py").write_text(CALLER)
    known = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(filter(None, sys.path))}
    command = [sys.executable, "-W", "error", "caller.py"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, cwd=tmp_path, env=known, **pipes) for _ in range(8)]
    for process in started:
        printed, warned = process.communicate()
        assert (process.returncode, printed.split()[:1], warned) == (0, ["1"], "")


@pytest.mark.slow
def test_bounds_checks_have_a_cache_of_their_own(tmp_path):
    play(tmp_path)
    assert play(tmp_path, NUMBA_BOUNDSCHECK="1")[0] == ["1", "0"]
    assert play(tmp_path, NUMBA_BOUNDSCHECK="1")[0] == ["1", "1"]


@pytest.mark.slow
@pytest.mark.parametrize("damage", first([lambda b: b[:-9] + b"x" * 9, lambda b: b[: len(b) // 2], lambda b: b""]))
def test_a_damaged_file_is_compiled_again_with_a_warning(tmp_path, damage):
    play(tmp_path)
    for file in (tmp_path / "cache").rglob("*.nbc"):
        file.write_bytes(damage(file.read_bytes()))
    printed, warned = play(tmp_path)
    assert printed == ["1", "0"]
    assert "cannot be used" in warned
    assert play(tmp_path) == (["1", "1"], "")  # it was mended


def test_without_a_place_to_write_kernels_are_compiled_with_a_warning(tmp_path):
    (tmp_path / "cache").write_text("a file, not a folder")
    printed, warned = play(tmp_path)
    assert printed == ["1", "0"]
    assert "set NUMBA_CACHE_DIR" in warned


def test_a_full_disk_is_a_warning(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    code = "import pathlib; pathlib.Path.write_bytes = lambda path, data: open('/dev/full', 'wb').write(data)\n"
    (tmp_path / "sitecustomize.py").write_text(code)
    path = ":".join([str(tmp_path), *filter(None, sys.path)])
    printed, warned = play(tmp_path, PYTHONPATH=path)
    assert printed == ["1", "0"]
    assert "cannot be written" in warned


def test_columns_of_two_games_with_one_name_are_two_versions():
    from collab_overcooked.games.craft.engine.constants import Clock
    from collab_overcooked.games.cuisineworld.engine.constants import Clock as OtherClock

    class Codegen:
        def magic_tuple(self):
            return ()

    cache = caching.KernelCache(test_columns_of_two_games_with_one_name_are_two_versions)
    files = [cache._file((types.IntEnumMember(entry, types.int64),), Codegen()) for entry in (Clock, OtherClock)]
    assert files[0] != files[1]


def test_fields_in_another_order_are_another_version():
    Before = namedtuple("Before", "clock score")
    After = namedtuple("Before", "score clock")
    numbers = types.int64[:]
    kinds = [types.NamedTuple((numbers, numbers), cls) for cls in (Before, After)]
    assert str(kinds[0]) == str(kinds[1])  # what numba says of them
    assert len({caching._describe_class(kind) for kind in kinds}) == 2
    assert len({caching._describe_class(ArraysAddress(kind)) for kind in kinds}) == 2


def test_a_kernel_is_compiled_once_for_all_integers_of_its_callers():
    class Column(IntEnum):
        LAST = 2

    @kernel
    def element(numbers, k):
        return numbers[k]

    @kernel
    def total(numbers, small):
        named = element(numbers, 0) + element(numbers, Column.LAST)
        return named + element(numbers, small[0]) + element(numbers, len(small))

    for compiled in (element.inner, total):
        compiled._cache.disable()  # what is loaded from it needs no version of what it calls
    assert total(np.arange(4), np.array([3], np.int8)) == 0 + 2 + 3 + 1
    assert len(element.inner.signatures) == 1


PLAYED = """
import gc, sys, collab_overcooked as co
from collab_overcooked.kernels import caching

for env_id in sys.argv[1:]:
    env = co.make(env_id)
    env.reset(seed=0)
    for _ in range(3):
        env.step({agent: env.action_space(agent).sample() for agent in env.agents})
kernels = [len(item.inner.signatures) for item in gc.get_objects() if isinstance(item, caching.Kernel)]
compiled = [count for count in kernels if count]
print(len(compiled), sum(compiled), max(compiled))
"""


@pytest.mark.nightly
def test_playing_games_compiles_hardly_any_kernel_twice(tmp_path):
    """Twice are those that resets and steps share, whose tables are bound in steps only, and copies of other dtypes."""
    empty = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PLAYED, *(game.id for game in registry.games())]
    done = subprocess.run(command, env=empty, capture_output=True, text=True, check=True)
    kernels, versions, most = map(int, done.stdout.split())
    assert kernels > 20 and versions <= 1.1 * kernels and most <= 3
