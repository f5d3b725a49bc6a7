"""The cache of compiled kernels: what is played is what the sources say, and trouble on disk ends in compiling."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RULE = """
from collab_overcooked._jit import kernel

@kernel
def rule(numbers):
    numbers[0] = {value}
"""
CALLER = """
import numpy as np
from collab_overcooked._jit import kernel
from rules import rule

@kernel
def step(numbers):
    rule(numbers)

numbers = np.zeros(1)
step(numbers)
print(int(numbers[0]), sum(step.stats.cache_hits.values()))
"""


def play(folder: Path, value: int = 1, **environment: str) -> tuple[list[str], str]:
    """Write a rule and its caller and run them in a process; returns what it printed and what it warned of."""
    (folder / "rules.py").write_text(RULE.format(value=value))
    (folder / "caller.py").write_text(CALLER)
    known = {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": ":".join(filter(None, sys.path))}
    known |= {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "caller.py"]
    done = subprocess.run(command, cwd=folder, env=known | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


def test_an_edited_rule_is_what_is_played(tmp_path):
    assert play(tmp_path, 1)[0] == ["1", "0"]
    assert play(tmp_path, 1)[0] == ["1", "1"]  # from the cache
    assert play(tmp_path, 2)[0] == ["2", "0"]  # the caller's own file is as it was
    assert play(tmp_path, 1)[0] == ["1", "1"]


def test_bounds_checks_have_a_cache_of_their_own(tmp_path):
    play(tmp_path)
    assert play(tmp_path, NUMBA_BOUNDSCHECK="1")[0] == ["1", "0"]
    assert play(tmp_path, NUMBA_BOUNDSCHECK="1")[0] == ["1", "1"]


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b[:-9] + b"x" * 9])
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
    from numba.core import types

    from collab_overcooked._jit import KernelCache
    from collab_overcooked.games.craft.constants import Clock
    from collab_overcooked.games.cuisineworld.constants import Clock as OtherClock

    class Codegen:
        def magic_tuple(self):
            return ()

    cache = KernelCache(test_columns_of_two_games_with_one_name_are_two_versions)
    files = [cache._file((types.IntEnumMember(own, types.int64),), Codegen()) for own in (Clock, OtherClock)]
    assert files[0] != files[1]
