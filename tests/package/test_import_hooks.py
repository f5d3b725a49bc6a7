"""Hooks run once, directly after their module is imported, which is otherwise as without them."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import pytest

from collab_overcooked.import_hooks import after_import

IDS = """
import sys, collab_overcooked
assert not {"gymnasium", "pettingzoo"} & set(sys.modules)
import gymnasium, pettingzoo
env_id = "collab_overcooked/Overcooked-v0"
print(env_id in gymnasium.registry)
print(env_id in getattr(pettingzoo, "parallel_registry", [env_id]))  # 1.27 is the first with one
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "hooked_module.py").write_text("VALUE = 3\n")
    yield "hooked_module"
    sys.modules.pop("hooked_module", None)


def test_a_hook_waits_for_the_first_import(module):
    values = []
    after_import(module, lambda: values.append(sys.modules[module].VALUE))
    assert values == []
    imported = importlib.import_module(module)
    assert values == [3] and inspect.getsource(imported) == "VALUE = 3\n"
    importlib.reload(imported)
    assert values == [3]


def test_a_hook_of_an_imported_module_runs_at_once(module):
    importlib.import_module(module)
    calls = []
    after_import(module, lambda: calls.append(module))
    assert calls == [module]


def test_a_later_hook_replaces_one_that_waits(module):
    calls = []
    after_import(module, lambda: calls.append("first"))
    after_import(module, lambda: calls.append("second"))
    importlib.import_module(module)
    assert calls == ["second"]


def test_ids_are_registered_with_libraries_that_are_imported_later():
    done = subprocess.run([sys.executable, "-c", IDS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
