"""Help texts import option dataclasses and names only, no numerical library and no environment."""

from __future__ import annotations

import json
import subprocess
import sys

from collab_overcooked import registry
from collab_overcooked.cli import PANELS

HEAVY = {"numba", "scipy", "pandas", "matplotlib", "pettingzoo", "gymnasium", "torch"}
OF_FILES = ("check", "generate")  # their options are those of each game's files, whose checks come with them
COMMANDS = [name for panel in PANELS.values() for name in panel if name not in OF_FILES]
HELP = [*([name] for name in COMMANDS), ["play", "rush"], *(["evaluate", suite] for suite in registry.suites())]
CODE = """
import json, sys
from collab_overcooked.cli import app
heavy, loaded = set(json.loads(sys.argv[1])), {}
for words in json.loads(sys.argv[2]):
    try:
        app([*words, "--help"])
    except SystemExit as end:
        assert not end.code, words
    for name in heavy & set(sys.modules):
        loaded.setdefault(name, words)
print(json.dumps(loaded), file=sys.stderr)
"""


def test_help_imports_nothing_heavy():
    """All commands in one process: what one has imported would be named, with the command."""
    words = [sys.executable, "-c", CODE, json.dumps(sorted(HEAVY)), json.dumps(HELP)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("Usage:") == len(HELP), done.stderr
    assert json.loads(done.stderr.splitlines()[-1]) == {}
