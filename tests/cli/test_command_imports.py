"""Help texts import option dataclasses and names only, no numerical library and no environment."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.covers import cover

from collab_overcooked import registry

HEAVY = {"numba", "scipy", "pandas", "matplotlib", "pettingzoo", "gymnasium", "torch"}
COMMANDS = ("compare", "crossplay", "partners", "questions", "score", "train")
SUITE_COMMANDS = ("evaluate", "play")
CODE = """
import sys
from collab_overcooked.cli import app
try:
    sys.exit(app(sys.argv[1:]))
finally:
    print("imported:", *sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        *((name,) for name in COMMANDS),
        *(pytest.param(case.values, marks=case.marks) for case in cover(SUITE_COMMANDS, registry.suites())),
    ],
    ids=" ".join,
)
def test_help_imports_nothing_heavy(arguments):
    done = subprocess.run([sys.executable, "-c", CODE, *arguments, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("Usage:"), done.stderr
    imported = done.stderr.rpartition("imported: ")[2].split()
    assert "collab_overcooked.cli" in imported
    assert not HEAVY & set(imported)
