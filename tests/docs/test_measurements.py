"""Every measurement that the pages show can be made again, and was made with this version."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from support.covers import first

import collab_overcooked
from collab_overcooked.questions.items import read_questions

DOCS = Path(__file__).resolve().parents[2] / "docs"
RANDOM = {"random": 1}
BRIEFLY: dict[str, tuple[str, dict[str, Any]]] = {  # task of facts.py -> topic, and what is made smaller in it
    "--cuisineworld": ("cuisineworld_results", {"BASELINES": ["random"], "SIZES": [2], "LEVELS": ["level_0"]}),
    "--rush": ("rush", {"BASELINES": RANDOM}),
    "--house": (
        "house",
        {
            "TEAMS": {"housework": ["random"], "transport": ["random"]},
            "EPISODES": {"housework": 1, "transport": 1},
            "SMALL_TEAMS": {"housework": RANDOM, "transport": RANDOM},
        },
    ),
    "--craft": ("craft", {"TEAMS": {"random": (2,)}, "LEVELS": ["field"]}),
    "--overcooked": ("overcooked", {"TEAMS": RANDOM, "ALONE": ["gated_delivery"], "STAND_INS": ["bc"]}),
    "--overcooked-v2": ("overcooked_v2", {"TEAMS": RANDOM}),
    "--questions": ("questions", {"POLICIES": ["random"], "GAMES": ["CollabCapture-v0"]}),
}
OTHERWISE = ("--plans", "--pictures", "--parity")  # benchmarks/plan_study.py, test_pictures.py and tests of parity
OLDER = ("plans.json", "plan_ablations.json")  # hours; their page names the version


def shape(value: Any, like: Any) -> None:
    """Check that a measurement has the names and types of a kept one, of which it may be a part."""
    if isinstance(value, dict):
        assert value.keys() <= like.keys()
        for name, part in value.items():
            shape(part, like[name])
    elif isinstance(value, list) and like:
        for part in value:
            shape(part, like[0])
    else:
        assert type(value) is type(like) or None in (value, like)


def test_every_measurement_is_tried(facts: Any) -> None:
    assert facts.TASKS.keys() == BRIEFLY.keys() | set(OTHERWISE)


@pytest.mark.parametrize("task", first(BRIEFLY, 3))
def test_measurements_write_what_the_pages_read(
    task: str, facts: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, smaller = BRIEFLY[task]
    module = importlib.import_module(f"topics.{topic}")
    monkeypatch.setattr("topics.writing.RESULTS", tmp_path)
    for name, value in smaller.items():
        monkeypatch.setattr(module, name, value)
    facts.TASKS[task]([])
    (written,) = tmp_path.iterdir()
    shape(json.loads(written.read_text("utf-8")), json.loads((DOCS / "results" / written.name).read_text("utf-8")))


def test_measurements_are_of_this_version() -> None:
    versions = {path.name: json.loads(path.read_text("utf-8")).get("version") for path in DOCS.glob("results/*.json")}
    older = {name for name, version in versions.items() if version not in (None, collab_overcooked.__version__)}
    assert older <= set(OLDER), "measure them again: docs/facts.py says how"


def test_accuracies_of_policies_are_of_the_built_in_questions() -> None:
    """A set that is drawn anew needs ``python docs/facts.py --questions``."""
    kept = json.loads((DOCS / "results" / "questions.json").read_text())
    assert kept["set"] == read_questions().name
