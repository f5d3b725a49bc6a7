"""Fences that need the package itself; the others are checks of `python -m lint`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from support.option_sets import OPTIONS

import collab_overcooked
from collab_overcooked.registry import game_class, registered
from lint.source import Project

ROOT = Path(__file__).resolve().parents[2]


def test_every_option_is_played_by_conformance_and_on_the_page_of_its_game():
    """Ids that share a class of options share its cases; a value that is the default shows nothing."""
    project = Project.read(ROOT)
    for env_id in registered():
        game = game_class(env_id)
        config = game.config_class
        alike = [other for other in registered() if game_class(other).config_class is config]
        cases = [case for other in alike for case in OPTIONS.get(other, ())]
        default = {field.name: field.default for field in fields(config)}
        played = {name for case in cases for name, value in case.items() if value != default.get(name)}
        unplayed = default.keys() - played
        assert not unplayed, f"{env_id}: no case of tests/support/option_sets.py has another value of {unplayed}"
        page = "\n".join(project.pages_of(game.__module__.split(".")[2]).values())
        missing = [name for name in config.names() if f"| `{name}` |" not in page]
        assert not missing, f"docs/reference/games says nothing of {missing}: run docs/facts.py"


def test_importing_the_package_loads_no_compiler_and_no_trainer():
    code = "import sys, collab_overcooked; print(*({'numba', 'torch', 'stable_baselines3'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_version_is_the_installed_one():
    from importlib.metadata import version

    assert collab_overcooked.__version__ == version("collab-overcooked")
