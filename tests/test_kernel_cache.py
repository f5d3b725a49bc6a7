"""The cache of kernels: several processes may fill it at once."""

from __future__ import annotations

import subprocess
import sys

from collab_overcooked._jit import CacheFile

FILL = """
import sys
from collab_overcooked._jit import CacheFile
cache = CacheFile(sys.argv[1], "kernel", 0)
for i in range(60):
    cache.save((sys.argv[2], i), (sys.argv[2], i))
"""


def test_two_processes_that_save_at_once_keep_their_files_apart(tmp_path):
    names = ("a", "b", "c")
    processes = [subprocess.Popen([sys.executable, "-c", FILL, str(tmp_path), name]) for name in names]
    assert [process.wait() for process in processes] == [0, 0, 0]
    cache = CacheFile(str(tmp_path), "kernel", 0)
    for key in [(name, i) for name in names for i in range(60)]:
        assert cache.load(key) == key
