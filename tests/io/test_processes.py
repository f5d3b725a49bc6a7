"""What is sent to new processes, and what comes back."""

from __future__ import annotations

import os
import pickle
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.io.processes import (
    NotImportable,
    available_cores,
    call_packed,
    caller_hidden,
    is_importable,
    pack,
    pack_call,
)
from collab_overcooked.runner.workers import read_workers


class Local:
    """Class of a test, whose module only the import hook of pytest can load."""


def class_of(module: str) -> type:
    return type("Mine", (), {"__module__": module})


@pytest.fixture
def made() -> Any:
    """Module that was made by code."""
    module = ModuleType("made_by_code")
    sys.modules["made_by_code"] = module
    module.Mine = class_of("made_by_code")  # type: ignore[attr-defined]
    yield module
    del sys.modules["made_by_code"]


@pytest.mark.parametrize("module", ["json", "json.decoder", "sys", "collab_overcooked.io.processes", "not_there"])
def test_modules_that_every_process_finds(module: str) -> None:
    assert is_importable(module)


def test_a_file_beside_the_caller_is_found_until_its_folder_leaves_the_path(tmp_path, monkeypatch):
    (tmp_path / "beside_the_caller.py").write_text("class Mine: pass")
    monkeypatch.syspath_prepend(tmp_path)
    import beside_the_caller  # type: ignore[import-not-found]

    assert is_importable("beside_the_caller") and pack(beside_the_caller.Mine())
    sys.path.remove(str(tmp_path))
    import collab_overcooked.io.processes as processes

    processes._is_found.cache_clear()
    assert not is_importable("beside_the_caller")
    del sys.modules["beside_the_caller"]


def test_what_only_this_process_has_is_not_sent(made: ModuleType) -> None:
    class Nested:
        pass

    main = sys.modules["__main__"]
    main.Mine = class_of("__main__")  # type: ignore[attr-defined]
    try:
        for value in (main.Mine, main.Mine(), [main.Mine], made.Mine, Local, Nested, lambda: 0):  # type: ignore[attr-defined]
            with pytest.raises(NotImportable, match="other processes cannot import"):
                pack(value)
    finally:
        del main.Mine  # type: ignore[attr-defined]
    assert not is_importable("__main__") and not is_importable("made_by_code")


def test_values_are_sent_as_they_are() -> None:
    value = {"a": [1, (2.5, None)], "counter": Counter("abba"), "path": Path("x"), "kind": Counter}
    assert pickle.loads(pack(value)) == value
    assert call_packed(pack_call(sorted, [3, 1], reverse=True)) == [3, 1]


class Picky(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def picky() -> None:
    raise Picky(1, 2)


def test_errors_that_cannot_be_sent_back_keep_their_text() -> None:
    """One that the caller could not read would look as if the process had died."""
    with pytest.raises(RuntimeError, match="Picky: 1 and 2"):
        call_packed(pickle.dumps((picky, (), {})))
    with pytest.raises(ValueError, match="invalid literal"):
        call_packed(pack_call(int, "x"))


def test_no_name_of_the_callers_script_is_left_while_processes_start_and_it_is_back_then() -> None:
    main = sys.modules["__main__"]
    before = {name: getattr(main, name, None) for name in ("__spec__", "__file__")}
    with caller_hidden():
        assert getattr(main, "__spec__", None) is None and getattr(main, "__file__", None) is None
    with pytest.raises(KeyError), caller_hidden():
        raise KeyError
    assert {name: getattr(main, name, None) for name in before} == before


def test_every_place_counts_the_same_cores() -> None:
    """A container may have fewer cores than the machine."""
    cores = available_cores()
    assert 1 <= cores <= (os.cpu_count() or 1)
    assert read_workers(None).count == cores
    assert BatchEnv(registry.load_game("CuisineWorld-v0"), 1).num_threads == cores
