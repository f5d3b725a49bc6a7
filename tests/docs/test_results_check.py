"""The check of published results: samples of all measurements, and a changed number is noticed."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec import structs

from collab_overcooked.evaluation.partner_pool import read_partner_pool
from collab_overcooked.evaluation.partner_scores import FILE, read_egos, score
from collab_overcooked.evaluation.partner_table import read_scores
from collab_overcooked.io.files import file_digest
from collab_overcooked.io.structs import encode
from collab_overcooked.policies.policy_file import policy_path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "results_check.py"


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("results_check", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["results_check"] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def test_every_measurement_has_samples(check: ModuleType, facts: Any) -> None:
    topics = {task.removeprefix("--").replace("-", "_") for task in facts.TASKS}
    sampled = {name.removesuffix("_results") for name in check.MEASURED}
    assert topics - sampled == {"parity", "plans", "pictures"}  # which need recordings, hours, or have tests


@pytest.mark.parametrize(
    ("computed", "kept", "different"),
    [
        ({"a": {"b": 1.5}}, {"a": {"b": 1.5, "c": 2}, "d": 3}, []),
        ({"a": {"b": 1.5}}, {"a": {"b": 1.25}}, ["it.a.b: is 1.5, kept is 1.25"]),
        ({"a": 1}, {"b": 1}, ["it.a: is not kept"]),
        ([{"x": 1}, {"x": 2}], [{"x": 2}, {"x": 1}, {"x": 3}], []),
        ([{"x": 4}], [{"x": 2}], ["it[0]: {'x': 4} is not kept"]),
        ([1.0, 2.0], [1.0, 3.0], ["it: is [1.0, 2.0], kept is [1.0, 3.0]"]),
    ],
)
def test_differences(check: ModuleType, computed: object, kept: object, different: list[str]) -> None:
    assert list(check.differences("it", computed, kept)) == different


def test_a_sample_has_one_entry_of_what_is_measured(check: ModuleType) -> None:
    rng = random.Random(0)
    assert len(check.one({"greedy": 1, "random": 2}, rng)) == 1
    each = check.one_each({"a": ("x", "y"), "b": {"z": 3}}, rng)
    assert list(each) == ["a", "b"] and each["b"] == {"z": 3} and each["a"] in (["x"], ["y"])


def test_lines_of_partners_are_played_again_and_a_changed_return_is_noticed(
    check: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = read_partner_pool("collab_escape")
    egos = read_egos(["greedy", "mine=ppo:collab_escape"])
    score(pool, egos, tmp_path / "run", families=["selfplay"], episodes=3, workers=1)
    lines = read_scores([tmp_path / "run" / FILE])
    monkeypatch.setattr(check, "RESULTS", tmp_path)
    path = tmp_path / "partners_collab_escape.jsonl"
    path.write_bytes(b"".join(encode(line) + b"\n" for line in lines))
    samples = list(check.partner_lines(random.Random(1), 3, tmp_path / "none", Counter()))
    assert len(samples) == 3 and not any(sample.differences() for sample in samples)
    lines[0].returns[0] += 1
    path.write_bytes(encode(lines[0]) + b"\n")
    (sample,) = check.partner_lines(random.Random(1), 3, tmp_path / "none", Counter())
    assert sample.differences()


def test_a_network_is_taken_from_a_file_with_the_digest_of_its_line(check: ModuleType, tmp_path: Path) -> None:
    file = policy_path("collab_escape")
    pool, egos = read_partner_pool("collab_escape"), read_egos(["mine=ppo:collab_escape"])
    (line, *_) = score(pool, egos, tmp_path / "run", families=["selfplay"], episodes=1, workers=1)
    assert check.ego_of(line, {}) == "ppo:collab_escape"
    assert check.ego_of(line, {file_digest(file): file}) == f"ppo:{file},{line.mode}"
    assert check.ego_of(structs.replace(line, sha256="0" * 64), {}) is None
